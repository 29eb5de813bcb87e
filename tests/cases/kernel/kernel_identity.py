#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 30
"""Recorded in the kernel: which file is which, on several file systems.

The command knows its files: their kinds, what it made and removed, and what it wrote.  Inode numbers are used again,
files are open without a name, made without one, seen through a second mount, and of one number in two subvolumes.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import kernelleft
from ftractest import Checks, InKernel, need_kernel

# Prints, for each file that it has used: last name, kind, made here, removed, whether its inode number was seen.
COMMAND = r'''
import ctypes, json, os, stat
libc = ctypes.CDLL(None, use_errno=True)
files = []
def put(name, text, how="w"):
    with open(name, how) as f:
        f.write(text)
def get(name):
    with open(name) as f:
        return f.read()
def say(name, kind, made, removed):
    files.append((name, kind, made, removed))
def number(name):
    return os.lstat(name).st_ino
# One after another, each removed before the next is made: where the file system gives numbers again, they have one number.
seen = []
for n in range(3):
    put(f"file{n}", "x" * n); get(f"file{n}"); seen.append(number(f"file{n}")); os.unlink(f"file{n}"); say(f"file{n}", "file", 1, 1)
    os.symlink("away", f"link{n}"); seen.append(number(f"link{n}")); os.unlink(f"link{n}"); say(f"link{n}", "symlink", 1, 1)
    os.mkdir(f"dir{n}"); seen.append(number(f"dir{n}")); os.rmdir(f"dir{n}"); say(f"dir{n}", "dir", 1, 1)
    os.mkfifo(f"fifo{n}"); seen.append(number(f"fifo{n}")); os.unlink(f"fifo{n}"); say(f"fifo{n}", "fifo", 1, 1)
# One name, several files.
for n in range(3):
    put("again", "y" * n); get("again"); os.stat("again"); os.unlink("again"); say("again", "file", 1, 1)
put("new", "1"); put("old", "0"); os.rename("new", "old"); get("old"); say("old", "file", 1, 1); say("old", "file", 1, 0)
# Open without a name.
f = open("gone", "w+"); f.write("a"); f.flush(); os.unlink("gone"); os.fstat(f.fileno())
get(f"/proc/self/fd/{f.fileno()}"); os.stat(f"/proc/self/fd/{f.fileno()}"); say("gone", "file", 1, 1)
put("other", "b"); get("other"); say("other", "file", 1, 0)
# Made without a name.
for name, path in (("linked", None), ("linked by proc", "/proc/self/fd/%d")):
    try:
        fd = os.open(".", os.O_TMPFILE | os.O_RDWR, 0o600)
    except OSError:
        break
    os.write(fd, b"tmp")
    libc.linkat(-100 if path else fd, (path % fd).encode() if path else b"", -100, name.encode(), 0x400 if path else 0x1000)
    get(name); os.lstat(name); os.close(fd); say(name, "file", 1, 0)
# Several names.
put("hard", "c"); os.link("hard", "hard too"); get("hard too"); os.unlink("hard"); os.stat("hard too"); put("hard too", "d", "a")
say("hard too", "file", 1, 0)
# A directory that is moved, and one that is exchanged with a file.
os.mkdir("down"); put("down/in", "e"); os.rename("down", "moved"); get("moved/in"); os.stat("moved/in"); say("moved", "dir", 1, 0); say("moved/in", "file", 1, 0)
os.mkdir("x dir"); put("x file", "f"); libc.renameat2(-100, b"x dir", -100, b"x file", 2) == 0 or exit(9)
os.stat("x file"); get("x dir"); say("x file", "dir", 1, 0); say("x dir", "file", 1, 0)
# What was here before.
for name in sorted(os.listdir("before")):
    get(f"before/{name}/data"); os.stat(f"before/{name}/data"); say(f"before/{name}/data", "file", 0, 0)
# By a second mount of this directory.
if os.path.isdir("../bound"):
    put("twin", "g"); get("../bound/twin"); os.stat("../bound/twin"); get("twin"); say("twin", "file", 1, 0)
print(json.dumps({"files": files, "reused": len(seen) - len(set(seen))}))
'''


def found(place, top):
    """Files of the trace below top; those without a name of their own by its beginning."""
    rows = place.sql("SELECT path, kind, created, deleted FROM file WHERE path GLOB ? || '/*'", str(top))
    return sorted((path[len(str(top)) + 1:], kind, created, deleted) for path, kind, created, deleted in rows)


def check(checks, base, name, top):
    for n in ("1", "2"):
        if not (top / "before" / n).exists():
            (top / "before" / n).mkdir(parents=True)
        (top / "before" / n / "data").write_text(n)
    subprocess.run(["sync"], check=True)
    place = InKernel(base, f"{name}.db")
    done = subprocess.run([*place.command("-q", "--scope", str(top)), sys.executable, "-S", "-c", COMMAND], cwd=top,
                          capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL, check=False)
    checks.equal(f"{name}: status", (done.returncode, done.stderr), (0, ""))
    if done.returncode:
        return
    said = json.loads(done.stdout)
    wanted = sorted(tuple(file) for file in said["files"])
    got = [file for file in found(place, top) if file[0] not in ("before", "before/1", "before/2")]
    print(f"{name}: {len(wanted)} files, {said['reused']} inode numbers used again, {len(got)} in the trace")
    checks.check(f"{name}: there was something to compare", len(wanted) > 20)
    checks.equal(f"{name}: files that are missing", sorted(set(wanted) - set(got)), [])
    checks.equal(f"{name}: files that were not there", [file for file in got if file not in wanted], [])
    checks.equal(f"{name}: number of files", len(got), len(wanted))


def mounted(checks, base, name, *commands):
    """On a file system that the commands make."""
    top = base / name
    for command in commands:
        done = subprocess.run(["sh", "-ec", command], cwd=base, capture_output=True, text=True, timeout=120, check=False)
        if done.returncode:
            print(f"{name}: not here: {done.stderr.strip()}")
            return
    check(checks, base, name, top)


def overlay(name, lower, upper):
    return (f"mkdir -p {name} {lower}/l/before {upper}/u {upper}/w; for n in 1 2; do mkdir -p {lower}/l/before/$n; "
            f"echo $n >{lower}/l/before/$n/data; done; mount -t overlay -o lowerdir={lower}/l,upperdir={upper}/u,workdir={upper}/w "
            f"overlay {name}")


def main():
    need_kernel()
    checks = Checks()
    base = pathlib.Path(tempfile.mkdtemp(prefix="ftrac-case-", dir="/var/tmp")).resolve()
    try:
        (base / "plain").mkdir()
        check(checks, base, "plain", base / "plain")
        if os.geteuid() == 0:
            mounted(checks, base, "tmpfs", "mkdir tmpfs; mount -t tmpfs none tmpfs")
            mounted(checks, base, "bind", "mkdir -p bind bound; mount --bind bound bind")
            mounted(checks, base, "btrfs", "mkdir btrfs; truncate -s 200M btrfs.img; mkfs.btrfs -q btrfs.img; mount -o loop btrfs.img btrfs; "
                    "mkdir btrfs/before; for n in 1 2; do btrfs -q subvolume create btrfs/before/$n; done")
            mounted(checks, base, "overlay", overlay("overlay", "same", "same"))
            mounted(checks, base, "overlays", "mkdir -p top; mount -t tmpfs none top", overlay("overlays", "below", "top"))
    finally:
        for name in ("tmpfs", "bind", "btrfs", "overlay", "overlays", "top"):
            subprocess.run(["umount", "-l", base / name], stderr=subprocess.DEVNULL, check=False)
        shutil.rmtree(base)
    kernelleft.end(checks)


main()
