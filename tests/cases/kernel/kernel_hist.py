#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 6
"""Histograms by file system, mount and operation, of a record in the kernel, against those of strace -T of the same run.

Counts must be equal.  Latencies cannot: strace's contain its own stops.  So in each group the smallest, middle and largest
latency in the kernel must be no longer than strace's.
"""
import collections
import contextlib
import csv
import os
import pathlib
import re
import subprocess
import tempfile

import kernelleft
from filesystems import Kind, done
from ftractest import Checks, InKernel, need, need_kernel

WFSTAT = os.environ.get("WFSTAT", "build/dag/wfstat")
KINDS = ("tmpfs", "ext4", "bindfs", "sshfs", "overlay")
CALLS = {"read": "read", "pread64": "read", "write": "write", "pwrite64": "write", "fsync": "fsync", "lseek": "lseek",
         "ftruncate": "truncate", "getdents64": "readdir"}
LINE = re.compile(r"(\w+)\(\d+<([^>]*)>.* = (-?\d+).* <([0-9.]+)>$")
WORK = """
import os, sys
for n, top in enumerate(sys.argv[1:]):
    with open(top + "/f", "wb", buffering=0) as f:
        for i in range(20 + n):
            f.write(bytes(100 * i + 1))
        os.fsync(f.fileno())
        os.ftruncate(f.fileno(), 700)
    with open(top + "/f", "rb", buffering=0) as f:
        for i in range(5 + n):
            f.read(100)
            f.seek(i)
    for i in range(n + 1):
        os.listdir(top)
"""


def mounts():
    """Mount points, the longest first."""
    with open("/proc/self/mountinfo", encoding="utf-8") as f:
        rows = [line.split(" - ") for line in f]
    return sorted(((left.split()[4].replace("\\040", " "), right.split()[0]) for left, right in rows), key=lambda row: -len(row[0]))


def mount_of(path, known):
    for top, fstype in known:
        if path == top or path.startswith(top.rstrip("/") + "/"):
            return fstype, top
    return None


def seen_by_strace(log, known, tops):
    found = collections.defaultdict(list)
    for line in log.read_text(errors="replace").splitlines():
        match = LINE.search(line)
        if match and match[1] in CALLS:
            place = mount_of(match[2].replace("\\x20", " "), known)
            if place and place[1] in tops:
                found[(*place, CALLS[match[1]])].append(float(match[4]) * 1e9)
    return found


def histogram(db, tops):
    """Of each group: the count, and [from, to, count] of each class."""
    done_ = subprocess.run([WFSTAT, "hist", "--of", "latency", "--by", "fstype,mount,operation", "--csv", db], capture_output=True,
                           text=True, check=True, timeout=100)
    found = collections.defaultdict(list)
    for row in list(csv.reader(done_.stdout.splitlines()))[1:]:
        if row[1] in tops and row[2] in CALLS.values():
            found[tuple(row[:3])].append([float(row[3]), float(row[4]), int(row[5])])
    return found


def at(classes, rank):
    """The begin of the class in which the value of that rank is."""
    for begin, _, count in classes:
        if rank < count:
            return begin
        rank -= count
    return classes[-1][0]


def compare(checks, seen, found):
    checks.equal("groups", sorted(found), sorted(seen))
    for group in seen.keys() & found.keys():
        times, classes = sorted(seen[group]), found[group]
        checks.equal(f"{group}: count", sum(row[2] for row in classes), len(times))
        for rank in {0, len(times) // 2, len(times) - 1}:
            checks.check(f"{group}: latency of rank {rank} is no longer than strace's", at(classes, rank) <= times[rank],
                         (at(classes, rank), times[rank]))


def main():
    need_kernel()
    need("strace", "python3", "mkfs.ext4")
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="ftrac-case-") as directory, contextlib.ExitStack() as stack:
        base = pathlib.Path(directory).resolve()
        kinds = [Kind(base, name) for name in KINDS if hasattr(Kind, name)]
        for kind in kinds:
            stack.callback(done, "umount", "-l", kind.top)
        tops = [str(kind.top) for kind in kinds if kind.mounted]
        known, run = mounts(), InKernel(base)
        subprocess.run([*run.command("-q", "--strict"), "strace", "-f", "-y", "-T", "-o", base / "log", "-e", f"trace={','.join(CALLS)}",
                        "-e", "signal=none", "/usr/bin/python3", "-S", "-c", WORK, *tops], check=True, timeout=100, stdin=subprocess.DEVNULL)
        seen, found = seen_by_strace(base / "log", known, tops), histogram(run.db, tops)
        compare(checks, seen, found)
        print(f"{len(tops)} file systems ({', '.join(sorted({group[0] for group in seen}))}), {len(seen)} groups, "
              f"{sum(map(len, seen.values()))} calls")
        checks.check("there are several file systems", len(tops) > 2 and len(seen) > 10, (tops, len(seen)))
    kernelleft.end(checks)


main()
