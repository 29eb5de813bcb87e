#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 10
"""The ways of examples/full-tracing: each builds, and sees what its manual says it sees."""
import os
import pathlib
import shutil
import subprocess
import tempfile

from ftractest import FTRAC, TOP, Checks, need, need_fuse

need_fuse()
need("bwrap", "fakechroot", "make", "gcc", "sqlite3")
checks = Checks()
ROOT = os.geteuid() == 0
WAYS = ["run", "chroot", "bwrap", "fakechroot", "fakechroot-2"] if ROOT else [
    "run", "bwrap", "fakechroot", "fakechroot-2"]
# The kernel's ways see everything; a library in front of the C library cannot see what that opens.
UNSEEN = {"fakechroot": ("ld.so.cache",), "fakechroot-2": ("ld.so.cache", "libz.so")}

base = pathlib.Path(tempfile.mkdtemp(prefix="ftrac-case-"))
environment = dict(os.environ, FTRAC=os.path.abspath(FTRAC), WORK=str(base / "work"))
for name in "DB", "MNT", "MAKEFLAGS", "MAKELEVEL":
    environment.pop(name, None)
done = subprocess.run([TOP / "examples/full-tracing/run.sh", *WAYS], cwd=base, env=environment,
                      capture_output=True, text=True, timeout=500)
checks.equal("run.sh", done.returncode, 0)
print(done.stdout + done.stderr, end="")
table = {line.split()[0]: [int(n) for n in line.split()[1:]]
         for line in done.stdout.splitlines()[1:]}
checks.equal("ways", list(table), WAYS)
everything = (base / "work/run.files").read_text().split("\n")
for way, (operations, files, missing) in table.items():
    checks.check(f"{way}: files", files >= 50 and operations > 5000, table[way])
    if way not in UNSEEN:
        checks.equal(f"{way}: not seen", missing, 0)
        continue
    seen = set((base / f"work/{way}.files").read_text().split("\n"))
    unseen = [path for path in everything if path not in seen]
    checks.check(f"{way}: does not see everything", 0 < missing < len(everything), missing)
    for part in UNSEEN[way]:
        checks.check(f"{way}: does not see {part}", any(part in path for path in unseen), unseen)
shutil.rmtree(base)
checks.end()
