#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 23
# long: --long
"""Whatever a trace.db holds, wfstat, wfdag and wfreport end in time, in bounded memory, with a status of theirs and, if
it is a failure, one line that says why: damaged pages, values of other types, circles of parents, a chain of
100,000 processes, hostile names in SQL, what is no trace at all.

    hostile_traces.py [DEPTH]     (DEPTH: a chain as long as that, and nothing else)
"""
import os
import pathlib
import re
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile

from ftractest import Checks, need, need_fuse
from hostile import WFSTAT, COMMANDS, DEEP_COMMANDS, damage_pages, damage_values, make_deep
from sample import LONG, one as one_of, rng as random_numbers, some
from workflows import traced

need_fuse()
need("make")
PAGES = VALUES = 25 if LONG else 4  # traces, each read by SAMPLE commands
SAMPLE = 6 if LONG else 3
SECONDS, MEMORY = 3600 if LONG else 120, 4 << 30
DEPTH = 1000000 if LONG else 100000
ERROR = {"check": 2, "diff": 2}  # 1 is what they found; of all others 1
checks = Checks()
rng = random_numbers()
base = pathlib.Path(tempfile.mkdtemp(prefix="ftrac-case-"))
trace, whole = base / "trace.db", base / "whole.db"


def make_trace():
    work = base / "work"
    work.mkdir()
    (work / "Makefile").write_text("all: d e\nb: a\n\tcat a > b\nc: a b\n\tsort a b > c\ne: c\n\tcp c e\n"
                                   "d: c\n\tcp c d; ls nothing-here 2>/dev/null || true\n")
    (work / "a").write_text("one\ntwo\n" * 100)
    traced(whole, ["make", "-s", "-j2"], work, "--make")


def limit():
    if "ASAN_OPTIONS" not in os.environ: # which takes all addresses there are
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def reads(fact, command, refused=False):
    """A command ends as it should; refused: it must say that this cannot be read."""
    try:
        done = subprocess.run([*command, str(trace)], capture_output=True, stdin=subprocess.DEVNULL,
                              timeout=SECONDS, cwd=base, preexec_fn=limit)
    except subprocess.TimeoutExpired:
        checks.check(f"{fact}: '{' '.join(command[1:])}' comes to an end", False)
        return
    name = f"{fact}: '{' '.join(command[1:])}'"
    said = done.stderr.decode(errors="replace")
    error = ERROR.get(command[1] if len(command) > 1 else "", 1)
    checks.check(f"{name} has a status of its own", done.returncode in ({error} if refused else {0, 1, error}),
                 f"{done.returncode} {said[-500:]}")
    if done.returncode == error:
        errors = [line for line in said.splitlines() if "warning: " not in line]
        checks.check(f"{name} says why in one line", len(errors) == 1 and errors[0].startswith(("wf", "ftrac: ")), said[-500:])
        if re.search("cannot read|cannot add|malformed|damaged|not an error", said):
            checks.check(f"{name} names the trace, and what is wrong", (trace.name in errors[0] or "together" in errors[0]) and "not an error" not in said, said[-500:])


def changed(fact, sql, commands=None):
    """The trace with these statements done to it."""
    shutil.copy(whole, trace)
    db = sqlite3.connect(trace)
    db.executescript(sql)
    db.close()
    for command in some(commands, 8) if commands else rng.sample(COMMANDS, SAMPLE):
        reads(fact, command)


def refused(fact, content):
    trace.write_bytes(content)
    for command in rng.sample(COMMANDS, SAMPLE):
        reads(fact, command, refused=True)


def deep(depth):
    make_deep(whole, trace, depth)
    for command in some(DEEP_COMMANDS, 3):
        reads(f"{depth:,} processes deep", command)


make_trace()
if len(sys.argv) > 1:
    SECONDS = 3600
    deep(int(sys.argv[1]))
    shutil.rmtree(base)
    checks.end()
good = whole.read_bytes()
shutil.copy(whole, trace)
for one in some(COMMANDS, 3):
    reads("a whole trace", one)

for i in range(PAGES):
    trace.write_bytes(damage_pages(good, rng))
    for one in rng.sample(COMMANDS, SAMPLE):
        reads(f"damaged pages {i}", one)
    reads(f"damaged pages {i}, together with another trace", [WFSTAT, "sys", str(whole)])
for i in range(VALUES):
    shutil.copy(whole, trace)
    damage_values(trace, rng)
    for one in rng.sample(COMMANDS, SAMPLE):
        reads(f"other values {i}", one)

refused("an empty file", b"")
refused("no database", b"dear reader\n" * 1000)
refused("a header alone", good[:100])
refused("a page alone", good[:4096])
for part in one_of((2, 3, 7)):
    trace.write_bytes(good[:len(good) // part])
    for one in rng.sample(COMMANDS, SAMPLE):
        reads(f"one of {part} parts", one)
changed("parents in a circle", "UPDATE processes SET parent = CASE WHEN id < (SELECT max(id) FROM processes) "
        "THEN id + 1 ELSE 1 END", COMMANDS)
changed("its own parent", "UPDATE processes SET parent = id", COMMANDS)
for one in "'[\"x'", "'{'", "x'00'", "5", "NULL":
    changed(f"arguments that are {one}", f"UPDATE images SET argv = {one}", [COMMANDS[0]])
    checks.check(f"arguments that are {one} leave the processes readable",
                 subprocess.run([WFSTAT, "proc", trace], stdout=subprocess.DEVNULL).returncode == 0)
changed("one argument that is no JSON", "UPDATE images SET argv = '{' WHERE id = 2")
changed("absurd times", "UPDATE processes SET start_t = 9223372036854775807, end_t = -9223372036854775807;"
        "UPDATE accesses SET first_t = 9223372036854775807, last_t = 1, first_in = -9223372036854775808", COMMANDS)
changed("sums beyond any number", "UPDATE accesses SET nread = 9e18, bread = 9e18, nwrite = 9e18, bwrite = 9e18,"
        "nmeta = 9e18, io_ns = 9e18; UPDATE moved SET nread = 9e18, bread = 9e18, nwrite = 9e18, bwrite = 9e18;"
        "UPDATE uses SET nread = 9e18, bread = 9e18, nwrite = 9e18, bwrite = 9e18; UPDATE samples SET rss = 9e18;"
        "UPDATE ops_handle SET result = 9e18, length = 9e18, latency = 9e18, offset = -9e18;"
        "UPDATE files SET size_first = 9e18, size_last = 9e18", COMMANDS)
changed("text where numbers belong", "UPDATE meta SET value = 'x' WHERE key IN ('start_ns', 'end_ns', 'cpus');"
        "UPDATE accesses SET nread = 'x', bread = x'00', io_ns = 'y'", COMMANDS)
changed("a path of 20 MB", "UPDATE path_names SET directory = NULL, name = printf('/%.20000000c', 'x') WHERE id = 3")
changed("an argument of 20 MB", "UPDATE images SET argv = json_array(printf('%.20000000c', 'x')) WHERE id = 2")
changed("hostile names", 'CREATE TABLE "a\'b""c; DROP TABLE meta; --" ("x\'""y");'
        'CREATE VIEW "v\'""w" AS SELECT 1 AS "z\'""";'
        "UPDATE path_names SET directory = NULL, name = '/a''b\"c;--' || id; UPDATE meta SET value = '''; DROP TABLE meta; --' "
        "WHERE key IN ('host', 'cwd')")
changed("a view that is another", "DROP VIEW process; CREATE VIEW process AS SELECT 1 AS id, 2 AS parent")
changed("a view of itself", "DROP VIEW trace; CREATE VIEW trace AS SELECT key, value FROM trace")
changed("a view with other types", "DROP VIEW handle; CREATE VIEW handle AS SELECT 'x' AS id, x'00' AS file")

changed("ids that are far apart", "UPDATE ops_handle SET handle = handle << 55; UPDATE moved SET handle = handle << 55;"
        "UPDATE handles SET id = id << 55, file = file << 56; UPDATE files SET id = id << 56;"
        "UPDATE accesses SET file = file << 56; UPDATE names SET file = file << 56;"
        "UPDATE ops_name SET file = file << 56, t = t << 40", COMMANDS)
changed("ids beyond what memory holds", "UPDATE ops_handle SET handle = handle + 1000000000000;"
        "UPDATE handles SET id = id + 1000000000000, file = file + 2000000000; UPDATE files SET id = id + 2000000000;"
        "UPDATE ops_name SET t = t + 4000000000000000", COMMANDS)

deep(DEPTH)
shutil.rmtree(base)
checks.end()
