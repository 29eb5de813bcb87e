#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Unmounting and signals end a run in order; after SIGKILL the trace holds what was committed."""
import os
import signal

from ftractest import Checks, Mount, need_fuse

need_fuse()
checks = Checks()
WRITES = 500


def work(mount):
    for i in range(WRITES):
        (mount(mount.base) / "out").write_text(str(i))


def complete(mount, how):
    checks.equal(f"{how}: complete", mount.fact("complete"), 1)
    checks.equal(f"{how}: nothing lost", mount.fact("ops_lost"), 0)
    (n,) = mount.sql("SELECT count(*) FROM op WHERE name = 'write' AND path = ?",
                     str(mount.base / "out"))[0]
    checks.equal(f"{how}: all writes are there", n, WRITES)
    checks.equal(f"{how}: one file", sorted(p.name for p in mount.base.glob("trace.db*")),
                 ["trace.db"])
    checks.check(f"{how}: not mounted", not os.path.ismount(mount.mnt))


with Mount() as mount:
    work(mount)
    mount.unmount()
    complete(mount, "unmounted")
for number in signal.SIGTERM, signal.SIGINT, signal.SIGHUP:
    with Mount() as mount:
        work(mount)
        os.kill(mount.pid, number)
        mount.wait()
        complete(mount, number.name)
with Mount() as mount:
    held = open(mount(mount.base) / "held", "w")  # a busy mount
    work(mount)
    os.kill(mount.pid, signal.SIGTERM)
    mount.wait()
    complete(mount, "busy")
with Mount() as mount:
    work(mount)
    while mount.sql("SELECT count(*) FROM op WHERE name = 'write'")[0][0] == 0:
        pass
    os.kill(mount.pid, signal.SIGKILL)
    os.waitpid(mount.pid, 0)
    mount.pid = None
    mount.take_away()
    checks.equal("killed: sound", mount.sql("PRAGMA integrity_check"), [("ok",)])
    checks.equal("killed: not complete", mount.fact("complete"), 0)
    (n,) = mount.sql("SELECT count(*) FROM op WHERE name = 'write'")[0]
    checks.check("killed: what was committed is there", n > 0, n)
checks.end()
