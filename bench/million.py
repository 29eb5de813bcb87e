#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a walk over very many files costs ftrac: memory and descriptors for each inode, and time.

    sudo bench/million.py [--files N] [--limit N] [--where DIR] [OPTION OF FTRAC...]

Makes a tree of a million files on a file system in memory (or below DIR), walks it natively and
through ftrac by `find -ls` and by `du`, and says what ftrac had at most while that went on.  The
walks must print the same on both sides; else the exit status is 1.
"""
import argparse
import hashlib
import os
import pathlib
import subprocess
import sys
import threading
import time

from measure import directory_for

FTRAC = pathlib.Path(__file__).resolve().parent.parent / "build/ftrac/ftrac"
WALKS = ["find", ".", "-ls"], ["du", "-s", "."]
DIRECTORY = 500  # files


def make_tree(top, files):
    for i in range(files):
        if i % DIRECTORY == 0:
            at = top / f"{i // DIRECTORY // 100}" / f"{i // DIRECTORY}"
            at.mkdir(parents=True)
        os.mknod(f"{at}/{i}", 0o644)


def walk(top):
    """Seconds, lines and a digest of what the walks print."""
    start, lines, said = time.monotonic(), 0, hashlib.sha1()
    for command in WALKS:
        with subprocess.Popen(command, cwd=top, stdout=subprocess.PIPE) as process:
            while block := process.stdout.read(1 << 20):
                lines += block.count(b"\n")
                said.update(block)
        if process.returncode != 0:
            print(f"million: {command[0]} ended with {process.returncode}", file=sys.stderr)
    return time.monotonic() - start, lines - 1, said.hexdigest()


class Watch(threading.Thread):
    """The peaks of a process, sampled each 0.2 seconds."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.pid, self.stopped = pid, threading.Event()
        self.first, self.memory, self.descriptors = self.memory_now(), 0, 0
        self.start()

    def memory_now(self):
        with open(f"/proc/{self.pid}/status") as f:
            return next(int(line.split()[1]) << 10 for line in f if line.startswith("VmRSS"))

    def look(self):
        self.memory = max(self.memory, self.memory_now())
        self.descriptors = max(self.descriptors, len(os.listdir(f"/proc/{self.pid}/fd")))

    def run(self):
        while not self.stopped.wait(0.2):
            self.look()

    def stop(self):
        self.look()
        self.stopped.set()
        self.join()


def walk_through(options, top, base, limit):
    """As walk(), and the watch over the daemon."""
    mnt, db = base / "mnt", base / "trace.db"
    mnt.mkdir(exist_ok=True)
    daemon = subprocess.Popen(["prlimit", f"--nofile={limit}:{limit}", FTRAC, "-f", "--force",
                               "--db", db, "-o", f"source={top}", *options, mnt])
    while not os.path.ismount(mnt):
        if daemon.poll() is not None:
            sys.exit("million: ftrac did not start")
        time.sleep(0.05)
    watch = Watch(daemon.pid)
    try:
        done = walk(mnt)
        watch.stop()
    finally:
        subprocess.run(["fusermount3", "-u", mnt], check=True)
        if daemon.wait() != 0:
            sys.exit(f"million: ftrac ended with {daemon.returncode}")
    return done, watch


def measure(top, base, limit, options):
    walk(top)  # warms the caches
    native = walk(top)
    right = True
    print(f"{native[1]} entries, {limit} descriptors, find -ls and du\n")
    print("| system | entries | the same | seconds | ratio | MiB | bytes/inode | descriptors |")
    print("|---|---|---|---|---|---|---|---|")
    print(f"| native | {native[1]} | - | {native[0]:.1f} | 1 | - | - | - |", flush=True)
    for more in [], ["--no-record"]:
        (seconds, entries, said), watch = walk_through([*options, *more], top, base, limit)
        same = "yes" if said == native[2] else "NO"
        right &= same == "yes"
        each = (watch.memory - watch.first) / max(1, native[1])
        print(f"| {' '.join(['ftrac', *options, *more])} | {entries} | {same} | {seconds:.1f} | "
              f"{seconds / native[0]:.1f} | {watch.memory / (1 << 20):.0f} | {each:.0f} | "
              f"{watch.descriptors} |", flush=True)
    return 0 if right else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--files", type=int, default=1000000)
    parser.add_argument("--limit", type=int, default=1024, help="of descriptors, for ftrac")
    parser.add_argument("--where", help="a directory for the tree, instead of memory")
    given, options = parser.parse_known_args()
    with directory_for("ftrac-bench-", given.where) as base:
        top = base / "tree"
        top.mkdir()
        if not given.where:
            subprocess.run(["mount", "-t", "tmpfs", "-o", "nr_inodes=0", "bench", top], check=True)
        try:
            make_tree(top, given.files)
            return measure(top, base, given.limit, options)
        finally:
            if not given.where:
                subprocess.run(["umount", "-l", top], check=True)


sys.exit(main())
