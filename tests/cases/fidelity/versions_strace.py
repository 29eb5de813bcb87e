#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# long: --flows 300
"""Which process read and wrote which version of which file, and which files were deleted, is what the calls say that
strace shows of the same run: random workflows (randomflows.py), in fidelity exact or call.

The model knows the calls alone, and the rules of ftrac-db(5): a version ends when something is written after a process
that did not write it has read it, or with truncation to nothing; a file is deleted when its last name goes.

versions_strace.py [--seed N] [--flows N] [--files WHAT]: N workflows of 12 steps (default: 12), by a mount, recorded in
the kernel, or by both (a mount with fidelity call); default: all, if the kernel can.
"""
import argparse
import collections
import os
import pathlib
import random
import shlex
import stat
import subprocess
import tempfile

import randomflows
import straced
import straced_edges
from ftractest import Checks, InKernel, Mount, kernel_refuses, need, need_fuse

STEPS = 12
LINKS = 40  # of one path, as the kernel counts them


class File(straced_edges.File):
    """With the names it has, and its version as files.h of the program counts it."""

    def __init__(self, path):
        super().__init__(path)
        self.names, self.deleted = [path], False
        self.version, self.writer, self.reader, self.is_read, self.used = 1, None, None, False, False

    def next_version(self):
        self.version += 1
        self.writer = self.reader = None
        self.is_read = self.used = False

    def read(self, pid):
        self.reader = pid if self.reader in (None, pid) else -1
        self.is_read |= self.writer != pid
        self.used = True

    def write(self, pid):
        if self.is_read or self.reader not in (None, pid):
            self.next_version()
        self.writer = pid if self.writer in (None, pid) else -1
        self.used = True

    def empty(self):
        if self.used:
            self.next_version()

    def lose(self, name):
        self.names.remove(name)
        if self.names:
            self.path = self.names[-1]
        else:
            self.path, self.deleted = name, True


class Account(straced_edges.Account):
    def __init__(self, cwd, top):
        super().__init__(cwd, top, False)
        self.files, self.links, self.all, self.leaders, self.unread = {}, {}, [], {}, set()
        numbers = {}
        for at, _, names in os.walk(top):
            for name in sorted(names):
                path = os.path.join(at, name)
                st = os.lstat(path)
                if stat.S_ISLNK(st.st_mode):
                    self.links[path] = os.readlink(path)
                elif st.st_ino in numbers:
                    self.name(numbers[st.st_ino], path)
                else:
                    numbers[st.st_ino] = self.new(path)

    def new(self, path):
        file = self.files[path] = File(path)
        self.all.append(file)
        return file

    def name(self, file, path):
        self.files[path] = file
        file.names.append(path)
        file.path = path

    def real(self, path, last=True):
        """Without symbolic links; last: nor as the last component."""
        for _ in range(LINKS):
            parts = os.path.normpath(path).split("/")
            ends = range(2, len(parts) + (1 if last else 0))
            at = next((i for i in ends if "/".join(parts[:i]) in self.links), None)
            if at is None:
                break
            link = "/".join(parts[:at])
            path = os.path.join(os.path.dirname(link), self.links[link], *parts[at:])
        return os.path.normpath(path)

    # ---- calls ----

    def take(self, pid, call, text, result):
        if call in straced.FORKS and "CLONE_THREAD" in text and result > 0:
            self.leaders[result] = self.leaders.get(pid, pid)
        super().take(self.leaders.get(pid, pid), call, text, result)

    def edge(self, file, what, pid=None):
        pid = pid or self.pid
        if not isinstance(file, File) or not (file.names or [file.path])[0].startswith(self.top + "/"):
            return
        (file.read if what == "read" else file.write)(pid)
        self.edges.add((pid, file, file.version, what))

    def on_chdir(self, process, text, _):
        process.cwd = self.real(os.path.join(process.cwd, straced.strings(text)[0]))

    def opened(self, process, text, fd, path):
        path = self.real(os.path.join(process.cwd, path), "O_NOFOLLOW" not in text)
        outside = not path.startswith(self.top + "/") or "O_DIRECTORY" in text or os.path.isdir(path)
        fresh = path not in self.files
        file = straced_edges.File(path) if outside else self.files[path] if not fresh else self.new(path)
        description = process.fds[fd] = straced_edges.Description(file, text, self.pid)
        (process.cloexec.add if "O_CLOEXEC" in text else process.cloexec.discard)(fd)
        if outside:
            return
        if not fresh and "O_TRUNC" in text:
            file.empty()
        if fresh or "O_TRUNC" in text:
            self.edge(file, "write")
        elif description.reads and not description.writes:
            self.opens.append(description)

    def to_size(self, file, size):
        if isinstance(file, File):
            if size == 0:
                file.empty()
            self.edge(file, "write")

    def on_ftruncate(self, process, text, _):
        description = process.fds.get(straced.first_number(text))
        if description:
            self.to_size(description.file, int(text.rsplit(", ", 1)[1]))

    def on_truncate(self, process, text, _):
        self.to_size(self.files.get(self.real(self.place(process, text))), int(text.rsplit(", ", 1)[1]))

    def on_fallocate(self, process, text, _):
        description = process.fds.get(straced.first_number(text))
        if description:
            self.data(description, "write")

    def on_unlink(self, process, text, _):
        path = self.real(self.place(process, text), False)
        self.links.pop(path, None)
        file = self.files.pop(path, None)
        if file:
            file.lose(path)

    on_unlinkat = on_unlink

    def on_mkdir(self, process, text, _):
        pass

    on_mkdirat = on_mkdir

    def on_symlink(self, process, text, _):
        self.links[self.real(self.place(process, text, 1), False)] = straced.strings(text)[0]

    on_symlinkat = on_symlink

    def on_link(self, process, text, _):
        source, target = (self.real(self.place(process, text, i), False) for i in (0, 1))
        if source in self.files:
            self.name(self.files[source], target)
        elif source in self.links:
            self.links[target] = self.links[source]

    on_linkat = on_link

    def on_rename(self, process, text, _):
        source, target = (self.real(self.place(process, text, i), False) for i in (0, 1))
        if self.files.get(source) is self.files.get(target) and source in self.files:
            return  # two links of one file stay as they are
        if target in self.files:
            self.files.pop(target).lose(target)
        self.links.pop(target, None)
        for table in self.files, self.links:
            for path in [p for p in table if p == source or p.startswith(source + "/")]:
                self.move(table, path, target + path[len(source):])

    on_renameat = on_renameat2 = on_rename

    def move(self, table, path, new):
        thing = table[new] = table.pop(path)
        if table is self.files:
            thing.names[thing.names.index(path)] = new
            thing.path = new if thing.path == path else thing.path

    def on_execve(self, process, text, _):
        file = self.files.get(self.real(os.path.join(process.cwd, straced.strings(text)[0])))
        if file:
            self.edge(file, "read")
        process.fds = {fd: d for fd, d in process.fds.items() if fd not in process.cloexec}
        process.cloexec = set()

    # ---- results ----

    def leave_out(self):
        """What was opened for reading, and not read: the program counts that when it is closed."""
        return {description.file for description in self.opens if not description.used}


def in_trace(mount, top, account, here):
    """(pid, path, version, read or write) and paths of deleted files.  Of several names a file goes by the first in
    order."""
    first = {name[len(f"{here}/"):]: min(file.names)[len(f"{here}/"):] for file in account.all for name in file.names}
    rows = mount.sql("SELECT p.pid, f.path, f.deleted, a.version, a.nread > 0 OR a.mapped OR a.executed, "
                     "a.nwrite > 0 OR a.created OR a.truncated FROM access a JOIN process p ON p.id = a.process "
                     "JOIN file f ON f.id = a.file WHERE f.kind = 'file' AND f.path GLOB ?", f"{top}/*")
    edges = collections.Counter()
    for pid, path, deleted, version, reads, writes in rows:
        name = path[len(f"{top}/"):]
        name = name if deleted else first.get(name, name)
        edges.update((pid, name, version, what) for what, is_so in (("read", reads), ("write", writes))
                     if is_so)
    gone = mount.sql("SELECT path FROM file WHERE kind = 'file' AND deleted AND path GLOB ?", f"{top}/*")
    return edges, collections.Counter(path[len(f"{top}/"):] for path, in gone), unknown(mount, top)


def unknown(mount, top):
    """Deleted by a system call that alone shows them: it does not tell what kind of file that was."""
    gone = mount.sql("SELECT path FROM file WHERE kind IS NULL AND deleted AND path GLOB ?", f"{top}/*")
    return collections.Counter(path[len(f"{top}/"):] for path, in gone)


def trace(prefix_of_command, here, script):
    account = Account(here, here)
    with tempfile.TemporaryDirectory() as scratch:
        prefix = pathlib.Path(scratch) / "strace"
        subprocess.run([*prefix_of_command, "strace", "-ff", "-ttt", "-s", "4096", "-e", f"trace={straced_edges.CALLS}", "-e", "signal=none",
                        "-o", prefix, "sh", "-c", script], cwd=here, check=False, stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=300)
        for _, pid, call, text, result in straced.lines_of(prefix):
            account.take(pid, call, text, result)
    return account


def run(files, base, top, script):
    """The trace, the model of it, and where the workflow saw its files."""
    if files == "kernel":
        # The record learns each name that a file has at the beginning, as a mount does when the model lists them.
        script, recorded = f"find . -ls > /dev/null\n{script}", InKernel(base)
        return recorded, trace(recorded.command("-q"), str(top.resolve()), script), str(top.resolve())
    with Mount("--fidelity", "call" if files == "both" else "exact", base=base) as mount:
        here = str(mount(top))
        account = trace([], here, script)
        mount.unmount()
    return mount, account, here


def check_flow(checks, base, seed, files):
    rng = random.Random(seed)
    top = base / "top"
    randomflows.inputs(rng, top)
    steps = randomflows.steps(rng, top, STEPS)
    mount, account, here = run(files, base, top, "\n".join(f"sh -c {shlex.quote(step)}" for step in steps))
    out = account.leave_out()
    names = {min(file.names or [file.path])[len(here) + 1:] for file in out}
    wanted = collections.Counter((pid, min(file.names or [file.path])[len(here) + 1:], version, what)
                                 for pid, file, version, what in account.edges if file not in out)
    gone = collections.Counter(file.path[len(here) + 1:] for file in account.all if file.deleted)
    edges, deleted, of_no_kind = in_trace(mount, top, account, here)
    deleted += (gone - deleted) & of_no_kind
    edges = collections.Counter({edge: n for edge, n in edges.items() if edge[1] not in names})
    wanted = collections.Counter({edge: n for edge, n in wanted.items() if edge[1] not in names})
    before = checks.failed
    checks.equal(f"flow {seed}, {files}: of the trace alone", sorted((edges - wanted).items()), [])
    checks.equal(f"flow {seed}, {files}: of strace alone", sorted((wanted - edges).items()), [])
    checks.equal(f"flow {seed}, {files}: deleted files", sorted(deleted.elements()), sorted(gone.elements()))
    if checks.failed > before:
        print("\n".join(f"  {i}: {step}" for i, step in enumerate(steps)))
    return sum(wanted.values()), len({(edge[1], edge[2]) for edge in wanted}), sum(gone.values()), len(names)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    parser.add_argument("--flows", type=int, default=5)
    parser.add_argument("--files", choices=["mount", "kernel", "both", "all"], default="all")
    arguments = parser.parse_args()
    need_fuse()
    need("strace")
    refused = kernel_refuses()
    if refused:
        print(f"not recorded in the kernel: {refused}")
    kinds = [kind for kind in ("mount", "kernel", "both") if arguments.files in (kind, "all") and not (kind != "mount" and refused)]
    checks, sums = Checks(), collections.Counter()
    print(f"seed {arguments.seed}", flush=True)
    for i in range(arguments.flows):
        for kind in kinds:
            with tempfile.TemporaryDirectory(prefix="ftrac-case-") as directory:
                for name, n in zip(("edges", "versions", "deleted files", "names left out"),
                                   check_flow(checks, pathlib.Path(directory), f"{arguments.seed} {i}", kind)):
                    sums[name] += n
    print(f"{arguments.flows} workflows of {STEPS} steps by {' and '.join(kinds)}: " + ", ".join(f"{n} {name}" for name, n in sums.items()))
    checks.check("there is something to compare", sums["edges"] > 10 * arguments.flows, sums)
    checks.end()


if __name__ == "__main__":
    main()
