#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# long: --long
"""The tree of processes against that of strace -f, of a run of its own: the Montage example and a
compile, in both ways to follow a command.

procmon_tree.py [montage|compile...]   both by default
"""
import collections
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

from ftractest import TOP, Checks, need, skip
from profiled import WAYS, Profile, available, whole
from sample import one

need("strace", "make", "gcc")
checks = Checks()

FORK = re.compile(r"^(?:clone|clone3|fork|vfork)\(")
THREAD = "CLONE_THREAD"


def strace_lines(log):
    """(pid, what) with interrupted calls put together."""
    begun = {}
    for line in open(log, errors="surrogateescape"):
        pid, what = line.rstrip("\n").split(None, 1)
        if what.endswith(" <unfinished ...>"):
            begun[pid] = what[:-len(" <unfinished ...>")]
            continue
        resumed = re.match(r"<\.\.\. \w+ resumed>(.*)", what)
        if resumed:
            what = begun.pop(pid, "") + resumed[1]
        yield int(pid), what


def strace_tree(command, cwd):
    """(program of the parent, program of the child), each process but the first; and how each of
    them ended, in a sorted list."""
    log = pathlib.Path(tempfile.mkdtemp(prefix="ftrac-case-")) / "log"
    subprocess.run(["strace", "-f", "-q", "-e", "trace=process", "-s", "0",
                    "-o", log, *command], cwd=cwd, check=True, capture_output=True, timeout=600)
    program, parent, ends, order = {}, {}, {}, []
    at_fork = {}
    for pid, what in strace_lines(log):
        if pid not in program:
            program[pid] = None
            order.append(pid)
        made = FORK.match(what) and re.search(r"= (\d+)$", what)
        executed = re.match(r'execve\("((?:[^"\\]|\\.)*)".*= 0$', what)
        if made and THREAD not in what:
            child = int(made[1])
            parent[child] = pid
            at_fork[child] = program[pid]
        elif executed:
            program[pid] = executed[1].rsplit("/", 1)[-1]
        elif what.startswith("+++ exited with "):
            ends[pid] = (int(what.split()[3]), None)
        elif what.startswith("+++ killed by "):
            ends[pid] = (None, signal.Signals[what.split()[3]].value)
    shutil.rmtree(log.parent)
    return pairs((at_fork[c], program.get(c) or at_fork[c]) for c in parent), pairs(ends.values())


def pairs(items):
    return sorted(collections.Counter(items).items(), key=repr)


def our_tree(p):
    """A program goes by the name it was executed by, as in strace: argv[0] says less."""
    rows = p.sql("""SELECT p.id, p.parent, p.exit_code, p.exit_signal, (SELECT g.name FROM program g
        WHERE g.process = p.id ORDER BY g.seq DESC LIMIT 1) AS name,
        (SELECT g.name FROM program g JOIN image i ON i.id = g.image WHERE g.process = p.parent
        AND i.start_ns <= p.start_ns ORDER BY g.seq DESC LIMIT 1) AS of_parent FROM process p""")
    return (pairs((r["of_parent"], r["name"]) for r in rows if r["parent"]),
            pairs((r["exit_code"], r["exit_signal"]) for r in rows))


def difference(wanted, got):
    return {"strace alone": [x for x in wanted if x not in got][:8],
            "procmon alone": [x for x in got if x not in wanted][:8]}


# Montage's drivers tell their workers to end, and terminate those that have not done so yet.
TERMINATED = {"montage": {(None, signal.SIGTERM.value): (0, None)}}


def normalised(name, ends):
    found = collections.Counter()
    for end, n in ends:
        found[TERMINATED.get(name, {}).get(end, end)] += n
    return sorted(found.items(), key=repr)


def compare(name, command, make_place):
    wanted_tree, wanted_ends = strace_tree(command, make_place("strace"))
    n = sum(count for _, count in wanted_tree) + 1
    ways = [way for way in WAYS if available(way)]
    for way in one(ways):
        with Profile(command, "--processes", way, cwd=make_place(way)) as p:
            whole(checks, way, p)
            checks.equal(f"{name}, {way}: exit status", (p.status, p.err), (0, ""))
            tree, ends = our_tree(p)
            checks.equal(f"{name}, {way}: processes", len(p.processes()), n)
            checks.equal(f"{name}, {way}: edges", sum(c for _, c in tree), n - 1)
            if way == "connector":  # names of what lived for a millisecond may not be known
                known = collections.Counter(dict(e for e in tree if None not in e[0]))
                checks.check(f"{name}, {way}: most names are known", 2 * known.total() > n, known)
                checks.equal(f"{name}, {way}: edges that strace has not",
                             known - collections.Counter(dict(wanted_tree)), collections.Counter())
            else:
                checks.check(f"{name}, {way}: tree", tree == wanted_tree,
                             difference(wanted_tree, tree))
            ends, of_strace = normalised(name, ends), normalised(name, wanted_ends)
            checks.check(f"{name}, {way}: ends", ends == of_strace, difference(of_strace, ends))
            checks.equal(f"{name}, {way}: roots", len(p.processes("parent IS NULL")), 1)
            print(f"{name}, {way}: {n} processes, {len(wanted_tree)} kinds of edges")


base = pathlib.Path(tempfile.mkdtemp(prefix="ftrac-case-"))


def montage(run):
    """Its work directory, made anew for each run."""
    subprocess.run([TOP / "examples/montage/generate.sh", "A", base / run], check=True,
                   stdout=subprocess.DEVNULL)
    return base / run


def compile_example(run):
    shutil.copytree(TOP / "examples/make", base / run)
    subprocess.run(["make", "-s", "clean"], cwd=base / run, check=True)
    return base / run


wanted = sys.argv[1:] or one(["montage", "compile"] if shutil.which("mProjectPP") else ["compile"])
if "compile" in wanted:
    compare("compile", ["make", "-j4"], lambda run: compile_example(f"compile {run}".replace(" ", "-")))
if "montage" in wanted:
    if not shutil.which("mProjectPP"):
        skip("no Montage here")
    compare("montage", ["make", "-j4"], montage)
shutil.rmtree(base)
checks.end()
