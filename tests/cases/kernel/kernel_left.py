#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# serial: programs in the kernel slow all system calls of the machine
# seconds: 5
"""What ends the cases of this folder finds leftovers: a tracer that still runs, and a program, a map and a link that are
pinned when their tracer is killed.  All cases of the folder end by it."""
import os
import pathlib
import subprocess
import tempfile

import kernelleft
from ftractest import WORK, Checks, need_kernel, skip


def start():
    tracer = subprocess.Popen([WORK / "kernel_events", "-q", "sh", "-c", "echo; exec sleep 600"], stdout=subprocess.PIPE)
    tracer.stdout.readline()
    found = kernelleft.of_this_case()[1]
    return tracer, {kind: [what for what in found if what.kind == kind] for kind in kernelleft.KINDS}


def end_command(tracer):
    """The command goes on when its tracer is killed."""
    with open(f"/proc/{tracer.pid}/task/{tracer.pid}/children", encoding="ascii") as f:
        commands = [int(pid) for pid in f.read().split()]
    tracer.kill()
    tracer.wait(60)
    for pid in commands:
        os.kill(pid, 9)


def running(checks):
    tracer, found = start()
    checks.check("a tracer that runs is found", all(found.values()), found)
    end_command(tracer)
    kernelleft.nothing_left(checks, "killed")


def pinned(checks, kind, place):
    tracer, found = start()
    checks.check(f"{kind}: there is one", found[kind])
    if not found[kind]:
        return
    what, pin = found[kind][0], place / kind
    subprocess.run(["bpftool", kind, "pin", "id", str(what.id), pin], check=True, timeout=60)
    end_command(tracer)
    left = kernelleft.left(patience=5)[1]
    print(f"{kind} {what.id} '{what.name}' is pinned: found {[(each.kind, each.name) for each in left]}")
    checks.check(f"{kind}: found when it is pinned", what in left, left)
    pin.unlink()
    kernelleft.nothing_left(checks, f"{kind}, no longer pinned")


def all_cases(checks):
    cases = sorted(pathlib.Path(__file__).parent.glob("*.py"))
    for case in cases:
        checks.check(f"'{case.name}' ends by kernelleft.end()", "kernelleft.end(" in case.read_text(encoding="utf-8"))
    print(f"{len(cases)} cases end by looking for leftovers")


need_kernel()
if os.geteuid() != 0:
    skip("bpftool lists objects for root alone")
facts = Checks()
all_cases(facts)
running(facts)
with tempfile.TemporaryDirectory(prefix="ftrac-case-") as directory:
    subprocess.run(["mount", "-t", "bpf", "bpf", directory], check=True, timeout=60)
    try:
        for each in kernelleft.KINDS:
            pinned(facts, each, pathlib.Path(directory))
    finally:
        subprocess.run(["umount", directory], check=True, timeout=60)
kernelleft.end(facts)
