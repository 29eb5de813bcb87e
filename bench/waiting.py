#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How long a user waits where nothing but ftrac works.

    bench/waiting.py end [--processes 20000] [--files kernel]   # from the end of a command to its complete trace
    bench/waiting.py several [--traces 100 1000]                # wfstat io of many small traces together
    bench/waiting.py merge [--traces 100 1000] [--hosts 4]      # ftrac merge of those of several machines
    bench/waiting.py long [--handles 1000000]                   # wfstat handle as text and as CSV

Prints wall clock and processor time, the largest memory, and the load of the machine, of which the first depends.  Needs root for
--files kernel.
"""
import argparse
import contextlib
import os
import pathlib
import resource
import shutil
import sqlite3
import subprocess
import tempfile
import time

TOP = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("BUILD", TOP / "build"))
FTRAC, WFSTAT = BUILD / "ftrac/ftrac", BUILD / "dag/wfstat"
# Five processes each time.
LOOP = """\
i=0
while [ $i -lt %d ]; do
    /bin/cat /etc/hostname > o.$((i %% 500)); /bin/mkdir -p d; /bin/basename x/$i > b; /bin/sed -n 1p b > p.$((i %% 300)); /bin/true
    i=$((i + 1))
done
date +%%s.%%N > end
"""
SMALL = "for k in 1 2 3; do sort /etc/passwd > f$k; wc -l f$k > c; cat c f$k | grep root > g$k; done; ls -l > l; rm c"


def timed(what, command, out=subprocess.DEVNULL, **more):
    """Runs it; the seconds and the memory of the largest child so far."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.time()
    subprocess.run([str(word) for word in command], stdout=out, check=True, **more)
    wall, after = time.time() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"{what}: {wall:.2f} s, {cpu:.2f} s of processors, {after.ru_maxrss / 1024:.0f} MiB at most, load {os.getloadavg()[0]:.1f}", flush=True)


def trace(directory, script, db, *options):
    subprocess.run([FTRAC, "run", "-q", "--force", "--db", db, *options, "--", "sh", "-c", script], cwd=directory, check=True)


def end(options, base):
    work = base / "work"
    work.mkdir()
    trace(work, LOOP % (options.processes // 5), base / "trace.db", "--files", options.files)
    waited = time.time() - float((work / "end").read_text())
    with sqlite3.connect(base / "trace.db") as db:
        n, = db.execute("SELECT count(*) FROM processes").fetchone()
        ops, = db.execute("SELECT value FROM meta WHERE key = 'ops_recorded'").fetchone()
    print(f"{n} processes, {ops} operations: {waited:.2f} s from the end of the command to the trace, load {os.getloadavg()[0]:.1f}")


def several(options, base):
    for number in options.traces:
        directory = base / f"{number}"
        directory.mkdir()
        timed(f"{number} traces", [WFSTAT, "io", *small_traces(directory, number)])


def small_traces(base, number):
    """Of eight runs, and copies of them."""
    for i in range(8):
        trace(base, SMALL, base / f"one{i}.db")
    traces = [base / f"T{i}.db" for i in range(number)]
    for i, path in enumerate(traces):
        shutil.copy(base / f"one{i % 8}.db", path)
    return traces


def give_to(path, i, host):
    """As if that machine had recorded it, of a file system that all have; each run has its own inodes, after the one before it."""
    with contextlib.closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE meta SET value = ? WHERE key = 'host'", (host,))
        db.execute("UPDATE meta SET value = 'boot of ' || ? WHERE key = 'boot_id'", (host,))
        db.execute("UPDATE meta SET value = value + ? WHERE key IN ('start_ns', 'end_ns')", (i * 1000000000,))
        db.execute("UPDATE mounts SET fstype = 'nfs4', source = 'server:/export', fsid = '7/7'")
        db.execute("UPDATE files SET ino = ino + ?, birth = birth + ? WHERE state & 1", (i * 100000, i * 1000000000))


def merge(options, base):
    for number in options.traces:
        directory = base / f"{number}"
        directory.mkdir()
        traces = small_traces(directory, number)
        for made in directory.glob("one*"):
            made.unlink()
        for i, path in enumerate(traces):
            give_to(path, i, f"node{i % options.hosts}")
        timed(f"{number} traces of {options.hosts} machines, {sum(p.stat().st_size for p in traces) / 1e6:.1f} MB",
              [FTRAC, "merge", "-o", base / f"{number}.db", directory])
        with contextlib.closing(sqlite3.connect(base / f"{number}.db")) as db:
            counts = [db.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in ("processes", "files", "op")]
            ran, = db.execute("SELECT sum(iif(key = 'end_ns', value, -value)) / 1e9 FROM merged WHERE key IN ('start_ns', 'end_ns')").fetchone()
        print(f"    {counts[0]} processes, {counts[1]} files and {counts[2]} operations of runs that took {ran:.0f} s; "
              f"{(base / f'{number}.db').stat().st_size / 1e6:.1f} MB")


def multiply(path, wanted):
    """The rows of handles again, until there are enough."""
    db = sqlite3.connect(path)
    columns = {table: ", ".join(row[1] for row in db.execute(f"PRAGMA table_info({table})").fetchall()[1:]) for table in ("handles", "moved")}
    step, = db.execute("SELECT max(id) FROM handles").fetchone()
    have, = db.execute("SELECT count(*) FROM handles").fetchone()
    for k in range(1, -(-wanted // have)):
        for table, key in ("handles", "id"), ("moved", "handle"):
            db.execute(f"INSERT INTO {table} SELECT {key} + {k * step}, {columns[table]} FROM {table} WHERE {key} <= {step}")
    db.execute("INSERT INTO path_names SELECT max(id) + 1, NULL, '/' || hex(zeroblob(300)) FROM path_names")
    db.execute("UPDATE handles SET path = (SELECT max(id) FROM path_names) WHERE id IN (SELECT id FROM handles ORDER BY id LIMIT 1 OFFSET 99)")
    db.commit()
    db.close()


def long(options, base):
    trace(base, SMALL.replace("1 2 3", "$(seq 300)"), base / "long.db")
    multiply(base / "long.db", options.handles)
    for name, more in ("CSV", ["--csv"]), ("text", []):
        with open(base / "out", "wb") as out:
            timed(f"wfstat handle as {name}", [WFSTAT, "handle", *more, base / "long.db"], out)
        print(f"    {(base / 'out').stat().st_size / 1e6:.0f} MB")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("what", choices=["end", "several", "merge", "long"])
    parser.add_argument("--processes", type=int, default=20000)
    parser.add_argument("--files", default="kernel", help="kernel or mount")
    parser.add_argument("--traces", type=int, nargs="+", default=[100, 1000])
    parser.add_argument("--hosts", type=int, default=4)
    parser.add_argument("--handles", type=int, default=1000000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ftrac-waiting-", dir=os.environ.get("TMPDIR", "/var/tmp")) as directory:
        {"end": end, "several": several, "merge": merge, "long": long}[options.what](options, pathlib.Path(directory))


main()
