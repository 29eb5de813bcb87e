#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# serial: sets fs.protected_* of the machine
# seconds: 20
# long: --long
"""A mount of root lets no user read or do what the file system itself would refuse.

Two ordinary users do everything that can be done to files of each other, of root and of their own, in
directories of all sorts, natively and through the mount: each call gives the same result, and what there
is afterwards is the same, owners and modes included; in each fidelity, with and without fs.protected_*.
"""
import array
import contextlib
import ctypes
import errno
import fcntl
import mmap
import os
import pathlib
import shutil
import signal
import stat
import struct
import subprocess
import tempfile
import threading
import time

import sides
from ftractest import WORK, Checks, Mount, fidelities, need_fuse, protections, skip
from sample import some
from sides import LIBC, compare, in_child, picture, result, same_picture

need_fuse()
if os.geteuid() != 0:
    skip("only root can act for several users")
checks = Checks()
os.umask(0)
ANN, BOB = 65530, 65531
USERS = {"ann": ANN, "bob": BOB}
CAPABILITY = struct.pack("<IIIII", 0x02000001, 1 << 10, 0, 0, 0)
ACL = struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *e) for e in (
    (1, 7, 2**32 - 1), (2, 7, BOB), (4, 5, 2**32 - 1), (16, 7, 2**32 - 1), (32, 0, 2**32 - 1)))
AT_FDCWD, EMPTY_PATH, EACCESS, FOLLOW = -100, 0x1000, 0x200, 0x400
NOREPLACE, EXCHANGE, WHITEOUT = 1, 2, 4


def call(function, *arguments):
    """Of the C library, by its name."""
    if getattr(LIBC, function)(*(os.fsencode(a) if isinstance(a, str) else a for a in arguments)) < 0:
        raise OSError(ctypes.get_errno(), function)


# ---- what there is: directories, and in each of them one of every kind for every operation

PLACES = {  # mode, owner
    "of root": (0o755, 0), "for all": (0o777, 0), "sticky": (0o1777, 0), "sticky of ann": (0o1777, ANN),
    "of ann": (0o755, ANN), "private of ann": (0o700, ANN), "of ann to be searched": (0o711, ANN),
    "of ann to be read": (0o744, ANN), "of ann, setgid": (0o2777, ANN),
}

FOR_OTHERS = {place: of for place, of in PLACES.items() if of[0] & 0o002}
SOME = FOR_OTHERS | {place: PLACES[place] for place in ("private of ann", "of ann to be searched")}


def put(path, mode, uid):
    os.chown(path, uid, uid, follow_symlinks=False)
    if not os.path.islink(path):
        os.chmod(path, mode)


def make_file(path, mode, uid):
    with open(path, "wb") as f:
        f.write(b"of a user\n")
    put(path, mode, uid)


def make_program(path, mode, uid):
    shutil.copy(WORK / "ids", path)
    put(path, mode, uid)


def make_dir(path, mode, uid):
    os.mkdir(path)
    make_file(f"{path}/inside", 0o644, uid)
    put(path, mode, uid)


def make_link(path, _, uid):
    os.symlink(f"../target of {dict(zip((0, ANN, BOB), ('root', 'ann', 'bob')))[uid]}", path)
    put(path, 0, uid)


def make_fifo(path, mode, uid):
    os.mkfifo(path)
    put(path, mode, uid)


def make_null(path, mode, uid):
    os.mknod(path, stat.S_IFCHR | mode, os.makedev(1, 3))
    put(path, mode, uid)


KINDS = {
    "file 600 of ann": (make_file, 0o600, ANN), "file 644 of ann": (make_file, 0o644, ANN),
    "file 666 of ann": (make_file, 0o666, ANN), "file 622 of ann": (make_file, 0o622, ANN),
    "file 600 of root": (make_file, 0o600, 0), "file 644 of root": (make_file, 0o644, 0),
    "file 666 of root": (make_file, 0o666, 0), "suid file 6777 of root": (make_file, 0o6777, 0),
    "directory 755 of ann": (make_dir, 0o755, ANN), "directory 700 of root": (make_dir, 0o700, 0),
    "directory 1777 of root": (make_dir, 0o1777, 0), "link of ann": (make_link, 0, ANN),
    "link of bob": (make_link, 0, BOB), "link of root": (make_link, 0, 0),
    "fifo 666 of ann": (make_fifo, 0o666, ANN), "fifo 666 of root": (make_fifo, 0o666, 0),
    "null device 666": (make_null, 0o666, 0), "null device 600 of ann": (make_null, 0o600, ANN),
    "nothing": (lambda *_: None, 0, 0),
}
PROGRAMS = {f"program {mode:o} of {name}": (make_program, mode, uid) for name, uid in
            (("root", 0), ("ann", ANN)) for mode in (0o755, 0o700, 0o4755, 0o2755, 0o6711, 0o644)}


# ---- what is done

def opened(flags, then=lambda fd: None):
    def work(path):
        fd = os.open(path, flags | os.O_NONBLOCK, 0o666)
        try:
            return then(fd)
        finally:
            os.close(fd)
    return work


def short(st):
    return stat.filemode(st.st_mode), st.st_uid, st.st_gid, st.st_rdev


def beside(path, name="new"):
    return f"{path} {name}"


def own(path, name):
    """A file of the caller, in a directory of its own."""
    top, place, what = path.rsplit("/", 2)
    made = f"{top}/own {os.getuid()}/{place}, {what} {name}"
    os.close(os.open(made, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644))
    return made


def tmpfile(path):
    fd = os.open(os.path.dirname(path), os.O_TMPFILE | os.O_RDWR, 0o6666)
    try:
        call("linkat", AT_FDCWD, f"/proc/self/fd/{fd}", AT_FDCWD, beside(path), FOLLOW)
        return short(os.stat(beside(path)))
    finally:
        os.close(fd)


def made(make):
    def work(path):
        make(beside(path))
        return short(os.lstat(beside(path)))
    return work


def mapped(fd):
    if os.fstat(fd).st_size > 3:
        with mmap.mmap(fd, 4) as m:
            m[:2] = b"xy"


def copy(fd):
    to = os.memfd_create("x")
    try:
        os.copy_file_range(fd, to, 5)
    finally:
        os.close(to)


def lock(fd):
    fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)


def set_flags(fd):
    flags = array.array("i", [0])
    fcntl.ioctl(fd, 0x80086601, flags)
    flags[0] |= 0x40  # no dump
    fcntl.ioctl(fd, 0x40086602, flags)


def rename2(flags):
    return lambda path: call("renameat2", AT_FDCWD, path, AT_FDCWD, beside(path), flags)


RW, CREATE = os.O_RDWR, os.O_RDWR | os.O_CREAT
OPERATIONS = {
    "stat": lambda path: short(os.stat(path)), "lstat": lambda path: short(os.lstat(path)),
    "readlink": os.readlink, "statfs": lambda path: os.statvfs(path).f_namemax,
    "list": lambda path: sorted(os.listdir(path)), "look inside": lambda path: short(os.stat(f"{path}/inside")),
    "chdir": os.chdir,
    "read": opened(os.O_RDONLY, lambda fd: os.read(fd, 50)), "write": opened(os.O_WRONLY, lambda fd: os.write(fd, b"x")),
    "append": opened(os.O_WRONLY | os.O_APPEND, lambda fd: os.write(fd, b"x")),
    "read and write": opened(RW, lambda fd: os.pread(fd, 5, 0)),
    "O_TRUNC": opened(os.O_WRONLY | os.O_TRUNC), "O_RDONLY O_TRUNC": opened(os.O_TRUNC),
    "O_CREAT": opened(CREATE, lambda fd: short(os.fstat(fd))),
    "O_CREAT O_RDONLY": opened(os.O_CREAT, lambda fd: short(os.fstat(fd))),
    "O_CREAT O_TRUNC": opened(CREATE | os.O_TRUNC, lambda fd: os.write(fd, b"x")),
    "O_CREAT O_EXCL": opened(CREATE | os.O_EXCL, lambda fd: short(os.fstat(fd))),
    "O_NOFOLLOW": opened(os.O_NOFOLLOW, lambda fd: short(os.fstat(fd))),
    "O_PATH": opened(os.O_PATH, lambda fd: short(os.fstat(fd))),
    "O_PATH, then read": opened(os.O_PATH, lambda fd: opened(os.O_RDONLY, lambda fd: os.read(fd, 5))(f"/proc/self/fd/{fd}")),
    "O_NOATIME": opened(os.O_NOATIME), "O_DIRECTORY": opened(os.O_DIRECTORY),
    "O_TMPFILE and link": tmpfile,
    "fsync": opened(os.O_RDONLY, os.fsync), "lseek": opened(os.O_RDONLY, lambda fd: os.lseek(fd, 3, os.SEEK_SET)),
    "map to write": opened(RW, mapped), "flock": opened(os.O_RDONLY, lambda fd: fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)),
    "lock": opened(RW, lock), "fallocate": opened(os.O_WRONLY, lambda fd: os.posix_fallocate(fd, 0, 5000)),
    "copy_file_range": opened(os.O_RDONLY, copy),
    "get flags": opened(os.O_RDONLY, lambda fd: fcntl.ioctl(fd, 0x80086601, array.array("i", [0]))),
    "set flags": opened(os.O_RDONLY, set_flags), "truncate": lambda path: os.truncate(path, 3),
    "chmod": lambda path: os.chmod(path, 0o777), "chmod 6755": lambda path: os.chmod(path, 0o6755),
    "fchmod": opened(os.O_RDONLY, lambda fd: os.fchmod(fd, 0o600)),
    "chown to ann": lambda path: os.chown(path, ANN, -1), "chown to bob": lambda path: os.lchown(path, BOB, BOB),
    "chown to root": lambda path: os.chown(path, 0, 0), "chgrp": lambda path: os.chown(path, -1, os.getgid()),
    "chown of nothing": lambda path: os.chown(path, -1, -1),
    "utime": lambda path: os.utime(path, (1000, 2000)), "utime now": os.utime,
    "utime of links": lambda path: os.utime(path, (1000, 2000), follow_symlinks=False),
    "setxattr user": lambda path: os.setxattr(path, "user.a", b"b"),
    "setxattr trusted": lambda path: os.setxattr(path, "trusted.a", b"b"),
    "setxattr security": lambda path: os.setxattr(path, "security.capability", CAPABILITY),
    "setxattr security of no module": lambda path: os.setxattr(path, "security.x", b"b"),
    "getxattr": lambda path: os.getxattr(path, "user.there"), "getxattr trusted": lambda path: os.getxattr(path, "trusted.there"),
    "listxattr": lambda path: sorted(os.listxattr(path)), "removexattr": lambda path: os.removexattr(path, "user.there"),
    "removexattr trusted": lambda path: os.removexattr(path, "trusted.there"),
    "set ACL": lambda path: os.setxattr(path, "system.posix_acl_access", ACL),
    "set default ACL": lambda path: os.setxattr(path, "system.posix_acl_default", ACL),
    "get ACL": lambda path: os.getxattr(path, "system.posix_acl_access"),
    "access": lambda path: [result(call, "faccessat", AT_FDCWD, path, how, flags)
                            for how in (0, 1, 2, 4, 6) for flags in (0, EACCESS)],
    "mkdir": os.mkdir, "mkdir beside": made(os.mkdir), "mkdir inside": lambda path: os.mkdir(f"{path}/d"),
    "create inside": lambda path: opened(CREATE, lambda fd: short(os.fstat(fd)))(f"{path}/new"),
    "mkfifo": made(os.mkfifo), "mknod file": made(lambda path: os.mknod(path, stat.S_IFREG | 0o6666)),
    "mknod device": made(lambda path: os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 3))),
    "mknod whiteout": made(lambda path: os.mknod(path, stat.S_IFCHR, 0)),
    "symlink": made(lambda path: os.symlink("x", path)),
    "link": lambda path: os.link(path, beside(path), follow_symlinks=False),
    "link what it leads to": lambda path: call("linkat", AT_FDCWD, path, AT_FDCWD, beside(path), FOLLOW),
    "link a descriptor": lambda path: opened(os.O_PATH, lambda fd: call(
        "linkat", fd, "", AT_FDCWD, beside(path), EMPTY_PATH))(path),
    "link from outside": lambda path: os.link(own(path, "linked"), beside(path)),
    "unlink": os.unlink, "unlink inside": lambda path: os.unlink(f"{path}/inside"), "rmdir": os.rmdir,
    "rename": lambda path: os.rename(path, beside(path)), "rename without replacing": rename2(NOREPLACE),
    "rename leaving a whiteout": rename2(WHITEOUT),
    "rename away": lambda path: os.rename(path, own(path, "away")),
    "rename onto it": lambda path: os.rename(own(path, "onto"), path),
    "rename inside": lambda path: os.rename(own(path, "into"), f"{path}/inside"),
    "exchange": lambda path: call("renameat2", AT_FDCWD, own(path, "other"), AT_FDCWD, path, EXCHANGE),
}


def execute(path):
    done = subprocess.run([path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return done.returncode, done.stdout


def as_user(uid, work, *arguments):
    return in_child(result, work, *arguments, user=(uid, uid, ()), umask=0o022)


def table(places):
    """Of the places, or of a sample: seven operations of eight are left out."""
    every = [(place, kind, operation, do) for place in places for kind in KINDS for operation, do in OPERATIONS.items()]
    return some(every, 16) + [(place, kind, "execute", execute) for place in places for kind in PROGRAMS]


def add_attributes(path):
    if os.path.isfile(path) and not os.path.islink(path):
        os.setxattr(path, "user.there", b"x")
        os.setxattr(path, "trusted.there", b"x")


def make(top, places, chosen):
    os.mkdir(top)
    put(top, 0o755, 0)
    for uid in USERS.values():
        os.mkdir(f"{top}/own {uid}")
        put(f"{top}/own {uid}", 0o755, uid)
    for name, uid in dict(USERS, root=0).items():
        make_file(f"{top}/target of {name}", 0o666, uid)
    for place in places:
        os.mkdir(f"{top}/{place}")
    for place, kind, operation, _ in chosen:
        maker, mode, uid = (KINDS | PROGRAMS)[kind]
        path = f"{top}/{place}/{kind}, {operation}"
        maker(path, mode, uid)
        add_attributes(path)
    for place, (mode, uid) in places.items():
        put(f"{top}/{place}", mode, uid)


def work(top, chosen):
    found = {}
    os.chdir("/")
    for place, kind, operation, do in chosen:
        found[place, kind, operation] = result(do, f"{top}/{place}/{kind}, {operation}")
        if operation == "chdir":
            os.chdir("/")
    return found


def check_table(what, mount, protected, users, places):
    """Each has directories of its own: if a name is removed outside the mount, the kernel remembers its file for 1 s."""
    for user, uid in users.items():
        native, through = (str(mount.base / f"{name} {protected} {user}") for name in ("native", "through"))
        chosen = table(places)
        make(native, places, chosen)
        make(through, places, chosen)
        fact = f"{what}, {protected}, {user}"
        wanted, got = as_user(uid, work, native, chosen), as_user(uid, work, str(mount(through)), chosen)
        compare(checks, f"{fact}: results", got, wanted)
        allowed = sum(not isinstance(said, int) or said >= 0 for said in wanted.values())
        left = picture(native)
        same_picture(checks, f"{fact}: what there is", picture(through), left)
        same_picture(checks, f"{fact}: what the mount shows", picture(str(mount(through))), left)
        print(f"{fact}: {len(wanted)} operations, {allowed} allowed; {len(left)} files left", flush=True)
        shutil.rmtree(native)
        shutil.rmtree(through)


# ---- what is no matter of names and modes

PROC = ("environ", "maps", "mem", "io", "auxv", "cmdline", "stat", "status", "syscall", "stack", "wchan",
        "pagemap", "smaps", "personality", "limits", "mountinfo")
LINKS = "exe", "cwd", "root", "fd/0", "ns/mnt"
SAID = "environ", "cmdline", "auxv"


def look_at_process(top, pid):
    found = {}
    for name in PROC:
        path = f"{top}/proc/{pid}/{name}"
        said = result(opened(os.O_RDONLY, lambda fd: os.read(fd, 4000)), path)
        found[name] = said if name in SAID or isinstance(said, int) else "it can be read"
    for name in LINKS:
        found[name] = result(os.readlink, f"{top}/proc/{pid}/{name}")
    found["fd"] = result(lambda: sorted(os.listdir(f"{top}/proc/{pid}/fd")))
    found["kill by oom_score_adj"] = result(sides.say, f"{top}/proc/{pid}/oom_score_adj", "-500\n")
    found["clear_refs"] = result(sides.say, f"{top}/proc/{pid}/clear_refs", "1\n")
    return found


def sleeper(uid):
    pid = os.fork()
    if pid == 0:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
        os.execve("/bin/sleep", ["sleep", "1000"], {"SECRET": f"of {uid}"})
    while open(f"/proc/{pid}/comm").read() != "sleep\n":
        time.sleep(0.01)
    return pid


def check_processes(what, mount):
    pids = {name: sleeper(uid) for name, uid in dict(USERS, root=0).items()}
    pids["the daemon"] = mount.pid
    for user, uid in USERS.items():
        for owner, pid in pids.items():
            compare(checks, f"{what}: /proc of {owner}, for {user}", as_user(
                uid, look_at_process, str(mount.mnt), pid), as_user(uid, look_at_process, "", pid))
    for name in USERS.keys() | {"root"}:
        os.kill(pids[name], signal.SIGKILL)
        os.waitpid(pids[name], 0)


def check_held(what, mount):
    """A process in a directory, or with a file open, keeps it when it is closed to others."""
    def work(top, side):
        os.chdir(f"{top}/{side}")
        fd, directory = os.open("file", os.O_RDONLY), os.open(".", os.O_RDONLY)
        os.write(ready, b"x")
        os.read(closed, 1)
        return [result(os.read, fd, 20), result(os.listdir, directory), result(os.open, "file", os.O_RDONLY),
                result(os.stat, "file"), result(os.open, "new", CREATE), result(os.listdir, "."),
                result(os.open, f"/proc/self/fd/{fd}", RW), result(os.fchmod, fd, 0o777),
                result(os.stat, "..") and None]
    said = {}
    for side, top in ("held", base), ("held too", mount(base)):
        os.mkdir(base / side)
        make_file(base / side / "file", 0o644, 0)
        (is_ready, ready), (closed, close_now) = os.pipe(), os.pipe()

        def close():
            os.read(is_ready, 1)
            os.chmod(base / side / "file", 0o600)
            os.chmod(base / side, 0o700)
            mount(base / side).stat()
            time.sleep(1.1)  # what the kernel remembers of the source
            os.write(close_now, b"x")
        closer = threading.Thread(target=close, daemon=True)
        closer.start()
        said[side] = as_user(BOB, work, str(top), side)
        for fd in is_ready, ready, closed, close_now:
            os.close(fd)
        shutil.rmtree(base / side)
    checks.check(f"{what}: something is held", isinstance(said["held"], list), said["held"])
    checks.equal(f"{what}: what is held", said["held too"], said["held"])


def check_locks(what, mount):
    """A lock of one user is one for the other, and a user cannot lock what the user may not open."""
    make_file(base / "locked", 0o666, ANN)
    for top in base, mount(base):
        fd = os.open(top / "locked", RW)
        fcntl.lockf(fd, fcntl.LOCK_EX)
        checks.equal(f"{what}: a lock of another process", as_user(BOB, OPERATIONS["lock"], str(top / "locked")),
                     -errno.EAGAIN)
        os.close(fd)
    os.unlink(base / "locked")


def check_swapped(what, mount):
    """What a name in a sticky directory leads to by now is judged, not what the mount remembers of it."""
    acts = {"unlink": lambda top: os.unlink(f"{top}/a"), "rename away": lambda top: os.rename(f"{top}/a", f"{top}/b"),
            "rename to elsewhere": lambda top: os.rename(f"{top}/a", f"{mount(base)}/own {BOB}/a"),
            "rename onto it": lambda top: os.rename(f"{top}/mine", f"{top}/a"), "exchange": lambda top: call(
                "renameat2", AT_FDCWD, f"{top}/a", AT_FDCWD, f"{top}/mine", EXCHANGE)}
    os.mkdir(base / f"own {BOB}")
    put(base / f"own {BOB}", 0o755, BOB)

    def remember(place):
        make_file(place / "a", 0o666, BOB)
        make_file(place / "mine", 0o666, BOB)
        os.stat(mount(place) / "a")
        os.unlink(place / "a")
        return "remembered"
    for act, do in acts.items():
        place = base / f"swapped, {what}, {act}"
        os.mkdir(place)
        put(place, 0o1777, 0)
        checks.equal(f"{what}: {act}", as_user(BOB, remember, place), "remembered")
        make_file(place / "a", 0o666, ANN)
        mine = os.stat(place / "a").st_ino
        checks.equal(f"{what}: {act} of what has become another's", as_user(BOB, result, do, str(mount(place))),
                     -errno.EPERM)
        checks.equal(f"{what}: {act}: it is there", os.stat(place / "a").st_ino, mine)
        shutil.rmtree(place)
    os.rmdir(base / f"own {BOB}")


def fill(path):
    fd, n = os.open(path, CREATE), 0
    try:
        while n < 50 and result(os.write, fd, b"x" * (1 << 20)) == 1 << 20:
            n += 1
    finally:
        os.close(fd)
    return n


def reserve(path):
    fd, n = os.open(path, CREATE), 0
    try:
        while n < 50 and result(os.posix_fallocate, fd, n << 20, 1 << 20) is None:
            n += 1
    finally:
        os.close(fd)
    return n


def check_reserved(what, mount):
    """The space that ext4 keeps for root is not for others."""
    def megabytes(user, act):
        for _ in range(100):  # what was removed is free when it is forgotten
            opened(os.O_RDONLY, LIBC.syncfs)(base / "disk")
            free = os.statvfs(base / "disk")
            if free.f_bavail * free.f_frsize > 20 << 20:
                break
            time.sleep(0.1)
        got = as_user(user, act, str(mount(base / "disk" / "f"))) if user else act(str(mount(base / "disk" / "f")))
        os.unlink(mount(base / "disk" / "f"))
        return got, free.f_bavail * free.f_frsize >> 20, free.f_bfree * free.f_frsize >> 20
    for name, act in ("written", fill), ("allocated", reserve):
        got, for_all, for_root = megabytes(BOB, act)
        checks.check(f"{what}: what is for all can be {name}, and no more", for_all - 2 <= got <= for_all < for_root,
                     (got, for_all, for_root))
    got, for_all, for_root = megabytes(0, fill)
    checks.check(f"{what}: root has more", for_all + 2 < got <= for_root, (got, for_all, for_root))


@contextlib.contextmanager
def disk():
    """A file system a fifth of which is kept for root."""
    (base / "disk").mkdir()
    with open(base / "image", "wb") as f:
        f.truncate(40 << 20)
    subprocess.run(["mkfs.ext4", "-q", "-m", "20", base / "image"], check=True)
    subprocess.run(["mount", "-o", "loop", base / "image", base / "disk"], check=True)
    os.chmod(base / "disk", 0o1777)
    try:
        yield
    finally:
        subprocess.run(["umount", base / "disk"], check=True)


def check_options(what):
    """A mount that is to forbid suid programs and devices does."""
    make_program(base / "suid", 0o6755, 0)
    make_null(base / "null", 0o666, 0)
    for options, ids, null in (("suid,dev", [BOB, 0, BOB, 0], b""), ("nosuid,dev", [BOB] * 4, b""),
                               ("suid,nodev", [BOB, 0, BOB, 0], -errno.EACCES)):
        with Mount("-o", options, base=base) as mount:
            status, said = as_user(BOB, execute, str(mount(base / "suid")))
            checks.equal(f"{what}: -o {options}: its ids", (status, [int(n) for n in said.split()]), (0, ids))
            checks.equal(f"{what}: -o {options}: /dev/null", as_user(
                BOB, OPERATIONS["read"], str(mount(base / "null"))), null)
            mount.unmount()
        mount.db.unlink()


# ---- all of it

ON = {"symlinks": 1, "hardlinks": 1, "regular": 2, "fifos": 2}


base = pathlib.Path(tempfile.mkdtemp(prefix="ftrac-case-"))
base.chmod(0o755)
with disk(), protections(**ON):
    for fidelity in fidelities():
        with Mount("--fidelity", fidelity, base=base) as mount:
            check_table(fidelity, mount, "protected", USERS, PLACES if fidelity == "exact" else SOME)
            if fidelity == "exact":  # the kernel asks no file system about that
                with protections(**dict.fromkeys(ON, 0)):
                    check_table(fidelity, mount, "unprotected", {"bob": BOB}, FOR_OTHERS)
            check_processes(fidelity, mount)
            check_held(fidelity, mount)
            check_locks(fidelity, mount)
            check_swapped(fidelity, mount)
            check_reserved(fidelity, mount)
            mount.unmount()
            checks.equal(f"{fidelity}: nothing is lost", mount.fact("ops_lost"), 0)
        mount.db.unlink()
    check_options("exact")
shutil.rmtree(base)
checks.end()
