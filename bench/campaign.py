#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Many traces by Dask: operations grouped by name, with percentiles, on a cluster of workers with little memory; compared with
SQLite.

    bench/campaign.py DIRECTORY [--traces N] [--ops N] [--seeds N] [--workers N] [--memory BYTES] [--no-sqlite]

Makes N traces of about so many operations each in DIRECTORY (those that are there are taken), each by another seed of
synthetic.py, or, with --seeds, so many different ones and copies of them; starts a LocalCluster, and prints how long
quantiles() and a groupby took, the most memory that a worker had, and whether SQLite says the same, which puts all
latencies into one table and sorts them.  Exits with 1 if it does not, or if a worker had more than its memory.
"""
import argparse
import fractions
import math
import os
import pathlib
import re
import resource
import shutil
import sqlite3
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python"))
QUANTILES = 0.5, 0.95, 0.99, 0.999


def make_traces(directory, traces, ops, seeds):
    directory.mkdir(parents=True, exist_ok=True)
    paths = [directory / f"{number:04}.db" for number in range(traces)]
    for number, path in enumerate(paths):
        made = path.with_suffix(".part")
        if path.exists():
            continue
        if number >= seeds:
            shutil.copyfile(paths[number % seeds], made)
        else:
            subprocess.run([sys.executable, ROOT / "bench/synthetic.py", made, "--ops", str(ops), "--processes", "400", "--files",
                            "600", "--edges", "4000", "--seed", str(number)], check=True, stdout=subprocess.DEVNULL)
        made.rename(path)
    return [str(path) for path in paths]


def peak(pid):
    """The most bytes of memory that a process had."""
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return int(re.search(r"VmHWM:\s+(\d+)", file.read())[1]) * 1024


def by_sqlite(paths, directory):
    """name -> count, sum, min, quantiles, max."""
    place = directory / "sorted.sqlite"
    place.unlink(missing_ok=True)
    db = sqlite3.connect(place, isolation_level=None)
    db.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; CREATE TABLE l (name TEXT, ns INTEGER)")
    for path in paths:
        db.execute("ATTACH ? AS t", (path,))
        db.execute("INSERT INTO l SELECT name, latency_ns FROM t.op WHERE latency_ns NOTNULL")
        db.execute("DETACH t")
    db.execute("CREATE INDEX sorted ON l (name, ns)")
    found = {}
    for name, count, total, least, most in db.execute("SELECT name, count(*), sum(ns), min(ns), max(ns) FROM l GROUP BY name").fetchall():
        ranks = [math.ceil(count * fractions.Fraction(str(q))) for q in QUANTILES]
        values = [db.execute("SELECT ns FROM l WHERE name = ? ORDER BY ns LIMIT 1 OFFSET ?", (name, rank - 1)).fetchone()[0]
                  for rank in ranks]
        found[name] = (count, total, least, *values, most)
    db.close()
    place.unlink()
    return found


def timed(text, function, *arguments, **more):
    start = time.monotonic()
    result = function(*arguments, **more)
    print(f"{time.monotonic() - start:12.1f} s  {text}", flush=True)
    return result


def rows_of(frame):
    """A table of quantiles() as by_sqlite() has it."""
    columns = [frame["count"].tolist()] + [frame[name].astype("int64").tolist() for name in frame.columns[1:]]
    return dict(zip(frame.index.tolist(), zip(*columns)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("--traces", type=int, default=100)
    parser.add_argument("--ops", type=int, default=100000)
    parser.add_argument("--seeds", type=int)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--memory", type=int, default=1 << 30)
    parser.add_argument("--no-sqlite", action="store_true")
    given = parser.parse_args()
    paths = timed("traces made or found", make_traces, given.directory, given.traces, given.ops,
                  given.seeds or given.traces)

    import distributed
    import ftrac
    with distributed.LocalCluster(n_workers=given.workers, threads_per_worker=1, memory_limit=given.memory, dashboard_address=":0",
                                  local_directory=str(given.directory / "workers")) as cluster, distributed.Client(cluster) as client:
        traces = timed(f"{len(paths)} traces of {sum(map(os.path.getsize, paths)) / 1e6:.0f} MB opened", ftrac.open, paths,
                       engine="dask", scheduler=client)
        table = timed("quantiles of latencies by name", traces.quantiles, "latency_ns", by="name", q=QUANTILES)
        count = timed("groupby('name').latency_ns.count()", lambda: traces.operations.groupby("name", observed=True).latency_ns.count().compute())
        peaks = [peak(pid) for pid in client.run(os.getpid).values()]
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(f"{table['count'].sum():14,} operations, {len(table)} names; most memory: workers "
          f"{', '.join(f'{size / 2**20:.0f} MiB' for size in peaks)} of {given.memory / 2**20:.0f} MiB, client {own / 2**20:.0f} MiB")
    wrong = max(peaks) > given.memory or count.to_dict() != table["count"].to_dict()
    if not given.no_sqlite:
        same = timed("the same by SQLite alone", by_sqlite, paths, given.directory) == rows_of(table)
        print("SQLite says the same" if same else "SQLite says something else")
        wrong |= not same
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
