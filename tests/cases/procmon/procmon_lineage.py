#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 18
# long: --long
"""What each process of a tree has used is its own, without its children's, in all ways to follow a command.
The trees are random (tests/work/lineage.c), which says what each process did itself; children are
waited for, or not, or reaped by the kernel, and programs begin in between.

procmon_lineage.py [SEED...]   one of the day by default, two with --long
"""
import collections
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

from ftractest import FTRAC, WORK, Checks, for_everybody
from profiled import PROCMON, Profile, available
from sample import LONG, some

checks = Checks()
LINEAGE = for_everybody(WORK / "lineage")
TICK_NS = 10**9 // os.sysconf("SC_CLK_TCK")
BEFORE = 8192
KINDS = 6 # of processes: more in each tree
IO = "read_char", "write_char", "read_bytes", "write_bytes"

FIELDS = "name pid reads writes stored fetched cpu_us cpu_seen_us seen_us minflt nvcsw execs threads".split()
Own = collections.namedtuple("Own", FIELDS)

seen = collections.defaultdict(lambda: [0, 0, 0])  # (way, column): known, not known, farthest apart
lives = collections.Counter()


def loaded():
    """Bytes that an exec of the program itself reads: its head and its libraries'."""
    done = subprocess.run([LINEAGE, "--probe"], capture_output=True, text=True, check=True, timeout=60)
    return int(done.stdout)


def has_storage(directory):
    """Whether this file system counts what goes to storage."""
    code = ("import os; fd = os.open('probe', os.O_RDWR | os.O_CREAT); os.write(fd, bytes(1 << 19)); "
            "print([l.split()[1] for l in open('/proc/self/io') if l.startswith('write_bytes')][0])")
    done = subprocess.run([sys.executable, "-S", "-c", code], cwd=directory, capture_output=True, text=True,
                          check=True, timeout=60)
    return int(done.stdout) >= 1 << 19


def own_work(log):
    done = subprocess.run([LINEAGE, log, "--print"], capture_output=True, text=True, check=True, timeout=60)
    return [Own(*(f if i == 0 else int(f) for i, f in enumerate(line.split())))
            for line in done.stdout.splitlines()]


def seed_of_many_kinds():
    """A random one; in some trees the first process ends before it has a child."""
    while True:
        seed = random.randrange(10**9)
        with tempfile.TemporaryDirectory(prefix="ftrac-case-") as where:
            log = pathlib.Path(where) / "log"
            subprocess.run([LINEAGE, log, str(seed)], cwd=where, timeout=60, check=False)
            if len({own.name for own in own_work(log)}) > KINDS:
                return seed


def compare(way, seed, own, row, column, least, most, may_be_unknown=False):
    got = row[column]
    entry = seen[way, column]
    entry[got is None] += 1
    if got is None:
        checks.check(f"{way}, seed {seed}: {column} of {own.name} {own.pid} is known", may_be_unknown)
        return
    entry[2] = max(entry[2], least - got, got - most)
    checks.check(f"{way}, seed {seed}: {column} of {own.name} {own.pid}", least <= got <= most,
                 f"is {got}, not between {least} and {most}; {own}")


def compare_io(way, seed, own, row, exact, storage, exec_bytes, before=0):
    """before: what the process may have read before it was the program."""
    if exact:
        reads = own.reads + own.execs * exec_bytes
        compare(way, seed, own, row, "read_char", reads, reads + before)
        compare(way, seed, own, row, "write_char", *[own.writes] * 2)
    else:
        checks.equal(f"{way}, seed {seed}: characters of {own.name} without an exact source",
                     (row["read_char"], row["write_char"]), (None, None))
    if storage:  # what the file system itself has to read and write, and what exit records round off
        least = 0 if exact else 1024 * (own.threads + own.execs + 1)
        compare(way, seed, own, row, "read_bytes", own.fetched - least, own.fetched + 300000)
        compare(way, seed, own, row, "write_bytes", own.stored - least, own.stored + 300000)


def compare_others(way, seed, own, row):
    """What getrusage(2) says of the process itself, shortly before its end."""
    ptrace = way.startswith("ptrace")
    cpu = own.cpu_seen_us * 1000
    # On a busy machine the end takes a while, and a virtual one counts the time of its host's other work.
    late = max(row["end_ns"] - own.seen_us * 1000, 0) if row["end_ns"] else 0
    lack = 0 if ptrace else TICK_NS * (own.threads + own.execs + 1)
    compare(way, seed, own, row, "cpu_ns", max(cpu - lack, 0), cpu + 2 * TICK_NS + late, not ptrace)
    if row["cpu_ns"] is not None:
        checks.equal(f"{way}, seed {seed}: parts of the CPU time of {own.name}",
                     row["utime_ns"] + row["stime_ns"], row["cpu_ns"])
    ends = own.threads + own.execs + 1  # of threads, in which they may wait once more
    compare(way, seed, own, row, "minflt", own.minflt - (0 if ptrace else ends), own.minflt + 200)
    compare(way, seed, own, row, "nvcsw", own.nvcsw - ends, own.nvcsw + 12 * ends)


def compare_images(way, seed, profile, row):
    """The parts of its images are the process, where they are known; no part is less than nothing."""
    parts = profile.sql("SELECT * FROM image_figures WHERE process = ? ORDER BY seq", row["id"])
    for column in ("cpu_ns", "utime_ns", "stime_ns", "minflt", "majflt", *IO):
        values = [part[column] for part in parts]
        if None in values:
            checks.check(f"{way}, seed {seed}: parts of {column} without stops", not way.startswith("ptrace"))
            continue
        checks.equal(f"{way}, seed {seed}: {column} of the images together", sum(values), row[column])
        checks.check(f"{way}, seed {seed}: {column} of each image", min(values) >= 0, values)
    rows = profile.sql("SELECT * FROM pprof WHERE pid = ?", row["pid"])
    for column in "utime", "stime":
        values = [r[column] for r in rows if r[column] is not None]
        if row[column + "_ns"] is None:
            checks.equal(f"{way}, seed {seed}: {column} in pprof", values, [])
            continue
        checks.check(f"{way}, seed {seed}: {column} in pprof, together",
                     abs(sum(values) - row[column + "_ns"] / 1e9) < 1e-6, values)


def row_of(way, seed, own, rows):
    checks.check(f"{way}, seed {seed}: {own.name} {own.pid} is recorded", own.pid in rows, sorted(rows))
    return rows.get(own.pid)


def tree(way, seed, base, storage, exec_bytes, options, prefix):
    log = base / "log"
    with Profile([LINEAGE, log, str(seed)], *options, prefix=prefix, base=base) as p:
        tier = p.fact("process_tier")
        checks.equal(f"{way}: tier", tier, way.split(" ")[0])
        checks.equal(f"{way}, seed {seed}: process events lost", p.fact("process_events_lost"), 0)
        records, exact = tier.endswith("+taskstats"), tier.startswith("ptrace")
        rows = {row["pid"]: row for row in p.processes()}
        owns = own_work(log)
        checks.check(f"{way}, seed {seed}: processes", len(owns) > 1 and len(rows) >= len(owns),
                     f"{len(owns)}, {len(rows)}")
        for own in owns:
            lives[own.name] += 1
            row = row_of(way, seed, own, rows)
            if not row:
                continue
            checks.check(f"{way}, seed {seed}: end of {own.name}", row["state"] in ("exited", "killed"), row["state"])
            if not exact and not records:
                checks.equal(f"{way}, seed {seed}: figures without a source", [row[c] for c in IO], [None] * 4)
                continue
            compare_io(way, seed, own, row, exact, storage, exec_bytes)
            compare_others(way, seed, own, row)
            compare_images(way, seed, p, row)
        if exact:
            checks.equal(f"{way}, seed {seed}: all of them", p.fact("bytes_kernel"),
                         sum(o.reads + o.execs * exec_bytes + o.writes for o in owns))
        else:
            checks.equal(f"{way}, seed {seed}: all of them", p.fact("bytes_kernel"), None)


def without(*prefix):
    """Or None, if that cannot be had here."""
    try:
        good = subprocess.run([*prefix, PROCMON, "--check"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              timeout=60).returncode == 0
    except FileNotFoundError:
        good = False
    return prefix if good else None


def ways():
    """Name, options, and what is put in front."""
    root = os.geteuid() == 0
    records = available("taskstats")
    poor = without("setpriv", "--bounding-set=-net_admin", "--inh-caps=-net_admin") if records else ()
    user = without("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups") if root else None
    for way in "ptrace", "connector":
        if not available(way):
            print(f"no {way} here: not looked at")
            continue
        if records:
            yield f"{way}+taskstats", ("--processes", way), ()
        if poor is not None:
            yield way, ("--processes", way), poor
    if user and available("ptrace"):
        yield "ptrace of a user", ("--processes", "ptrace"), user


def mounted(seed, processes):
    """Rows of the same below ftrac run, and what was done; None where that cannot be had."""
    with tempfile.TemporaryDirectory(prefix="ftrac-case-") as where, \
            tempfile.TemporaryDirectory(prefix="ftrac-case-") as beside:
        log, p = pathlib.Path(beside) / "log", Profile.__new__(Profile)
        p.db = pathlib.Path(beside) / "t.db"
        done = subprocess.run([FTRAC, "run", "-q", "--processes", processes, "--db", p.db, "--", LINEAGE, log,
                               str(seed)], cwd=where, capture_output=True, text=True, timeout=300)
        if done.returncode == 125:
            print(f"no ftrac run by {processes} here: {done.stderr.strip()}")
            return None
        return p.processes(), own_work(log), p.fact("bytes_kernel")


def traced_with_files(seed, exec_bytes):
    found = mounted(seed, "ptrace")
    if not found:
        return
    rows, owns, whole = {row["pid"]: row for row in found[0]}, found[1], found[2]
    for own in owns:  # the first one has made the mount in its namespace
        row = row_of("ptrace and a mount", seed, own, rows)
        if row:
            compare_io("ptrace and a mount", seed, own, row, True, False, exec_bytes,
                       BEFORE if own.name == "first" else 0)
    wanted = sum(o.reads + o.execs * exec_bytes + o.writes for o in owns)
    checks.check(f"ptrace and a mount, seed {seed}: all of them", wanted <= whole <= wanted + BEFORE,
                 f"{whole}, not {wanted}")


def in_band(seed):
    """Nothing that is read in passing is a figure of a whole life."""
    found = mounted(seed, "inband")
    if not found:
        return
    checks.check(f"inband, seed {seed}: processes", len(found[0]) > 1, len(found[0]))
    for row in found[0]:
        checks.equal(f"inband, seed {seed}: figures", [row[c] for c in (*IO, "cpu_ns", "minflt")], [None] * 6)
    checks.equal(f"inband, seed {seed}: all of them", found[2], None)


seeds = [int(word) for word in sys.argv[1:]] or [seed_of_many_kinds() for _ in range(2 if LONG else 1)]
probe = pathlib.Path(tempfile.mkdtemp(prefix="ftrac-case-"))
probe.chmod(0o777)
storage, exec_bytes = has_storage(probe), loaded()
shutil.rmtree(probe)
if not storage:
    print("the file system of the tests does not count what goes to storage: not looked at")
print("seeds", *seeds)
for way, options, prefix in some(ways(), 2):
    for seed in seeds:
        base = pathlib.Path(tempfile.mkdtemp(prefix="ftrac-case-"))
        tree(way, seed, base, storage, exec_bytes, options, prefix)
        shutil.rmtree(base)
traced_with_files(seeds[0], exec_bytes)
in_band(seeds[0])
print("way                column         known  not known  apart")
for (way, column), (known, unknown, apart) in sorted(seen.items()):
    print(f"{way:18} {column:12} {known:7} {unknown:10} {apart:6}")
print("processes:", ", ".join(f"{n} {name}" for name, n in sorted(lives.items())))
checks.check("processes of all kinds", len(lives) > KINDS, lives)
checks.end()
