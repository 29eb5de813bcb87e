#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What each way of recording costs a load as IOR makes it.

    sudo bench/ior.py [--where DIR] [--ranks 4] [--mib 64] [--points 5] [--runs 3]

Each rank writes a file of its own in transfers of 256 KiB, with fsync(2) at the end; when all have written, each reads the
file of the next rank.  A point is the mean of three runs, as in the paper about eBPF and LDMS; each point is divided by
the native one of the same round.  Prints the median, the least and the largest of five, of writing and of reading.
"""
import argparse
import multiprocessing
import os
import pathlib
import statistics
import subprocess
import sys
import time

from measure import directory_for

BUILD = pathlib.Path(__file__).resolve().parent.parent / "build"
FTRAC, PROCMON = str(BUILD / "ftrac/ftrac"), str(BUILD / "procmon/procmon")
TRANSFER = 256 << 10
# What is recorded, and how.  DB: the trace.
WAYS = {
    "native": [],
    "tracepoints attached, another process traced": None,
    "every system call (--files kernel)": [FTRAC, "run", "-q", "--force", "--db", "DB", "--files", "kernel", "--"],
    "every system call, sums only (--no-ops)": [FTRAC, "run", "-q", "--force", "--db", "DB", "--files", "kernel", "--no-ops", "--"],
    "processes (procmon, ptrace)": [PROCMON, "--force", "--db", "DB", "--"],
    "processes (procmon, connector)": [PROCMON, "--force", "--db", "DB", "--processes", "connector", "--"],
    "mount, open": [FTRAC, "run", "-q", "--force", "--db", "DB", "--fidelity", "open", "--"],
    "mount, call": [FTRAC, "run", "-q", "--force", "--db", "DB", "--fidelity", "call", "--"],
    "mount, exact": [FTRAC, "run", "-q", "--force", "--db", "DB", "--fidelity", "exact", "--"],
    "strace -f": ["strace", "-f", "-o", "/dev/null"],
}


def rank(number, ranks, mib, barrier, times):
    data = os.urandom(TRANSFER)
    fd = os.open(f"rank{number}", os.O_RDWR | os.O_CREAT | os.O_TRUNC)
    barrier.wait()
    start = time.monotonic()
    for _ in range(mib * (1 << 20) // TRANSFER):
        os.write(fd, data)
    os.fsync(fd)
    barrier.wait()
    written = time.monotonic()
    other = os.open(f"rank{(number + 1) % ranks}", os.O_RDONLY)
    while os.read(other, TRANSFER):
        pass
    barrier.wait()
    times.put((written - start, time.monotonic() - written))


def load(ranks, mib):
    """Prints the seconds of writing and of reading."""
    context = multiprocessing.get_context("fork")
    barrier, times = context.Barrier(ranks), context.SimpleQueue()
    processes = [context.Process(target=rank, args=(n, ranks, mib, barrier, times)) for n in range(ranks)]
    for process in processes:
        process.start()
    found = [times.get() for _ in processes]
    for process in processes:
        process.join()
    for number in range(ranks):
        os.unlink(f"rank{number}")
    print(max(write for write, _ in found), max(read for _, read in found))


def run(way, where, given):
    prefix, beside = WAYS[way], None
    command = [sys.executable, "-S", __file__, "--load", "--ranks", str(given.ranks), "--mib", str(given.mib)]
    if prefix is None:
        beside = subprocess.Popen([FTRAC, "run", "-q", "--force", "--db", where / "beside.db", "--files", "kernel", "--", "sleep", "600"])
        time.sleep(2)
        prefix = []
    work = where / "work"
    work.mkdir(exist_ok=True)
    done = subprocess.run([str(where / "trace.db") if word == "DB" else word for word in prefix] + command, cwd=work, text=True,
                          stdout=subprocess.PIPE, check=True)
    if beside:
        beside.terminate()
        beside.wait()
    return [float(word) for word in done.stdout.split()]


def point(way, where, given):
    runs = [run(way, where, given) for _ in range(given.runs)]
    return [statistics.mean(seconds) for seconds in zip(*runs)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--where", metavar="DIR")
    for name, n in (("ranks", 4), ("mib", 64), ("points", 5), ("runs", 3)):
        parser.add_argument(f"--{name}", type=int, default=n)
    parser.add_argument("--load", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.load:
        load(given.ranks, given.mib)
        return
    ratios = {way: [[], []] for way in WAYS}
    with directory_for("ftrac-ior-", given.where) as directory:
        where = pathlib.Path(directory)
        for _ in range(given.points):
            native = point("native", where, given)
            for way in WAYS:
                seconds = native if way == "native" else point(way, where, given)
                for i in range(2):
                    ratios[way][i].append(seconds[i] / native[i])
        print(f"{given.ranks} ranks, {given.mib} MiB each; native: {native[0]:.3f} s to write, {native[1]:.3f} s to read\n")
    print("| recorded | write : native | read : native |\n|---|---|---|")
    for way, both in ratios.items():
        print(f"| {way} | " + " | ".join(f"{statistics.median(r):.2f} ({min(r):.2f} to {max(r):.2f})" for r in both) + " |")


if __name__ == "__main__":
    main()
