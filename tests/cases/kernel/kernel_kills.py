#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# serial: programs in the kernel slow all system calls of the machine
# seconds: 15
# long: --kills 100
"""ftrac run --files kernel, killed (SIGKILL) at a random moment: in its beginning, at work, at its end.

Nothing of it is left in the kernel, no process waits for it, the command goes on or has not begun, and what was recorded up
to then is a sound trace, that says it is not complete: each view can be read, and wfstat prints its tables.

  kernel_kills.py [--kills N] [--seed N]
"""
import argparse
import collections
import contextlib
import os
import pathlib
import random
import sqlite3
import subprocess
import tempfile
import time

import kernelleft
from ftractest import Checks, InKernel, need_kernel

WFSTAT = os.environ.get("WFSTAT", "build/dag/wfstat")
SCRIPT = "for i in $(seq 400); do echo $i >f; cat f >g; done; echo done >done"
MOMENTS = "beginning", "work", "end"


def wait_for(path, child):
    """Until it is there, or ftrac has ended."""
    while not path.exists() and child.poll() is None:
        time.sleep(0.002)


def rest_of_command():
    """Processes that were started from here and still run."""
    pids = map(int, filter(str.isdecimal, os.listdir("/proc")))
    return [pid for pid in pids if pid != os.getpid() and kernelleft.is_mine(pid)]


def kill_at(rng, child, base):
    moment = rng.choice(MOMENTS)
    if moment != "beginning":
        wait_for(base / ("f" if moment == "work" else "done"), child)
    time.sleep(rng.uniform(0, 0.5 if moment == "work" else 0.15))
    if moment == "work" and (base / "done").exists():
        moment = "end"
    is_running = child.poll() is None
    child.kill()
    child.wait(60)
    return moment if is_running else "too late"


def ended(checks, what, base, has_begun):
    """The command ends by itself, and so does a child that waited to be told what to execute."""
    for _ in range(1200):
        if not rest_of_command():
            break
        time.sleep(0.05)
    checks.equal(f"{what}: processes that are left", rest_of_command(), [])
    checks.check(f"{what}: the command went on, or had not begun", (base / "done").exists() or not has_begun)


def sound(checks, what, place):
    """Rows of all views of the trace."""
    if not place.db.exists() or not place.db.stat().st_size:
        return 0
    rows = 0
    with contextlib.closing(sqlite3.connect(place.db)) as db:
        checks.equal(f"{what}: integrity_check", db.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
        views = [name for name, in db.execute("SELECT name FROM sqlite_schema WHERE type = 'view'")]
        if not views:  # killed before anything was written
            return 0
        for view in views:
            rows += len(db.execute(f'SELECT * FROM "{view}"').fetchall())
        facts = dict(db.execute("SELECT key, value FROM trace"))
    for table in "proc", "file", "sys":
        done = subprocess.run([WFSTAT, table, place.db], capture_output=True, text=True, timeout=300, check=False)
        checks.check(f"{what}: wfstat {table}", done.returncode == 0, done.stderr)
    if what in ("beginning", "work"):
        checks.check(f"{what}: it does not say that it is complete", facts.get("complete") != 1, facts)
    return rows


def kill(checks, rng, place, base):
    for name in "f", "g", "done":
        (base / name).unlink(missing_ok=True)
    for name in place.db, *place.db.parent.glob(place.db.name + "-*"):
        pathlib.Path(name).unlink(missing_ok=True)
    child = subprocess.Popen([*place.command("-q"), "sh", "-c", SCRIPT], cwd=base, stdin=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)
    moment = kill_at(rng, child, base)
    kernelleft.nothing_left(checks, moment)
    ended(checks, moment, base, (base / "f").exists())
    rows = sound(checks, moment, place)
    return moment, rows


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=9)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    options = parser.parse_args()
    need_kernel()
    checks = Checks()
    print(f"seed {options.seed}")
    kills, with_trace, rows = collections.Counter(), 0, 0
    with tempfile.TemporaryDirectory(prefix="ftrac-case-") as directory:
        base = pathlib.Path(directory).resolve() / "work"
        base.mkdir()
        for i in range(options.kills):
            moment, found = kill(checks, random.Random(f"{options.seed} {i}"), InKernel(base.parent), base)
            kills[moment] += 1
            with_trace += found > 0
            rows += found
    print(f"killed {options.kills} times: {dict(kills)}; {with_trace} left a trace, {rows} rows of views were read")
    checks.check("some were killed in time, and left rows", kills.total() > kills["too late"] and rows)
    kernelleft.end(checks)


main()
