#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 30
# long: --long
"""Calls of MPI-IO that --layer mpi records, against what the processes themselves have noted of random calls (work/mpi_calls.c):
each call of each process with its communicator, offset in bytes, length and bytes, and which of them are one collective call.

By Open MPI and MPICH, in C and Fortran; also a library that is loaded while the program runs.

layers_mpi.py [FILES]: so many files are opened by each program.
"""
import collections
import json
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile

from ftractest import FTRAC, TOP, Checks, kernel_refuses, need_fuse, skip
from sample import LONG, rng

checks = Checks()
WFSTAT = os.environ.get("WFSTAT", "build/dag/wfstat")
N_FILES = int(sys.argv[1]) if len(sys.argv) > 1 else 60 if LONG else 4
SEED = rng().randrange(1 << 31)
FOUND = [(name, mpicc, mpirun) for name, mpicc, mpirun in [
    ("Open MPI", "mpicc.openmpi", ["mpirun.openmpi", "--oversubscribe", "--mca", "btl", "self,vader"]),
    ("MPICH", "mpicc.mpich", ["mpirun.mpich"])] if shutil.which(mpicc) and shutil.which(mpirun[0])]
# Processes of root are refused otherwise.
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
WAYS = ["mount"] if kernel_refuses() else ["mount", "kernel"]


class Run:
    """4 processes in a directory of their own."""

    def __init__(self, place, mpirun, command, way, layers="mpi"):
        place.mkdir()
        self.place, self.db = place, place.parent / f"{place.name}.db"
        done = subprocess.run([FTRAC, "run", "--output", self.db, *way, "--layer", layers, *mpirun, "-n", "4", *command], cwd=place,
                              env=ENVIRONMENT, capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL)
        if done.returncode:
            sys.exit(f"{command}: {done.returncode}: {done.stderr}")

    def sql(self, query, *values):
        with sqlite3.connect(f"file:{self.db}?mode=ro", uri=True) as db:
            return db.execute(query, values).fetchall()


def build(base, compiler, source, *options):
    program = base / f"{source.replace('.', '_')}-{compiler}{len(options)}"
    subprocess.run([compiler, "-O1", "-o", program, TOP / "tests/work" / source, *options], check=True)
    return program


def text(value):
    return "-" if value is None else str(value)


def of_trace(run):
    """The calls of each process in their order, without the number of the collective call; and its number."""
    calls = collections.defaultdict(list)
    for process, *fields, group, collective in run.sql(
            "SELECT process, name, rank, size, offset, length, bytes, mpi_call_id, collective FROM call WHERE layer = 'mpi' "
            "ORDER BY start_ns, id"):
        calls[process].append((" ".join(map(text, fields)), group if collective else None))
    return list(calls.values())


def of_program(run):
    calls = []
    for path in sorted(run.place.glob("called.*")):
        calls.append([])
        for line in path.read_text().splitlines():
            name, rank, size, group, *rest = line.split()
            calls[-1].append((" ".join([name, rank, size, *rest]), None if group == "-" else group))
    return calls


def same_groups(pairs):
    """Whether the two names of a collective call go with each other, both ways."""
    forth, back = {}, {}
    wrong = 0
    for ours, theirs in pairs:
        if (ours is None) != (theirs is None):
            wrong += 1
        elif ours is not None:
            wrong += forth.setdefault(ours, theirs) != theirs or back.setdefault(theirs, ours) != ours
    return len(forth), wrong


def compare(what, run):
    ours, theirs = of_trace(run), of_program(run)
    # A process is known by what it calls: its rank in the first communicator and the files of its own.
    left, pairs, n = list(ours), [], 0
    for calls in theirs:
        names = [call for call, _ in calls]
        match = next((other for other in left if [call for call, _ in other] == names and
                      same_groups(pairs + list(zip((g for _, g in other), (g for _, g in calls))))[1] == 0), None)
        if match is None:
            other = max(left, key=lambda o: sum(a == b for (a, _), b in zip(o, names)), default=[])
            first = next(((i, a, b) for i, (a, b) in enumerate(zip([c for c, _ in other], names)) if a != b), "their groups")
            checks.check(f"{what}: a process's {len(names)} calls", False, f"{len(other)} calls; {first}")
            continue
        left.remove(match)
        pairs += zip((g for _, g in match), (g for _, g in calls))
        n += len(calls)
    groups, wrong = same_groups(pairs)
    checks.check(f"{what}: {n} calls of {len(theirs)} processes, {groups} collective ones",
                 not left and not wrong and len(theirs) == 4 and groups > 10, (len(ours), wrong))


def random_calls(base, name, mpicc, mpirun):
    program = build(base, mpicc, "mpi_calls.c")
    for way in WAYS:
        seed = SEED + WAYS.index(way)
        run = Run(base / f"{mpicc}-{way}", mpirun, [program, str(seed), str(N_FILES)],
                  ["--files", way], "mpi,lib" if way == "kernel" else "mpi")
        compare(f"{name}, {way}, seed {seed}", run)
        if way == "kernel":
            below(name, run)
            hierarchy(name, run)
            page(name, run)


def added_up(base, name, mpicc, mpirun):
    """With --detail-above: the same calls and bytes of each rank and function, and the same collective calls."""
    program = build(base, mpicc, "mpi_calls.c")
    run = Run(base / f"{mpicc}-sums", mpirun, [program, str(SEED), str(N_FILES)], ["--detail-above", "10s"])
    theirs = collections.Counter()
    for calls in of_program(run):
        for call, group in calls:
            function, rank, size, _, length, moved = call.split()
            key = function, rank, size
            for what, n in ("calls", 1), ("length", length), ("bytes", moved), ("collective", group is not None):
                theirs[what, *key] += int(n) if n != "-" else 0
    rows = run.sql("SELECT name, rank, size, sum(calls), coalesce(sum(length), 0), coalesce(sum(bytes), 0), sum(collective), count(*) FROM call "
                   "WHERE layer = 'mpi' GROUP BY 1, 2, 3")
    ours = collections.Counter()
    for *key, calls, length, moved, collective, n in rows:
        for what, number in ("calls", calls), ("length", length), ("bytes", moved), ("collective", collective):
            ours[what, *map(text, key)] += number
    wrong = [(key, ours[key], theirs[key]) for key in ours.keys() | theirs.keys() if ours[key] != theirs[key]]
    n_rows, calls = sum(row[-1] for row in rows), sum(row[3] for row in rows)
    checks.check(f"{name}, added up: {calls} calls in {n_rows} rows, {len(theirs)} numbers", not wrong and n_rows < calls, wrong[:5])


def total(values):
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def hierarchy(name, run):
    """wfstat hierarchy and slowest, against sums over the view by following each call's parents."""
    rows = run.sql("SELECT id, parent, layer, name, rank, file, class, length, bytes, latency_ns, coalesce(mpi_call_id, id) FROM call")
    parents = {row[0]: row[1] for row in rows}
    layers = {row[0]: row[2] for row in rows}

    def top(call):
        while parents.get(call) is not None:
            call = parents[call]
        return call

    tops = {row[0]: row for row in rows if row[1] is None and row[2] in ("mpi", "lib")}
    libs, ops = collections.defaultdict(list), collections.defaultdict(list)
    for row in rows:
        if row[1] is None or top(row[0]) not in tops:
            continue
        if row[2] not in ("mpi", "lib"):
            ops[top(row[0])].append(row)
        elif row[2] == "lib" and layers[row[1]] != "lib":
            libs[top(row[0])].append(row)
    for by, column in [("rank", 4), ("class", 6), ("file", 5)]:
        wanted = collections.defaultdict(list)
        for row in tops.values():
            wanted[row[2], row[3], row[column]].append(row)
        told = json.loads(subprocess.run([WFSTAT, "hierarchy", "--json", "--by", by, run.db], capture_output=True, text=True, timeout=120,
                                         check=True).stdout)["rows"]
        ours = {(row["layer"], row["call"], row[by]): [row[key] for key in (
            "calls", "asked_bytes", "moved_bytes", "lib_calls", "lib_moved_bytes", "operations", "operations_moved_bytes", "latency_ns")]
            for row in told}
        theirs = {key: [
            len(calls), total(c[7] for c in calls), total(c[8] for c in calls),
            sum(len(libs[c[0]]) for c in calls) if key[0] == "mpi" else None,
            sum(l[8] or 0 for c in calls for l in libs[c[0]]) if key[0] == "mpi" else None, sum(len(ops[c[0]]) for c in calls),
            sum(o[8] or 0 for c in calls for o in ops[c[0]]), max(c[9] for c in calls)] for key, calls in wanted.items()}
        wrong = [(key, ours.get(key), theirs.get(key)) for key in ours.keys() | theirs.keys() if ours.get(key) != theirs.get(key)]
        checks.check(f"{name}: hierarchy --by {by}: {len(ours)} rows of {len(tops)} calls, {sum(map(len, ops.values()))} operations",
                     not wrong and len(ours) > 10, wrong[:3])
    told = json.loads(subprocess.run([WFSTAT, "slowest", "--json", "--of", "MPI_File_write_all", run.db], capture_output=True, text=True,
                                     timeout=120, check=True).stdout)["rows"]
    longest = sorted((row[9] for row in tops.values() if row[3] == "MPI_File_write_all"), reverse=True)[:100]
    checks.equal(f"{name}: the slowest {len(longest)}", [row["latency_ns"] for row in told], longest)


def page(name, run):
    """A section of the page of a trace with such calls, and of no other one."""
    if "WFREPORT" not in os.environ:
        print("no wfreport was built")
        return
    path = run.place / "page.html"
    subprocess.run([os.environ["WFREPORT"], "-o", path, run.db], check=True, capture_output=True, timeout=300)
    text = path.read_text()
    checks.check(f"{name}: the page", '<section id="layers">' in text and "MPI_File_open" in text, len(text))


def below(name, run):
    """Each operation on the data lies in a call of libc, that in one of MPI; and bytes that were written are written once."""
    rows = run.sql("""SELECT f.path, (SELECT sum(c.length) FROM call c WHERE c.layer = 'mpi' AND c.file = f.id AND c.class = 'write'
        AND c.name NOT GLOB '*_end'), sum(o.bytes), count(*), count(l.id), count(m.id)
        FROM call o JOIN file f ON f.id = o.file LEFT JOIN call l ON l.id = o.parent LEFT JOIN call m ON m.id = coalesce(l.parent, l.id)
        WHERE o.layer = 'syscall' AND o.name = 'write' AND f.path GLOB '*/data.[0-9].[0-9].[0-9]' GROUP BY f.id""")
    checks.check(f"{name}: {len(rows)} files: each write has a call of libc, and one of MPI above",
                 rows and all(n == lib == mpi for *_, n, lib, mpi in rows), rows)
    least = [(path, asked, moved) for path, asked, moved, *_ in rows if asked is None or moved < asked * 9 // 10]
    checks.check(f"{name}: bytes below are those that were asked for, or more by read-modify-write; overlapping ones may be one",
                 not least, least)


def loaded(base, name, mpicc, mpirun):
    """The library comes by dlopen(3), and its symbols are for its user alone."""
    library = build(base, mpicc, "mpi_calls.c", "-shared", "-fPIC", "-Dmain=work")
    code = ("import ctypes, sys\nwords = [b'calls', sys.argv[2].encode(), b'2', None]\n"
            "sys.exit(ctypes.CDLL(sys.argv[1]).work(3, (ctypes.c_char_p * 4)(*words)))")
    run = Run(base / f"{mpicc}-loaded", mpirun, [sys.executable, "-c", code, library, str(SEED)], [])
    compare(f"{name}, loaded while the program runs", run)


def fortran(base, name, mpicc, mpirun):
    compiler = mpicc.replace("mpicc", "mpifort")
    for module, options in [("mpi", []), ("mpi_f08", ["-DF08"])]:
        try:
            program = build(base, compiler, "mpi_calls.f90", "-cpp", *options)
        except (OSError, subprocess.CalledProcessError) as error:
            print(f"{name}: no Fortran with {module}: {error}")
            continue
        run = Run(base / f"{compiler}-{module}", mpirun, [program], [])
        rows = run.sql("SELECT name, count(*), count(DISTINCT rank), count(DISTINCT mpi_call_id), sum(bytes) FROM call WHERE layer = 'mpi' "
                       "GROUP BY name ORDER BY min(start_ns)")
        checks.equal(f"{name}, Fortran, {module}", rows, [
            ("MPI_File_open", 4, 4, 1, None), ("MPI_File_set_view", 4, 4, 1, None), ("MPI_File_write_all", 4, 4, 1, 16000),
            ("MPI_File_sync", 4, 4, 1, None), ("MPI_File_read_at", 4, 4, 4, 1600), ("MPI_File_close", 4, 4, 1, None)])


if not FOUND:
    skip("there is neither Open MPI nor MPICH")
need_fuse()
print(f"files: {N_FILES}; seed {SEED}; {', '.join(name for name, *_ in FOUND)}")
with tempfile.TemporaryDirectory(dir="/var/tmp") as top:
    for found in FOUND:
        random_calls(pathlib.Path(top), *found)
        added_up(pathlib.Path(top), *found)
        fortran(pathlib.Path(top), *found)
        loaded(pathlib.Path(top), *found)
checks.end()
