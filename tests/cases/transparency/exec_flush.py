#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Descriptors that close in the middle of an exec do not hang: that FLUSH must not look at /proc."""
import subprocess

from ftractest import WORK, Checks, Mount, need_fuse

need_fuse()
checks = Checks()
ROUNDS, JOBS = 125, 8
with Mount() as mount:
    data = mount.base / "data"
    data.write_text("something")
    jobs = [subprocess.Popen([WORK / "exec_cloexec", mount(data), str(ROUNDS)],
                             stdout=subprocess.PIPE) for _ in range(JOBS)]
    done = 0
    for job in jobs:
        out, _ = job.communicate(timeout=300)
        checks.equal("a job ends", job.returncode, 0)
        done += int(out)
    checks.equal("all rounds were made", done, ROUNDS * JOBS)
    mount.unmount()
    (opens,) = mount.sql("SELECT count(*) FROM op WHERE name = 'open' AND path = ?", str(data))[0]
    checks.check("all opens are in the trace", opens >= ROUNDS * JOBS, opens)
    checks.equal("nothing is lost", mount.fact("ops_lost"), 0)
checks.end()
