#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What --files preload costs commands, by the CPU time that they and all their processes use.

    bench/preload.py [--rounds 5] [WORKLOAD...]

The workloads are those of workloads.py.  They run natively, under procmon alone, which follows their processes, and by ftrac run --files preload, in
turn.  Prints the least CPU seconds of each, and their ratio to native; what ftrac itself uses, on another processor where there is one, is a
column of its own.  Other work on the machine changes these less than the clock.  Needs no root.
"""
import argparse
import pathlib
import tempfile

import machine
import measure
import natively
import programs
import systems as systems
import workloads

WORKLOADS = ["montage-j2", "compile-j2", "hello", "git", "tree"]


class ByPtrace(natively.InKernel):
    """Processes alone, and no files."""

    def __init__(self, within):
        super().__init__(within, "procmon", machine.BUILD / "procmon/procmon", files="none")
        self.words = [machine.BUILD / "procmon/procmon", "--force"]


def members_of(within):
    return [natively.Native(within), ByPtrace(within), natively.InKernel(within, "preload", machine.FTRAC, "run", "-q", "--force", files="preload")]


def cpu_s(system, workload, directory):
    """Of the command; of the tracer, which the facts of a trace have, too."""
    with tempfile.TemporaryDirectory(prefix="ftrac-bench-") as scratch:
        workload.reset(directory)
        where = system.start(directory, pathlib.Path(scratch))
        status, output, error = measure.perform(system.wrap(workload.command()), where, 3600)
        if status:
            raise SystemExit(f"bench: {workload.name} failed: {error.strip()[-400:]} {output[-400:]}")
        began, ended, used = (int(word) / 1e9 for word in system.times_file.read_text().split())
        return used, ended - began, systems.trace_facts(system.db)["tracer_cpu_s"] if system.db.exists() else 0


def print_row(workload, runs):
    least = [min(run[0] for run in of) for of in runs]
    clock = [min(run[1] for run in of) for of in runs]
    print(f"| {workload.name} | {least[0]:.2f} | {least[1] / least[0]:.3f} | {least[2]:.2f} | {least[2] / least[0]:.3f} | "
          f"{min(run[2] for run in runs[2]):.2f} | {clock[2] / clock[0]:.2f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD", help=", ".join(WORKLOADS))
    o = parser.parse_args()
    print("| workload | native CPU s | by ptrace: native | preload CPU s | preload : native | of ftrac CPU s | by the clock |\n" + "|---" * 7 + "|")
    with measure.directory_for("ftrac-bench-", "/dev/shm") as top:
        programs.own("within", top)
        for workload in workloads.kernel():
            if workload.name not in (o.workloads or WORKLOADS):
                continue
            with measure.place_of(workload, top) as directory:
                members = members_of(top / "within")
                runs = [[] for _ in members]
                for turn in range(o.rounds):
                    for i in measure.rotated([*range(len(members))], turn):
                        runs[i].append(cpu_s(members[i], workload, directory))
                print_row(workload, runs)


if __name__ == "__main__":
    main()
