#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 6
"""The view flow, of channels that are used in turn and of calls that only look like reads and writes: the flows that each scenario
of tests/lib/channels.py was written for, and no other.

kernel_channels.py [SCENARIO...]
"""
import contextlib
import csv
import json
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile

import channels
import kernelleft
from ftractest import Checks, InKernel, need_kernel

WFDAG = os.environ.get("WFDAG", "build/dag/wfdag")
SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "lib" / "channels.py"


def flows_of(run, roles):
    rows = run.sql("SELECT w.pid, r.pid, l.bytes FROM flow l JOIN process w ON w.id = l.writer JOIN process r ON r.id = l.reader")
    return {(roles[writer], roles[reader]): n for writer, reader, n in rows if writer in roles and reader in roles}


def wfdag(run, *options):
    return subprocess.run([WFDAG, *options, run.db], check=True, capture_output=True, text=True, timeout=60).stdout


def check_edges(checks, name, run, roles):
    """Of channels with one writer or one reader."""
    fold = [] if name == "fifo" else ["--fold"]  # folded, its versions are one
    graph = json.loads(wfdag(run, "--json", *fold))
    role = {node["id"]: roles.get(node.get("pid")) for node in graph["nodes"]}
    edges = {(role[edge["source"]], role[edge["target"]]): edge.get("bytes") for edge in graph["edges"]
             if "pipe" in edge["kind"].split("|") and role[edge["source"]] and role[edge["target"]]}
    checks.equal(f"{name}: edges of the graph", edges, channels.FLOWS[name])


def check_gains(checks, name, run, roles):
    rows = csv.DictReader(wfdag(run, "critical-path", "--format", "csv").splitlines())
    gains = {roles[int(row["pid"])]: row["gain_ns"] for row in rows if int(row["pid"]) in roles}
    if name == "rounds":
        checks.equal(f"{name}: the gain is not known", gains, {"asks": "", "answers": ""})
    else:
        checks.check(f"{name}: the gain of the process that answers", int(gains["answers"]) > 15e6, gains)


def check_more(checks, name, run):
    """If a process reads more than the only known writer wrote, it is not known whose bytes they are."""
    with contextlib.closing(sqlite3.connect(run.db)) as db, db:
        db.execute("UPDATE moved SET bwrite = bwrite - 1 WHERE bwrite > 1")
    checks.equal(f"{name}: bytes of more than was written", run.sql("SELECT DISTINCT bytes FROM flow WHERE bytes > 1"), [])


def check(checks, name):
    with tempfile.TemporaryDirectory(prefix="ftrac-case-") as directory:
        run = InKernel(directory)
        done = subprocess.run([*run.command("-q", "--strict"), "python3", "-S", SCRIPT, name], check=False, capture_output=True,
                              text=True, timeout=60, stdin=subprocess.DEVNULL)
        checks.equal(f"{name}: exit status", (done.returncode, done.stderr), (0, ""))
        roles = {int(pid): role for role, pid in map(str.split, done.stdout.splitlines())}
        checks.equal(f"{name}: flows", flows_of(run, roles), channels.FLOWS[name])
        ends = run.sql("SELECT count(*) FROM flow WHERE last_ns < first_ns")
        checks.equal(f"{name}: flows that end before they begin", ends, [(0,)])
        if channels.FLOWS[name] and all(n for n in channels.FLOWS[name].values()):
            check_edges(checks, name, run, roles)
        if name.endswith("round") or name == "rounds":
            check_gains(checks, name, run, roles)
        if name == "vmsplice":
            check_more(checks, name, run)
        return len(channels.FLOWS[name])


def main():
    need_kernel()
    checks = Checks()
    n = sum(check(checks, name) for name in sys.argv[1:] or channels.FLOWS)
    checks.check("there was something to compare", n > 0, n)
    print(f"{n} flows")
    kernelleft.end(checks)


main()
