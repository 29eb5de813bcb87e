#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 25
"""--detail-above: calls of libc are added up, and the sums are those of the calls.

A program (work/layer_sums.c) counts its own calls, with bytes asked and moved, for each thread, function and descriptor: the trace must say
the same with any limit, with and without a mount. Calls that took longer have rows of their own. What signals kill is complete.
"""
import json
import os
import pathlib
import signal
import sqlite3
import subprocess
import sys
import tempfile

from ftractest import FTRAC, WORK, Checks, kernel_refuses, need_fuse, skip
from librarycalls import PROCMON, below, numbers, start_forever

PROGRAM = str(WORK.resolve() / "layer_sums")
TOTALS = """SELECT c.tid, c.name, coalesce(c.fd, -1), sum(c.calls), coalesce(sum(c.length), 0), coalesce(sum(c.bytes), 0) FROM call c
    JOIN image i ON i.id = c.image WHERE c.layer = 'lib' AND i.exe GLOB '*/layer_sums' GROUP BY 1, 2, 3"""
# Its operations on data, and how many of them, with how many bytes, are in calls of a function.
BELOW = """SELECT c.name, o.name, count(*), sum(o.bytes) FROM call o JOIN call c ON c.id = o.parent JOIN file f ON f.id = o.file
    WHERE o.layer IN ('fs', 'syscall') AND o.name IN ('read', 'write') AND f.path GLOB '*/executed.[0-9d]' GROUP BY 1, 2 ORDER BY 1, 2"""
ALONE = """SELECT count(*), count(o.parent) FROM call o JOIN file f ON f.id = o.file WHERE o.layer IN ('fs', 'syscall') AND
    o.name IN ('read', 'write') AND f.path GLOB '*/executed.[0-9d]'"""
WFSTAT = os.path.abspath(os.environ.get("WFSTAT", "build/dag/wfstat"))
checks = Checks()


class Run:
    """The program in a directory of its own."""

    def __init__(self, place, detail, tracer=(PROCMON,), rounds=3, words=()):
        place.mkdir()
        self.place = place
        limit = ["--detail-above", detail] if detail else []
        done = subprocess.run([*tracer, "--output", "trace.db", "--layer", "lib", *limit, PROGRAM, str(rounds), *words], cwd=place,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=300)
        if done.returncode:
            sys.exit(f"{place.name}: {done.returncode}: {done.stderr.decode()}")

    def sql(self, query, *values):
        with sqlite3.connect(f"file:{self.place}/trace.db?mode=ro", uri=True) as db:
            return db.execute(query, values).fetchall()

    def told(self):
        sums = {}
        for line in (self.place / "told").read_text().splitlines():
            tid, name, *values = line.split()
            fd, *values = map(int, values)
            sums[int(tid), name, fd] = [a + b for a, b in zip(sums.get((int(tid), name, fd), [0] * 3), values)]
        return sums


def compare(what, run, least_calls):
    theirs = run.told()
    ours = {(tid, name, fd): sums for tid, name, fd, *sums in run.sql(TOTALS)}
    wrong = [(key, ours.get(key), theirs.get(key)) for key in ours.keys() | theirs.keys() if ours.get(key) != theirs.get(key)]
    calls = sum(sums[0] for sums in theirs.values())
    checks.check(f"{what}: calls, asked and moved bytes of {len(theirs)} threads, functions and descriptors, {calls} calls",
                 not wrong and calls >= least_calls, (len(wrong), wrong[:5]))
    facts = dict(run.sql("SELECT key, value FROM trace WHERE key IN ('ops_lost', 'calls_recorded')"))
    recorded = run.sql("SELECT sum(calls) FROM call WHERE layer = 'lib'")[0][0]
    checks.equal(f"{what}: lost, and recorded", (facts["ops_lost"], facts["calls_recorded"]), (0, recorded))
    return calls


def limits(base):
    for detail, limit_ns in [(None, 0), ("1s", 10**9), ("20us", 20000), ("1.5ns", 1)]:
        run = Run(base / f"above-{detail}", detail)
        what = f"above {detail}" if detail else "each call"
        calls = compare(what, run, 30000)
        rows = run.sql("SELECT count(*) FROM call WHERE layer = 'lib'")[0][0]
        sums, longest = run.sql("SELECT count(*), max(latency_max_ns) FROM call WHERE layer = 'lib' AND calls > 1")[0]
        checks.check(f"{what}: {rows} rows, {sums} of them sums, none with a longer call",
                     sums == 0 if limit_ns < 10 else sums > 100 and longest <= limit_ns, longest)
        if detail == "1s":
            checks.check("rows are a fourth of the calls at most", rows * 4 < calls, rows)
        wrong = run.sql("SELECT name, calls, latency_ns, latency_min_ns, latency_max_ns, end_ns, result FROM call WHERE layer = 'lib' AND (calls > 1 "
                        "AND (result NOTNULL OR offset NOTNULL OR latency_ns < latency_max_ns OR latency_min_ns > latency_max_ns) OR calls = 1 AND "
                        "latency_ns NOTNULL AND (end_ns <> start_ns + latency_ns OR latency_min_ns <> latency_ns OR latency_max_ns <> latency_ns))")
        checks.check(f"{what}: the other columns of {rows} rows fit", rows > 0 and not wrong, wrong[:3])


def operations(base, way, tracer):
    """The same operations with the same bytes are below the same functions."""
    runs = [Run(base / f"{way}-{detail}", detail, tracer, 2, ["one"]) for detail in (None, "10s")]
    for run, detail in zip(runs, ("each call", "above 10s")):
        compare(f"{way}, {detail}", run, 3000)
        n, parents = run.sql(ALONE)[0]
        checks.check(f"{way}, {detail}: {n} reads and writes are in a call each", 0 < n == parents, parents)
    first, second = (run.sql(BELOW) for run in runs)
    checks.equal(f"{way}: operations and bytes below each function", second, first)
    checks.check(f"{way}: functions with operations below", len(first) > 8, first)


def several(base):
    """Traces that are read together have the calls of each."""
    paths = [str(base / name / "trace.db") for name in ("above-None", "above-1s")]
    sums = []
    for traces in paths[:1], paths[1:], paths:
        done = subprocess.run([WFSTAT, "hierarchy", "--json", *traces], capture_output=True, text=True, timeout=300, check=True)
        sums.append({row["call"]: (row["calls"], row["asked_bytes"], row["moved_bytes"]) for row in json.loads(done.stdout)["rows"]
                     if row["command"] == "layer_sums"})
    checks.equal("calls and bytes of each function, with and without sums", sums[1], sums[0])
    checks.equal("those of both traces", sums[2], {call: tuple(n and 2 * n for n in numbers_of) for call, numbers_of in sums[0].items()})
    checks.check("functions", len(sums[0]) > 15, len(sums[0]))


def kills(base):
    """What was added up before the program was killed is there; and if ftrac is killed the program goes on."""
    tracer = start_forever(base / "killed", "--detail-above", "1s")
    last = numbers(tracer.stdout, 5000)
    os.kill(below(tracer), signal.SIGKILL)
    last += len(tracer.stdout.read()) // 4
    checks.equal("the program was killed", tracer.wait(60), 137)
    with sqlite3.connect(f"file:{base}/killed/trace.db?mode=ro", uri=True) as db:
        n, rows, moved = db.execute("SELECT sum(calls), count(*), sum(bytes) FROM call WHERE layer = 'lib' AND name = 'write' AND fd <> 1").fetchone()
    checks.check(f"killed after {last} writes: {n} are there, in {rows} rows", last <= n <= last + 1 and abs(moved - n) <= 1, (n, moved))
    tracer = start_forever(base / "alone", "--detail-above", "1s")
    numbers(tracer.stdout, 1000)
    pid = below(tracer)
    tracer.kill()
    tracer.wait()
    first = numbers(tracer.stdout, 1)
    checks.equal("a program goes on without ftrac", numbers(tracer.stdout, 100000), first + 100000)
    os.kill(pid, signal.SIGKILL)


def command_lines(base):
    for program, words, said in [
            (FTRAC, ["run", "--layer", "lib", "--detail-above", "5"], "invalid value '5' for --detail-above"),
            (FTRAC, ["run", "--layer", "lib", "--detail-above", "0ns"], "invalid value '0ns'"),
            (FTRAC, ["run", "--layer", "lib", "--detail-above", "-1us"], "invalid value '-1us'"),
            (FTRAC, ["run", "--detail-above", "1us"], "add --layer"), (PROCMON, ["--detail-above", "1us"], "add --layer"),
            (PROCMON, ["--layer", "lib", "--detail-above", "1 us"], "invalid value '1 us'")]:
        done = subprocess.run([program, *words, "true"], cwd=base, capture_output=True, text=True, timeout=60)
        checks.check(f"{words}: {said}", done.returncode in (2, 125) and said in done.stderr and done.stderr.count("\n") == 1, done)


if not os.path.exists(PROGRAM):
    skip("there is no preloaded object for this processor")
need_fuse()
with tempfile.TemporaryDirectory(dir="/var/tmp") as top:
    limits(pathlib.Path(top))
    operations(pathlib.Path(top), "mount", (FTRAC, "run"))
    if kernel_refuses():
        print(f"not in the kernel: {kernel_refuses()}")
    else:
        operations(pathlib.Path(top), "kernel", (FTRAC, "run", "--files", "kernel"))
    several(pathlib.Path(top))
    kills(pathlib.Path(top))
    command_lines(pathlib.Path(top))
checks.end()
