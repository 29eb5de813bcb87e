#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 40
# long: --montage
"""A workflow that one mount has recorded, and the same by a mount for each job, on three simulated machines that share a file system: merged,
it is the same graph, and the figures add up.  The build of the example, or Montage.

merge_nodes.py [--montage]
"""
import argparse
import collections
import contextlib
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import tempfile

from ftractest import FTRAC, TOP, Checks, need, need_fuse
from workflows import traced

FTRAC = os.path.abspath(FTRAC)
WFDAG = os.path.abspath(os.environ.get("WFDAG", "build/dag/wfdag"))
NODES = "node1", "node2", "node3"
WRONG = {"node1": 0, "node2": 40_000_000, "node3": -40_000_000}  # clocks, in ns
# What programs did to files; names that are made up by mkstemp are one. Of mapped ones, the page cache decides how they are read.
USES = ("SELECT p.program, f.path, sum(a.nread), sum(a.bread), sum(a.nwrite), sum(a.bwrite) FROM access a JOIN process p ON p.id = a.process"
        " JOIN file f ON f.id = a.file WHERE f.kind = 'file' AND p.program <> 'make' AND NOT a.mapped AND NOT a.executed GROUP BY p.id, f.id")
checks = Checks()


def rows(path, sql):
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
        return db.execute(sql).fetchall()


def source(base, name, is_montage):
    work = base / name / "work"
    if is_montage:
        subprocess.run([TOP / "examples/montage/generate.sh", "A", work], check=True, stdout=subprocess.DEVNULL, timeout=250)
    else:
        shutil.copytree(TOP / "examples/make", work)
    return work


def shell(base, text):
    """What make takes for its shell."""
    path = base / "shell"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def make(work, *more):
    return ["make", "-s", "-j4", "-C", work, f"SHELL={shell(work.parent, *more)}"]


def recorded_as_one(base, is_montage):
    work = source(base, "one", is_montage)
    traced(base / "one.tr", make(work, 'exec /bin/sh "$@"'), work, "--no-make")
    return base / "one.tr", work


def recorded_by_jobs(base, is_montage):
    work = source(base, "jobs", is_montage)
    traces = base / "traces"
    traces.mkdir()
    done = subprocess.run(make(work, f'exec {FTRAC} run -q --scope {work} --no-make --db {traces}/$$.tr -- /bin/sh "$@"'), stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=500, check=False)
    checks.equal("the jobs, each in a mount: status", (done.returncode, done.stderr), (0, ""))
    return sorted(traces.iterdir()), work


def give_to_nodes(traces):
    """As if three machines had recorded them, on each of which the same export of a server is mounted."""
    for i, path in enumerate(traces):
        node = NODES[i % len(NODES)]
        with contextlib.closing(sqlite3.connect(path)) as db, db:
            db.execute("UPDATE meta SET value = ? WHERE key = 'host'", (node,))
            db.execute("UPDATE meta SET value = 'boot of ' || ? WHERE key = 'boot_id'", (node,))
            db.execute("UPDATE meta SET value = value + ? WHERE key IN ('start_ns', 'end_ns')", (WRONG[node],))
            db.execute("UPDATE kinds SET dev = dev + ?", (NODES.index(node),))
            db.execute("UPDATE mounts SET fstype = 'nfs4', source = 'server:/export', fsid = '7/7'")


def uses(path, work):
    found = collections.Counter()
    for program, name, *numbers in rows(path, USES):
        if str(name).startswith(f"{work}/"):
            name = re.sub(r"/(cc|st)\w{6}\b", r"/\1", os.path.relpath(name, work))
            for what, number in zip(("reads", "bytes read", "writes", "bytes written"), numbers):
                found[program, name, what] += number
    return +found


need_fuse()
need("make", "gcc", "ar")
parser = argparse.ArgumentParser()
parser.add_argument("--montage", action="store_true")
arguments = parser.parse_args()
if arguments.montage:
    need("mProjectPP", "mViewer")
    os.environ["MALLOC_PERTURB_"] = "0"
with tempfile.TemporaryDirectory(prefix="ftrac-case-") as directory:
    top = pathlib.Path(directory).resolve()
    one, one_work = recorded_as_one(top, arguments.montage)
    parts, parts_work = recorded_by_jobs(top, arguments.montage)
    give_to_nodes(parts)
    merged = subprocess.run([FTRAC, "merge", "-o", top / "all.tr", top / "traces"], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                            timeout=200, check=False)
    checks.equal("merging: status, messages", (merged.returncode, merged.stderr), (0, ""))
    checks.equal("machines", [name for name, in rows(top / "all.tr", "SELECT name FROM host ORDER BY name")], list(NODES))
    found, wanted = uses(top / "all.tr", parts_work), uses(one, one_work)
    print(f"{len(parts)} jobs, {rows(top / 'all.tr', 'SELECT count(*) FROM process')[0][0]} processes, {len(wanted)} figures of what programs did to files: "
          f"{sum(n for (*_, what), n in wanted.items() if what == 'bytes read')} bytes read, "
          f"{sum(n for (*_, what), n in wanted.items() if what == 'bytes written')} bytes written")
    checks.check("there are figures to compare", len(wanted) > 100, len(wanted))
    checks.equal("figures that differ", {key: (found.get(key), wanted.get(key)) for key in found.keys() | wanted.keys() if found.get(key) != wanted.get(key)}, {})
    diff = subprocess.run([WFDAG, "diff", "--data", "--fail-on", "graph", "--root", one_work, "--root", parts_work, one, top / "all.tr"],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=200, check=False)
    print(diff.stdout.splitlines()[0])
    checks.equal("wfdag diff: the same graph", (diff.returncode, diff.stderr), (0, ""))
    edges = [rows(path, "SELECT count(*) FROM access a JOIN access b ON b.file = a.file AND b.version = a.version AND b.process <> a.process"
                        " WHERE a.nwrite > 0 AND b.nread > 0")[0][0] for path in (one, top / "all.tr")]
    checks.check("data goes from process to process", edges[0] == edges[1] > 20, edges)
checks.end()
