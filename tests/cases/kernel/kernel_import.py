#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# serial: how often git reads its files again depends on the speed of the machine
# seconds: 10
# long: --montage
"""A workflow recorded in the kernel, and the same seen by strace and imported: wfdag diff says that the graphs are the same.

--montage: also Montage, which takes a minute under strace.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import kernelleft
from ftractest import TOP, Checks, InKernel, need, need_kernel
from graphworkflows import DATES, KNOWN, WORKFLOWS
from imported import diff, fact, rows, run_import, strace

checks = Checks()


def compare(base, name, command, prepare=None):
    works = [base / name / side for side in ("kernel", "strace")]
    for work in works:
        work.mkdir(parents=True)
        if prepare:
            prepare(work)
    run = InKernel(base / name, "kernel.db")
    subprocess.run([*run.command("-q", files="kernel"), *command], cwd=works[0], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, timeout=600,
                   check=True, env=run_environment())
    strace(command, works[1], base / name / "strace.txt", "-f", "-ttt", "-T", "-yy", "-s", "4096" if name != "montage" else "256", env=DATES)
    done = run_import("--strace", "-o", base / name / "strace.db", base / name / "strace.txt")
    checks.equal(f"{name}: import", (done.returncode, fact(base / name / "strace.db", "imported_lost")), (0, 0))
    found = diff(run.db, works[0], base / name / "strace.db", works[1], *(KNOWN if name == "git" else []))
    checks.equal(f"{name}: wfdag diff", (found.returncode, found.stdout if found.returncode else ""), (0, ""))
    sums = [rows(db, "SELECT sum(bread), sum(bwrite), count(DISTINCT file) FROM access WHERE path GLOB ? AND path NOT GLOB '*/.git/*'", f"{work}/*")[0]
            for db, work in zip((run.db, base / name / "strace.db"), works)]
    # How much a pipe got before its reader ended differs from run to run.
    checks.equal(f"{name}: bytes read and written, files", *(side[2:] if name == "pipes" else side for side in reversed(sums)))
    checks.check(f"{name}: there was something to compare", sums[0][2] > 2, sums)
    print(f"{name}: {sums[0]}; {found.stdout.splitlines()[:1]}")


def run_environment():
    return {**os.environ, **DATES}


def sky(work):
    subprocess.run([TOP / "examples/montage/generate.sh", "A", work], check=True, stdout=subprocess.DEVNULL, timeout=300)


need("strace", "make", "gcc", "git")
need_kernel()
with tempfile.TemporaryDirectory(prefix="ftrac-case-") as directory:
    top = pathlib.Path(directory).resolve()
    for each, words in WORKFLOWS.items():
        compare(top, each, words)
    if "--montage" in sys.argv:
        if shutil.which("mProjectPP"):
            compare(top, "montage", ["make", "-s", "-j2"], sky)
        else:
            print("left out: montage, since there is no 'mProjectPP' here")
kernelleft.end(checks)
