#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# serial: how often git reads its files again depends on the speed of the machine
# seconds: 10
"""The same workflow by a mount, recorded in the kernel, and by both: the graphs are the same, inside of the directory of
the run.

A mount has the operations of a directory alone, the kernel all: --scope restricts it.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

import kernelleft
from ftractest import Checks, InKernel, need, need_fuse, need_kernel
from graphworkflows import DATES, KNOWN, WORKFLOWS

WFDAG = os.environ.get("WFDAG", "build/dag/wfdag")
OPTIONS = {"mount": ["--stat", "--fidelity", "exact"], "kernel": ["--strict"], "both": ["--stat", "--strict"]}


def record(base, files, name):
    """Both in a directory of the same name."""
    work = base / files / "work"
    work.mkdir(parents=True)
    run = InKernel(base, f"{files}.db")
    options = OPTIONS[files]
    done = subprocess.run([*run.command("-q", "--scope", str(work), *options, files=files), *WORKFLOWS[name]], cwd=work,
                          capture_output=True, text=True, timeout=600, stdin=subprocess.DEVNULL, check=False, env={**os.environ, **DATES})
    return run, done


def check(checks, name):
    with tempfile.TemporaryDirectory(prefix="ftrac-case-") as directory:
        base = pathlib.Path(directory).resolve()
        runs = {files: record(base, files, name) for files in OPTIONS}
        for files, (run, done) in runs.items():
            checks.equal(f"{name}, {files}: exit status", (done.returncode, done.stderr), (0, ""))
            checks.equal(f"{name}, {files}: facts", [run.fact(key) for key in ("files", "complete", "ops_lost")],
                         [files, 1, 0])
        for one, other in (("mount", "kernel"), ("mount", "both"), ("kernel", "both")):
            compare(checks, f"{name}, {one} and {other}", base, runs[one][0], runs[other][0])


def compare(checks, name, base, one, other):
    checks.equal(f"{name}: submitted = received + dropped", other.fact("kernel_submitted"),
                 other.fact("kernel_received") + other.fact("kernel_dropped"))
    diff = subprocess.run([WFDAG, "diff", "--data", "--fail-on", "graph", *KNOWN, one.db, other.db],
                          capture_output=True, text=True, timeout=300, check=False)
    checks.equal(f"{name}: wfdag diff", diff.returncode, 0)
    if diff.returncode:
        print(diff.stdout, diff.stderr)
    files = other.sql("SELECT count(DISTINCT file), sum(nwrite) FROM access WHERE path GLOB ?", f"{base}/*")[0]
    print(f"{name}: {files[0]} files, {files[1]} writes; {diff.stdout.splitlines()[:1]}")
    checks.check(f"{name}: there was something to compare", files[0] > 4 and files[1] > 4, files)


need_fuse()
need_kernel()
need("make", "gcc", "git")
facts = Checks()
for workflow in sys.argv[1:] or WORKFLOWS:
    check(facts, workflow)
kernelleft.end(facts)
