#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 14
# long: --long
"""wfdag: small programs whose workflow graph is known from the rules, edge by edge.

What is expected was written down from the rules of the graph, not from what wfdag says: a read edge is
a read, mapping or execution; a write edge a write, creation, truncation or the target of a renaming; a
file is its identity; a version ends when it is written after another process read it, or is emptied; a
process is divided where it reads what depends on itself or on what it started.  All of it in each
fidelity, with single operations and without.
"""
import contextlib
import itertools
import pathlib
import re
import shutil
import sqlite3
import tempfile

from dagtraces import Shown, Stage, compile_c, graph_of, is_acyclic, lines
from ftractest import Checks, Mount, fidelities, need, need_fuse
from sample import some

SCENARIOS = {}
COPIES = "copied_by_the_kernel", "of_a_child"  # copy_file_range is seen where reads are not
WORDY = """#include <stdio.h>
int main(void)
{
	return puts("words") < 0;
}
"""
DAEMON = """#include <fcntl.h>
#include <unistd.h>
int main(void)
{
	int fd;
	if (fork())
		return 0;
	setsid();
	if (fork())
		return 0;
	fd = open("out", O_WRONLY | O_CREAT, 0644);
	return write(fd, "out", 3) != 3 || close(fd) || write(1, ".", 1) != 1;
}
"""


def scenario(edges, parts="", tree="", kinds=None, **others):
    """edges     the data edges, exactly
    parts     edges from a part to the next, exactly; where there is none, nothing is divided
    tree      edges between processes, which must be among those that there are
    kinds     {edge: words that must be among its kinds}
    others    cached, opened, opened_parts: what is another there"""
    def take(function):
        SCENARIOS[function.__name__] = function, {
            "edges": {"exact": lines(edges), "cached": lines(others.get("cached", edges)),
                      "open": lines(others.get("opened", edges))},
            "parts": {"exact": lines(parts), "cached": lines(parts),
                      "open": lines(others.get("opened_parts", parts))},
            "tree": lines(tree), "kinds": kinds or {}}
        return function
    return take


# ---- names ----

@scenario("A > x; x > B", kinds={"A > x": "create write rename"})
def write_then_rename(s):
    s.once("A", "w('x.tmp')", "rename('x.tmp', 'x')")
    s.once("B", "r('x')")


@scenario("A > x#2; x#2 > C; x > B", kinds={"A > x#2": "create write rename"})
def rename_over_another(s):
    s.given("x")
    s.once("B", "r('x')")
    s.once("A", "w('x.tmp')", "rename('x.tmp', 'x')")
    s.once("C", "r('x')")


@scenario("A > x; M > x; x > B", kinds={"M > x": "rename"})
def renamed_by_another(s):
    s.once("A", "w('x.tmp')")
    s.run("mv", "x.tmp", "x")
    s.programs_as = {"mv": "M"}
    s.once("B", "r('x')")


@scenario("A > y; B > x; X > x; X > y; x > C; y > D", kinds={"X > x": "rename", "X > y": "rename"})
def exchange(s):
    s.once("A", "w('x')")
    s.once("B", "w('y')")
    s.once("X", "exchange('x', 'y')")
    s.once("C", "r('x')")
    s.once("D", "r('y')")


# M reads x and renames it: the name is new, and depends on M.
@scenario("A > x.1; x.1 > M; M > x.2; x.2 > B", parts="x.1 > x.2", kinds={"M > x.2": "rename"})
def read_then_renamed(s):
    s.once("A", "w('x.tmp')")
    s.once("M", "r('x.tmp')", "rename('x.tmp', 'x')")
    s.once("B", "r('x')")


# B has read before M renamed, so nothing leads from M to B.
@scenario("A > x.1; x.1 > B; M > x.2; x.2 > C", parts="x.1 > x.2", kinds={"M > x.2": "rename"})
def renamed_after_a_read(s):
    s.once("A", "w('x.tmp')")
    s.once("B", "r('x.tmp')")
    s.once("M", "rename('x.tmp', 'x')")
    s.once("C", "r('x')")


@scenario("A > y; y > B; y > C")
def hard_link(s):
    s.once("A", "w('x')")
    s.once("L", "link('x', 'y')")
    s.once("B", "r('y')")
    s.once("C", "r('x')")


@scenario("A > x; A > x#2; x#2 > B")
def unlink_and_make_again(s):
    s.once("A", "w('x')", "keep = open('x', O_RDONLY)", "unlink('x')", "w('x')", "close(keep)")
    s.once("B", "r('x')")


# B has it as its standard input from a parent, which does not read.
@scenario("A > x; x > B", opened="A > x; x > P")
def unlink_while_open(s):
    s.once("A", "w('x')")
    p = s.actor("P")
    p("fd = open('x', O_RDONLY)")
    s.once("U", "unlink('x')")
    p("child = subprocess.Popen(['cat'], stdin=fd, stdout=subprocess.DEVNULL)",
      "assert child.wait() == 0", "close(fd)")
    s.programs_as = {"cat": "B"}


@scenario("A > x")
def unlinked_at_once(s):
    s.once("A", "fd = open('x', O_RDWR | O_CREAT, 0o600)", "unlink('x')", "write(fd, b'data')",
           "lseek(fd, 0, 0)", "read(fd, 10)", "close(fd)")


# ---- writing ----

@scenario("A > log; B > log; log > C")
def append_by_two(s):
    a, b = s.actors_named("A B")
    a("append('log')")
    b("append('log')")
    a("append('log')")
    s.once("C", "r('log')")


@scenario("A > log.1; log.1 > C; B > log.2; log.2 > D", parts="log.1 > log.2")
def append_after_a_read(s):
    s.once("A", "append('log')")
    s.once("C", "r('log')")
    s.once("B", "append('log')")
    s.once("D", "r('log')")


@scenario("x.1 > A; A > x.2; x.2 > B", parts="x.1 > x.2")
def in_place_by_the_same(s):
    s.given("x")
    s.once("A", "fd = open('x', O_RDWR)", "read(fd, 100)", "pwrite(fd, b'new', 0)", "close(fd)")
    s.once("B", "r('x')")


@scenario("x.1 > A; B > x.2; x.2 > C", parts="x.1 > x.2")
def in_place_by_another(s):
    s.given("x")
    s.once("A", "r('x')")
    s.once("B", "w('x', b'new', O_WRONLY, 0)")
    s.once("C", "r('x')")


@scenario("A > x; x > B", kinds={"A > x": "read write"})
def read_after_own_write(s):
    s.once("A", "w('x')", "r('x')", "append('x')", "r('x')")
    s.once("B", "r('x')")


# What A reads back was not all its own: y depends on what was given.
@scenario("A.1 > x; x > A.2; A.2 > y; y > B", parts="A.1 > A.2")
def read_after_a_change(s):
    s.given("x", b"given, and long\n")
    s.once("A", "w('x', b'G', O_WRONLY, 0)", "r('x')", "w('y')")
    s.once("B", "r('y')")


@scenario("A > x.1; B > x.2; x.2 > C")
def emptied_and_written(s):
    s.once("A", "new('x')")
    s.once("B", "new('x')")
    s.once("C", "r('x')")


@scenario("A > x.1; x.1 > C; B > x.2; x.2 > D", kinds={"B > x.2": "truncate write"})
def emptied_after_a_read(s):
    s.once("A", "new('x')")
    s.once("C", "r('x')")
    s.once("B", "new('x')")
    s.once("D", "r('x')")


# It is shortened, not emptied: what D reads is A's.
@scenario("A > x.1; x.1 > C; B > x.2; x.2 > D", parts="x.1 > x.2", kinds={"B > x.2": "truncate"})
def shortened(s):
    s.once("A", "new('x')")
    s.once("C", "r('x')")
    s.once("B", "truncate('x', 2)")
    s.once("D", "r('x')")


@scenario("A > x.1; x.1 > C; B > x.2; x.2 > D", parts="x.1 > x.2")
def shortened_and_written(s):
    s.once("A", "new('x')")
    s.once("C", "r('x')")
    s.once("B", "fd = open('x', O_WRONLY)", "ftruncate(fd, 2)", "pwrite(fd, b'new', 2)", "close(fd)")
    s.once("D", "r('x')")


@scenario("x > A; A > y; y > B")
def copied_by_the_kernel(s):
    s.given("x", b"copied " * 1000)
    s.once("A", "a = open('x', O_RDONLY)", "b = open('y', O_WRONLY | O_CREAT, 0o644)",
           "assert copy_file_range(a, b, 7000) == 7000", "close(a)", "close(b)")
    s.once("B", "r('y')")


@scenario("x > A; A > y")
def sent_by_the_kernel(s):
    s.given("x", b"sent " * 1000)
    s.once("A", "a = open('x', O_RDONLY)", "b = open('y', O_WRONLY | O_CREAT, 0o644)",
           "assert sendfile(b, a, 0, 5000) == 5000", "close(a)", "close(b)")


@scenario("A > x", kinds={"A > x": "create"})
def made_empty(s):
    s.once("A", "close(open('x', O_WRONLY | O_CREAT, 0o644))")


@scenario("A > x; x > B")
def empty_file_read(s):
    s.once("A", "close(open('x', O_WRONLY | O_CREAT, 0o644))")
    s.once("B", "r('x')")  # 0 bytes are a read, too


@scenario("A > x")
def never_read(s):
    s.once("A", "w('x')")
    s.once("B", "stat('x')", "listdir('.')", "chmod('x', 0o600)", "utime('x')")


# ---- maps ----

@scenario("x > A; A > y", kinds={"x > A": "map"})
def mapped_for_reading(s):
    s.given("x", b"mapped " * 1000)
    s.once("A", "fd = open('x', O_RDONLY)", "m = mmap.mmap(fd, 0, prot=mmap.PROT_READ)", "data = m[:]",
           "m.close()", "close(fd)", "w('y', data)")


@scenario("x > A; A > y")
def mapped_and_closed(s):
    s.given("x", b"mapped " * 1000)
    s.once("A", "fd = open('x', O_RDONLY)", "m = mmap.mmap(fd, 0, prot=mmap.PROT_READ)", "close(fd)",
           "data = m[:]", "w('y', data)")


@scenario("A > x; x > B")
def mapped_for_writing(s):
    s.once("A", "fd = open('x', O_RDWR | O_CREAT, 0o644)", "ftruncate(fd, 8192)",
           "m = mmap.mmap(fd, 8192)", "m[0:5] = b'hello'", "m.flush()", "m.close()", "close(fd)")
    s.once("B", "r('x')")


@scenario("x.1 > A; A > x.2; x.2 > B", parts="x.1 > x.2")
def mapped_for_a_change(s):
    s.given("x", b"mapped " * 1000)
    s.once("A", "fd = open('x', O_RDWR)", "m = mmap.mmap(fd, 0)", "m[0:5] = b'hello'", "m.flush()",
           "m.close()", "close(fd)")
    s.once("B", "r('x')")


# ---- programs ----

@scenario("one > E; two > E; three > E; E > out", kinds={"one > E": "execute", "two > E": "execute"})
def exec_chain(s):
    for name, after in (("one", "./two"), ("two", "./three"), ("three", "echo > out")):
        s.given(name, f"#!/bin/sh\n{'exec ' if name != 'three' else ''}{after}\n".encode())
        (s.native / name).chmod(0o755)
    s.run("./one")
    s.programs_as = {"three": "E", "sh": "E", "dash": "E", "bash": "E"}


@scenario("daemon#3 > out; out > B", tree="daemon > daemon#2; daemon#2 > daemon#3")
def daemon(s):
    p = s.actor("P")
    p("ready, go = pipe()", f"child = subprocess.Popen(['{s.programs / 'daemon'}'], stdout=go)",
      "assert child.wait() == 0",
      "close(go)", "assert read(ready, 1) == b'.'", "assert read(ready, 1) == b''")
    s.once("B", "r('out')")


@scenario("")
def without_files(s):
    s.run("sh", "-c", "ls > /dev/null; true")


@scenario("x > cat; tr > y", tree="sh > cat; sh > tr")
def pipe(s):
    s.given("x")
    s.run("sh", "-c", "cat x | tr a-z A-Z > y; true")
    s.programs_as = {"dash": "sh", "bash": "sh"}


@scenario("wordy > out; out > B")
def redirection(s):
    s.run("sh", "-c", f"exec {s.programs / 'wordy'} > out")
    s.once("B", "r('out')")


# What an inherited descriptor is used for is not seen where data passes unseen.
@scenario("sh > out; wordy > out; out > B", opened="sh > out; out > B")
def redirection_by_the_shell(s):
    s.run("sh", "-c", f"exec > out; {s.programs / 'wordy'}; true")
    s.programs_as = {"dash": "sh", "bash": "sh"}
    s.once("B", "r('out')")


@scenario("A > tool; tool > T; T > out", kinds={"tool > T": "execute"})
def program_that_was_made(s):
    s.once("A", f"data = __builtins__.open('{s.programs / 'wordy'}', 'rb').read()",
           "w('made', data)", "chmod('made', 0o755)", "rename('made', 'tool')")
    s.run("sh", "-c", "exec ./tool > out")
    s.programs_as = {"tool": "T"}


# ---- feedback ----

@scenario("A.1 > f.1; f.1 > B.1; B.1 > g.1; g.1 > A.2; A.2 > f.2; f.2 > B.2; B.2 > g.2; g.2 > A.3",
          parts="A.1 > A.2; A.2 > A.3; B.1 > B.2; f.1 > f.2; g.1 > g.2")
def feedback(s):
    s.given("f")
    s.given("g")
    a, b = s.actors_named("A B")
    for _ in range(2):
        a("w('f', b'from A', O_WRONLY)")
        b("r('f')", "w('g', b'from B', O_WRONLY)")
        a("r('g')")


# A log that is begun early and never read is no reason to divide anything.
@scenario("A > log; x > A; A > y; y > B; B > z; z > C")
def begun_early(s):
    s.given("x")
    a = s.actor("A")
    a("log = open('log', O_WRONLY | O_CREAT, 0o644)", "write(log, b'1')", "r('x')", "w('y')",
      "write(log, b'2')")
    s.once("B", "r('y')", "w('z')")
    s.once("C", "r('z')")


@scenario("P.1 > a; a > C; C > x; x > P.2; P.2 > y", parts="P.1 > P.2", tree="P.1 > C")
def of_a_child(s):
    p = s.actor("P")
    p("w('a')", "child = subprocess.Popen(['cp', 'a', 'x'])", "assert child.wait() == 0", "r('x')", "w('y')")
    s.programs_as = {"cp": "C"}


@scenario("C > x; x > P.2; P.2 > y", parts="P.1 > P.2", tree="P.1 > C")
def of_a_child_alone(s):
    p = s.actor("P")
    p("child = subprocess.Popen(['touch', 'x'])", "assert child.wait() == 0", "r('x')", "w('y')")
    s.programs_as = {"touch": "C"}


# Two wrote the same version, and one of them reads it: its next part depends on both.
@scenario("A.1 > x; B > x; x > A.2; A.2 > y", parts="A.1 > A.2")
def read_back_what_two_wrote(s):
    a, b = s.actors_named("A B")
    a("append('x')")
    b("append('x')")
    a("r('x')", "w('y')")


# A looks at x long before B writes it, and reads it later by a mapping.
@scenario("A.1 > y; y > B; B > x; x > A.2; A.2 > z", parts="A.1 > A.2")
def looked_at_before_mapped(s):
    s.given("x", b"given " * 1000)
    a, b = s.actors_named("A B")
    a("stat('x')", "w('y')")
    b("r('y')", "w('x', b'X' * 6000, O_WRONLY)")
    a("fd = open('x', O_RDONLY)", "m = mmap.mmap(fd, 0, prot=mmap.PROT_READ)", "data = m[:]", "m.close()",
      "close(fd)", "w('z')")


# M looks at x before R, on which M depends, reads it; M renames it later.
@scenario("A > x.1; x.1 > R; R > z; z > M; M > x.2; x.2 > B", parts="x.1 > x.2")
def looked_at_before_renamed(s):
    m = s.actor("M")
    s.once("A", "w('x.tmp')")
    m("stat('x.tmp')", "chmod('x.tmp', 0o600)")
    s.once("R", "r('x.tmp')", "w('z')")
    m("r('z')", "rename('x.tmp', 'x')")
    s.once("B", "r('x')")


# What C has read of x.1 is in x.2, and A, which changed a byte of it, has not written it.
@scenario("B > x.1; x.1 > C; A.1 > x.2; x.2 > A.2; A.2 > y", parts="x.1 > x.2; A.1 > A.2")
def read_after_a_change_of_anothers(s):
    s.once("B", "w('x', b'from B')")
    s.once("C", "r('x')")
    s.once("A", "w('x', b'!', O_WRONLY, 0)", "r('x')", "w('y')")


# A has read what it changed: what it reads back is known to it.
@scenario("x.1 > A; A > x.2; A > y", parts="x.1 > x.2")
def read_changed_and_read(s):
    s.given("x")
    s.once("A", "r('x')", "w('x', b'!', O_WRONLY, 0)", "r('x')", "w('y')", "w('x', b'?', O_WRONLY, 0)")


# Round and round: a part for each time, but the process that begins needs none for the last.
@scenario("A.1 > f.1; f.1 > B.1; B.1 > g.1; g.1 > C.1; C.1 > h.1; h.1 > A.2; A.2 > f.2; f.2 > B.2; "
          "B.2 > g.2; g.2 > C.2; C.2 > h.2", parts="A.1 > A.2; B.1 > B.2; C.1 > C.2; f.1 > f.2; g.1 > g.2; "
          "h.1 > h.2")
def feedback_of_three(s):
    for name in "fgh":
        s.given(name)
    a, b, c = s.actors_named("A B C")
    for i in range(2):
        a(*["r('h')"] if i else [], "w('f', b'from A', O_WRONLY)")
        b("r('f')", "w('g', b'from B', O_WRONLY)")
        c("r('g')", "w('h', b'from C', O_WRONLY)")


# Both read first: nothing comes back to its writer.
@scenario("x > A; x > B; A > y; B > z; z > C; y > C")
def diamond(s):
    s.given("x")
    a, b = s.actors_named("A B")
    a("r('x')")
    b("r('x')")
    a("w('y')")
    b("w('z')")
    s.once("C", "r('y')", "r('z')")


@scenario("A > x", kinds={"A > x": "truncate write"})
def emptied_unread(s):
    s.given("x")
    s.once("A", "new('x')")


@scenario("A > d2/x; d2/x > B; M > d2", kinds={"M > d2": "rename"})
def directory_renamed(s):
    (s.native / "d").mkdir()
    s.once("A", "w('d/x')")
    s.once("M", "rename('d', 'd2')")
    s.once("B", "r('d2/x')")


@scenario("A > x; x > B")
def by_a_symbolic_link(s):
    s.once("A", "w('x')")
    (s.native / "link").symlink_to("x")
    s.once("B", "r('link')")


@scenario("A > x; wordy > x; x > B", opened="A > x; x > B")
def descriptor_of_the_parent(s):
    s.once("A", "fd = open('x', O_WRONLY | O_CREAT, 0o644)", "write(fd, b'A')",
           f"assert subprocess.call(['{s.programs / 'wordy'}'], stdout=fd) == 0", "close(fd)")
    s.once("B", "r('x')")


@scenario("x > A; A > y; y > B")
def by_threads(s):
    s.given("x")
    s.once("A", "import threading", "t = [threading.Thread(target=r, args=('x',)) for _ in range(2)]",
           "[x.start() for x in t] + [x.join() for x in t]", "t = threading.Thread(target=w, args=('y',))",
           "t.start()", "t.join()")
    s.once("B", "r('y')")


@scenario("A > x; x > B")
def linked_when_it_is_whole(s):
    s.once("A", "fd = open('.', O_WRONLY | O_TMPFILE, 0o644)", "write(fd, b'data')",
           "assert ctypes.CDLL(None).linkat(-100, b'/proc/self/fd/%d' % fd, -100, b'x', 0x400) == 0",
           "close(fd)")
    s.once("B", "r('x')")


# ---- checking ----

def check(checks, mode, stage, name, wanted, db, whole):
    shown = Shown(whole, stage)
    fidelity = mode.split()[0]
    checks.equal(f"{name}, {mode}: edges", sorted(shown.data()), sorted(wanted["edges"][fidelity]))
    nexts = set(shown.edges("next"))
    checks.equal(f"{name}, {mode}: parts", sorted(nexts), sorted(wanted["parts"][fidelity]))
    chosen = graph_of(db, "--include", f"path:{stage.top}/*")
    checks.equal(f"{name}, {mode}: the same where it is chosen", without_parts(Shown(chosen, stage, whole).data()),
                 without_parts(shown.data()))
    checks.check(f"{name}, {mode}: no cycle where it is chosen", is_acyclic(chosen))
    if not any(".2" in edge for edge in wanted["edges"][fidelity]):
        checks.equal(f"{name}, {mode}: nothing is divided", sorted(shown.divided), [])
    for edge, kinds in wanted["kinds"].items():
        got = shown.data().get(edge, {"kind": ""})["kind"]
        if fidelity == "exact":
            checks.check(f"{name}, {mode}: {edge} is {kinds}", set(kinds.split()) <= set(got.split("|")), got)
    if wanted["tree"]:
        forks = set(shown.edges("fork"))
        checks.check(f"{name}, {mode}: {wanted['tree']}", wanted["tree"] <= forks, sorted(forks))
    for text, edge in shown.data().items():
        reads = set(edge["kind"].split("|")) == {"read"}
        if fidelity == "open" and reads and name not in COPIES:
            checks.check(f"{name}, {mode}: {text} is assumed", edge["assumed"], edge)
        elif fidelity == "exact":
            checks.check(f"{name}, {mode}: {text} is known", not edge["assumed"], edge)


def without_parts(edges):
    return sorted({re.sub(r"(#\d+)?(\.\d+)?(?= |$)", "", edge) for edge in edges})


def segments(graph):
    return sorted((node["trace_id"], node["part"]) for node in graph["nodes"] if node["kind"] == "process")


def check_all(checks, mode, db, whole):
    """Of all processes of the run each is a node, also one that used no file; the tree has those, too,
    that were there before."""
    checks.check(f"{mode}: no cycle", is_acyclic(whole))
    with contextlib.closing(sqlite3.connect(db)) as sql:
        of_all = [row[0] for row in sql.execute("SELECT id FROM process ORDER BY id")]
        of_run = [row[0] for row in sql.execute("SELECT id FROM process WHERE start_ns >= (SELECT value FROM trace "
                                                "WHERE key = 'start_ns') ORDER BY id")]
    tree, fold = ([node["trace_id"] for node in graph_of(db, what)["nodes"] if node["kind"] == "process"]
                  for what in ("--tree", "--fold"))
    checks.equal(f"{mode}: the tree has each process once", sorted(tree), of_all)
    checks.check(f"{mode}: --fold has each process of the run once", len(fold) == len(set(fold)) and
                 set(of_run) <= set(fold) <= set(of_all), fold)
    edges = graph_of(db, "--tree")["edges"]
    checks.check(f"{mode}: the tree is one", {edge["kind"] for edge in edges} == {"fork"} and
                 len({edge["target"] for edge in edges}) == len(edges))
    for options in ("--metadata",), ("--all",), ("--all", "--metadata"):
        more = graph_of(db, *options)
        checks.check(f"{mode}: {options}: no cycle", is_acyclic(more))
        checks.equal(f"{mode}: {options}: looking divides nothing", segments(more), segments(whole))
    checks.check(f"{mode}: a process without files",
                 any(node.get("program") == "ls" for node in whole["nodes"]))


def run(checks, base, programs, *options):
    mode = " ".join(options[1:]) or "as it is"
    work = base / "work"
    work.mkdir(parents=True)
    stages = {}
    with Mount(*options, base=base) as mount:
        for name, (act, _) in SCENARIOS.items():
            top = work / name
            top.mkdir()
            stage = stages[name] = Stage(mount, top, programs)
            try:
                act(stage)
            finally:
                stage.end()
    whole = graph_of(mount.db)
    for name, (_, wanted) in SCENARIOS.items():
        check(checks, mode, stages[name], name, wanted, mount.db, whole)
    check_all(checks, mode, mount.db, whole)
    print(f"{mode}: {len(SCENARIOS)} scenarios")


def main():
    need_fuse()
    need("gcc")
    checks = Checks()
    base = pathlib.Path(tempfile.mkdtemp(prefix="ftrac-case-"))
    programs = base / "programs"
    programs.mkdir()
    compile_c(programs, "wordy", WORDY)
    compile_c(programs, "daemon", DAEMON)
    for fidelity, more in some(itertools.product(fidelities(but=["call"]), ((), ("--no-ops",))), 5):
        run(checks, base / f"{fidelity}{''.join(more)}", programs, "--fidelity", fidelity, *more)
    shutil.rmtree(base)
    checks.end()


if __name__ == "__main__":
    main()
