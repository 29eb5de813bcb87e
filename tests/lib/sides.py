# SPDX-License-Identifier: MIT
"""The same natively and through a mount: what calls give, pictures of trees, processes of users, random work.

A side is a directory, of the source or as the mount shows it; what is done on both sides must have the same results.
parts.py has cases of several parts on top of this, actors.py users that act while the host changes what they use.
"""
import ctypes
import difflib
import errno
import hashlib
import os
import pickle
import random
import signal
import stat
import struct
import sys
import traceback

LIBC = ctypes.CDLL(None, use_errno=True)
STUCK = 250  # seconds after which something on a mount is given up


# ---- comparing ----

def result(call, *arguments, **more):
    """What a call gives; -errno where it fails."""
    try:
        return call(*arguments, **more)
    except OSError as e:
        return -e.errno


def compare(checks, fact, got, wanted):
    """Of two dictionaries: each entry is a fact, some of the differences are told."""
    keys = got.keys() | wanted.keys()
    wrong = sorted(key for key in keys if got.get(key) != wanted.get(key))
    checks.looked += len(keys)
    checks.failed += len(wrong)
    if not keys:
        checks.check(f"{fact}: there is something", False)
    if wrong:
        print(f"NOT SO: {fact}: {len(wrong)} of {len(keys)} differ")
    for key in wrong[:3]:
        print(f"  {key!r}\n    got    {got.get(key)!r}\n    wanted {wanted.get(key)!r}")


def same_lines(checks, what, native, mounted):
    """Compares two texts line by line; each line is a check."""
    native, mounted = native.splitlines(), mounted.splitlines()
    if len(native) != len(mounted):
        lines = [line for line in difflib.ndiff(native, mounted) if line[0] in "+-"]
        checks.check(f"{what}: as many lines", False, "\n  " + "\n  ".join(lines[:20]))
        return
    for a, b in zip(native, mounted):
        checks.check(f"{what}: the same natively and in the mount", a == b,
                     f"\n  natively {a}\n  mounted  {b}")


class Emitter(list):
    """Called with a name, a call and its arguments it keeps a line that says what came of it."""

    def __call__(self, what, call, *arguments, **named):
        try:
            result = call(*arguments, **named)
        except OSError as e:
            result = errno.errorcode.get(e.errno, e)
        self.append(f"{what}: {result}")
        return result

    def say(self, what, value):
        self.append(f"{what}: {value}")


def whole(path):
    with open(path, "rb") as f:
        return f.read()


def say(path, text):
    with open(path, "w") as f:
        f.write(text)


def digest(data):
    return data if not isinstance(data, bytes) or len(data) < 30 else hashlib.sha1(data).hexdigest()


def attributes(st, numbers=False):
    """What is the same of a file from both sides; sizes of directories are left out."""
    size = () if stat.S_ISDIR(st.st_mode) else (st.st_size, st.st_blocks)
    number = (st.st_ino,) if numbers else ()
    return (oct(st.st_mode), st.st_nlink, st.st_uid, st.st_gid, st.st_mtime_ns, *size, *number)


def statx(path):
    """What stat(2) has not: time of birth, if the file system has it, and attributes."""
    buffer = ctypes.create_string_buffer(256)
    if LIBC.statx(-100, os.fsencode(path), 0x100, 0xfff, buffer) < 0:
        raise OSError(ctypes.get_errno(), "statx")
    got, blksize, attr = struct.unpack_from("IIQ", buffer, 0)
    attr_mask, = struct.unpack_from("Q", buffer, 56)
    born = struct.unpack_from("qI", buffer, 80)
    return {"birth": born if got & 0x800 else None, "blksize": blksize,
            "attributes": attr & attr_mask & 0x74}  # immutable, append-only, compressed, no dump


def birth(path):
    return statx(path)["birth"]


def picture(top, numbers=False, contents=True):
    """Everything that can be known of a tree."""
    def entry(path):
        st = os.lstat(path)
        said = None
        if stat.S_ISLNK(st.st_mode):
            said = os.readlink(path)
        elif stat.S_ISREG(st.st_mode) and contents:
            said = digest(whole(path))
        return *attributes(st, numbers), said
    found = {}

    def unlistable(e):
        found[os.path.relpath(e.filename, top)] = -e.errno
    for at, dirs, files in os.walk(top, onerror=unlistable):
        for name in dirs + files:
            path = os.path.join(at, name)
            found[os.path.relpath(path, top)] = result(entry, path)
    return found


# ---- in a process of its own ----

def in_child(work, *arguments, user=None, umask=None):
    """What work(*arguments) returns in a process of its own, of the user (uid, gid, groups) if one is given; its
    failure is ours."""
    back, forth = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            signal.alarm(STUCK)
            if user:
                os.setgroups(user[2])
                os.setresgid(user[1], user[1], user[1])
                os.setresuid(user[0], user[0], user[0])
            if umask is not None:
                os.umask(umask)
            with os.fdopen(forth, "wb") as f:
                pickle.dump(work(*arguments), f)
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(status)
    os.close(forth)
    with os.fdopen(back, "rb") as f:
        data = f.read()
    status = os.waitpid(child, 0)[1]
    if status != 0:
        raise RuntimeError(f"{getattr(work, '__name__', work)} ended with {status}")
    return pickle.loads(data)


def as_user(user, work, *arguments):
    return in_child(work, *arguments, user=user)


def elsewhere(call, *arguments):
    """The result of a call in a child; -errno where it fails."""
    return in_child(result, call, *arguments)


# ---- random work, the same on both sides ----

class Work:
    """Seeded: two of the same seed do the same."""
    NAMES = ["a", "b", "c", "name with spaces", "ünï", "d", "e"]

    def __init__(self, top, seed, fifos=True):
        self.top, self.random, self.log, self.fds = str(top), random.Random(seed), [], []
        self.operations = sorted(name for name in dir(self) if name.startswith("op_") and getattr(self, name))
        if not fifos:
            self.operations.remove("op_mkfifo")

    def path(self):
        depth = self.random.choice([1, 1, 1, 2, 2, 3])
        return os.path.join(self.top, *(self.random.choice(self.NAMES) for _ in range(depth)))

    def data(self):
        return bytes([self.random.randrange(256)]) * self.random.choice([0, 1, 100, 4097, 30000])

    def fd(self):
        return self.random.choice(self.fds) if self.fds else -1

    def op_open(self):
        flags = os.O_NONBLOCK | self.random.choice([os.O_RDONLY, os.O_WRONLY, os.O_RDWR])
        for flag in os.O_CREAT, os.O_TRUNC, os.O_EXCL, os.O_APPEND:
            flags |= flag if self.random.random() < 0.4 else 0
        path, mode = self.path(), self.random.choice([0o600, 0o644, 0o777])
        if len(self.fds) < 8:
            self.fds.append(os.open(path, flags, mode))

    def op_hold(self):
        path = self.path()
        if len(self.fds) < 8:
            self.fds.append(os.open(path, os.O_PATH | os.O_NOFOLLOW))

    def op_close(self):
        if self.fds:
            os.close(self.fds.pop(self.random.randrange(len(self.fds))))

    def op_make(self):
        fd = os.open(self.path(), os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NONBLOCK, 0o644)
        try:
            return os.write(fd, self.data())
        finally:
            os.close(fd)

    def op_write(self):
        return os.pwrite(self.fd(), self.data(), self.random.randrange(50000))

    def op_read(self):
        return digest(os.pread(self.fd(), 100000, self.random.randrange(50000)))

    def op_read_all(self):
        path = self.path()
        return digest(whole(path)) if stat.S_ISREG(os.stat(path).st_mode) else None

    def op_again(self):
        fd = self.fd()
        return digest(whole(f"/proc/self/fd/{fd}")) if stat.S_ISREG(os.fstat(fd).st_mode) else None

    def op_fstat(self):
        st = os.fstat(self.fd())
        return st.st_mode, st.st_nlink, st.st_uid, 0 if stat.S_ISDIR(st.st_mode) else st.st_size

    def op_ftruncate(self):
        os.ftruncate(self.fd(), self.random.randrange(50000))

    def op_mkdir(self):
        os.mkdir(self.path(), self.random.choice([0o755, 0o700]))

    def op_rmdir(self):
        os.rmdir(self.path())

    def op_unlink(self):
        os.unlink(self.path())

    def op_rename(self):
        os.rename(self.path(), self.path())

    def op_link(self):
        os.link(self.path(), self.path(), follow_symlinks=False)

    def op_symlink(self):
        os.symlink(self.random.choice(self.NAMES), self.path())

    def op_readlink(self):
        return os.readlink(self.path())

    def op_mkfifo(self):
        os.mkfifo(self.path(), 0o640)

    def op_chmod(self):
        os.chmod(self.path(), self.random.choice([0o600, 0o644, 0o755]))

    def op_utime(self):
        os.utime(self.path(), ns=(10**18, 10**18 + self.random.randrange(1000) * 10**9))

    def op_listdir(self):
        return sorted(os.listdir(self.path()))

    def op_stat(self):
        st = os.lstat(self.path())
        return st.st_mode, st.st_nlink, st.st_uid, st.st_gid

    def run(self, steps):
        for _ in range(steps):
            name = self.random.choice(self.operations)
            self.log.append((name, result(getattr(self, name))))
        for fd in self.fds:
            os.close(fd)
        self.fds = []
        return self.log


def same_log(checks, fact, got, wanted):
    steps = next((i for i, (a, b) in enumerate(zip(got, wanted)) if a != b), len(wanted))
    checks.looked += steps
    if steps < len(wanted) or len(got) != len(wanted):
        checks.check(f"{fact}, step {steps}", False,
                     f"\n  got    {got[steps:steps + 1]}\n  wanted {wanted[steps:steps + 1]}")


def same_picture(checks, fact, got, wanted):
    """Of two trees: all but the present time."""
    def timeless(found):
        return {name: said if not isinstance(said, tuple) else
                tuple(0 if i == 4 and said[4] > 11 * 10**17 else x for i, x in enumerate(said))
                for name, said in found.items()}
    compare(checks, fact, timeless(got), timeless(wanted))
