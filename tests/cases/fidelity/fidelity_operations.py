#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The trace of a program that says itself what it does, operation by operation."""
import os
import subprocess

from ftractest import WORK, Checks, Mount, need_fuse

need_fuse()
checks = Checks()
KERNELS_OWN = "'lookup', 'getattr', 'release', 'statfs'"


def compare(fidelity, skipped):
    with Mount("--fidelity", fidelity) as mount:
        work = mount.base / "work"
        work.mkdir()
        said = subprocess.run([WORK / "operations", mount(work)], capture_output=True, text=True,
                              check=True).stdout.splitlines()
        mount.unmount()
        rows = mount.sql(f"""
            SELECT name, path, path2, result, offset, length, bytes FROM op JOIN image i
                ON i.id = op.image WHERE i.exe LIKE '%/operations' AND i.seq > 0
                AND name NOT IN ({KERNELS_OWN}) AND path LIKE ? || '/%'
                AND NOT (name = 'getxattr' AND result < 0) ORDER BY op.id""", str(work))
        recorded = []
        for name, path, path2, *rest in rows:
            path = os.path.relpath(path, work)
            if path2 and path2.startswith("/"):
                path2 = os.path.relpath(path2, work)
            recorded.append(" ".join("-" if v is None else str(v)
                                     for v in (name, path, path2, *rest)))
        said, recorded = ([line for line in lines if line.split()[0] not in skipped]
                          for lines in (said, recorded))
        for i, line in enumerate(said):
            checks.equal(f"{fidelity}: operation {i}",
                         recorded[i] if i < len(recorded) else "nothing", line)
        checks.equal(f"{fidelity}: no operation more", recorded[len(said):], [])
        checks.equal(f"{fidelity}: nothing lost", mount.fact("ops_lost"), 0)
        checks.equal(f"{fidelity}: it is what was in force", mount.fact("fidelity"), fidelity)
        checks.equal(f"{fidelity}: every operation is by a process",
                     mount.sql("SELECT count(*) FROM op WHERE process IS NULL")[0][0], 0)


compare("exact", set())
compare("cached", {"read", "write"})
checks.end()
