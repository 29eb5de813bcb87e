#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 30
# long: --seeds 100
"""Which process of one run has started another run, as ftrac merge finds it: against random trees of runs on several machines, of which each
says what the kernel and the environment would say; and real runs, one inside of another one and below mpirun.

merge_starts.py [--seeds N] [--seed N]
"""
import argparse
import contextlib
import itertools
import json
import os
import pathlib
import random
import shutil
import sqlite3
import subprocess
import tempfile

import sshserver
from ftractest import FTRAC, Checks, kernel_refuses, need, need_fuse
from workflows import traced

FTRAC = os.path.abspath(FTRAC)
WFDAG = os.path.abspath(os.environ.get("WFDAG", "build/dag/wfdag"))
MS = 1000000
BEGIN = 1_700_000_000_000 * MS
ERROR = 1 * MS  # of clocks that are synchronized
# What starts a run by a fact of that name.
STARTERS = {"slurm_step_id": {"srun"}, "slurm_job_id": {"srun", "sbatch"}, "ssh_client": {"ssh"}, "pmix_namespace": {"mpirun", "srun"}}
checks = Checks()


def rows(path, sql):
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
        return db.execute(sql).fetchall()


def merge(out, *traces):
    done = subprocess.run([FTRAC, "merge", "--force", "-o", out, *traces], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=120, check=False)
    checks.equal("merging: status", (done.returncode, "Error" in done.stderr), (0, False))
    return done.stderr


class Process:
    def __init__(self, run, pid, parent, ppid, program, start):
        self.run, self.pid, self.parent, self.ppid, self.program, self.start, self.end = run, pid, parent, ppid, program, start, start
        self.socket = None  # its ends, if the trace has them


class Run:
    """Of one command: its processes, the first one at first; truth: the process that has started it."""

    def __init__(self, name, host, namespace, facts, truth):
        self.name, self.host, self.namespace, self.truth = name, host, namespace, truth
        self.facts = {**facts, "run": name}
        self.processes = []


class World:
    """Runs that start runs."""

    def __init__(self, rng):
        self.rng, self.runs = rng, []
        self.pids = {f"h{i}": itertools.count(100) for i in range(rng.randint(2, 4))}
        self.numbers = itertools.count(1)
        self.is_synchronized = rng.random() < 0.6
        self.wrong = {host: 0 if self.is_synchronized else rng.randrange(-20000, 20000) * MS for host in self.pids}
        self.has_sockets = rng.random() < 0.6

    def process(self, run, parent, program, start, ppid=None):
        made = Process(run, next(self.pids[run.host]), parent, parent.pid if parent else ppid, program, start)
        run.processes.append(made)
        return made

    def make(self, host, start, facts, truth, depth, ppid=7, namespace=1):
        """Its end."""
        run = Run(f"{host}:{next(self.numbers)}", host, namespace, facts, truth)
        self.runs.append(run)
        top, at, last = self.process(run, None, "sh", start, ppid), start, start
        for _ in range(self.rng.randint(1, 4 if depth else 1)):
            at += self.rng.randrange(5, 50) * MS
            way = self.rng.choice(["cat", "local", "ssh", "ssh with name", "srun", "mpirun", "sbatch", "container"]) if depth else "cat"
            last = max(last, self.start(run, top, way, at, depth - 1))
            at = at if self.rng.random() < 0.3 else last  # or the next one beside it
        top.end = max(last, at) + 5 * MS
        return top.end

    def start(self, run, top, way, at, depth):
        child = self.process(run, top, {"ssh with name": "ssh", "local": "ftrac", "container": "docker"}.get(way, way), at)
        child.end = at + 20 * MS
        if way == "cat":
            return child.end
        host = run.host if way in ("local", "container") else self.rng.choice(list(self.pids))
        kept = {key: value for key, value in run.facts.items() if key != "run"}
        named = {"started_in": run.name}
        number = next(self.numbers)
        ppid, starter = 7, child
        if way.startswith("ssh"):
            ends = {"ssh_client": f"10.0.0.1:{number + 1000}", "ssh_server": "10.0.0.2:22"}
            child.socket = ends if self.has_sockets else None
            facts = {**ends, **(named if way == "ssh with name" else {})}
        elif way == "srun":
            facts = {**kept, **named, "slurm_job_id": kept.get("slurm_job_id", f"{number}"), "slurm_step_id": f"{number}", "pmix_namespace": f"{number}"}
        elif way == "mpirun":
            facts = {**kept, **named, "pmix_namespace": f"{number}", "pmix_rank": "0"}
        elif way == "sbatch":
            facts = {**kept, **named, "slurm_job_id": f"{number}"}
            facts.pop("slurm_step_id", None)
        else:
            facts = {**kept, **named}
        if way == "local":
            ppid = child.pid
        elif way == "mpirun" and host == run.host:
            starter = self.process(run, child, "ftrac", at + 10 * MS)
            ppid = starter.pid
        end = self.make(host, at + 60 * MS, facts, starter, depth, ppid, number + 1 if way == "container" else run.namespace if host == run.host else 1)
        if way != "sbatch":
            child.end = starter.end = end + 10 * MS
        return end + 10 * MS


def made(template, out, run, world):
    """The trace of the run, by the clock of its machine."""
    shutil.copy(template, out)
    start = run.processes[0].start
    with contextlib.closing(sqlite3.connect(out)) as db, db:
        for table in ("processes", "images", "figures", "spent", "programs", "op_times", "ops_name", "ops_handle", "handles", "moved", "moved_otherwise", "uses", "touches",
                      "accesses", "environs", "threads", "samples", "metrics", "clocks", "jobs", "second_operands", "missing_names", "names", "files",
                      "path_names", "directories", "loaded"):
            db.execute(f"DELETE FROM {table}")
        facts = {"host": run.host, "boot_id": f"boot of {run.host}", "pid_namespace": run.namespace, "start_ns": start + world.wrong[run.host],
                 "end_ns": run.processes[0].end + world.wrong[run.host], "command": f"command of {run.name}"}
        db.execute("DELETE FROM meta WHERE key IN ('run', 'started_in') OR key GLOB 'ssh_*' OR key GLOB 'slurm*' OR key GLOB 'pmi*'")
        db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", {**facts, **run.facts}.items())
        db.execute("INSERT INTO clocks VALUES (0, 0, 0, ?, ?, ?)", (BEGIN + world.wrong[run.host], int(world.is_synchronized), ERROR))
        ids = {process: number for number, process in enumerate(run.processes, 1)}
        for process, number in ids.items():
            db.execute("INSERT INTO processes (id, pid, ppid, parent, uid, gid, start_t, end_t, exit_code, image, tier) VALUES (?, ?, ?, ?, 0, 0, ?, ?, 0, ?, 8)",
                       (number, process.pid, process.ppid, ids.get(process.parent), process.start - start, process.end - start, number))
            db.execute("INSERT INTO images (id, process, seq, start_t, end_t, comm, argv) VALUES (?, ?, 1, ?, ?, ?, ?)",
                       (number, number, process.start - start, process.end - start, process.program, json.dumps([process.program])))
            if process.socket:
                db.executemany("INSERT INTO path_names VALUES (?, NULL, ?)", [(number * 3, f"socket:[{number}]"), (number * 3 + 1, process.socket["ssh_client"]),
                                                                  (number * 3 + 2, process.socket["ssh_server"])])
                db.execute("INSERT OR IGNORE INTO kinds VALUES (9999, 7, 49152, NULL)")
                db.execute("INSERT INTO files (id, path, kind, ino, state) VALUES (?, ?, 9999, ?, 0)", (number, number * 3, int(process.socket["ssh_client"].rpartition(":")[2])))
                db.execute("INSERT INTO sockets VALUES (?, ?, 2, 1, ?, ?, 0, NULL, NULL)",
                           (number, process.start - start + 5 * MS, number * 3 + 1, number * 3 + 2))
                db.execute("INSERT INTO touches (process, file, version, path, did, opens, nmeta, first_t) VALUES (?, ?, 1, ?, 0, 1, 0, ?)",
                           (number, number, number * 3, process.start - start))
    return out


def candidates(run, runs, unsure, times):
    """The processes that may have started it, by a rule for each fact; and the run, if that is known."""
    first = run.processes[0]
    others = [process for other in runs if other is not run for process in other.processes]
    parents = [p for p in others if (p.run.host, p.run.namespace, p.pid) == (run.host, run.namespace, first.ppid)]
    named = next((other for other in runs if other.name == run.facts.get("started_in")), None)
    if parents:
        return parents, named
    ends = {key: value for key, value in run.facts.items() if key.startswith("ssh_")}
    is_inherited = "started_in" in run.facts and (not named or named.facts.get("ssh_client") == run.facts.get("ssh_client"))
    connected = [p for p in others if p.socket and p.socket == ends and not is_inherited]
    if connected or not named:
        return connected, named
    programs = set().union(*(STARTERS.get(key, set()) for key, value in run.facts.items() if named.facts.get(key) != value))
    within = 0 if run.host == named.host else None if None in (unsure[run.host], unsure[named.host]) else unsure[run.host] + unsure[named.host]
    begin = times[run.host, first.pid][0]
    return [p for p in named.processes if p.program in programs and
            (within is None or times[p.run.host, p.pid][0] <= begin + within and
             (p.program == "sbatch" or times[p.run.host, p.pid][1] >= begin - within))], named


def links(path):
    """The processes that are known to have started others; by machine and pid."""
    return sorted(rows(path, "SELECT c.host, c.pid, p.host, p.pid, s.reason, s.candidates FROM start s JOIN process c ON c.id = s.process"
                             " LEFT JOIN process p ON p.id = s.parent"), key=repr)


def check_world(base, template, seed):
    rng = random.Random(seed)
    world = World(rng)
    world.make(rng.choice(list(world.pids)), BEGIN + 1000 * MS, {}, None, 3)
    runs = [run for run in world.runs if rng.random() < 0.9 or run is world.runs[0]]
    traces = [made(template, base / f"{i}.tr", run, world) for i, run in enumerate(runs)]
    said = merge(base / "all.db", *rng.sample(traces, len(traces)))
    unsure = dict(rows(base / "all.db", "SELECT name, coalesce(uncertainty_ns, iif(synchronized, error_ns, NULL)) FROM host"))
    times = {(host, pid): (start, end) for host, pid, start, end in rows(base / "all.db", "SELECT host, pid, start_ns, end_ns FROM process")}
    found = links(base / "all.db")
    truth = {(run.host, run.processes[0].pid): (run.truth.run.host, run.truth.pid) for run in runs if run.truth}
    checks.equal(f"seed {seed}: processes that were not what has started a run",
                 [link for link in found if link[2] and truth[link[:2]] != link[2:4]], [])
    wanted = []
    for run in runs:
        some, named = candidates(run, runs, unsure, times)
        if some or named:
            one = (some[0].run.host, some[0].pid) if len(some) == 1 else (None, None)
            wanted.append((run.host, run.processes[0].pid, *one, len(some)))
    checks.equal(f"seed {seed}: what has started runs", [(*link[:4], link[5]) for link in found], sorted(wanted, key=repr))
    open_ones = sum(link[2] is None for link in found)
    checks.equal(f"seed {seed}: a warning", "which process of another one started them" in said, open_ones > 0)
    above = dict(((host, pid), (parent_host, parent)) for host, pid, parent_host, parent in rows(
        base / "all.db", "SELECT c.host, c.pid, p.host, p.pid FROM process c JOIN process p ON p.id = c.parent"))
    own = {(p.run.host, p.pid): (p.run.host, p.parent.pid) for run in runs for p in run.processes if p.parent}
    checks.equal(f"seed {seed}: the parents of processes", above, {**own, **{link[:2]: link[2:4] for link in found if link[2]}})
    late = [link for link in found if link[2] and times[link[:2]][0] < times[link[2:4]][0] - MS - sum(unsure[host] or 0 for host in (link[0], link[2]))]
    checks.equal(f"seed {seed}: processes that began before what has started them, by more than the clocks are unsure", late, [])
    half = len(traces) // 2
    merge(base / "half.db", *traces[:half + 1])
    merge(base / "again.db", base / "half.db", *traces[half + 1:])
    # A half may have other clocks, so that more or less is known.
    again = links(base / "again.db")
    checks.equal(f"seed {seed}: a half merged before: the same runs, and the same processes", [link[:2] for link in again], [link[:2] for link in found])
    checks.equal(f"seed {seed}: a half merged before: wrong ones", [link for link in again if link[2] and truth[link[:2]] != link[2:4]], [])
    return len(runs), len([link for link in found if link[2]]), open_ones


def worlds(base, seeds, seed):
    template = base / "template.tr"
    traced(template, ["true"], base)
    counts = [check_world(base, template, seed + i) for i in range(seeds)]
    total, linked, unknown = map(sum, zip(*counts))
    print(f"{seeds} trees of {total} runs: {linked} hang below what has started them, of {unknown} that is not known")
    checks.check("some are known, and some are not", linked > seeds and unknown > 0, (linked, unknown))


def tree(path):
    """The programs above each process, up to the first."""
    known = {number: (parent, program) for number, parent, program in rows(path, "SELECT id, parent, program FROM process")}

    def line(number):
        parent, program = known[number]
        return (*(line(parent) if parent else ()), program)
    return {line(number) for number in known}


def nested(base):
    """One run inside of another one."""
    inner = [FTRAC, "run", "-q", "--scope", "dir", "--db", "inner.tr", "--", "sh", "-c", "cat /dev/null >x; true"]
    outer = base / "nested"
    outer.mkdir()
    with contextlib.ExitStack() as stack:
        # A mount does not hold the trace of another run.
        place = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="ftrac-case-", dir="/dev/shm")))
        inner[inner.index("inner.tr")] = str(place / "inner.tr")
        traced(base / "outer.tr", ["sh", "-c", '"$@"; true', "sh", *inner], outer)
        names = [dict(rows(path, "SELECT key, value FROM trace WHERE key IN ('run', 'started_in')")) for path in (base / "outer.tr", place / "inner.tr")]
        checks.equal("the inner run knows the outer one", names[1].get("started_in"), names[0]["run"])
        checks.check("a name has the host", names[0]["run"].startswith(os.uname().nodename + ":") and names[0]["run"] != names[1]["run"], names)
        checks.equal("the name is stored once, not for each process", rows(base / "outer.tr", "SELECT count(*) FROM environ WHERE name = 'FTRAC_RUN'"), [(0,)])
        merge(base / "nested.db", base / "outer.tr", place / "inner.tr")
        checks.check("the inner command hangs below ftrac", ("sh", "ftrac", "sh", "cat") in tree(base / "nested.db"), tree(base / "nested.db"))
        checks.equal("how that is known", rows(base / "nested.db", "SELECT DISTINCT reason FROM start"), [("parent",)])
        lines = subprocess.run([WFDAG, "--tree", "--json", base / "nested.db"], capture_output=True, text=True, check=True).stdout
        checks.check("wfdag draws its edge", any(edge for edge in json.loads(lines)["edges"]), lines)


def over_ssh(base, *options):
    """Two runs by ssh, one after the other, in each of which a command reads what another one wrote."""
    place = pathlib.Path(tempfile.mkdtemp(prefix="ftrac-case-", dir="/dev/shm"))
    folder = base / "over"
    folder.mkdir(exist_ok=True)
    inner = f"cd {folder} && {FTRAC} run -q --scope dir --db {place}/%s.tr -- sh -c 'cat one >two; true'"
    script = f'echo text >one; "$@" "{inner % 1}"; "$@" "{inner % 2}"; cat two >three'
    try:
        with sshserver.Server(place) as server:
            if server.refused:
                print(f"ssh was not tried: {server.refused}")
                return
            done = subprocess.run([FTRAC, "run", "-q", "--db", place / "all.tr", *options, "--", "sh", "-c", script, "sh", *server.words, "-o",
                                   "SendEnv=FTRAC_RUN", "127.0.0.1"], cwd=folder, capture_output=True, text=True, timeout=120, check=False)
            checks.equal(f"{options}: status", (done.returncode, done.stderr), (0, ""))
        said = merge(base / "ssh.db", place)
    finally:
        shutil.rmtree(place)
    found = rows(base / "ssh.db", "SELECT p.program, s.reason FROM start s JOIN process p ON p.id = s.parent ORDER BY p.start_ns")
    checks.equal(f"{options}: both runs hang below ssh, and nothing is doubted", (found, said), ([("ssh", "connection" if "kernel" in options else "launcher")] * 2, ""))
    distinct, = rows(base / "ssh.db", "SELECT count(DISTINCT parent) FROM start")[0]
    checks.equal(f"{options}: each below its own", distinct, 2)
    checks.check(f"{options}: a tree over both", ("sh", "ssh", "sh", "cat") in tree(base / "ssh.db"), tree(base / "ssh.db"))
    path = subprocess.run([WFDAG, "critical-path", "--json", base / "ssh.db"], capture_output=True, text=True, check=True).stdout
    programs = [step["program"] for step in json.loads(path)["rows"]]
    checks.check(f"{options}: the critical path goes through ssh to what it started", "sh ssh sh" in " ".join(programs), programs)


def below_mpirun(base):
    work = base / "mpi"
    work.mkdir()
    with tempfile.TemporaryDirectory(prefix="ftrac-case-", dir="/dev/shm") as place:
        rank = f"exec '{FTRAC}' run -q --scope dir --db {place}/$OMPI_COMM_WORLD_RANK.tr -- sh -c 'cat /dev/null; true'"
        env = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        traced(f"{place}/all.tr", ["mpirun.openmpi", "--oversubscribe", "-n", "3", "sh", "-c", rank], work, env=env)
        merge(base / "mpi.db", place)
    found = rows(base / "mpi.db", "SELECT p.program, s.reason FROM start s JOIN process p ON p.id = s.parent")
    checks.equal("three ranks hang below ftrac", found, [("ftrac", "parent")] * 3)
    starters = [line for line in tree(base / "mpi.db") if line[1:] == ("ftrac", "sh", "cat")]
    checks.check("each below mpirun, which may have become another program", len(starters) == 1 and starters[0][0].startswith(("mpirun", "prterun")),
                 tree(base / "mpi.db"))
    ranks = rows(base / "mpi.db", "SELECT value FROM merged WHERE key = 'pmix_rank' ORDER BY value")
    checks.equal("their numbers", [rank for rank, in ranks], ["0", "1", "2"])


need_fuse()
need("mpirun.openmpi")
need(sshserver.SSHD)
parser = argparse.ArgumentParser()
parser.add_argument("--seeds", type=int, default=6)
parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
arguments = parser.parse_args()
print(f"seed {arguments.seed}", flush=True)
with tempfile.TemporaryDirectory(prefix="ftrac-case-") as directory:
    folder = pathlib.Path(directory).resolve()
    worlds(folder, arguments.seeds, arguments.seed)
    nested(folder)
    below_mpirun(folder)
    over_ssh(folder, "--scope", "dir")
    if not kernel_refuses():
        over_ssh(folder, "--files", "kernel")
    else:
        print("connections were not tried: nothing can be recorded in the kernel here")
checks.end()
