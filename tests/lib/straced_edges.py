# SPDX-License-Identifier: MIT
"""Which process used which file how, from strace's lines: edges as wfdag draws them."""
import collections
import json
import os
import re
import subprocess

import straced

CALLS = straced.CALLS + (",mmap,rename,renameat,renameat2,unlink,unlinkat,link,linkat,truncate,fallocate,"
                         "mkdir,mkdirat,symlink,symlinkat")


class File:
    def __init__(self, path):
        self.path = path


class Description(straced.Description):
    def __init__(self, file, flags, opener):
        super().__init__(file.path, "O_APPEND" in flags)
        self.file, self.opener, self.used = file, opener, False
        self.reads = "O_WRONLY" not in flags and "O_PATH" not in flags
        self.writes = "O_WRONLY" in flags or "O_RDWR" in flags


class Account(straced.Account):
    """Edges (pid, file, read or write) below a directory, as it is called in the mount."""

    def __init__(self, cwd, top, unseen):
        super().__init__(cwd)
        self.top, self.edges, self.pid, self.unseen = top, set(), None, unseen
        self.files, self.opens = {}, []
        for at, _, names in os.walk(top):
            for name in names:
                self.files[os.path.join(at, name)] = File(os.path.join(at, name))

    def take(self, pid, call, text, result):
        self.pid = pid
        super().take(pid, call, text, result)

    def edge(self, file, what, pid=None):
        if file.path.startswith(self.top + "/"):
            self.edges.add((pid or self.pid, file, what))

    def place(self, process, text, name=0):
        """The path of the name-th string; what stands before it may be a descriptor."""
        path = straced.strings(text)[name]
        before = re.split(r'"(?:[^"\\]|\\.)*"', text)[name].strip(", ")
        base = process.cwd
        if before and not before.endswith("AT_FDCWD"):
            fd = process.fds.get(straced.first_number(before.split(", ")[-1]))
            base = fd.path if fd else base
        return os.path.normpath(os.path.join(base, path))

    def opened(self, process, text, fd, path):
        path = os.path.normpath(os.path.join(process.cwd, path))
        fresh = path not in self.files
        file = self.files.setdefault(path, File(path))
        description = process.fds[fd] = Description(file, text, self.pid)
        self.opens.append((description, "O_DIRECTORY" in text))
        (process.cloexec.add if "O_CLOEXEC" in text else process.cloexec.discard)(fd)
        if "O_CREAT" in text and fresh or "O_TRUNC" in text:
            self.edge(file, "write")
        elif self.unseen and description.reads and "O_DIRECTORY" not in text:
            self.edge(file, "read")
        if self.unseen and description.writes:
            self.edge(file, "write")

    def on_creat(self, process, text, fd):
        self.opened(process, text + ", O_WRONLY|O_CREAT|O_TRUNC", fd, straced.strings(text)[0])

    def moved(self, process, fd, op, length, done, offset=None):
        description = process.fds.get(fd)
        if description and not self.unseen:
            self.data(description, op, done)

    def data(self, description, op, done=1):
        if op == "read":
            description.used = True
        if op == "read" or done:
            self.edge(description.file, op)

    def on_preadv(self, process, text, done):
        self.moved(process, straced.first_number(text), "read", 0, done)

    def on_pwritev(self, process, text, done):
        self.moved(process, straced.first_number(text), "write", 0, done)

    on_preadv2, on_pwritev2 = on_preadv, on_pwritev

    def on_sendfile(self, process, text, done):
        to, source = (straced.first_number(part) for part in text.split(", ")[:2])
        self.moved(process, source, "read", 0, done)
        self.moved(process, to, "write", 0, done)

    def on_copy_file_range(self, process, text, done):
        fields = text.split(", ")
        for field, op in (fields[0], "read"), (fields[2], "write"):
            description = process.fds.get(straced.first_number(field))
            if description:
                self.data(description, op, done)

    def on_mmap(self, process, text, _):
        _, _, rights, flags, fd, _ = text.split(", ")
        description = process.fds.get(straced.first_number(fd))
        if description and "MAP_ANONYMOUS" not in flags and not self.unseen:
            description.used = True
            self.edge(description.file, "read")
            if "PROT_WRITE" in rights and "MAP_SHARED" in flags:
                self.edge(description.file, "write")

    def on_ftruncate(self, process, text, _):
        description = process.fds.get(straced.first_number(text))
        if description:
            self.data(description, "write")

    on_fallocate = on_ftruncate

    def on_truncate(self, process, text, _):
        path = self.place(process, text)
        if path in self.files:
            self.edge(self.files[path], "write")

    def on_unlink(self, process, text, _):
        self.files.pop(self.place(process, text), None)

    on_unlinkat = on_unlink

    def on_mkdir(self, process, text, _):
        path = self.place(process, text)
        self.files[path] = File(path)
        self.edge(self.files[path], "write")

    on_mkdirat = on_mkdir

    def on_symlink(self, process, text, _):
        path = self.place(process, text, 1)
        self.files[path] = File(path)
        self.edge(self.files[path], "write")

    on_symlinkat = on_symlink

    def on_link(self, process, text, _):
        source, target = self.place(process, text), self.place(process, text, 1)
        if source in self.files:
            self.files[target] = self.files[source]

    on_linkat = on_link

    def on_rename(self, process, text, _):
        source, target = self.place(process, text), self.place(process, text, 1)
        file = self.files.pop(source, None)
        if file:
            file.path = target
            self.files[target] = file
            self.edge(file, "write")

    on_renameat = on_renameat2 = on_rename

    def on_execve(self, process, text, _):
        path = os.path.normpath(os.path.join(process.cwd, straced.strings(text)[0]))
        if path in self.files:
            self.edge(self.files[path], "read")
        process.fds = {fd: d for fd, d in process.fds.items() if fd not in process.cloexec}
        process.cloexec = set()

    def end(self):
        """Openings for reading through which nothing was read count as reads."""
        for description, is_directory in self.opens:
            if description.reads and not (description.writes or description.used or is_directory or self.unseen):
                self.edge(description.file, "read", description.opener)
        return collections.Counter((pid, file.path, what) for pid, file, what in self.edges)


def from_wfdag(wfdag, db, top):
    """How many files each (pid, path, read or write) is about, in the graph of a trace; and the graph."""
    done = subprocess.run([wfdag, "--json", "--include", f"path:{top}/*", db], capture_output=True, check=True, timeout=120)
    graph = json.loads(done.stdout)
    nodes = {node["id"]: node for node in graph["nodes"]}
    found = {}
    for edge in graph["edges"]:
        ends = nodes[edge["source"]], nodes[edge["target"]]
        if {end["kind"] for end in ends} != {"process", "file"}:
            continue
        process, file = ends if ends[0]["kind"] == "process" else reversed(ends)
        kinds = set(edge["kind"].split("|"))
        whats = ["read"] if kinds & {"read", "execute", "map"} else []
        whats += ["write"] if kinds & {"write", "create", "rename", "truncate"} else []
        for what in whats:
            # Parts of one file and process are the same edge, files of one name are not.
            found.setdefault((process["pid"], file["path"], what), set()).add((process["trace_id"], file["trace_id"]))
    return collections.Counter({key: len(value) for key, value in found.items()}), graph
