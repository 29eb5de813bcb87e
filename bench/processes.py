#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What following processes costs, without any file system: ratios of run times, in pairs.

    sudo bench/processes.py [--pairs N] [--jobs N] [--storm N] [WORKLOAD...]

Each way of procmon runs right after a native run of the same work, N times over; the figures are the
medians of the ratios, with the smallest and the largest beside them: of the command, from its start
to its end, and of the whole call, which also makes the database and its indexes.  Workloads: the
compile and the Montage of examples/, and a storm of short processes.

Needs ./setup tests and a quiet machine; root for exit records.
"""
import argparse
import pathlib
import shutil
import statistics
import subprocess
import sys
import time

from measure import directory_for

TOP = pathlib.Path(__file__).resolve().parent.parent
PROCMON = TOP / "build/procmon/procmon"
EXAMPLES = TOP / "examples"
# Prints for how long the command ran: seen from inside, the same for all.
TIMED = ("import subprocess, sys, time; t = time.monotonic(); "
         "subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL, "
         "stderr=subprocess.DEVNULL); print(time.monotonic() - t)")


def run(command, **more):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, **more)


def example(name, jobs):
    def prepare(directory):
        if name == "montage":
            run([EXAMPLES / "montage/generate.sh", "A", directory])
        else:
            shutil.copytree(EXAMPLES / "make", directory, dirs_exist_ok=True)

    def clean(directory):
        run(["make", "clean", "-C", directory], stderr=subprocess.DEVNULL)
    return prepare, clean, lambda directory: ["make", f"-j{jobs}", "-C", str(directory)]


def storm(n):
    return (lambda directory: None, lambda directory: None,
            lambda directory: ["sh", "-c", f"seq {n} | xargs -P4 -n1 /bin/true"])


def measure(prefix, command, clean, directory):
    clean(directory)
    start = time.monotonic()
    done = subprocess.run([*prefix, sys.executable, "-c", TIMED, *command], check=True, text=True,
                          stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
    return float(done.stdout), time.monotonic() - start


def spread(ratios):
    return f"{statistics.median(ratios):.3f} | {min(ratios):.2f} - {max(ratios):.2f}"


def compare(name, workload, directory, pairs):
    prepare, clean, command = workload
    directory.mkdir()
    prepare(directory)
    command = command(directory)
    native = measure([], command, clean, directory)  # warms the caches
    print(f"\n{name}: {native[0]:.2f} s natively, {pairs} pairs\n")
    print("| followed by | command | spread | whole call | spread |\n|---|---|---|---|---|")
    for way in "none", "connector", "ptrace":
        prefix = [] if way == "none" else [PROCMON, "--db", directory / "../bench.db", "--force",
                                              "--processes", way, "--"]
        inner, whole = [], []
        for _ in range(pairs):
            base = measure([], command, clean, directory)
            seen = measure(prefix, command, clean, directory)
            inner.append(seen[0] / base[0])
            whole.append(seen[1] / base[1])
        print(f"| {way} | {spread(inner)} | {spread(whole)} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--jobs", type=int, default=8)
    parser.add_argument("--storm", type=int, default=2000)
    parser.add_argument("workloads", nargs="*", default=["compile", "montage", "storm"])
    options = parser.parse_args()
    workloads = {"compile": example("make", options.jobs),
                 "montage": example("montage", options.jobs), "storm": storm(options.storm)}
    with directory_for("ftrac-bench-", None) as top:
        for name in options.workloads:
            compare(name, workloads[name], top / name, options.pairs)


main()
