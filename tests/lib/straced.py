# SPDX-License-Identifier: MIT
"""What strace saw of a run: reads and writes with their offsets, by program and file.

An independent account: it follows descriptors through open, dup, fork, exec and close by itself,
from strace's lines alone.
"""
import collections
import os
import pathlib
import re
import subprocess
import tempfile

CALLS = ("open,openat,openat2,creat,close,close_range,dup,dup2,dup3,fcntl,pipe,pipe2,socket,"
         "socketpair,clone,clone3,fork,vfork,execve,chdir,fchdir,lseek,read,write,pread64,pwrite64,"
         "readv,writev,preadv,pwritev,preadv2,pwritev2,sendfile,copy_file_range,ftruncate")

Io = collections.namedtuple("Io", "program path op offset length bytes")


class Description:
    """An open file description: what dup and fork share."""

    def __init__(self, path, append):
        self.path, self.append, self.at = path, append, 0


class Process:
    def __init__(self, cwd, program, fds):
        self.cwd, self.program, self.fds = cwd, program, fds
        self.cloexec = set()


LINE = re.compile(r"([\d.]+) (\w+)\((.*)\)\s+= (-?\d+|\?)(?:<[^>]*>)?(.*)$")
FORKS = {"clone", "clone3", "fork", "vfork"}


def lines_of(prefix):
    """All lines of all processes, (time, pid, call, arguments, result), in their order."""
    found = []
    for name in prefix.parent.glob(prefix.name + ".*"):
        pid = int(name.suffix[1:])
        with open(name, errors="surrogateescape") as f:
            for line in f:
                match = LINE.match(line)
                if match and match[4] != "?":
                    found.append((float(match[1]), pid, match[2], match[3], int(match[4])))
    # A call is stamped when it begins: a fork's child may have lines before its parent's next.
    return sorted(found, key=lambda line: line[0])


def strings(text):
    return [s.encode().decode("unicode_escape").encode("latin-1").decode(errors="surrogateescape")
            for s in re.findall(r'"((?:[^"\\]|\\.)*)"', text)]


def first_number(text, base=10):
    return int(re.match(r"-?\w+", text.strip())[0], 0)


class Account:
    def __init__(self, cwd):
        self.io, self.processes, self.cwd = [], {}, cwd
        self.programs = collections.Counter()

    def process(self, pid):
        if pid not in self.processes:
            self.processes[pid] = Process(self.cwd, "?", {})
        return self.processes[pid]

    def take(self, pid, call, text, result):
        process = self.process(pid)
        if call in FORKS:
            if result > 0:
                shared = "CLONE_FILES" in text
                child = Process(process.cwd, process.program,
                                process.fds if shared else dict(process.fds))
                child.cloexec = process.cloexec if shared else set(process.cloexec)
                early = self.processes.get(result)
                if early and early.program == "?":  # its lines came before the fork's
                    child.fds.update(early.fds)
                self.processes[result] = child
        elif result < 0:
            return
        elif hasattr(self, f"on_{call}"):
            getattr(self, f"on_{call}")(process, text, result)

    def opened(self, process, text, fd, path):
        flags = text
        process.fds[fd] = Description(os.path.normpath(os.path.join(process.cwd, path)),
                                      "O_APPEND" in flags)
        (process.cloexec.add if "O_CLOEXEC" in flags else process.cloexec.discard)(fd)

    def on_open(self, process, text, fd):
        self.opened(process, text, fd, strings(text)[0])

    def on_openat(self, process, text, fd):
        base = "" if text.startswith("AT_FDCWD") else process.fds[first_number(text)].path
        self.opened(process, text, fd, os.path.join(base, strings(text)[0]))

    on_creat = on_open

    def on_close(self, process, text, _):
        process.fds.pop(first_number(text), None)

    def on_close_range(self, process, text, _):
        first, last = (int(n, 0) for n in text.split(", ")[:2])
        for fd in [fd for fd in process.fds if first <= fd <= last]:
            if "CLOEXEC" in text:
                process.cloexec.add(fd)
            else:
                del process.fds[fd]

    def copy(self, process, old, new, cloexec):
        if old in process.fds:
            process.fds[new] = process.fds[old]
        else:
            process.fds.pop(new, None)
        (process.cloexec.add if cloexec else process.cloexec.discard)(new)

    def on_dup(self, process, text, fd):
        self.copy(process, first_number(text), fd, False)

    def on_dup2(self, process, text, fd):
        if first_number(text) != fd:
            self.copy(process, first_number(text), fd, False)

    def on_dup3(self, process, text, fd):
        self.copy(process, first_number(text), fd, "O_CLOEXEC" in text)

    def on_fcntl(self, process, text, result):
        if "F_DUPFD" in text:
            self.copy(process, first_number(text), result, "F_DUPFD_CLOEXEC" in text)
        elif "F_SETFD" in text:
            fd = first_number(text)
            (process.cloexec.add if "FD_CLOEXEC" in text else process.cloexec.discard)(fd)

    def on_pipe(self, process, text, _):
        for fd in re.findall(r"\d+", text.split("]")[0]):
            process.fds.pop(int(fd), None)

    on_pipe2 = on_socketpair = on_pipe

    def on_socket(self, process, text, fd):
        process.fds.pop(fd, None)

    def on_chdir(self, process, text, _):
        process.cwd = os.path.normpath(os.path.join(process.cwd, strings(text)[0]))

    def on_fchdir(self, process, text, _):
        process.cwd = process.fds[first_number(text)].path

    def on_execve(self, process, text, _):
        path = os.path.join(process.cwd, strings(text)[0])
        with open(path, "rb") as f:
            if f.read(2) == b"#!":
                path = f.readline().split()[0].decode()
        process.program = os.path.basename(os.path.realpath(path))
        self.programs[process.program] += 1
        process.fds = {fd: d for fd, d in process.fds.items() if fd not in process.cloexec}
        process.cloexec = set()

    def on_lseek(self, process, text, result):
        fd = first_number(text)
        if fd in process.fds:
            process.fds[fd].at = result

    def moved(self, process, fd, op, length, done, offset=None):
        d = process.fds.get(fd)
        if not d:
            return
        at = d.at if offset is None else offset
        if op == "write" and d.append:
            at = None
        elif offset is None:
            d.at += done
        self.io.append(Io(process.program, d.path, op, at, length, done))

    def on_read(self, process, text, done):
        self.moved(process, first_number(text), "read", int(text.rsplit(", ", 1)[1]), done)

    def on_write(self, process, text, done):
        self.moved(process, first_number(text), "write", int(text.rsplit(", ", 1)[1]), done)

    def on_pread64(self, process, text, done):
        *_, length, offset = text.rsplit(", ", 2)
        self.moved(process, first_number(text), "read", int(length), done, int(offset))

    def on_pwrite64(self, process, text, done):
        *_, length, offset = text.rsplit(", ", 2)
        self.moved(process, first_number(text), "write", int(length), done, int(offset))

    def vector(self, text):
        return sum(int(n) for n in re.findall(r"iov_len=(\d+)", text))

    def on_readv(self, process, text, done):
        self.moved(process, first_number(text), "read", self.vector(text), done)

    def on_writev(self, process, text, done):
        self.moved(process, first_number(text), "write", self.vector(text), done)


    def on_preadv(self, process, text, done):
        offset = int(re.search(r"\], \d+, (\d+)", text)[1])
        self.moved(process, first_number(text), "read", self.vector(text), done, offset)

    def on_pwritev(self, process, text, done):
        offset = int(re.search(r"\], \d+, (\d+)", text)[1])
        self.moved(process, first_number(text), "write", self.vector(text), done, offset)

    on_preadv2, on_pwritev2 = on_preadv, on_pwritev


def run(command, cwd):
    """Runs command in cwd under strace; its account."""
    with tempfile.TemporaryDirectory() as scratch:
        prefix = pathlib.Path(scratch) / "strace"
        subprocess.run(["strace", "-ff", "-ttt", "-s", "4096", "-e", f"trace={CALLS}",
                        "-e", "signal=none", "-o", prefix, *command], cwd=cwd, check=True,
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        account = Account(str(cwd))
        for _, pid, call, text, result in lines_of(prefix):
            account.take(pid, call, text, result)
        return account
