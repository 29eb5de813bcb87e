#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 23
# long: --long
"""What regression suites of file systems look at: done natively and through the mount, with the
same results.

regressions.py [--long] [MODE...]   MODE is a fidelity (default: all), or 'exact with --stat'.

The programs tests/work/regress_*.c print what single calls return; the subjects below are those
for which several users, mounts or programs are needed.
"""
import ctypes
import fcntl
import mmap
import os
import pathlib
import shutil
import socket
import stat
import struct
import subprocess
import sys
import tempfile
import time

from filesystems import MS_BIND, MS_RDONLY, MS_REMOUNT, OtherFs, mount_fs
from ftractest import WORK, Checks, Mount, complete, modes, need_fuse
from sample import LONG, one, some
from sides import LIBC, STUCK, Emitter, as_user, in_child, same_lines

need_fuse()
checks = Checks()
os.umask(0o022)
WANTED = sys.argv[1:]

# Not done once more with --stat, unless --long is given.
SLOW = "mounts_on_it", "other_engines", "several_file_systems"
# The kernel writes by itself: a program cannot wait for the space of what was removed just now.
NOT_AT_ONCE = ("space_is_free_at_once",)

PROGRAMS = "regress_attr", "regress_io", "regress_lock", "regress_map", "regress_names"
# What FUSE cannot do in a fidelity: sections that cannot.py looks at instead.
# neighbours: a store and a write in one page at the same time.
ELSEWHERE = {"exact": ("neighbours: ",), "exact with --stat": ("neighbours: ",),
             "cached": ("no_atime_later: ", "neighbours: "),
             **dict.fromkeys(("open", "call"), ("append_later: ", "no_atime_later: "))}

# What other kinds of source answer otherwise than ext4.
OF_OTHER_FS = {"regress_attr": ("many_extended", "range_of_times", "immutable"),
               "regress_io": ("allocation", "copies", "holes", "stale_data"),
               "regress_names": ("long_links", "resumed", "rename_flags", "times_of_files")}

TEAM = 5100
ANN, BOB = (5001, 5001, (TEAM,)), (5002, 5002, ())
ROOT = (0, 0, (0,))
subjects = []


def subject(work):
    """Of root, which can act for other users.  work(emitter, source) in a directory of its own, which is
    source, or what the mount shows of it."""
    subjects.append(work)
    return work


def seen(path):
    st = os.lstat(path)
    return f"{stat.filemode(st.st_mode)} {st.st_uid} {st.st_gid}"


def make(path, mode=0o644, owner=ROOT, data=b"content of the file\n"):
    with open(path, "wb") as f:
        f.write(data)
    os.chown(path, *owner[:2])
    os.chmod(path, mode)
    return path


def make_dir(path, mode=0o755, owner=ROOT):
    os.mkdir(path)
    os.chown(path, *owner[:2])
    os.chmod(path, mode)
    return path


def opened(path, flags, mode=0o666):
    """Opened, and closed again."""
    os.close(os.open(path, flags, mode))
    return "opened"


def emit_as(user, t, what, call, *args):
    """As t(what, call, *args), in a process of the user."""
    t += as_user(user, lambda: (lambda own: own(what, call, *args) and own or own)(Emitter()))


# ---- ACLs

TAGS = {"u": 1, "U": 2, "g": 4, "G": 8, "m": 16, "o": 32}
ACCESS, DEFAULT = "system.posix_acl_access", "system.posix_acl_default"


def acl(*entries):
    return struct.pack("<I", 2) + b"".join(struct.pack(
        "<HHI", TAGS[e[0]], e[1], e[2] if len(e) > 2 else 0xffffffff) for e in entries)


def acls(path):
    """As text: mode, access ACL, default ACL."""
    found = [seen(path)]
    for name in ACCESS, DEFAULT:
        try:
            data = os.getxattr(path, name)
            found.append(" ".join(f"{tag}:{perm}:{user if user != 0xffffffff else ''}" for
                                  tag, perm, user in struct.iter_unpack("<HHI", data[4:])))
        except OSError as e:
            found.append(os.strerror(e.errno))
    return "; ".join(found)


@subject
def acls_are_inherited(t, source):
    for name, entries in {
            "named": [("u", 7), ("U", 7, ANN[0]), ("g", 5), ("m", 7), ("o", 0)],
            "masked": [("u", 7), ("g", 7), ("G", 7, TEAM), ("m", 1), ("o", 4)],
            "minimal": [("u", 6), ("g", 4), ("o", 0)]}.items():
        for mode in 0o777, 0o2777:
            for umask in 0o000, 0o027, 0o777:
                directory = make_dir(f"{name} {mode:o} {umask:o}", mode, (0, TEAM))
                os.setxattr(directory, DEFAULT, acl(*entries))
                old = os.umask(umask)
                os.mkdir(f"{directory}/d", 0o2755)
                os.mkdir(f"{directory}/d/e", 0o700)
                for file_mode in 0o666, 0o640, 0o777:
                    opened(f"{directory}/d/{file_mode:o}", os.O_CREAT, file_mode)
                os.mkfifo(f"{directory}/d/fifo", 0o666)
                os.symlink("x", f"{directory}/d/link")
                os.umask(old)
                t.say(directory, acls(directory))
                for at in "d", "d/e", "d/666", "d/640", "d/777", "d/fifo":
                    t.say(f"{directory}/{at}", acls(f"{directory}/{at}"))
                t.say(f"{directory}/d/link", seen(f"{directory}/d/link"))


@subject
def acls_and_modes(t, source):
    """An ACL changes the mode, the mode changes the ACL, at once and for all names."""
    make("f", 0o640, ANN)
    os.link("f", "g")
    os.mkdir("d")
    os.symlink("f", "l")
    full = acl(("u", 6), ("U", 6, BOB[0]), ("g", 4), ("m", 6), ("o", 0))
    t("set", os.setxattr, "f", ACCESS, full)
    t.say("f", acls("f"))
    t.say("g", acls("g"))
    for mode in 0o600, 0o640, 0o777, 0o2755:
        t(f"chmod {mode:o}", os.chmod, "f", mode)
        t.say("f", acls("f"))
    t("one that says no more than the mode", os.setxattr, "f", ACCESS,
      acl(("u", 7), ("g", 5), ("o", 1)))
    t.say("f", acls("f"))
    t("set again", os.setxattr, "f", ACCESS, full)
    t("removed", os.removexattr, "f", ACCESS)
    t.say("f", acls("f"))
    t("removed twice", os.removexattr, "f", ACCESS)
    t("default one of a file", os.setxattr, "f", DEFAULT, full)
    t("default one of a directory", os.setxattr, "d", DEFAULT, full)
    t.say("d", acls("d"))
    t("removed", os.removexattr, "d", DEFAULT)
    t.say("d", acls("d"))
    t("of a symbolic link", os.setxattr, "l", ACCESS, full, follow_symlinks=False)
    t("got of one", os.getxattr, "l", ACCESS, follow_symlinks=False)
    for name, value in {
            "empty": b"", "short": full[:5], "of another version": b"\1" + full[1:],
            "without a mask": acl(("u", 6), ("U", 6, 7), ("g", 4), ("o", 0)),
            "without others": acl(("u", 6), ("g", 4)),
            "in a wrong order": acl(("o", 6), ("g", 4), ("u", 4)),
            "with one user twice": acl(("u", 6), ("U", 6, 7), ("U", 6, 7), ("g", 4), ("m", 7),
                                       ("o", 0))}.items():
        t(f"one that is {name}", os.setxattr, "f", ACCESS, value)
        t.say("f", acls("f"))
    t("listed", lambda: sorted(os.listxattr("f")))
    many = [("u", 6), *(("U", 4, uid) for uid in range(6000, 6100)), ("g", 4), ("m", 6), ("o", 0)]
    t("of 100 users", os.setxattr, "f", ACCESS, acl(*many))
    t.say("f", acls("f"))


@subject
def access_follows_changes(t, source):
    """What was allowed and is not any more is refused at once, and the other way round."""
    make_dir("d", 0o711)
    make("d/f", 0o600)

    def looks(what):
        for name, user in {"ann": ANN, "bob": BOB}.items():
            emit_as(user, t, f"{what}: {name} reads", opened, "d/f", os.O_RDONLY)
            emit_as(user, t, f"{what}: {name} writes", opened, "d/f", os.O_WRONLY)
            emit_as(user, t, f"{what}: {name} lists", os.listdir, "d")
            emit_as(user, t, f"{what}: {name} may write", os.access, "d/f", os.W_OK)

    def change(what, call, *args):
        looks(f"before {what}")
        t(what, call, *args)
        looks(f"after {what}")

    for_ann = acl(("u", 6), ("U", 6, ANN[0]), ("g", 0), ("m", 6), ("o", 0))
    not_ann = acl(("u", 6), ("U", 0, ANN[0]), ("g", 0), ("m", 6), ("o", 6))
    change("an ACL for ann", os.setxattr, "d/f", ACCESS, for_ann)
    change("a mask", os.chmod, "d/f", 0o600)
    change("no mask", os.chmod, "d/f", 0o660)
    change("an ACL against ann", os.setxattr, "d/f", ACCESS, not_ann)
    change("no ACL", os.removexattr, "d/f", ACCESS)
    change("a group", os.chown, "d/f", -1, TEAM)
    change("a mode for the group", os.chmod, "d/f", 0o060)
    change("an owner", os.chown, "d/f", BOB[0], -1)
    change("a mode for all", os.chmod, "d/f", 0o666)
    change("a closed directory", os.chmod, "d", 0o700)
    change("a directory's ACL", os.setxattr, "d", ACCESS,
           acl(("u", 7), ("U", 5, ANN[0]), ("g", 0), ("m", 5), ("o", 1)))
    change("another file of the name", lambda: os.rename(make("g", 0o600), "d/f"))


# ---- suid and sgid

def strip(path, how):
    flags = os.O_RDWR | (os.O_TRUNC if how == "O_TRUNC" else 0)
    fd = os.open(path, flags)
    try:
        if how == "write":
            os.write(fd, b"x")
        elif how == "pwritev of nothing":
            os.pwritev(fd, [b""], 0)
        elif how == "ftruncate":
            os.ftruncate(fd, 3)
        elif how == "ftruncate to the same":
            os.ftruncate(fd, 100)
        elif how == "fallocate":
            os.posix_fallocate(fd, 0, 200)
        elif how == "punch":
            if LIBC.fallocate(fd, 3, ctypes.c_long(0), ctypes.c_long(50)) != 0:
                raise OSError(ctypes.get_errno(), "fallocate")
        elif how == "copy_file_range":
            os.copy_file_range(fd, fd, 10, 50, 0)
        elif how == "sendfile":
            with open("data", "rb") as f:
                os.sendfile(fd, f.fileno(), 0, 10)
        elif how == "truncate":
            os.truncate(path, 50)
        elif how == "O_DIRECT":
            direct = os.open(path, os.O_RDWR | os.O_DIRECT)
            with mmap.mmap(-1, 4096) as page:
                os.pwritev(direct, [page], 0)
            os.close(direct)
        elif how == "store":
            with mmap.mmap(fd, 100) as m:
                m[0] = 1
        return stat.filemode(os.fstat(fd).st_mode), stat.filemode(os.stat(path).st_mode)
    finally:
        os.close(fd)


WAYS = ("write", "pwritev of nothing", "ftruncate", "ftruncate to the same", "fallocate", "punch",
        "copy_file_range", "sendfile", "truncate", "O_TRUNC", "O_DIRECT", "store")


@subject
def bits_go_when_others_write(t, source):
    """Also those of files that their group may not execute."""
    make("data", 0o644)
    for name, user in {"ann, of the team": ANN, "bob": BOB, "root": ROOT}.items():
        for mode in 0o6666, 0o6777, 0o2676, 0o2767, 0o6766, 0o4666:
            for how in WAYS:
                path = make(f"{name} {mode:o} {how}", mode, (0, TEAM), b"x" * 100)
                emit_as(user, t, path, strip, path, how)


@subject
def bits_go_by_capability(t, source):
    """It is the capability that lets bits stay, not that root writes."""
    for name, drop in {"with all": [], "without CAP_FSETID": ["--bounding-set=-fsetid"],
                       "without CAP_CHOWN": ["--bounding-set=-chown"]}.items():
        for mode in 0o6777, 0o2755, 0o2666:
            path = make(f"{name} {mode:o}", mode, (0, TEAM))
            done = subprocess.run(["setpriv", *drop, "sh", "-c", 'echo x >>"$0"', path],
                                  capture_output=True, text=True, timeout=STUCK)
            t.say(f"written {path}", f"{done.returncode} {done.stderr} {seen(path)}")
            make(path, 0o755, (0, TEAM))
            done = subprocess.run(["setpriv", *drop, "chmod", f"{mode:o}", path],
                                  capture_output=True, text=True, timeout=STUCK)
            t.say(f"chmod {path}", f"{done.returncode} {seen(path)}")
    path = make("of ann", 0o6755, ANN)
    done = subprocess.run(["setpriv", "--reuid=5001", "--regid=5001", "--clear-groups",
                           "--inh-caps=+fsetid", "--ambient-caps=+fsetid", "sh", "-c",
                           'echo x >>"$0"', path], capture_output=True, text=True, timeout=STUCK)
    t.say("written by a user with CAP_FSETID", f"{done.returncode} {done.stderr} {seen(path)}")


@subject
def sgid_and_groups(t, source):
    """A user that keeps sgid by chmod and ACLs is in the file's group, be it as the last of many."""
    many = (5001, 5001, tuple(range(7000, 7300)))
    for name, user, group in (("a member", ANN, TEAM), ("no member", ANN, BOB[1]),
                              ("a member of many groups", many, 7299), ("root", ROOT, BOB[1])):
        path = make(f"file, {name}", 0o755, (ANN[0], group))
        emit_as(user, t, f"chmod, {name}", os.chmod, path, 0o2775)
        t.say(path, seen(path))
        os.chmod(path, 0o2775)
        emit_as(user, t, f"ACL, {name}", os.setxattr, path, ACCESS,
                acl(("u", 7), ("U", 7, 9), ("g", 7), ("m", 7), ("o", 5)))
        t.say(path, acls(path))
        directory = make_dir(f"directory, {name}", 0o2777, (ANN[0], group))
        emit_as(user, t, f"chmod of a directory, {name}", os.chmod, directory, 0o2775)
        emit_as(user, t, f"mkdir, {name}", os.mkdir, f"{directory}/d", 0o2755)
        emit_as(user, t, f"create, {name}", opened, f"{directory}/f", os.O_CREAT, 0o2755)
        for path in directory, f"{directory}/d", f"{directory}/f":
            t.say(path, seen(path))


# ---- rights

@subject
def rights_of_directories(t, source):
    for mode in 0o700, 0o755, 0o711, 0o744, 0o733, 0o1777, 0o777:
        d = make_dir(f"d{mode:o}", mode)
        make(f"{d}/mine", 0o644, ANN)
        make(f"{d}/root's", 0o644)
        make_dir(f"{d}/dir", 0o777, ANN)
        make_dir(f"{d}/closed", 0o555, ANN)
        make_dir(f"to {d}", 0o777)
        for what, call, *args in (
                ("list", os.listdir, d), ("stat", seen, f"{d}/mine"),
                ("stat of nothing", seen, f"{d}/nothing"), ("read", opened, f"{d}/mine", 0),
                ("create", opened, f"{d}/new", os.O_CREAT | os.O_EXCL), ("enter", os.chdir, d),
                ("rename", os.rename, f"{d}/mine", f"{d}/mine2"),
                ("rename of another's", os.rename, f"{d}/root's", f"{d}/root's2"),
                ("move out", os.rename, f"{d}/dir", f"to {d}/dir"),
                ("move out a closed one", os.rename, f"{d}/closed", f"to {d}/closed"),
                ("replace", os.rename, f"{d}/mine2", f"{d}/root's"),
                ("unlink", os.unlink, f"{d}/mine2"), ("unlink another's", os.unlink,
                                                      f"{d}/root's2"),
                ("rmdir", os.rmdir, f"{d}/closed"), ("utime", os.utime, d),
                ("chmod", os.chmod, d, 0o777)):
            emit_as(ANN, t, f"{d}: {what}", call, *args)


@subject
def rights_when_it_was_opened(t, source):
    """A descriptor keeps what it could when it was opened."""
    make("f", 0o600, ANN)

    def work():
        own = Emitter()
        fd = os.open("f", os.O_RDWR)
        m = mmap.mmap(fd, 20)
        os.chmod("f", 0)
        own("write", os.write, fd, b"more")
        own("ftruncate", os.ftruncate, fd, 2000)
        m[5] = 65
        own("msync", m.flush)
        own("fallocate", os.posix_fallocate, fd, 0, 5000)
        own("read", os.pread, fd, 20, 0)
        own("fsetxattr", os.setxattr, fd, "user.x", b"y")
        own("open", opened, "f", os.O_RDONLY)
        own("truncate", os.truncate, "f", 0)
        own("again", opened, f"/proc/self/fd/{fd}", os.O_RDONLY)
        new = os.open("new", os.O_CREAT | os.O_RDWR, 0)
        own("write to a new one without rights", os.write, new, b"x")
        own("its size", lambda: os.fstat(new).st_size)
        return own

    os.chmod(".", 0o777)
    t += as_user(ANN, work)


@subject
def extended_attributes_of_others(t, source):
    make("f", 0o644, BOB)
    make("mine", 0o644, ANN)
    make_dir("sticky", 0o1777)
    for name in "user.a", "trusted.a", "security.a":
        os.setxattr("f", name, b"value")
        os.setxattr("mine", name, b"value")
    for path in "f", "mine", "sticky":
        emit_as(ANN, t, f"names of {path}", lambda path=path: sorted(os.listxattr(path)))
        for name in "user.a", "trusted.a", "security.a", "system.a":
            emit_as(ANN, t, f"{name} of {path}", os.getxattr, path, name)
            emit_as(ANN, t, f"{name} of {path} set", os.setxattr, path, name, b"x")
            emit_as(ANN, t, f"{name} of {path} removed", os.removexattr, path, name)
    t("names, for root", lambda: sorted(os.listxattr("f")))


@subject
def protections(t, source):
    """Of links and of files in sticky directories, as they are set on this machine."""
    make_dir("sticky", 0o1777)
    make_dir("open", 0o777)
    for d in "sticky", "open":
        make(f"{d}/root's", 0o644)
        make(f"{d}/bob's", 0o666, BOB)
        make(f"{d}/suid", 0o4777, BOB)
        make(f"{d}/ann's", 0o600, ANN)
        as_user(BOB, os.mkfifo, f"{d}/fifo", 0o666)
        as_user(BOB, os.symlink, "ann's", f"{d}/link")
        for name in "root's", "bob's", "suid", "ann's", "fifo":
            emit_as(ANN, t, f"link to {name} in {d}", os.link, f"{d}/{name}", f"{d}/{name} too")
        emit_as(ANN, t, f"bob's link in {d} followed", opened, f"{d}/link", os.O_RDONLY)
        emit_as(ANN, t, f"bob's link in {d} read", os.readlink, f"{d}/link")
        emit_as(ANN, t, f"bob's file in {d} created", opened, f"{d}/bob's",
                os.O_CREAT | os.O_WRONLY)
        emit_as(ANN, t, f"bob's fifo in {d} created", opened, f"{d}/fifo",
                os.O_CREAT | os.O_RDWR)
        emit_as(BOB, t, f"ann's file in {d} unlinked", os.unlink, f"{d}/ann's")
        emit_as(BOB, t, f"root's file in {d} renamed", os.rename, f"{d}/root's", f"{d}/bob's")


@subject
def user_namespaces(t, source):
    """A user that is root only there may do what root there may, to what belongs to it."""
    make("root's", 0o644)
    make("mine", 0o644, ANN)
    os.chmod(".", 0o777)
    script = """
        for c in 'id -u' 'touch new' 'chown 0:0 new' 'chown 5 new' 'chmod 6755 new' 'mkdir d' \
            'touch "root'"'"'s"' 'chmod 600 mine' 'mknod c c 1 3' 'mkfifo p' 'ln -s x s' \
            'ln mine m2' 'setfattr -n trusted.a -v b mine' 'setfattr -n user.a -v b mine' \
            'setfacl -m u:0:rwx new' 'chattr +i mine' 'cat mine' 'rm -r d' \
            'stat -c "%a %u %g" new mine' 'setcap cap_net_raw+ep new' 'getcap new'; do
            out=$(eval "$c" 2>&1); echo "$c: $? $out"
        done"""
    done = subprocess.run(["setpriv", "--reuid=5001", "--regid=5001", "--clear-groups",
                           "unshare", "-Ur", "sh", "-c", script], capture_output=True, text=True,
                          timeout=STUCK)
    t += done.stdout.replace(os.getcwd(), "TOP").splitlines() + done.stderr.splitlines()
    for name in sorted(os.listdir(".")):
        t.say(name, acls(name))


# ---- programs that run

@subject
def running_programs(t, source):
    shutil.copy("/bin/sleep", "sleep")
    pathlib.Path("script").write_text("#!/bin/sh\necho said by $1\nread x\n")
    os.chmod("script", 0o755)
    with subprocess.Popen(["./sleep", "1000"]) as program:
        os.kill(program.pid, 0)
        t("opened to read", opened, "sleep", os.O_RDONLY)
        t("opened to write", opened, "sleep", os.O_WRONLY)
        t("truncated", os.truncate, "sleep", 5)
        t("opened with O_TRUNC", opened, "sleep", os.O_WRONLY | os.O_TRUNC)
        t("mode", os.chmod, "sleep", 0o700)
        os.link("sleep", "other")
        t("its other name", opened, "other", os.O_RDWR)
        t("replaced", lambda: os.replace(shutil.copy("/bin/true", "new"), "sleep"))
        t("unlinked", os.unlink, "other")
        t("exe", lambda: os.readlink(f"/proc/{program.pid}/exe").rsplit("/")[-1])
        program.kill()
    with subprocess.Popen(["./script", "it"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True) as script:
        t.say("script", script.stdout.readline())
        t("a script opened to write", opened, "script", os.O_WRONLY)
        script.stdin.close()
    shutil.copy("/bin/true", "true")
    with open("true", "ab"):
        t("run while open to write", lambda: subprocess.run(["./true"]).returncode)
    t("run", lambda: subprocess.run(["./true"]).returncode)
    os.chmod("true", 0o644)
    t("run without leave", lambda: subprocess.run(["./true"]).returncode)
    os.chmod("true", 0o711)
    emit_as(ANN, t, "run but not read", lambda: subprocess.run(["./true"]).returncode)
    emit_as(ANN, t, "read", opened, "true", os.O_RDONLY)
    fd = os.open("true", os.O_PATH)
    t("by a descriptor", lambda: subprocess.run([f"/proc/self/fd/{fd}"], pass_fds=[fd]).returncode)
    pathlib.Path("empty").touch(0o755)
    t("of an empty file", lambda: subprocess.run(["./empty"]).returncode)
    pathlib.Path("lost").write_text("#!/no/such/thing\n")
    os.chmod("lost", 0o755)
    t("for which there is nothing", lambda: subprocess.run(["./lost"]).returncode)
    shutil.copy("/usr/bin/id", "id")
    os.chmod("id", 0o6755)
    t("suid", lambda: subprocess.run(["setpriv", "--reuid=5001", "--regid=5001", "--clear-groups",
                                      "./id", "-u"], capture_output=True).stdout)


@subject
def devices(t, source):
    for name, number in ("null", 3), ("zero", 5), ("full", 7):
        os.mknod(name, stat.S_IFCHR | 0o666, os.makedev(1, number))
    os.mknod("none", stat.S_IFCHR | 0o666, os.makedev(240, 77))
    os.mknod("loop", stat.S_IFBLK | 0o666, os.makedev(7, 200))

    def use(path, call, *args):
        fd = os.open(path, os.O_RDWR)
        try:
            return call(fd, *args)
        finally:
            os.close(fd)

    t("null read", use, "null", os.read, 10)
    t("null written", use, "null", os.write, b"x" * 10)
    t("zero read", use, "zero", os.read, 10)
    t("full written", use, "full", os.write, b"x")
    t("zero truncated", os.truncate, "zero", 10)
    t("no device", use, "none", os.read, 1)
    t("no block device", use, "loop", os.read, 1)
    emit_as(ANN, t, "null by a user", use, "null", os.read, 10)
    with socket.socket(socket.AF_UNIX) as s:
        s.bind("socket")
    t("a socket opened", opened, "socket", os.O_RDWR)


# ---- full disks

@subject
def full_disk(t, source):
    with OtherFs(source / "small", "tmpfs", "size=1m,nr_inodes=60"):
        on_a_full_disk(t)


def on_a_full_disk(t):
    fd = os.open("small/f", os.O_RDWR | os.O_CREAT)
    written = 0
    for _ in range(15):
        n = t("write", os.write, fd, b"a" * 100000)
        written += n if isinstance(n, int) else 0
    t.say("written", written)
    t("size", lambda: os.fstat(fd).st_size)
    t("over what is there", os.pwrite, fd, b"b" * 5000, 500000)
    t("over the end", os.pwrite, fd, b"c" * 100000, written - 500)
    t("far beyond", os.pwrite, fd, b"c", 3 << 20)
    t("fallocate", os.posix_fallocate, fd, 0, 4 << 20)
    t("ftruncate to more", os.ftruncate, fd, 4 << 20)
    t("a hole written", os.pwrite, fd, b"c", 2 << 20)
    t("ftruncate", os.ftruncate, fd, 500000)
    t("written again", os.pwrite, fd, b"d" * 600000, 500000)
    with open("small/f", "ab", buffering=0) as f:
        t("appended", f.write, b"e" * 8192)
        t("appended more", f.write, b"e" * 900000)
    t("mkdir", os.mkdir, "small/d")
    t("long attribute", os.setxattr, "small/d", "trusted.a", b"x" * 60000)
    os.ftruncate(fd, 10)
    os.close(fd)
    for i in range(70):
        t("create", opened, f"small/{i}", os.O_CREAT)
    t("mkdir", os.mkdir, "small/e")
    t("symlink", os.symlink, "x", "small/s")
    t("link", os.link, "small/f", "small/l")
    t("rename", os.rename, "small/f", "small/g")
    t("mkfifo", os.mkfifo, "small/p")
    t("nameless", opened, "small", os.O_TMPFILE | os.O_RDWR)
    t("free again", os.unlink, "small/0")
    t.say("state", sorted(os.listdir("small"))[:5])


@subject
def space_is_free_at_once(t, source):
    """What was removed makes room for what is written next."""
    with OtherFs(source / "small", "tmpfs", "size=1m"):
        for turn in range(40):
            with open("small/f", "wb", buffering=0) as f:
                t(f"turn {turn}", f.write, b"x" * 900000)
                if turn % 2:
                    os.unlink("small/f")
            if turn % 2 == 0:
                os.unlink("small/f")


# ---- several file systems

@subject
def several_file_systems(t, source):
    os.mkdir("d")
    make("f")
    with OtherFs(source / "d/other", "tmpfs", "size=1m"):
        make("d/other/f")
        make_dir("d/other/sub")
        t("link across", os.link, "f", "d/other/l")
        t("rename across", os.rename, "f", "d/other/g")
        t("rename back", os.rename, "d/other/f", "g")
        t("rmdir of a mount point", os.rmdir, "d/other")
        t("rename of a mount point", os.rename, "d/other", "d/x")
        t("rename over a mount point", lambda: os.rename(make_dir("e"), "d/other"))
        t("rename of what holds it", os.rename, "d", "dd")
        t("back", os.rename, "dd", "d")
        t("mode of a mount point", os.chmod, "d/other", 0o700)
        t("..", lambda: os.stat("d/other/..").st_ino == os.stat("d").st_ino)
        t("sub/../..", lambda: os.stat("d/other/sub/../..").st_ino == os.stat("d").st_ino)
        t("listed", lambda: sorted(os.listdir("d")))
        t("its number in the list", lambda: [e.inode() == e.stat().st_ino
                                             for e in os.scandir("d/other")])
    time.sleep(1.5)  # it was natively that it has gone: the mount may remember it for a second
    t("uncovered", lambda: sorted(os.listdir("d/other")))
    t("removed", os.rmdir, "d/other")


@subject
def flags_of_mounts(t, source):
    """What the mount options of a file system in the source forbid is forbidden."""
    for flags, number in {"nosuid": 2, "nodev": 4, "noexec": 8, "ro": MS_RDONLY}.items():
        with OtherFs(source / flags, "tmpfs") as top:
            shutil.copy("/usr/bin/id", top / "id")
            os.chmod(top / "id", 0o6755)
            make(top / "script", 0o755, data=b"#!/bin/sh\necho run\n")
            make(top / "f", 0o666)
            os.mknod(top / "null", stat.S_IFCHR | 0o666, os.makedev(1, 3))
            os.chmod(top / "null", 0o666)
            os.utime(top / "f", (1000, 2000))
            mount_fs("", top, "", MS_REMOUNT | MS_BIND | number)
            t("chmod", os.chmod, f"{flags}/f", 0o666)
            t("mkdir", os.mkdir, f"{flags}/d")
            for name, user in {"ann": ANN, "root": ROOT}.items():
                for what, call, *args in (
                        ("whose rights", output, f"{flags}/id", "-u"),
                        ("script", output, f"{flags}/script"),
                        ("device", is_refused, opened, f"{flags}/null", os.O_RDWR),
                        ("write", opened, f"{flags}/f", os.O_WRONLY),
                        ("create", opened, f"{flags}/f", os.O_CREAT | os.O_WRONLY),
                        ("read", lambda: pathlib.Path(f"{flags}/f").read_bytes()),
                        ("atime", lambda: os.stat(f"{flags}/f").st_atime == 1000)):
                    emit_as(user, t, f"{flags}, {name}: {what}", call, *args)


def is_refused(call, *args):
    """Whether, no matter how: see cannot.py."""
    try:
        call(*args)
        return False
    except OSError:
        return True


def output(*command):
    return subprocess.run(command, capture_output=True).stdout


# ---- other ways of reading and writing

FIO = ("--name=f", "--filename=f", "--size=2m", "--rw=randwrite", "--randseed=7", "--iodepth=16",
       "--fallocate=none", "--verify=crc32c", "--do_verify=1", "--output=/dev/null")


@subject
def other_engines(t, source):
    """Both kinds of asynchronous calls, threads, and mappings: all that was written is read."""
    if not shutil.which("fio"):
        print("other engines: no 'fio' here")
        return
    for engine, more in (("io_uring", ["--bs=5000"]), ("libaio", ["--bs=4k", "--direct=1"]),
                         ("posixaio", ["--bs=17k"]), ("mmap", ["--bs=4k"]),
                         ("io_uring", ["--bs=8k", "--direct=1", "--fixedbufs=1"])):
        done = subprocess.run(["fio", f"--ioengine={engine}", *FIO, *more],
                              capture_output=True, text=True, timeout=STUCK)
        t.say(f"{engine} {more}", f"{done.returncode} {done.stderr.replace(os.getcwd(), 'TOP')}")
        t.say("size", os.stat("f").st_size)
        os.unlink("f")


@subject
def mounts_on_it(t, source):
    """File systems that are mounted on a directory of the side, as it is shown there: they stay."""
    os.mkdir("from")
    os.mkdir("to")
    make("from/f")
    t("bind", mount_fs, os.path.abspath("from"), "to", "", MS_BIND)
    t("unmounted while open", while_open, "to/f", umount, "to")
    t("bound read-only", mount_fs, "", "to", "", MS_BIND | MS_REMOUNT | MS_RDONLY)
    t("written", opened, "to/f", os.O_WRONLY)
    t("written beside it", opened, "from/f", os.O_WRONLY)
    t("unmounted", umount, "to")
    t("another one", mount_fs, "tmpfs", "to", "tmpfs")
    t("a file there", make, "to/f")
    for _ in range(3):  # until all that the kernel remembers has been asked for again
        time.sleep(0.4)
        t("still there", os.listdir, "to")
    t("unmounted", umount, "to")
    t("what was below", os.listdir, "to")


def while_open(path, call, *args):
    with open(path, "rb"):
        return call(*args)


def umount(path):
    if LIBC.umount2(os.fsencode(path), 0) != 0:
        raise OSError(ctypes.get_errno(), path)


# ---- running all that

def run_program(program, side, sections=()):
    """Its text."""
    top = side / "-".join((program, *sections[:1]))
    top.mkdir()
    done = subprocess.run([WORK / program, top, *sections], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=STUCK)
    return done.stdout.decode(errors="replace").replace(str(side), "SIDE")


def run_subject(work, side, source):
    (source / work.__name__).mkdir()

    def inside():
        os.chdir(side / work.__name__)
        t = Emitter()
        work(t, source / work.__name__)
        return t

    return "\n".join(in_child(inside))


def results(side, source, without=()):
    """Of all programs and subjects, by name; programs as all users can run them.  side shows the
    directory source."""
    found = {program: run_program(program, side) for program in PROGRAMS if program not in without}
    if os.geteuid() == 0:
        for work in subjects:
            if work.__name__ in without:
                continue
            try:
                found[work.__name__] = run_subject(work, side, source)
            except RuntimeError as e:
                found[work.__name__] = f"no end: {e}"
    return found


def without_elsewhere(mode, text):
    return "\n".join(line for line in text.splitlines()
                     if not line.startswith(ELSEWHERE.get(mode, ())))


def compare_results(mode, native, mounted):
    for name, text in native.items():
        if name not in mounted:
            continue
        if text:  # none if a program was missing
            checks.check(f"{mode}, {name}: says something", len(text.splitlines()) > 1, text)
            checks.check(f"{mode}, {name}: comes to its end",
                         "ended by ALRM" not in text and "no end:" not in text, text)
        same_lines(checks, f"{mode}, {name}", without_elsewhere(mode, text),
                without_elsewhere(mode, mounted[name]))


# ---- other kinds of source

def of_other_fs(side):
    return {f"{program} {' '.join(sections)}": run_program(program, side, sections)
            for program, sections in OF_OTHER_FS.items()}


def on_other_fs(mode, options, base, first):
    """One of them in the first mode, xfs in the others; with --long all of them in each."""
    for kind, size in one((("xfs", 320), ("btrfs", 160), ("tmpfs", 0))[:3 if first or LONG else 1]):
        if size and not shutil.which(f"mkfs.{kind}"):
            print(f"{kind}: no 'mkfs.{kind}' here")
            continue
        if size and kind not in pathlib.Path("/proc/filesystems").read_text().split():
            print(f"{kind}: not in this kernel")
            continue
        with OtherFs(base / kind, kind, size=size) as top:
            sides = [top / "native", top / "mounted"]
            for side in sides:
                side.mkdir()
            native = of_other_fs(sides[0])
            with Mount(*options) as mount:
                compare_results(f"{mode}, {kind}", native, of_other_fs(mount(sides[1])))


# ---- read-only mounts

def set_up_read_only(top):
    top.mkdir()
    make(top / "f", 0o666)
    make(top / "old", 0o666)
    (top / "d").mkdir()
    (top / "l").symlink_to("f")
    os.mkfifo(top / "p")
    os.setxattr(top / "f", "user.a", b"b")
    os.utime(top / "old", (1000, 2000))


def change_read_only(t, top, source, keeps_atime):
    os.chdir(top)
    before = os.stat("old").st_atime
    t("read", lambda: pathlib.Path("old").read_bytes())
    if keeps_atime:
        t("its time", lambda: os.stat("old").st_atime == before)
        t("its time in the source", lambda: os.stat(source / "old").st_atime == before)
    t("list", lambda: sorted(os.listdir(".")))
    fd = os.open("f", os.O_RDONLY)
    for what, call, *args in (
            ("open to write", opened, "f", os.O_WRONLY), ("open for both", opened, "f", os.O_RDWR),
            ("O_TRUNC", opened, "f", os.O_TRUNC), ("O_CREAT of a file", opened, "f", os.O_CREAT),
            ("O_CREAT | O_EXCL of a file", opened, "f", os.O_CREAT | os.O_EXCL),
            ("O_CREAT to write", opened, "f", os.O_CREAT | os.O_WRONLY),
            ("O_CREAT", opened, "new", os.O_CREAT), ("O_TMPFILE", opened, ".",
                                                     os.O_TMPFILE | os.O_RDWR),
            ("O_PATH", opened, "f", os.O_PATH), ("mkdir", os.mkdir, "new"),
            ("mkdir again", os.mkdir, "d"), ("mknod", os.mknod, "new"),
            ("mkfifo", os.mkfifo, "new"), ("mkfifo again", os.mkfifo, "p"),
            ("a device", os.mknod, "new", stat.S_IFCHR | 0o600, os.makedev(1, 3)),
            ("symlink", os.symlink, "x", "new"), ("link", os.link, "f", "new"),
            ("link over", os.link, "f", "old"), ("rename", os.rename, "f", "new"),
            ("rename over", os.rename, "f", "old"), ("rename of nothing", os.rename, "x", "y"),
            ("unlink", os.unlink, "f"), ("unlink of nothing", os.unlink, "nothing"),
            ("rmdir", os.rmdir, "d"), ("rmdir of nothing", os.rmdir, "nothing"),
            ("chmod", os.chmod, "f", 0o600), ("fchmod", os.fchmod, fd, 0o600),
            ("chown", os.chown, "f", 1, 1), ("fchown", os.fchown, fd, 1, 1),
            ("lchown", os.lchown, "l", 1, 1), ("utime", os.utime, "f"),
            ("utime of a link", lambda: os.utime("l", follow_symlinks=False)),
            ("truncate", os.truncate, "f", 3), ("ftruncate", os.ftruncate, fd, 3),
            ("setxattr", os.setxattr, "f", "user.x", b"y"),
            ("removexattr", os.removexattr, "f", "user.a"),
            ("removexattr of nothing", os.removexattr, "f", "user.x"),
            ("getxattr", os.getxattr, "f", "user.a"),
            ("an ACL", os.setxattr, "f", ACCESS, acl(("u", 6), ("g", 4), ("o", 0))),
            ("fallocate", os.posix_fallocate, fd, 0, 10), ("access", os.access, "f", os.W_OK),
            ("access of a fifo", os.access, "p", os.W_OK), ("fsync", os.fsync, fd),
            ("a lock", fcntl.flock, fd, fcntl.LOCK_EX),
            ("a fifo", opened, "p", os.O_RDWR | os.O_NONBLOCK),
            ("a mapping", lambda: mmap.mmap(fd, 10, prot=mmap.PROT_READ)[:3]),
            ("flags", fcntl.ioctl, fd, 0x80086601, b"\0" * 8),
            ("setting flags", fcntl.ioctl, fd, 0x40086602, b"\0" * 8),
            ("copy_file_range", os.copy_file_range, fd, fd, 1, 0, 10),
            ("read-only", lambda: bool(os.statvfs(".").f_flag & os.ST_RDONLY))):
        t(what, call, *args)
    return t


def read_only(mode, options, base):
    """The mount with -o ro against a read-only bind mount."""
    sides = base / "read-only native", base / "read-only mounted"
    keeps_atime = not mode.startswith(("open", "call"))  # the kernel reads the source by itself
    for side in sides:
        set_up_read_only(side)
    mount_fs(sides[0], sides[0], "", MS_BIND)
    try:
        mount_fs("", sides[0], "", MS_BIND | MS_REMOUNT | MS_RDONLY)
        native = in_child(change_read_only, Emitter(), sides[0], sides[0], keeps_atime)
    finally:
        umount(sides[0])
    with Mount(*options, "-o", "ro") as mount:
        mounted = in_child(change_read_only, Emitter(), mount(sides[1]), sides[1], keeps_atime)
    same_lines(checks, f"{mode}, read-only", "\n".join(native), "\n".join(mounted))
    for side in sides:
        shutil.rmtree(side)


def busy(mode, mount):
    """A file that is open, a directory that a process is in: no unmount, as everywhere."""
    t = Emitter()
    with open(mount("/etc/passwd"), "rb"):
        t("open", umount, mount.mnt)
    with subprocess.Popen(["sleep", "1000"], cwd=mount("/tmp")) as program:
        t("in it", umount, mount.mnt)
        program.kill()
    checks.equal(f"{mode}: unmounting a busy mount", list(t), ["open: EBUSY", "in it: EBUSY"])


base = pathlib.Path(tempfile.mkdtemp(prefix="ftrac-case-"))
base.chmod(0o755)
(base / "native").mkdir()
native = results(base / "native", base / "native")
for i, (mode, options) in some(enumerate(modes(WANTED)), 2):
    # A part of them in each way of mounting.
    left_out = set(native) - set(some(native, 5))
    looked = checks.looked
    with Mount(*options) as mount:
        mounted = base / f"mounted {mode}"
        mounted.mkdir()
        compare_results(mode, native, results(
            mount(mounted), mounted, (*left_out, *(SLOW if "--stat" in options and not LONG else ())) +
            (NOT_AT_ONCE if mode.startswith(("open", "call")) else ())))
        if os.geteuid() == 0:
            busy(mode, mount)
        mount.unmount()
        complete(checks, mode, mount)
    if os.geteuid() == 0:
        read_only(mode, options, base)
        if LONG or "--stat" not in options:
            on_other_fs(mode, options, base, i == 0)
    print(f"{mode}: {checks.looked - looked} facts")
shutil.rmtree(base)
checks.end()
