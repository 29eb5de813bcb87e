#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 30
# long: --long --times 5
"""Many processes at once in one tree, none of which knows what the others do: only errors that can
be natively, nothing blocked, and in the end the mount shows what is in the source, in all respects.

stress.py [--times N] [SEED...]: N times as many operations as usual, for each of the seeds.
"""
import argparse
import collections
import os
import pathlib
import shutil
import stat
import subprocess
import tempfile
import time

from filesystems import until
from ftractest import WORK, Checks, Mount, modes, need_fuse
from sample import some

need_fuse()
parser = argparse.ArgumentParser()
parser.add_argument("--times", type=float, default=1)
parser.add_argument("seeds", type=int, nargs="*", default=[1])
arguments = parser.parse_args()
checks = Checks()
ROOT = os.geteuid() == 0
MODES = some([options for _, options in modes()], 4)
# So few descriptors that most inodes are without one, yet enough for what six clients have open.
FEW = ["prlimit", "--nofile=192:192"]

# What may go wrong natively.  An error of its own counts as "SIGBUS": the file was cut off below a
# mapping.
ON_PATHS = {"ENOENT", "ENOTDIR", "EACCES", "ELOOP", "ENAMETOOLONG"}
RENAMING = ON_PATHS | {"EPERM", "EINVAL", "EEXIST", "EISDIR", "ENOTEMPTY"}
MAKING = ON_PATHS | {"EEXIST"}
ATTRIBUTE = ON_PATHS | {"EPERM", "ENODATA"}
POSSIBLE = {
    "open": ON_PATHS | {"EISDIR", "ENXIO"}, "create": MAKING | {"EISDIR", "ENXIO"},
    "close": set(), "read": set(), "write": set(), "ftruncate": set(), "fallocate": set(),
    "truncate": ON_PATHS | {"EISDIR", "EINVAL"}, "mmap": set(), "store": {"SIGBUS"},
    "fsync": set(), "copy": {"EINVAL"}, "lseek": {"ENXIO"}, "fchmod": {"EPERM"},
    "fchown": {"EPERM"}, "fstat": set(), "fsetxattr": {"EPERM", "EACCES"},
    "mkdir": MAKING, "rmdir": ON_PATHS | {"EPERM", "ENOTEMPTY"},
    "unlink": ON_PATHS | {"EPERM", "EISDIR"}, "rename": RENAMING, "exchange": RENAMING,
    "noreplace": RENAMING, "link": MAKING | {"EPERM"}, "symlink": MAKING,
    "readlink": ON_PATHS | {"EINVAL"}, "mknod": MAKING, "mkfifo": MAKING,
    "chmod": ON_PATHS | {"EPERM"}, "chown": ON_PATHS | {"EPERM"}, "utimens": ON_PATHS | {"EPERM"},
    "setxattr": ATTRIBUTE | {"EEXIST"}, "getxattr": ATTRIBUTE | {"ERANGE"},
    "listxattr": ON_PATHS | {"ERANGE"}, "removexattr": ATTRIBUTE, "setacl": ON_PATHS | {"EPERM"},
    "stat": ON_PATHS, "access": ON_PATHS, "statfs": ON_PATHS, "opendir": ON_PATHS,
    "readdir": set(), "linkat": MAKING | {"EPERM"}, "chdir": ON_PATHS,
    "tmpfile": ON_PATHS | {"EPERM"},  # ext4's word for a directory that has just been removed
}
# What the file system below does not have, as it turned out without a mount.
missing = collections.defaultdict(set)


# ---- what a tree is

def content_of(path, st):
    if stat.S_ISLNK(st.st_mode):
        return os.readlink(os.fsencode(path))
    if not stat.S_ISREG(st.st_mode):
        return None
    with open(path, "rb") as f:
        return f.read()


def attributes_of(path):
    return {name: os.getxattr(path, name, follow_symlinks=False)
            for name in sorted(os.listxattr(path, follow_symlinks=False))}


def names_in(path, st):
    """What a directory holds, with the number and the type that it says itself."""
    if not stat.S_ISDIR(st.st_mode):
        return {}
    with os.scandir(path) as entries:
        return {e.name: (e.inode(), entry_type(e)) for e in entries}


def tried(call, *arguments):
    """An ordinary user may not look into everything that the user's clients have made."""
    try:
        return call(*arguments)
    except OSError as e:
        return e.errno


OF_STAT = {"mode", "links", "uid", "gid", "size", "device", "mtime", "ctime", "atime"}


class Node:
    """All that can be known of a file, without its content at first: reading changes times."""

    def __init__(self, path):
        self.path, self.facts = path, {}
        self.look()

    def look(self):
        self.st = st = os.lstat(self.path)
        self.facts |= {"mode": stat.filemode(st.st_mode), "links": st.st_nlink, "uid": st.st_uid,
                       "gid": st.st_gid, "size": st.st_size, "device": st.st_rdev,
                       "mtime": st.st_mtime_ns, "ctime": st.st_ctime_ns, "atime": st.st_atime_ns}

    def look_inside(self):
        self.facts["attributes"] = tried(attributes_of, self.path)
        self.facts["content"] = tried(content_of, self.path, self.st)
        names = tried(names_in, self.path, self.st)
        is_open = isinstance(names, dict)
        self.names = names if is_open and os.access(self.path, os.X_OK) else {}
        self.facts["names"] = {n: kind for n, (_, kind) in names.items()} if is_open else names


def entry_type(entry):
    """As the directory says, not as the file is."""
    return ("symlink" if entry.is_symlink() else "directory" if entry.is_dir(follow_symlinks=False)
            else "file" if entry.is_file(follow_symlinks=False) else "other")


def brief(value):
    text = repr(value)
    return text if len(text) < 200 else f"{len(value)} of {text[:150]}..."


class Comparison:
    def __init__(self, label, without=(), may_be_late=False):
        self.label, self.without, self.may_be_late = label, without, may_be_late
        self.looked, self.failed = 0, 0
        self.inodes = {}, {}  # numbers to the first name each
        self.late = []

    def differ(self, name, fact, got, wanted):
        self.failed += 1
        if self.failed <= 10:
            checks.check(f"{self.label}: {fact} of {name!r} is the same", False,
                         f"\n  got    {brief(got)}\n  wanted {brief(wanted)}")

    def pair(self, name, got, wanted):
        for fact, value in wanted.facts.items():
            self.looked += fact not in self.without
            if fact in self.without or got.facts.get(fact) == value:
                continue
            if fact in OF_STAT and self.may_be_late:
                self.late.append((name, fact, got, wanted))
            else:
                self.differ(name, fact, got.facts.get(fact), value)
        firsts = [inodes.setdefault(node.st.st_ino, name)
                  for inodes, node in zip(self.inodes, (got, wanted))]
        self.looked += 1
        if firsts[0] != firsts[1]:
            self.differ(name, "the first hard link", *firsts)

    def look_again(self):
        """An answer about attributes that was under way while they changed is kept by the kernel
        like any other: for a second."""
        time.sleep(1.1 if self.late else 0)
        for name, fact, got, wanted in self.late:
            for node in got, wanted:
                node.look()
            if got.facts[fact] != wanted.facts[fact]:
                self.differ(name, fact, got.facts[fact], wanted.facts[fact])

    def end(self):
        self.look_again()
        print(f"{self.label}: {len(self.inodes[1])} files, {self.looked} facts compared, "
              f"{self.failed} differ"
              + (f" ({len(self.late)} looked at twice)" if self.late else ""))
        checks.check(f"{self.label}: there was something to compare", self.looked > 100)


def compare_living(label, mounted, source, cached):
    """Both side by side; ends with what the mount showed."""
    comparison, seen = Comparison(label, may_be_late=cached), {}

    def walk(name):
        nodes = [Node(os.path.join(top, name)) for top in (mounted, source)]
        for node in nodes:
            node.look_inside()
        comparison.pair(name, *nodes)
        seen[name] = nodes[0]
        for entry, (number, _) in sorted(nodes[0].names.items()):
            below = os.path.join(name, entry)
            if entry in nodes[1].names:
                try:
                    walk(below)
                except PermissionError:  # the kernel may know an old mode for a second
                    if ROOT:
                        raise
                    continue
                comparison.looked += 1
                if number != seen[below].st.st_ino:
                    comparison.differ(below, "number in the directory", number,
                                      seen[below].st.st_ino)

    walk("")
    comparison.end()
    return seen


def compare_left(label, seen, source):
    """What the mount showed with what is there now; looking at it has changed the atimes."""
    comparison = Comparison(label, without={"atime"})
    for name, node in seen.items():
        now = Node(os.path.join(source, name))
        now.look_inside()
        comparison.pair(name, node, now)
    comparison.end()


# ---- work

def work(label, top, seed, *options):
    """Runs the clients, and says which errors there were how often, by call."""
    done = subprocess.run([WORK / "stress", "--seed", str(seed), *map(str, options), top],
                          stdout=subprocess.PIPE, text=True, timeout=280)
    checks.equal(f"{label}: the clients ended as they should", done.returncode, 0)
    seen = collections.defaultdict(dict)
    for line in done.stdout.splitlines():
        if len(line.split()) == 3:
            call, error, n = line.split()
            seen[call][error] = int(n)
        else:
            print(line)
    return seen


def print_table(seen):
    errors = sorted({e for of_call in seen.values() for e in of_call})
    print(f"  {'':12}" + "".join(f"{e[:9]:>10}" for e in errors))
    for call, of_call in seen.items():
        print(f"  {call:12}" + "".join(f"{of_call.get(e, ''):>10}" for e in errors))


def check_errors(label, seen, allowed=frozenset()):
    total = 0
    for call, of_call in seen.items():
        impossible = set(of_call) - {"done"} - POSSIBLE[call] - missing[call] - allowed
        checks.equal(f"{label}: impossible errors of {call}", impossible, set())
        total += sum(of_call.values())
    print(f"{label}: {total} calls, {sum(of.get('done', 0) for of in seen.values())} done")


def check_successes(label, seen):
    if not ROOT:  # others may not give files away
        return
    checks.equal(f"{label}: calls that never succeeded",
                 [call for call in POSSIBLE if not any(s[call].get("done") for s in seen)], [])


def many(n):
    return int(n * arguments.times)


USERS = ("--users",) if ROOT else ()
VARIANTS = {
    "six": ("--clients", 6, "--operations", many(2000), *USERS),
    "killed": ("--clients", 6, "--operations", many(800), "--kill", many(50), *USERS),
    "sixty-four": ("--clients", 64, "--operations", many(120), *USERS),
    "outside": ("--clients", 6, "--operations", many(1000), *USERS),  # half of them are
}
INSIDE = [name for name in VARIANTS if name != "outside"]
# Of a file system below which files change, the kernel says ESTALE when it finds a directory
# elsewhere while something is renamed (d_splice_alias), and takes the directory that it knew by a
# name for gone when that was given to another outside and is removed.  So trees are not compared.
WITH_OUTSIDE = {"ESTALE"}


def open_up(top):
    """So that its owner can remove it, if that is not root."""
    for at, directories, _ in os.walk(top):
        for name in directories:
            if not os.path.islink(os.path.join(at, name)):
                os.chmod(os.path.join(at, name), 0o700)


def make_tree(base, name):
    top = base / name
    top.mkdir()
    top.chmod(0o777)
    return top


def natively(seed):
    with tempfile.TemporaryDirectory(prefix="ftrac-case-") as base:
        os.chmod(base, 0o755)
        found = []
        for name in INSIDE:
            top = make_tree(pathlib.Path(base), name)
            found.append(work(f"natively, {name}", top, seed, *VARIANTS[name]))
            for call, of_call in found[-1].items():
                missing[call] |= {"EOPNOTSUPP"} & set(of_call)
            check_errors(f"natively, {name}", found[-1])
        check_successes("natively", found)
        open_up(base)


def open_files(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def removal(mode, seed):
    """Nothing of a tree stays open in the daemon, whichever client was killed in the middle of what."""
    label = " ".join((*mode, f"seed {seed}, removal"))
    with Mount(*mode) as mount:
        mount.base.chmod(0o755)
        top = make_tree(mount.base, "removed")
        os.listdir(mount(top))
        before = open_files(mount.pid)
        work(label, mount(top), seed, *VARIANTS["killed"])
        names = sum(len(dirs) + len(files) for _, dirs, files in os.walk(mount(top)))
        open_up(top)
        shutil.rmtree(mount(top))
        for _ in range(200):  # the kernel tells of what it has closed and forgotten when it likes
            after = open_files(mount.pid)
            if after <= before:
                break
            time.sleep(0.05)
        checks.check(f"{label}: there was a tree", names > 20, names)
        checks.check(f"{label}: descriptors of the daemon", after <= before + 2,
                     f"{before} before, {after} when {names} names were removed")
        print(f"{label}: {before} descriptors before, {after} when {names} names were removed")


def check_trace(label, mount):
    checks.equal(f"{label}: the trace is complete", mount.fact("complete"), 1)
    checks.equal(f"{label}: no operation is lost", mount.fact("ops_lost"), 0)
    checks.equal(f"{label}: all operations are there",
                 mount.sql("SELECT count(*) FROM op")[0][0], mount.fact("ops_recorded"))
    opened, released = mount.sql(
        "SELECT sum(name IN ('open', 'create', 'tmpfile')), sum(name = 'release') FROM op "
        "WHERE result >= 0")[0]
    checks.equal(f"{label}: what was opened is closed", released, opened)
    checks.equal(f"{label}: handles that were not closed, and for how long there were operations", mount.sql(
        "SELECT path, flags, ((SELECT max(start_ns) FROM op) - open_ns) / 1000000 AS ms FROM handle "
        "WHERE close_ns IS NULL"), [])
    checks.equal(f"{label}: no error of a kind that a program may never see", mount.sql(
        "SELECT name, result, count(*) FROM op WHERE result IN (-5, -9, -38, -107, -24, -23) "
        "GROUP BY 1, 2"), [])


def until_closed(mount):
    """The kernel tells of closes later, and not any more once nothing is mounted."""
    until(lambda: mount.sql("SELECT count(*) FROM handle WHERE close_ns IS NULL")[0][0] == 0)


def crowd(label, mount, name, seed, *options):
    """One variant; ends with the errors it saw."""
    top = make_tree(mount.base, name)
    errors = work(f"{label}, {name}", mount(top), seed, *VARIANTS[name], *options)
    check_errors(f"{label}, {name}", errors, WITH_OUTSIDE if "--beside" in options else set())
    return top, errors


def mounted(mode, seed, variants=INSIDE, prefix=()):
    label = " ".join((*prefix, *mode, f"seed {seed}"))
    with Mount(*mode, prefix=prefix) as mount:
        mount.base.chmod(0o755)
        found, seen = [], {}
        for name in variants:
            top, errors = crowd(label, mount, name, seed)
            if name == "six":
                print_table(errors)
            found.append(errors)
            seen[top] = compare_living(f"{label}, {name}", mount(top), top, "--stat" not in mode)
        check_successes(label, found)
        crowd(label, mount, "outside", seed, "--beside", mount.base / "outside")
        until_closed(mount)
        mount.unmount()
        for top, nodes in seen.items():
            compare_left(f"{label}, {top.name}, unmounted", nodes, top)
        check_trace(label, mount)
        open_up(mount.base)


for seed in arguments.seeds:
    natively(seed)
    for mode in MODES:
        mounted(mode, seed)
        removal(mode, seed)
    if shutil.which("prlimit"):
        mounted(MODES[0], seed, ("six", "killed"), FEW)
checks.end()
