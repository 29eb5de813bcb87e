#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The trace cannot be opened through the mount, and is readable and growing outside of it."""
import errno
import os
import subprocess
import time

from ftractest import Checks, Mount, need_fuse

need_fuse()
checks = Checks()


def refused(what, call):
    try:
        call()
        checks.check(f"{what} is refused", False, "it was not")
    except OSError as e:
        checks.equal(f"{what} is refused", e.errno, errno.EBUSY)


with Mount() as mount:
    inside = mount(mount.db)
    for name in inside, f"{inside}-wal", f"{inside}-shm":
        refused(f"opening {os.path.basename(name)}", lambda: open(name, "rb"))
    refused("truncating it", lambda: os.truncate(inside, 0))
    refused("removing it", lambda: os.unlink(inside))
    refused("renaming it", lambda: os.rename(inside, f"{inside}.old"))
    (mount.base / "other").write_text("x")
    refused("replacing it", lambda: os.rename(mount(mount.base / "other"), inside))
    refused("creating another log", lambda: os.open(f"{inside}-wal", os.O_CREAT | os.O_WRONLY))
    sqlite = subprocess.run(["sqlite3", inside, "SELECT count(*) FROM op"], capture_output=True)
    checks.check("sqlite3 cannot open it", sqlite.returncode != 0)

    def grown(past):
        for _ in range(200):  # the writer commits several times a second
            n = mount.sql("SELECT count(*) FROM op")[0][0]
            if n > past:
                return n
            os.listdir(mount(mount.base))
            time.sleep(0.05)
        return past

    first = grown(0)
    checks.check("outside it can be read while it is written", first > 0)
    checks.check("and grows", grown(first) > first)
    checks.equal("it is not complete", mount.fact("complete"), 0)
    mount.unmount()
    checks.equal("then it is", mount.fact("complete"), 1)
    checks.equal("nothing is lost", mount.fact("ops_lost"), 0)
    checks.equal("it is sound", mount.sql("PRAGMA integrity_check"), [("ok",)])
checks.end()
