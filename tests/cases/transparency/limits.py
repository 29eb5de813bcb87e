#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 19
# long: --long
"""Sizes, descriptors, large directories and many clients: what is scarce for ftrac is not for those
that use the mirror.

    limits.py [--long] [--fidelity NAME]... [--entries N] [--opens N] [--clients N] [PART...]
"""
import ctypes
import errno
import hashlib
import itertools
import mmap
import os
import pickle
import random
import resource
import shutil
import struct

from filesystems import populate
from ftractest import Mount, fidelities, need, need_fuse
from parts import (Child, Parts, arguments, background, has_capability, in_order, kill, limited,
                   no_descriptor_lost, unlimited, walk_on)
from sides import (LIBC, Work, attributes, compare, elsewhere, picture, result, same_log, same_picture,
                   say, whole)

SYS_RESOURCE = 24
LIBC.readdir.restype = LIBC.opendir.restype = ctypes.c_void_p
LIBC.telldir.restype = ctypes.c_long


# ---- the limit of file sizes ----

def write_far(checks, mirror, native, far, may):
    """Past the daemon's limit in every way; the trace grows past it as well."""
    def written(name, call):
        fd = os.open(f"{mirror}/{name}", os.O_RDWR | os.O_CREAT)
        done = result(call, fd)
        os.close(fd)
        allowed = {far} if may else {far, -errno.EFBIG}  # far: data may go past us
        checks.check(f"{name} past the limit", done in allowed, done)
        if done == far:
            checks.equal(f"{name}: the size", os.stat(native / name).st_size, far)

    def write(fd):
        return sum(os.write(fd, b"x" * (far // 30)) for _ in range(30))

    def mapped(fd):
        os.ftruncate(fd, far)
        with mmap.mmap(fd, far) as m:
            m[far - 10:] = b"0123456789"
        return os.pread(fd, 10, far - 10) == b"0123456789" and far

    def copied(fd):
        source, done = os.open(f"{mirror}/source", os.O_RDONLY), 0
        try:
            while done < far:
                done += os.copy_file_range(source, fd, far - done)
        finally:
            os.close(source)
        return done
    say(native / "source", "s" * far)
    written("write", write)
    written("pwrite", lambda fd: os.pwrite(fd, b"x" * 1000, far - 1000) + far - 1000)
    written("ftruncate", lambda fd: os.ftruncate(fd, far) or far)
    written("fallocate", lambda fd: os.posix_fallocate(fd, 0, far) or far)
    written("mapping", mapped)
    written("copy_file_range", copied)
    checks.equal("reading", len(whole(f"{mirror}/source")), far)
    for i in range(3000):
        result(os.stat, f"{mirror}/no {i}")


def file_size(checks, base, options):
    """With a limit that ftrac can lift and, where it has the right to, with one that it must.
    (The second is larger: without that right a trace has no room below it.)"""
    for limit, hard in (65536, "unlimited"), (1 << 20, str(1 << 20)):
        native = base / hard / "work"
        native.mkdir(parents=True)
        may = hard == "unlimited" or has_capability(SYS_RESOURCE)
        with Mount(*options, base=base / hard, prefix=["prlimit", f"--fsize={limit}:{hard}"]) as m:
            Child(checks, f"writing, hard limit {hard}", write_far, m(native), native, 30 * limit,
                  may).join()
            no_descriptor_lost(checks, m, native)
            in_order(checks, m)
            checks.equal("the trace is sound", m.sql("PRAGMA integrity_check"), [("ok",)])
            if may:
                checks.check("it is larger than the limit", m.db.stat().st_size > 65536)


# ---- a large directory ----

class Dirent(ctypes.Structure):
    _fields_ = [("d_ino", ctypes.c_uint64), ("d_off", ctypes.c_int64),
                ("d_reclen", ctypes.c_ushort), ("d_type", ctypes.c_ubyte),
                ("d_name", ctypes.c_char * 256)]


class Stream:
    """DIR *, with what Python leaves out."""

    def __init__(self, path):
        self.dir = ctypes.c_void_p(LIBC.opendir(os.fsencode(path)))
        if not self.dir:
            raise OSError(ctypes.get_errno(), "opendir")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        LIBC.closedir(self.dir)

    def __iter__(self):
        return self

    def __next__(self):
        entry = LIBC.readdir(self.dir)
        if not entry:
            raise StopIteration
        entry = Dirent.from_address(entry)
        return entry.d_name, entry.d_type, entry.d_ino

    def take(self, n):
        return list(itertools.islice(self, n))

    def names(self, n=None):
        return [name for name, _, _ in itertools.islice(self, n)]

    def position(self):
        return LIBC.telldir(self.dir)

    def seek(self, at):
        LIBC.seekdir(self.dir, ctypes.c_long(at))

    def rewind(self):
        LIBC.rewinddir(self.dir)


def bare(names):
    return [name for name in names if name not in (b".", b"..")]


def jumping(path, jumps):
    """Positions read by telldir(3) while reading, gone back to afterwards: what follows each of them."""
    with Stream(path) as stream:
        places, n = [], 0
        while True:
            places.append(stream.position())
            batch = stream.names(997)
            n += len(batch)
            if len(batch) < 997:
                break
        chosen = random.Random(3).sample(range(len(places)), min(jumps, len(places)))
        follows = {}
        for i in chosen:
            stream.seek(places[i])
            follows[i] = stream.names(5)
        stream.rewind()
        follows["first"] = stream.names(5)
        follows["all"] = n
        return follows


def delete_while_reading(checks, path, native):
    """What is there all the time is seen once, whatever happens to its neighbours."""
    names = set(os.listdir(native))
    victims = {name for name in names if int(name[1:]) % 3 == 0}
    seen, new = [], []
    with Stream(path) as stream:
        for batch in iter(lambda: stream.names(500), []):
            seen += batch
            for name in [victims.pop() for _ in range(min(200, len(victims)))]:
                os.unlink(f"{path}/{name}")
            say(f"{path}/n{len(new)}", "")
            new.append(f"n{len(new)}")
    seen = [os.fsdecode(name) for name in bare(seen)]
    stayed = {name for name in names if int(name[1:]) % 3} | victims
    checks.equal("twice", len(seen) - len(set(seen)), 0)
    checks.equal("missing", sorted(stayed - set(seen))[:3], [])
    checks.equal("of nowhere", sorted(set(seen) - names - set(new))[:3], [])
    checks.equal("what is left", sorted(set(os.listdir(path)) ^ stayed ^ set(new))[:3], [])
    checks.looked += len(seen)


def remove_while_reading(checks, path, native):
    """Removes entries while it reads them, as rm -r does; then the stream must end."""
    with Stream(path) as stream:
        for batch in iter(lambda: bare(stream.names(1000)), []):
            for name in batch:
                os.unlink(os.fsencode(path) + b"/" + name)
        stream.rewind()
        checks.equal("nothing is left to read", bare(stream.names()), [])
    checks.equal("nothing is left natively", os.listdir(native), [])


def dents(fd, size):
    """Names of one getdents64(2), or -errno."""
    buffer, at, names = ctypes.create_string_buffer(size), 0, []
    n = LIBC.syscall(217, fd, buffer, size)
    if n < 0:
        return -ctypes.get_errno()
    while at < n:
        length = struct.unpack_from("H", buffer, at + 16)[0]
        names.append(buffer.raw[at + 19:at + length].split(b"\0")[0])
        at += length
    return names


def shared_position(path):
    """Two descriptors of one open directory, and a process that has inherited it."""
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    copy = os.dup(fd)
    names = dents(fd, 4096) + dents(copy, 4096) + elsewhere(dents, copy, 4096) + dents(fd, 4096)
    os.lseek(copy, 0, os.SEEK_SET)
    back = os.lseek(fd, 0, os.SEEK_CUR)
    too_small = dents(fd, 8)
    os.close(fd)
    os.close(copy)
    return names[:300], back, too_small


def read_directory(checks, path, native):
    for way in list, sorted:
        checks.equal(f"the same names, {way.__name__}", hashlib.sha1(repr(
            way(os.listdir(path))).encode()).digest(), hashlib.sha1(repr(
                way(os.listdir(native))).encode()).digest())
    with Stream(path) as mirrored, Stream(native) as plain:
        got, wanted = ({name: (kind, ino) for name, kind, ino in stream if name != b".."}
                       for stream in (mirrored, plain))
    compare(checks, "names, types and numbers", got, wanted)
    compare(checks, "telldir and seekdir", jumping(path, 60), jumping(native, 60))
    checks.equal("one position", shared_position(path), shared_position(native))
    delete_while_reading(checks, path, native)
    remove_while_reading(checks, path, native)


def directory(checks, base, options, entries):
    native = base / "directory"
    native.mkdir()
    for i in range(entries):
        say(native / f"f{i}", "")
    with Mount(*options, base=base, source=str(base)) as mount:
        Child(checks, "the reader", read_directory, mount(native), native).join()
        no_descriptor_lost(checks, mount, native)
        in_order(checks, mount)


# ---- many open files ----

DAEMON_FILES = 20000


def use_all(checks, fact, fds):
    compare(checks, fact, {i: result(os.pread, fd, 100, 0) for i, fd in fds.items()},
            {i: f"{i}\n".encode() for i in fds})


def other_work(checks, path, native, fact):
    """Of a client that wants no more than one file at a time, with names that no other has used."""
    def once(top):
        new = f"{top}/new"
        steps = {"mkdir": lambda: os.mkdir(new),
                 "symlink": lambda: os.symlink("to", f"{new}/link"),
                 "rename": lambda: os.rename(f"{new}/link", f"{new}/other"),
                 "chmod": lambda: os.chmod(new, 0o700),
                 "link": lambda: os.link(f"{top}/seen/0", f"{new}/hard"),
                 "utime": lambda: os.utime(new, ns=(10**18, 10**18)),
                 "readdir": lambda: sorted(os.listdir(new)),
                 "readlink": lambda: os.readlink(f"{new}/other"),
                 "stat": lambda: (os.stat(new).st_mtime, os.stat(f"{new}/hard").st_nlink),
                 "many": lambda: sum(os.stat(f"{top}/seen/{i}").st_size for i in range(200)),
                 "unlink": lambda: (os.unlink(f"{new}/other"), os.unlink(f"{new}/hard")),
                 "rmdir": lambda: os.rmdir(new)}
        return {name: result(step) for name, step in steps.items()}
    got, wanted = once(path), once(native)
    compare(checks, f"names and attributes, {fact}", got, wanted)
    shutil.rmtree(native / "new", ignore_errors=True)


def open_until_refused(checks, path, native, opens):
    """More than the daemon can have: what more is refused, and for that reason."""
    unlimited()
    fds, refused = {}, set()
    for i in range(opens):
        try:
            fds[i] = os.open(f"{path}/files/{i % opens}", os.O_RDONLY)
        except OSError as e:
            refused.add(e.errno)
            if len(refused) > 1 or i > len(fds) + 50:
                break
    checks.equal("reasons for refusing", refused - {errno.EMFILE, errno.ENFILE}, set())
    use_all(checks, "files of a second process", fds)
    other_work(checks, path, native, "while no more can be opened" if refused else "at the end")
    for fd in fds.values():
        os.close(fd)


def open_many(checks, path, native, opens):
    unlimited()
    fds = {}
    for i in range(opens):
        fds[i] = result(os.open, f"{path}/files/{i}", os.O_CREAT | os.O_RDWR)
        if fds[i] >= 0:
            result(os.write, fds[i], f"{i}\n".encode())
    checks.equal("files that could be opened", sum(fd >= 0 for fd in fds.values()), opens)
    use_all(checks, "all of them", fds)
    again = {i: result(os.open, f"{path}/files/{i}", os.O_RDONLY) for i in range(opens // 2)}
    checks.equal("files that could be opened again", sum(fd >= 0 for fd in again.values()),
                 opens // 2)
    use_all(checks, "those that are open twice", again)
    compare(checks, "attributes of open files",
            {i: result(lambda fd=fd: attributes(os.fstat(fd))) for i, fd in fds.items()},
            {i: result(lambda i=i: attributes(os.stat(f"{native}/files/{i}"))) for i in fds})
    other_work(checks, path, native, "while many are open")
    Child(checks, "a second process", open_until_refused, path, native, opens).join()
    use_all(checks, "all of them, once more", fds)
    for fd in [*fds.values(), *again.values()]:
        if fd >= 0:
            os.close(fd)
    say(f"{path}/files/last", "x")
    checks.equal("opening when all is closed", whole(f"{path}/files/last"), b"x")


def opens(checks, base, options, count):
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    limit = min(hard, DAEMON_FILES)
    native = base / "work"
    (native / "files").mkdir(parents=True)
    (native / "seen").mkdir()
    for i in range(200):
        say(native / "seen" / f"{i}", "x" * i)
    with Mount(*options, base=base, prefix=limited(limit)) as mount:
        Child(checks, "the client that opens", open_many, mount(native), native,
              min(count, (limit - 1000) * 2 // 3)).join()
        no_descriptor_lost(checks, mount, native)
        in_order(checks, mount)


# ---- many clients ----

def logs_of(tops, steps):
    """What as many clients find that work at the same time."""
    pids = []
    for seed, top in enumerate(tops):
        pid = os.fork()
        if pid == 0:
            status = 1
            try:
                log = Work(top, seed).run(steps)
                with open(f"{top}.log", "wb") as f:
                    pickle.dump(log, f)
                status = 0
            except BaseException as e:
                print(f"client {seed}: {type(e).__name__}: {e}", flush=True)
            finally:
                os._exit(status)
        pids.append(pid)
    statuses = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids]
    logs = []
    for top in tops:
        logs.append(result(lambda: pickle.loads(whole(f"{top}.log"))))
        result(os.unlink, f"{top}.log")
    return statuses, logs


def clients(checks, base, options, count, steps):
    """With few descriptors, so that the daemon closes one file for another, and with two clients that walk."""
    sides = base / "plain", base / "mirrored"
    tops = [[side / f"client{i}" for i in range(count)] for side in sides]
    for top in itertools.chain.from_iterable(tops):
        top.mkdir(parents=True)
    others = base / "others"
    populate(others, 3000)
    with Mount(*options, base=base, prefix=limited(1024)) as mount:
        natively = logs_of(tops[0], steps)
        walkers = [background(lambda: walk_on(mount(others))) for _ in range(2)]
        through = logs_of([mount(top) for top in tops[1]], steps)
        kill(walkers)
        for pid in walkers:
            os.waitpid(pid, 0)
        checks.equal("clients end", through[0], [0] * count)
        for seed, (got, wanted) in enumerate(zip(through[1], natively[1])):
            same_log(checks, f"client {seed} finds the same", got, wanted)
        same_picture(checks, "what they leave", picture(sides[1]), picture(sides[0]))
        same_picture(checks, "what they leave, in the mount", picture(mount(sides[1])),
                     picture(sides[0]))
        no_descriptor_lost(checks, mount, sides[1])
        in_order(checks, mount)


def main():
    need_fuse()
    need("prlimit", "find")
    given = arguments(__doc__, entries=50000, opens=10000, clients=64)
    parts = Parts(given.parts, one_of=3)
    kinds = given.fidelity or fidelities()
    entries = 200000 if given.long else given.entries
    for fidelity in kinds:
        first, options = fidelity == kinds[0], ["--fidelity", fidelity]
        parts.run(f"fsize {fidelity}", file_size, options)
        parts.run(f"clients {fidelity}", clients, options, given.clients, 300 if given.long else 80)
        if first or given.long or fidelity == "open":
            parts.run(f"opens {fidelity}", opens, options, given.opens)
        if first or given.long:
            parts.run(f"directory {fidelity}", directory, options, entries)
    parts.checks.end()


if __name__ == "__main__":
    main()
