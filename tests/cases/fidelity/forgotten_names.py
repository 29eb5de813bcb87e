#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# serial: drops the caches of the machine
"""Names in the trace do not depend on what the kernel remembers: below a directory that is renamed, files have new names
also if the kernel has forgotten their inodes."""
import os
import pathlib
import shutil
import subprocess
import tempfile

from ftractest import Checks, Mount, fidelities, need_fuse, skip

CACHES = pathlib.Path("/proc/sys/vm/drop_caches")


def forget(mount):
    """The kernel drops what nothing uses, of all file systems."""
    for _ in range(3):
        CACHES.write_text("2\n")
    return mount


def act(mount, top):
    """Files two levels below a directory that gets another name, twice; one is used again between."""
    at = mount(top)
    (at / "d/s").mkdir(parents=True)
    for name in "d/a", "d/s/b", "d/s/c", "other":
        (at / name).write_text(name)
    forget(mount)
    subprocess.run(["mv", at / "d", at / "e"], check=True)
    (at / "e/s/b").read_text()
    forget(mount)
    subprocess.run(["mv", at / "e", at / "f"], check=True)


WANTED = {"f/a": ["d/a", "e/a", "f/a"], "f/s/b": ["d/s/b", "e/s/b", "f/s/b"], "f/s/c": ["d/s/c", "e/s/c", "f/s/c"],
          "f/s": ["d/s", "e/s", "f/s"], "f": ["d", "e", "f"], "other": ["other"]}


def check(checks, fidelity):
    base = pathlib.Path(tempfile.mkdtemp(prefix="ftrac-case-"))
    top = base / "top"
    top.mkdir()
    mount = Mount("--fidelity", fidelity, base=base)
    with mount:
        act(mount, top)
    forgotten = mount.sql("SELECT count(*) FROM op WHERE name = 'lookup' AND path LIKE '%/e/s/b'")[0][0]
    checks.check(f"{fidelity}: the kernel had forgotten a file", forgotten > 0, forgotten)
    for path, names in WANTED.items():
        rows = mount.sql("SELECT f.path, n.path, n.to_ns FROM file f JOIN name n ON n.file = f.id WHERE f.ino = ? "
                         "ORDER BY n.from_ns", os.stat(top / path).st_ino)
        checks.equal(f"{fidelity}: path of {path}", {row[0] for row in rows}, {f"{top}/{path}"})
        checks.equal(f"{fidelity}: names of {path}", [row[1] for row in rows], [f"{top}/{name}" for name in names])
        checks.equal(f"{fidelity}: {path} has the last name", [row[2] is None for row in rows][-1:], [True])
    shutil.rmtree(base)


need_fuse()
if not os.access(CACHES, os.W_OK):
    skip(f"'{CACHES}' cannot be written")
checks = Checks()
for fidelity in fidelities():
    check(checks, fidelity)
checks.end()
