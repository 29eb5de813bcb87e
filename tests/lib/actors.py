# SPDX-License-Identifier: MIT
"""Users that act natively and through a mount at the same time, while the host is changed below them.

World   a way of mounting; in_worlds() has each in a process and a mount namespace of its own
Actor   a process of an ordinary user (tests/work/actor.c), which does what it is told line by line
Scene   objects, what is done before the host changes them, that change, and what is done after it
judge() compares what came of it on both sides
"""
import array
import collections
import contextlib
import dataclasses
import fcntl
import hashlib
import itertools
import os
import pathlib
import select
import shutil
import signal
import stat
import struct
import subprocess
import time

import ftractest
from ftractest import WORK, Mount, take_turn
from parts import Child
from sides import LIBC, result

ANN, BOB, SHARED, FOREIGN = 65530, 65531, 65540, 65541
GROUPS = {ANN: [ANN], BOB: [BOB, SHARED]}
OLD = 1_000_000_000  # s: what is older than YOUNG was set by us
YOUNG = 1_500_000_000


# ---- users ----

class Actor:
    """One user, in one directory."""

    def __init__(self, uid, top):
        groups = ",".join(map(str, GROUPS[uid]))
        self.process = subprocess.Popen([(WORK / "actor").resolve(), str(uid), groups], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, cwd="/")
        self.rest = b""
        self.top = top
        assert self.do(f"chdir {top}") == "ok", f"{uid} cannot enter {top}"

    def send(self, line):
        self.process.stdin.write(f"{line}\n".encode())
        self.process.stdin.flush()

    def answer(self, seconds=120):
        """The next one; "waiting" if there is none by then."""
        until = time.monotonic() + seconds
        while b"\n" not in self.rest:
            if not select.select([self.process.stdout], [], [], max(0, until - time.monotonic()))[0]:
                return "waiting"
            more = os.read(self.process.stdout.fileno(), 1 << 16)
            assert more, "the actor has ended"
            self.rest += more
        line, self.rest = self.rest.split(b"\n", 1)
        return line.decode(errors="replace")

    def do(self, line, seconds=120):
        self.send(line)
        return self.answer(seconds)

    def many(self, lines):
        """So few at once that neither side waits for the other."""
        answers = []
        for some in batches(lines, 100):
            self.send("\n".join(some))
            answers += [self.answer() for _ in some]
        return answers

    def end(self):
        self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.kill()
        self.process.stdout.close()

    def kill(self):
        self.process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(100)


def batches(lines, n):
    return (lines[i:i + n] for i in range(0, len(lines), n))


@contextlib.contextmanager
def acting(*users):
    """(uid, top) of each."""
    actors = []
    try:
        for uid, top in users:
            actors.append(Actor(uid, top))
        yield actors
    finally:
        for actor in actors:
            actor.end()


# ---- ways of mounting ----

VARIANTS = {"": [], "stat": ["--stat"], "exclude": ["--exclude", "*"], "include": ["--include", "/none/*"]}
COMMON = "", "stat", "exclude"


@dataclasses.dataclass(frozen=True)
class World:
    transport: str
    fidelity: str
    variant: str = ""

    def __str__(self):
        return " ".join(filter(None, (self.transport, self.fidelity, self.variant)))

    def options(self):
        rings = "on" if self.transport == "rings" else "off"
        return ["--fidelity", self.fidelity, "--io-uring", rings, *VARIANTS[self.variant]]


def worlds(transports, fidelities, variants=COMMON):
    return [World(*way) for way in itertools.product(transports, fidelities, variants)]


SWITCH = pathlib.Path("/sys/module/fuse/parameters/enable_uring")


@contextlib.contextmanager
def setting(path, value):
    """Of all of the machine; put back at the end."""
    take_turn()
    before = path.read_text()

    def leave(*_):
        raise SystemExit("ended")
    handler = signal.signal(signal.SIGTERM, leave)
    try:
        path.write_text(f"{value}\n")
        yield
    finally:
        path.write_text(before)
        signal.signal(signal.SIGTERM, handler)


@contextlib.contextmanager
def transports(rings=True):
    """Those that there are here, or the device alone; rings are switched on meanwhile."""
    if not rings:
        yield ["device"]
    elif not SWITCH.exists():
        print("rings: not here: a kernel without FUSE over io_uring (Linux 6.14 has it)")
        yield ["device"]
    elif not os.access(SWITCH, os.W_OK):
        print(f"rings: not here: '{SWITCH}' cannot be written")
        yield ["device"]
    else:
        with setting(SWITCH, "Y"):
            yield ["device", "rings"] if have_rings() else ["device"]


def alone():
    """A mount namespace without mounts of other ftracs: these forbid rings, and the namespace would keep them mounted."""
    if LIBC.unshare(0x20000) != 0:
        raise OSError("no mount namespace of our own")
    subprocess.run(["mount", "--make-rprivate", "/"], check=True)
    with open("/proc/self/mounts") as f:
        for line in f.read().splitlines():
            if line.split()[2] == "fuse.ftrac":
                subprocess.run(["umount", "-l", line.split()[1]], check=False)


def have_rings():
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.dup2(write, 1)
        alone()
        os.execv("/bin/sh", ["sh", "-c", '"$0" doctor --json', ftractest.FTRAC])
    os.close(write)
    with open(read) as f:
        said = f.read()
    os.waitpid(pid, 0)
    good = '"io_uring"' in said and '"good":true' in said.replace(" ", "").split('"io_uring"')[1].split("}")[0]
    if not good:
        print(f"rings: not here: {said}")
    return good


class Place(Mount):
    """A mount in a namespace of its own, of that world; others may switch the rings off meanwhile."""

    def __init__(self, world, base, source, *options, **more):
        self.world = world
        super().__init__(*world.options(), *options, base=base, source=str(source), **more)

    def __enter__(self):
        for _ in range(20):
            if self.world.transport == "rings":
                SWITCH.write_text("Y\n")
            with contextlib.suppress(subprocess.CalledProcessError):
                return super().__enter__()
            time.sleep(0.2)
        return super().__enter__()


def in_worlds(checks, base, name, function, chosen, at_once=6, seconds=300):
    """function(checks, world, directory) in each."""
    waiting, running = list(chosen), collections.deque()
    while waiting or running:
        while waiting and len(running) < at_once:
            world = waiting.pop(0)
            top = pathlib.Path(base) / f"{name} {world}".replace(" ", "-")
            top.mkdir()
            top.chmod(0o755)
            running.append(Child(checks, f"{name}, {world}", in_world, function, world, top))
        running.popleft().join(seconds)


def in_world(checks, function, world, top):
    ftractest.become_reaper()
    alone()
    function(checks, world, top)


@contextlib.contextmanager
def disk(base, megabytes=1000):
    """A file system that knows attributes of all kinds."""
    image, top = base / "image", base / "disk"
    top.mkdir()
    with open(image, "wb") as f:
        f.truncate(megabytes << 20)
    # Few bytes per inode: there are thousands of small files.  (With a journal: without it the number of a
    # removed file is not used again for minutes.)
    subprocess.run(["mkfs.ext4", "-q", "-i", "8192", image], check=True)
    subprocess.run(["mount", "-o", "loop", image, top], check=True)
    top.chmod(0o755)
    try:
        yield top
    finally:
        subprocess.run(["umount", "-l", top], check=True)


# ---- objects, as the host makes them ----

CAPABILITY = struct.pack("<IIIII", 0x02000001, 1 << 10, 0, 0, 0)


def make_program(path, mode=0o755, uid=BOB, gid=None):
    shutil.copy(WORK / "show_creds", path)
    os.chown(path, uid, uid if gid is None else gid)
    os.chmod(path, mode)


# ---- what there is on the host ----

GETFLAGS, SETFLAGS = 0x80086601, 0x40086602
NODUMP, APPEND, IMMUTABLE = 0x40, 0x20, 0x10


def flags_of(path):
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    try:
        flags = array.array("i", [0])
        fcntl.ioctl(fd, GETFLAGS, flags)
        return flags[0] & (NODUMP | APPEND | IMMUTABLE)
    finally:
        os.close(fd)


def add_flags(path, added, removed=0):
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    try:
        flags = array.array("i", [0])
        fcntl.ioctl(fd, GETFLAGS, flags)
        flags[0] = (flags[0] | added) & ~removed
        fcntl.ioctl(fd, SETFLAGS, flags)
    finally:
        os.close(fd)


def acl(*entries, owner=7, group=5, others=5):
    """The value of an ACL with these (tag, rights, id): tag 2 is a user, 8 a group."""
    no_id, mask = 2**32 - 1, 7
    every = [(1, owner, no_id), *(e for e in entries if e[0] == 2), (4, group, no_id),
             *(e for e in entries if e[0] == 8), (16, mask, no_id), (32, others, no_id)]
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *e) for e in every)


def when(ns):
    return ns // 10**9 if ns < YOUNG * 10**9 else "now"


def short_of(data):
    return data if len(data) < 40 else hashlib.sha1(data).hexdigest()[:10]


def content_of(path, st):
    if stat.S_ISLNK(st.st_mode):
        return os.readlink(path)
    if not stat.S_ISREG(st.st_mode):
        return None
    with open(path, "rb") as f:
        return short_of(f.read())


def seen(path, times=False):
    """All that an operation may change of one object; times: to the nanosecond."""
    st = os.lstat(path)
    directory, link = stat.S_ISDIR(st.st_mode), stat.S_ISLNK(st.st_mode)
    return {"mode": oct(st.st_mode), "owner": (st.st_uid, st.st_gid), "links": st.st_nlink,
            "size": None if directory else st.st_size, "content": content_of(path, st),
            **({"number": st.st_ino, "mtime": st.st_mtime_ns, "ctime": st.st_ctime_ns} if times else
               {"mtime": when(st.st_mtime_ns)}),
            "flags": None if link else result(flags_of, path),
            "xattrs": {name: short_of(os.getxattr(path, name, follow_symlinks=False))
                       for name in sorted(os.listxattr(path, follow_symlinks=False))}}


def picture(top, times=False):
    found = {".": seen(top, times)}
    for at, dirs, files in os.walk(top):
        for name in dirs + files:
            path = os.path.join(at, name)
            found[os.path.relpath(path, top)] = seen(path, times)
    return found


def differences(got, wanted):
    """Of two pictures, as text."""
    said = []
    for name in sorted(got.keys() | wanted.keys()):
        if name not in got or name not in wanted:
            said.append(f"{name} {'is there' if name in got else 'is not there'}")
            continue
        said += [f"{name}: {key} {got[name].get(key)}, natively {value}"
                 for key, value in wanted[name].items() if got[name].get(key) != value]
    return said


# ---- the same on both sides ----

def failed(answer):
    return not answer.startswith("ok")


SAME, ALLOWS, DIFFERS, REFUSES, OTHER_ERROR = "same", "allows", "differs", "refuses", "other error"
GRAVE = ALLOWS, DIFFERS  # a right, or an effect, that is not there natively


def judge_answer(got, wanted):
    if got == wanted:
        return SAME
    if failed(wanted):
        return OTHER_ERROR if failed(got) else ALLOWS
    return REFUSES if failed(got) else DIFFERS


def judge(got, wanted, left, natively, before, by_effect=False):
    """One of the classes above, of answers and of the pictures that they left; before: that of the same side
    as it was.  by_effect: it does not matter what was answered."""
    classes = [judge_answer(*pair) for pair in zip(got, wanted)]
    effect = left == natively
    if not effect and REFUSES in classes and left == before:
        effect = True
    if not effect:
        return ALLOWS if set(classes) & {ALLOWS, OTHER_ERROR, REFUSES, SAME} else DIFFERS
    if REFUSES in classes and left == before:  # what comes behind finds the object as it was
        first = classes.index(REFUSES)
        classes[first:] = [c for c in classes[first:] if c != DIFFERS]
    if by_effect:
        classes = [c for c in classes if c not in GRAVE]
    return next((c for c in (ALLOWS, DIFFERS, REFUSES, OTHER_ERROR) if c in classes), SAME)
