#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 25
# long: --seeds 100
"""Traces of machines whose clocks differ: merged, each cause is before its effect again.  A workflow is recorded step by step; then traces
are given to machines, whose clocks are wrong, by editing them.

merge_clocks.py [--seeds N] [--seed N]
"""
import argparse
import contextlib
import os
import pathlib
import random
import shutil
import sqlite3
import subprocess
import tempfile

from ftractest import FTRAC, Checks, need_fuse
from workflows import traced

FTRAC = os.path.abspath(FTRAC)
STEPS, HOSTS = 24, 8
MS = 1000000
checks = Checks()


def rows(path, sql):
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
        return db.execute(sql).fetchall()


def merge(out, traces):
    done = subprocess.run([FTRAC, "merge", "--force", "-o", out, *traces], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=120, check=False)
    checks.equal("merging: status", done.returncode, 0)
    return done.stderr


def record(base, rng):
    """Each step reads some of the files that others left, makes one, and appends to one."""
    work = base / "work"
    work.mkdir()
    traces = []
    for i in range(STEPS):
        known = [f"f{j}" for j in range(i)]
        command = f"cat {' '.join(rng.sample(known, min(3, i)))} /dev/null > f{i}; echo {i} >> f{i}"
        if i > 2 and rng.random() < 0.5:
            command += f"; echo more >> {rng.choice(known)}"
        if i > 4 and rng.random() < 0.2:
            command += f"; cat f{i} > g{i}; mv g{i} h{i}"
        traces.append(base / f"{i}.tr")
        traced(traces[-1], ["sh", "-c", command], work, "--job", str(i))
    return traces


def given_to(path, out, host, wrong_ns):
    """As if that machine had recorded it, whose clock is wrong by that."""
    shutil.copy(path, out)
    with contextlib.closing(sqlite3.connect(out)) as db, db:
        db.execute("UPDATE meta SET value = value + ? WHERE key IN ('start_ns', 'end_ns')", (wrong_ns,))
        db.execute("UPDATE meta SET value = ? WHERE key = 'host'", (host,))
        db.execute("UPDATE meta SET value = 'boot of ' || ? WHERE key = 'boot_id'", (host,))
        db.execute("UPDATE clocks SET boot = boot + ?", (wrong_ns,))
        db.execute("UPDATE kinds SET dev = dev + ?", (sum(host.encode()),))
        db.execute("UPDATE mounts SET fstype = 'nfs4'")
    return out


# Which job wrote what which other one has read, how much later the reader was done, and whether no other job wrote to the file: if several
# did, it is only known that they did so in this order, and not what was read between.
FLOW = ("SELECT w.job, r.job, min(b.last_ns - a.first_ns), min((SELECT count(DISTINCT o.job)"
        "  FROM access c JOIN process o ON o.id = c.process WHERE c.file = a.file AND c.nwrite > 0))"
        " FROM access a JOIN access b ON b.file = a.file AND b.version = a.version"
        " JOIN process w ON w.id = a.process JOIN process r ON r.id = b.process"
        " WHERE a.nwrite > 0 AND b.nread > 0 AND w.job <> r.job GROUP BY w.job, r.job")


def flow(path):
    found = rows(path, FLOW)
    return {(writer, reader) for writer, reader, _, writers in found if writers == 1}, [late for _, _, late, _ in found]


def random_clocks(base, traces, seed):
    """+-50 ms."""
    rng = random.Random(seed)
    wrong = {f"node{i}": rng.randrange(-50 * MS, 50 * MS) for i in range(HOSTS)}
    hosts = [*wrong, *rng.choices(list(wrong), k=STEPS - HOSTS)]
    rng.shuffle(hosts)
    given = [given_to(path, base / f"given{i}.tr", host, wrong[host]) for i, (path, host) in enumerate(zip(traces, hosts))]
    rng.shuffle(given)
    said = merge(base / "given.db", given)
    pairs, late = flow(base / "given.db")
    return pairs, late, said, wrong


def check_random(base, traces, wanted, seed):
    pairs, late, said, wrong = random_clocks(base, traces, seed)
    checks.equal(f"seed {seed}: nothing is doubted", said, "")
    checks.equal(f"seed {seed}: edges that are missing or too much", pairs ^ wanted, set())
    checks.check(f"seed {seed}: no edge is against time", min(late) >= 0, min(late))
    found = rows(base / "given.db", "SELECT name, offset_ns, uncertainty_ns FROM host")
    checks.equal(f"seed {seed}: hosts", {name for name, *_ in found}, set(wrong))
    reference = next(wrong[name] for name, offset, uncertainty in found if offset == 0 and uncertainty == 0)
    off = [(name, offset, uncertainty, reference - wrong[name]) for name, offset, uncertainty in found
           if uncertainty is not None and abs(offset - (reference - wrong[name])) > uncertainty + MS]
    checks.equal(f"seed {seed}: clocks that are more wrong than the view has it", off, [])
    return sum(uncertainty is not None for _, _, uncertainty in found)


def ten_seconds(base, traces, wanted):
    """One clock is 10 s back."""
    given = [given_to(path, base / f"late{i}.tr", "b" if i % 2 else "a", -10000 * MS if i % 2 else 0) for i, path in enumerate(traces)]
    said = merge(base / "late.db", given)
    checks.equal("10 s: nothing is doubted", said, "")
    pairs, late = flow(base / "late.db")
    checks.equal("10 s: the same edges", pairs, wanted)
    checks.check("10 s: no edge is against time", min(late) >= 0, late)
    found = {name: (offset, uncertainty) for name, offset, uncertainty in
             rows(base / "late.db", "SELECT name, offset_ns, uncertainty_ns FROM host")}
    offset, uncertainty = found["b"]
    checks.equal("10 s: the other one is right", found["a"], (0, 0))
    checks.check("10 s: it is corrected, as far as the view has it", uncertainty is not None and abs(offset - 10000 * MS) <= uncertainty + MS, found)
    began, ended = rows(base / "true.db", "SELECT min(value), max(value) FROM trace WHERE key IN ('start_ns', 'end_ns')")[0]
    checks.check("10 s: it is known better than by the duration of all", uncertainty < ended - began, (found, ended - began))
    # The order of the files does not matter, and a merged trace has right clocks.
    merge(base / "half.db", given[: STEPS // 2])
    said = merge(base / "both.db", [base / "half.db", *given[STEPS // 2:]])
    checks.equal("10 s, a merged half: nothing is doubted", said, "")
    again = dict(rows(base / "both.db", "SELECT name, offset_ns FROM host"))
    unknown = [known if known is not None else ended - began for known, in rows(base / "half.db", "SELECT uncertainty_ns FROM host")]
    checks.check("10 s, a merged half: what was known of it", abs(again["b"] - again["a"] - 10000 * MS) <= 2 * max(unknown) + MS, again)


def contradiction(base, traces, wanted):
    """A clock that is wrong in one trace only, which has read what the other machine wrote: no offset is right."""
    odd = max(int(reader) for writer, reader in wanted if int(reader) % 2 and not int(writer) % 2)
    given = [given_to(path, base / f"odd{i}.tr", "b" if i % 2 else "a", -10000 * MS if i == odd else 0) for i, path in enumerate(traces)]
    with contextlib.closing(sqlite3.connect(given[odd])) as db, db:
        db.execute("UPDATE clocks SET boot = boot + 10000000000")
    said = merge(base / "odd.db", given)
    lines = [line for line in said.splitlines() if "contradicts" in line]
    checks.check("ftrac says that there is a contradiction, in a line, with its size", len(lines) == 1 and " ms" in lines[0] and "'a', 'b'" in lines[0], said)
    size, = rows(base / "odd.db", "SELECT value FROM trace WHERE key = 'clocks_contradict_ms'")[0]
    checks.check("it is less than 10 s, by what lies between cause and effect", 0 < size <= 10001, size)
    found = rows(base / "odd.db", "SELECT offset_ns, uncertainty_ns, contradiction_ns > 0 FROM host ORDER BY name")
    checks.equal("clocks are believed there", found, [(0, None, 1), (0, None, 1)])


def steps_of_a_clock(base, traces, wanted):
    """The wall clock of one machine was set back between its traces, which the monotonic one shows."""
    given = [given_to(path, base / f"set{i}.tr", "a", -3000 * MS if i > STEPS // 2 else 0) for i, path in enumerate(traces)]
    said = merge(base / "set.db", given)
    checks.equal("a clock that was set: nothing is doubted", said, "")
    checks.equal("a clock that was set: the same edges", flow(base / "set.db")[0], wanted)
    spans = [rows(base / name, "SELECT max(value) - min(value) FROM trace WHERE key IN ('start_ns', 'end_ns')")[0] for name in ("set.db", "true.db")]
    checks.check("a clock that was set: the same duration", abs(spans[0][0] - spans[1][0]) < MS, spans)


def notes(path):
    """What a trace says of its clock."""
    found = rows(path, "SELECT count(*), min(realtime_ns - t_ns), max(realtime_ns - t_ns), min(boot_ns) FROM clock")[0]
    checks.check("a trace has notes of its clocks, at its begin and end", found[0] >= 2 and abs(found[1]) < 1000 * MS, found)
    boot, = rows(path, "SELECT value FROM trace WHERE key = 'boot_id'")[0]
    checks.equal("the boot", boot, pathlib.Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip())
    checks.equal("a machine", rows(path, "SELECT name, boot_id, offset_ns, uncertainty_ns, traces FROM host"), [(os.uname().nodename, boot, 0, 0, 1)])


need_fuse()
parser = argparse.ArgumentParser()
parser.add_argument("--seeds", type=int, default=4)
parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
arguments = parser.parse_args()
print(f"seed {arguments.seed}", flush=True)
with tempfile.TemporaryDirectory(prefix="ftrac-case-") as directory:
    top = pathlib.Path(directory)
    recorded = record(top, random.Random(arguments.seed))
    merge(top / "true.db", recorded)
    edges, times = flow(top / "true.db")
    checks.check("there are edges", len(edges) > STEPS / 2 and min(times) >= 0, (len(edges), min(times)))
    notes(recorded[0])
    bounded = sum(check_random(top, recorded, edges, arguments.seed + k) for k in range(arguments.seeds))
    print(f"{arguments.seeds} times {HOSTS} clocks, {bounded} of them bounded on both sides, {len(edges)} edges")
    ten_seconds(top, recorded, edges)
    contradiction(top, recorded, edges)
    steps_of_a_clock(top, recorded, edges)
checks.end()
