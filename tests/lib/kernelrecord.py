# SPDX-License-Identifier: MIT
"""One run of a command, seen by strace and recorded by ftrac run --files kernel at the same time: the rows of the view op of
trace.db, compared one by one with strace's lines.

Both see the same threads, so nothing has to be the same in two runs.  Compared are, in the order of each thread: operation,
path, second path, offset, asked length, result; and of each exec its program and arguments.

What strace does not know is not compared, and counted by its reason (Comparison.without).
"""
import collections
import heapq
import json
import os
import resource
import sqlite3
import subprocess
import sys

import kernelstrace
import straced
from ftractest import FTRAC

DATA = {"read", "write", "send", "recv", "copy", "sendfile", "splice"}
Row = collections.namedtuple("Row", "op path path2 result offset length exe argv")
Seen = collections.namedtuple("Seen", "op paths path2 result offset length exe argv line source")
EXEC = "exec"
SHOWN = 512  # characters of an argument that strace shows


class Strace(kernelstrace.Strace):
    """Calls with the paths that they may have meant: the one that the program gave, and the one that strace found."""

    def __init__(self, cwd):
        super().__init__(cwd)
        self.seen = collections.defaultdict(list)

    def line(self, pid, call, text, result, rest):
        call = kernelstrace.ALIASES.get(call, call)
        before, cwd = len(self.calls[pid]), self.process(pid).cwd
        super().line(pid, call, text, result, rest)
        if call in ("execve", "execveat") and result == "0":
            self.add_exec(pid, call, kernelstrace.split(text), f"{call}({text})"[:160])
        elif len(self.calls[pid]) > before:
            found = self.calls[pid].pop()
            self.seen[pid].append(self.more(found, call, kernelstrace.split(text), cwd, rest))

    def add_exec(self, pid, call, args, line):
        at = kernelstrace.CALLS[call][4] - 1
        argv = [kernelstrace.string(part) for part in kernelstrace.split(args[at + 1][1:-1])]
        whole = all(argv) and '"...' not in args[at + 1]
        exe = kernelstrace.string(args[at])
        self.seen[pid].append(Seen(EXEC, (), None, 0, None, None, exe, argv if whole else None, line, None))

    def more(self, found, call, args, cwd, rest):
        kind, _, _, fd, path, directory, at, length, _ = kernelstrace.CALLS[call]
        paths, path2, offset = [], None, found.offset
        if kind in ("OPEN", "OPENAT2", "PATH", "PATHS", "STAT", "EXEC") and path:
            paths.append(self.absolute(args, path, directory, cwd))
            if kind == "PATHS" and not found.op == "symlink":
                path2 = self.absolute(args, length, at, cwd)
            if kind in ("OPEN", "OPENAT2") and found.result >= 0:
                paths.append(kernelstrace.file_of(f"{found.result}{rest}"))
            if found.path and found.text is None:
                paths.append(found.path)
        elif found.path:
            paths.append(found.path)
        if found.op not in DATA or found.path and found.path.startswith("/dev/") and not found.path.startswith("/dev/shm/"):
            offset = None  # devices have no position
        source = kernelstrace.file_of(args[fd - 1]) if kind == "TRANSFER" else None
        size = found.length if found.op in DATA else None
        return Seen(found.op, tuple(name for name in paths if name), path2, found.result, offset, size, None, None,
                    found.line[:160], source)

    def absolute(self, args, path, directory, cwd):
        text = kernelstrace.string(args[path - 1]) if path <= len(args) else None
        if text is None:
            return None
        base = cwd
        if directory:
            base = kernelstrace.file_of(args[directory - 1]) or cwd
        return os.path.join(base, os.fsdecode(text))


def lines_of(name):
    """Of one thread, in the order of time."""
    tid, time = int(name.suffix[1:]), 0.0
    with open(name, errors="surrogateescape") as f:
        for order, line in enumerate(f):
            match = kernelstrace.LINE.match(line.rstrip("\n"))
            if match:
                time = float(match[1])
                yield time, tid, order, *match.groups()[1:]
    yield time, tid, sys.maxsize, None, None, None, None


def read_strace(prefix, cwd):
    """Each thread with all that was seen of it, when it ends."""
    account, names = Strace(str(cwd)), list(prefix.parent.glob(prefix.name + ".*"))
    resource.setrlimit(resource.RLIMIT_NOFILE, (len(names) + 100, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    for _, tid, _, call, text, result, rest in heapq.merge(*map(lines_of, names)):
        if call:
            account.line(tid, call, text, result, rest)
        else:
            yield tid, account.seen.pop(tid, [])
            account.calls.pop(tid, None)


def as_text(value):
    return os.fsdecode(value) if isinstance(value, bytes) else value


class Record:
    """Rows of each thread, in the order of time."""

    def __init__(self, db):
        db.with_suffix(".rows").unlink(missing_ok=True)
        self.base = sqlite3.connect(db.with_suffix(".rows"))
        self.base.text_factory = lambda b: b.decode(errors="surrogateescape")
        self.base.execute("PRAGMA journal_mode = off")
        self.base.execute("ATTACH ? AS t", (str(db),))
        self.base.execute("CREATE TABLE rows AS SELECT tid, start_ns, name AS op, path, path2, result, offset, length, "
                          "NULL AS exe, NULL AS argv, NULL AS raw FROM t.op")
        self.base.execute(
            "INSERT INTO rows SELECT p.pid, m.start_ns, 'exec', NULL, NULL, 0, NULL, NULL, m.exe, m.argv, m.argv_raw "
            "FROM t.image m JOIN t.process p ON p.id = m.process "
            "WHERE m.exe IS NOT NULL AND (m.seq > 0 OR p.parent IS NULL)")
        self.base.execute("CREATE INDEX by_tid ON rows (tid, start_ns)")

    def rows(self, tid):
        return [self.row(*columns) for columns in self.base.execute(
            "SELECT op, path, path2, result, offset, length, exe, argv, raw FROM rows WHERE tid = ? ORDER BY start_ns",
            (tid,))]

    def bytes_read(self):
        return self.base.execute("SELECT h.path, sum(u.bread) FROM t.use u JOIN t.handle h ON h.id = u.handle "
                                 "WHERE u.bread > 0 GROUP BY h.path")

    def row(self, op, path, path2, result, offset, length, exe, argv, raw):
        arguments = None
        if op == EXEC:
            arguments = [os.fsencode(word) for word in json.loads(argv)] if raw is None else raw.split(b"\0")[:-1]
        op = "open" if op in ("create", "opendir", "tmpfile") else op
        return Row(op, as_text(path), as_text(path2), result, offset, length, as_text(exe), arguments)


def resolved(path, known={}):
    if path not in known:
        known[path] = os.path.realpath(path)
    return known[path]


def is_path(seen, recorded):
    """The same name, also if a symbolic link is on the way, or the last component is one."""
    if seen == recorded or os.path.normpath(seen) == recorded:
        return True
    if not seen.startswith("/") or not recorded.startswith("/"):
        return False
    head, tail = os.path.split(os.path.normpath(seen))
    return os.path.join(resolved(head), tail) == recorded or resolved(seen) == resolved(recorded)


def is_argv(seen, recorded):
    """A script (#!) gets its interpreter, an argument for that, and its own path in the place of the first argument."""
    n = len(seen.argv)
    return seen.argv == recorded or len(recorded) in (n + 1, n + 2) and recorded[-n:] == [seen.exe, *seen.argv[1:]]


def differs(seen, row):
    """What is different, or None."""
    if (seen.op, seen.result) != (row.op, row.result):
        return "call"
    if seen.op == EXEC:
        return "arguments" if seen.argv is not None and not is_argv(seen, row.argv) else None
    if seen.paths and row.path is None:
        return "no path"
    if seen.paths and not any(is_path(path, row.path) for path in seen.paths):
        return "path"
    if seen.path2 and (row.path2 is None or not is_path(seen.path2, row.path2)):
        return "second path"
    for field in ("offset", "length"):
        if getattr(seen, field) is not None and getattr(seen, field) != getattr(row, field):
            return field
    return None


class Comparison:
    def __init__(self, name, show=6):
        self.name, self.show = name, show
        self.compared = self.equal = self.threads = 0
        self.different = collections.Counter()
        self.without = collections.Counter()
        self.read, self.copied = collections.Counter(), collections.Counter()

    def one(self, tid, seen, row, why):
        self.compared += 1
        self.equal += why is None
        if why is None:
            return
        self.different[why] += 1
        if self.different[why] <= self.show:
            print(f"{self.name}: thread {tid}: {why}\n    seen      {seen.line if seen else '-'}"
                  f"  {seen.paths if seen else ''} {seen.offset if seen else ''}\n    recorded  {row if row else '-'}")

    def thread(self, tid, seen, rows):
        """In order; a call that only one of both has does not make all that follow different."""
        self.threads += 1
        i = j = 0
        while i < len(seen) or j < len(rows):
            if i == len(seen):
                self.one(tid, None, rows[j], "only recorded")
                j += 1
            elif j == len(rows):
                self.one(tid, seen[i], None, "only seen")
                i += 1
            elif differs(seen[i], rows[j]) != "call":
                self.one(tid, seen[i], rows[j], differs(seen[i], rows[j]))
                self.unknown(seen[i])
                self.add(seen[i])
                i, j = i + 1, j + 1
            else:
                i, j = self.step(tid, seen, rows, i, j)

    def step(self, tid, seen, rows, i, j):
        for skip in range(1, 20):
            if i + skip < len(seen) and differs(seen[i + skip], rows[j]) is None:
                for k in range(i, i + skip):
                    self.one(tid, seen[k], None, "only seen")
                return i + skip, j
            if j + skip < len(rows) and differs(seen[i], rows[j + skip]) is None:
                for k in range(j, j + skip):
                    self.one(tid, None, rows[k], "only recorded")
                return i, j + skip
        self.one(tid, seen[i], rows[j], "call")
        return i + 1, j + 1

    def unknown(self, seen):
        if seen.op in DATA and seen.offset is None:
            self.without["offsets of appends, pipes, sockets, devices, and of descriptors that were there before"] += 1
        if seen.source:
            self.without["places where copies read"] += 1
        if seen.op == EXEC and seen.argv is None:
            self.without[f"arguments of more than {SHOWN} bytes"] += 1

    def add(self, seen):
        """Bytes that were read of each file.  A copy is one row of op, with the file that it writes."""
        if seen.source and seen.source.startswith("/"):
            self.copied[seen.source] += max(seen.result, 0)
        elif seen.op == "read" and seen.paths:
            self.read[seen.paths[0]] += max(seen.result, 0)

    def sources(self, checks, record):
        """The files that copies read have the bytes of these and of all reads."""
        wanted = {path: count + self.read[path] for path, count in self.copied.items()}
        found = dict.fromkeys(wanted, 0)
        for path, count in record.bytes_read():
            if as_text(path) in found:
                found[as_text(path)] += count
        print(f"{self.name}: {len(wanted)} files that {sum(self.copied.values())} bytes were copied from")
        checks.equal(f"{self.name}: bytes read of the files that are copied",
                     [(path, found[path], count) for path, count in wanted.items() if found[path] != count][:5], [])

    def end(self, checks):
        share = 100 * self.equal / max(self.compared, 1)
        print(f"{self.name}: {self.compared} calls of {self.threads} threads compared one by one, {self.equal} equal "
              f"({share:.4f} %); different: {dict(self.different)}; not compared: {dict(self.without)}", flush=True)
        checks.equal(f"{self.name}: calls that differ", dict(self.different), {})


def run(name, command, cwd, scratch, options=(), **more):
    """Runs the command; what strace saw, what was recorded, the trace, the status."""
    prefix, db = scratch / f"{name}.strace", scratch / f"{name}.db"
    calls = ",".join(f"?{call}" for call in sorted(kernelstrace.CALLS | dict.fromkeys(straced.CALLS.split(","))))
    done = subprocess.run(
        [FTRAC, "run", "-q", "--files", "kernel", "--force", "--db", db, *options, "--",
         "strace", "-ff", "-A", "-ttt", "-y", "-v", "-s", str(SHOWN), "-e", f"trace={calls}", "-e", "signal=none", "-o", prefix, *command], cwd=cwd,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
        check=False, **more)
    return prefix, db, done


def compare(name, prefix, db, cwd, checks):
    comparison, record = Comparison(name), Record(db)
    for tid, seen in read_strace(prefix, cwd):
        comparison.thread(tid, seen, record.rows(tid))
    comparison.sources(checks, record)
    comparison.end(checks)
    return comparison
