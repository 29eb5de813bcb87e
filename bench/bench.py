#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What tracing costs.

    sudo bench/bench.py gate              # the workloads that each change is held to
    sudo bench/bench.py matrix            # all, and what else could be taken instead of ftrac
    sudo bench/bench.py kernel            # commands that are recorded in the kernel, without a mount
    sudo bench/bench.py figures           # the paper's Figures 3 and 4: Montage on disk, 1 to 8 jobs
    bench/bench.py results                # writes RESULTS.md once more, from the runs of before
    bench/bench.py kernel-results         # the same with KERNEL.md
    bench/bench.py figures-results        # the same with FIGURES.md and its pictures

Needs root, ./setup bench, and a machine that does nothing else.  See README.md.
"""
import argparse
import pathlib
import re
import signal
import sys

import figures
import machine
import measure
import natively
import programs
import results
import systems
import workloads

HERE = pathlib.Path(__file__).resolve().parent
FIDELITIES = ["open", "cached", "exact"]
# Where others can be compared: the same work under each.
FOR_OTHERS = ["montage-j2", "compile-j2"]
WITH_STRACE = ["hello", "git", "tree"]
RESULTS = ["results", "kernel-results", "figures-results"]
# Raw runs, and the page about them, of what has its own.
FILES = {"kernel": ("kernel", "KERNEL"), "figures": ("figures", "FIGURES")}


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("what", choices=["gate", "matrix", "kernel", "figures", *RESULTS])
    parser.add_argument("--rounds", type=int, default=5, help="of all systems (default: 5)")
    parser.add_argument("--uring", choices=["on", "off", "both"], default="both",
                        help="FUSE over io_uring (default: both, where the kernel has it)")
    parser.add_argument("--only", action="append", metavar="WORKLOAD", help="may be repeated")
    parser.add_argument("--fidelity", action="append", choices=FIDELITIES + ["others"],
                        help="only this one; others: strace and the like (may be repeated)")
    parser.add_argument("--role", action="append",
                        help="beside native only this, as raw, no-record, ftrac, strace (may be repeated)")
    parser.add_argument("--append", action="store_true", help="add to the runs that are there")
    parser.add_argument("--out", metavar="FILE",
                        help="the raw runs (default: build/bench/runs.jsonl, kernel.jsonl or figures.jsonl)")
    parser.add_argument("--report", metavar="FILE",
                        help="the tables; beside it a CSV of all runs (default: bench/RESULTS.md, KERNEL.md or FIGURES.md)")
    parser.add_argument("--tiny", action="store_true", help="only to see whether it works")
    options = parser.parse_args()
    runs, report = FILES.get(options.what.removesuffix("-results"), ("runs", "RESULTS"))
    options.out = options.out or machine.BUILD / f"bench/{runs}.jsonl"
    options.report = options.report or HERE / f"{report}.md"
    return options


def groups_in_kernel(workload, within):
    groups = [natively.in_kernel(within, with_others=workload.name in FOR_OTHERS + WITH_STRACE)]
    if workload.name == "montage-j2":
        groups += [natively.beside(within), *natively.call_on_a_mount()]
    return groups


def groups_of_mounts(options, raw, workload):
    wanted = options.fidelity or FIDELITIES + ["others"]
    uring = {"on": [True], "off": [False], "both": [False, True]}[options.uring]
    groups = [systems.group_of(fidelity, on, raw, no_ops=options.what == "matrix")
              for fidelity in FIDELITIES if fidelity in wanted for on in uring
              if not on or (machine.has_uring() and systems.knows_uring())]
    with_others = options.what == "matrix" or "others" in (options.fidelity or [])
    if "others" in wanted and with_others and workload.name in FOR_OTHERS:
        groups.append(systems.others())
    return groups


def choose_groups(options, top, workload):
    if options.what == "kernel":
        groups = groups_in_kernel(workload, top / "programs/within")
    elif options.what == "figures":
        groups = [figures.group(top / "programs/within")]
    else:
        groups = groups_of_mounts(options, top / "programs/passthrough_ll", workload)
    for group in groups:
        group.members = [member for member in group.members
                         if not options.role or member.role in ["native", *options.role]]
    return [group for group in groups if len(group.members) > 1]


def compile_programs(options, top):
    (top / "programs").mkdir()
    if options.what in FILES:
        programs.own("within", top / "programs")
    else:
        programs.passthrough_ll(top / "programs")


def choose(options, top):
    known = getattr(workloads, options.what)(options.tiny)
    strange = set(options.only or []) - {workload.name for workload in known}
    if strange:
        sys.exit(f"bench: no workload '{strange.pop()}' in the {options.what}; there are: "
                 + ", ".join(workload.name for workload in known))
    chosen = [(workload, choose_groups(options, top, workload)) for workload in known
              if not options.only or workload.name in options.only]
    return [(workload, groups) for workload, groups in chosen if groups]


def measure_writer(journal, rounds, directory):
    """The program that makes events up, where it was built: operations a second that are stored."""
    program = machine.BUILD / "bench/bench-writer"
    for _ in range(rounds if program.exists() else 0):
        text = machine.run([program, "1000000", directory / "writer.db"])
        found = re.search(r"with the end of the run ([0-9.]+) M/s", text)
        if found:
            journal.add(writer=float(found[1]) * 1e6)


def take_measurements(options):
    machine.be_alone()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("bench: ended by a signal"))
    journal = measure.Journal(options.out, options.append)
    with measure.memory() as top, machine.uring_as_it_was():
        compile_programs(options, top)
        chosen = choose(options, top)
        journal.add(machine=machine.describe(), what=options.what)
        measure.measure_all(journal, chosen, options.rounds, top,
                            lambda line: print(line, flush=True))
        if options.what not in FILES and not options.only and not options.tiny:
            measure_writer(journal, options.rounds, top)


def main():
    options = parse()
    if not options.what.endswith("results"):
        take_measurements(options)
    write = figures.write if options.what.startswith("figures") else results.write
    write(measure.read_journal(options.out), pathlib.Path(options.report))
    print(f"written: {options.report}")


main()
