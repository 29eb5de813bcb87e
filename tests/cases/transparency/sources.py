#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 32
# long: --long
"""Sources of every kind: other file systems, other mirrors, what the mount point lies in.

    sources.py [--long] [--fidelity NAME]... [--steps N] [PART...]
"""
import ctypes
import fcntl
import mmap
import os
import stat
import struct
import subprocess
import time

from filesystems import KINDS, Kind, done, populate, run, until
from ftractest import Mount, fidelities, need_fuse, skip
from many_files import with_tree
from parts import Child, Parts, arguments, in_order
from sides import (LIBC, Work, compare, digest, elsewhere, picture, result, same_log, same_picture, say,
                   statx, whole)

USER = 65534
EXPIRY = 1.1  # for as long as the kernel may remember what is changed natively


# ---- file systems ----

RENAME_NOREPLACE, RENAME_EXCHANGE = 1, 2


def rename2(old, new, flags):
    if LIBC.renameat2(-100, os.fsencode(old), -100, os.fsencode(new), flags) < 0:
        raise OSError(ctypes.get_errno(), "renameat2")


class Features:
    """The results of operations that file systems do in different ways, in a new directory."""

    def __init__(self, top):
        self.top = f"{top}/features"
        os.mkdir(self.top)

    def file(self, name, content="content\n"):
        say(f"{self.top}/{name}", content)
        return f"{self.top}/{name}"

    def names(self):
        return [result(say, f"{self.top}/{name}", "x") for name in (
            "n" * 255, "n" * 256, "ü" * 127, "ü" * 128, "new\nline", "back\\slash", ":", "*?")]

    def holes(self):
        path = f"{self.top}/holes"
        fd = os.open(path, os.O_RDWR | os.O_CREAT)
        said = [os.pwrite(fd, b"x" * 5000, 1 << 20), os.pwrite(fd, b"end", (5 << 30) + 1)]
        said += [result(os.lseek, fd, at, how) for at in (0, 1 << 20, (1 << 20) + 70000, 6 << 30)
                 for how in (os.SEEK_DATA, os.SEEK_HOLE)]
        os.fsync(fd)
        said.append(os.fstat(fd).st_size)
        for mode in 1, 3, 16, 17, 0:  # keep size, punch, zero, zero and keep, plain
            said.append((LIBC.fallocate(fd, mode, ctypes.c_long(4096), ctypes.c_long(70000)),
                         ctypes.get_errno() if mode else 0, os.fstat(fd).st_size))
        os.ftruncate(fd, 10000)
        said.append(os.pread(fd, 20000, 0))
        os.close(fd)
        return said

    def times(self):
        path, said = self.file("times"), []
        for seconds in -10**9, 0, 1, 2**31 - 1, 2**31 + 5, 2**33, 2**35:
            said.append(result(os.utime, path, ns=(seconds * 10**9 + 123456789,) * 2))
            now = abs(os.stat(path).st_mtime - time.time()) < 1000  # where 0 is not a time
            said.append("now" if now else os.stat(path).st_mtime_ns)
        return said

    def xattrs(self):
        path, said = self.file("xattrs"), []
        for name in "user.a", "trusted.a", "security.a", "system.a", "none.a", "user." + "n" * 250:
            for value in b"", b"value", b"v" * 3000, b"v" * 70000:
                said.append(result(os.setxattr, path, name, value))
                said.append(digest(result(os.getxattr, path, name)))
        said.append(result(lambda: sorted(os.listxattr(path))))
        said.append(result(os.removexattr, path, "user.a"))
        said.append(result(os.removexattr, path, "user.a"))
        return said

    def renames(self):
        a, b = self.file("a", "of a"), self.file("b", "of b")
        said = [result(rename2, a, b, flags) for flags in (RENAME_NOREPLACE, RENAME_EXCHANGE, 99)]
        said += [whole(a), whole(b), result(rename2, a, f"{b}2", RENAME_NOREPLACE)]
        os.mkdir(f"{self.top}/dir")
        return said + [result(rename2, f"{self.top}/dir", b, RENAME_EXCHANGE),
                       result(os.rename, b, f"{b}2"), result(os.rename, self.top,
                                                             f"{self.top}/dir/in itself")]

    def opens(self):
        path, said = self.file("opens", "x" * 10000), []
        for flags in (os.O_DIRECT, os.O_SYNC | os.O_RDWR, os.O_NOATIME, os.O_DIRECTORY,
                      os.O_DIRECTORY | os.O_CREAT, os.O_RDONLY | os.O_TRUNC,
                      os.O_WRONLY | os.O_EXCL):
            fd = result(os.open, path, flags)
            said.append(fd if fd < 0 else os.close(fd))
        said.append(os.stat(path).st_size)
        fd = result(os.open, self.top, os.O_TMPFILE | os.O_RDWR)
        if fd >= 0:
            os.write(fd, b"without a name")
            said.append(result(os.link, f"/proc/self/fd/{fd}", f"{self.top}/named",
                               follow_symlinks=True))
            said.append(result(whole, f"{self.top}/named"))
            os.close(fd)
        return said, fd >= 0

    def mappings(self):
        fd = os.open(self.file("mapped", "m" * 10000), os.O_RDWR)
        with mmap.mmap(fd, 10000) as m:
            m[5000:5004] = b"here"
            m.flush()
            said = [os.pread(fd, 6, 4999)]
            os.pwrite(fd, b"there", 100)
            said.append(m[99:106])
        os.close(fd)
        return said, digest(whole(f"{self.top}/mapped"))

    def copies(self):
        a = os.open(self.file("from", "c" * 100000), os.O_RDONLY)
        b = os.open(f"{self.top}/to", os.O_RDWR | os.O_CREAT)
        said = [result(os.copy_file_range, a, b, 70000, 5, 10), result(os.sendfile, b, a, 0, 1000),
                os.fstat(b).st_size, result(os.copy_file_range, b, b, 10, 0, 5)]
        os.close(a)
        os.close(b)
        return said

    def flags(self):
        """Immutable, append-only, no dump; and back."""
        path, said = self.file("flags"), []
        fd = os.open(path, os.O_RDONLY)
        get, put = 0x80086601, 0x40086602
        for flag in 0x10, 0x20, 0x40, 0:
            said.append(result(fcntl.ioctl, fd, put, struct.pack("q", flag)) and 1)
            now = result(fcntl.ioctl, fd, get, bytes(8))
            said.append(now if isinstance(now, int) else struct.unpack("q", now)[0] & 0x70)
            said.append(result(os.truncate, path, 3))
            said.append(result(os.link, path, f"{path}{flag}"))
        os.close(fd)
        return said

    def attributes(self):
        said = statx(self.file("statx"))
        birth = said.pop("birth")
        return said, birth is not None, os.stat(self.top).st_blksize

    def links(self):
        path, said = self.file("links"), []
        said.append(result(os.link, path, f"{path}2"))
        os.symlink("x" * 1000, f"{path}3")
        said += [len(os.readlink(f"{path}3")), os.lstat(f"{path}3").st_size,
                 result(os.symlink, "x" * 4095, f"{path}4"), result(os.symlink, "", f"{path}5"),
                 result(os.link, f"{path}3", f"{path}6", follow_symlinks=False),
                 result(os.lstat, f"{path}2").st_nlink]
        os.unlink(path)
        return said, whole(f"{path}2") if said[0] is None else None

    def removed(self):
        """Of files that only O_PATH descriptors hold: their content, and the next files, which may get their numbers."""
        names = [self.file(f"removed{i}", f"of {i}") for i in range(20)]
        held = [os.open(name, os.O_PATH) for name in names]
        os.rename(self.file("over"), names[0])
        for i, name in enumerate(names[1:], 1):
            os.unlink(name)
            if i % 2:
                os.mkdir(name)
            else:
                say(name, f"next {i}")
        said = [result(whole, f"/proc/self/fd/{fd}") for fd in held]
        for fd in held:
            os.close(fd)
        return said, [result(os.listdir if i % 2 else whole, name) for i, name in enumerate(names)]

    def modes(self):
        path, said = self.file("modes"), []
        for mode in 0o7777, 0o2755, 0o4755, 0o1644, 0o000:
            said += [result(os.chmod, path, mode), oct(os.stat(path).st_mode)]
        os.mkdir(f"{self.top}/sgid")
        said += [result(os.chmod, f"{self.top}/sgid", 0o2775), result(os.chown, path, 1, 2)]
        os.mkdir(f"{self.top}/sgid/dir")
        return said, oct(os.stat(f"{self.top}/sgid/dir").st_mode), os.stat(path)[4:6]

    def special(self):
        said = []
        for kind in stat.S_IFIFO, stat.S_IFSOCK, stat.S_IFCHR, stat.S_IFBLK, stat.S_IFREG:
            path = f"{self.top}/special{kind}"
            said.append(result(os.mknod, path, kind | 0o640, os.makedev(1, 3)))
            st = result(os.lstat, path)
            said.append(st if isinstance(st, int) else (oct(st.st_mode), st.st_rdev))
        return said

    def positions(self):
        """Order and places of a directory are those of the source."""
        os.mkdir(f"{self.top}/many")
        for i in range(300):
            say(f"{self.top}/many/{i}", "")
        fd = os.open(f"{self.top}/many", os.O_RDONLY)
        first = os.listdir(fd)
        for name in first[:100]:
            os.unlink(f"{self.top}/many/{name}")
        os.lseek(fd, 0, os.SEEK_SET)
        left = os.listdir(fd)
        os.close(fd)
        return sorted(first), sorted(left) == sorted(first[100:])

    def statfs(self):
        st = os.statvfs(self.top)
        return st.f_bsize, st.f_frsize, st.f_blocks, st.f_namemax

    def all(self):
        return {name: result(getattr(self, name)) for name in sorted(vars(Features))
                if name[0] != "_" and name not in ("file", "all")}


def act(top, seed, steps, uid):
    """Random work and features, in a child that is uid."""
    def work():
        if uid:
            os.setgroups([])
            os.setgid(uid)
            os.setuid(uid)
        os.umask(0o022)
        return Work(top, seed).run(steps), Features(top).all()
    return elsewhere(work)


def without_suid(features):
    """What has no effect on a nosuid mount is not shown in the mirror."""
    def strip(said):
        if isinstance(said, (list, tuple)):
            return [strip(part) for part in said]
        if isinstance(said, str) and said.startswith("0o10"):
            return oct(int(said, 8) & ~0o6000)
        return said
    return dict(features, modes=strip(features["modes"]))


def on_both_sides(checks, mount, fact, top, seed, steps, uid):
    """The same in two directories of one file system."""
    sides = [top / f"{side} {seed}" for side in ("plain", "mirrored")]
    for side in sides:
        side.mkdir()
        os.chown(side, uid, uid)
    wanted, got = act(sides[0], seed, steps, uid), act(mount(sides[1]), seed, steps, uid)
    same_log(checks, f"{fact}: the same results", got[0], wanted[0])
    features = [got[1], wanted[1]]
    if os.statvfs(top).f_flag & os.ST_NOSUID:
        features = [without_suid(f) for f in features]
    compare(checks, f"{fact}: the same features", *features)
    time.sleep(EXPIRY)
    same_picture(checks, f"{fact}: the same tree", picture(sides[1]), picture(sides[0]))
    compare(checks, f"{fact}: the same in the mount", picture(mount(sides[1])), picture(sides[1]))
    numbers = {name: st.st_ino for name, st in lstats(sides[1]).items()}
    shown = {name: st.st_ino for name, st in lstats(mount(sides[1])).items()}
    checks.equal(f"{fact}: numbers are different where they are",
                 len(set(shown.values())), len(set(numbers.values())))
    births = [{name: result(statx, side / name) for name in numbers}
              for side in (mount(sides[1]), sides[1])]
    compare(checks, f"{fact}: times of birth", *births)


def lstats(top):
    return {os.path.relpath(os.path.join(at, name), top): os.lstat(os.path.join(at, name))
            for at, dirs, names in os.walk(top) for name in dirs + names}


def made_again(checks, mount, fact, top):
    """Seen, natively removed, and others made that may get the same numbers, but not the names."""
    (top / "again").mkdir()
    for round_ in range(3):
        for i in range(50):
            say(top / "again" / f"{round_} {i}", f"round {round_}" + "." * i)
        time.sleep(EXPIRY)
        compare(checks, f"{fact}: made again, round {round_}", picture(mount(top / "again")),
                picture(top / "again"))
        for i in range(50):
            os.unlink(top / "again" / f"{round_} {i}")


def kind(checks, base, name, options, steps):
    fs = Kind(base, name)
    if not fs.mounted:
        print(f"not looked at: no {name} here")
        return
    for seed, (source, uid) in enumerate(((str(fs.top), 0), ("/", USER))):
        fact = f"{name}, {'the source' if seed == 0 else 'below the source'}, uid {uid}"
        where = base / f"mount {seed}"
        where.mkdir()
        with Mount(*options, base=where, source=source) as mount:
            Child(checks, fact, on_both_sides, mount, fact, fs.top, seed, steps, uid).join()
            if seed == 0:
                made_again(checks, mount, fact, fs.top)
            in_order(checks, mount)
    checks.check(f"{name} can be unmounted", fs.end())


def kind_limited(checks, base, name, options, below):
    """With more inodes than descriptors; below the source it is one of many mounts.  What FUSE
    gives as handles cannot be relied on."""
    fs = Kind(base, name)
    if not fs.mounted:
        print(f"not looked at: no {name} here")
        return
    where = base / "case"
    where.mkdir()
    with_tree(checks, where, fs.top / "tree", 0, options,
                           source="/" if below else str(fs.top),
                           handles=name not in ("bindfs", "sshfs"))
    checks.check(f"{name} can be unmounted", fs.end())


# ---- mirrors of mirrors ----

def find(checks, fact, path, wanted=None):
    """Ends; with the names that are wanted, if it is known which."""
    try:
        ended = run("find", path, stdout=subprocess.PIPE, timeout=60)
    except subprocess.TimeoutExpired:
        checks.check(f"find ends: {fact}", False)
        return
    names = ended.stdout.split(b"\n")
    checks.check(f"find ends: {fact}", len(names) > 1, ended.returncode)
    if wanted is not None:
        checks.equal(f"what it finds: {fact}", sorted(names), sorted(wanted))


def nested(base, name, options, source="/"):
    where = base / name
    where.mkdir()
    return Mount(*options, base=where, source=source)


def unmount_all(checks, *mounts):
    """Each of which may have looked into the others a moment ago."""
    for i, mount in enumerate(mounts):
        if until(lambda m=mount: done("fusermount3", "-u", m.mnt)) is None:
            checks.check(f"mirror {i} is unmounted", False)
            for other in mounts[i:]:
                run("umount", "-l", other.mnt)
    for i, mount in enumerate(mounts):
        mount.wait()
        checks.equal(f"mirror {i}: the trace is complete", mount.fact("complete"), 1)


def two_mirrors(checks, base, options):
    """Each of them sees the other: in a directory that is the source of both, and of /.  (By io_uring the
    first would hide the second: transport.py.)"""
    options = [*options, "--io-uring", "off"]
    work = base / "work"
    populate(work, 300)
    natively = picture(work)
    for source in str(base), "/":
        with nested(base, f"one{len(source)}", options, source) as one, \
                nested(base, f"two{len(source)}", options, source) as two:
            for a, b in (one, two), (two, one):
                compare(checks, "by way of both", picture(a(b(work))), natively)
                say(a(b(base / "new")), "new")
                checks.equal("written by way of both", whole(base / "new"), b"new")
                os.unlink(base / "new")
            if source != "/":
                walk_all(checks, base, one, two)
            unmount_all(checks, one, two)


def walk_all(checks, base, *mounts):
    for top in base, *(mount.mnt for mount in mounts):
        find(checks, f"below {top.name}", top)
    walkers = [subprocess.Popen(["timeout", "60", "find", mount.mnt], stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL) for mount in mounts for _ in range(8)]
    checks.equal("many walk at once, and end", {walker.wait(100) == 124 for walker in walkers},
                 {False})


def one_over_another(checks, base, options, steps):
    """The source of the second is the mount of the first."""
    top = base / "work"
    top.mkdir()
    with nested(base, "one", options) as one:
        with nested(base, "two", options, source=str(one.mnt)) as two:
            Child(checks, "two layers", on_both_sides, lambda p: two(one(p)), "two layers", top, 0,
                  steps, 0).join()
            Child(checks, "two layers, a user", on_both_sides, lambda p: two(one(p)),
                  "two layers, a user", top, 1, steps, USER).join()
            find(checks, "the mount point of the first", two(one(base)))
            in_order(checks, two)
        with nested(base, "three", options) as three:
            Child(checks, "by path", on_both_sides, lambda p: three(one(p)), "by path", top, 2,
                  steps, 0).join()
            fd = os.open(three(one(top / "file")), os.O_CREAT | os.O_RDWR)
            os.write(fd, b"x")
            os.close(fd)
            checks.check("the first can be unmounted below the second", until(
                lambda: done("fusermount3", "-u", one.mnt)) is not None)
            one.wait()
            time.sleep(EXPIRY)
            checks.equal("what is under it is seen", os.listdir(three(one.mnt)), [])
            in_order(checks, three)


def inside(checks, base, options):
    """The mount point lies in the source, or is the source itself."""
    top = base / "top"
    populate(top, 200)
    (top / "sub" / "mnt").mkdir(parents=True)
    wanted = run("find", top, "-printf", "%P\\n", stdout=subprocess.PIPE).stdout
    where = top / "sub"
    with Mount(*options, base=where, source=str(top), db=base / "trace.db") as mount:
        got = run("find", mount.mnt, "-printf", "%P\\n", stdout=subprocess.PIPE).stdout
        checks.equal("all is seen", sorted(got.split()), sorted(wanted.split()))
        checks.equal("the mount point there is empty", os.listdir(mount(mount.mnt)), [])
        found = run("find", top, "-printf", "%P\\n", stdout=subprocess.PIPE).stdout
        checks.check("a walk of the source goes once into it",
                     len(found.split()) < 2.2 * len(wanted.split()))
        in_order(checks, mount)
    with Mount(*options, base=base, source=str(base), db="/dev/shm/ftrac-case.db") as mount:
        pass
    os.unlink("/dev/shm/ftrac-case.db")


def over_itself(checks, base, options):
    """Mounted over its own source: all processes that use its path come through the mirror."""
    top, keep = base / "mnt", base / "keep"
    top.mkdir()
    keep.mkdir()
    populate(top, 100)
    natively = picture(top)
    with Mount(*options, base=base, source=str(top)) as mount:
        compare(checks, "the same as before", picture(mount.mnt), natively)
        say(top / "new", "new")
        in_order(checks, mount)
    checks.equal("what was written is there", whole(top / "new"), b"new")
    with Mount(*options, base=base, source="/", db=keep / "trace.db") as mount:
        checks.check("/ is under it", os.path.exists(mount("/etc/passwd")))
        checks.equal("and what it covers is in there", result(whole, mount(top / "new")), b"new")


def main():
    need_fuse()
    if os.geteuid() != 0:
        skip("only root mounts file systems")
    given = arguments(__doc__, steps=600)
    parts = Parts(given.parts, one_of=5)
    kinds = given.fidelity or fidelities()
    for fidelity in kinds:
        first, options = fidelity == kinds[0] or given.long, ["--fidelity", fidelity]
        for name in KINDS:
            if first or name in ("tmpfs", "overlay", "bindfs", "sshfs"):
                parts.run(f"{name} {fidelity}", kind, name, options, given.steps)
            if given.long:
                parts.run(f"{name} {fidelity} limited", kind_limited, name, options, False)
            if given.long or first and name == "tmpfs":
                parts.run(f"{name} {fidelity} limited below", kind_limited, name, options, True)
        parts.run(f"over another {fidelity}", one_over_another, options, given.steps)
        if not first:
            continue
        parts.run(f"two mirrors {fidelity}", two_mirrors, options)
        parts.run(f"inside {fidelity}", inside, options)
        parts.run(f"over itself {fidelity}", over_itself, options)
    parts.checks.end()


if __name__ == "__main__":
    main()
