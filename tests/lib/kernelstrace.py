# SPDX-License-Identifier: MIT
"""One run of a command, seen by strace and recorded in the kernel at the same time: call for call.

Both see the same threads, so their calls are compared one by one, in the order of each thread: operation, path or file,
asked length, offset, flags of opens, result.
"""
import collections
import errno
import os
import re
import subprocess

import straced
from ftractest import TOP, WORK, skip

# source: what a transfer from one descriptor to another has read
Call = collections.namedtuple("Call", "op text path length offset flags result line source", defaults=[None])
ROW = re.compile(r"X\((\w+), (\w+), (\w+), (\w+), ([\w| ]+), (\w+), (\d), (\d), (\d), (\d), (\d), (\d)\)")
LINE = re.compile(r"([\d.]+) (\w+)\((.*)\)\s+= (-?(?:0x)?[0-9a-f]+|\?)(.*)$")


def table():
    """NAME -> (class, how, op, fd, path, dir, offset, length, flags) of kernel/calls.h"""
    rows = {}
    for row in ROW.findall((TOP / "kernel/calls.h").read_text()):
        name, _, _, kind, how, op, *at = row
        rows[name] = kind, how, op.lower(), *map(int, at)
    return rows


CALLS = table()
ALIASES = {"_llseek": "llseek", "pread": "pread64", "pwrite": "pwrite64"}
FLAGS = {name: getattr(os, name) for name in dir(os) if name.startswith("O_")} | {
    "O_PATH": 0o10000000, "O_TMPFILE": 0o20200000, "O_LARGEFILE": 0}


def split(text):
    """Arguments between commas, of which strings, structs, arrays and paths have some of their own."""
    parts, depth, start, quoted, i = [], 0, 0, False, 0
    while i < len(text):
        c = text[i]
        if quoted:
            if c == "\\":
                i += 1
            elif c == '"':
                quoted = False
        elif c == '"':
            quoted = True
        elif c in "[{(" or (c == "<" and text[i + 1:i + 2] not in ("<", " ") and text[i - 1] not in "< "):
            depth += 1
        elif c in "]})" or (c == ">" and text[i - 1] != "-" and depth):
            depth -= 1
        elif c == "," and not depth:
            parts.append(text[start:i].strip())
            start = i + 1
        i += 1
    if text[start:].strip():
        parts.append(text[start:].strip())
    return parts


def string(text):
    """A string of strace's, as bytes; None: an address that could not be read."""
    match = re.match(r'"((?:[^"\\]|\\.)*)"', text)
    return match and match[1].encode("latin-1", "surrogateescape").decode("unicode_escape").encode("latin-1")


def file_of(text):
    """What -y shows behind a descriptor."""
    match = re.match(r"(?:-?\d+|AT_FDCWD)<(.*?)(?: \(deleted\))?>(?:\(deleted\))?$", text.split(" = ")[0])
    return match and match[1]


def number(text):
    match = re.match(r"-?(0x[0-9a-f]+|\d+)", text)
    return int(match[0], 0) if match else None


def flags(text):
    total = 0
    for word in re.sub(r"\{flags=([^,}]*).*", r"\1", text).split("|"):
        total |= FLAGS[word] if word in FLAGS else number(word) or 0
    return total


def vector(text):
    return sum(int(n) for n in re.findall(r"iov_len=(\d+)", text))


class Strace(straced.Account):
    """Calls of each thread; the account that follows descriptors gives the offsets of read and write."""

    def __init__(self, cwd):
        super().__init__(cwd)
        self.calls = collections.defaultdict(list)
        self.mapped = collections.defaultdict(list)

    def result(self, text, rest):
        if "ERESTART" in rest:
            return -errno.EINTR
        if text == "?":
            return None
        value = int(text, 0)
        name = re.match(r" (E\w+)", rest)
        return -getattr(errno, name[1]) if value == -1 and name else value

    def line(self, pid, call, text, result, rest):
        call = ALIASES.get(call, call)
        result = self.result(result, rest)
        before = len(self.io)
        if result is not None:
            try:
                plain = text.replace("preadv2", "preadv")
                self.take(pid, call.replace("64", ""), plain, result)
            except (IndexError, KeyError, TypeError, ValueError):
                pass
        if call in CALLS and result is not None:
            offset = self.io[-1].offset if len(self.io) > before else None
            self.add(pid, call, split(text), result, offset, f"{call}({text}) = {result}")

    def add(self, pid, call, args, result, offset, line):
        kind, how, op, fd, path, directory, at, length, flag = CALLS[call]
        if kind in ("SUBMIT", "REAP", "CLOSE_RANGE") or op == "none" and kind != "FCNTL":
            return
        if kind == "EXEC" and result == 0:
            return
        at_fd = args[fd - 1] if fd and fd <= len(args) else None
        if kind == "FCNTL":
            op = "dup" if "F_DUPFD" in args[1] else "lock" if re.search("F_(OFD_)?(SET|GET)LK", args[1]) else "fcntl"
        known = {"op": op, "text": None, "path": None, "length": None, "offset": None, "flags": None,
                 "result": result, "line": line}
        if kind == "MAP":
            if "MAP_ANONYMOUS" in args[3]:
                self.change_maps(pid, result, number(args[1]), False)
                return
            if result >= 0:
                self.change_maps(pid, result, number(args[1]), True)
            known["result"] = min(result, 0)
            known["offset"] = number(args[5]) if call == "mmap" else None
        if kind == "UNMAP":
            if not self.is_mapped(pid, number(args[0])):
                return
            if op == "munmap" and result == 0:
                self.change_maps(pid, number(args[0]), number(args[1]), False)
            known["length"] = number(args[1])
        if at_fd and kind not in ("PIPE", "NEW"):
            known["path"] = file_of(at_fd)
        if kind == "DATA":
            known["length"] = vector(args[length - 1]) if "VECTOR" in how else number(args[length - 1])
            if self.appends(pid, number(args[fd - 1])):  # wherever the end was
                known["offset"] = None
            elif at and number(args[at - 1]) is not None and number(args[at - 1]) >= 0:
                known["offset"] = number(args[at - 1])
            elif "STREAM" not in how:
                known["offset"] = offset
        elif op == "lseek":
            known["offset"] = number(args[at - 1])
        elif op in ("truncate", "fallocate"):
            known["length"] = number(args[length - 1])
        if kind == "TRANSFER":
            known["path"], known["source"] = file_of(args[path - 1]), file_of(at_fd)
            known["length"] = number(args[length - 1])
        elif kind == "FD" and path:
            known["text"] = string(args[path - 1])
        elif path:
            self.add_path(known, kind, args, path, directory, at, length, flag, result)
        if kind == "OPEN":
            known["flags"] = flags(args[flag - 1]) if flag else os.O_CREAT | os.O_WRONLY | os.O_TRUNC
            known["op"] = "open"
        self.calls[pid].append(Call(**known))

    def appends(self, pid, fd):
        description = self.process(pid).fds.get(fd)
        return description and description.append

    def add_path(self, known, kind, args, path, directory, at, length, flag, result):
        text = string(args[path - 1]) if path <= len(args) else None
        known["text"] = text or b""
        if kind == "PATHS":
            known["text"] += b"\0" + (string(args[length - 1]) or b"")
        elif kind in ("PATH", "STAT") and directory and not text and result >= 0 and args[directory - 1][0].isdigit():
            known["text"], known["path"] = None, file_of(args[directory - 1])
        elif directory and text and text[:1] != b"/":
            known["path"] = file_of(args[directory - 1])
        if kind == "PATH" and "AT_REMOVEDIR" in args[-1]:
            known["op"] = "rmdir"

    def change_maps(self, pid, start, size, is_file):
        end, kept = start + (size + 4095) // 4096 * 4096, []
        for a, b, what in self.mapped[self.memory(pid)]:
            kept += [(x, y, what) for x, y in ((a, min(b, start)), (max(a, end), b)) if x < y]
        self.mapped[self.memory(pid)] = kept + [(start, end, is_file)]

    def memory(self, pid):
        """Threads and their process; forks copy, which is enough for what is compared here."""
        return pid

    def is_mapped(self, pid, at):
        return any(a <= at < b and what for a, b, what in self.mapped[self.memory(pid)])


def read_strace(prefix, cwd):
    account, lines = Strace(str(cwd)), []
    for name in prefix.parent.glob(prefix.name + ".*"):
        with open(name, errors="surrogateescape") as f:
            for order, line in enumerate(f):
                match = LINE.match(line.rstrip("\n"))
                if match:
                    lines.append((float(match[1]), int(name.suffix[1:]), order, *match.groups()[1:]))
    for _, pid, _, call, text, result, rest in sorted(lines, key=lambda line: (line[0], line[1], line[2])):
        account.line(pid, call, text, result, rest)
    return account.calls


class Events:
    """What kernel_events printed."""

    def __init__(self, path):
        self.calls, self.names, self.counts = collections.defaultdict(list), collections.defaultdict(set), {}
        self.processes = []
        self.ranges = 0
        with open(path, "rb") as f:
            for line in f:
                self.line(line.rstrip(b"\n").split(b"\t"))

    def line(self, fields):
        if fields[0] == b"counts":
            self.counts = {k.decode(): int(v) for k, v in
                           (word.split(b"=") for word in fields[1].split() if b"-" not in word)}
        elif fields[0] == b"op":
            self.op(fields)
        elif fields[0] != b"node":
            self.processes.append([field.decode(errors="surrogateescape") for field in fields])

    def op(self, fields):
        op, rest = fields[1].decode(), fields[-1]
        aside, tid, _, latency, result, node, other, handle, offset, length, flag, mode = map(int, fields[2:-1])
        text = rest.decode("unicode_escape").encode("latin-1")
        if op == "lookup":
            self.names[other].add((node, text))
        if aside:
            return
        if op == "close" and not latency:  # one of those of close_range(2)
            self.ranges += 1
            return
        if op == "rename" and result == 0:
            self.renamed(node, other, text)
        self.calls[tid].append(Call(op, text, node, length, offset, flag, result, b"\t".join(fields).decode()))

    def renamed(self, node, other, text):
        old, new = text.split(b"\0")
        for child, names in list(self.names.items()):
            if any(name == os.path.basename(old) for _, name in names):
                names |= {(parent, os.path.basename(new)) for parent, _ in list(names)} | {
                    (other, os.path.basename(new))}

    def paths(self, node, depth=0):
        if node == 1:
            return {""}
        found = set()
        for parent, name in self.names.get(node, ()):
            name = os.fsdecode(name)
            if parent == 0:
                found.add(name)
            elif depth < 60:
                found |= {f"{path}/{name}" for path in self.paths(parent, depth + 1)}
        return found


def is_same(seen, event, events):
    op = "open" if event.op in ("open", "create", "opendir", "tmpfile") else event.op
    if (seen.op, seen.result) != (op, event.result):
        return False
    if seen.text is not None and seen.text != event.text:
        return False
    if seen.path is not None and seen.path != "/":
        names = events.paths(event.path)
        # A name that is gone is not looked up; a rename of a directory changes the names below it.
        if names and seen.path not in names and not any(
                os.path.basename(n) == os.path.basename(seen.path) for n in names):
            return False
    for field in ("length", "offset", "flags"):
        if getattr(seen, field) is not None and getattr(seen, field) != getattr(event, field):
            return False
    return True


def compare(name, seen, events, checks, show=5):
    """Call for call; returns how many were compared, and how many are equal."""
    compared = equal = 0
    for tid in sorted(seen):
        a, b = seen[tid], events.calls.get(tid, [])
        b = [call for call in b if call.op not in ("munmap", "msync")] if not any(
            call.op in ("munmap", "msync") for call in a) else b
        same = sum(is_same(x, y, events) for x, y in zip(a, b))
        compared += max(len(a), len(b))
        equal += same
        if same == len(a) == len(b):
            continue
        wrong = next((i for i, (x, y) in enumerate(zip(a, b)) if not is_same(x, y, events)), min(len(a), len(b)))
        if show > 0:
            show -= 1
            print(f"{name}: thread {tid}, {len(a)} calls seen, {len(b)} recorded; the first that differs is {wrong}:")
            for i in range(max(0, wrong - 1), wrong + 2):
                print(f"    seen      {a[i].line if i < len(a) else '-'}")
                print(f"    recorded  {b[i].line if i < len(b) else '-'}   {sorted(events.paths(b[i].path))[:3] if i < len(b) else ''}")
    return compared, equal


def strace(prefix, command):
    """The command line that read_strace() reads the output of."""
    calls = ",".join(f"?{call}" for call in sorted(CALLS | dict.fromkeys(straced.CALLS.split(","))))
    return ["strace", "-ff", "-ttt", "-y", "-v", "-s", "4200", "-e", f"trace={calls}", "-e", "signal=none", "-o", prefix,
            *command]


def run(name, command, cwd, scratch, checks, recorder=()):
    """Runs the command; the calls that strace saw and those that were recorded."""
    prefix, out = scratch / f"{name}.strace", scratch / f"{name}.events"
    done = subprocess.run(
        [WORK / "kernel_events", "-o", out, *recorder, *strace(prefix, command)],
        cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode == 77:
        skip(done.stderr.strip())
    return read_strace(prefix, cwd), Events(out), done.returncode


def alone(name, command, cwd, scratch, recorder=()):
    """Runs the command without strace: what it printed, and what was recorded."""
    out = scratch / f"{name}.events"
    done = subprocess.run([WORK / "kernel_events", "-o", out, *recorder, *command], cwd=cwd, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True)
    if done.returncode == 77:
        skip(done.stderr.strip())
    return done.stdout, Events(out)
