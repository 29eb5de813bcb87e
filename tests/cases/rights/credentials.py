#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 22
# long: --long
"""What ordinary users make, change and are refused is the same in the mount as without it.

Each user does the same things in a tree of the source and, through the mount, in a tree that was
made alike. What each call returned, what the user sees afterwards, and the owner, group, mode,
ACLs and capabilities of every file, as they are in the source and as the mount shows them, must
be equal.
"""
import errno
import mmap
import os
import pathlib
import shutil
import socket
import stat
import struct
import subprocess
import tempfile

from ftractest import WORK, Checks, Mount, need_fuse, skip
from sample import some
from sides import in_child

need_fuse()
if os.geteuid() != 0:
    skip("only root can act for several users")
checks = Checks()
os.umask(0)

TEAM = 5100
ANN, BOB, ROOT = (5001, 5001, (TEAM,)), (5002, 5002, ()), (0, 0, (0,))
USERS = {"ann, of the team,": ANN, "bob": BOB, "root": ROOT}
UMASKS = 0o000, 0o022, 0o077
PART = 4  # of a sample: one of so many combinations


# ---- ACLs and capabilities, as the kernel has them in extended attributes

ACL_TAGS = {"u": 1, "U": 2, "g": 4, "G": 8, "m": 16, "o": 32}


def acl(*entries):
    """Entries are ("u", 7) and the like; the named ones, "U" and "G", have an id in the end."""
    packed = [struct.pack("<HHI", ACL_TAGS[e[0]], e[1], e[2] if len(e) > 2 else 0xffffffff)
              for e in entries]
    return struct.pack("<I", 2) + b"".join(packed)


ACCESS, DEFAULT = "system.posix_acl_access", "system.posix_acl_default"
SHARED = acl(("u", 7), ("U", 7, ANN[0]), ("g", 5), ("G", 7, BOB[1]), ("m", 7), ("o", 0))
PLAIN = acl(("u", 7), ("g", 6), ("o", 1))
NOT_ANN = acl(("u", 7), ("U", 0, ANN[0]), ("g", 7), ("m", 7), ("o", 0))
ONLY_ANN = acl(("u", 7), ("U", 7, ANN[0]), ("g", 0), ("m", 7), ("o", 0))
CAPABILITY = struct.pack("<IIIII", 0x02000001, 1 << 10, 0, 0, 0)  # cap_net_bind_service

# ---- what a file or a tree looks like


def look(path):
    st = os.lstat(path)
    seen = [stat.filemode(st.st_mode), st.st_uid, st.st_gid, st.st_size if stat.S_ISREG(st.st_mode)
            else 0, st.st_rdev]
    if stat.S_ISREG(st.st_mode) or stat.S_ISDIR(st.st_mode):
        for name in ACCESS, DEFAULT, "security.capability":
            try:
                seen.append((name, os.getxattr(path, name)))
            except OSError as e:
                if e.errno not in (errno.ENODATA, errno.EOPNOTSUPP):
                    seen.append((name, errno.errorcode[e.errno]))
    return seen


def look_below(top):
    return {os.path.relpath(os.path.join(at, name), top): look(os.path.join(at, name))
            for at, dirs, files in os.walk(top) for name in dirs + files}


def tried(call, *arguments):
    """What it returned, or the name of the error."""
    try:
        return call(*arguments)
    except OSError as e:
        return errno.errorcode[e.errno]


def as_user(user, umask, work):
    return in_child(work, user=user, umask=umask)


# ---- making: in which directories (mode, owner, group, extended attributes)

DIRECTORIES = {
    "of root": (0o755, 0, 0, {}),
    "for all": (0o777, 0, 0, {}),
    "of ann": (0o755, *ANN[:2], {}),
    "of ann, group bob": (0o775, ANN[0], BOB[1], {}),
    "for the team": (0o770, 0, TEAM, {}),
    "for the team, setgid": (0o2770, 0, TEAM, {}),
    "for all, setgid team": (0o2777, 0, TEAM, {}),
    "for all, setgid bob": (0o2777, *BOB[:2], {}),
    "sticky": (0o1777, 0, 0, {}),
    "sticky, setgid, of bob": (0o3777, *BOB[:2], {}),
    "not for ann, by ACL": (0o770, 0, TEAM, {ACCESS: NOT_ANN}),
    "only for ann, by ACL": (0o700, 0, 0, {ACCESS: ONLY_ANN}),
    "default ACL": (0o777, 0, 0, {DEFAULT: SHARED}),
    "default ACL without names": (0o777, 0, 0, {DEFAULT: PLAIN}),
    "default ACL, setgid team": (0o2777, 0, TEAM, {DEFAULT: SHARED}),
}


def make_file(path, mode, flags=os.O_CREAT | os.O_WRONLY | os.O_EXCL):
    fd = os.open(path, flags, mode)
    seen = os.fstat(fd)
    os.close(fd)
    return stat.filemode(seen.st_mode), seen.st_uid, seen.st_gid


def make_tmpfile(path, mode, flags=0):
    directory = os.open(os.path.dirname(path), os.O_RDONLY)
    fd = os.open(os.path.dirname(path), os.O_TMPFILE | os.O_WRONLY | flags, mode)
    seen = stat.filemode(os.fstat(fd).st_mode), os.fstat(fd).st_uid, os.fstat(fd).st_gid
    try:  # with a descriptor of a directory, so that it is linkat(2) that follows
        os.link(f"/proc/self/fd/{fd}", path, src_dir_fd=directory)
    finally:
        os.close(fd)
        os.close(directory)
    return seen


def make_socket(path, _):
    directory = os.open(os.path.dirname(path), os.O_PATH)
    try:  # the path itself is too long for an address
        with socket.socket(socket.AF_UNIX) as s:
            s.bind(f"/proc/self/fd/{directory}/{os.path.basename(path)}")
    finally:
        os.close(directory)


def make_link_to(name):
    return lambda path, _: os.link(os.path.join(os.path.dirname(path), "..", name), path)


MAKERS = {
    "create": (make_file, (0o666, 0o600, 0o777, 0o2755, 0o2644, 0o4755, 0o6777, 0o1777)),
    "create, truncate": (lambda path, mode: make_file(
        path, mode, os.O_CREAT | os.O_TRUNC | os.O_RDWR), (0o666, 0o444, 0o000)),
    "mkdir": (os.mkdir, (0o777, 0o700, 0o2777, 0o1777)),
    "fifo": (lambda path, mode: os.mknod(path, stat.S_IFIFO | mode), (0o666, 0o2777)),
    "regular by mknod": (lambda path, mode: os.mknod(path, stat.S_IFREG | mode),
                         (0o666, 0o6777)),
    "whiteout": (lambda path, mode: os.mknod(path, stat.S_IFCHR | mode, 0), (0o666,)),
    "device": (lambda path, mode: os.mknod(path, stat.S_IFCHR | mode, os.makedev(1, 3)),
               (0o666,)),
    "symlink": (lambda path, _: os.symlink("some/where", path), (0,)),
    "socket": (make_socket, (0,)),
    "tmpfile and link": (make_tmpfile, (0o666, 0o755, 0o2755, 0o6777)),
    "exclusive tmpfile and link": (lambda path, mode: make_tmpfile(path, mode, os.O_EXCL),
                                   (0o666,)),
    "link to a file of ann": (make_link_to("ann.txt"), (0,)),
    "link to an unreadable file of root": (make_link_to("root.txt"), (0,)),
    "link to a suid file of root": (make_link_to("suid.txt"), (0,)),
    "rename of a file of ann over nothing": (lambda path, _: os.rename(os.path.join(
        os.path.dirname(path), "file of ann"), path), (0,)),
    "unlink of a file of ann": (lambda path, _: os.unlink(os.path.join(
        os.path.dirname(path), "second of ann")), (0,)),
    "unlink of a file of root": (lambda path, _: os.unlink(os.path.join(
        os.path.dirname(path), "file of root")), (0,)),
    "rmdir of a directory of bob": (lambda path, _: os.rmdir(os.path.join(
        os.path.dirname(path), "dir of bob")), (0,)),
    "creating over an existing file of ann": (lambda path, _: make_file(
        os.path.join(os.path.dirname(path), "third of ann"), 0o600, os.O_CREAT | os.O_RDWR), (0,)),
    "creating over a fifo of bob": (lambda path, _: make_file(
        os.path.join(os.path.dirname(path), "fifo of bob"), 0o600,
        os.O_CREAT | os.O_RDWR | os.O_NONBLOCK), (0,)),
}


def put(path, mode, uid, gid, attributes=()):
    """As root, natively; the mode last, since a change of owner takes bits away."""
    if not os.path.lexists(path):
        path.write_bytes(b"content of the file\n" * 10)
    os.chown(path, uid, gid)
    os.chmod(path, mode)
    for name, value in dict(attributes).items():
        os.setxattr(path, name, value)


def set_up_making(top):
    top.mkdir()
    put(top / "ann.txt", 0o644, *ANN[:2])
    put(top / "root.txt", 0o600, 0, 0)
    put(top / "suid.txt", 0o4755, 0, 0)
    for name, (mode, uid, gid, attributes) in DIRECTORIES.items():
        (top / name).mkdir()
        for file in "file of ann", "second of ann", "third of ann":
            put(top / name / file, 0o666, *ANN[:2])
        put(top / name / "file of root", 0o644, 0, 0)
        (top / name / "dir of bob").mkdir()
        os.mkfifo(top / name / "fifo of bob")
        for entry in "dir of bob", "fifo of bob":
            put(top / name / entry, 0o777, *BOB[:2])
        put(top / name, mode, uid, gid, attributes)


def what_to_make():
    return some(((directory, maker, mode) for directory in DIRECTORIES for maker in MAKERS
                 for mode in MAKERS[maker][1]), PART)


def make_all(top, chosen):
    results = {}
    for directory, maker, mode in chosen:
        name = f"{maker} {mode:o}"
        path = os.path.join(top, directory, name)
        result = tried(MAKERS[maker][0], path, mode)
        results[f"{name} in a directory {directory}"] = result, tried(look, path)
    return results


# ---- changing: which files (mode, owner, group, extended attributes), and what is done to them

# Not sgid without group execution, which once meant mandatory locks: see ftrac(1).
MODES = (0o644, 0o600, 0o666, 0o444, 0o4755, 0o2755, 0o6777)
OWNERS = {"ann": ANN[:2], "ann:team": (ANN[0], TEAM), "ann:bob": (ANN[0], BOB[1]),
          "root:team": (0, TEAM), "root:bob": (0, BOB[1]), "bob": BOB[:2], "root": (0, 0)}
MORE = {
    "capable": (0o777, 0, 0, {"security.capability": CAPABILITY}),
    "capable suid": (0o4777, *ANN[:2], {"security.capability": CAPABILITY}),
    "not for ann by ACL": (0o660, 0, TEAM, {ACCESS: NOT_ANN}),
    "only for ann by ACL": (0o600, 0, 0, {ACCESS: ONLY_ANN}),
    "setgid, of ann, with ACL": (0o2770, ANN[0], TEAM, {ACCESS: SHARED}),
    "setgid, of ann, group bob, with ACL": (0o2770, ANN[0], BOB[1], {ACCESS: SHARED}),
}


def opened(flags, use=lambda fd: None):
    def work(path):
        fd = os.open(path, flags)
        try:
            result = use(fd)
            st = os.fstat(fd)
            return result, stat.filemode(st.st_mode), st.st_uid, st.st_gid, st.st_size
        finally:
            os.close(fd)
    return work


def map_and_write(fd):
    with mmap.mmap(fd, 20) as m:
        m[:4] = b"news"
        m.flush()


def copy_within(fd):
    return os.copy_file_range(fd, fd, 10, 100, 0)


# chown(-1, -1) is not among them: the kernel does not tell FUSE of it, and lets all have their way.
CHANGES = {
    "read": opened(os.O_RDONLY, lambda fd: os.read(fd, 10)),
    "write": opened(os.O_WRONLY, lambda fd: os.write(fd, b"x")),
    "write nothing": opened(os.O_WRONLY, lambda fd: os.write(fd, b"")),
    "read and write": opened(os.O_RDWR, lambda fd: (os.read(fd, 5), os.pwrite(fd, b"y" * 5000, 3))),
    "append": opened(os.O_WRONLY | os.O_APPEND, lambda fd: os.write(fd, b"more")),
    "map and write": opened(os.O_RDWR, map_and_write),
    "ftruncate": opened(os.O_WRONLY, lambda fd: os.ftruncate(fd, 5)),
    "ftruncate to the same": opened(os.O_WRONLY, lambda fd: os.ftruncate(fd, 200)),
    "ftruncate to more": opened(os.O_WRONLY, lambda fd: os.ftruncate(fd, 5000)),
    "fallocate": opened(os.O_WRONLY, lambda fd: os.posix_fallocate(fd, 0, 5000)),
    "copy_file_range": opened(os.O_RDWR, copy_within),
    "truncate": lambda path: os.truncate(path, 7),
    "truncate to nothing": lambda path: os.truncate(path, 0),
    "O_TRUNC": opened(os.O_WRONLY | os.O_TRUNC),
    "O_TRUNC for reading": opened(os.O_RDONLY | os.O_TRUNC),
    "O_CREAT": opened(os.O_WRONLY | os.O_CREAT),
    "O_CREAT O_TRUNC": opened(os.O_RDWR | os.O_CREAT | os.O_TRUNC, lambda fd: os.write(fd, b"z")),
    "O_CREAT O_EXCL": opened(os.O_RDWR | os.O_CREAT | os.O_EXCL),
    "O_PATH": opened(os.O_PATH),
    "O_NOATIME": opened(os.O_RDONLY | os.O_NOATIME, lambda fd: os.read(fd, 5)),
    "access": lambda path: [os.access(path, how) for how in (os.R_OK, os.W_OK, os.X_OK)],
    "chmod 600": lambda path: os.chmod(path, 0o600),
    "chmod 755": lambda path: os.chmod(path, 0o755),
    "chmod 2755": lambda path: os.chmod(path, 0o2755),
    "chmod 4755": lambda path: os.chmod(path, 0o4755),
    "chmod 6777": lambda path: os.chmod(path, 0o6777),
    "chmod 1644": lambda path: os.chmod(path, 0o1644),
    "fchmod 2777": opened(os.O_RDONLY, lambda fd: os.fchmod(fd, 0o2777)),
    "chown to ann": lambda path: os.chown(path, ANN[0], -1),
    "chown to bob": lambda path: os.chown(path, BOB[0], BOB[1]),
    "chgrp team": lambda path: os.chown(path, -1, TEAM),
    "chgrp bob": lambda path: os.chown(path, -1, BOB[1]),
    "fchown": opened(os.O_RDONLY, lambda fd: os.fchown(fd, ANN[0], TEAM)),
    "utimens": lambda path: os.utime(path, (1000, 2000)),
    "utimens of now": os.utime,
    "setxattr": lambda path: os.setxattr(path, "user.a", b"b"),
    "setxattr of the trusted": lambda path: os.setxattr(path, "trusted.a", b"b"),
    "setxattr of a capability": lambda path: os.setxattr(path, "security.capability", CAPABILITY),
    "remove the capability": lambda path: os.removexattr(path, "security.capability"),
    "getxattr": lambda path: os.getxattr(path, "user.nothing"),
    "set an ACL": lambda path: os.setxattr(path, ACCESS, SHARED),
    "set an ACL without names": lambda path: os.setxattr(path, ACCESS, PLAIN),
    "set a default ACL": lambda path: os.setxattr(path, DEFAULT, SHARED),
    "remove the ACL": lambda path: os.removexattr(path, ACCESS),
    "unlink": os.unlink,
    "rename": lambda path: os.rename(path, f"{path} again"),
    "link": lambda path: os.link(path, f"{path} too"),
    "execute": lambda path: subprocess.run([path], stderr=subprocess.DEVNULL).returncode,
}
EXECUTED = ("execute",)  # slow: not for every file
OF_DIRECTORIES = [name for name in CHANGES if name.startswith((
    "ch", "access", "utimens", "setxattr", "set ", "remove", "fchown", "fchmod", "rename"))]


def changed_files():
    for owner, (uid, gid) in OWNERS.items():
        for mode in MODES:
            yield f"{mode:o} of {owner}", mode, uid, gid, {}
    for name, (mode, uid, gid, attributes) in MORE.items():
        yield name, mode, uid, gid, attributes


def changes_of(kind, attributes):
    if kind == "directory":
        return OF_DIRECTORIES
    if "security.capability" in attributes:  # a mapping that is written back is a write: see ftrac(1)
        return [name for name in CHANGES if name not in (*EXECUTED, "map and write")]
    return [name for name in CHANGES if name not in EXECUTED]


def what_to_change():
    return some(((kind, change, of) for kind in ("file", "directory") for of in changed_files()
                 if kind == "file" or "security.capability" not in of[-1]
                 for change in changes_of(kind, of[-1])), PART)


def set_up_changing(top, chosen):
    top.mkdir()
    for kind, change, (name, mode, uid, gid, attributes) in chosen:
        below = top / f"{kind} {name}"
        below.mkdir(exist_ok=True)
        if kind == "directory":
            (below / change).mkdir()
        put(below / change, mode, uid, gid, attributes)


def change_all(top):
    results = {}
    for below in sorted(os.listdir(top)):
        for change in sorted(os.listdir(os.path.join(top, below))):
            path = os.path.join(top, below, change)
            before = tried(look, path)
            result = tried(CHANGES[change], path)
            results[f"{change}, {below}"] = before, result, tried(look, path)
    return results


# ---- the comparison


def compare(what, native, through):
    """Two dictionaries; how many keys there were."""
    checks.equal(f"{what}: the same names", sorted(native.keys() ^ through.keys()), [])
    for key in native.keys() & through.keys():
        checks.equal(f"{what}: {key}", through[key], native[key])
    return len(native)


def run(kind, name, user, umask, set_up, work):
    """In one tree natively, in one of its own in the mount."""
    native, through = base / f"{name} natively", base / f"{name} through"
    set_up(native)
    set_up(through)
    wanted = as_user(user, umask, lambda: work(str(native)))
    got = as_user(user, umask, lambda: work(str(mount(through))))
    n = compare(f"{kind}, {name}: what the user saw", wanted, got)
    left = look_below(native)
    compare(f"{kind}, {name}: what there is", left, look_below(through))
    compare(f"{kind}, {name}: what the mount shows", left, look_below(mount(through)))
    shutil.rmtree(native)
    shutil.rmtree(through)
    return n


def run_programs(kind, name, user):
    """With suid and sgid bits, and with rights to execute only."""
    n = 0
    for mode in 0o755, 0o711, 0o700, 0o644, 0o4755, 0o2755, 0o6755, 0o2745, 0o4700:
        for owner, (uid, gid) in OWNERS.items():
            program = base / f"{n}"
            shutil.copy(WORK / "ids", program)
            put(program, mode, uid, gid)
            wanted, got = (as_user(user, 0o022, lambda: tried(
                lambda: subprocess.run([path], stdout=subprocess.PIPE).stdout))
                for path in (str(program), str(mount(program))))
            checks.equal(f"{kind}: {name} runs {mode:o} of {owner}", got, wanted)
            program.unlink()
            n += 1
    return n


base = pathlib.Path(tempfile.mkdtemp(prefix="ftrac-case-"))
base.chmod(0o755)
try:
    os.setxattr(base, DEFAULT, SHARED)
    os.removexattr(base, DEFAULT)
except OSError:
    skip(f"the file system of {base.parent} has no ACLs")
combinations = 0
for fidelity in "exact", "cached":
    for name, user in USERS.items():
        # One mount for each: the kernel keeps the names of thousands of files.
        with Mount("--fidelity", fidelity, base=base) as mount:
            for umask in UMASKS:
                made = what_to_make()
                combinations += run(fidelity, f"{name} umask {umask:03o}", user, umask,
                                    set_up_making, lambda top, made=made: make_all(top, made))
            changed = what_to_change()
            combinations += run(fidelity, f"{name} changing", user, 0o022,
                                lambda top, changed=changed: set_up_changing(top, changed), change_all)
            combinations += run_programs(fidelity, name, user)
            mount.unmount()
            checks.equal(f"{fidelity}, {name}: nothing is lost", mount.fact("ops_lost"), 0)
        mount.db.unlink()
shutil.rmtree(base)
print(f"{combinations} combinations of users, files and calls compared")
checks.end()
