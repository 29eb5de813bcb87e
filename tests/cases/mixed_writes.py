#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A file that is written directly and from a mapping at once may lose data in *exact*: the trace and the end of
ftrac run say so and name the file; and say nothing of files that were written in one way only."""
import os
import subprocess
import sys
import tempfile

from ftractest import FTRAC, Checks, Mount, fidelities, need_fuse

PROGRAM = """
import mmap, os, sys
def both(name, direct, mapped):
    fd = os.open(name, os.O_RDWR | os.O_CREAT, 0o600)
    os.ftruncate(fd, 8192)
    if mapped:
        m = mmap.mmap(fd, 8192)
        m[5000] = 1
        m.flush()
    if direct:
        os.pwrite(fd, b"x", 100)
    os.close(fd)
top = sys.argv[1]
both(top + "/direct", True, False)
both(top + "/mapped", False, True)
both(top + "/both", True, True)
"""


def in_trace(checks, fidelity):
    with Mount("--fidelity", fidelity) as mount:
        native = mount.base / "native"
        native.mkdir()
        subprocess.run([sys.executable, "-c", PROGRAM, str(mount(native))], check=True, timeout=60)
        mount.unmount()
        found = mount.sql("SELECT value, (SELECT path FROM file WHERE id = (SELECT value FROM trace WHERE key = "
                          "'mixed_file')) FROM trace WHERE key = 'mixed_writes'")
        wanted = [(1, f"{native}/both")] if fidelity == "exact" else []
        checks.equal(f"{fidelity}: files written in two ways", found, wanted)


def at_the_end(checks):
    with tempfile.TemporaryDirectory(prefix="ftrac-case-") as top:
        done = subprocess.run([FTRAC, "run", "--fidelity", "exact", "--db", os.path.join(top, "t.db"), "--", sys.executable,
                               "-c", PROGRAM, top], cwd=top, capture_output=True, text=True, timeout=60, check=False)
        checks.equal("ftrac run: status", done.returncode, 0)
        lines = [line for line in done.stderr.splitlines() if "data may be wrong" in line]
        checks.check("ftrac run names the file", len(lines) == 1 and "1 file was" in lines[0] and f"{top}/both" in lines[0],
                     done.stderr)


def main():
    need_fuse()
    checks = Checks()
    names = fidelities()
    for fidelity in names:
        in_trace(checks, fidelity)
    if "exact" in names:
        at_the_end(checks)
    checks.end()


if __name__ == "__main__":
    main()
