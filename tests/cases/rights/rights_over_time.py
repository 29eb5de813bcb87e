#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# serial: switches io_uring of FUSE on for the machine
# seconds: 20
# long: --long --number 3000
"""What an ordinary user gets through a mount of root is what the user gets natively at that moment, whatever the host
changes between lookup or open and use.

A combination is an operation, by a name or by a descriptor that is older than the change, the state of the object and
of its directory, a change on the host, and the time between the change and the operation.  The same program does the
same natively and through the mount; answers, and what is left on the host, are compared.  A difference is of one of
the classes of CLASSES.

rights_over_time.py [--seed N] [--number N] [--all] [--world PATTERN]: N random combinations for each way of
mounting; --all: each operation with each change, at times and in states by rng.
"""
import argparse
import collections
import ctypes
import dataclasses
import errno
import fnmatch
import itertools
import json
import os
import pathlib
import random
import re
import shutil
import stat
import subprocess
import tempfile
import time

from actors import (ALLOWS, ANN, APPEND, BOB, CAPABILITY, DIFFERS, FOREIGN, IMMUTABLE, OLD, OTHER_ERROR, REFUSES,
                    SAME, SHARED, YOUNG, Place, acl, acting, add_flags, batches, differences, disk, failed, flags_of,
                    in_worlds, judge, make_program, picture, transports, worlds)
from ftractest import Checks, fidelities, need, need_fuse, skip
from parts import mounts_below
from sample import some
from sides import LIBC

DELAYS = 0, 0.5, 2, 10  # s
TICK = 0.005  # s: by then what is changed has another time
REMEMBERED = 1.2  # s: names and attributes, without --stat

CLASSES = {  # and whether one is a failure
    SAME: False, OTHER_ERROR: False,
    ALLOWS: True,  # what is refused natively, or has another effect
    DIFFERS: True,  # both allow it, with another result
    "remembered": False,  # by a name or an attribute that was remembered, within the time that is documented
    "refuses, remembered": False, "refuses on a descriptor": False,  # judged by an owner of before
    "refuses late": True,  # what is allowed natively, for longer
    "documented": False,  # ftrac(1), LIMITS
    "without effect": False,  # what is stored through a mapping is refused later than natively
}


# ---- operations ----

@dataclasses.dataclass(frozen=True)
class Operation:
    name: str
    via: str
    before: tuple
    after: tuple
    informs: bool = False  # tells what is there, and does nothing
    names: bool = False  # makes, moves or removes a name in {p}
    writes: bool = False  # keeps the mount from becoming read-only

    def __str__(self):
        return f"{self.name} by {self.via}"


NONBLOCK, CREAT, EXCL, TRUNC, APPENDS, O_PATH, TMPFILE = 0x800, 0x40, 0x80, 0x200, 0x400, 0x200000, 0x410000
ALLOW = acl((2, 7, BOB)).hex()


def opening(flags, *then):
    return (f"open {{b}} {flags | NONBLOCK} {{f}}", *then)


ON_NAMES = {  # of {f}, in {p}; {o} is a directory of the user
    "read": opening(0, "read {b} 5"), "write": opening(1, "write {b} 0 XX"),
    "read and write": opening(2, "read {b} 3", "write {b} 2 XX"),
    "append": opening(1 | APPENDS, "put {b} XX"), "empty": opening(1 | TRUNC), "read and empty": opening(TRUNC),
    "open or create": opening(2 | CREAT, "put {b} XX"),
    "store": opening(2, "map {b} {b} 10", "store {b} 0 XX", "msync {b}", "unmap {b}"),
    "allocate": opening(2, "fallocate {b} 0 0 9000"), "copy into": opening(2, "open {c} 0 {o}/mine", "copy {c} {b} 4"),
    "copy from": opening(0, "open {c} 2 {o}/mine", "copy {b} {c} 4"),
    "set flags": opening(0, "fsetflags {b} 0x40 0"), "fchmod": opening(0, "fchmod {b} 0747"),
    "chmod": ["chmod {f} 0757"], "chmod 6755": ["chmod {f} 06755"], "chgrp": [f"chown {{f}} -1 {SHARED}"],
    "chgrp to another's": [f"chown {{f}} -1 {FOREIGN}"], "chown": [f"chown {{f}} {BOB} -1"],
    "chown of nothing": ["chown {f} -1 -1"],
    "utimens": ["utimens {f} 1234567890"], "utimens now": ["utimens {f} now"], "truncate": ["truncate {f} 3"],
    "setxattr": ["setxattr {f} user.new 41"], "removexattr": ["removexattr {f} user.there"],
    "set ACL": [f"setxattr {{f}} system.posix_acl_access {ALLOW}"],
    "remove ACL": ["removexattr {f} system.posix_acl_access"],
    "execute": ["exec {f}"],
}
INSIDE = {"link out": ["link {f} {o}/linked"], "create inside": ["open {b} 0xc2 {f}/new", "put {b} XX"],
          "unlink inside": ["unlink {f}/inside"], "read inside": ["open {b} 0x800 {f}/inside", "read {b} 5"]}
OF_NAMES = {
    "create": ["open {b} 0xc2 {p}/new", "put {b} XX"], "mkdir": ["mkdir {p}/new 0777"],
    "mknod": ["mknod {p}/new 0010666"],
    "symlink": ["symlink there {p}/new"], "link in": ["link {o}/mine {p}/new"],
    "unlink": ["unlink {f}"], "rmdir": ["rmdir {f}"], "rename out": ["rename {f} {o}/moved 0"],
    "rename in": ["rename {o}/mine {p}/new 0"], "rename over": ["rename {o}/mine {f} 0"],
    "rename a directory over": ["rename {o}/dir {f} 0"], "rename beside": ["rename {f} {p}/new 0"],
    "rename onto own": ["rename {f} {o}/mine 0"], "exchange": ["rename {f} {o}/mine 2"],
    "unnamed file": [f"open {{b}} {TMPFILE | 2} {{p}} 0666", "put {b} XX", "link @{b} {p}/new"],
}
ABOUT = {
    "stat": ["stat {f}"], "lstat": ["lstat {f}"], "list": ["list {f}"], "list its directory": ["list {p}"],
    "readlink": ["readlink {f}"], "access": [f"access {{f}} {how}" for how in (0, 1, 2, 4)], "statfs": ["statfs {f}"],
    "getxattr": ["getxattr {f} user.there"], "get ACL": ["getxattr {f} system.posix_acl_access"],
    "get flags": opening(0, "fgetflags {b}"),
}
ON_OPEN = {
    "read": ["read {a} 5"], "fchmod": ["fchmod {a} 0757"], "fchmod 6755": ["fchmod {a} 06755"],
    "fchgrp": [f"fchown {{a}} -1 {SHARED}"], "fchgrp to another's": [f"fchown {{a}} -1 {FOREIGN}"],
    "fchown": [f"fchown {{a}} {BOB} -1"], "fchown of nothing": ["fchown {a} -1 -1"],
    "futimens": ["futimens {a} 1234567890"], "futimens now": ["futimens {a} now"],
    "fsetxattr": ["fsetxattr {a} user.new 41"],
    "fremovexattr": ["fremovexattr {a} user.there"], "fset ACL": [f"fsetxattr {{a}} system.posix_acl_access {ALLOW}"],
    "fremove ACL": ["fremovexattr {a} system.posix_acl_access"], "fset flags": ["fsetflags {a} 0x40 0"],
    "fset flags by the newer call": ["fsetx {a} 0x80 0"], "fexecve": ["fexec {a}"],
}
HELD = {
    "read again": ["open {b} 0x800 @{a}", "read {b} 5"], "write again": ["open {b} 0x801 @{a}", "write {b} 0 XX"],
    "empty again": ["open {b} 0xa01 @{a}"], "append again": ["open {b} 0xc01 @{a}", "put {b} XX"],
    "link it": ["link @{a} {o}/linked"], "truncate": ["truncate @{a} 3"], "chmod": ["chmod @{a} 0757"],
    "chgrp": [f"chown @{{a}} -1 {SHARED}"],
    "utimens": ["utimens @{a} 1234567890"], "utimens now": ["utimens @{a} now"],
    "setxattr": ["setxattr @{a} user.new 41"],
    "removexattr": ["removexattr @{a} user.there"], "set ACL": [f"setxattr @{{a}} system.posix_acl_access {ALLOW}"],
    "execute": ["exec @{a}"], "create inside": ["open {b} 0xc2 @{a}/new"], "unlink inside": ["unlink @{a}/inside"],
    "read inside": ["open {b} 0x800 @{a}/inside", "read {b} 5"], "rename inside": ["rename @{a}/inside {o}/moved 0"],
}
ABOUT_OPEN = {"fstat": ["fstat {a}"], "flist": ["flist {a}"], "fget flags": ["fgetflags {a}"],
              "fgetxattr": ["fgetxattr {a} user.there"]}
ABOUT_HELD = {"stat": ["stat @{a}"], "access": [f"access @{{a}} {how}" for how in (1, 2, 4)],
              "getxattr": ["getxattr @{a} user.there"]}
TO_WRITE = {
    "write": ["write {a} 0 XX"], "ftruncate": ["ftruncate {a} 3"], "make longer": ["ftruncate {a} 9000"],
    "allocate": ["fallocate {a} 0 0 9000"],
    "punch a hole": ["fallocate {a} 3 0 4096"], "zero a range": ["fallocate {a} 0x10 0 5"],
    "copy into": ["open {c} 0 {o}/mine", "copy {c} {a} 4"],
    "store": ["map {a} {a} 10", "store {a} 0 XX", "msync {a}", "unmap {a}"],
    "futimens now": ["futimens {a} now"],
}
VIA = {"name": ("lstat {f}",), "directory": ("open {d} 0x10000 {q}", "lstat {f}"),
       "held directory": (f"open {{d}} {O_PATH} {{q}}", "lstat {f}"),
       "descriptor": ("open {a} 0x800 {f}",), "held": (f"open {{a}} {O_PATH} {{f}}",),
       "descriptor to write": ("open {a} 0x802 {f}",), "descriptor to append": ("open {a} 0xc02 {f}",)}
BY_NAME = "name", "directory", "held directory"


def operations():
    found = []

    def add(table, *vias, **how):
        for via in vias:
            found.extend(Operation(name, via, VIA[via], tuple(lines), **how) for name, lines in table.items())
    add(ON_NAMES | INSIDE, *BY_NAME)
    add(OF_NAMES, *BY_NAME, names=True)
    add(ABOUT, *BY_NAME, informs=True)
    add(ON_OPEN, "descriptor")
    add(HELD, "descriptor", "held")
    add(ABOUT_OPEN, "descriptor", informs=True)
    add(ABOUT_HELD, "held", informs=True)
    add(TO_WRITE, "descriptor to write", "descriptor to append", writes=True)
    return found


# ---- states ----

# Random; what is there twice is so twice as often.
STATES = {
    "kind": ["file"] * 5 + ["program"] * 3 + ["directory"] * 3 + ["link", "fifo"],
    "owner": [BOB, BOB, ANN, 0], "group": [BOB, SHARED, FOREIGN],
    "mode": [0o644, 0o755, 0o600, 0o666, 0o640, 0o060, 0o604, 0o700, 0o777, 0o000, 0o4755, 0o2755, 0o6711, 0o2745,
             0o1777, 0o744],
    "acl": [None] * 6 + ["allows user", "denies user", "allows own group", "denies own group"],
    "flags": [0] * 10 + [APPEND, IMMUTABLE],
    "capability": [False] * 5 + [True],
    "parent": [(BOB, 0o755)] * 3 + [(0, 0o755), (0, 0o1777), (0, 0o777), (ANN, 0o1777), (ANN, 0o711), (BOB, 0o700),
                                    (0, 0o2777), (ANN, 0o744),
                                    (BOB, 0o3777)],
    "parent's": ["nothing"] * 8 + ["append-only", "default ACL", "ACL that denies"],
}
ACLS = {"allows user": acl((2, 7, BOB), owner=6, group=4, others=0),
        "denies user": acl((2, 0, BOB), owner=7, group=7, others=7),
        "allows own group": acl((8, 7, SHARED), owner=6, group=0, others=0),
        "denies own group": acl((8, 0, SHARED), owner=7, group=7, others=7)}
PARENTS = {"default ACL": ("system.posix_acl_default", acl((2, 7, BOB), (2, 7, ANN), others=0)),
           "ACL that denies": ("system.posix_acl_access", acl((2, 0, BOB), others=7))}


def write(path, text, mode, uid, gid=None):
    with open(path, "w") as f:
        f.write(text)
    put(path, mode, uid, uid if gid is None else gid)


def put(path, mode, uid, gid):
    os.chown(path, uid, gid)
    os.chmod(path, mode)


def directory(path, mode, uid):
    os.mkdir(path)
    put(path, mode, uid, uid)


def make_object(path, state):
    kind = state["kind"]
    if kind == "link":
        # Not by "..": the kernel goes up to where a directory was when it was looked up.
        write(f"{os.path.dirname(path)}/target", "secret", 0o600, 0)
        os.symlink("target", path)
        os.lchown(path, state["owner"], state["group"])
        return
    if kind == "directory":
        os.mkdir(path)
        write(f"{path}/inside", "inside", 0o644, state["owner"])
    elif kind == "program":
        make_program(path)
    elif kind == "fifo":
        os.mkfifo(path)
    else:
        write(path, "0123456789", 0o644, 0)
    put(path, state["mode"], state["owner"], state["group"])
    attributes(path, state)


def attributes(path, state):
    if state["acl"]:
        os.setxattr(path, "system.posix_acl_access", ACLS[state["acl"]])
    if state["kind"] in ("program", "file", "directory"):
        os.setxattr(path, "user.there", b"x")
    if state["kind"] == "program" and state["capability"]:
        os.setxattr(path, "security.capability", CAPABILITY)


def set_old(top):
    for at, dirs, files in os.walk(top, topdown=False):
        for name in dirs + files:
            os.utime(os.path.join(at, name), (OLD, OLD), follow_symlinks=False)
    os.utime(top, (OLD, OLD))


def make_place(top, state):
    """{p} with {f} in it; {o} of the user; s, where the host keeps what it puts in their place."""
    directory(top, 0o755, 0)
    directory(f"{top}/own", 0o755, BOB)
    write(f"{top}/own/mine", "mine", 0o644, BOB)
    directory(f"{top}/own/dir", 0o755, BOB)
    directory(f"{top}/s", 0o755, 0)
    write(f"{top}/s/secret", "secret", 0o600, 0)
    write(f"{top}/s/own", "own other", 0o644, BOB)
    directory(f"{top}/s/d", 0o700, 0)
    write(f"{top}/s/d/f", "inside a secret", 0o600, 0)
    uid, mode = state["parent"]
    directory(f"{top}/p", 0o755, 0)
    make_object(f"{top}/p/f", state)
    put(f"{top}/p", mode, uid, uid)
    if state["parent's"] in PARENTS:
        os.setxattr(f"{top}/p", *PARENTS[state["parent's"]])
    set_old(top)
    if state["flags"] and state["kind"] not in ("link", "fifo"):
        add_flags(f"{top}/p/f", state["flags"])
    if state["parent's"] == "append-only":
        add_flags(f"{top}/p", APPEND)


# ---- changes on the host ----

@dataclasses.dataclass(frozen=True)
class Change:
    name: str
    make: object  # function of the place
    names: bool = False  # what a name leads to
    search: bool = False  # which users may search the directory
    mount: str = ""  # that option of the mount


def despite_flags(path, act, *arguments):
    """The host takes them away for a moment."""
    flags = 0 if stat.S_ISFIFO(os.stat(path).st_mode) else flags_of(path)
    if flags & (APPEND | IMMUTABLE) and act is not set_flags:
        add_flags(path, 0, flags)
        act(path, *arguments)
        add_flags(path, flags)
    else:
        act(path, *arguments)


def on_object(act, *arguments):
    def change(top):
        if not os.path.islink(f"{top}/p/f"):
            despite_flags(f"{top}/p/f", act, *arguments)
    return change


def on_parent(act, *arguments):
    return lambda top: despite_flags(f"{top}/p", act, *arguments)


def chown(path, uid, gid=-1):
    os.chown(path, uid, gid, follow_symlinks=False)


def take(path):
    os.chown(path, 0, 0)
    os.chmod(path, 0o700)


def suid_of_root(path):
    os.chown(path, 0, 0)
    os.chmod(path, 0o6755)


def set_flags(path, added, removed=0):
    if not os.path.islink(path) and not stat.S_ISFIFO(os.stat(path).st_mode):
        added |= flags_of(path) & IMMUTABLE & ~removed
        add_flags(path, 0, IMMUTABLE)  # as long as it is that, nothing else can be set
        add_flags(path, added, removed)


def set_acl(path, what):
    os.setxattr(path, "system.posix_acl_access", ACLS[what])


def without(path, name):
    try:
        os.removexattr(path, name)
    except OSError as e:
        if e.errno != errno.ENODATA:
            raise


def set_capability(path):
    if os.path.isfile(path):
        os.setxattr(path, "security.capability", CAPABILITY)


def make_room(top):
    """The host may do everything."""
    for name in "p", "p/f":
        if os.path.lexists(f"{top}/{name}"):
            set_flags(f"{top}/{name}", 0, APPEND | IMMUTABLE)


def renamed(to):
    def change(top):
        make_room(top)
        os.rename(f"{top}/p/f", f"{top}/{to}")
    return change


def replaced(by):
    def change(top):
        make_room(top)
        os.rename(f"{top}/p/f", f"{top}/s/away")
        os.rename(f"{top}/s/{by}", f"{top}/p/f")
    return change


def renamed_over(by):
    def change(top):
        make_room(top)
        if os.path.isdir(f"{top}/p/f") and not os.path.islink(f"{top}/p/f"):
            os.rename(f"{top}/p/f", f"{top}/s/away")
        os.rename(f"{top}/s/{by}", f"{top}/p/f")
    return change


def replaced_by_link(to):
    def change(top):
        make_room(top)
        os.symlink(to, f"{top}/s/link")
        replaced("link")(top)
    return change


def removed(top):
    make_room(top)
    if os.path.isdir(f"{top}/p/f") and not os.path.islink(f"{top}/p/f"):
        shutil.rmtree(f"{top}/p/f")
    else:
        os.unlink(f"{top}/p/f")


def number_reused(top):
    removed(top)
    write(f"{top}/p/f", "reused", 0o600, 0)


def number_reused_by_program(top):
    removed(top)
    make_program(f"{top}/p/f", 0o4755, 0)


def parent_swapped(top):
    make_room(top)
    os.rename(f"{top}/p", f"{top}/s/p")
    os.rename(f"{top}/s/d", f"{top}/p")


def parent_is_link(top):
    make_room(top)
    os.rename(f"{top}/p", f"{top}/s/p")
    os.symlink("s/d", f"{top}/p")


def bind(source, target):
    if LIBC.mount(os.fsencode(source), os.fsencode(target), None, 4096, None) != 0:
        raise OSError(ctypes.get_errno(), f"bind {source} {target}")


def mounted_over(what, on):
    def change(top):
        target = f"{top}/{on}"
        is_dir = os.path.isdir(target) and not os.path.islink(target)
        if not os.path.islink(target):
            bind(f"{top}/s/d" if is_dir else f"{top}/s/{what}", target)
    return change


def remount(option):
    def change(top):
        mount = os.path.dirname(top)
        subprocess.run(["mount", "-o", f"remount,bind,{option}", mount], check=True)
    return change


def changes():
    alone = {"nothing": lambda top: None}
    own = {
        "taken by root": on_object(take), "chown to root": on_object(chown, 0),
        "chown to another": on_object(chown, ANN),
        "chown to user": on_object(chown, BOB), "chgrp": on_object(chown, -1, FOREIGN),
        "chgrp to own": on_object(chown, -1, SHARED),
        "chmod 0": on_object(os.chmod, 0), "chmod 600": on_object(os.chmod, 0o600), 
        "chmod 755": on_object(os.chmod, 0o755), "chmod 777": on_object(os.chmod, 0o777),
        "suid of root": on_object(suid_of_root), "ACL that denies": on_object(set_acl, "denies user"),
        "ACL that allows": on_object(set_acl, "allows user"),
        "ACL removed": on_object(without, "system.posix_acl_access"),
        "append-only": on_object(set_flags, APPEND), "immutable": on_object(set_flags, IMMUTABLE),
        "flags taken away": on_object(set_flags, 0, APPEND | IMMUTABLE),
        "capability": on_object(set_capability), "capability removed": on_object(without, "security.capability"),
    }
    names = {
        "renamed away": renamed("s/away"), "renamed beside": renamed("p/g"), "given to user": renamed("own/given"),
        "replaced by a secret": replaced("secret"), "replaced by own": replaced("own"),
        "replaced by a directory": replaced("d"),
        "a secret renamed over": renamed_over("secret"), "own renamed over": renamed_over("own"),
        "link to a secret": replaced_by_link("../s/secret"), "link to own": replaced_by_link("../own/mine"),
        "link to a closed directory": replaced_by_link("../s/d"), "removed": removed,
        "number reused": number_reused, "number reused by a suid program": number_reused_by_program,
        "directory swapped": parent_swapped, "directory is a link": parent_is_link,
        "mounted over": mounted_over("secret", "p/f"), "mounted over, own": mounted_over("own", "p/f"),
        "directory mounted over": mounted_over("d", "p"),
    }
    search = {
        "directory closed": on_parent(os.chmod, 0o700), "directory taken by root": on_parent(take),
        "directory searchable": on_parent(os.chmod, 0o711),
        "directory sticky": on_parent(os.chmod, 0o1777), "directory for all": on_parent(os.chmod, 0o777),
        "directory of root": on_parent(chown, 0), "directory of user": on_parent(chown, BOB),
        "directory denied by ACL": on_parent(set_acl, "denies user"),
        "directory immutable": on_parent(set_flags, IMMUTABLE), "directory append-only": on_parent(set_flags, APPEND),
    }
    return [*(Change(name, make) for name, make in (alone | own).items()),
            *(Change(name, make, names=True) for name, make in names.items()),
            *(Change(name, make, search=True) for name, make in search.items()),
            *(Change(f"remounted {o}", remount(o), mount=o) for o in ("ro", "nosuid", "noexec"))]


# ---- combinations ----

@dataclasses.dataclass
class Combination:
    operation: Operation
    change: Change
    delay: float
    state: dict
    place: str = ""  # below the top of a side
    slot: int = 0

    def __str__(self):
        state = ", ".join(f"{k} {oct(v) if k == 'mode' else v}" for k, v in self.state.items())
        return f"{self.operation}, {self.delay} s after '{self.change.name}' ({state})"

    def lines(self, texts):
        top = self.place
        by_directory = self.operation.via.endswith("directory")
        p = f"@{self.slot + 3}" if by_directory else f"{top}/p"
        names = {"f": f"{p}/f", "p": p, "q": f"{top}/p", "o": f"{top}/own"}
        return [text.format(**names, **{c: self.slot + i for i, c in enumerate("abcd")}) for text in texts]


SLOTS = 4


def possible(operation, change, delay):
    if change.mount:
        # That takes half a second, and what may write keeps it from being made.
        return delay >= 0.5 and not (change.mount == "ro" and operation.writes)
    return True


def every_way():
    return [way for way in itertools.product(operations(), changes(), DELAYS) if possible(*way)]


def random_combinations(rng, ways):
    return [Combination(*way, {key: rng.choice(values) for key, values in STATES.items()}) for way in ways]


# ---- what is done with them ----

class Side:
    def __init__(self, actor, top):
        self.actor, self.top = actor, pathlib.Path(top)

    def make(self, combination):
        make_place(f"{self.top}/{combination.place}", combination.state)

    def act(self, work):
        """Of (combination, texts): the answers of each."""
        answers = iter(self.actor.many([line for c, texts in work for line in c.lines(texts)]))
        return [[next(answers) for _ in texts] for _, texts in work]

    def change(self, combination):
        combination.change.make(f"{self.top}/{combination.place}")

    def picture(self, combination):
        return picture(f"{self.top}/{combination.place}", times=True)


def comparable_times(left, before):
    """Of the present time only whether it has changed is the same on both sides."""
    known = {said["number"]: said for said in before.values()}
    comparable = {}
    for name, said in left.items():
        was = known.get(said["number"], {})
        comparable[name] = one = {key: value for key, value in said.items() if key != "number"}
        for key in "mtime", "ctime":
            value = said[key]
            one[key] = value // 10**9 if value < YOUNG * 10**9 else "changed" if value != was.get(key) else "as it was"
        if stat.S_ISFIFO(int(one["mode"], 8)):  # ftrac(1), LIMITS
            del one["mtime"], one["ctime"]
    return comparable


def without_rights(pictures):
    """Without what a store through a mapping takes away, and natively leaves: ftrac(1), LIMITS."""
    return {name: said | {"mode": oct(int(said["mode"], 8) & ~0o6000),
                          "xattrs": {k: v for k, v in said["xattrs"].items() if k != "security.capability"}}
            for name, said in pictures.items()}


def lacks_sgid(left, natively):
    """Whether chmod(2) has left out the sgid bit alone: the group that the kernel remembers is not the user's."""
    def without(pictures):
        return {name: said | {"mode": oct(int(said["mode"], 8) & ~0o2000)} for name, said in pictures.items()}
    return left != natively and without(left) == without(natively) and all(
        int(left[name]["mode"], 8) & ~int(natively[name]["mode"], 8) == 0 for name in left)


def access_of_flags(combination):
    """Only a file system could tell access(2), and the kernel does not ask ours."""
    state, change = combination.state, combination.change
    flagged = state["flags"] or any(word in change.name for word in ("immutable", "append-only", "flags"))
    return combination.operation.name == "access" and (flagged or change.mount)


def without_bits(answers):
    """Answers of stat(2) without suid and sgid bits, which are not shown where they have no effect: ftrac(1), LIMITS."""
    return [re.sub(r"^ok (10\d+)", lambda m: f"ok {int(m[1], 8) & ~0o6000:o}", answer) for answer in answers]


def shows_no_bits(combination, got, wanted):
    operation, change = combination.operation, combination.change
    return operation.informs and change.mount == "nosuid" and got == without_bits(wanted)


def maps_what_became_append_only(combination, world):
    """mmap(2) of a descriptor that is older than the flag, where files are passed through: ftrac(1), LIMITS."""
    passes = world.fidelity == "open" or world.variant == "exclude"
    return (passes and combination.operation.name == "store" and combination.operation.via == "descriptor to write" and
            combination.change.name == "append-only")


def classify(combination, world, kind):
    operation, change = combination.operation, combination.change
    early = combination.delay < REMEMBERED and world.variant != "stat"
    inside = operation.name.endswith("inside")
    by_name = operation.via in BY_NAME or inside
    if kind in (SAME, OTHER_ERROR):
        return kind
    if access_of_flags(combination) or kind == ALLOWS and maps_what_became_append_only(combination, world):
        return "documented"
    if kind == REFUSES:
        return ("refuses on a descriptor" if not by_name else "refuses, remembered" if early else "refuses late")
    if early and (operation.informs or by_name and (change.names or change.search and not operation.names) or
                  operation.name == "read inside"):
        return "remembered"
    return kind


class Tally:
    def __init__(self, checks, world):
        self.checks, self.world = checks, world
        self.classes, self.which = collections.Counter(), collections.defaultdict(collections.Counter)
        self.without = 0

    def add(self, combination, kind, got, wanted, more):
        self.checks.looked += 1
        self.classes[kind] += 1
        if kind != SAME:
            self.which[kind][f"{combination.operation}, '{combination.change.name}'"] += 1
        if not CLASSES[kind]:
            if arguments.tell == kind:
                print(f"{self.world}: {kind}: {combination}: got {got}, wanted {wanted} {more}")
            return
        self.checks.failed += 1
        if self.checks.failed <= arguments.told:
            print(f"NOT SO: {self.world}: {kind}: {combination}\n  got    {got}\n  wanted {wanted}")
            for line in more[:6]:
                print(f"  {line}")

    def end(self, path):
        said = ", ".join(f"{n} {kind}" for kind, n in sorted(self.classes.items()))
        print(f"{self.world}: {sum(self.classes.values())} combinations: {said}; {self.without} could not be opened",
              flush=True)
        path.write_text(json.dumps({"classes": self.classes, "which": self.which, "without": self.without}))


def is_ready(tally, combination, wanted, got):
    """Whether there is something to compare."""
    by_name = combination.operation.via == "name"
    if failed(wanted[0]) != failed(got[0]):
        tally.add(combination, ALLOWS if failed(wanted[0]) else DIFFERS, got, wanted, ["before the change"])
        return by_name
    tally.without += failed(wanted[0])  # the user has no such descriptor, or no such name
    return by_name or not failed(wanted[0])


def prepare(tally, sides, batch):
    for side in sides:
        for combination in batch:
            side.make(combination)
    work = [(c, c.operation.before) for c in batch]
    wanted, got = [side.act(work) for side in sides]
    return [c for c, one, other in zip(batch, wanted, got) if is_ready(tally, c, one, other)]


def change(sides, some):
    sides[1].act([(c, ("lstat {f}", "lstat {p}")) for c in some if c.operation.via in BY_NAME])
    for combination in some:
        for side in sides:
            side.change(combination)


def use(tally, sides, some):
    before = [[side.picture(c) for c in some] for side in sides]
    wanted, got = [side.act([(c, c.operation.after) for c in some]) for side in sides]
    after = [[side.picture(c) for c in some] for side in sides]
    for one in zip(some, wanted, got, *before, *after):
        compare(tally, *one)


def compare(tally, combination, wanted, got, native_before, before, native_after, after):
    natively, left, was = (comparable_times(native_after, native_before), comparable_times(after, before),
                           comparable_times(before, before))
    if combination.operation.name == "store":
        natively, left, was = map(without_rights, (natively, left, was))
    kind = judge(got, wanted, left, natively, was)
    if got == wanted and lacks_sgid(left, natively):
        kind = REFUSES
    kind = classify(combination, tally.world, kind)
    if kind == DIFFERS and shows_no_bits(combination, got, wanted):
        kind = "documented"
    if kind == ALLOWS and combination.operation.name == "store" and left == natively:
        kind = "without effect"
    tally.add(combination, kind, got, wanted, differences(left, natively))


def wait_until(start, delay):
    time.sleep(max(0, start + delay - time.monotonic()))


def act_batch(tally, sides, batch):
    """Begins the combinations with the longest delays first, and runs the others meanwhile."""
    ready = collections.defaultdict(list)
    for combination in prepare(tally, sides, batch):
        ready[combination.delay].append(combination)
    started = {}
    for delay in 10, 2:
        change(sides, ready[delay])
        started[delay] = time.monotonic()
    for combination in ready[0]:
        change(sides, [combination])
        time.sleep(TICK)
        use(tally, sides, [combination])
    for batch in batches(ready[0.5], 40):
        change(sides, batch)
        wait_until(time.monotonic(), 0.5)
        use(tally, sides, batch)
    for delay in 2, 10:
        wait_until(started[delay], delay)
        use(tally, sides, ready[delay])


def mounts_of(on, side):
    """Makes the mounts that are remounted later: one for each option and each delay."""
    for option, delay in itertools.product(("ro", "nosuid", "noexec"), DELAYS):
        top = on / side / f"{option}-{delay}"
        top.mkdir()
        bind(top, top)


def place_all(batch):
    for i, combination in enumerate(batch):
        where = f"{combination.change.mount}-{combination.delay}/" if combination.change.mount else ""
        combination.place, combination.slot = f"{where}t{i}", 10 + SLOTS * i


def remove_all(on):
    for path in reversed(mounts_below(on)):
        subprocess.run(["umount", "-l", path], check=False)
    for at, dirs, files in os.walk(on):
        for name in dirs + files:
            path = os.path.join(at, name)
            mode = os.lstat(path).st_mode
            if (stat.S_ISDIR(mode) or stat.S_ISREG(mode)) and flags_of(path) & (APPEND | IMMUTABLE):
                add_flags(path, 0, APPEND | IMMUTABLE)
    shutil.rmtree(on)


def check_batch(tally, world, top, on, batch):
    for name in "native", "through":
        (on / name).mkdir(parents=True)
        mounts_of(on, name)
    place_all(batch)
    with Place(world, top, on) as mount:
        with acting((BOB, on / "native"), (BOB, mount(on / "through"))) as (native, through):
            act_batch(tally, [Side(native, on / "native"), Side(through, on / "through")], batch)
        mount.unmount()
    mount.db.unlink()
    remove_all(on)


def check_world(checks, world, top):
    rng = random.Random(f"{arguments.seed} {world}")
    ways = every_way()
    rng.shuffle(ways)
    if arguments.all:  # one time for each operation and change, another one in each world
        ways = list({way[:2]: way for way in ways}.values())
    else:
        ways = ways[:arguments.number]
    combinations = random_combinations(rng, ways)
    tally = Tally(checks, world)
    for i in range(0, len(combinations), BATCH):
        check_batch(tally, world, top, base / "disk" / f"{top.name} {i}".replace(" ", "-"), combinations[i:i + BATCH])
    tally.end(top / "tally")


BATCH = 1000


# ---- all of it ----

def print_classes(sums):
    for kind, found in sums.items():
        if kind in (SAME, "documented"):
            continue
        operations_of = collections.Counter()
        for text, n in found.items():
            operations_of[text.rsplit(", '", 1)[0]] += n
        most = operations_of.most_common(40 if arguments.all else 12)
        print(f"{kind}: " + "; ".join(f"{n} {text}" for text, n in most))


def print_all(checks):
    classes, which, without = collections.Counter(), collections.defaultdict(collections.Counter), 0
    for path in base.glob("*/tally"):
        tally = json.loads(path.read_text())
        classes.update(tally["classes"])
        without += tally["without"]
        for kind, found in tally["which"].items():
            which[kind].update(found)
    print_classes(which)
    print(f"seed {arguments.seed}: {sum(classes.values())} combinations of {len(operations())} operations and "
          f"{len(changes())} changes; {without} could not be opened: " + ", ".join(f"{classes[kind]} {kind}" for kind in CLASSES))
    checks.check("there is something to compare", classes[SAME] > 100, classes)


need_fuse()
need("mkfs.ext4", "setfacl")
if os.geteuid() != 0:
    skip("only root can act for several users")
parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
parser.add_argument("--number", type=int, default=250)
parser.add_argument("--all", action="store_true")
parser.add_argument("--world", default="*", help="only those ways of mounting, as 'device * stat'")
parser.add_argument("--tell", default="", help="also each of this class, as 'other error'")
parser.add_argument("--told", type=int, default=8, help="so many failures of each way of mounting")
arguments = parser.parse_args()
many = arguments.all or arguments.number > BATCH
os.umask(0o022)
checks = Checks()
base = pathlib.Path(tempfile.mkdtemp(prefix="ftrac-case-"))
base.chmod(0o755)
print(f"seed {arguments.seed}", flush=True)
with transports(not arguments.world.startswith("device")) as ways, disk(base, 8000 if many else 1000):
    chosen = [w for w in worlds(ways, fidelities()) if fnmatch.fnmatch(str(w), arguments.world)]
    chosen = chosen if arguments.all else some(chosen, 5)
    in_worlds(checks, base, "over time", check_world, chosen, 9, 5400 if many else 300)
print_all(checks)
shutil.rmtree(base)
checks.end()
