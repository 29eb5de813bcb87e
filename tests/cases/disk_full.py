#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A full disk under the trace stops the recording, not the application, and the trace says so."""
import os
import subprocess
import tempfile

from ftractest import Checks, Mount, need_fuse, skip

need_fuse()
if os.geteuid() != 0:
    skip("a small file system can be mounted by root only")
checks = Checks()
small = tempfile.mkdtemp(prefix="ftrac-case-")
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "small", small], check=True)
try:
    with Mount(db=f"{small}/trace.db") as mount:
        work = mount(mount.base)
        for i in range(20000):
            path = work / f"file{i % 100}"
            path.write_text(f"{i}\n")
            if i % 100 == 99:
                checks.equal("the application goes on", path.read_text(), f"{i}\n")
        with os.scandir(work) as entries:
            checks.equal("all files are there", sum(e.name.startswith("file") for e in entries), 100)
        mount.take_away()
        pid, mount.pid = mount.pid, None
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        checks.equal("the daemon says that it could not do all", status, 1)
        checks.equal("the trace is sound", mount.sql("PRAGMA integrity_check"), [("ok",)])
        facts = dict(mount.sql("SELECT key, value FROM trace"))
        checks.equal("it is not complete", facts["complete"], 0)
        checks.check("it says when recording stopped", facts.get("recording_stopped_ns"), facts)
        checks.check("and why", "full" in facts.get("recording_error", ""), facts)
        checks.check("operations were lost, and counted", facts["ops_lost"] > 0, facts)
        stored = mount.sql("SELECT count(*) FROM op")[0][0]
        checks.check("what had been committed is there", stored > 1000, stored)
        checks.equal("the count agrees", facts["ops_recorded"], stored)
        checks.equal("without a gap", mount.sql("SELECT max(id) FROM op")[0][0], stored)
finally:
    subprocess.run(["umount", small], check=True)
    os.rmdir(small)
checks.end()
