# SPDX-License-Identifier: MIT
"""One run of a command, seen by strace and recorded in the kernel at the same time: call for call.

Both see the same threads, so their calls are compared one by one, in the order of each thread: operation, path or file,
asked length, offset, flags of opens, result.
"""
import collections
import errno
import functools
import mmap
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
ALIASES = {"_llseek": "lseek", "old_mmap": "mmap", "send": "sendto", "recv": "recvfrom", "pread": "pread64",
           "pwrite": "pwrite64"}
FLAGS = {name: getattr(os, name) for name in dir(os) if name.startswith("O_")} | {
    "O_PATH": 0o10000000, "O_TMPFILE": 0o20200000, "O_LARGEFILE": 0}


# Strings as a whole, and what begins, ends or separates arguments.
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"?|[\[{(\]})<>,]')


@functools.lru_cache(maxsize=8)
def split(text):
    """Arguments between commas, of which strings, structs, arrays and paths have some of their own."""
    parts, depth, start = [], 0, 0
    for match in TOKEN.finditer(text):
        c, i = match[0], match.start()
        if c in "[{(" or (c == "<" and text[i + 1:i + 2] not in ("<", " ") and text[i - 1] not in "< "):
            depth += 1
        elif c in "]})" or (c == ">" and text[i - 1] != "-" and depth):
            depth -= 1
        elif c == "," and not depth:
            parts.append(text[start:i].strip())
            start = i + 1
    if text[start:].strip():
        parts.append(text[start:].strip())
    return tuple(parts)


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


def protection(text):
    return sum({"PROT_READ": 1, "PROT_WRITE": 2, "PROT_EXEC": 4}.get(word, 0) for word in text.split("|"))


def flags_of_map(text):
    known = {name[4:]: value for name, value in vars(mmap).items() if name.startswith("MAP_")} | {
        "SHARED_VALIDATE": 3, "FIXED": 16, "FIXED_NOREPLACE": 0x100000, "GROWSDOWN": 0x100, "LOCKED": 0x2000,
        "DENYWRITE": 0x800, "NORESERVE": 0x4000, "POPULATE": 0x8000, "NONBLOCK": 0x10000, "STACK": 0x20000, "SHARED": 1,
        "PRIVATE": 2, "32BIT": 0x40}
    return sum(known[word[4:]] for word in text.split("|") if word.startswith("MAP_")) & 0xffffff


def pages(size):
    return (size + 4095) // 4096 * 4096


def vector(text):
    return sum(int(n) for n in re.findall(r"iov_len=(\d+)", text))


class Strace(straced.Account):
    """Calls of each thread; the account that follows descriptors gives the offsets of read and write."""

    def __init__(self, cwd):
        super().__init__(cwd)
        self.calls = collections.defaultdict(list)
        self.mapped = collections.defaultdict(list)
        self.fifos = set()
        self.detached = set()

    def on_execve(self, process, text, _):
        """The program's file may be gone when this is read."""
        process.program = "known"
        process.fds = {fd: d for fd, d in process.fds.items() if fd not in process.cloexec}
        process.cloexec = set()

    def on_close(self, process, text, _):
        """Lines have the order in which calls begin: another thread may have begun the next open of the number before."""
        fd, description = straced.first_number(text), process.fds.get(straced.first_number(text))
        if description and text.startswith(f"{fd}<") and description.path != text[len(f"{fd}<"):].rstrip(">"):
            return
        super().on_close(process, text, _)

    def moved_by(self, pid, args, fd, offset, done):
        """A transfer moves the position of a descriptor of which no offset is given."""
        description = self.process(pid).fds.get(number(args[fd]))
        if description and (offset is None or args[offset] == "NULL"):
            description.at += done

    def transferred(self, pid, call, args, done):
        if call == "sendfile":
            self.moved_by(pid, args, 0, None, done)
            self.moved_by(pid, args, 1, 2, done)
        elif call in ("copy_file_range", "splice"):
            self.moved_by(pid, args, 0, 1, done)
            self.moved_by(pid, args, 2, 3, done)

    def result(self, text, rest):
        if "ERESTART" in rest:
            return -errno.EINTR
        if text == "?":
            return None
        value = int(text, 0)
        name = re.match(r" (E\w+)", rest)
        return -getattr(errno, name[1]) if value == -1 and name else value

    def line(self, pid, call, text, result, rest):
        result = self.result(result, rest)
        if call == "_llseek":
            fd, offset, position, whence = split(text)
            text = f"{fd}, {offset}, {whence}"
            result = int(position.strip("[]")) if result == 0 else result
        call = ALIASES.get(call, call)
        before = len(self.io)
        self.follow(pid, call, text, result)
        if result is not None:
            try:
                plain = text.replace("preadv2", "preadv")
                self.take(pid, call.replace("64", ""), plain, result)
            except (IndexError, KeyError, TypeError, ValueError):
                pass
        if call in CALLS and result is not None:
            if result > 0:
                self.transferred(pid, call, split(text), result)
            offset = self.io[-1].offset if len(self.io) > before else None
            self.add(pid, call, split(text), result, offset, f"{call}({text}) = {result}")
        if call == "close":
            self.detached.discard((pid, number(text)))

    def follow(self, pid, call, text, result):
        """FIFOs, by absolute paths, and descriptors of mounts that are mounted nowhere."""
        path = re.search(r'"(/[^"]*)"', text)
        if call in ("mknod", "mknodat") and "S_IFIFO" in text and path and result == 0:
            self.fifos.add(path[1])
        if call in ("fsmount", "open_tree") and result is not None and result >= 0:
            self.detached.add((pid, result))

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
        if op == "lock":
            self.add_lock(known, args, result)
        if kind == "MAP":
            if "MAP_ANONYMOUS" in args[3]:
                self.change_maps(pid, result, number(args[1]), None)
                return
            if result >= 0:
                self.change_maps(pid, result, number(args[1]), "MAP_SHARED" in args[3], number(args[5]))
            known["flags"] = protection(args[2]) | flags_of_map(args[3]) << 8
            known["result"] = min(result, 0)
            known["offset"] = number(args[5]) if call == "mmap" else None
        if kind == "UNMAP":
            if not self.unmap(known, pid, op, args, result):
                return
        # The path of a mount's descriptor is that of its open, when it was mounted nowhere; strace shows the present one.
        if at_fd and kind not in ("PIPE", "NEW") and (pid, number(at_fd)) not in self.detached:
            known["path"] = file_of(at_fd)
        if kind == "DATA":
            known["length"] = vector(args[length - 1]) if "VECTOR" in how else number(args[length - 1])
            if self.appends(pid, number(args[fd - 1])):  # wherever the end was
                known["offset"] = None
            elif at and number(args[at - 1]) is not None and number(args[at - 1]) >= 0:
                known["offset"] = number(args[at - 1])
            elif "STREAM" not in how:
                known["offset"] = -1 if known["path"] in self.fifos else offset
        elif kind == "MESSAGE":
            known["length"] = vector(args[length - 1]) if op == "send" or result >= 0 else None
            known["offset"] = -1
        elif kind == "MESSAGES":  # the bytes, not their number
            known["length"] = vector(args[length - 1]) if op == "send" or result == number(args[length]) else None
            known["result"] = sum(map(int, re.findall(r"\bmsg_len=(\d+)", args[length - 1]))) if result >= 0 else result
            known["offset"] = -1
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

    def add_lock(self, known, args, result):
        if kind_of_flock := re.match(r"(LOCK_\w+)", args[1]):
            kinds = {"LOCK_SH": 0, "LOCK_EX": 1, "LOCK_UN": 2}
            known.update(offset=0, length=0, flags=kinds[kind_of_flock[1]] | 16 | (0 if "LOCK_NB" in args[1] else 32))
            return
        what = args[2] if len(args) > 2 else ""
        found = re.match(r"\{l_type=F_(\w+), l_whence=SEEK_(\w+), l_start=(-?\d+), l_len=(\d+)", what)
        if not found:
            return
        command = args[1]
        known["flags"] = {"RDLCK": 0, "WRLCK": 1, "UNLCK": 2}[found[1]] | (8 if "OFD" in command else 4) | (
            32 if command.endswith("W") else 64 if "GETLK" in command else 0)
        known["length"] = int(found[4])
        if found[2] == "SET":
            known["offset"] = int(found[3])

    def change_maps(self, pid, start, size, shared, at=0):
        """shared: of a file; None: of no file, or nothing.  at: the offset in the file."""
        end, kept = start + pages(size), []
        for a, b, what, of in self.mapped[pid]:
            kept += [(x, y, what, of + x - a) for x, y in ((a, min(b, start)), (max(a, end), b)) if x < y]
        self.mapped[pid] = kept + [(start, end, shared, at)] * (shared is not None)

    def unmap(self, known, pid, op, args, result):
        """munmap, msync, mprotect, mremap: whether a file is mapped there."""
        start, size = number(args[0]), number(args[1])
        there = sorted(part for part in self.mapped[pid] if part[0] < start + pages(size) and part[1] > start)
        known["length"] = size
        if not there or op == "mprotect" and not there[0][2]:
            return False
        a, _, shared, at = there[0]
        known["offset"] = at + max(start - a, 0)
        if op == "munmap" and result == 0:
            self.change_maps(pid, start, size, None)
        elif op == "mprotect":
            known["flags"] = protection(args[2]) | 1 << 8
        elif op == "mremap":
            known.update(length=number(args[2]), result=min(result, 0))
            if result >= 0:
                self.change_maps(pid, start, size, None)
                self.change_maps(pid, result, number(args[2]), shared, known["offset"])
        return True


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
        self.processes, self.order = [], []
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
        self.order.append((op, os.fsdecode(text), handle))
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
                paths = sorted(events.paths(b[i].path))[:3] if i < len(b) else ""
                print(f"    recorded  {b[i].line if i < len(b) else '-'}   {paths}")
    return compared, equal


def strace(prefix, command):
    """The command line that read_strace() reads the output of."""
    calls = ",".join(f"?{call}" for call in sorted(
        CALLS | ALIASES | dict.fromkeys(straced.CALLS.split(",")) | dict.fromkeys(("fsmount", "open_tree"))))
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
