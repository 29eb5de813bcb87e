#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a machine may run out of: disk, a disk that becomes read-only, descriptors, memory, size
of files.  The application goes on, the trace is sound and says what is missing.  (A full disk in all
details: disk_full.py.)"""
import os
import shutil
import subprocess
import tempfile

from ftractest import Checks, Mount, need_fuse, skip

FILES = 300


def work(checks, label, mount):
    """Enough operations for some batches; each byte is looked at."""
    top = mount(mount.base)
    wrong = 0
    for i in range(FILES):
        (top / f"file{i}").write_text(f"{i}\n" * 50)
        wrong += (top / f"file{i}").read_text() != f"{i}\n" * 50
    checks.equal(f"{label}: what was written is read", wrong, 0)
    checks.equal(f"{label}: natively, too", sum((mount.base / f"file{i}").read_text() != f"{i}\n" * 50
                                                for i in range(FILES)), 0)


def end(checks, label, mount, stops):
    """stops: recording must have stopped; None: it may."""
    mount.take_away()
    pid, mount.pid = mount.pid, None
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    checks.equal(f"{label}: sound", mount.sql("PRAGMA integrity_check"), [("ok",)])
    facts = dict(mount.sql("SELECT key, value FROM trace"))
    if stops is not None:
        checks.equal(f"{label}: complete", facts["complete"], 0 if stops else 1)
    checks.equal(f"{label}: status of the daemon", status, 0 if facts["complete"] else 1)
    checks.equal(f"{label}: the count of operations", mount.sql("SELECT count(*) FROM op")[0][0],
                 facts["ops_recorded"])
    print(f"{label}: {facts['ops_recorded']} operations recorded, {facts['ops_lost']} lost, "
          f"{facts.get('recording_error') or 'complete'}", flush=True)
    return facts


class Small:
    """A small file system of its own for the trace, ext4 in a file or tmpfs."""

    def __init__(self, kind):
        self.kind, self.top = kind, tempfile.mkdtemp(prefix="ftrac-case-")

    def __enter__(self):
        if self.kind == "tmpfs":
            command = ["mount", "-t", "tmpfs", "-o", "size=600k", "small", self.top]
        else:
            self.image = f"{self.top}.img"
            with open(self.image, "wb") as f:
                f.truncate(24 << 20)
            subprocess.run(["mkfs.ext4", "-q", self.image], check=True)
            command = ["mount", "-o", "loop", self.image, self.top]
        if subprocess.run(command, stderr=subprocess.DEVNULL, check=False).returncode:
            os.rmdir(self.top)
            return None
        return self.top

    def __exit__(self, *exception):
        if os.path.ismount(self.top):
            subprocess.run(["umount", self.top], check=True)
            os.rmdir(self.top)
        if self.kind != "tmpfs":
            os.unlink(self.image)


def full(checks):
    with Small("tmpfs") as top:
        with Mount(db=f"{top}/trace.db") as mount:
            work(checks, "full", mount)
            facts = end(checks, "full", mount, True)
            checks.check("full: why", "full" in facts["recording_error"], facts)


def read_only(checks):
    """As a kernel does with a file system that it finds damaged: nothing can be written any more.
    It is the one way in which not even the last words can be."""
    with Small("ext4") as top:
        if not top:
            print("read-only: no ext4 in a file can be mounted here")
            return
        with Mount(db=f"{top}/trace.db") as mount:
            work(checks, "read-only", mount)
            subprocess.run(["mount", "-o", "remount,abort", top], stderr=subprocess.DEVNULL,
                           check=False)
            work(checks, "read-only", mount)
            mount.take_away()
            pid, mount.pid = mount.pid, None
            status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            checks.equal("read-only: status of the daemon", status, 1)
        print("read-only: the application went on")


def limited(checks, label, stops, *limits):
    with Mount(prefix=["prlimit", *limits]) as mount:
        work(checks, label, mount)
        end(checks, label, mount, stops)


def main():
    need_fuse()
    if os.geteuid() != 0:
        skip("small file systems can be mounted by root only")
    checks = Checks()
    full(checks)
    if shutil.which("mkfs.ext4"):
        read_only(checks)
    limited(checks, "descriptors 192", False, "--nofile=192:192")
    limited(checks, "size of files 200 KB", None, "--fsize=200000:200000")
    limited(checks, "memory 700 MB", None, "--as=700000000:700000000")
    checks.end()


if __name__ == "__main__":
    main()
