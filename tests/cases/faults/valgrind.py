#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 15
# long: --long
"""All commands that read a trace do so under valgrind: values that were never set are seen by it alone."""
import concurrent.futures
import pathlib
import shutil
import subprocess
import tempfile

from ftractest import Checks, need, need_fuse
from hostile import COMMANDS
from sample import some
from workflows import traced

need_fuse()
need("valgrind", "make")
checks = Checks()
base = pathlib.Path(tempfile.mkdtemp(prefix="ftrac-case-"))
(base / "Makefile").write_text("b: a\n\tsort a > b; cat b > c; rm c\n")
(base / "a").write_text("two\none\n")
traced("trace.db", ["make", "-s"], base, "--make")
shutil.copy(base / "trace.db", base / "whole.db")


def reads(command):
    return subprocess.run(["valgrind", "-q", "--error-exitcode=97", "--leak-check=full",
                           "--errors-for-leak-kinds=definite", "--child-silent-after-fork=yes", *command, "trace.db"],
                          capture_output=True, text=True, errors="replace", cwd=base, timeout=300,
                          stdin=subprocess.DEVNULL)


chosen = some(COMMANDS, 12)
with concurrent.futures.ThreadPoolExecutor(2) as pool:
    for command, done in zip(chosen, pool.map(reads, chosen)):
        checks.check(f"'{' '.join(command[1:])}' uses what is set and frees it",
                     done.returncode in (0, 1) and "==" not in done.stderr, done.stderr[-2000:])
shutil.rmtree(base)
checks.end()
