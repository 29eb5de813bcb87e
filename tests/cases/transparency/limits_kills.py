#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 18
# long: --long
"""A client that is killed in the middle of whatever it does leaves nothing behind: no process that
cannot end, no descriptor, no lock, no harm to others.

    limits_kills.py [--long] [--fidelity NAME]... [--rounds N] [PART...]
"""
import fcntl
import itertools
import mmap
import os
import random
import shutil
import signal
import subprocess
import time

from ftractest import WORK, Mount, fidelities, need_fuse
from parts import Child, Parts, arguments, in_order, kill, no_descriptor_lost
from sides import result, say, whole


def forever(action):
    for i in itertools.count():
        action(i)


class Loops:
    """What clients are killed in: each does one thing, over and over, in a directory of its own."""

    def __init__(self, top):
        self.top = str(top)
        self.file = f"{top}/file"
        with open(self.file, "wb") as f:
            f.write(b"x" * 3000000)
        for i in range(60):
            say(f"{top}/entry{i}", "y" * i)
        os.mkdir(f"{top}/sub")
        os.symlink("entry1", f"{top}/link")

    def fd(self, flags=os.O_RDWR):
        return os.open(self.file, flags)

    def lookup(self):
        forever(lambda i: result(os.stat, f"{self.top}/no{i}"))

    def getattr(self):
        fd = self.fd()
        forever(lambda i: os.fstat(fd))

    def open(self):
        forever(lambda i: os.close(self.fd()))

    def create(self):
        forever(lambda i: os.close(os.open(f"{self.top}/new{i}", os.O_CREAT | os.O_WRONLY)))

    def tmpfile(self):
        forever(lambda i: os.close(os.open(self.top, os.O_TMPFILE | os.O_RDWR)))

    def read(self):
        fd = self.fd()
        forever(lambda i: os.pread(fd, 1 << 20, i % 2000000))

    def write(self):
        fd = self.fd()
        forever(lambda i: os.pwrite(fd, b"z" * (1 << 20), i % 2000000))

    def append(self):
        fd = os.open(f"{self.top}/appended", os.O_CREAT | os.O_WRONLY | os.O_APPEND)
        forever(lambda i: os.write(fd, b"line\n" * 100))

    def sync(self):
        fd = self.fd()
        forever(lambda i: (os.pwrite(fd, b"z", i), os.fdatasync(fd)))

    def fallocate(self):
        fd = self.fd()
        forever(lambda i: os.posix_fallocate(fd, 0, 3000000 + i))

    def seek(self):
        fd = self.fd()
        forever(lambda i: os.lseek(fd, i % 1000, os.SEEK_DATA))

    def copy(self):
        a, b = self.fd(), os.open(f"{self.top}/copy", os.O_CREAT | os.O_RDWR)
        forever(lambda i: os.copy_file_range(a, b, 2000000, 0, 0))

    def sendfile(self):
        a, b = self.fd(), os.open(f"{self.top}/sent", os.O_CREAT | os.O_RDWR)
        forever(lambda i: (os.lseek(b, 0, os.SEEK_SET), os.sendfile(b, a, 0, 2000000)))

    def mapped_read(self):
        def once(i):
            fd = self.fd()
            with mmap.mmap(fd, 0, access=mmap.ACCESS_READ) as m:
                sum(m[::4096])
            os.close(fd)
        forever(once)

    def mapped_write(self):
        fd = self.fd()
        m = mmap.mmap(fd, 0)

        def once(i):
            m[i * 4096 % 2900000] = i % 256
            if i % 50 == 0:
                m.flush()
        forever(once)

    def execute(self):
        program = f"{self.top}/program"
        shutil.copy(WORK / "ids", program)
        forever(lambda i: subprocess.run([program], stdout=subprocess.DEVNULL, check=False))

    def truncate(self):
        forever(lambda i: os.truncate(self.file, i % 3000000))

    def chmod(self):
        forever(lambda i: os.chmod(self.file, 0o600 + i % 64))

    def chown(self):
        forever(lambda i: result(os.chown, self.file, -1, os.getgid()))

    def utime(self):
        forever(lambda i: os.utime(self.file, ns=(i, i)))

    def rename(self):
        def once(i):
            os.rename(f"{self.top}/entry0", f"{self.top}/sub/entry0")
            os.rename(f"{self.top}/sub/entry0", f"{self.top}/entry0")
        forever(once)

    def link(self):
        def once(i):
            os.link(self.file, f"{self.top}/hard")
            os.unlink(f"{self.top}/hard")
        forever(once)

    def symlink(self):
        def once(i):
            os.symlink("somewhere", f"{self.top}/soft")
            os.unlink(f"{self.top}/soft")
        forever(once)

    def readlink(self):
        forever(lambda i: os.readlink(f"{self.top}/link"))

    def mkdir(self):
        def once(i):
            os.mkdir(f"{self.top}/dir")
            os.rmdir(f"{self.top}/dir")
        forever(once)

    def mknod(self):
        def once(i):
            os.mkfifo(f"{self.top}/fifo")
            os.unlink(f"{self.top}/fifo")
        forever(once)

    def unlink(self):
        def once(i):
            say(f"{self.top}/short", "x")
            os.unlink(f"{self.top}/short")
        forever(once)

    def readdir(self):
        forever(lambda i: os.listdir(self.top))

    def xattr(self):
        def once(i):
            result(os.setxattr, self.file, "user.x", b"v" * (i % 100))
            result(os.getxattr, self.file, "user.x")
            os.listxattr(self.file)
            result(os.removexattr, self.file, "user.x")
        forever(once)

    def statfs(self):
        forever(lambda i: os.statvfs(self.file))

    def ioctl(self):
        fd = self.fd()
        forever(lambda i: result(fcntl.ioctl, fd, 0x80086601, bytes(8)))  # FS_IOC_GETFLAGS

    def flock(self):
        forever(lambda i: (fd := self.fd(), fcntl.flock(fd, fcntl.LOCK_EX), os.close(fd)))

    def lock(self):
        forever(lambda i: (fd := self.fd(), fcntl.lockf(fd, fcntl.LOCK_EX), os.close(fd)))

    def grow(self):
        forever(lambda i: (say(f"{self.top}/grown{i % 50}", "x" * 100),
                           whole(f"{self.top}/grown{i % 50}")))


LOOPS = sorted(name for name in vars(Loops) if name[0] != "_" and name != "fd")


def start_loop(top, name):
    pid = os.fork()
    if pid == 0:
        try:
            signal.alarm(200)
            getattr(Loops(top), name)()
        except BaseException as e:
            print(f"{name}: {type(e).__name__}: {e}", flush=True)
        os._exit(1)
    return pid


def killed_in(checks, mount, native, name, delay):
    """Two clients in the middle of it, then none; the directory can be used and removed."""
    tops = [native / f"{name}{i}" for i in (0, 1)]
    for top in tops:
        top.mkdir()
    pids = [start_loop(mount(top), name) for top in tops]
    while not all(os.path.islink(top / "link") for top in tops):  # it is at work
        time.sleep(0.002)
    for pid in pids:
        time.sleep(delay)
        kill([pid])
    checks.equal(f"{name}: how they end",
                 [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids], [-9, -9])
    for top in tops:
        say(mount(top / "after"), name)
        checks.equal(f"{name}: the mount goes on", whole(top / "after"), name.encode())
        fd = os.open(mount(top / "file"), os.O_RDWR)  # no client has left a lock behind
        checks.equal(f"{name}: locks", (result(fcntl.flock, fd, fcntl.LOCK_EX | fcntl.LOCK_NB),
                     result(fcntl.lockf, fd, fcntl.LOCK_EX | fcntl.LOCK_NB)), (None, None))
        os.close(fd)
        checks.equal(f"{name}: names", sorted(os.listdir(mount(top))), sorted(os.listdir(top)))
        shutil.rmtree(mount(top))


def kill_all_kinds(checks, mount, native, rounds):
    moments = random.Random(5)
    for _ in range(rounds):
        for name in LOOPS:
            killed_in(checks, mount, native, name, moments.random() * 0.02)


def kills(checks, base, options, rounds):
    native = base / "work"
    native.mkdir()
    with Mount(*options, base=base) as mount:
        Child(checks, "the client that kills", kill_all_kinds, mount, native, rounds).join()
        no_descriptor_lost(checks, mount, native)
        in_order(checks, mount)
        checks.equal("handles that were not closed", mount.sql(
            "SELECT count(*) FROM handle WHERE close_ns IS NULL"), [(0,)])


def main():
    need_fuse()
    given = arguments(__doc__, rounds=1)
    parts = Parts(given.parts, one_of=4)
    rounds = 5 if given.long and given.rounds == 1 else given.rounds
    for fidelity in given.fidelity or fidelities():
        parts.run(f"kills {fidelity}", kills, ["--fidelity", fidelity], rounds)
        parts.run(f"kills {fidelity} stat", kills, ["--fidelity", fidelity, "--stat"], rounds)
    parts.checks.end()


if __name__ == "__main__":
    main()
