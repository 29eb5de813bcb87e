#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 5
# long: --kills 201 --clients 40
"""The daemon is killed (SIGKILL) while many clients create, rename and remove names in the same directories, the
host removes some of them and mounts on others, and clients seek data in files that they store to through mappings: all
clients go on at once, with an error, and `ftrac umount` takes the mount away.

    kills_names.py [--kills N] [--clients N] [--fidelity NAME]...     (12 kills, 24 clients)

A daemon whose threads have not all ended keeps its connection: then clients wait for answers for ever.
"""
import contextlib
import errno
import mmap
import os
import pathlib
import random
import signal
import subprocess
import tempfile
import time

from ftractest import FTRAC, Mount, fidelities, need_fuse
from parts import Parts, arguments, where
from sides import LIBC

GONE = {errno.ENOTCONN, errno.ECONNABORTED}
DIRECTORIES, NAMES = 3, 12
PATIENCE_S = 10
MNT_FORCE, MNT_DETACH = 1, 2


def seek_in_mapped(path):
    """SEEK_DATA right after a store that has not been written back."""
    fd = os.open(path, os.O_CREAT | os.O_RDWR)
    try:
        os.ftruncate(fd, 1 << 20)
        with mmap.mmap(fd, 1 << 20) as memory:
            for at in range(0, 1 << 20, 1 << 16):
                memory[at] = 1
                os.lseek(fd, 0, os.SEEK_HOLE)
    finally:
        os.close(fd)


def one_change(top, rng):
    a, b = (f"{top}/d{rng.randrange(DIRECTORIES)}/{rng.randrange(NAMES)}" for _ in "ab")
    kind = rng.randrange(7)
    if kind == 0:
        os.close(os.open(a, os.O_CREAT | os.O_WRONLY))
    elif kind == 1:
        os.rename(a, b)
    elif kind == 2:
        os.unlink(a)
    elif kind == 3:
        os.mkdir(a)
    elif kind == 4:
        os.rmdir(a)
    elif kind == 5:
        os.stat(a)
    else:
        seek_in_mapped(a)


def until_gone(top, seed):
    rng = random.Random(seed)
    while True:
        try:
            one_change(top, rng)
        except OSError as e:
            if e.errno in GONE:
                return


def client(top, seed):
    pid = os.fork()
    if pid == 0:
        signal.alarm(120)
        try:
            until_gone(top, seed)
        finally:
            os._exit(0)
    return pid


def host(native, ends):
    """What the kernel does not know of: names removed natively, mounts on directories that clients use."""
    rng, is_mounted = random.Random(1), False
    while time.monotonic() < ends:
        with contextlib.suppress(OSError):
            os.unlink(f"{native}/d{rng.randrange(DIRECTORIES)}/{rng.randrange(NAMES)}")
        if os.geteuid() == 0 and rng.randrange(20) == 0:
            command = ["umount", "-l"] if is_mounted else ["mount", "-t", "tmpfs", "tmpfs"]
            subprocess.run([*command, f"{native}/d0/point"], check=False, stderr=subprocess.DEVNULL)
            is_mounted = not is_mounted
        time.sleep(0.002)
    if is_mounted:
        subprocess.run(["umount", "-l", f"{native}/d0/point"], check=False)


def left_of(pids, seconds):
    """Those of our children that have not ended by then."""
    until, left = time.monotonic() + seconds, list(pids)
    while left and time.monotonic() < until:
        left = [pid for pid in left if os.waitpid(pid, os.WNOHANG) == (0, 0)]
        time.sleep(0.01)
    return left


def places(pid):
    return sorted({where(f"{pid}/task/{task}") for task in os.listdir(f"/proc/{pid}/task")})


def make_native(native):
    for i in range(DIRECTORIES):
        (native / f"d{i}").mkdir(parents=True)
    (native / "d0" / "point").mkdir()


def killed(checks, base, options, moment, clients):
    """One life; whether anything hung."""
    native = base / "native"
    make_native(native)
    mount = Mount(*options, base=base)
    mount.__enter__()
    pids = [client(str(mount(native)), i) for i in range(clients)]
    host(native, time.monotonic() + moment)
    os.kill(mount.pid, signal.SIGKILL)
    left = left_of([*pids, mount.pid], PATIENCE_S)
    if left:
        print(f"  hung: {len(left)} of {clients + 1};", *(place for pid in left[-2:] for place in places(pid)))
    try:
        done = subprocess.run([FTRAC, "umount", str(mount.mnt)], capture_output=True, text=True, timeout=PATIENCE_S,
                              check=False)
        checks.check("ftrac umount takes it away", done.returncode == 0 and "was gone" in done.stderr, done)
    except subprocess.TimeoutExpired:
        checks.check("ftrac umount ends", False)
    hung_still = left_of(left, 1)
    checks.equal("processes that hang after that", hung_still, [])
    if hung_still:
        LIBC.umount2(os.fsencode(mount.mnt), MNT_FORCE)
        LIBC.umount2(os.fsencode(mount.mnt), MNT_DETACH)
        left_of(hung_still, PATIENCE_S)
    return bool(left)


def kills(checks, base, options, rounds, clients):
    moments, hung = random.Random(7), 0
    for i in range(rounds):
        with tempfile.TemporaryDirectory(dir=base) as life:
            hung += killed(checks, pathlib.Path(life), options, 0.2 + moments.random() * 0.8, clients)
    print(f"  {rounds} kills with {clients} clients: {hung} hangs")
    checks.equal("kills after which something hung", hung, 0)


def main():
    need_fuse()
    given = arguments(__doc__, kills=12, clients=24)
    parts = Parts(given.parts, seconds=1800)
    names = given.fidelity or fidelities()
    for fidelity in names:
        parts.run(f"names {fidelity}", kills, ["--fidelity", fidelity], given.kills // len(names), given.clients)
    parts.checks.end()


if __name__ == "__main__":
    main()
