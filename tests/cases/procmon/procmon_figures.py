#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# serial: compares the times of processes with clocks
# long: --long
"""Each figure of a process against wait4(2) and against what it is known to have done, to the grain
of its source; tests/work/known.c says what that is."""
import collections
import os

from ftractest import WORK, Checks
from profiled import WAYS, Profile, available, whole
from sample import one

checks = Checks()
TICK_NS = 10**9 // os.sysconf("SC_CLK_TCK")
# The kernel counts resident pages for each processor and adds them up now and then.
RSS_GRAIN = 64 * os.cpu_count() * 4096 * 2
# Freed behind the record: up to that, or the last tick, is missing of the CPU time.
CPU_GRAIN_NS = 3 * TICK_NS // 2

FIELDS = ("name pid status utime_us stime_us maxrss_kb minflt majflt nvcsw nivcsw rchar "
          "wchar").split()
Known = collections.namedtuple("Known", FIELDS)
# Columns that a tier does not have exactly, and must leave out; "program" is of the last one only.
MISSING = {"connector": {"read_char", "write_char"}, "ptrace": set()}

seen = collections.defaultdict(lambda: [0, 0])  # (way, column): compared, farthest apart


def compare(way, known, row, column, wanted, grain, may_be_unknown=False):
    got = row[column]
    if got is None:
        checks.check(f"{way} {known.name}: {column} is known", may_be_unknown)
        return
    entry = seen[way, column]
    entry[0] += 1
    entry[1] = max(entry[1], abs(got - wanted))
    checks.check(f"{way} {known.name}: {column}", abs(got - wanted) <= grain,
                 f"is {got}, not {wanted} (grain {grain})")


def compare_child(way, known, row, records):
    cpu = (known.utime_us + known.stime_us) * 1000
    # With exit records alone, of what ended within a tick nothing may be known.
    short = way == "connector" and cpu < 2 * TICK_NS
    compare(way, known, row, "cpu_ns", cpu, CPU_GRAIN_NS, short)
    if row["cpu_ns"] is not None:
        checks.equal(f"{way} {known.name}: utime + stime", row["utime_ns"] + row["stime_ns"],
                     row["cpu_ns"])
    if cpu > 10 * TICK_NS:  # in ticks by turns: only what goes on for long has a true division
        compare(way, known, row, "utime_ns", known.utime_us * 1000, cpu // 4 + 2 * TICK_NS)
        compare(way, known, row, "stime_ns", known.stime_us * 1000, cpu // 4 + 2 * TICK_NS)
    if known.name not in ("program", "relay"):
        compare(way, known, row, "rsspeak_bytes", known.maxrss_kb * 1024, RSS_GRAIN)
        checks.check(f"{way} {known.name}: address space", row["vmpeak_bytes"] is None or
                     row["vmpeak_bytes"] >= row["rsspeak_bytes"] - RSS_GRAIN)
    compare(way, known, row, "minflt", known.minflt, 4)
    compare(way, known, row, "majflt", known.majflt, 4)
    # The end itself, and each stop of a thread before it, is a switch.
    threads = 8 if known.name in ("threads", "leaderless", "group", "relay") else 1
    compare(way, known, row, "nvcsw", known.nvcsw, 4 * threads)
    compare(way, known, row, "nivcsw", known.nivcsw, 4 * threads + known.nivcsw // 20)
    for column, wanted in (("read_char", known.rchar), ("write_char", known.wchar)):
        if column in MISSING[way]:
            checks.equal(f"{way} {known.name}: {column} without an exact source", row[column], None)
        elif wanted >= 0:
            compare(way, known, row, column, wanted, 0)
    # exit code or signal
    if os.WIFSIGNALED(known.status):
        checks.equal(f"{way} {known.name}: result", (row["exit_code"], row["exit_signal"]),
                     (None, os.WTERMSIG(known.status)))
    else:
        checks.equal(f"{way} {known.name}: result", (row["exit_code"], row["exit_signal"]),
                     (os.WEXITSTATUS(known.status), None))
    checks.equal(f"{way} {known.name}: tier", row["tier"],
                 way + ("+taskstats" if records else ""))


def known_work(way):
    with Profile([WORK / "known"], "--processes", way) as p:
        whole(checks, way, p)
        records = p.fact("process_tier").endswith("+taskstats")
        if way == "connector" and not records:
            print("no exit records: figures of the connector's processes are not known")
        rows = {row["pid"]: row for row in p.processes()}
        children = [Known(*(f if i == 0 else int(f) for i, f in enumerate(line.split())))
                    for line in p.out.splitlines()]
        checks.equal(f"{way}: children", len(children), 13)
        for known in children:
            if way == "ptrace" or records:
                compare_child(way, known, rows[known.pid], records)
        samples(way, p)


def samples(way, p):
    """Of what lives for more than a second; they grow."""
    rows = p.sql("SELECT * FROM sample ORDER BY process, t_ns")
    checks.check(f"{way}: samples are of processes that lived for a second", all(
        p.value("SELECT start_ns + 900000000 <= ? AND coalesce(end_ns, ?) + 100000000 >= ? "
                "FROM process WHERE id = ?", r["t_ns"], r["t_ns"], r["t_ns"], r["process"])
        for r in rows))


def long_one(way):
    """Memory that comes and goes, and CPU time, second by second."""
    code = ("import time\nx = bytearray(80 << 20)\ntime.sleep(2.4)\ndel x\n"
            "t = time.process_time()\nwhile time.process_time() < t + 1.5: pass\ntime.sleep(.7)\n")
    with Profile(["python3", "-c", code], "--processes", way) as p:
        rows = p.sql("SELECT s.* FROM sample s ORDER BY t_ns")
        checks.check(f"{way}: samples of three seconds", len(rows) >= 3, f"got {len(rows)}")
        checks.check(f"{way}: memory is seen", any(r["rss_bytes"] > 80 << 20 for r in rows))
        checks.check(f"{way}: and that it is gone", rows[-1]["rss_bytes"] < 80 << 20)
        checks.check(f"{way}: CPU time grows", rows[-1]["cpu_ns"] > rows[0]["cpu_ns"])
        checks.check(f"{way}: up to that of the end", rows[-1]["cpu_ns"] <= (p.value(
            "SELECT cpu_ns FROM process WHERE parent IS NULL") or 2**62))


ways = [way for way in WAYS if available(way)]
print(f"ways that are here: {', '.join(ways)}")
for way in one(ways):
    known_work(way)
    long_one(way)
print("tier       column            compared  farthest apart")
for (way, column), (n, apart) in sorted(seen.items()):
    print(f"{way:10} {column:16} {n:9} {apart:15}")
checks.end()
