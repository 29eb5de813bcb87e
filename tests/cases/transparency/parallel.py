#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 15
"""Many clients at once, some of which are killed: every byte is right, and every call is counted.

Each client makes, checks, renames and removes files of its own, moves some of them to a directory
that all share, and reads the others' there. It counts its calls by kind; the trace must say the
same of its process.
"""
import collections
import hashlib
import math
import os
import pickle
import random
import signal
import sys
import time

from ftractest import Checks, Mount, need_fuse

CLIENTS = 64
KILLED = 16
SECONDS = 10
fidelity = sys.argv[1] if len(sys.argv) > 1 else "exact"

need_fuse()
checks = Checks()


def content(name, size):
    """What a file holds follows from the name it was made by and its size."""
    head = f"{name} {size}\n".encode()
    block = hashlib.sha256(head).digest() * 128
    return (head + block * (size // len(block) + 1))[:max(size, len(head))]


def is_whole(data):
    head = data[:data.find(b"\n")].decode().split()
    return len(head) == 2 and data == content(head[0], int(head[1]))


class Client:
    def __init__(self, number, top, seed):
        self.random = random.Random(seed)
        self.number, self.top, self.own = number, top, f"{top}/{number}"
        self.calls = collections.Counter()
        self.bytes = collections.Counter()
        self.files = {}  # path below top: (name it was made by, size)
        self.made = 0

    def open(self, path, flags, mode=0):
        fd = os.open(f"{self.top}/{path}", flags, mode)
        self.calls["create" if flags & os.O_CREAT else "open"] += 1
        return fd

    def close(self, fd):
        os.close(fd)
        self.calls["flush"] += 1

    def create(self):
        name = f"{self.number}.{self.made}"
        size = self.random.choice((30, 100, 5000, 70000, 300000))
        path, data = f"{self.number}/{name}", content(name, size)
        self.made += 1
        fd = self.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644)
        piece = self.random.choice((len(data), 4096, 65536, 999)) if size > 1000 else len(data)
        piece = max(piece, len(data) // 20)
        for at in range(0, len(data), piece):
            done = os.pwrite(fd, data[at:at + piece], at)
            assert done == len(data[at:at + piece])
            self.calls["write"] += 1
            self.bytes["write"] += done
        self.close(fd)
        self.files[path] = name, size

    def read(self, path):
        """Whole, in pieces; the last read is the one that finds nothing."""
        fd = self.open(path, os.O_RDONLY)
        data, piece = b"", self.random.choice((65536, 300001, 40000))
        while True:
            more = os.pread(fd, piece, len(data))
            self.calls["read"] += 1
            self.bytes["read"] += len(more)
            if not more:
                break
            data += more
        self.close(fd)
        return data

    def verify(self):
        if self.files:
            path = self.random.choice(list(self.files))
            assert self.read(path) == content(*self.files[path]), path

    def look_at_others(self):
        shared = os.listdir(f"{self.top}/shared")
        if shared:
            name = self.random.choice(shared)
            try:
                data = self.read(f"shared/{name}")
            except FileNotFoundError:
                return
            assert is_whole(data), name

    def rename(self):
        if not self.files:
            return
        old = self.random.choice(list(self.files))
        # Where no other client has files; now and then over a file of this client.
        new = self.random.choice((f"{self.number}/again{self.random.randrange(10)}",
                                  f"shared/{self.number}.{self.random.randrange(20)}"))
        if new == old:
            return
        os.rename(f"{self.top}/{old}", f"{self.top}/{new}")
        self.calls["rename"] += 1
        self.files[new] = self.files.pop(old)

    def unlink(self):
        if len(self.files) > 10:
            path = self.random.choice(list(self.files))
            os.unlink(f"{self.top}/{path}")
            self.calls["unlink"] += 1
            del self.files[path]

    def work(self, until):
        os.mkdir(self.own)
        self.calls["mkdir"] += 1
        kinds = (self.create,) * 3 + (self.verify,) * 2 + (self.rename, self.unlink,
                                                            self.look_at_others)
        while time.monotonic() < until:
            self.random.choice(kinds)()


def start(number, top, until, report):
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        client = Client(number, top, number)
        client.work(until)
        with open(report, "wb") as f:  # outside of the mount
            pickle.dump((client.calls, client.bytes, client.files), f)
        status = 0
    except BaseException as e:
        print(f"client {number}: {type(e).__name__}: {e}"[:500], flush=True)
    finally:
        os._exit(status)


def read_back(path):
    with open(path, "rb") as f:
        return f.read()


with Mount("--fidelity", fidelity) as mount:
    top = mount.base / "work"
    (top / "shared").mkdir(parents=True)
    until = time.monotonic() + SECONDS
    chosen = random.Random(1).sample(range(CLIENTS), KILLED)
    clients = [start(i, mount(top), math.inf if i in chosen else until, mount.base / f"report{i}")
               for i in range(CLIENTS)]
    for number in chosen:
        time.sleep(SECONDS * 0.8 / KILLED)
        while not (top / str(number)).exists():  # on a busy machine; until then the trace does not know the client
            time.sleep(0.01)
        os.kill(clients[number], signal.SIGKILL)
    statuses = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in clients]
    checks.equal("how the clients ended", statuses,
                 [-9 if i in chosen else 0 for i in range(CLIENTS)])

    reports = {}
    for i in range(CLIENTS):
        if i not in chosen and statuses[i] == 0:
            with open(mount.base / f"report{i}", "rb") as f:
                reports[i] = pickle.load(f)
    expected = {path: made for _, _, files in reports.values() for path, made in files.items()}
    for path, made in expected.items():
        data = content(*made)
        checks.check(f"{path} is right in the source", read_back(top / path) == data)
        checks.check(f"{path} is right in the mount", read_back(mount(top / path)) == data)
    there = {os.path.relpath(os.path.join(at, name), top) for at, _, names in os.walk(top)
             for name in names}

    def of_killed(path):
        directory, name = path.split("/")
        return int(name.split(".")[0] if directory == "shared" else directory) in chosen
    checks.equal("files of clients that lived: missing or too many",
                 {path for path in there if not of_killed(path)} ^ set(expected), set())
    left = [path for path in there if of_killed(path)]
    for path in left:
        checks.check(f"{path} of a killed client is the same on both sides",
                     read_back(top / path) == read_back(mount(top / path)))
    mount.unmount()

    checks.equal("it is complete", mount.fact("complete"), 1)
    checks.equal("nothing is lost", mount.fact("ops_lost"), 0)
    checks.equal("no process event is lost", mount.fact("process_events_lost"), 0)
    checks.equal("it is sound", mount.sql("PRAGMA integrity_check"), [("ok",)])
    checks.equal("all that was recorded is there", mount.sql("SELECT count(*) FROM op")[0][0],
                 mount.fact("ops_recorded"))

    counted = collections.defaultdict(dict)
    moved = collections.defaultdict(dict)
    for pid, name, n, moved_bytes in mount.sql(
            "SELECT p.pid, o.name, count(*), sum(o.bytes) FROM op o JOIN process p ON "
            "p.id = o.process WHERE o.result >= 0 GROUP BY p.id, o.name"):
        checks.check("one row for each process", name not in counted[pid])
        counted[pid][name], moved[pid][name] = n, moved_bytes
    kinds = ["mkdir", "create", "open", "write", "read", "rename", "unlink", "flush"]
    if mount.fact("fidelity") != "exact":
        kinds = [kind for kind in kinds if kind not in ("read", "write")]
    total = 0
    for i, (calls, moved_bytes, _) in reports.items():
        for kind in kinds:
            total += calls[kind]
            checks.equal(f"client {i}: number of {kind}", counted[clients[i]].get(kind, 0),
                         calls[kind])
        for kind in "write", "read":
            if kind in kinds:
                checks.equal(f"client {i}: bytes of {kind}", moved[clients[i]].get(kind) or 0,
                             moved_bytes[kind])
    opened, released = mount.sql(
        "SELECT sum(name IN ('open', 'create')), sum(name = 'release') FROM op "
        "WHERE result >= 0")[0]
    checks.equal("each open has its release", released, opened)
    checks.equal("handles that were not closed",
                 mount.sql("SELECT count(*) FROM handle WHERE close_ns IS NULL"), [(0,)])
    ends = dict(mount.sql("SELECT pid, exit_signal FROM process WHERE pid IN "
                          f"({','.join(map(str, clients))})"))
    checks.equal("clients that the trace does not know", set(clients) - set(ends), set())
    if mount.fact("process_tier").startswith("connector"):
        checks.equal("the killed clients, in the trace",
                     sorted(pid for pid, number in ends.items() if number == signal.SIGKILL),
                     sorted(clients[i] for i in chosen))
    print(f"{total} calls counted, {len(expected)} files compared, and {len(left)} of clients that "
          f"were killed; {mount.fact('ops_recorded')} operations in all")
checks.end()
