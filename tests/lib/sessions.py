# SPDX-License-Identifier: MIT
"""Random sessions that change a tree of files, and what they change, worked out a second time.

A session is a list of steps, each a list of words. Most are done by Python (do()), others by the programs of a shell (shell()).
Plan keeps what is at which path, as a dict from paths to what is there, and knows at the end what is new, changed, renamed
and gone: by steps alone, without a trace. As a program, this file does steps of a file of JSON: sessions.py FILE FROM TO.
"""
import ctypes
import json
import mmap
import os
import random
import shlex
import sys

AT_FDCWD, AT_SYMLINK_FOLLOW, RENAME_EXCHANGE = -100, 0x400, 2


# ---- what is done ----

def call(name, a, b, flags):
    """renameat2(2) and linkat(2), with flags."""
    libc = ctypes.CDLL(None, use_errno=True)
    if getattr(libc, name)(AT_FDCWD, a.encode(), AT_FDCWD, b.encode(), flags):
        raise OSError(ctypes.get_errno(), f"{name} {a} {b}")


def put(path, flags, data, offset=None):
    fd = os.open(path, os.O_WRONLY | flags, 0o644)
    if offset is None:
        os.write(fd, data)
    else:
        os.pwrite(fd, data, offset)
    os.close(fd)


def put_unnamed(path, n):
    fd = os.open(os.path.dirname(path) or ".", os.O_WRONLY | os.O_TMPFILE, 0o644)
    os.write(fd, b"u" * n)
    call("linkat", f"/proc/self/fd/{fd}", path, AT_SYMLINK_FOLLOW)
    os.close(fd)


def replace(path, temporary, n):
    put(temporary, os.O_CREAT | os.O_EXCL, b"r" * n)
    os.rename(temporary, path)


def store(path, offset, n):
    fd = os.open(path, os.O_RDWR)
    with mmap.mmap(fd, 0) as memory:
        memory[offset:offset + n] = b"m" * n
    os.close(fd)


def copy_range(source, path, n):
    a, b = os.open(source, os.O_RDONLY), os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    os.copy_file_range(a, b, n)
    os.close(a)
    os.close(b)


DO = {
    "create": lambda path, n: put(path, os.O_CREAT | os.O_EXCL, b"c" * n),
    "write": lambda path, offset, n: put(path, 0, b"w" * n, offset),
    "append": lambda path, n: put(path, os.O_APPEND, b"a" * n),
    "rewrite": lambda path, n: put(path, os.O_TRUNC, b"t" * n),
    "truncate": os.truncate,
    "rename": os.rename,
    "exchange": lambda a, b: call("renameat2", a, b, RENAME_EXCHANGE),
    "link": os.link,
    "symlink": os.symlink,
    "unlink": os.unlink,
    "rmdir": os.rmdir,
    "mkdir": os.mkdir,
    "chmod": os.chmod,
    "times": lambda path: os.utime(path, (1, 2)),
    "unnamed": put_unnamed,
    "replace": replace,
    "store": store,
    "copy": copy_range,
}


def shell(step):
    """The step as a line of a shell; None: only Python does it."""
    name, *words = [shlex.quote(str(word)) for word in step]
    commands = {
        "create": "head -c {1} /dev/zero > {0}",
        "write": "head -c {2} /dev/zero | dd of={0} oflag=seek_bytes seek={1} conv=notrunc iflag=fullblock bs=64K status=none",
        "append": "head -c {1} /dev/zero >> {0}",
        "rewrite": "head -c {1} /dev/zero > {0}",
        "truncate": "truncate -s {1} {0}",
        "rename": "mv -fT {0} {1}",
        "link": "ln {0} {1}",
        "symlink": "ln -s {0} {1}",
        "unlink": "rm {0}",
        "rmdir": "rmdir {0}",
        "mkdir": "mkdir {0}",
        "times": "touch {0}",
    }
    if name == "chmod":
        return f"chmod {step[2]:o} {words[0]}"
    return commands[name].format(*words) if name in commands else None


# ---- what comes of it ----

class Inode:
    def __init__(self, kind, size=0, old=False):
        self.kind, self.size, self.size_before, self.old = kind, size, size, old
        self.written = self.set = self.mapped = False
        self.ranges = []  # that were written, since it was emptied

    def write(self, offset, n):
        if n:
            self.ranges.append((offset, offset + n))
        self.size = max(self.size, offset + n)
        self.written = True

    def truncate(self, size):
        self.size, self.written = size, True
        if size == 0:
            self.ranges = []

    def bytes(self):
        """How many were written; None: not known to the byte."""
        there = {i for low, high in self.ranges for i in range(low, min(high, self.size))}
        return None if self.mapped else len(there)


class Name:
    def __init__(self, inode, home=None):
        self.inode, self.home = inode, home  # home: the directory (a Name) and the name that it had before
        self.is_used = False  # a step has used it, not only put something into its place


class Plan:
    """What is at each path, as steps change it."""

    def __init__(self, rng):
        self.rng, self.steps, self.removed = rng, [], []
        self.top = Name(Inode("dir", old=True))
        self.there = {"": self.top}
        self.before = {}  # path: Name
        self.made = 0

    # ---- the tree before ----

    def begin(self, n_dirs, n_files):
        for i in range(n_dirs):
            parent = self.rng.choice(list(self.there))
            self.add_old(os.path.join(parent, f"d{i}"), Inode("dir", old=True))
        dirs = list(self.there)
        for i in range(n_files):
            size = self.rng.choice([0, 1, 100, 5000, 9000])
            self.add_old(os.path.join(self.rng.choice(dirs), f"f{i}"), Inode("file", size, old=True))
        self.before = dict(self.there)

    def add_old(self, path, inode):
        self.there[path] = Name(inode, (self.there[os.path.dirname(path)], os.path.basename(path)))

    def build(self, top):
        for path, name in self.before.items():
            if name.inode.kind == "dir":
                os.makedirs(os.path.join(top, path), exist_ok=True)
            else:
                with open(os.path.join(top, path), "wb") as f:
                    f.write(b"o" * name.inode.size_before)

    # ---- steps ----

    def some(self, kind):
        return self.rng.choice([p for p, name in self.there.items() if p and name.inode.kind == kind])

    def some_dir(self):
        return self.rng.choice([p for p, name in self.there.items() if name.inode.kind == "dir"])

    def new(self):
        self.made += 1
        directory, gone = self.some_dir(), [p for p in self.before if p not in self.there]
        gone = [p for p in gone if os.path.dirname(p) in self.there and self.there[os.path.dirname(p)].inode.kind == "dir"]
        if gone and self.rng.random() < 0.3:  # where something was
            return self.rng.choice(gone)
        return os.path.join(directory, f"n{self.made}")

    def below(self, path):
        return [p for p in self.there if p.startswith(path + "/")]

    def take(self, path):
        """Removes names from the dict: the path and what is below it, as a list of (rest of the path, Name)."""
        return [(p[len(path):], self.there.pop(p)) for p in [path, *self.below(path)]]

    def give(self, path, taken):
        self.there.update({path + rest: name for rest, name in taken})

    def drop(self, path):
        self.removed.append((path, self.there.pop(path)))

    def step(self, *words):
        self.steps.append(words)
        name, path, *rest = words
        inode = self.there[path].inode if path in self.there else None
        self.note_used(name, words)
        if name == "create":
            self.there[path] = Name(Inode("file"))
            self.there[path].inode.write(0, rest[0])
        elif name == "write":
            inode.write(*rest)
        elif name == "append":
            inode.write(inode.size, rest[0])
        elif name in ("rewrite", "truncate"):
            inode.truncate(0 if name == "rewrite" else rest[0])
            if name == "rewrite":
                inode.write(0, rest[0])
        elif name == "rename":
            if rest[0] in self.there:
                self.drop(rest[0])
            self.give(rest[0], self.take(path))
        elif name == "exchange":
            a, b = self.take(path), self.take(rest[0])
            self.give(path, b)
            self.give(rest[0], a)
        elif name == "link":
            self.there[rest[0]] = Name(inode)
        elif name == "symlink":
            self.there[rest[0]] = Name(Inode("symlink"))
        elif name in ("unlink", "rmdir"):
            self.drop(path)
        elif name == "mkdir":
            self.there[path] = Name(Inode("dir"))
        elif name in ("chmod", "times"):
            inode.set = True
        elif name == "unnamed":
            self.there[path] = Name(Inode("file"))
            self.there[path].inode.write(0, rest[0])
        elif name == "replace":
            if path in self.there:
                self.drop(path)
            self.there[path] = Name(Inode("file"))
            self.there[path].inode.write(0, rest[1])
        elif name == "store":
            inode.written = inode.mapped = True
        elif name == "copy":
            source, path, n = words[1:]
            target = self.there.setdefault(path, Name(Inode("file"))).inode
            target.truncate(0)
            target.write(0, min(n, self.there[source].inode.size))
        else:
            raise ValueError(name)

    def note_used(self, name, words):
        used = {"replace": [], "copy": words[1:3], "exchange": words[1:3]}.get(name, words[1:2])
        for path in used:
            if path in self.there:
                self.there[path].is_used = True

    def unused(self):
        """Paths of what was there before and was replaced, and that nothing had used."""
        return {path for path, name in self.before.items() if name in self.gone and not name.is_used}

    def random_step(self):
        rng = self.rng
        n = rng.choice([1, 10, 4096, 7000])
        name = rng.choice(["create"] * 3 + ["write"] * 3 + ["append", "rewrite", "truncate"] + ["rename"] * 3 + ["rename dir",
                           "rename over", "exchange", "exchange dirs", "link", "symlink"] + ["unlink"] * 3 +
                          ["rmdir", "mkdir", "mkdir", "chmod", "times", "unnamed", "replace", "replace", "store", "copy",
                           "copy over", "remake", "empty"])
        if name in ("create", "unnamed"):
            self.step(name, self.new(), n)
        elif name == "mkdir":
            self.step(name, self.new())
        elif name == "write":
            path = self.some("file")
            self.step(name, path, rng.randrange(self.there[path].inode.size + 1), n)
        elif name in ("append", "rewrite"):
            self.step(name, self.some("file"), n)
        elif name == "truncate":
            self.step(name, self.some("file"), rng.choice([0, 1, 3000, 6000]))
        elif name == "rename":
            self.step(name, self.some("file"), self.new())
        elif name == "rename over":
            a, b = self.some("file"), self.some("file")
            if self.there[a].inode is not self.there[b].inode:  # links of one file stay
                self.step("rename", a, b)
        elif name == "rename dir":
            a, b = self.some("dir"), self.new()
            if not (b + "/").startswith(a + "/"):
                self.step("rename", a, b)
        elif name == "exchange":
            a, b = self.some("file"), self.some("file")
            if self.there[a].inode is not self.there[b].inode:
                self.step(name, a, b)
        elif name == "exchange dirs":
            a, b = self.some("dir"), self.some(rng.choice(["dir", "file"]))
            if not (a + "/").startswith(b + "/") and not (b + "/").startswith(a + "/"):
                self.step("exchange", a, b)
        elif name == "link":
            self.step(name, self.some("file"), self.new())
        elif name == "symlink":
            self.step(name, "target-%d" % self.made, self.new())
        elif name == "unlink":
            self.step(name, self.some("file"))
        elif name == "chmod":
            self.step(name, self.some("file"), rng.choice([0o600, 0o755]))
        elif name == "times":
            self.step(name, self.some("file"))
        elif name == "replace":
            path = self.some("file")
            self.made += 1
            self.step(name, path, os.path.join(os.path.dirname(path), f"tmp{self.made}"), n)
        elif name == "store":
            path = self.some("file")
            if self.there[path].inode.size:
                self.step(name, path, rng.randrange(self.there[path].inode.size), 1)
        elif name in ("copy", "copy over"):
            a, b = self.some("file"), self.new() if name == "copy" else self.some("file")
            if b not in self.there or self.there[a].inode is not self.there[b].inode:
                self.step("copy", a, b, n)
        else:
            self.empty_some(name)

    def empty_some(self, name):
        """rmdir: an empty directory. empty, remake: all that is in one, which may then be made once more, with a file."""
        path = self.some("dir")
        below = self.below(path)
        if len(below) > (0 if name == "rmdir" else 40):
            return
        for p in sorted(below, reverse=True):
            self.step("rmdir" if self.there[p].inode.kind == "dir" else "unlink", p)
        self.step("rmdir", path)
        if name == "remake":
            names = [os.path.basename(p) for p in below if os.path.dirname(p) == path] or ["first"]
            self.step("mkdir", path)
            self.step("create", os.path.join(path, self.rng.choice(names)), 3)

    # ---- the difference ----

    def base(self, path, bases):
        """The directory before that stands for the one at the path now; None: it is new."""
        if path not in bases:
            name = self.there[path]
            bases[path] = name if name.home or name is self.top else None
            if not bases[path]:
                was = self.was((self.base(os.path.dirname(path), bases), os.path.basename(path)))
                if was and was.inode.kind == "dir" and was in self.gone:
                    bases[path] = was
        return bases[path]

    def was(self, place):
        return self.homes.get(place)

    def changes(self):
        """(kind, path, path before or None) of all changes."""
        self.homes = {name.home: name for name in self.before.values() if name.home}
        self.gone = {name for _, name in self.removed}
        old_path = {name: path for path, name in self.before.items()}
        bases, covered, found = {}, set(), set()
        for path, name in self.there.items():
            if not path:
                continue
            place = (self.base(os.path.dirname(path), bases), os.path.basename(path))
            was = self.was(place)
            was = was if was is not name else None
            same = was and (was.inode.kind == "dir") == (name.inode.kind == "dir")
            if name.home:
                if same and was in self.gone:
                    covered.add(was)
                if name.home != place:
                    found.add(("renamed", path, old_path[name]))
                elif name.inode.written:
                    found.add(("changed", path, None))
                elif name.inode.set:
                    found.add(("attributes", path, None))
            elif same and (name.inode.kind != "dir" or was in self.gone):
                covered.add(was)
                if name.inode.kind != "dir":
                    found.add(("changed", path, None))
            else:
                found.add(("created", path, None))
        for path, name in self.removed:
            if not name.home:
                found.add(("temporary", path, None))
            elif name not in covered:
                found.add(("removed", old_path[name], None))
        return found


def script(steps, plan_file, rng):
    """A shell script that does the steps: runs of them by Python, others by the programs of a shell."""
    lines, at = ["set -e"], 0
    while at < len(steps):
        end = min(at + rng.choice([5, 30, 60]), len(steps))
        lines.append(f"python3 {shlex.quote(__file__)} {shlex.quote(plan_file)} {at} {end}")
        at = end
        for _ in range(rng.randrange(12)):
            line = shell(steps[at]) if at < len(steps) else None
            if not line:
                break
            lines.append(line)
            at += 1
    return "\n".join(lines) + "\n"


def session(seed, n_files, n_steps):
    rng = random.Random(seed)
    plan = Plan(rng)
    plan.begin(n_files // 20, n_files - n_files // 20)
    while len(plan.steps) < n_steps:
        plan.random_step()
    return plan


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        for step in json.load(file)[int(sys.argv[2]):int(sys.argv[3])]:
            DO[step[0]](*step[1:])
