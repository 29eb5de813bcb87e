#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 14
"""A file that is written directly and through a mapping at once loses nothing, in each fidelity.
Where the daemon cannot know that (too many pages of a file), the trace and the end of ftrac run name the file.

    mixed_writes.py [--rounds N]                        (40 rounds of 128 stores and 128 writes a fidelity)
"""
import argparse
import os
import pathlib
import re
import subprocess
import tempfile

from ftractest import FTRAC, WORK, Checks, Mount, fidelities, need_fuse

REMEMBERED = 1024  # PAGES_MOST of ftrac/pages.h


def race(checks, name, path, rounds):
    said = subprocess.run([WORK / "mixed", path, str(rounds)], capture_output=True, text=True, timeout=300, check=True).stdout
    stored, lost_stores, lost_writes = map(int, re.findall(r"[0-9]+", said))
    print(f"  {name}: {said.strip()}")
    checks.check(f"{name}: nothing is lost", stored > 0 and lost_stores == lost_writes == 0, said)


def in_trace(checks, fidelity, rounds):
    with Mount("--fidelity", fidelity) as mount:
        native = mount.base / "native"
        native.mkdir()
        race(checks, fidelity, mount(native / "raced"), rounds)
        subprocess.run([WORK / "mixed", mount(native / "some"), "forget", str(REMEMBERED)], timeout=60, check=True)
        subprocess.run([WORK / "mixed", mount(native / "many"), "forget", str(2 * REMEMBERED)], timeout=60, check=True)
        mount.unmount()
        found = mount.sql("SELECT value, (SELECT path FROM file WHERE id = (SELECT value FROM trace WHERE key = "
                          "'mixed_file')) FROM trace WHERE key = 'mixed_writes'")
        wanted = [(1, f"{native}/many")] if fidelity == "exact" else []
        checks.equal(f"{fidelity}: files of which data may be wrong", found, wanted)
        for name in "some", "many":
            data = (native / name).read_bytes()
            checks.equal(f"{fidelity}: {name}: what was written", data.count(b"w"), len(data) // 4096)


def at_the_end(checks):
    with tempfile.TemporaryDirectory(prefix="ftrac-case-") as top:
        path = pathlib.Path(top, "many")
        done = subprocess.run([FTRAC, "run", "--fidelity", "exact", "--db", os.path.join(top, "t.db"), "--",
                               WORK / "mixed", path, "forget", str(2 * REMEMBERED)], cwd=top, capture_output=True, text=True,
                              timeout=60, check=False)
        checks.equal("ftrac run: status", done.returncode, 0)
        lines = [line for line in done.stderr.splitlines() if "data may be wrong" in line]
        checks.check("ftrac run names the file", len(lines) == 1 and "1 file was" in lines[0] and str(path) in lines[0],
                     done.stderr)


def main():
    need_fuse()
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=40)
    rounds = parser.parse_args().rounds
    checks = Checks()
    names = fidelities()
    for fidelity in names:
        in_trace(checks, fidelity, rounds)
    if "exact" in names:
        at_the_end(checks)
    checks.end()


if __name__ == "__main__":
    main()
