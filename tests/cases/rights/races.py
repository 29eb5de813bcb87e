#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# serial: switches io_uring of FUSE on for the machine
# seconds: 20
# long: --long --number 20000
"""While the host swaps names, links and mounts, a user reaches nothing through a mount of root that belongs to others.

The host exchanges what lies at a name as fast as it can, between something of the user's and something that belongs
to others; the user reads, writes, creates and removes there all the time.  In each fidelity, by the device and by rings,
with so few descriptors that those of the daemon are let go and come back.

races.py [--all] [--long] [--number N] [PART...]: N operations (1,000; --all: 100,000) of each part in a random third
of the ways of mounting (--all, --long: in each).
"""
import argparse
import collections
import ctypes
import fnmatch
import os
import pathlib
import random
import re
import shutil
import tempfile
import time

from actors import ANN, BOB, Place, acting, disk, in_worlds, make_program, picture, transports, worlds
from ftractest import Checks, fidelities, need, need_fuse, skip
from sample import some
from sides import LIBC, result

AT_FDCWD, EXCHANGE, DETACH, BIND = -100, 2, 2, 4096
FILES = 500  # that '#' stands for
FIRST = 10
FEW = ["prlimit", "--nofile=192:192"]  # rings take some
LATE_RELEASES = 0.25  # of all answers
# The part of the operations that may fail because an object is gone since its lookup, or because the user's share of
# so few descriptors is used up.
STORM = 0.05


def call(function, *arguments):
    words = (os.fsencode(a) if isinstance(a, (str, pathlib.Path)) else a for a in arguments)
    if getattr(LIBC, function)(*words) < 0:
        raise OSError(ctypes.get_errno(), function)


def exchange(a, b):
    call("renameat2", AT_FDCWD, a, AT_FDCWD, b, EXCHANGE)


def write(path, text, mode, uid):
    with open(path, "w") as f:
        f.write(text)
    os.chown(path, uid, uid)
    os.chmod(path, mode)


def directory(path, mode, uid):
    os.mkdir(path)
    os.chown(path, uid, uid)
    os.chmod(path, mode)


def suid(path):
    make_program(path, 0o4755, 0)


# ---- what there is: d, of the user's; closed, which the user may not enter ----

def make_both(top):
    directory(top, 0o755, 0)
    directory(top / "own", 0o755, BOB)
    write(top / "own" / "mine", "mine", 0o644, BOB)
    directory(top / "d", 0o755, BOB)
    directory(top / "closed", 0o700, 0)
    for place, text, uid in (top / "d", "mine", BOB), (top / "closed", "secret", 0):
        write(place / "f", text, 0o666, uid)
        write(place / "g", text, 0o666, uid)
        directory(place / "sub", 0o777, uid)
        write(place / "sub" / "f", text, 0o666, uid)
    make_program(top / "d" / "program", 0o755, BOB)
    suid(top / "closed" / "program")


ON_DIRECTORY = ["grab d/f", "spoil d/f", "make d/new#; unlink d/new#", "grab d/sub/f; spoil d/sub/f",
                "chmod d/f 0666; utimens d/f 5",
                "truncate d/f 4; setxattr d/f user.a 41", "mkdir d/n# 0755; rmdir d/n#",
                "link d/g own/l#; unlink own/l#",
                "rename d/g d/h# 0; rename d/h# d/g 0", "exec d/program", "symlink x d/s#; unlink d/s#",
                "list d; stat d/f",
                "make d/sub/new#; unlink d/sub/new#", "rename own/mine d/mine 0; rename d/mine own/mine 0"]
ON_FILE = ["grab d/f", "spoil d/f", "chmod d/f 0666", "utimens d/f 5", "truncate d/f 4", "setxattr d/f user.a 41",
           "link d/f own/l#; unlink own/l#", "getxattr d/f user.a; stat d/f", "chown d/f -1 65540", "exec d/f"]


class Part:
    """What the host does, and what the user does at the same time."""
    commands = ON_DIRECTORY

    def __init__(self, top):
        self.top = top
        make_both(top)
        self.make()

    def make(self):
        pass

    def ready(self, through):
        """Before the host begins."""

    def swap(self):
        raise NotImplementedError

    def put_back(self):
        """In the end all lies where it lay."""

    def forbidden(self):
        return picture(self.top / "closed")


class LinkForDirectory(Part):
    """d is a directory of the user, or a link to one that is closed."""

    def make(self):
        os.symlink("closed", self.top / "x")

    def swap(self):
        exchange(self.top / "d", self.top / "x")

    def put_back(self):
        if os.path.islink(self.top / "d"):
            self.swap()


class Directory(Part):
    """d is a directory of the user, or one that is closed."""

    def swap(self):
        exchange(self.top / "d", self.top / "closed")

    def put_back(self):
        if os.stat(self.top / "d").st_uid == 0:
            self.swap()


class LinkForFile(Part):
    """d/f is a file of the user, or a link to a secret that only root may read."""
    commands = ON_FILE

    def make(self):
        os.chmod(self.top / "closed", 0o755)
        os.chmod(self.top / "closed" / "f", 0o600)
        os.symlink("../closed/f", self.top / "x")

    def swap(self):
        exchange(self.top / "d" / "f", self.top / "x")

    def put_back(self):
        if os.path.islink(self.top / "d" / "f"):
            self.swap()


class File(Part):
    """d/f is a file of the user, or a secret."""
    commands = ON_FILE

    def make(self):
        os.chmod(self.top / "closed", 0o755)
        os.chmod(self.top / "closed" / "f", 0o600)

    def swap(self):
        exchange(self.top / "d" / "f", self.top / "closed" / "f")

    def put_back(self):
        if os.stat(self.top / "d" / "f").st_uid == 0:
            self.swap()


class Reused(Part):
    """d/f is removed and made again, once the user's, once a secret; often the number is that of before."""
    commands = ON_FILE

    def make(self):
        self.turn, self.lost = 0, 0

    def swap(self):
        path = self.top / "d" / "f"
        if self.turn % 2:
            self.lost += result(lambda: path.read_text()) != "secret"
        os.unlink(path)
        self.turn += 1
        if self.turn % 2:
            fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            os.write(fd, b"secret")
            os.close(fd)
        else:
            write(path, "mine", 0o666, BOB)

    def forbidden(self):
        return {} if self.lost == 0 else {"lost": {"times": self.lost}}


class Mounted(Part):
    """What is closed is mounted on d, and taken away."""
    pause = 0.002

    def make(self):
        self.mounted = False

    def swap(self):
        if self.mounted:
            call("umount2", self.top / "d", DETACH)
        else:
            call("mount", self.top / "closed", self.top / "d", None, BIND, None)
        self.mounted = not self.mounted

    def put_back(self):
        if self.mounted:
            self.swap()


class Sticky(Part):
    """In a sticky directory f is the user's, or another's; only the user's goes away."""
    commands = ["unlink sticky/f", "rename sticky/f own/away# 0; unlink own/away#",
                "make own/over#; rename own/over# sticky/f 0; unlink own/over#",
                "make own/ex#; rename own/ex# sticky/f 2; unlink own/ex#", "grab sticky/f", "spoil sticky/f",
                "chmod sticky/f 0666"]

    def make(self):
        directory(self.top / "sticky", 0o1777, 0)
        self.lost = self.turn = 0

    def swap(self):
        new, path = self.top / "closed" / "new", self.top / "sticky" / "f"
        write(new, "foreign", 0o600, ANN)
        number = os.stat(new).st_ino
        os.rename(new, path)
        time.sleep(0.0003)
        self.lost += result(lambda: os.stat(path).st_ino) != number or path.read_text() != "foreign"
        write(new, "mine", 0o666, BOB)
        os.rename(new, path)

    def forbidden(self):
        return {"foreign": {"lost": self.lost}}


class ComingBack(Part):
    """The user holds own files while the host moves them, and puts secrets at their names."""
    commands = ["same @# number-#", "chmod @# 0666; stat @#", "link @# own/l#; same own/l# number-#; unlink own/l#",
                "grab kept/#",
                "setxattr @# user.a 41; getxattr @# user.a"]

    def make(self):
        directory(self.top / "kept", 0o755, BOB)
        directory(self.top / "moved", 0o755, BOB)
        for i in range(FIRST, FIRST + FILES):
            write(self.top / "kept" / str(i), f"number-{i}", 0o666, BOB)
            write(self.top / "closed" / str(i), f"secret-{i}", 0o600, 0)
        self.away = set()

    def ready(self, through):
        said = through.many([f"open {i} {0o10000000} kept/{i}" for i in range(FIRST, FIRST + FILES)])
        assert set(said) == {"ok"}, collections.Counter(said)

    def swap(self):
        i = random.randrange(FIRST, FIRST + FILES)
        if i in self.away:
            os.rename(self.top / "kept" / str(i), self.top / "closed" / str(i))
            os.rename(self.top / "moved" / str(i), self.top / "kept" / str(i))
        else:
            os.rename(self.top / "kept" / str(i), self.top / "moved" / str(i))
            os.rename(self.top / "closed" / str(i), self.top / "kept" / str(i))
        self.away ^= {i}

    def put_back(self):
        for i in sorted(self.away):
            os.rename(self.top / "kept" / str(i), self.top / "closed" / str(i))
        self.away = set()


class ComingBackDirectories(ComingBack):
    """The same of directories, in which the user works."""
    commands = ["same @#/f number-#", "make @#/new; unlink @#/new", "chmod @#/f 0666",
                "spoil @#/g; unlink @#/h; list @#",
                "rename @#/f @#/e 0; rename @#/e @#/f 0", "grab kept/#/f"]

    def make(self):
        directory(self.top / "kept", 0o755, BOB)
        directory(self.top / "moved", 0o755, BOB)
        for i in range(FIRST, FIRST + FILES):
            for place, text, mode, uid in ("kept", "number", 0o755, BOB), ("closed", "secret", 0o700, 0):
                directory(self.top / place / str(i), mode, uid)
                for name in "f", "g":
                    write(self.top / place / str(i) / name, f"{text}-{i}", 0o666, uid)
        self.away = set()


PARTS = {"link for a directory": LinkForDirectory, "directory": Directory, "link for a file": LinkForFile, "file": File,
         "reused": Reused, "mounted": Mounted, "sticky": Sticky, "coming back": ComingBack,
         "coming back, directories": ComingBackDirectories}


# ---- the race ----

def swap_until(part, pipe, pause):
    """In a process of its own, until the pipe is closed; how often, and what it found."""
    rng, n = random.Random(), 0
    os.set_blocking(pipe, False)
    while True:
        try:
            if os.read(pipe, 1) == b"":
                break
        except BlockingIOError:
            pass
        part.swap()
        n += 1
        time.sleep(rng.random() * pause)
    part.put_back()
    return n, part.forbidden()


class Swapper:
    def __init__(self, part):
        self.stop_fd, (self.answer, write_answer) = None, os.pipe()
        read_stop, self.stop_fd = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self.stop_fd)
            self.work(part, read_stop, write_answer)
        os.close(read_stop)
        os.close(write_answer)

    @staticmethod
    def work(part, stop, answer):
        said = "failed"
        try:
            said = repr(swap_until(part, stop, getattr(part, "pause", 0.0004)))
        finally:
            with open(answer, "w") as f:
                f.write(said)
            os._exit(0)

    def end(self):
        os.close(self.stop_fd)
        with open(self.answer) as f:
            said = f.read()
        os.waitpid(self.pid, 0)
        assert said != "failed", "the host could not swap"
        return eval(said)  # of ours


def answers_of(text):
    """From what actor says: {(command, answer): how often}."""
    found = collections.Counter()
    for one in text.split(", "):
        said, n = one.rsplit("=", 1)
        found[tuple(said.split(" ", 1))] += int(n)
    return found


def is_forbidden(command, answer):
    return "secret" in answer or "foreign" in answer or "uid 0" in answer or "not the same" in answer


def check_answers(checks, fact, answers):
    total = sum(answers.values())
    wrong = {said: n for said, n in answers.items() if is_forbidden(*said)}
    checks.check(f"{fact}: the user reaches only own files", not wrong, wrong)
    # On a ring the release of what was closed stands behind other requests, and descriptors are few here: ftrac(1), LIMITS.
    emfile = LATE_RELEASES if fact.startswith("rings") else STORM
    for error, most in ("EIO", 0), ("ESTALE", STORM), ("ENOTCONN", 0), ("ENFILE", 0), ("EMFILE", emfile), ("no", 0):
        n = sum(count for (_, answer), count in answers.items() if answer.split()[0] == error)
        checks.check(f"{fact}: {error} is rare", n <= most * total, f"{n} of {total}")
    checks.looked += total


def summary(answers):
    kinds = collections.Counter()
    for (_, answer), n in answers.items():
        kinds[re.sub(r"^ok.*", "ok", answer)] += n
    return ", ".join(f"{n} {kind}" for kind, n in kinds.most_common(8))


def race(checks, world, name, top, mount):
    part = PARTS[name](top)
    before, start = part.forbidden(), time.monotonic()
    each = arguments.number // len(part.commands) + 1
    with acting(*[(BOB, mount(top))] * len(part.commands)) as users:
        for user in users:
            part.ready(user)
        swapper = Swapper(part)
        for user, command in zip(users, part.commands):
            user.send(f"times {each} {command}")
        said = [user.answer(900) for user in users]
        swaps, after = swapper.end()
    checks.check(f"{world}, {name}: all is answered", "waiting" not in said, said)
    answers = sum((answers_of(text) for text in said if text != "waiting"), collections.Counter())
    print(f"{world}, {name}: {swaps} swaps, {sum(answers.values())} operations: {summary(answers)}; "
          f"{time.monotonic() - start:.1f} s", flush=True)
    fact = f"{world}, {name}"
    check_answers(checks, fact, answers)
    kinds = {answer.split()[0] == "ok" for _, answer in answers}
    # What is remembered for a second may be all that the user sees.
    checks.check(f"{fact}: some go well, and some do not",
                 len(kinds) == 2 or name.startswith("coming") or not world.variant,
                 summary(answers))
    checks.check(f"{fact}: it was swapped often", swaps > 3, swaps)
    checks.equal(f"{fact}: what belongs to others is as it was", after, before)


def check_races(checks, world, top, names):
    on = base / "disk" / top.name
    directory(on, 0o755, 0)
    with Place(world, top, on, prefix=FEW) as mount:
        for i, name in enumerate(names):
            race(checks, world, name, on / f"p{i}", mount)
            checks.check(f"{world}, {name}: the daemon lives", result(os.kill, mount.pid, 0) is None)
        mount.unmount()
        checks.equal(f"{world}: nothing is lost", mount.fact("ops_lost"), 0)


# ---- all of it ----

need_fuse()
need("mkfs.ext4", "prlimit")
if os.geteuid() != 0:
    skip("only root can act for several users")
parser = argparse.ArgumentParser()
parser.add_argument("--all", action="store_true")
parser.add_argument("--number", type=int)
parser.add_argument("--world", default="*", help="only those ways of mounting, as 'device *'")
parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
arguments = parser.parse_args()
arguments.number = arguments.number or (100_000 if arguments.all else 1000)
os.umask(0o022)
checks = Checks()
base = pathlib.Path(tempfile.mkdtemp(prefix="ftrac-case-"))
base.chmod(0o755)
with transports(not arguments.world.startswith("device")) as ways, disk(base):
    chosen = [w for w in worlds(ways, fidelities(), ["", "stat"]) if fnmatch.fnmatch(str(w), arguments.world)]
    chosen = chosen if arguments.all else some(chosen, 6)
    names = arguments.parts or list(PARTS)
    in_worlds(checks, base, "races", lambda *a: check_races(*a, names), chosen, 3, 7200 if arguments.all else 500)
shutil.rmtree(base)
checks.end()
