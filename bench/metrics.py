#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What --metrics costs a run, in pairs of one without and one with it, written each second.

    bench/metrics.py [--build build] [--pairs 9] [--files 4000] [--no-ops]

The command makes, reads and removes small files, by several programs, for some seconds.  Prints the processor time of ftrac and the command
together, which other load of the machine changes little: the least of each, their ratio, and the median of the ratios of pairs; and how
large the traces are.
"""
import argparse
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

COMMAND = """
import os, subprocess, sys
for i in range(int(sys.argv[1])):
    with open(f"f{i}", "w") as out: out.write("x" * 5000)
    with open(f"f{i}") as data: data.read()
    os.stat(f"f{i}")
    if i % 50 == 0: subprocess.run(["wc", "-c", f"f{i}"], stdout=subprocess.DEVNULL, check=True)
    os.unlink(f"f{i}")
"""


def run(o, base, *options):
    before, begin = os.times(), time.monotonic()
    subprocess.run([f"{o.build}/ftrac/ftrac", "run", "-q", "--force", "--db", base / "trace.db", "--scope", "dir", *(["--no-ops"] if o.no_ops else []),
                    *options, "--", "/usr/bin/python3", "-c", COMMAND, str(o.files)], cwd=base, check=True)
    after = os.times()
    return (after.children_user + after.children_system - before.children_user - before.children_system,
            (base / "trace.db").stat().st_size, time.monotonic() - begin)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--pairs", type=int, default=9)
    parser.add_argument("--files", type=int, default=4000)
    parser.add_argument("--no-ops", action="store_true")
    o = parser.parse_args()
    without, with_it = [], []
    with tempfile.TemporaryDirectory(prefix="ftrac-bench-") as directory:
        base = pathlib.Path(directory)
        run(o, base)
        for _ in range(o.pairs):
            without.append(run(o, base))
            with_it.append(run(o, base, "--metrics", base / "metrics.prom", "--metrics-interval", "1"))
        lines = (base / "metrics.prom").read_text().count("\n")
    least = [min(row[0] for row in rows) for rows in (without, with_it)]
    ratio = statistics.median(b[0] / a[0] for a, b in zip(without, with_it))
    print(f"{o.pairs} pairs of {statistics.median(row[2] for row in without):.1f} s: {least[0]:.2f} s of processors without, {least[1]:.2f} with, ratio of "
          f"the least {least[1] / least[0]:.3f}, median of pairs {ratio:.3f}; {lines} lines; trace {without[-1][1] / 1e6:.2f} and {with_it[-1][1] / 1e6:.2f} MB")


main()
