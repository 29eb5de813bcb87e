#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 6
# long: --long
"""Locks, as they are natively: whose they are, which process waits for which, and how many may.

    limits_locks.py [--long] [--fidelity NAME]... [--waiters N] [PART...]

Where ftrac knows --locks native, the same with native processes on the other side.
"""
import fcntl
import os
import signal
import struct
import time

from ftractest import Mount, comm, fidelities, need, need_fuse
from parts import Child, Parts, accepts, arguments, in_order, kill, no_descriptor_lost
from sides import elsewhere, result, say, whole

F_OFD_SETLK = 37


def flock_call(fd, how):
    return fcntl.flock(fd, how)


def posix_call(fd, how):
    return fcntl.lockf(fd, how)


def ofd(fd, kind, start=0, length=0, command=F_OFD_SETLK):
    fcntl.fcntl(fd, command, struct.pack("hhqqi4x", kind, 0, start, length, 0))


def held_by(fd, kind, start, length):
    """F_GETLK: type, start, length and whether it is our parent that is in the way."""
    said = struct.unpack("hhqqi4x", fcntl.fcntl(fd, fcntl.F_GETLK, struct.pack(
        "hhqqi4x", kind, 0, start, length, 0)))
    return said[0], said[2], said[3], said[4] == os.getppid()


EX, SH, NB, UN = fcntl.LOCK_EX, fcntl.LOCK_SH, fcntl.LOCK_NB, fcntl.LOCK_UN


def story_of_process(path, other):
    """Locks belong to the process: a second descriptor is not in the way, but its close is."""
    said = []
    one, two = os.open(path, os.O_RDWR), os.open(path, os.O_RDWR)

    def probe(start=0, length=10):
        fd = os.open(other, os.O_RDWR)
        r = result(fcntl.lockf, fd, EX | NB, length, start)
        os.close(fd)
        return r
    said.append(result(fcntl.lockf, one, EX | NB, 10, 0))
    said.append(result(fcntl.lockf, two, EX | NB, 10, 0))
    said.append(elsewhere(probe))
    said.append(result(fcntl.lockf, two, UN, 5, 3))
    said += [elsewhere(probe, start, 1) for start in (0, 2, 3, 7, 8, 9, 10)]
    said.append(result(fcntl.lockf, one, SH | NB, 2, 0))
    said.append(elsewhere(lambda: result(fcntl.lockf, os.open(other, os.O_RDWR), SH | NB, 2, 0)))
    said.append(elsewhere(probe, 0, 2))
    os.close(two)
    said.append(elsewhere(probe))
    said.append(result(fcntl.lockf, one, EX | NB, 100, 0))
    os.close(os.open(path, os.O_RDONLY))
    said.append(elsewhere(probe))
    said.append(result(fcntl.lockf, one, EX | NB, 0, 5))
    copy = os.dup(one)
    os.close(copy)
    said.append(elsewhere(probe, 1000, 1))
    os.close(one)
    return said


def story_of_holder(path, other):
    """The process that holds a lock; a native process cannot learn that it is one of the mount."""
    fd = os.open(path, os.O_RDWR)
    fcntl.lockf(fd, EX | NB, 10, 5)
    said = elsewhere(lambda: held_by(os.open(other, os.O_RDWR), fcntl.F_RDLCK, 0, 0))
    os.close(fd)
    return said if os.path.dirname(path) == os.path.dirname(other) else said[:3]


def soon(call, *arguments):
    """What it gives in the end: the last close of a file is over a little after close(2), and
    after the end of the process that had it open."""
    until = time.monotonic() + 10
    while (r := result(call, *arguments)) is not None and time.monotonic() < until:
        time.sleep(0.01)
    return r


def story_of_file(path, other):
    """flock(2) and OFD locks belong to the open file description: a child shares them, a second open of the
    same process conflicts, and the two kinds ignore each other."""
    said = []
    one, two = os.open(path, os.O_RDWR), os.open(other, os.O_RDONLY)
    said.append(result(fcntl.flock, one, EX | NB))
    said.append(result(fcntl.flock, two, SH | NB))
    said.append(elsewhere(fcntl.flock, one, EX | NB))
    said.append(result(fcntl.flock, one, SH | NB))
    said.append(result(fcntl.flock, two, SH | NB))
    said.append(result(fcntl.flock, one, EX | NB))
    said.append(result(fcntl.flock, two, SH | NB))  # what a failed change has left
    said.append(elsewhere(fcntl.flock, two, UN))
    said.append(result(fcntl.flock, one, EX | NB))
    copy = os.dup(one)
    os.close(one)
    said.append(result(fcntl.flock, two, EX | NB))
    said.append(elsewhere(fcntl.lockf, copy, EX | NB))
    os.close(copy)
    said.append(soon(fcntl.flock, two, EX | NB))
    os.close(two)
    return said


def story_of_description(path, other):
    """OFD locks, likewise."""
    said = []
    one, two = os.open(path, os.O_RDWR), os.open(other, os.O_RDWR)
    said.append(result(ofd, one, fcntl.F_WRLCK, 0, 10))
    said.append(result(ofd, two, fcntl.F_WRLCK, 5, 1))
    said.append(result(ofd, two, fcntl.F_WRLCK, 10, 1))
    said.append(result(fcntl.lockf, one, EX | NB, 1, 0))
    said.append(elsewhere(ofd, one, fcntl.F_RDLCK, 0, 5))
    said.append(result(ofd, two, fcntl.F_RDLCK, 2, 1))
    os.close(os.open(path, os.O_RDWR))
    said.append(result(ofd, two, fcntl.F_WRLCK, 7, 1))
    os.close(one)
    said.append(soon(ofd, two, fcntl.F_WRLCK, 0, 0))
    os.close(two)
    return said


def story_of_errors(path, other):
    said = []
    reader, writer = os.open(path, os.O_RDONLY), os.open(path, os.O_WRONLY)
    said += [result(fcntl.lockf, reader, EX | NB), result(fcntl.lockf, writer, SH | NB),
             result(fcntl.flock, reader, EX | NB), result(fcntl.flock, reader, UN),
             result(fcntl.flock, writer, SH | NB), result(fcntl.lockf, writer, EX | NB, 1, -1),
             result(ofd, reader, fcntl.F_WRLCK), result(fcntl.flock, reader, 77)]
    folder = os.open(os.path.dirname(path), os.O_RDONLY)
    said.append(result(fcntl.flock, folder, EX | NB))
    said.append(elsewhere(lambda: fcntl.flock(os.open(os.path.dirname(path), os.O_RDONLY),
                                              EX | NB)))
    for fd in reader, writer, folder:
        os.close(fd)
    return said


def story_of_ends(path, other):
    """A process that ends, however, has no locks any more; one that executes a program keeps them."""
    said = []
    for call in posix_call, flock_call:
        for end in "kill", "exec":
            read, write = os.pipe()
            pid = os.fork()
            if pid == 0:
                fd = os.open(path, os.O_RDWR)
                os.set_inheritable(fd, True)
                call(fd, EX)
                os.write(write, b"x")
                os.close(write)
                if end == "exec":
                    os.execvp("sleep", ["sleep", "200"])
                signal.pause()
            os.close(write)
            os.read(read, 1)
            while end == "exec" and comm(pid) != "sleep":
                time.sleep(0.01)
            os.close(read)
            fd = os.open(other, os.O_RDWR)
            said.append(result(call, fd, EX | NB))
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            said.append(soon(call, fd, EX | NB))
            os.close(fd)
    return said


def story_of_deadlock(path, other):
    """Two processes wait for each other: one of them gets an error."""
    one = os.open(path, os.O_RDWR)
    fcntl.lockf(one, EX, 1, 0)
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        fd = os.open(path, os.O_RDWR)
        fcntl.lockf(fd, EX, 1, 1)
        os.write(write, b"x")
        result(fcntl.lockf, fd, EX, 1, 0)
        os._exit(0)
    os.read(read, 1)
    time.sleep(0.3)
    signal.signal(signal.SIGALRM, lambda *_: (_ for _ in ()).throw(TimeoutError(110, "waits")))
    signal.alarm(10)
    said = [result(fcntl.lockf, one, EX, 1, 1)]
    signal.alarm(0)
    os.close(one)
    os.close(read)
    os.close(write)
    kill([pid])
    os.waitpid(pid, 0)
    return said


STORIES = (story_of_process, story_of_holder, story_of_file, story_of_description,
           story_of_errors, story_of_ends, story_of_deadlock)


class Stopped(Exception):
    pass


def stop(*_):
    raise Stopped


def wait_for_lock(call, path, counter, ready):
    """In a child: waits, counts one up under the lock, ends; if a signal tells it to stop waiting, it does."""
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        signal.signal(signal.SIGUSR1, stop)
        fd = os.open(path, os.O_RDWR)
        os.write(ready, b"r")
        call(fd, EX)
        n = int(whole(counter))
        say(counter, str(n + 1))
        os.close(fd)
        status = 0
    except Stopped:
        status = 3
    finally:
        os._exit(status)


def crowd(checks, fact, call, mirror, native, count, holder):
    """count clients wait while holder has the lock; some are killed, some interrupted."""
    name = f"lock {fact}"
    say(native / name, "")
    say(native / f"{name} counter", "0")
    fd = os.open(holder / name, os.O_RDWR)
    call(fd, EX)
    read, write = os.pipe()
    pids = [wait_for_lock(call, mirror / name, mirror / f"{name} counter", write)
            for _ in range(count)]
    for _ in pids:
        os.read(read, 1)
    time.sleep(0.3)
    return fd, pids


def all_goes_on(checks, fact, mirror, native):
    for i in range(50):
        say(mirror / "other", f"{i}")
        os.rename(mirror / "other", mirror / "another")
        checks.equal(f"others work, {fact}", (whole(mirror / "another"), whole(native / "another"),
                                              "another" in os.listdir(mirror)),
                     (f"{i}".encode(), f"{i}".encode(), True))
        os.unlink(mirror / "another")


def endings(pids):
    return [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids]


def crowds(checks, mirror, native, count, holder, fact):
    """Waiters of both kinds at once."""
    kinds = [(f"{fact} {call.__name__}", call) for call in (flock_call, posix_call)]
    waiting = [(kind, *crowd(checks, kind, call, mirror, native, count, holder))
               for kind, call in kinds]
    all_goes_on(checks, f"while {2 * count} wait", mirror, native)
    quarter = max(1, count // 4)
    for kind, _, pids in waiting:
        kill(pids[:quarter])
        checks.equal(f"{kind}: killed while waiting", endings(pids[:quarter]), [-9] * quarter)
        for pid in pids[quarter:2 * quarter]:
            os.kill(pid, signal.SIGUSR1)
        checks.equal(f"{kind}: stopped while waiting", endings(pids[quarter:2 * quarter]),
                     [3] * quarter)
    all_goes_on(checks, "after some were killed", mirror, native)
    for (kind, fd, pids), (_, call) in zip(waiting, kinds):
        checks.equal(f"{kind}: no client has the lock yet", whole(native / f"lock {kind} counter"),
                     b"0")
        call(fd, UN)
        os.close(fd)
        left = pids[2 * quarter:]
        checks.equal(f"{kind}: the others get it", endings(left), [0] * len(left))
        checks.equal(f"{kind}: one at a time", whole(native / f"lock {kind} counter"),
                     str(len(left)).encode())


def lock_on(checks, mirror, native, count, native_too):
    for story in STORIES:
        if native_too and story == story_of_deadlock:
            continue  # locks that are passed on do not know of each other's owners
        sides = {"all": (native, native), "mounted": (mirror, mirror)}
        if native_too:
            sides |= {"native others": (mirror, native), "mounted others": (native, mirror)}
        said = {}
        for side, (one, other) in sides.items():
            name = f"{story.__name__} {side}"
            say(native / name, "x" * 100)
            said[side] = story(f"{one}/{name}", f"{other}/{name}")
        for side in sides:
            wanted = said["all"][:len(said[side])]
            checks.equal(f"{story.__name__}, {side}", said[side], wanted)
    crowds(checks, mirror, native, count, mirror, "in the mount")
    if native_too:
        crowds(checks, mirror, native, count, native, "held natively")
        crowds(checks, native, native, count, mirror, "of native processes")


def locks(checks, base, options, count, native_too):
    native = base / "work"
    native.mkdir()
    options = [*options, *(["--locks", "native"] if native_too else [])]
    with Mount(*options, base=base) as mount:
        Child(checks, "the client that locks", lock_on, mount(native), native, count, native_too).join()
        no_descriptor_lost(checks, mount, native)
        in_order(checks, mount)


def main():
    need_fuse()
    need("sleep")
    given = arguments(__doc__, waiters=40)
    parts = Parts(given.parts, one_of=2)
    kinds = given.fidelity or fidelities()
    for fidelity in kinds:
        options = ["--fidelity", fidelity]
        parts.run(f"locks {fidelity}", locks, options, given.waiters, False)
        if accepts("--locks", "native"):
            parts.run(f"locks {fidelity} native", locks, options, given.waiters, True)
    parts.checks.end()


if __name__ == "__main__":
    main()
