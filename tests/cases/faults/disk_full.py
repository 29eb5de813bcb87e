#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 12
# long: --long
"""A disk under the trace that is full, a quota that is used up, or a device that fails: each stops the recording,
not the application, and the trace says so."""
import contextlib
import os
import pathlib
import shutil
import subprocess
import tempfile

from ftractest import Checks, Mount, need_fuse, skip
from sample import one

MB = 1 << 20
checks = Checks()


def must(*words):
    subprocess.run([str(word) for word in words], check=True, stdout=subprocess.DEVNULL, timeout=60)


@contextlib.contextmanager
def mounted(*words):
    """An empty directory with that file system."""
    with tempfile.TemporaryDirectory(prefix="ftrac-case-") as where:
        must("mount", *words, where)
        try:
            yield pathlib.Path(where)
        finally:
            must("umount", where)


def full():
    return mounted("-t", "tmpfs", "-o", "size=2m", "small")


@contextlib.contextmanager
def image(size, room, *mkfs):
    """A file system of that size on a device that has less room."""
    with mounted("-t", "tmpfs", "-o", f"size={room}", "device") as device:
        with open(device / "image", "wb") as file:
            file.truncate(size)
        must(*mkfs, device / "image")
        with mounted("-o", "loop", device / "image") as where:
            yield where


@contextlib.contextmanager
def quota():
    with image(200 * MB, 200 * MB, "mkfs.btrfs", "-q") as top:
        must("btrfs", "quota", "enable", top)
        must("btrfs", "subvolume", "create", top / "mine")
        must("btrfs", "qgroup", "limit", 2 * MB, top / "mine")
        yield top / "mine"


def failing():
    """What does not fit on the device is an I/O error there, and seen when the trace is synchronised."""
    return image(64 * MB, 3 * MB, "mkfs.ext4", "-q", "-O", "^has_journal", "-E", "lazy_itable_init=1")


def work_on(mount, files):
    work = mount(mount.base)
    for i in range(files):
        path = work / f"file{i % 100}"
        path.write_text(f"{i}\n")
        if i % 100 == 99:
            checks.equal("the application goes on", path.read_text(), f"{i}\n")
    with os.scandir(work) as entries:
        checks.equal("all files are there", sum(e.name.startswith("file") for e in entries), 100)


def end(mount):
    mount.take_away()
    pid, mount.pid = mount.pid, None
    checks.equal("the daemon says that it could not do all", os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 1)


def move_out(mount):
    """Where there is no room to read a log: its index has to be made beside it."""
    for end_of_name in "", "-wal":
        left = pathlib.Path(f"{mount.db}{end_of_name}")
        if left.exists():
            shutil.copy(left, mount.base / f"moved.db{end_of_name}")
    mount.db = mount.base / "moved.db"


def check_trace(mount, why):
    checks.equal("the trace is sound", mount.sql("PRAGMA integrity_check"), [("ok",)])
    facts = dict(mount.sql("SELECT key, value FROM trace"))
    checks.equal("it is not complete", facts["complete"], 0)
    checks.check("it says when recording stopped", facts.get("recording_stopped_ns"), facts)
    checks.check("and why", why in facts.get("recording_error", ""), facts)
    checks.check("operations were lost, and counted", facts["ops_lost"] > 0, facts)
    stored = mount.sql("SELECT count(*) FROM op")[0][0]
    checks.check("what had been committed is there", stored > 1000, stored)
    checks.equal("the count agrees", facts["ops_recorded"], stored)
    checks.equal("without a gap", mount.sql("SELECT max(id) FROM op")[0][0], stored)


def check_full(where, why, files=20000):
    with Mount(db=where / "trace.db") as mount:
        work_on(mount, files)
        end(mount)
        move_out(mount)
        check_trace(mount, why)


def check_failing(where):
    """The kernel may hold all of it in memory: whether it is on the device shows when it is synchronised."""
    with Mount(db=where / "trace.db") as mount:
        work_on(mount, 20000)
        end(mount)


def check_room():
    """A disk under the mirror: what was removed is room for what is written next, as without one."""
    with full() as where, Mount("--no-record", source=str(where)) as mount:
        for turn in range(40):
            file = mount.mnt / f"file{turn % 3}"
            file.write_bytes(b"x" * 1800000)
            checks.equal("all of it is there", file.stat().st_size, 1800000)
            file.unlink()


def main():
    need_fuse()
    if os.geteuid() != 0:
        skip("a small file system can be mounted by root only")
    ways = ["full", "failing"]
    if shutil.which("mkfs.btrfs"):
        ways.append("quota")
    else:
        print("no mkfs.btrfs here: a quota is left out")
    for way in one(ways):
        print(f"the disk: {way}", flush=True)
        with {"full": full, "failing": failing, "quota": quota}[way]() as where:
            if way == "failing":
                check_failing(where)
            else:
                check_full(where, way)
    check_room()
    checks.end()


main()
