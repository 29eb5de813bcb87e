#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How what wfdag costs grows with the length of a workflow.

    bench/graph.py [STEPS]

Makes traces of chains - each process reads what the one before wrote - of STEPS (default 1,000,000), a half, a
quarter and an eighth of it, and has wfdag write each graph as DOT, with nothing folded, and find its critical
path: seconds, microseconds a step, and the most memory.  The build is build/dag/wfdag, unless $WFDAG says
otherwise.
"""
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

import synthetic

WFDAG = os.environ.get("WFDAG", "build/dag/wfdag")
STEP_NS = 1000000


def make(path, steps):
    store = synthetic.Store(path)
    db = store.db
    columns = {table: [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
               for table in ("processes", "images", "files", "accesses", "jobs")}

    def put(table, rows):
        names = list(rows[0])
        assert set(names) <= set(columns[table])
        db.executemany(f"INSERT INTO {table} ({','.join(names)}) VALUES ({','.join('?' * len(names))})",
                       (list(row.values()) for row in rows))

    for key, value in (("start_ns", synthetic.START_NS), ("end_ns", synthetic.START_NS + steps * STEP_NS),
                       ("complete", 1), ("fidelity", "exact"), ("cpus", 2), ("format", 1)):
        db.execute("INSERT INTO meta VALUES (?, ?)", (key, value))
    # While the tables are empty: the rows of jobs and accesses are those that it would work out.
    db.executescript(synthetic.embed.ends() + "; BEGIN;")
    db.execute("INSERT INTO path_names VALUES (1, NULL, '/usr/bin/step')")
    db.execute("INSERT INTO kinds VALUES (1, 1, ?, NULL)", (0o100644,))
    done = {"version": 1, "did": 0, "opens": 1, "nmeta": 0, "io_ns": 1000}
    read = {**done, "nread": 1, "bread": 100, "nwrite": 0, "bwrite": 0}
    write = {**done, "nread": 0, "bread": 0, "nwrite": 1, "bwrite": 100}
    for first in range(1, steps + 1, 50000):
        numbers = range(first, min(first + 50000, steps + 1))
        db.executemany("INSERT INTO path_names VALUES (?, NULL, ?)", ((n + 1, f"/data/{n}.dat") for n in numbers))
        put("processes", [{"id": n, "pid": n, "parent": 1 if n > 1 else None, "start_t": n * STEP_NS,
                           "end_t": (n + 1) * STEP_NS, "exit_code": 0, "image": n, "tier": 8} for n in numbers])
        put("images", [{"id": n, "process": n, "seq": 1, "exe": 1, "comm": "step", "argv": '["step"]',
                        "start_t": n * STEP_NS} for n in numbers])
        put("jobs", [{"process": n, "job": str(n), "xform": "step", "phase": "step"} for n in numbers])
        put("files", [{"id": n, "path": n + 1, "kind": 1, "ino": n, "size_first": 0, "size_last": 100, "state": 1}
                      for n in numbers])
        put("accesses", [{"process": n, "file": n - 1, "path": n, "first_t": n * STEP_NS + 1,
                          "last_t": n * STEP_NS + 1, "first_in": 0, **read} for n in numbers if n > 1])
        put("accesses", [{"process": n, "file": n, "path": n + 1, "first_t": n * STEP_NS + 2,
                          "last_t": n * STEP_NS + 2, "first_out": 0, "last_out": 0, **write} for n in numbers])
    db.execute("COMMIT")
    db.close()


def measure(*args):
    """Seconds, MiB, and what was printed."""
    begin = time.monotonic()
    with subprocess.Popen([WFDAG, *map(str, args)], stdout=subprocess.PIPE) as child:
        lines = sum(chunk.count(b"\n") for chunk in iter(lambda: child.stdout.read(1 << 20), b""))
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.exit(f"wfdag ended with {child.returncode}")
    return time.monotonic() - begin, usage.ru_maxrss // 1024, lines


def main():
    if len(sys.argv) > 2 or (len(sys.argv) == 2 and not sys.argv[1].isdigit()):
        sys.exit(__doc__)
    most = int(sys.argv[1]) if len(sys.argv) > 1 else 1000000
    resource.setrlimit(resource.RLIMIT_STACK, (8 << 20, resource.getrlimit(resource.RLIMIT_STACK)[1]))
    print("| steps | what | seconds | us a step | MiB | lines |\n|---|---|---|---|---|---|")
    for steps in (most // 8, most // 4, most // 2, most):
        with tempfile.TemporaryDirectory(prefix="ftrac-bench-") as folder:
            trace = pathlib.Path(folder) / "chain.db"
            make(trace, steps)
            for what in (["--dot", "--max-nodes", "0"], ["critical-path", "--format", "csv"]):
                seconds, memory, lines = measure(*what, trace)
                print(f"| {steps} | {what[0]} | {seconds:.2f} | {seconds * 1e6 / steps:.1f} | {memory} | {lines} |",
                      flush=True)


if __name__ == "__main__":
    main()
