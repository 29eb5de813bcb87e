#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes a synthetic trace of a big workflow, to measure what reads traces.

    bench/synthetic.py OUT.db [--ops N] [--processes N] [--files N] [--edges N] [--seed N]

A make starts jobs of eight kinds, level by level, eight at a time.  Each is a shell with one to
three programs, which read what earlier levels wrote (or the input) and write files of their own.
The facts agree with each other as those of a real trace do; the same options make the same trace.

Numbers are those aimed at; processes are exact.  An edge is a process that reads or writes a file
through a handle.  Where there are too few operations for so many edges and files, there are fewer.
"""
import argparse
import bisect
import errno
import heapq
import itertools
import json
import math
import operator
import os
import pathlib
import random
import re
import shlex
import sqlite3
import stat
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "db"))
import embed

TOP = "/data/flow"
START_NS = 1700000000 * 10**9  # of the run; fixed, so that the trace is the same each time
SECOND = 10**9
SLOTS = 8  # jobs at a time
# A level each, with its share of the jobs; a kind that comes twice has two phases.
LEVELS = (("fetch", .08), ("project", .2), ("diff", .26), ("fit", .2), ("model", .03),
          ("correct", .12), ("fit", .07), ("merge", .03), ("view", .01))
HELPERS = "sort", "gzip", "awk", "cksum"
PID = 1000  # of make
DEVICE, MOUNT = 65024, 2147483676
PTRACE = 8  # enum tier
MODE = 0o666  # as the creating process asks for
O_LARGEFILE = 0o100000
READ = os.O_RDONLY | O_LARGEFILE
WRITE = os.O_WRONLY | os.O_TRUNC | O_LARGEFILE
READ_WRITE = os.O_RDWR | os.O_TRUNC | O_LARGEFILE
DIRECTORY = os.O_RDONLY | os.O_NONBLOCK | os.O_DIRECTORY | O_LARGEFILE
ASSUMED_READ = 1
CYCLE = 1 << 16  # length of the tables of latencies
BATCH = 200000  # operations that are sorted at once
BLOCK_MAX = 1 << 17  # what one request of FUSE moves


def source(name):
    return (ROOT / name).read_text()


# An open by execve(2).
FMODE_EXEC = int(re.search(r"#define FMODE_EXEC (\d+)", source("db/event.h"))[1], 8)


def names_in(text, array):
    """The strings of a C array of strings."""
    return re.findall(r'"(\w+)"', re.search(array + r"\[\] = \{([^}]*)\}", text)[1])


class Names:
    """What the C source says: codes of operations, and names of all kinds."""

    def __init__(self):
        event, store = source("db/event.h"), source("db/store.c")
        names = source("db/event.c")
        block = event[event.index("#define EVENT_OPS"):event.index("enum op {")]
        self.ops = re.findall(r"X\((\w+), (\w+),", block)
        self.paratrac = dict(re.findall(r'\[OP_(\w+)\]\s*=\s*"(\w+)"', store))
        self.via = names_in(names, "via_names")
        self.fidelity = names_in(names, "fidelity_names")
        self.application = int(re.search(r"TRACE_FILE_ID (\d+)", source("base/trace_file.h"))[1])
        self.version = re.search(r"version: '([^']+)'", source("meson.build"))[1]
        self.facts = re.findall(r'\{ "(\w+)", V_', source("db/facts.c"))
        constants = {"FMODE_EXEC": FMODE_EXEC}
        self.flags = [(int(bits, 8) if bits[0] == "0"
                       else constants.get(bits) or getattr(os, bits.lstrip("_")), name)
                      for bits, name in re.findall(r'\{ (\w+), "(\w+)" \}', source("db/text.c"))]

    def flag_text(self, flags):
        left, said = flags & ~3, [("O_RDONLY", "O_WRONLY", "O_RDWR")[flags & 3]]
        for bits, name in self.flags:
            if left & bits == bits:
                left &= ~bits
                said.append(name)
        return "|".join(said)


NAMES = Names()
OP = {lower: code for code, (_, lower) in enumerate(NAMES.ops)}
PAGECACHE = NAMES.via.index("pagecache")


class Store:
    """The database while it is filled: rows of each table in batches, ids, paths."""

    def __init__(self, path):
        self.db = sqlite3.connect(path, isolation_level=None)
        self.db.executescript(f"PRAGMA application_id = {NAMES.application};"
                              "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN;"
                              + embed.text(ROOT / "db/schema.sql") + embed.text(ROOT / "db/views.sql") + embed.text(ROOT / "db/steps.sql"))
        self.rows, self.insert, self.last, self.path_ids, self.ops = {}, {}, {}, {}, []
        for table, in self.db.execute("SELECT name FROM sqlite_master WHERE type = 'table'"
                                      ).fetchall():
            columns = len(self.db.execute(f"PRAGMA table_info({table})").fetchall())
            self.insert[table] = f"INSERT INTO {table} VALUES ({','.join('?' * columns)})"
            self.rows[table], self.last[table] = [], 0
        self.last_op, self.numbers = 0, {}
        self.fill_names()

    def fill_names(self):
        for code, (upper, lower) in enumerate(NAMES.ops):
            self.put("op_name", code, lower, NAMES.paratrac.get(upper))
        for table, names in ("via_name", NAMES.via), ("fidelity_name", NAMES.fidelity):
            for code, name in enumerate(names):
                self.put(table, code, name)

    def next_id(self, table):
        self.last[table] += 1
        return self.last[table]

    def put(self, table, *row):
        rows = self.rows[table]
        rows.append(row)
        if len(rows) > 20000:
            self.write(table)

    def write(self, table):
        self.db.executemany(self.insert[table], self.rows[table])
        self.rows[table].clear()

    def path(self, path):
        found = self.path_ids.get(path)
        if found is None:
            found = self.path_ids[path] = len(self.path_ids) + 1
            directory, slash, name = path.rpartition("/") if path.startswith("/") else ("", "", path)
            self.put("path_names", found, self.number("directories", directory + slash) if slash else None, name)
        return found

    def number(self, table, *row):
        """Of a row that stands once."""
        found = self.numbers.get((table, row))
        if found is None:
            found = self.numbers[table, row] = self.next_id(table)
            self.put(table, found, *row)
        return found

    def thread(self, image, tid):
        return self.number("threads", image, tid)

    def write_ops(self, until=None):
        """Those that finished before that time, in this order.  Jobs that run at the same time are
        made one after the other, so that operations of the ones to come may still be earlier."""
        ops, by_finish = self.ops, operator.itemgetter(0)
        ops.sort(key=by_finish)
        n = len(ops) if until is None else bisect.bisect_left(ops, until, key=by_finish)
        done = list(enumerate(ops[:n], self.last_op + 1))
        self.db.executemany(self.insert["ops_handle"],
                            [(i,) + row[1:9] for i, row in done if len(row) == 10])
        self.db.executemany(self.insert["ops_name"],
                            [(i,) + row[1:8] for i, row in done if len(row) == 9])
        self.db.executemany(self.insert["second_operands"],
                            [(i, row[8], None) for i, row in done if len(row) == 9 and row[8]])
        self.last_op += n
        del ops[:n]

    def finish(self):
        self.write_ops()
        for table in self.rows:
            self.write(table)
        # The script commits what is open before it begins.
        self.db.execute("INSERT INTO op_times SELECT process, count(*), sum(latency_ns) FROM op WHERE process IS NOT NULL "
                        "GROUP BY process")
        self.db.executescript(embed.FRESH + embed.ends() + "PRAGMA journal_mode = DELETE;")


class Times:
    """Latencies, and moments one after the other, from which runs of operations are cut."""

    def __init__(self, rng):
        self.latency, self.at, self.spent = [], [0], [0]
        for _ in range(2 * CYCLE):
            latency = int(rng.lognormvariate(math.log(20000), .6))
            if rng.random() < .01:
                latency *= rng.randrange(10, 100)
            gap = int(rng.lognormvariate(math.log(15000), .8))
            self.latency.append(latency)
            self.at.append(self.at[-1] + latency + gap)
            self.spent.append(self.spent[-1] + latency)


class File:
    __slots__ = ("id", "path", "mode", "size_first", "size", "created", "deleted", "version",
                 "seen", "names")

    def __init__(self, store, path, mode=stat.S_IFREG | 0o644, size=0):
        self.id, self.path, self.mode = store.next_id("files"), store.path(path), mode
        self.size_first = self.size = size
        self.created = self.deleted = 0
        self.version, self.seen, self.names = 1, None, []

    def put(self, store):
        if self.seen is None:  # no process has looked at it
            return
        store.put("files", self.id, self.path, store.number("kinds", DEVICE, self.mode, MOUNT),
                  100000 + 16 * self.id, self.size_first,
                  None if self.size == self.size_first else self.size,
                  self.created + 2 * self.deleted, None)
        last = [] if self.deleted else [(self.path, self.names[-1][2] if self.names else self.seen,
                                         None)]
        for path, since, until in self.names + last:
            store.put("names", self.id, path, since, until)

    def unname(self, t):
        self.names.append((self.path, self.names[-1][2] if self.names else self.seen, t))


class Touch:
    __slots__ = ("path", "opens", "created", "truncated", "renamed", "unlinked", "executed",
                 "mapped", "assumed", "nmeta", "first", "last")

    def __init__(self, t):
        self.opens = self.created = self.truncated = self.renamed = self.unlinked = 0
        self.executed = self.mapped = self.assumed = self.nmeta = 0
        self.first = self.last = t


class Process:
    """One on its way: what it did is kept until it ends."""
    last_pid = PID

    def __init__(self, store, parent, t):
        self.store, self.parent, self.start = store, parent, t
        self.id, self.fork_image = store.next_id("processes"), store.next_id("images")
        self.image, self.exec_t = self.fork_image, None
        self.pid = Process.last_pid
        Process.last_pid += 3  # leaves room for threads
        self.touches, self.missing_names = {}, {}
        self.read = self.written = 0
        self.tid = None

    def execute(self, t):
        self.image, self.exec_t = self.store.next_id("images"), t

    def touch(self, file, t):
        key = file.id, file.version
        touch = self.touches.get(key)
        if touch is None:
            touch = self.touches[key] = Touch(t)
        touch.path, touch.last = file.path, t
        if file.seen is None or t < file.seen:
            file.seen = t
        return touch

    def end(self, t, exe, argv, stdout, rng):
        """Its rows; image and program are known."""
        store, comm = self.store, os.path.basename(argv[0])[:15]
        parent = self.parent
        code, signal = 0, None
        if parent and parent.parent and rng.random() < .003:
            code, signal = (1, None) if rng.random() < .7 else (None, 9)
        store.put("processes", self.id, self.pid, parent.pid if parent else PID - 1,
                  parent and parent.id, 0, 0, self.start, t, code, signal, self.image,
                  store.path("/flow.slice"), PTRACE)
        store.put("images", self.fork_image, self.id, 0, parent and parent.image, self.start,
                  self.exec_t, *[None] * 8)
        store.put("images", self.image, self.id, 1, None, self.exec_t, t, store.path(exe),
                  store.path(TOP), comm, json.dumps(argv, separators=(",", ":")), None,
                  store.path("/dev/null"), stdout, store.path(TOP + "/make.log"))
        if parent:
            store.put("environs", self.image, "MAKELEVEL", "1")
        if self.tid:
            store.put("environs", self.image, "OMP_NUM_THREADS", "2")
        self.put_touches()
        self.put_figures(t, rng)

    def put_touches(self):
        store = self.store
        for (file, version), o in self.touches.items():
            bits = (o.created, o.truncated, o.renamed, o.unlinked, o.executed, o.mapped, o.truncated)
            did = sum(int(bit) << n for n, bit in enumerate(bits)) + 128 * o.assumed
            out = o.created or o.truncated or o.renamed or o.assumed & 2
            life = o.last - o.first
            store.put("touches", store.next_id("touches"), self.id, file, version, o.path, did,
                      o.opens, o.nmeta, o.first, life,
                      0 if o.executed or o.mapped or o.assumed & 1 else None, 0 if out else None,
                      None if not out else life if o.truncated or o.renamed else 0)
        for path, (count, first) in self.missing_names.items():
            store.put("missing_names", self.id, path, count, first)

    def times(self, life, rng):
        """Delays, and where the time went, which is known of two processes in three."""
        if self.id % 3 == 0:
            return [None] * 16
        cuts = sorted(rng.randrange(life + 1) for _ in range(11))
        queue, *parts = [b - a for a, b in zip([0, *cuts], [*cuts, life])]
        return [queue, None, None, None, life, *parts]

    def put_figures(self, end, rng):
        store, life, busy = self.store, end - self.start, rng.uniform(.2, .9)
        cpu, rss = int(life * busy), rng.randrange(400, 40000) * 4096
        user = int(cpu * rng.uniform(.3, .95))
        store.put("figures", self.id, cpu, user, cpu - user, rss + rng.randrange(1, 5000) * 4096,
                  rss, self.read + 6976, self.written, self.read // 4096 * 4096 // 3,
                  self.written // 4096 * 4096, 3 + life // 400000, life // 3000000, rss // 4096,
                  int(rng.random() < .05), *self.times(life, rng))
        for t in range((self.start // SECOND + 2) * SECOND, end, SECOND):  # as each is looked at
            store.put("samples", self.id, t + self.id % 64 * 10000, rss - rss // 8,
                      int((t - self.start) * busy))


class Handle:
    __slots__ = ("id", "process", "image", "file", "path", "version", "flags", "mode", "open_t",
                 "position", "sums", "mapped", "uses", "last")
    # Places in sums, as the columns have them
    READS, WRITES, SEEK, READ_NS, SEQUENTIAL, CONSECUTIVE = 0, 2, 4, 5, 7, 9

    def __init__(self, store, process, file, flags, created, t):
        self.id, self.process, self.image = store.next_id("handles"), process, process.image
        self.file, self.path, self.version, self.flags = file, file.path, file.version, flags
        self.mode, self.open_t, self.position = MODE if created else None, t, 0
        self.sums, self.uses, self.last = [0] * 11, {}, self.image
        regular = stat.S_ISREG(file.mode)
        self.mapped = 0 if not regular or flags & 3 == os.O_WRONLY else None

    def count(self, image, write, n, size, first, last, ns, sequential, consecutive):
        use = self.uses.get(image)
        if use is None:
            use = self.uses[image] = [[0] * 7, [None] * 4]
        for sums in self.sums, use[0]:
            sums[2 * write] += n
            sums[2 * write + 1] += size
            sums[self.SEEK] += n - consecutive
            sums[self.READ_NS + write] += ns
        self.sums[self.SEQUENTIAL + write] += sequential
        self.sums[self.CONSECUTIVE + write] += consecutive
        if use[1][2 * write] is None:
            use[1][2 * write] = first
        use[1][2 * write + 1] = last
        self.last = image

    def put(self, store, close_t):
        way = store.number("ways", self.flags, self.mode, 0, self.mapped, *[None] * 5)
        store.put("handles", self.id, self.image, self.file.id, self.path, self.version, way,
                  self.open_t, close_t - self.open_t, *[None] * 8)
        if not self.uses:
            return
        shared, first = len(self.uses) > 1, next(iter(self.uses))
        spans = [None] * 4 if shared else self.spans(self.uses[first][1])
        deficits = [self.sums[write] - self.sums[column + write // 2]
                    for column in (self.SEQUENTIAL, self.CONSECUTIVE) for write in (0, 2)]
        *counts, seeks, read_ns, write_ns = self.sums[:7]
        store.put("moved", self.id, *counts, read_ns, write_ns, *spans, *[None] * 6)
        if shared or first != self.image or seeks or any(deficits):
            store.put("moved_otherwise", self.id, -1 if shared else None if first == self.image else first, None, seeks, *deficits)
        for image, (sums, times) in self.uses.items() if shared else ():
            store.put("uses", self.id, image, self.version, *sums[:7], *self.spans(times))

    def spans(self, times):
        """The first since the open, the last since the first."""
        return [None if t is None else t - (self.open_t if n % 2 == 0 else times[n - 1])
                for n, t in enumerate(times)]


class Clerk:
    """Does operations one after the other, at a time of its own, and writes them down."""

    def __init__(self, store, times, rng, t):
        self.store, self.times, self.rng, self.t = store, times, rng, t
        self.k = rng.randrange(CYCLE)

    def step(self):
        """The start and the latency of an operation."""
        k = self.k = (self.k + 1) % CYCLE
        t = self.t
        self.t = t + self.times.at[k + 1] - self.times.at[k]
        return t, self.times.latency[k]

    def by_name(self, process, op, file, path, result=0, path2=None):
        t, latency = self.step()
        code = OP[op] + 512 * (file.version - 1 if file else 0)
        self.store.ops.append((t + latency, code, t, latency, process.image, file and file.id,
                               path, result, path2))
        return t

    def lookup(self, process, file):
        t = self.by_name(process, "lookup", file, file.path)
        process.touch(file, t).nmeta += 1

    def getattr(self, process, file):
        t = self.by_name(process, "getattr", file, file.path)
        process.touch(file, t).nmeta += 1

    def miss(self, process, path):
        t = self.by_name(process, "lookup", None, path, -errno.ENOENT)
        process.missing_names.setdefault(path, [0, t])[0] += 1

    def make_directory(self, process, path):
        file = File(self.store, path, stat.S_IFDIR | 0o755, 4096)
        file.created = 1
        self.miss(process, file.path)
        t = self.by_name(process, "mkdir", file, file.path)
        process.touch(file, t).created = 1
        return file

    def remove(self, process, op, file):
        self.lookup(process, file)
        t = self.by_name(process, op, file, file.path)
        process.touch(file, t).unlinked = 1
        file.unname(t)
        file.deleted = 1

    def rename(self, process, file, path):
        self.lookup(process, file)
        self.miss(process, path)
        t = self.by_name(process, "rename", file, file.path, path2=path)
        file.unname(t)
        file.path = path
        process.touch(file, t).renamed = 1

    def by_handle(self, handle, process, op, result=0, offset=None, asked=None, via=0, known=True):
        t, latency = self.step()
        image = process.image if process else handle.last
        code, requester = OP[op] + 64 * via, None if image == handle.image else image
        if not known:
            code += 256
        elif process.tid:
            requester = -self.store.thread(image, process.tid)
        self.store.ops.append((t + latency, code, t - handle.open_t, latency, handle.id, result,
                               offset, None if asked == result else asked, requester, None))
        return t, latency

    def open(self, process, file, flags, op="open"):
        fresh = op == "create"
        handle = Handle(self.store, process, file, flags | (os.O_CREAT if fresh else 0), fresh,
                        self.t)
        self.by_handle(handle, process, op)
        touch = process.touch(file, handle.open_t)
        touch.opens += 1
        if fresh:
            touch.created = file.created = 1
        elif flags & os.O_TRUNC:
            touch.truncated = 1
        touch.executed |= int(flags & FMODE_EXEC > 0)
        return handle

    def transfer(self, handle, process, op, size, offsets, via=0):
        """A run of operations that all move as many bytes."""
        n = len(offsets)
        if n == 0:
            return
        k, times, number = self.rng.randrange(CYCLE), self.times, handle.id
        requester = None if process.image == handle.image else process.image
        if process.tid:
            requester = -self.store.thread(process.image, process.tid)
        code, base = OP[op] + 64 * via, self.t - times.at[k]
        since_open = base - handle.open_t
        self.store.ops.extend([
            (base + at + latency, code, since_open + at, latency, number, size, offset, None,
             requester, None)
            for at, latency, offset in zip(times.at[k:k + n], times.latency[k:k + n], offsets)])
        forward, consecutive = self.positions(handle, size, offsets)
        self.count(handle, process, op, n, n * size, self.t, base + times.at[k + n - 1],
                   times.spent[k + n] - times.spent[k], forward, consecutive)
        handle.position = offsets[-1] + size
        if op == "write":
            handle.file.size = max(handle.file.size, max(offsets[0], offsets[-1]) + size)
        self.t = base + times.at[k + n]
        if via == PAGECACHE and not handle.flags & FMODE_EXEC:
            handle.mapped = 1
            handle.process.touch(handle.file, self.t).mapped = 1

    @staticmethod
    def positions(handle, size, offsets):
        """How many of them begin at or behind the end of the one before, and right there."""
        if isinstance(offsets, range):
            rest, first = len(offsets) - 1, offsets[0]
            return ((first >= handle.position) + rest * (offsets.step >= size),
                    (first == handle.position) + rest * (offsets.step == size))
        ends = [handle.position, *[offset + size for offset in offsets[:-1]]]
        return (sum(map(operator.ge, offsets, ends)), sum(map(operator.eq, offsets, ends)))

    def single(self, handle, process, op, size, asked=None):
        """One more, right after the last."""
        offset = handle.position
        t, latency = self.by_handle(handle, process, op, size, offset, asked)
        self.count(handle, process, op, 1, size, t, t, latency, 1, 1)
        handle.position = offset + size
        if op == "write":
            handle.file.size = max(handle.file.size, handle.position)

    @staticmethod
    def count(handle, process, op, n, size, first, last, ns, sequential, consecutive):
        handle.count(process.image, int(op == "write"), n, size, first, last, ns, sequential,
                     consecutive)
        if op == "write":
            process.written += size
        else:
            process.read += size

    def close(self, handle, process, op="release"):
        if op == "release" and not handle.flags & FMODE_EXEC:
            self.by_handle(handle, process, "flush")
            handle.last = process.image
        # The kernel does not say which process releases; ftrac takes the one that used the handle last.
        t, latency = self.by_handle(handle, None, op, known=False)
        handle.put(self.store, t + latency)
        if (stat.S_ISREG(handle.file.mode) and handle.flags & 3 == os.O_RDONLY
                and handle.sums[Handle.READS] == 0 and not handle.flags & FMODE_EXEC):
            handle.process.touch(handle.file, t).assumed |= ASSUMED_READ

    def list_directory(self, process, file):
        handle = self.open(process, file, DIRECTORY, "opendir")
        for entries in self.rng.randrange(3, 200), 0:
            t, _ = self.by_handle(handle, process, "readdir", entries)
            process.touch(file, t).nmeta += 1
        self.close(handle, process, "releasedir")

    def read_file(self, process, file, n, sequential):
        """By about n reads."""
        self.lookup(process, file)
        handle = self.open(process, file, READ)
        if self.rng.random() < .3:
            self.getattr(process, file)
        how = 0 if sequential else self.rng.random()
        block = max(9, min(17, round(math.log2(max(1, file.size) / max(1, n)))))
        block, via = 1 << block, PAGECACHE if self.rng.random() < .03 else 0
        blocks = file.size // block
        if how > .93 and blocks > 1:
            self.transfer(handle, process, "read", block,
                          [block * int(self.rng.random() * blocks) for _ in range(n)], via)
        elif how > .85 and blocks > 1:
            self.transfer(handle, process, "read", block,
                          range(0, block * blocks, 2 * block)[:n], via)
        else:
            self.transfer(handle, process, "read", block, range(0, block * blocks, block)[:n], via)
            if blocks < n and file.size % block:
                self.single(handle, process, "read", file.size % block, block)
            if blocks + 1 < n:
                self.single(handle, process, "read", 0, block)
        self.close(handle, process)

    def write_file(self, process, file, n):
        """Creates it, and writes it by n writes; some programs read back what they wrote."""
        back = n > 8 and self.rng.random() < .05
        block = self.rng.choice((4096, 4096, 16384, 65536, BLOCK_MAX))
        self.miss(process, file.path)
        handle = self.open(process, file, READ_WRITE if back else WRITE, "create")
        again = n // 4 if back else 0
        if n > 1:
            self.transfer(handle, process, "write", block,
                          range(0, block * (n - 1 - again), block))
        if n > 0:
            self.single(handle, process, "write", self.rng.randrange(1, block))
        self.transfer(handle, process, "read", block, range(0, block * again, block))
        self.close(handle, process)


class Budget:
    """Spreads the wanted number over the rest of the run."""

    def __init__(self, options, children, jobs, rng):
        self.rng, self.options = rng, options
        self.edges = min(options.edges, options.ops // 6)
        files = min(options.files, self.edges)
        # Small traces have no room for what belongs to jobs rather than to data.
        self.extras = options.ops - 5 * self.edges >= 8 * options.processes
        self.logs = self.extras and files >= 4 * jobs and self.edges >= 8 * children
        self.inputs = max(1, files // 5)
        self.outputs = max(0, files - self.inputs - (jobs if self.logs else 0))
        self.children = children

    def child(self):
        """How many files the next program reads and writes."""
        share = self.edges / self.children
        writes = int(self.outputs / self.children + self.rng.random())
        more = self.rng.lognormvariate(-.125, .5)
        reads = max(0, int((share - 2 * self.logs) * more + self.rng.random()) - writes)
        self.outputs -= writes
        self.children -= 1
        return reads, writes

    def data(self, done):
        """How many reads or writes the next handle has, after so many operations."""
        mean = (self.options.ops - done - 4.3 * self.edges
                - 3 * self.extras * self.children) / max(1, self.edges)
        self.edges -= 1
        return min(CYCLE, max(0, int(mean * self.rng.lognormvariate(-.5, 1) + self.rng.random())))


class Workflow:
    def __init__(self, store, options):
        self.store, self.options = store, options
        self.rng = random.Random(options.seed)
        self.times = Times(self.rng)
        Process.last_pid = PID
        self.plan = self.make_plan()
        sizes = [c for level in self.plan for c in level]
        self.budget = Budget(options, sum(sizes), len(sizes), self.rng)
        self.files, self.directories = [], {}
        self.earlier, self.before = [], []  # what may be read: all, and of the level before
        self.programs, self.progress, self.bytes = {}, None, 0
        self.driver = Process(store, None, 100000)
        self.driver.execute(900000)
        self.clerk = Clerk(store, self.times, self.rng, 3000000)  # of the driver

    def make_plan(self):
        """For each level, how many programs each of its jobs has."""
        left, jobs = max(3, self.options.processes) - 1, []
        while left:
            n = min(self.rng.randrange(1, 4), left - 1)
            if left - 1 - n == 1:  # that is too few for another job
                n += 1 if n < 3 else -1
            jobs.append(n)
            left -= 1 + n
        plan, done, share = [], 0, 0
        for i, (_, part) in enumerate(LEVELS):
            share += part
            end = min(len(jobs), max(done + 1, round(share * len(jobs))))
            plan.append(jobs[done:end if i + 1 < len(LEVELS) else len(jobs)])
            done = max(done, end)
        return plan

    def file(self, path, *args):
        self.files.append(File(self.store, path, *args))
        return self.files[-1]

    def directory(self, path):
        """Those of the workflow are there from the beginning."""
        if path not in self.directories:
            self.directories[path] = self.file(path, stat.S_IFDIR | 0o755, 4096)
        return self.directories[path]

    def make_inputs(self):
        for i in range(self.budget.inputs):
            self.before.append(self.file(f"{TOP}/input/{i // 100:03}/{i:06}.raw",
                                         stat.S_IFREG | 0o644,
                                         int(self.rng.lognormvariate(math.log(400000), 1))))
        self.earlier += self.before

    def choose(self, n, place, own):
        """To read, none twice: some of this job, of neighbours in the level before, of all."""
        chosen = dict.fromkeys(own[:n])
        first = int(place * len(self.before))
        near = min(len(self.before), int(n * .75 + self.rng.random()))
        for i in range(near):
            chosen[self.before[(first + i) % len(self.before)]] = None
        for _ in range(2 * n):
            if len(chosen) >= n:
                break
            chosen[self.rng.choice(self.earlier)] = None
        return list(chosen)[:n]

    def read(self, clerk, process, file):
        clerk.read_file(process, file, self.budget.data(self.done()),
                        self.options.reads_only_sequential)

    def done(self):
        return self.store.last_op + len(self.store.ops)

    def begin(self):
        makefile = self.file(TOP + "/Makefile", stat.S_IFREG | 0o644, 30000)
        self.read(self.clerk, self.driver, makefile)
        self.make_inputs()

    def note_progress(self, level):
        """The driver begins its note anew with each level, which makes another version of it."""
        driver, clerk, text = self.driver, self.clerk, 40 + level
        if self.progress is None:
            self.progress = self.file(TOP + "/progress")
            clerk.miss(driver, self.progress.path)
            handle = clerk.open(driver, self.progress, WRITE, "create")
        else:
            self.progress.version += 1
            self.progress.size = 0
            clerk.lookup(driver, self.progress)
            handle = clerk.open(driver, self.progress, WRITE)
        clerk.single(handle, driver, "write", text)
        clerk.close(handle, driver)

    def run(self):
        self.begin()
        end, number = self.clerk.t, 0
        for level, sizes in enumerate(self.plan):
            if not sizes:
                continue
            if self.budget.extras:
                self.note_progress(level)
            free, made = [max(end, self.clerk.t)] * SLOTS, []
            for i, children in enumerate(sizes):
                self.clerk.t = max(self.clerk.t, heapq.heappop(free))
                if len(self.store.ops) > BATCH:
                    self.store.write_ops(self.clerk.t)
                job = Job(self, LEVELS[level][0], number, children, i / len(sizes))
                job.run(first=i == 0)
                made += job.made
                heapq.heappush(free, job.clerk.t)
                number += 1
            end = max(free)
            self.clerk.t = max(self.clerk.t, end)
            self.before = made or self.before
            self.earlier += made
        self.finish()

    def finish(self):
        t = self.clerk.t + 5000000
        self.driver.end(t, "/usr/bin/make", ["make", f"-j{SLOTS}"],
                        self.store.path(TOP + "/make.log"), self.rng)
        self.store.put("mounts", MOUNT, "ext4", "/", "/", "/dev/sda1", None)
        for file in self.files:
            file.put(self.store)
        self.store.write("ways")
        for flags, in self.store.db.execute("SELECT DISTINCT flags FROM ways").fetchall():
            self.store.put("flag_text", flags, NAMES.flag_text(flags))
        self.put_meta(t + 2000000)

    def put_meta(self, end):
        store = self.store
        store.write_ops()
        store.write("figures")
        store.write("moved")
        store.write("moved_otherwise")
        query = store.db.execute
        facts = {
            "format": 1, "ftrac_version": NAMES.version, "host": "synthetic", "user": "root",
            "kernel": "Linux 6.18.0", "cpus": SLOTS, "cpu_model": "synthetic",
            "memory_bytes": 64 << 30, "source": "/", "mountpoint": "/mnt",
            "command": f"make -j{SLOTS}", "cwd": TOP, "options": f"-- make -j{SLOTS}",
            "exit_status": 0, "start_ns": START_NS, "end_ns": START_NS + end, "complete": 1,
            "fidelity": NAMES.fidelity[0], "process_tier": "ptrace", "ops_excluded": 0,
            "ops_recorded": store.last_op, "ops_lost": 0, "process_events_lost": 0,
            "overhead_ns": None, "overhead_wall_ns": None, "waited_ns": 0,
            "tracer_cpu_ns": 15000 * store.last_op,
            "bytes_mount": query("SELECT sum(bread + bwrite) FROM moved").fetchone()[0],
            "bytes_kernel": query("SELECT sum(read_char + write_char) FROM figures").fetchone()[0],
        }
        for key in sorted({*facts, *NAMES.facts}):
            store.put("meta", key, facts.get(key))


class Job:
    """A shell and its programs, one after the other."""

    def __init__(self, flow, kind, number, children, place):
        self.flow, self.store, self.rng = flow, flow.store, flow.rng
        self.kind, self.number, self.children, self.place = kind, number, children, place
        self.place_path = f"{TOP}/{kind}/{number // 100:03}"
        self.made, self.scratch, self.renamed, self.said = [], [], [], []
        self.log = self.scratch_directory = None
        self.extras = flow.budget.extras

    def run(self, first):
        flow, rng = self.flow, self.rng
        if self.extras:  # make looks for the target
            flow.clerk.miss(flow.driver, self.store.path(self.output_path(0, 0)))
        shell = Process(self.store, flow.driver, flow.clerk.t)
        flow.clerk.t += rng.randrange(300000, 900000)
        self.clerk = Clerk(self.store, flow.times, rng, shell.start + rng.randrange(400000, 900000))
        shell.execute(self.clerk.t)
        self.clerk.t += 500000
        self.begin(shell, first)
        for child in range(self.children):
            self.run_child(shell, child)
        self.end(shell)
        shell.end(self.clerk.t, "/usr/bin/dash", ["/bin/sh", "-c", " && ".join(self.said)],
                  self.log_path(), rng)

    def begin(self, shell, first):
        if not self.extras:
            return
        directory = self.flow.directory(self.place_path)
        self.clerk.lookup(shell, directory)
        if first:
            self.flow.read(self.clerk, shell, self.flow.progress)
        if self.rng.random() < .2:
            self.clerk.list_directory(shell, directory)
        if self.flow.budget.logs:
            file = self.flow.file(f"{TOP}/log/{self.kind}-{self.number:06}.log")
            self.clerk.miss(shell, file.path)
            self.log = self.clerk.open(shell, file, WRITE, "create")
        if self.children > 1 and self.rng.random() < .15:
            path = f"{TOP}/tmp/{self.kind}-{self.number:06}"
            self.scratch_directory = self.clerk.make_directory(shell, path)
            self.flow.files.append(self.scratch_directory)

    def log_path(self):
        return self.log.path if self.log else self.store.path(TOP + "/make.log")

    def output_path(self, child, i):
        return f"{self.place_path}/{self.kind}-{self.number:06}.{child}.{i}"

    def run_child(self, shell, child):
        flow, rng, clerk = self.flow, self.rng, self.clerk
        process = Process(self.store, shell, clerk.t)
        clerk.t += rng.randrange(300000, 900000)
        name = self.kind if child == 0 else HELPERS[(self.number + child) % len(HELPERS)]
        exe = f"{TOP}/bin/{name}" if child == 0 else f"/usr/bin/{name}"
        program = self.begin_program(process, exe if child == 0 else None)
        if rng.random() < .05:
            process.tid = process.pid + 1  # a thread does the work
        reads, writes = flow.budget.child()
        inputs = flow.choose(reads, self.place + child * .01, self.made + self.scratch)
        for file in inputs:
            flow.read(clerk, process, file)
        clerk.t += int(rng.lognormvariate(math.log(15e6), 1.2))  # computes
        outputs = [self.write_output(process, child, i) for i in range(writes)]
        process.tid = None
        self.end_program(process, program)
        argv = [exe if child == 0 else name]
        if outputs:
            argv += ["-o", self.output_path(child, 0)]
        argv += [f"--{child}", "--batch size=%d" % len(inputs)]
        self.said.append(shlex.join(argv))
        clerk.t += 200000
        process.end(clerk.t, exe, argv, self.log_path(), rng)
        clerk.t += 300000

    def begin_program(self, process, exe):
        """The kernel reads the program before there is the new image, and while that runs."""
        clerk, handle = self.clerk, None
        if exe and self.flow.budget.logs:
            file = self.flow.programs.get(exe)
            if file is None:
                file = self.flow.programs[exe] = self.flow.file(exe, stat.S_IFREG | 0o755, 700000)
            clerk.lookup(process, file)
            handle = clerk.open(process, file, READ | FMODE_EXEC)
            clerk.transfer(handle, process, "read", BLOCK_MAX, range(0, BLOCK_MAX, BLOCK_MAX),
                           PAGECACHE)
        process.execute(clerk.t)
        clerk.t += 400000
        if handle:
            clerk.transfer(handle, process, "read", BLOCK_MAX,
                           range(BLOCK_MAX, 3 * BLOCK_MAX, BLOCK_MAX), PAGECACHE)
            self.flow.budget.edges -= 1
        if self.extras:
            for _ in range(self.rng.randrange(3)):
                clerk.miss(process, self.store.path(
                    f"{TOP}/lib/lib{self.rng.randrange(40)}.so"))
        return handle

    def end_program(self, process, program):
        if self.log:
            for _ in range(self.rng.randrange(1, 4)):
                self.clerk.single(self.log, process, "write", self.rng.randrange(20, 300))
            self.flow.budget.edges -= 1
        if program:
            self.clerk.close(program, process)

    def write_output(self, process, child, i):
        scratch = self.scratch_directory is not None and child == 0 and i > 0
        path = self.output_path(child, i)
        if scratch:
            path = f"{TOP}/tmp/{self.kind}-{self.number:06}/{i}"
        rename = self.extras and not scratch and self.rng.random() < .1
        file = self.flow.file(path + ".part" if rename else path)
        self.clerk.write_file(process, file, self.flow.budget.data(self.flow.done()))
        (self.scratch if scratch else self.made).append(file)
        if rename:
            self.renamed.append((file, path))
        return file

    def end(self, shell):
        for file, path in self.renamed:
            self.clerk.rename(shell, file, self.store.path(path))
        for file in self.scratch:
            self.clerk.remove(shell, "unlink", file)
        if self.scratch_directory:
            self.clerk.remove(shell, "rmdir", self.scratch_directory)
        if self.log:
            self.clerk.close(self.log, shell)
        self.clerk.t += 200000


def say_what_was_made(path):
    db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    for what, query in (
            ("operations on handles", "SELECT count(*) FROM ops_handle"),
            ("operations on names", "SELECT count(*) FROM ops_name"),
            ("processes", "SELECT count(*) FROM processes"),
            ("jobs", "SELECT count(*) FROM processes WHERE parent = 1"),
            ("files", "SELECT count(*) FROM files"),
            ("handles", "SELECT count(*) FROM handles"),
            ("edges", "SELECT count(*) FROM (SELECT DISTINCT process, file FROM any_use)"),
            ("uses", "SELECT count(*) FROM any_use"),
            ("touches", "SELECT count(*) FROM touches"),
            ("names not there", "SELECT count(*) FROM missing_names"),
            ("samples", "SELECT count(*) FROM samples"),
            ("seconds of the run", "SELECT (max(end_t) - min(start_t)) / 1000000000 "
             "FROM processes")):
        print(f"{db.execute(query).fetchone()[0]:>12} {what}")
    print(f"{os.path.getsize(path):>12} bytes")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("out", metavar="OUT.db")
    for name, default in (("ops", 10000000), ("processes", 20000), ("files", 50000),
                          ("edges", 400000), ("seed", 1)):
        parser.add_argument("--" + name, type=int, default=default)
    parser.add_argument("--reads-only-sequential", action="store_true",
                        help="no strided nor random reads")
    parser.add_argument("--force", action="store_true", help="replace OUT.db")
    options = parser.parse_args()
    if os.path.exists(options.out):
        if not options.force:
            sys.exit(f"synthetic: '{options.out}' is there already: replace it with --force")
        os.unlink(options.out)
    start = time.monotonic()
    store = Store(options.out)
    Workflow(store, options).run()
    store.finish()
    store.db.close()
    say_what_was_made(options.out)
    print(f"{time.monotonic() - start:>12.1f} seconds to make it")
    return 0


if __name__ == "__main__":
    sys.exit(main())
