#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 25
# long: --flows 100
"""A workflow that was recorded by several traces has the same data flow as by one: traces that follow each other, and
traces of three mounts that are there at the same time; read together, merged, and merged with merged ones.

Random workflows (randomflows.py) run step by step: in one mount, each step in a mount of its own, and each in one of
three mounts.  Which step wrote what which other step has read must be the same.

several_traces.py [--seed N] [--flows N]
"""
import argparse
import contextlib
import json
import os
import pathlib
import random
import shutil
import sqlite3
import subprocess
import tempfile

import randomflows
from ftractest import FTRAC, Checks, Mount, need_fuse
from sample import some

WFDAG = os.environ.get("WFDAG", "build/dag/wfdag")
STEPS = 14
# These were wrong once: a trace's append after its own reads, while another trace had emptied the file; a directory that one
# trace renamed and another removed; a link that one trace made and another read; files that were emptied before any use; a
# process that reads back what it writes, before another appends; a file that gets the name of one that was removed; a file
# that one trace removed, in a directory that the trace that made it renames.
KNOWN = ["333425640 0", "77 0", "5 4", "301 5", "594225484 38", "594225484 44", "594225484 94", "478369636 82"]


def run(step, number, mount, top):
    subprocess.run(["sh", "-c", step], cwd=mount(top), env=os.environ | {"STEP": str(number)}, stdin=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=60, check=False,
                   preexec_fn=randomflows.limit_files)


def mounted(base, name):
    (base / name).mkdir()
    return Mount("--fidelity", "exact", "--stat", "--env", "STEP", base=base / name)


def record_each(base, steps, top):
    for i, step in enumerate(steps):
        with mounted(base, f"each{i}") as mount:
            run(step, i, mount, top)
    return [base / f"each{i}/trace.db" for i in range(len(steps))]


def record_in_turns(base, steps, top, rng, n):
    mounts = [mounted(base, f"of{n}-{i}") for i in range(n)]
    for mount in mounts:
        mount.__enter__()
    for i, step in enumerate(steps):
        run(step, i, rng.choice(mounts), top)
    for mount in mounts:
        mount.unmount()
    return [mount.db for mount in mounts]


def processes_of(traces, where=""):
    """(number, start), as numbers are used again."""
    for path in traces:
        with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
            yield from db.execute(f"SELECT p.pid, p.start_ns, CAST(e.value AS INTEGER) FROM process p LEFT JOIN environ e "
                                  f"ON e.image = p.image AND e.name = 'STEP' {where}")


def steps_of_processes(traces):
    return {(pid, start): step for pid, start, step in processes_of(traces) if step is not None}


def flow_between(traces):
    """Pairs of steps: one wrote what the other has read."""
    done = subprocess.run([WFDAG, "--json", *map(str, traces)], capture_output=True, text=True, timeout=120,
                          check=False)
    assert done.returncode == 0, done.stderr
    graph, step_of = json.loads(done.stdout), steps_of_processes(traces)
    steps = {}
    for node in graph["nodes"]:
        if "pid" in node:
            start = graph["begin_ns"] + round(node["start_s"] * 1e9)
            steps[node["id"]] = step_of.get((node["pid"], start))
    steps = {node: step for node, step in steps.items() if step is not None}
    into, out = {}, {}
    for edge in graph["edges"]:
        source, target = edge["source"], edge["target"]
        if source in steps:
            into.setdefault(target, set()).add(steps[source])
        elif target in steps:
            out.setdefault(source, set()).add(steps[target])
    return {(i, j) for file, writers in into.items() for i in writers for j in out.get(file, ()) if i != j}, done.stderr


def unknown_processes(traces):
    """Those that used files and whose STEP was not read, because they ended too early."""
    used = processes_of(traces, "WHERE p.id IN (SELECT process FROM access)")
    return {pid for pid, _, step in used if step is None} - {os.getpid()}


def record(base, way, steps, rng, start):
    """The traces of steps in a copy of start, recorded in this way, again if it is not known which step a process was of."""
    for attempt in range(5):
        place = base / f"{way}{attempt}"
        place.mkdir()
        randomflows.copy_tree(start, place / "top")
        if way == "each":
            traces = record_each(place, steps, place / "top")
        else:
            traces = record_in_turns(place, steps, place / "top", rng, 1 if way == "one" else 3)
        if not unknown_processes(traces):
            return traces
        print(f"recorded again: the step of {len(unknown_processes(traces))} processes is not known")
    raise AssertionError("the steps of some processes are not known, in any attempt")


def merged(out, traces):
    subprocess.run([FTRAC, "merge", "-o", str(out), *map(str, traces)], timeout=120, check=True)
    return out


def merged_ways(base, way, traces, rng):
    """Lists of traces that are to say the same."""
    rng.shuffle(traces)
    yield way, traces
    if way != "one":
        yield f"{way}, merged", [merged(base / f"{way}-all.db", traces)]
        cut = rng.randrange(1, len(traces))
        part = merged(base / f"{way}-part.db", traces[:cut])
        yield f"{way}, a merged part with the others", [part, *traces[cut:]]
        yield f"{way}, the same merged", [merged(base / f"{way}-both.db", [*traces[cut:], part])]


def check_flow(checks, base, seed):
    rng = random.Random(seed)
    start = base / "top"
    randomflows.inputs(rng, start)
    steps = randomflows.steps(rng, start, STEPS)
    found = {}
    for way in "one", "each", "three":
        for name, traces in merged_ways(base, way, record(base, way, steps, rng, start), rng):
            found[name], said = flow_between(traces)
            checks.equal(f"flow {seed}, {name}: nothing is doubted", said, "")
    for way in found:
        checks.equal(f"flow {seed}, {way}: the same pairs as of one trace", found[way], found["one"])
        if found[way] != found["one"]:
            print("\n".join(f"  {i}: {step}" for i, step in enumerate(steps)))
    return len(found["one"])


def check_uses(checks, base):
    """Two versions of one trace are one of both: what a handle has done to them is added up."""
    (base / "d").mkdir()
    with mounted(base, "user") as user, mounted(base, "other") as other:
        user(base / "d/f").write_text("first")
        subprocess.run(["cat", user(base / "d/f")], stdout=subprocess.DEVNULL, check=True)
        subprocess.run(["sh", "-c", 'echo second > "$1"', "-", other(base / "d/f")], check=True)
        with open(user(base / "d/f"), "r+b", buffering=0) as file:
            file.read()
            file.write(b"third")
    traces = [base / "user/trace.db", base / "other/trace.db"]
    for order in traces, traces[::-1]:
        done = subprocess.run([WFDAG, "--json", *map(str, order)], capture_output=True, text=True, timeout=120,
                              check=False)
        checks.equal("versions that become one: status, messages", (done.returncode, done.stderr), (0, ""))


def changed(trace, name, *statements):
    copy = trace.with_name(name)
    shutil.copy(trace, copy)
    with contextlib.closing(sqlite3.connect(copy)) as db:
        for statement in statements:
            db.execute(statement)
        db.commit()
    return copy


def check_doubts(checks, base):
    """If files cannot be the same, or not in that order, wfdag says so and makes no flow of them."""
    (base / "d").mkdir()
    traces = record_each(base, ["echo 1 > f", "cat f > g"], base / "d")
    later = traces[1]
    checks.equal("one writes, the other reads", flow_between(traces), ({(0, 1)}, ""))
    os.rename(base / "d/g", base / "d/f")
    with mounted(base, "replaced") as mount:
        run("cat f > h", 2, mount, base / "d")
    doubtful = {
        "replaced between": base / "replaced/trace.db",
        "device number changed": changed(later, "device.db", "UPDATE kinds SET dev = dev + 1"),
        "before another trace made": changed(later, "clock.db",
                                             "UPDATE meta SET value = value - 3600000000000 WHERE key = 'start_ns'"),
    }
    for words, trace in doubtful.items():
        pairs, said = flow_between([traces[0], trace])
        checks.equal(f"{words}: no flow", pairs, set())
        checks.check(f"{words}: wfdag says it", words in said and f"{base}/d/f" in said and said.count("\n") == 1, said)


need_fuse()
parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
parser.add_argument("--flows", type=int, help="default: 3, and some of those that were wrong once")
arguments = parser.parse_args()
checks = Checks()
print(f"seed {arguments.seed}", flush=True)
pairs = 0
flows = [*(KNOWN if arguments.flows else some(KNOWN, 3)), *(f"{arguments.seed} {k}" for k in range(arguments.flows or 3))]
for flow in flows:
    with tempfile.TemporaryDirectory(prefix="ftrac-case-") as directory:
        pairs += check_flow(checks, pathlib.Path(directory), flow)
with tempfile.TemporaryDirectory(prefix="ftrac-case-") as directory:
    check_doubts(checks, pathlib.Path(directory))
with tempfile.TemporaryDirectory(prefix="ftrac-case-") as directory:
    check_uses(checks, pathlib.Path(directory))
checks.check("there is data flow to compare", pairs > 0, pairs)
print(f"{len(flows)} workflows of {STEPS} steps, {pairs} pairs of steps")
checks.end()
