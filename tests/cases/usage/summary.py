#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 8
"""The summary at the end of ftrac run, against computations of its own: of random trees of processes that sleep."""
import contextlib
import pathlib
import random
import re
import sqlite3
import subprocess
import tempfile

from ftractest import FTRAC, Checks, need_fuse


def tree(rng, depth):
    """Text of a shell: sleeps, children at the same time or in turn."""
    parts = [f"sleep 0.{rng.randrange(1, 30):02}" for _ in range(rng.randrange(1, 3))]
    if depth:
        parts += [f"sh -c '{tree(rng, 0)}'" if depth == 1 else f"( {tree(rng, depth - 1)} )" for _ in range(rng.randrange(1, 3))]
    rng.shuffle(parts)
    return "".join(part + rng.choice(["; ", " & "]) for part in parts) + rng.choice(["wait", "true"])


def alone(process, processes):
    """Nanoseconds in which none of its children lived, counted between all the moments at which one begins or ends."""
    begin, end = process[2], process[3]
    children = [(max(begin, c[2]), min(end, c[3])) for c in processes if c[1] == process[0] and c[3] is not None]
    moments = sorted({begin, end, *(moment for child in children for moment in child if begin <= moment <= end)})
    return sum(b - a for a, b in zip(moments, moments[1:]) if not any(c[0] <= a and b <= c[1] for c in children))


def slowest(checks, base, seed):
    text = tree(random.Random(seed), 2)
    done = subprocess.run([FTRAC, "run", "--force", "--db", base / "trace.db", "--", "sh", "-c", text], cwd=base, capture_output=True,
                          text=True, timeout=100, stdin=subprocess.DEVNULL, check=False)
    checks.equal(f"seed {seed}: exit status", done.returncode, 0)
    with contextlib.closing(sqlite3.connect(base / "trace.db")) as db:
        processes = db.execute("SELECT id, parent, start_ns, end_ns, command FROM process").fetchall()
    wanted = sorted(((alone(p, processes), p[4]) for p in processes if p[3] is not None), reverse=True)[:3]
    said = re.findall(r"^ftrac: (?:slowest:|        ) +([\d.]+) s  (.*)$", done.stderr, re.M)
    checks.equal(f"seed {seed}: slowest", [(float(seconds), name) for seconds, name in said],
                 [(round(ns / 1e9 + 1e-12, 2), (name or "")[:70]) for ns, name in wanted if ns > 0])
    return len(processes)


def main():
    need_fuse()
    checks = Checks()
    seed, looked = random.SystemRandom().randrange(10**6), 0
    with tempfile.TemporaryDirectory(prefix="ftrac-case-") as directory:
        for n in range(6):
            looked += slowest(checks, pathlib.Path(directory).resolve(), seed + n)
    print(f"seed {seed}: {looked} processes")
    checks.check("there was something to compare", looked > 20, looked)
    checks.end()


main()
