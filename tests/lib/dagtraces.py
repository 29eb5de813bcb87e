# SPDX-License-Identifier: MIT
"""Scenarios for wfdag: actors that do one thing after another in a mount, and the edges that result.

An actor is a real process that does what it is told, statement by statement, so that the order of
what several of them do is known.  An edge is a text: "A > x" means that A wrote x, "x > A" that A
read it; "A.2" is the second part of A, where it has more than one.
"""
import collections
import json
import os
import pathlib
import subprocess
import sys

WFDAG = os.environ.get("WFDAG", "build/dag/wfdag")


def exports():
    """The options of wfdag that write a graph, of its help, and whether each is a picture."""
    told = subprocess.run([WFDAG, "--help"], capture_output=True, text=True, timeout=60, check=True).stdout
    lines = told.split("\nFormats;")[1].split("\n\n")[0].splitlines()[1:]
    found = {line.split()[0][2:]: "picture" in line for line in lines if line.startswith("      --")}
    assert {"dot", "json", "svg"} <= set(found), found
    return found


PRELUDE = r"""
import ctypes, mmap, os, subprocess, sys
from os import *
def w(path, data=b"data\n", flags=O_WRONLY | O_CREAT, at=None):
    fd = open(path, flags, 0o644)
    write(fd, data) if at is None else pwrite(fd, data, at)
    close(fd)
def new(path, data=b"data\n"):
    w(path, data, O_WRONLY | O_CREAT | O_TRUNC)
def append(path, data=b"more\n"):
    w(path, data, O_WRONLY | O_APPEND | O_CREAT)
def r(path):
    fd = open(path, O_RDONLY)
    while read(fd, 65536):
        pass
    close(fd)
def exchange(a, b):
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.renameat2(-100, a.encode(), -100, b.encode(), 2):
        raise OSError(ctypes.get_errno(), "renameat2")
for line in iter(sys.stdin.readline, ""):
    exec(compile(line, line, "exec"))
    print("done", flush=True)
"""


class Actor:
    def __init__(self, cwd):
        self.process = subprocess.Popen([sys.executable, "-I", "-S", "-c", PRELUDE], cwd=cwd, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.pid = self.process.pid

    def __call__(self, *statements):
        for statement in statements:
            self.process.stdin.write(statement + "\n")
            self.process.stdin.flush()
            said = self.process.stdout.readline()
            assert said == "done\n", f"{statement}: {said}"

    def end(self):
        self.process.stdin.close()
        self.process.stdout.read()
        self.process.stdout.close()
        assert self.process.wait(60) == 0


class Stage:
    """Where one scenario takes place: a directory, seen through a mount and beside it."""

    def __init__(self, mount, top, programs):
        self.here, self.native, self.programs = mount(top), top, programs
        self.top, self.labels, self.actors = str(top), {}, []
        self.programs_as = {}  # {program: label} of processes that are not told what to do

    def actor(self, label):
        actor = Actor(self.here)
        self.actors.append(actor)
        self.labels[actor.pid] = label
        return actor

    def actors_named(self, labels):
        return [self.actor(label) for label in labels.split()]

    def once(self, label, *statements):
        """An actor for these statements alone."""
        actor = self.actor(label)
        actor(*statements)
        actor.end()
        self.actors.remove(actor)

    def run(self, *argv):
        process = subprocess.Popen(list(map(str, argv)), cwd=self.here, stdin=subprocess.DEVNULL)
        self.labels[process.pid] = None
        assert process.wait(60) == 0, argv

    def given(self, name, data=b"given\n"):
        """A file that was there before."""
        (self.native / name).write_bytes(data)

    def end(self):
        for actor in self.actors:
            actor.end()
        self.actors = []


def wfdag(*args):
    done = subprocess.run([WFDAG, *map(str, args)], capture_output=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def graph_of(db, *options):
    return json.loads(wfdag("--json", *options, db))


def is_acyclic(graph):
    """Takes away what nothing leads to until nothing is left."""
    after, count = {}, {node["id"]: 0 for node in graph["nodes"]}
    for edge in graph["edges"]:
        after.setdefault(edge["source"], []).append(edge["target"])
        count[edge["target"]] += 1
    ready = [node for node, n in count.items() if n == 0]
    for node in ready:
        for other in after.get(node, ()):
            count[other] -= 1
            if count[other] == 0:
                ready.append(other)
    return len(ready) == len(count)


def number_same(names):
    """{key: name} with the second of a name as name#2."""
    seen, found = collections.Counter(), {}
    for key in sorted(names):
        seen[names[key]] += 1
        found[key] = names[key] + (f"#{seen[names[key]]}" if seen[names[key]] > 1 else "")
    return found


class Shown:
    """A graph of wfdag with names that a test can write down, of one stage."""

    def __init__(self, graph, stage, whole=None):
        self.stage, whole = stage, whole or graph
        self.nodes = {node["id"]: node for node in whole["nodes"]}
        self.members = self.descendants(whole)
        mine = {node["id"]: node for node in graph["nodes"] if self.is_mine(node)}
        parts = collections.Counter((node["kind"], node["trace_id"]) for node in mine.values())
        whole = {}
        for kind in "process", "file":
            names = {node["trace_id"]: self.name(node) for node in mine.values() if node["kind"] == kind}
            whole.update({(kind, key): name for key, name in number_same(names).items()})
        self.names, self.divided = {}, set()
        for node in mine.values():
            key = node["kind"], node["trace_id"]
            self.names[node["id"]] = whole[key] + (f".{node['part']}" if parts[key] > 1 else "")
            if parts[key] > 1:
                self.divided.add(whole[key])
        self.shown = [edge for edge in graph["edges"] if edge["source"] in mine and edge["target"] in mine]

    def descendants(self, graph):
        """Processes that the stage knows, and what they started."""
        found = {node["trace_id"] for node in graph["nodes"]
                 if node["kind"] == "process" and node["pid"] in self.stage.labels}
        forks = [(self.nodes[edge["source"]]["trace_id"], self.nodes[edge["target"]]["trace_id"])
                 for edge in graph["edges"] if "fork" in edge["kind"]]
        while True:
            more = {child for parent, child in forks if parent in found} - found
            if not more:
                return found
            found |= more

    def is_mine(self, node):
        if node["kind"] == "process":
            return node["trace_id"] in self.members
        return node["path"].startswith(self.stage.top + "/")

    def name(self, node):
        if node["kind"] == "file":
            return os.path.relpath(node["path"], self.stage.top)
        return self.stage.labels.get(node["pid"]) or \
            self.stage.programs_as.get(node["program"], node["program"])

    def text(self, edge):
        return f"{self.names[edge['source']]} > {self.names[edge['target']]}"

    def edges(self, *kinds):
        """Those of these kinds, {text: edge}."""
        return {self.text(edge): edge for edge in self.shown
                if set(kinds) & set(edge["kind"].split("|"))}

    def data(self):
        return self.edges("read", "write", "create", "rename", "truncate", "execute", "map")


def lines(text):
    return {line.strip() for line in text.replace(";", "\n").splitlines() if line.strip()}


def compile_c(base, name, text):
    source = pathlib.Path(base) / f"{name}.c"
    source.write_text(text)
    subprocess.run(["gcc", "-O1", "-o", source.with_suffix(""), source], check=True, timeout=60)
    return source.with_suffix("")
