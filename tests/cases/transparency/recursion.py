#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A mount inside the tree that it mirrors shows what it covers, and no request waits for itself."""
import os
import subprocess

from ftractest import Checks, Mount, need_fuse

need_fuse()
checks = Checks()
with Mount() as mount:
    inner = mount(mount.mnt)
    covered = os.stat(mount.base).st_ino
    checks.equal("the mount point inside is the empty directory", os.listdir(inner), [])
    (inner / "file").write_text("x")
    checks.equal("which can be written", os.listdir(inner), ["file"])
    (inner / "file").unlink()
    for walkers in 1, 64:
        found = [subprocess.Popen(["find", mount(mount.base), "-maxdepth", "3"],
                                  stdout=subprocess.PIPE) for _ in range(walkers)]
        for process in found:
            out, _ = process.communicate(timeout=120)
            checks.equal("a walk ends", process.returncode, 0)
            checks.check("and has seen the directory", str(inner).encode() in out)
    mount.unmount()
    checks.equal("nothing is lost", mount.fact("ops_lost"), 0)
checks.end()
