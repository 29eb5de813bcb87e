#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# serial: compares the samples of a busy machine with /proc at the same time
# seconds: 40
"""Samples of living processes, by the record in the kernel and by the other sources, against what /proc and the CPU clocks
of these processes show at the same time (tests/work/sampled.c has the processes); and tables and reports of them.

  kernel_samples.py [WORD]    only the sources whose names have this word
"""
import bisect
import collections
import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import kernelleft
from ftractest import FTRAC, WORK, Checks, Mount, need_fuse, need_kernel

PROCMON = os.environ.get("PROCMON", "build/procmon/procmon")
WFSTAT = os.environ.get("WFSTAT", "build/dag/wfstat")
WFREPORT = os.environ.get("WFREPORT", "build/dag/wfreport")
WAYS = {"ftrac, kernel": [FTRAC, "run", "-q", "--files", "kernel"], "procmon, kernel": [PROCMON, "--files", "kernel"],
        "ftrac, mount": [FTRAC, "run", "-q", "--files", "mount"], "procmon, ptrace": [PROCMON, "--processes", "ptrace"]}
PAGE = os.sysconf("SC_PAGE_SIZE")
MB = 1 << 20
# Between 6.2 and 6.16, /proc leaves out what processors have counted and not added up yet.
RSS_GRAIN = 3 * max(32, 2 * os.cpu_count()) * os.cpu_count() * PAGE
CLOCKS_NS = 20_000_000  # the clock of the trace and that of the readings differ by less
SECOND_NS = 10**9
Reading = collections.namedtuple("Reading", "before after rss cpu")  # ns, bytes


class Trace:
    """One run: the processes by name, the readings of each, and its trace."""

    sql, fact = Mount.sql, Mount.fact

    def __init__(self, base, way):
        self.db = base / f"{way.split()[0].strip(',')}-{way.split()[1]}.db"
        self.pids, self.readings = {}, collections.defaultdict(list)
        command = [*WAYS[way], "--db", str(self.db), "--", str(WORK / "sampled")]
        self.child = subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, cwd=base)
        for _ in range(7):
            name, pid = self.child.stdout.readline().split()
            self.pids[name] = int(pid)
        self.watch()
        assert self.child.wait() == 0

    def watch(self):
        while self.child.poll() is None:
            for name, pid in self.pids.items():
                with contextlib.suppress(OSError, ValueError):
                    self.readings[name].append(read(pid))
            time.sleep(0.02)

    def life(self, name):
        (life,) = self.sql("SELECT start_ns, end_ns, id FROM process WHERE pid = ? ORDER BY id LIMIT 1", self.pids[name])
        return life

    def samples(self, name):
        return self.sql("SELECT t_ns, rss_bytes, cpu_ns FROM sample WHERE process = ? ORDER BY t_ns", self.life(name)[2])


def read(pid):
    """The memory is that of any thread that is left; the clock is clock_getcpuclockid(3)'s."""
    before = time.time_ns()
    cpu = time.clock_gettime_ns(~pid << 3 | 2)
    rss = 0
    for tid in os.listdir(f"/proc/{pid}/task"):
        with contextlib.suppress(OSError):
            rss = max(rss, int(pathlib.Path(f"/proc/{pid}/task/{tid}/statm").read_text("ascii").split()[1]) * PAGE)
    return Reading(before, time.time_ns(), rss, cpu)


def against_readings(checks, fact, trace, name, seen):
    readings = trace.readings[name]
    for t_ns, rss, cpu in trace.samples(name):
        first = bisect.bisect(readings, t_ns - CLOCKS_NS, key=lambda reading: reading.after) - 1
        last = bisect.bisect(readings, t_ns + CLOCKS_NS, key=lambda reading: reading.before)
        if first < 0 or last >= len(readings):
            continue
        near = readings[first:last + 1]
        seen[name] += 1
        checks.check(f"{fact}: both are known", None not in (rss, cpu))
        checks.check(f"{fact}: CPU time", near[0].cpu <= cpu <= near[-1].cpu, (cpu, near))
        low, high = min(reading.rss for reading in near), max(reading.rss for reading in near)
        checks.check(f"{fact}: memory", low - RSS_GRAIN <= rss <= high + RSS_GRAIN, (rss, low, high))


def each_second(checks, fact, trace, name):
    """One sample in each round from the first second on; the first process lives longest, and has them all."""
    rounds = [t_ns for t_ns, in trace.sql("SELECT t_ns FROM sample WHERE process = 1 ORDER BY t_ns")]
    start, end, _ = trace.life(name)
    times = [t_ns for t_ns, _, _ in trace.samples(name)]
    wanted = [t_ns for t_ns in rounds if start + SECOND_NS + CLOCKS_NS < t_ns < end - CLOCKS_NS]
    most = [t_ns for t_ns in rounds if start + SECOND_NS - CLOCKS_NS < t_ns < end + CLOCKS_NS]
    checks.check(f"{fact}: a sample in each round", len(wanted) <= len(times) <= len(most), (times, rounds, start, end))
    checks.check(f"{fact}: samples while it lives, after a second", all(
        start + SECOND_NS - CLOCKS_NS <= t_ns <= end + CLOCKS_NS for t_ns in times), (times, start, end))
    checks.check(f"{fact}: CPU time never falls", all(
        a[2] <= b[2] for a, b in zip(trace.samples(name), trace.samples(name)[1:])), trace.samples(name))
    return len(wanted)


def known_work(checks, way, trace):
    rss = {name: [sample[1] for sample in trace.samples(name)] for name in trace.pids}
    cpu = {name: [sample[2] for sample in trace.samples(name)] for name in trace.pids}
    start, end, _ = trace.life("short")
    checks.check(f"{way}: no samples of what ended within a second", not rss["short"] or end - start > SECOND_NS)
    checks.check(f"{way}: memory grows, and is given back", rss["grows"][0] < max(rss["grows"]) - 8 * MB and
                 max(rss["grows"]) > 60 * MB and rss["grows"][-1] < 16 * MB, rss["grows"])
    checks.check(f"{way}: sleeps", max(cpu["sleeps"]) < SECOND_NS / 10 and max(rss["sleeps"]) - min(rss["sleeps"]) < MB,
                 (cpu["sleeps"], rss["sleeps"]))
    for name in "burns", "threads", "leaderless", "executes":
        checks.check(f"{way}: {name}", cpu[name][-1] > cpu[name][0] > 0, cpu[name])
    checks.check(f"{way}: executes: memory of the first program, and of the second one", rss["executes"][-1] > 8 * MB)
    checks.check(f"{way}: leaderless: memory", rss["leaderless"][-1] > 24 * MB, rss["leaderless"])


def memory_of(trace, number):
    """What a process has from when on: its first sample from its start on, or its peak if it has none."""
    start, end, peak = trace.sql("SELECT start_ns, end_ns, rsspeak_bytes FROM process WHERE id = ?", number)[0]
    samples = trace.sql("SELECT t_ns, rss_bytes FROM sample WHERE process = ? AND rss_bytes NOTNULL ORDER BY t_ns", number)
    return [(start, samples[0][1] if samples else peak or 0), *samples, (end, 0)]


def curve(trace, numbers, begin, width, n):
    """The most memory of these processes together in each of n intervals."""
    changes = []
    for number in numbers:
        steps = memory_of(trace, number)
        changes += [(t_ns, rss - before) for (t_ns, rss), before in zip(steps, [0, *(rss for _, rss in steps)])]
    changes.sort()
    most, level, at = [], 0, 0
    for i in range(n):
        while at < len(changes) and changes[at][0] <= begin + i * width:
            level, at = level + changes[at][1], at + 1
        highest = level
        while at < len(changes) and changes[at][0] < begin + (i + 1) * width:
            level, at = level + changes[at][1], at + 1
            highest = max(highest, level)
        most.append(highest)
    return most


def used(checks, base, trace):
    """Tables and reports have them."""
    table = [WFSTAT, "time", "--json", "--process", str(trace.life("grows")[2]), trace.db]
    shown = json.loads(subprocess.run(table, capture_output=True, check=True).stdout)
    sizes = [row["rss_bytes"] for row in shown["rows"]]
    checks.equal("wfstat time", sizes, curve(trace, [trace.life("grows")[2]], shown["begin_ns"], SECOND_NS, len(sizes)))
    checks.check("wfstat time: seconds", len(sizes) >= 4 and len(set(sizes)) >= 3, sizes)
    page = base / "report.html"
    subprocess.run([WFREPORT, "-o", page, trace.db], capture_output=True, check=True)
    text = page.read_text()
    begin = text.index(">", text.index('<script type="application/json" id="data-time">')) + 1
    page = json.loads(text[begin:text.index("</script>", begin)])
    rows = page["rows"]
    width = round((rows[1]["from_s"] - rows[0]["from_s"]) * SECOND_NS)
    processes = [number for number, in trace.sql("SELECT id FROM process")]
    together = [row["rss_bytes"] for row in rows]
    checks.check("wfreport: seconds", len(set(together)) >= 3 and max(together) > max(sizes), together)
    checks.equal("wfreport: memory", together, curve(trace, processes, shown["begin_ns"], width, len(rows)))


need_kernel()
need_fuse()
facts = Checks()
with tempfile.TemporaryDirectory(prefix="ftrac-case-") as directory:
    for how in (way for way in WAYS if all(word in way for word in sys.argv[1:])):
        run = Trace(pathlib.Path(directory), how)
        compared = collections.Counter()
        rounds_of = {name: each_second(facts, f"{how}: {name}", run, name) for name in run.pids}
        for name in run.pids:
            against_readings(facts, f"{how}: {name}", run, name, compared)
        known_work(facts, how, run)
        facts.check(f"{how}: enough was compared", sum(compared.values()) >= 16 and sum(rounds_of.values()) >= 16, compared)
        print(f"{how}: {sum(compared.values())} samples compared: {dict(compared)}")
        if how == "ftrac, kernel":
            facts.equal("received", run.fact("kernel_received"), run.fact("kernel_submitted"))
            facts.equal("lost", run.fact("ops_lost"), 0)
            used(facts, pathlib.Path(directory), run)
kernelleft.end(facts)
