#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads and writes that the kernel cuts into several requests are one operation, as strace sees them.

    pieces.py [--seed N]

A program with calls of random sizes from 1 byte to 5 MiB, from buffers that begin anywhere in a page and from vectors
of several, runs natively below strace and in a mount: the calls of the one are the operations of the other, in
their order, with offset, length and result.
"""
import ctypes
import os
import random
import resource
import shutil
import signal
import sys

import straced
from ftractest import Checks, Mount, need, need_fuse

MOST, CALLS, PAGE = 5 << 20, 120, 4096
LIMIT = 48 << 20  # of the size of files: a write beyond it is cut short


class Vector(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("len", ctypes.c_size_t)]


def program(seed):
    """Runs in the current directory."""
    rng, libc = random.Random(seed), ctypes.CDLL(None, use_errno=True)
    room = ctypes.create_string_buffer(2 * MOST + 200 * 2 * PAGE)
    start = (ctypes.addressof(room) + PAGE - 1) // PAGE * PAGE
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, LIMIT))
    for name in libc.pread64, libc.pwrite64:
        name.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_long]
    for name in libc.read, libc.write:
        name.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t]
    for name in libc.preadv, libc.pwritev:
        name.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.c_long]
    fd = os.open("file", os.O_RDWR | os.O_CREAT, 0o644)

    def size():
        return rng.choice([rng.randint(1, MOST), (1 << 20) - rng.randint(0, PAGE), 1 << 20,
                              (1 << 20) + rng.randint(0, PAGE), rng.randint(1, 3 * PAGE)])

    def vector(total):
        n, at, parts = rng.randint(1, 40), start + rng.randint(0, PAGE - 1), []
        for i in range(n):
            part = total - sum(p.len for p in parts) if i == n - 1 else rng.randint(0, total // n)
            parts.append(Vector(at, part))
            at += part + rng.choice([0, rng.randint(0, PAGE)])
        return (Vector * n)(*parts), n

    os.pwrite(fd, b"x" * 1000, 0)
    for _ in range(CALLS):
        total, offset = size(), rng.randint(0, LIMIT + PAGE) // rng.choice([1, 512, PAGE]) % (LIMIT - 1)
        buffer = start + rng.choice([0, 16, 48, rng.randint(0, PAGE - 1)])
        parts, n = vector(total)
        os.lseek(fd, offset, os.SEEK_SET)
        rng.choice([
            lambda: libc.read(fd, buffer, total), lambda: libc.write(fd, buffer, total),
            # What looks like pieces, and is calls of their own.
            lambda: [libc.write(fd, buffer, (1 << 20) - 48), libc.write(fd, buffer, 48)],
            lambda: [libc.read(fd, start, 1 << 20) for _ in range(3)],
            lambda: libc.pread64(fd, buffer, total, offset), lambda: libc.pwrite64(fd, buffer, total, offset),
            lambda: libc.readv(fd, parts, n), lambda: libc.writev(fd, parts, n),
            lambda: libc.preadv(fd, parts, n, offset), lambda: libc.pwritev(fd, parts, n, offset),
        ])()
    end = os.fstat(fd).st_size
    for _ in range(5):
        libc.pread64(fd, start + 48, MOST, end - rng.randint(0, 3 << 20))
    os.close(fd)


def as_sent(op, offset, length, done):
    """Of a write beyond the limit of file sizes, the file system gets only the part up to the limit."""
    return op, offset, done if op == "write" and offset + done == LIMIT else length, done


def calls_of(ios):
    return [as_sent(io.op, io.offset, io.length, io.bytes) for io in ios if io.path.endswith("/file")]


def main(seed):
    need_fuse()
    need("strace")
    checks = Checks()
    print(f"seed {seed}")
    command = [sys.executable, os.path.abspath(__file__), "--program", str(seed)]
    with Mount("--fidelity", "exact", "--io-uring", "off") as mount:  # by rings calls come in other requests
        native, traced = mount.base / "native", mount.base / "traced"
        native.mkdir()
        traced.mkdir()
        seen = calls_of(straced.run(command, native).io)
        status = os.spawnvp(os.P_WAIT, "env", ["env", "-C", str(mount(traced)), *command])
        mount.unmount()
        checks.equal("the program ends well", status, 0)
        rows = mount.sql("SELECT name, offset, length, result, pieces FROM op WHERE name IN ('read', 'write') "
                         "AND path LIKE '%/traced/file' AND result >= 0 ORDER BY id")
        recorded = [as_sent(*row[:4]) for row in rows]
        checks.equal("operations are calls", len(recorded), len(seen))
        for number, (got, wanted) in enumerate(zip(recorded, seen)):
            checks.equal(f"call {number}", got, wanted)
        pieces = [row[4] for row in rows]
        checks.check("of each it is known of how many pieces", None not in pieces)
        checks.check("several were cut", sum(n > 1 for n in pieces) > CALLS // 8, str(pieces))
        cut_short = sum(done < length for *_, length, done in seen)
        checks.check("several were cut short", cut_short > 3, cut_short)
        sums, = mount.sql("SELECT sum(nread), sum(bread), sum(nwrite), sum(bwrite) FROM handle "
                          "WHERE path LIKE '%/traced/file'")
        checks.equal("sums of the handle", tuple(sums), tuple(
            f(io for io in seen if io[0] == op) for op in ("read", "write")
            for f in (lambda ios: len(list(ios)), lambda ios: sum(io[3] for io in ios))))
        print(f"{len(seen)} calls seen by strace, {sum(n > 1 for n in pieces)} of them in {sum(pieces)} "
              f"requests, {cut_short} cut short")
        shutil.rmtree(native)
    checks.end()


if "--program" in sys.argv:
    program(int(sys.argv[-1]))
else:
    main(int(sys.argv[2]) if "--seed" in sys.argv else random.randrange(1 << 30))
