#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""ftrac is killed (SIGKILL) at any moment of a workload: the database opens, is sound, holds what
was done up to the last batch, and does not say that it is complete; the mount says that it is not
connected any more, and `ftrac umount` takes it away.

    kills.py [--all] [--kills N]     (40; with --all 200)
"""
import argparse
import errno
import os
import random
import signal
import sqlite3
import subprocess
import time

from faults import remove
from ftractest import FTRAC, Checks, Mount, need_fuse

# A batch is begun every 0.2 s, and takes its time on a machine that has other things to do.
BATCH_S = 2


def work(top, journal, name):
    """Makes files until that is impossible, and writes down when each was there."""
    i = 0
    try:
        while True:
            with open(f"{top}/{name}{i}", "w", encoding="ascii") as f:
                f.write(f"{i}\n")
            os.rename(f"{top}/{name}{i}", f"{top}/{name}{i}.done")
            os.write(journal, f"{name} {i} {time.monotonic_ns()}\n".encode())
            i += 1
    except OSError as e:
        os.write(journal, f"error {e.errno} 0\n".encode())


def start(top, journal, name):
    pid = os.fork()
    if pid == 0:
        try:
            signal.alarm(120)
            work(top, journal, name)
        finally:
            os._exit(0)
    return pid


class Killed:
    """One life."""

    def __init__(self, base, delay, options):
        self.base, self.delay, self.options = base, delay, options
        self.journal_path = base / "journal"
        remove(base)
        base.mkdir()

    def run(self):
        (self.base / "work").mkdir()
        journal = os.open(self.journal_path, os.O_CREAT | os.O_APPEND | os.O_WRONLY)
        self.mount = mount = Mount(*self.options, base=self.base)
        mount.__enter__()
        top = mount(self.base / "work")
        clients = [start(top, journal, name) for name in "ab"]
        time.sleep(self.delay)
        os.kill(mount.pid, signal.SIGKILL)
        self.killed_ns = time.monotonic_ns()
        for pid in [mount.pid, *clients]:
            os.waitpid(pid, 0)
        mount.pid = None
        os.close(journal)

    def check_mount(self, checks, label):
        try:
            os.statvfs(self.mount.mnt)  # nothing of which the kernel remembers
            error = None
        except OSError as e:
            error = e.errno
        checks.equal(f"{label}: the mount says", error, errno.ENOTCONN)
        done = subprocess.run([FTRAC, "umount", self.mount.mnt], capture_output=True, text=True,
                              timeout=60, check=False)
        checks.equal(f"{label}: ftrac umount", done.returncode, 0)
        checks.check(f"{label}: it is gone", not os.path.ismount(self.mount.mnt))
        checks.equal(f"{label}: the directory is as before", os.listdir(self.mount.mnt), [])

    def read_journal(self):
        lines = [line.split() for line in self.journal_path.read_text().splitlines()]
        return ([(name + number, int(ns)) for name, number, ns in lines if name != "error"],
                {int(number) for name, number, _ in lines if name == "error"})

    def check_trace(self, checks, label):
        """Returns how many files the trace knows of those that the journal has."""
        done, errors = self.read_journal()
        # What the kernel says of a FUSE connection that has gone; EIO: of a page that was on its way.
        checks.check(f"{label}: errors of who was in the middle",
                     errors <= {errno.ENOTCONN, errno.ECONNABORTED, errno.EIO}, errors)
        db = sqlite3.connect(f"file:{self.mount.db}?mode=ro", uri=True)
        try:
            checks.equal(f"{label}: sound", db.execute("PRAGMA integrity_check").fetchall(),
                         [("ok",)])
            facts = dict(db.execute("SELECT key, value FROM trace"))
            checks.equal(f"{label}: not complete", facts.get("complete"), 0)
            checks.equal(f"{label}: as many operations as it says",
                         db.execute("SELECT count(*) FROM op").fetchone()[0], facts["ops_recorded"])
            known = {os.path.basename(path)[:-len(".done")] for (path,) in db.execute(
                "SELECT path2 FROM op WHERE name = 'rename' AND result = 0")}
        finally:
            db.close()
        due = {name for name, ns in done if ns < self.killed_ns - BATCH_S * 1e9}
        checks.equal(f"{label}: missing, though a batch was written since", due - known, set())
        names = [name for name, _ in done]
        checks.check(f"{label}: no gap", self.without_gap(names, known),
                     f"{len(known)} of {len(names)}")
        checks.check(f"{label}: nothing that was not done", len(known - set(names)) <= 2,
                     known - set(names))
        return len(names), len(known)

    @staticmethod
    def without_gap(names, known):
        """Of each client a beginning; batches are in the order of completion."""
        for client in "ab":
            numbers = sorted(int(name[1:]) for name in known if name[0] == client)
            if numbers != list(range(len(numbers))):
                return False
        return bool(names) or not known


def main():
    need_fuse()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--kills", type=int)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    checks, moments = Checks(), random.Random(given.seed)
    n = given.kills or (200 if given.all else 40)
    files = recorded = 0
    with Mount() as own:
        own.unmount()
        for i in range(n):
            # Mostly within the first batches, some as soon as it is there, some after many.
            delay = moments.choice([0.02, 0.3, 0.6, 0.6]) * moments.random()
            one = Killed(own.base / "life", delay + (BATCH_S + 0.3 if i % 10 == 0 else 0),
                         moments.choice([(), ("--fidelity", "cached"), ("--stat",)]))
            label = f"kill {i} after {one.delay:.3f} s"
            one.run()
            one.check_mount(checks, label)
            done, known = one.check_trace(checks, label)
            files, recorded = files + done, recorded + known
    print(f"{n} kills; {files} files were made, {recorded} of them are in the traces")
    checks.check("some were recorded", recorded > 100)
    checks.end()


if __name__ == "__main__":
    main()
