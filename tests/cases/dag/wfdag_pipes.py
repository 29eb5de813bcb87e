#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 4
# long: --count 60
"""A mount does not see pipes: of random pipelines, flow and wfdag assume one between neighbours, and no other.

wfdag_pipes.py [--count N] [--seed N]
"""
import argparse
import collections
import json
import os
import pathlib
import random
import subprocess
import tempfile

from ftractest import FTRAC, Checks, Mount, need_fuse

WFDAG = os.environ.get("WFDAG", "build/dag/wfdag")
FIRST = ["seq 2000", "head -c 5000 /dev/zero", "cat /etc/passwd"]
NEXT = ["sort", "uniq", "od", "tr a b", "cut -c 1-5", "tee copy", "wc", "tail"]


class Run:
    sql = Mount.sql

    def __init__(self, base):
        self.db = base / "trace.db"


def pipelines(rng):
    """Text for a shell, and the pairs of programs that are neighbours.  No program is twice in one pipeline."""
    text, pairs = [], collections.Counter()
    for _ in range(rng.randrange(1, 4)):
        stages = [rng.choice(FIRST), *rng.sample(NEXT, rng.randrange(0, 4))]
        text.append(" | ".join(stages) + " >out" + rng.choice(["", " &"]))
        names = [stage.split()[0] for stage in stages]
        pairs.update(zip(names, names[1:]))
    return "\n".join([*text, "wait"]), pairs


def check(checks, name, text, pairs):
    with tempfile.TemporaryDirectory(prefix="ftrac-case-") as directory:
        base = pathlib.Path(directory).resolve()
        run = Run(base)
        done = subprocess.run([FTRAC, "run", "-q", "--db", run.db, "--", "sh", "-c", text], cwd=base, check=False, capture_output=True,
                              text=True, timeout=100, stdin=subprocess.DEVNULL)
        checks.equal(f"{name}: exit status", (done.returncode, done.stderr), (0, ""))
        rows = run.sql("SELECT w.program, r.program, l.assumed, l.bytes, l.via FROM flow l JOIN process w ON w.id = l.writer "
                       "JOIN process r ON r.id = l.reader")
        checks.equal(f"{name}: flows\n{text}", collections.Counter(row[:2] for row in rows), pairs)
        checks.equal(f"{name}: they are assumed", {row[2:] for row in rows} or {(1, None, None)}, {(1, None, None)})
        done = subprocess.run([WFDAG, "--json", run.db], capture_output=True, text=True, timeout=100, check=True)
        graph = json.loads(done.stdout)
        program = {node["id"]: node.get("program") for node in graph["nodes"]}
        edges = [edge for edge in graph["edges"] if "pipe" in edge["kind"].split("|")]
        checks.equal(f"{name}: edges", collections.Counter((program[e["source"]], program[e["target"]]) for e in edges), pairs)
        checks.check(f"{name}: edges are assumed, without bytes", all(e["assumed"] and e.get("bytes") is None for e in edges), edges)
        return len(rows)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=5)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10 ** 6))
    given = parser.parse_args()
    need_fuse()
    checks = Checks()
    print(f"seed {given.seed}")
    n = sum(check(checks, f"{given.seed + i}", *pipelines(random.Random(given.seed + i))) for i in range(given.count))
    print(f"{given.count} workflows, {n} flows")
    checks.check("there was something to compare", n > given.count // 2, n)
    checks.end()


main()
