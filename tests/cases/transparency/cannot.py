#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a file system on FUSE cannot do: each with the error that programs get, and that they can
do without.  All of this stands in ftrac(1), LIMITS.

cannot.py [MODE...]   MODE is a fidelity (default: all), or 'exact with --stat'.
"""
import contextlib
import ctypes
import errno
import fcntl
import mmap
import os
import pathlib
import select
import shutil
import socket
import stat
import struct
import subprocess
import sys
import tempfile
import time

from filesystems import MS_BIND, MS_RDONLY, MS_REMOUNT, OtherFs, mount_fs
from ftractest import WORK, Checks, Mount, complete, modes, need_fuse, skip
from sides import LIBC, STUCK, as_user

need_fuse()
if os.geteuid() != 0:
    skip("only root can mount what these facts need")
checks = Checks()
os.umask(0o022)
ANN = (5001, 5001, ())
MAPPED = "exact", "cached"  # in which mappings are FUSE's, not the source's


class Pins:
    """Facts of a mount that are not as natively.  One that has become so is no failure: a newer
    kernel may have learned it.  It is printed, since the manual has to follow."""

    def __init__(self, mode):
        self.mode, self.known = mode, set()

    def pin(self, what, got, mounted, native):
        if got == native != mounted:
            print(f"{self.mode}: now as natively: {what}: {got!r}")
        checks.check(f"{self.mode}: {what}", got in (mounted, native),
                     f"\n  got      {got!r}\n  pinned   {mounted!r}\n  natively {native!r}")


def error(call, *arguments):
    """Its result, or the name of its error."""
    try:
        return call(*arguments)
    except OSError as e:
        return errno.errorcode[e.errno]


def opened(path, flags=os.O_RDONLY):
    os.close(os.open(path, flags))
    return "opened"


def umount(path):
    if LIBC.umount2(os.fsencode(path), 0) != 0:
        raise OSError(ctypes.get_errno(), path)


# ---- single calls: lines of tests/work/cannot.c that are not as natively, all others are

NO = "EOPNOTSUPP"
SAME_CONTENT = "size 32768, read 32768, content 0515723679123dba"
LINES = {
    "ranges: fallocate(fd, FALLOC_FL_COLLAPSE_RANGE, PAGE, PAGE)": NO,
    "ranges: collapsed": SAME_CONTENT,
    "ranges: fallocate(fd, FALLOC_FL_INSERT_RANGE, PAGE, PAGE)": NO,
    "ranges: inserted": SAME_CONTENT,
    "extents: ioctl(fd, FS_IOC_FIEMAP, &m)": NO,
    "flags_of_calls: preadv2(fd, &one, 1, 0, RWF_NOWAIT)": NO,
    "flags_of_calls: preadv2(fd, &one, 1, 0, 0x80)": NO,
    "flags_of_calls: pwritev2(fd, &one, 1, 0, 0x80)": NO,
    "flags_of_calls: pwritev2(fd, &one, 1, 0, 0x40)": NO,
    # A file that was opened for appending is written at its end.
    "flags_of_calls: f, written by a file opened to append":
        "size 8202, read 8202, content b0ea165eb717642d",
    "positions: lseek(fd, (off_t)1 << 62, SEEK_SET)": str(1 << 62),
    "positions: read(fd, page, 10)": "0",
    "positions: write(fd, page, 10)": "EFBIG",
    "handles: name_to_handle_at(AT_FDCWD, \"f\", &u.handle, &mount, 0)": NO,
    "handles: open_by_handle_at(dir, &u.handle, O_RDONLY)": None,
    "waiting: epoll_ctl(set, EPOLL_CTL_ADD, fd, &event)": "0",
    "waiting: epoll_wait(set, &event, 1, 0)": "1",
    "shown_flags: no dump": "0",
    "shown_flags: alignment of O_DIRECT": "unknown",
    "immutable: access(\"f\", W_OK)": "0",
    "append_only: fcntl(append, F_SETFL, 0)": "0",
    "file_system: type": "65735546",
    "file_system: own number": "no",
    "fifo: changed": "0",
    "ioctls: ioctl(fd, 0x81009431, label)": "ENOTTY",
    "clones: ioctl(to, FICLONE, from)": NO,
    "clones: ioctl(to, FICLONERANGE, &range)": NO,
    "clones: ioctl(from, FIDEDUPERANGE, &same)": NO,
    "clones: shared": "0, 0 bytes",
    "many_names: flistxattr(fd, NULL, 0)": "65536",
    "clones: fallocate(copy, FALLOC_FL_UNSHARE_RANGE, 0, PAGE)": NO,
}
LINES_OF_MAPPINGS = {  # not of fidelity open
    "odd_buffers: pread(d, page + 3, PAGE, 0)": "4096",
    "odd_buffers: pwrite(d, page + 3, PAGE, 0)": "4096",
    "stale_end: truncated": str(ord("T")),
    "stale_end: written": str(ord("T")),
    "stale_end: allocated": str(ord("T")),
    "times_of_stores: accessed when mapped": "0",
    "times_of_stores: changed when stored": "0",
    "no_room: stored": "all",
    "no_room: msync((void *)p, 8 << 20, MS_SYNC)": "ENOSPC",
}
LINES_OF_EXACT = {
    "odd_buffers: pread(fd, nowhere, 10, 10 * PAGE)": "EFAULT",
}
LINES_OF_CACHED = {  # for data in memory the kernel sends no request
    "from_memory: accessed": "0",
}
LINES_OF_OPEN = {  # the kernel keeps the flags that the file was opened with
    "flags_later: lseek(fd, 0, SEEK_END)": "110",
    "flags_later: accessed": "1",
}
SECTIONS = ("ranges", "extents", "flags_of_calls", "flags_later", "from_memory", "odd_buffers",
            "positions", "handles", "waiting", "watching", "shown_flags", "immutable", "append_only",
            "file_system", "fifo", "ioctls", "stale_end", "times_of_stores")


def lines(top, *sections):
    """What the program printed: {"section: what": result}."""
    os.mkdir(top)
    done = subprocess.run([WORK / "cannot", top, *sections], capture_output=True, text=True,
                          timeout=STUCK)
    checks.equal(f"{top}: the program's end", (done.returncode, done.stderr), (0, ""))
    return dict(line.rsplit(": ", 1) for line in done.stdout.splitlines() if ": " in line)


def pinned_lines(fidelity):
    return {**LINES, **(LINES_OF_MAPPINGS if fidelity in MAPPED else {}),
            **(LINES_OF_EXACT if fidelity == "exact" else {}),
            **(LINES_OF_CACHED if fidelity == "cached" else {}),
            **(LINES_OF_OPEN if fidelity in ("open", "call") else {})}


def compare_lines(pins, fidelity, native, mounted):
    pinned = pinned_lines(fidelity)
    for what, result in native.items():
        got = mounted.get(what)
        if what in pinned:
            pins.known.add(what)
            pins.pin(what, got, pinned[what], result)
        else:
            checks.equal(f"{pins.mode}: {what}: as natively", got, result)


# ---- programs find another way

def run(*command, cwd=None):
    done = subprocess.run(command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=STUCK, errors="surrogateescape")
    return done.returncode, done.stdout


def programs_without_ranges(mode, side):
    side.mkdir()
    (side / "f").write_bytes(b"a" * 4096 + b"b" * 4096)
    if shutil.which("fallocate"):
        code, text = run("fallocate", "-c", "-o", "0", "-l", "4096", "f", cwd=side)
        checks.check(f"{mode}: fallocate -c says so", code != 0 and "not supported" in text, text)
        checks.equal(f"{mode}: fallocate -p", run("fallocate", "-p", "-o", "0", "-l", "4096", "f",
                                                 cwd=side), (0, ""))
    if shutil.which("filefrag"):
        code, text = run("filefrag", "f", cwd=side)
        checks.check(f"{mode}: filefrag finds nothing", code != 0 or " 0 extents" in text, text)
    checks.equal(f"{mode}: cp --sparse", run("cp", "--sparse=always", "f", "g", cwd=side), (0, ""))
    checks.equal(f"{mode}: what it has copied", (side / "g").read_bytes(),
                 (side / "f").read_bytes())


def programs_without_clones(mode, side):
    side.mkdir(exist_ok=True)
    (side / "data").write_bytes(os.urandom(200000))
    checks.check(f"{mode}: cp --reflink=always fails",
                 run("cp", "--reflink=always", "data", "no", cwd=side)[0] != 0)
    for how in "--reflink=auto", "--reflink=never", "-a":
        checks.equal(f"{mode}: cp {how}", run("cp", how, "data", "copy", cwd=side), (0, ""))
        checks.equal(f"{mode}: what cp {how} has copied", (side / "copy").read_bytes(),
                     (side / "data").read_bytes())


# ---- one end here, one there

def with_address(path, call):
    """call() with a short one, since an address has room for 108 bytes only."""
    directory = os.open(path.parent, os.O_PATH)
    try:
        return call(f"/proc/self/fd/{directory}/{path.name}")
    finally:
        os.close(directory)


def connected(listening, connecting):
    with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX) as client:
        with_address(listening, server.bind)
        server.listen()
        result = error(with_address, connecting, client.connect)
        os.unlink(listening)
        return "connected" if result is None else result


def fifo_joins(reading, writing):
    reader = os.open(reading, os.O_RDONLY | os.O_NONBLOCK)
    try:
        return error(opened, writing, os.O_WRONLY | os.O_NONBLOCK)
    finally:
        os.close(reader)


def both_locked(a, b, lock):
    with open(a, "r+b") as first, open(b, "r+b") as second:
        lock(first)
        return error(as_child, lambda: lock(second))


def as_child(work):
    """None, or its error: in a process of its own, since POSIX locks are a process's."""
    child = os.fork()
    if child == 0:
        try:
            work()
            os._exit(0)
        except OSError as e:
            os._exit(e.errno)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code:
        raise OSError(code, "child")


def across(pins, native, mounted):
    """The same files by both ways."""
    os.mkfifo(native / "fifo")
    (native / "f").write_bytes(b"x" * 4096)
    sides = {"natively": native, "in the mount": mounted}
    for one, a in sides.items():
        for other, b in sides.items():
            inside = one == other
            what = f"one end {one}, one {other}"
            pins.pin(f"fifo, {what}", fifo_joins(a / "fifo", b / "fifo"),
                     "opened" if inside else "ENXIO", "opened")
            pins.pin(f"socket, {what}", connected(a / "socket", b / "socket"),
                     "connected" if inside else "ECONNREFUSED", "connected")
            for name, lock in {
                    "flock": lambda f: fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB),
                    "lockf": lambda f: fcntl.lockf(f, fcntl.LOCK_EX | fcntl.LOCK_NB)}.items():
                pins.pin(f"{name}, {what}", both_locked(a / "f", b / "f", lock),
                         "EAGAIN" if inside else None, "EAGAIN")


def running(pins, native, mounted):
    """A program that runs by one way is written by the other."""
    shutil.copy("/bin/sleep", native / "sleep")
    for one, a in (("natively", native), ("in the mount", mounted)):
        for other, b in (("natively", native), ("in the mount", mounted)):
            with subprocess.Popen([a / "sleep", "1000"]) as program:
                pins.pin(f"written {other} while it runs {one}",
                         error(opened, b / "sleep", os.O_WRONLY),
                         "opened" if one != other and one == "in the mount" else "ETXTBSY",
                         "ETXTBSY")
                program.kill()


def leases(pins, native, mounted):
    """That which was given in the mount is not broken from outside."""
    with open(mounted / "f", "rb") as f:
        fcntl.fcntl(f, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        pins.pin("a lease broken from outside", error(
            opened, native / "f", os.O_WRONLY | os.O_NONBLOCK), "opened", "EAGAIN")
        fcntl.fcntl(f, fcntl.F_SETLEASE, fcntl.F_UNLCK)


class Watch:
    """inotify on a directory: how many of what is made there shows."""

    def __init__(self, directory):
        self.fd = LIBC.inotify_init1(os.O_NONBLOCK)
        assert LIBC.inotify_add_watch(self.fd, os.fsencode(directory), 0x100) > 0  # IN_CREATE

    def seen(self, name):
        data = b""
        while select.select([self.fd], [], [], 0)[0]:
            data += os.read(self.fd, 65536)
        return name.encode() in data


def watching(pins, native, mounted):
    for one, a in (("natively", native), ("in the mount", mounted)):
        watch = Watch(a)
        for other, b in (("natively", native), ("in the mount", mounted)):
            name = f"made {other} seen {one}".replace(" ", "-")
            (b / name).touch()
            pins.pin(name, watch.seen(name), one == "natively" or one == other, True)
        os.close(watch.fd)


def mapped_on_both_sides(pins, fidelity, native, mounted):
    """Pages are shared among those inside, and among those outside."""
    (native / "m").write_bytes(b"old " * 1024)
    seen = fidelity not in MAPPED
    with open(native / "m", "r+b") as f, open(mounted / "m", "r+b") as g, \
            mmap.mmap(f.fileno(), 4096) as a, mmap.mmap(g.fileno(), 4096) as b:
        assert a[:3] == b[:3] == b"old"
        a[:3] = b"new"
        pins.pin("a store outside seen in a mapping inside", b[:3] == b"new", seen, True)
        b[100:103] = b"new"
        pins.pin("a store inside seen in a mapping outside", a[100:103] == b"new", seen, True)
        b.flush()
        checks.equal(f"{pins.mode}: that store, synced", (native / "m").read_bytes()[100:103],
                     b"new")


def capabilities(pins, fidelity, mounted):
    """A store is a write here, which takes a file's capabilities away."""
    path = mounted / "capable"
    path.write_bytes(b"x" * 4096)
    os.setxattr(path, "security.capability", struct.pack("<IIIII", 0x02000001, 1 << 10, 0, 0, 0))
    with open(path, "r+b") as f, mmap.mmap(f.fileno(), 4096) as m:
        m[0] = 1
        m.flush()
    pins.pin("capabilities after a store", error(os.getxattr, path, "security.capability") ==
             "ENODATA", fidelity in MAPPED, False)


# ---- mounts

def remounts(pins, mount, native, mounted):
    """As root by mount(2); the options of FUSE itself cannot be changed."""
    checks.equal(f"{pins.mode}: a remount read-only", error(
        mount_fs, "", mount.mnt, "", MS_REMOUNT | MS_RDONLY), None)
    checks.equal(f"{pins.mode}: then no writes", error(opened, mounted / "f", os.O_WRONLY), "EROFS")
    checks.equal(f"{pins.mode}: but natively", error(opened, native / "f", os.O_WRONLY), "opened")
    checks.equal(f"{pins.mode}: a remount for writing", error(
        mount_fs, "", mount.mnt, "", MS_REMOUNT), None)
    checks.equal(f"{pins.mode}: then writes", error(opened, mounted / "f", os.O_WRONLY), "opened")


def overlays(pins, base, native, mounted):
    """The mount may lie below an overlay, and be what one is written to."""
    if "overlay" not in pathlib.Path("/proc/filesystems").read_text():
        print("overlays: not in this kernel")
        return
    for name in "lower", "upper", "work", "merged":
        (native / name).mkdir()
    (native / "lower/f").write_text("content")
    target = native / "merged"
    with OtherFs(base / "upper", "tmpfs") as upper:
        (upper / "u").mkdir()
        (upper / "w").mkdir()
        for what, options in {
                "over": f"lowerdir={mounted}/lower,upperdir={upper}/u,workdir={upper}/w",
                "written to": f"lowerdir={native}/lower,upperdir={mounted}/upper,"
                              f"workdir={mounted}/work"}.items():
            with mounted_on(target, "overlay", options):
                checks.equal(f"{pins.mode}: what an overlay {what} the mount shows",
                             error((target / "f").read_text), "content")
                error((target / "f").write_text, "more content")
                error((target / "f").rename, target / "g")
                checks.equal(f"{pins.mode}: what was written to an overlay {what} the mount",
                             error((target / "g").read_text), "more content")
    checks.equal(f"{pins.mode}: the layer", sorted(os.listdir(native / "upper")), ["f", "g"])


@contextlib.contextmanager
def mounted_on(target, kind, options):
    """Unmounts it at the end in any case: else the mount below it would stay busy."""
    mount_fs(kind, target, kind, 0, options)
    try:
        yield
    finally:
        LIBC.umount2(os.fsencode(target), 2)  # MNT_DETACH


def flags_of_mounts(pins, source, shown):
    """What the kernel decides by the flags of the mount alone."""
    for name, number in (("nodev", 4), ("noexec", 8), ("ro", MS_RDONLY)):
        with OtherFs(source / name, "tmpfs") as top:
            shutil.copy("/bin/true", top / "true")
            os.chmod(top / "true", 0o777)
            os.mknod(top / "null", stat.S_IFCHR | 0o666, os.makedev(1, 3))
            mount_fs("", top, "", MS_REMOUNT | MS_BIND | number)
            path = shown / name / "true"
            if name == "nodev":
                pins.pin("a device on nodev", error(opened, shown / name / "null"), "ENXIO",
                         "EACCES")
            elif name == "noexec":
                pins.pin("access to execute on noexec", os.access(path, os.X_OK), True, False)
                pins.pin("a mapping to execute on noexec", error(map_executable, path), "mapped",
                         "EPERM")
            else:
                pins.pin("access to write on ro", os.access(path, os.W_OK), True, False)
                pins.pin("chmod by others on ro", error(as_user, ANN, error, os.chmod, path, 0o700),
                         "EPERM", "EROFS")


def map_executable(path):
    with open(path, "rb") as f, mmap.mmap(f.fileno(), 10, mmap.MAP_PRIVATE,
                                          mmap.PROT_READ | mmap.PROT_EXEC):
        return "mapped"


def reserved_blocks(pins, source, shown):
    """Blocks that a file system reserves for root: the daemon of the mirror writes as root."""
    with OtherFs(source / "small", "ext4", size=8, make=("-m", "30", "-O", "^has_journal")) as top:
        os.chmod(top, 0o777)
        written = [as_user(ANN, fill, at / "small/f") for at in (source, shown)]
        pins.pin("more for all", written[1] > written[0], True, False)


def fill(path):
    with open(path, "wb", buffering=0) as f:
        written = sum(iter(lambda: write_some(f.fileno()), 0))
    os.unlink(path)
    os.sync()  # what was removed is free when the mount has forgotten it
    time.sleep(0.5)
    return written


def write_some(fd):
    try:
        return os.write(fd, b"x" * 65536)
    except OSError:
        return 0


def one_device(pins, source, shown):
    """All file systems of the source are one in the mount, with numbers that differ."""
    with OtherFs(source / "other", "tmpfs") as top:
        (top / "f").touch()
        for how, path, wanted in (("natively", source, False), ("in the mount", shown, True)):
            same = os.stat(path).st_dev == os.stat(path / "other/f").st_dev
            checks.equal(f"{pins.mode}: one device {how}", same, wanted)
            code, text = run("find", ".", "-xdev", "-name", "f", cwd=path)
            checks.equal(f"{pins.mode}: find -xdev goes there {how}", "other/f" in text, wanted)
        (source / "other file").touch()
        numbers = [os.stat(path).st_ino for path in (shown / "other file", shown / "other/f",
                                                     shown / "other", shown)]
        checks.equal(f"{pins.mode}: different numbers", len(set(numbers)), len(numbers))


def taken_away(pins, source, shown):
    """A file system of the source that no process uses any more can be unmounted, after a moment."""
    with OtherFs(source / "away", "tmpfs") as top:
        (top / "f").write_text("content")
        checks.equal(f"{pins.mode}: read", (shown / "away/f").read_text(), "content")
        checks.equal(f"{pins.mode}: listed", os.listdir(shown / "away"), ["f"])
        for _ in range(100):
            result = error(umount, top)
            if result is None:
                break
            time.sleep(0.1)
        checks.equal(f"{pins.mode}: unmounted", result, None)


# ---- links that are none

def magic_links(pins, mount):
    """Those of /proc lead to what only the kernel could open: here they are text."""
    reader, writer = os.pipe()
    proc = mount(f"/proc/{os.getpid()}")
    link = proc / f"fd/{reader}"
    checks.check(f"{pins.mode}: the text of a link to a pipe",
                 os.readlink(link).startswith("pipe:"), os.readlink(link))
    pins.pin("a pipe opened by its link", error(opened, link, os.O_RDONLY | os.O_NONBLOCK),
             "ENOENT", "opened")
    with tempfile.TemporaryFile() as f:
        f.write(b"content")
        pins.pin("a deleted file opened by its link", error(opened, proc / f"fd/{f.fileno()}"),
                 "ENOENT", "opened")
    checks.equal(f"{pins.mode}: a directory by its link", os.stat(proc / "cwd").st_ino,
                 os.stat(".").st_ino)
    os.close(reader)
    os.close(writer)


def absolute_links(pins, native, mounted):
    """They lead out of the mount, as those of any tree that is shown at another place."""
    (native / "absolute").symlink_to(native / "f")
    (native / "relative").symlink_to("f")
    checks.equal(f"{pins.mode}: an absolute link leads outside",
                 os.stat(mounted / "absolute").st_dev, os.stat(native / "f").st_dev)
    checks.equal(f"{pins.mode}: a relative one stays inside",
                 os.stat(mounted / "relative").st_dev, os.stat(mounted / "f").st_dev)


# ---- all that

def in_mode(mode, options, base, native):
    fidelity = options[1]
    pins = Pins(mode)
    top = base / mode
    top.mkdir()
    with Mount(*options) as mount:
        mount.base.chmod(0o755)
        compare_lines(pins, fidelity, native["ext4"], lines(mount(top / "calls"), *SECTIONS))
        for name, sections in (("xfs", ("clones", "many_names")), ("tmpfs", ("no_room",))):
            if name in native:
                compare_lines(pins, fidelity, native[name],
                              lines(mount(base / name / mode), *sections))
        if "xfs" in native:
            programs_without_clones(f"{mode}, xfs", mount(base / "xfs" / mode))
        programs_without_clones(mode, mount(top / "no clones"))
        programs_without_ranges(mode, mount(top / "no ranges"))
        (top / "both").mkdir()
        sides = top / "both", mount(top / "both")
        across(pins, *sides)
        running(pins, *sides)
        leases(pins, *sides)
        watching(pins, *sides)
        mapped_on_both_sides(pins, fidelity, *sides)
        capabilities(pins, fidelity, sides[1])
        absolute_links(pins, *sides)
        remounts(pins, mount, *sides)
        overlays(pins, base, *sides)
        flags_of_mounts(pins, *sides)
        reserved_blocks(pins, *sides)
        one_device(pins, *sides)
        taken_away(pins, *sides)
        magic_links(pins, mount)
        mount.unmount()
        complete(checks, mode, mount)
    wanted = {what for what in pinned_lines(fidelity) if what.split(":")[0] in SECTIONS}
    checks.equal(f"{mode}: lines that were not printed", wanted - pins.known, set())


base = pathlib.Path(tempfile.mkdtemp(prefix="ftrac-case-"))
base.chmod(0o755)
native = {"ext4": lines(base / "calls", *SECTIONS)}
with OtherFs(base / "tmpfs", "tmpfs", "size=1m") as small:
    native["tmpfs"] = lines(small / "calls", "no_room")
    shutil.rmtree(small / "calls")
    if shutil.which("mkfs.xfs") and "\txfs\n" in pathlib.Path("/proc/filesystems").read_text():
        shared = OtherFs(base / "xfs", "xfs", size=320)
        with shared:
            native["xfs"] = lines(base / "xfs/calls", "clones", "many_names")
            for mode, options in modes(sys.argv[1:]):
                in_mode(mode, options, base, native)
    else:
        print("clones: no xfs here")
        for mode, options in modes(sys.argv[1:]):
            in_mode(mode, options, base, native)
shutil.rmtree(base)
checks.end()
