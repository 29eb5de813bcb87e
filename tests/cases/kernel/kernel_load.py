#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# serial: programs in the kernel slow all system calls of the machine
# seconds: 10
# long: --processes 4000 --load 20
"""At a load of many busy processes, a trace has each process of the command, with its arguments, and the figures that
wait4(2) gives its parent.

  kernel_load.py [--processes N] [--load N]
"""
import argparse
import collections
import json
import os
import pathlib
import subprocess
import tempfile

import kernelleft
from ftractest import WORK, Checks, InKernel, need_kernel

Waited = collections.namedtuple("Waited", "pid n status utime stime rss minflt majflt nvcsw nivcsw")
NEAR_US = 20     # wait4 counts whole microseconds, of two times
LATER_US = 1000  # what an end may take after the parent has waited, in one more turn of the process


def wait_status(row):
    return row["exit_signal"] or 0 if row["exit_code"] is None else row["exit_code"] << 8


def differences(waited, row):
    """What of a process is not as its parent was told."""
    more_us = row["cpu_ns"] / 1000 - waited.utime - waited.stime
    later = row["nvcsw"] + row["nivcsw"] - waited.nvcsw - waited.nivcsw  # it runs once more after its parent was woken
    wrong = {"status": wait_status(row) != waited.status,
             "CPU": not -NEAR_US < more_us < (LATER_US if later else NEAR_US),
             "peak memory": row["rsspeak_bytes"] != waited.rss * 1024,
             "faults": (row["minflt"], row["majflt"]) != (waited.minflt, waited.majflt), "switches": not 0 <= later <= 1}
    return [name for name, is_wrong in wrong.items() if is_wrong], later


def compare(checks, said, run):
    rows = {(row["pid"], *json.loads(row["argv"])[4:]): row for row in rows_of(run)}
    different, exact, found = collections.Counter(), 0, 0
    lines = [Waited(*map(int, line.split())) for line in said.splitlines()]
    for waited in lines:
        row = rows.get((waited.pid, str(waited.n)))
        wrong, later = differences(waited, row) if row else (["missing"], 0)
        found += bool(row)
        exact += not wrong and not later
        different.update(wrong)
        if wrong and different.total() < 6:
            print(f"    {wrong}: {waited} {row or ''}")
    print(f"{len(lines)} processes that wait4 told of, {found} recorded with their arguments; figures of "
          f"{exact} equal, of the others after one more switch; different: {dict(different)}")
    checks.equal("processes that differ", dict(different), {})
    return len(lines)


def rows_of(run):
    names = ("pid", "argv", "exit_code", "exit_signal", "cpu_ns", "rsspeak_bytes", "minflt", "majflt", "nvcsw", "nivcsw")
    columns = ", ".join("m.argv" if name == "argv" else f"p.{name}" for name in names)
    return [dict(zip(names, row)) for row in run.sql(
        f"SELECT {columns} FROM process p JOIN image m ON m.id = p.image WHERE m.seq > 0 AND m.argv IS NOT NULL")]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--processes", type=int, default=200)
    parser.add_argument("--load", type=int, default=4)
    options = parser.parse_args()
    need_kernel()
    checks = Checks()
    others = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(options.load)]
    with tempfile.TemporaryDirectory(prefix="ftrac-case-") as directory:
        run = InKernel(pathlib.Path(directory))
        done = subprocess.run([*run.command("-q"), WORK / "kernel_many", str(options.processes)], capture_output=True,
                              text=True, stdin=subprocess.DEVNULL, timeout=3600, check=False)
        print(f"load: {os.getloadavg()[0]:.1f}, with {options.load} busy loops of ours")
        for other in others:
            other.kill()
            other.wait()
        checks.equal("status", (done.returncode, done.stderr), (0, ""))
        for fact, wanted in {"complete": 1, "ops_lost": 0, "kernel_dropped": 0}.items():
            checks.equal(fact, run.fact(fact), wanted)
        checks.equal("processes", compare(checks, done.stdout, run), options.processes)
    kernelleft.end(checks)


main()
