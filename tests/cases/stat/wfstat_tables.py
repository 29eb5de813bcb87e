#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 30
# long: --long
"""Every table of wfstat, worked out a second time from the rows of the views, in Python and with
exact arithmetic, and compared with what wfstat prints, to the last digit: of synthetic traces, of
real ones of each fidelity, and of procmon's."""
import collections
import contextlib
import fractions
import itertools
import json
import math
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile

from ftractest import Checks, Mount, TOP, has_fidelity, help_words
from profiled import Profile
from sample import one, some
from statmodel import Choice, Data, cell, nearest
from stattables import TABLES
from stattables_parts import SIDES, SIDE_NAMES

WFSTAT = os.environ.get("WFSTAT", "build/dag/wfstat")
MISMATCHES = 3  # of a table that are shown
checks = Checks()
cells = collections.Counter()


# ---- what wfstat prints ----

def run(*words):
    done = subprocess.run([WFSTAT, *words], capture_output=True, timeout=120, check=False)
    if done.returncode:
        checks.check(" ".join(words), False, f"status {done.returncode}: {done.stderr!r}")
    return done.stdout.decode(errors="surrogateescape")


def read_csv(text):
    """RFC 4180; what is not known is None, a text that is empty ''."""
    rows, row, at = [], [], 0
    while at < len(text):
        if text[at] == '"':
            value = ""
            while True:
                stop = text.index('"', at + 1)
                value += text[at + 1:stop]
                at = stop + 1
                if text[at] != '"':
                    break
                value += '"'
        else:
            stop = min(i for i in (text.find(",", at), text.find("\r\n", at)) if i >= 0)
            value, at = text[at:stop] or None, stop
        row.append(value)
        if text[at] == ",":
            at += 1
            if text.startswith("\r\n", at):
                row.append(None)
        if text.startswith("\r\n", at):
            rows.append(row)
            row, at = [], at + 2
    return rows


def order(row):
    return [(value is not None, value or "") for value in row]


def show(got, wanted, count):
    for mark, rows in ("got", got), ("wanted", wanted):
        for row in rows[:count]:
            print(f"  {mark:6} {row}")


def alike(a, b):
    """Sums of fractions in another order differ in the last of their 15 digits."""
    if a == b or a is None or b is None or "." not in a + b:
        return a == b
    try:
        return math.isclose(float(a), float(b), rel_tol=1e-13)
    except ValueError:
        return False


def all_alike(rows, others):
    return len(rows) == len(others) and all(
        len(row) == len(other) and all(map(alike, row, other)) for row, other in zip(rows, others))


def compare(fact, table, got, wanted, in_order):
    """Rows, cell by cell."""
    if not in_order:
        got, wanted = sorted(got, key=order), sorted(wanted, key=order)
    cells[table] += sum(map(len, got))
    same = all_alike(got, wanted)
    checks.check(fact, same, f"({len(got)} rows, {len(wanted)} wanted)")
    if not same:
        more = collections.Counter(map(tuple, wanted))
        more.subtract(map(tuple, got))
        show([r for r, n in more.items() if n < 0], [r for r, n in more.items() if n > 0],
             MISMATCHES)


def plain(row):
    return [cell(value) for value in row]


def thinned(fact, got, wanted, keys):
    """The points of a curve that wfstat printed: of each curve all, or true ones up to the end."""
    points = collections.defaultdict(list)
    for row in wanted:
        points[tuple(row[:keys])].append(row)
    printed = collections.defaultdict(list)
    for row in got:
        printed[tuple(row[:keys])].append(row)
    for key, found in points.items():
        if len(found) > 1000:
            few = printed[key]
            checks.check(f"{fact}: true points of {key}", set(map(tuple, few)) <= set(
                map(tuple, found)), "")
            checks.equal(f"{fact}: last point of {key}", few[-1:], found[-1:])
            checks.check(f"{fact}: fewer points of {key}", 1 < len(few) < 2000, len(few))
            cells["cdf"] += sum(map(len, few))
    rest = {key for key, found in points.items() if len(found) <= 1000}
    return ([row for row in got if tuple(row[:keys]) in rest or tuple(row[:keys]) not in points],
            [row for row in wanted if tuple(row[:keys]) in rest])


def in_their_places(fact, table, columns, rows):
    """A list by time; errors from the most to the least, with what is harmless at the end."""
    at = [columns.index(name) for name in ("t_ns",) * (table == "list") or (
        "kind", "count", "first_ns")]
    if table == "list":
        keys = [int(row[at[0]]) for row in rows]
    else:
        keys = [("error", "probe", "search").index(row[at[0]]) * 10**12 - int(row[at[1]])
                for row in rows]
    checks.check(f"{fact}: rows in their order", keys == sorted(keys))


def one_table(data, paths, table, **options):
    """Compares a table of wfstat with the second computation; returns its rows."""
    choice = Choice(**options)
    words = [table, *choice.words()]
    fact = " ".join([*words, *("/".join(path.split("/")[-2:]) for path in paths)])
    got = read_csv(run(*words, "--csv", *paths))
    columns, rows = TABLES[table](data, choice)
    checks.equal(f"{fact}: columns", got[:1], [columns])
    wanted, got = [plain(row) for row in rows], got[1:]
    if table in ("list", "errors"):
        in_their_places(fact, table, columns, got)
    if table == "cdf":
        got, wanted = thinned(fact, got, wanted, len(columns) - 3)
    compare(fact, table, got, wanted, getattr(TABLES[table], "in_order", False))
    parts_and_whole(fact, columns, got)
    return columns, got


# What belongs to one row only.  The time in which a step lived is not of this kind, nor is a file that several phases used.
PARTS = ("read_bytes written_bytes reads writes read_at_exec_bytes reads_at_exec cpu_ns queue_ns block_io_ns memory_ns traced_io_ns "
         "count sum_ns failed work_ns running_ns file_ns pipe_ns socket_ns lock_ns child_ns sleep_ns event_ns stopped_ns "
         "other_ns").split()


def parts_and_whole(fact, columns, rows):
    if len(rows) < 2 or rows[-1][0] != "Total" or "phase" in columns and "files_ro" in columns:
        return
    for column in set(PARTS) & set(columns):
        values = [row[columns.index(column)] for row in rows]
        checks.equal(f"{fact}: {column} of the rows are the total", values[-1],
                     None if None in values[:-1] else str(sum(map(int, values[:-1]))))


# ---- formats, order ----

def number_of(text):
    try:
        return fractions.Fraction(text)
    except ValueError:
        return None


def sorted_as(rows, column, reverse):
    """Numbers from the largest on, text from A on, what is not known last; equal ones stay."""
    known = [row for row in rows if row[column] is not None]
    numeric = all(number_of(row[column]) is not None for row in known)
    key = (lambda row: number_of(row[column])) if numeric else (
        lambda row: row[column].encode(errors="surrogateescape"))
    return sorted(known, key=key, reverse=numeric != reverse) + [
        row for row in rows if row[column] is None]


def sorting(path, table, column, *words):
    got = read_csv(run(table, *words, "--csv", path))
    total = got[1:] and got[-1][0] == "Total"
    rows, tail = got[1:len(got) - bool(total)], got[len(got) - bool(total):]
    for reverse in False, True:
        wanted = sorted_as(rows, got[0].index(column), reverse)
        name = "-" * reverse + column
        for top in None, 3:
            more = ["--top", str(top)] if top else []
            found = read_csv(run(table, *words, "--sort", name, *more, "--csv", path))
            compare(f"{table} --sort {name} {more}", table, found[1:], wanted[:top] + tail, True)


def untab(text):
    for code, char in ("\\t", "\t"), ("\\n", "\n"), ("\\r", "\r"):
        text = text.replace(code, char)
    return text.replace("\\\\", "\\")


def as_csv(value):
    return plain([value])[0]


def shown(value):
    """What is no UTF-8 is U+FFFD in JSON."""
    return value and value.encode(errors="surrogateescape").decode(errors="replace")


def formats(path, table, *words):
    csv = read_csv(run(table, *words, "--format", "csv", path))
    tsv = [[untab(value) for value in line.split("\t")]
           for line in run(table, *words, "--format", "tsv", path).split("\n")[:-1]]
    compare(f"{table} --tsv", table, tsv, [[value or "" for value in row] for row in csv], True)
    found = json.loads(run(table, *words, "--format", "json", path))
    checks.equal(f"{table}: head of JSON", (found["schema"], found["table"], found["complete"]),
                 ("ftrac.stat/1", table, True))
    rows = [[as_csv(row[name]) for name in csv[0]] for row in found["rows"]]
    compare(f"{table} --json", table, rows, [[shown(value) for value in row] for row in csv[1:]],
            True)


# ---- tables against each other ----

def column_of(columns, rows, name, **where):
    index = columns.index(name)
    return [int(row[index]) for row in rows if row[index] is not None and all(
        row[columns.index(key)] == value for key, value in where.items())]


def totals(name, data, path):
    """What is read and written is the same in all tables; a copy is no read and no write there."""
    if any(handle.nread is None for handle in data.rows["handle"]):
        return
    columns, rows = one_table(data, [path], "io", by="all", long=True)
    io = [sum(column_of(columns, rows, "sum", value=side)) for side in SIDE_NAMES]
    read_at_exec, reads_at_exec = io[4:]
    io = [io[0] + read_at_exec, io[1], io[2] + reads_at_exec, io[3]]
    columns, rows = one_table(data, [path], "handle")
    checks.equal(f"{name}: handle = io", [sum(column_of(columns, rows, side))
                                          for side in SIDES], io)
    columns, rows = one_table(data, [path], "file")
    checks.equal(f"{name}: file = io", [sum(column_of(columns, rows, side))
                                        for side in SIDE_NAMES[:4]], io)
    phase_columns, phases = one_table(data, [path], "phase")
    kinds = {file.id for file in data.files.values() if file.kind == "file"}
    regular = [sum(getattr(use, side) for use in data.rows["use"] if use.file in kinds)
               for side in SIDES[:2]]
    got = [sum(column_of(phase_columns, phases, side, phase="Total")) for side in SIDE_NAMES[:2]]
    checks.equal(f"{name}: phase = io of regular files", got, regular)
    if not data.has_ops:
        return
    copied = sum(op.bytes or 0 for op in data.rows["op"] if op.name == "copy")
    columns, rows = one_table(data, [path], "pattern", by="all")
    for operation, side in ("read", 0), ("write", 1):
        checks.equal(f"{name}: pattern of {operation} = io", sum(column_of(
            columns, rows, "moved_bytes", operation=operation)) + copied, io[side])
        if not copied:
            in_their_order(name, data, columns, rows, operation)
    columns, rows = one_table(data, [path], "time")
    for side, i in ("read_bytes", 0), ("written_bytes", 1):
        checks.equal(f"{name}: time {side} = io", sum(column_of(columns, rows, side)) + copied,
                     io[i])
    columns, rows = one_table(data, [path], "sys")
    counts = collections.Counter(op.name for op in data.rows["op"])
    checks.equal(f"{name}: sys counts all", sum(column_of(columns, rows, "count")),
                 2 * sum(counts.values()))


def in_their_order(name, data, columns, rows, operation):
    """What the handles count while the trace is made is what the operations tell."""
    for trait in "consecutive", "sequential":
        counted = sum(getattr(h, f"{trait}_{operation}s") or 0 for h in data.rows["handle"])
        for row in rows:
            if row[columns.index("operation")] == operation:
                checks.equal(f"{name}: {trait} {operation}s of handles", cell(nearest(
                    counted, int(row[columns.index("count")]))),
                    row[columns.index(f"{trait}_share")])


# ---- which tables, with which options ----

OF = ("latency", "read-size", "write-size", "bytes-read", "bytes-written", "lifetime", "file-size",
      "rss")
BY = ("step", "task", "command", "exe", "xform", "job", "phase", "process", "host", "env:MAKELEVEL", "all",
      "phase,command", "xform,job", "process,phase", "env:MAKELEVEL,exe")
BY_FILE = ("file", "directory", "fstype", "mount", "phase,directory", "command,fstype",
           "file,process")
BY_OP = "operation", "class", "phase,operation", "operation,directory", "job,operation"


def plain_tables(data, *paths):
    for table in TABLES:
        if table not in ("hist", "cdf"):
            one_table(data, paths, table)
    for of in OF:
        one_table(data, paths, "hist", of=of)
        one_table(data, paths, "cdf", of=of)


def all_groups(data, path):
    for table in "io", "mem", "run", "util":
        one_table(data, [path], table, long=True)
        for per in "job", "process":
            one_table(data, [path], table, per=per)
        for by in BY + (BY_FILE if table == "io" else ()):
            one_table(data, [path], table, by=by)
            one_table(data, [path], table, by=by, long=True)
            one_table(data, [path], table, by=by, per="job")
    for by in some((*BY, *BY_FILE, *BY_OP), 5) if data.has_ops else ():
        one_table(data, [path], "layers", by=by)
    for table in "sys", "pattern", "errors":
        for by in BY + (BY_FILE + BY_OP if data.has_ops and table == "sys" else
                        BY_FILE if data.has_ops and table == "pattern" else ()):
            one_table(data, [path], table, by=by)
    for by in BY:
        one_table(data, [path], "phase", by=by)
    for by in some(BY, 4):
        one_table(data, [path], "waits", by=by)
    for of in OF:
        by_more = BY_OP if of in OF[:3] else ()
        by_more += BY_FILE if of not in ("lifetime", "rss") else ()
        for by in BY[::3] + by_more:
            one_table(data, [path], "hist", of=of, by=by)
            one_table(data, [path], "cdf", of=of, by=by)
        one_table(data, [path], "hist", of=of, sizes="tens")
    for layer in ("calls", "requests") if data.has_ops else ():
        for by in some((BY[0], BY_FILE[2], *BY_OP[:2]), 4):
            one_table(data, [path], "sys", by=by, layer=layer)
            one_table(data, [path], "hist", of="latency", by=by, layer=layer)
    for by in some((BY[1], *BY_FILE[::2], *BY_OP), 5) if data.has_ops else ():
        one_table(data, [path], "time", by=by, interval=0.3)


def choices(data):
    """Parts of the trace."""
    processes = sorted(data.processes.values(), key=lambda p: p.id)
    seconds = (max(p.end_ns or 0 for p in processes) - data.t0) / 1e9
    some = [p for p in processes if p.job is not None] or processes
    middle = some[len(some) // 2]
    early, late = f"{seconds * .3:.6f}", f"{seconds * .6:.6f}"
    program = middle.program or "sh"
    paths = sorted(f.path for f in data.files.values() if f.path and f.kind == "file")
    found = [{"since": early}, {"until": late}, {"since": early, "until": late},
             {"job": middle.job} if middle.job else {}, {"process": middle.id},
             {"phase": middle.phase} if middle.phase else {},
             {"include": [f"command:{program}"]}, {"include": [program]},
             {"exclude": [f"command:*{program}*"]}, {"exclude": [program[0] + "*"]},
             {"include": [f"command:{program}", "command:sh*"], "exclude": ["command:*z*"]},
             {"phases": [f"mine={program}", "other=s*"]},
             {"phases": [f"mine={program}"], "phase": "mine"}]
    if paths:
        path = paths[len(paths) // 2]
        found += [{"include": [f"path:{path}"]}, {"exclude": [f"path:{os.path.dirname(path)}/*"]},
                  {"include": ["path:*.log", "path:" + os.path.basename(path)]},
                  {"include": [os.path.basename(path)[0] + "*"]},
                  {"include": ["path:/*"], "exclude": [f"command:{program}"], "since": early}]
    return [choice for choice in found if choice]


def all_choices(data, path):
    for choice in choices(data):
        for table in TABLES:
            if table in ("hist", "cdf"):
                for of in "latency", "bytes-written", "lifetime", "file-size":
                    one_table(data, [path], table, of=of, **choice)
            elif table != "overview":
                one_table(data, [path], table, **choice)


def classes(data, path):
    """Operations and bytes of intervals by sizes and latencies."""
    for of in "size", "bytes", "latency":
        for interval, sizes in itertools.product((None, "2", "0.3"), (None, "powers", "tens")):
            one_table(data, [path], "time", of=of, interval=interval, sizes=sizes)
        for by in some((*BY, *BY_FILE, *BY_OP) if data.has_ops else ("phase", "job", "job,operation", "class", "all"), 4):
            one_table(data, [path], "time", of=of, by=by)
        for choice in some(choices(data), 4):
            one_table(data, [path], "time", of=of, **choice)


def own_options(data, path):
    for interval in "0.25", "3", "0.001" if len(data.rows["op"]) < 5000 else "0.1":
        one_table(data, [path], "time", interval=interval)
        one_table(data, [path], "time", interval=interval, files=True)
    classes(data, path)
    one_table(data, [path], "mem", memory=10**9, per="job")
    for by in "command", "phase,job", "all":
        one_table(data, [path], "pattern", sizes="powers", by=by)


def shapes(path):
    for table in TABLES:
        if table not in ("hist", "cdf"):
            formats(path, table)
    formats(path, "hist", "--of", "latency")
    formats(path, "cdf", "--of", "rss")
    for table, column, *more in (("io", "read_bytes"), ("io", "sum", "--long"), ("file", "reread"), ("file", "path"), ("sys", "sum_ns"),
                          ("sys", "operation"), ("phase", "jobs"), ("proc", "runtime_ns"),
                          ("handle", "file"), ("errors", "count"), ("run", "mean_ns"), ("run", "mean", "--long"),
                          ("util", "queue_ns"), ("pattern", "random_share"), ("list", "moved_bytes"),
                          ("mem", "rss_bytes"), ("mem", "max", "--long"), ("time", "files")):
        sorting(path, table, column, *more)


# ---- traces ----

SYNTHETIC = {"middle": "--ops 8000 --processes 100 --files 200 --edges 1000 --seed 3",
             "few": "--ops 2000 --processes 3 --files 40 --edges 100 --seed 5",
             "straight": "--ops 5000 --processes 40 --files 100 --edges 500 --seed 7 "
                         "--reads-only-sequential"}
WORKLOAD = """
mkdir "$1"; cd "$1"; printf 'one\\ntwo\\nthree\\n' > a; sort a | tr a-z A-Z > b.part; mv b.part b
cat a b > c; cat < c >> d; head -c 5 c > /dev/null; cat c c a > /dev/null
dd if=/dev/zero of=big bs=5000 count=40 2> /dev/null
dd if=big of=odd bs=3000 count=9 skip=2 2> /dev/null
dd if=/dev/zero of=big bs=700 seek=9 count=3 conv=notrunc 2> /dev/null
(exec 3< big; head -c 10000 <&3 | tail -c 5; cat <&3 | wc -c) > e
cat missing no/thing 2> /dev/null; rm nothing 2> /dev/null; mkdir sub; mkdir sub 2> /dev/null
echo temporary > sub/t; cat sub/t > /dev/null; rm sub/t; ln -s a link
cat link | cat > 'q"u,o te'; true > empty; cat empty; ls -l > list; ln a hard; chmod 600 hard
(echo 1; sh -c 'cat a'; sleep 0.1) > shared; sh -c 'sort big | head -c 3 > f'; rmdir sub
"""
MAKEFILE = "all: one two\none two: ; sh ./workload $@\n"


def synthetic(place, name, options):
    path = str(place / f"{name}.db")
    subprocess.run([sys.executable, TOP / "bench/synthetic.py", path, *options.split()], check=True,
                   stdout=subprocess.DEVNULL, timeout=60)
    return path


def prepare(work):
    """What to run there: two jobs, or one where there is no make."""
    work.mkdir()
    (work / "workload").write_text(WORKLOAD)
    (work / "makefile").write_text(MAKEFILE)
    return ["make", "-s", "-j2"] if shutil.which("make") else ["sh", "./workload", "one"]


def mounted(place, name, *options):
    """The trace of a small workload with operations of many kinds."""
    base = place / name
    base.mkdir()
    words = prepare(base / "work")
    with Mount(*options, base=base) as mount:
        subprocess.run(words, cwd=mount(base / "work"), check=True, timeout=60,
                       stdin=subprocess.DEVNULL, env={**os.environ, "MAKEFLAGS": ""})
    return str(mount.db)


def profiled(place, name, *options):
    base = place / name
    base.mkdir()
    words = prepare(base / "work")
    command = (f"cd {base}/work; {' '.join(words)}; (exit 3); sh -c 'kill -9 $$'; "
               "sh -c 'sort /etc/passwd | tail -n 2; sleep 1.2'")
    return str(Profile(command, *options, base=base, cwd=os.getcwd()).db)


def several(first, second):
    """Two traces that count as one; phases are those of all jobs and not looked at."""
    paths = first, second
    data = Data(*paths)
    for table in "io", "mem", "run", "util", "sys", "pattern", "errors":
        one_table(data, paths, table)
        one_table(data, paths, table, by="command")
        one_table(data, paths, table, by="process")
    for table in "file", "handle", "list":
        one_table(data, paths, table)
    if max(p.end_ns for p in data.processes.values()) - data.t0 < 10**12:
        one_table(data, paths, "time")
        one_table(data, paths, "time", of="bytes", by="command")
    for of in OF:
        one_table(data, paths, "hist", of=of, by="exe")
        one_table(data, paths, "cdf", of=of, by="all")


def real_traces(place):
    """Of mounts, as far as there can be one here."""
    if not os.access("/dev/fuse", os.R_OK | os.W_OK) or not shutil.which("fusermount3"):
        print("no mounts here: real traces of files are not looked at")
        return {}
    found = {}
    for fidelity in "exact", "open":
        if has_fidelity(fidelity):
            found[fidelity] = mounted(place, fidelity, "--fidelity", fidelity)
    return {**found, "no-ops": mounted(place, "no-ops", "--no-ops")}


def pipes_of(place, trace):
    """The same, but all files are pipes."""
    copy = str(place / "pipes.db")
    shutil.copy(trace, copy)
    with contextlib.closing(sqlite3.connect(copy)) as db, db:
        db.execute("UPDATE kinds SET mode = mode & 4095 | 4096")
    return copy


def main():
    place = pathlib.Path(tempfile.mkdtemp(prefix="ftrac-case-"))
    traces = {name: synthetic(place, name, options) for name, options in SYNTHETIC.items()}
    traces.update(real_traces(place))
    traces["procmon"] = profiled(place, "procmon")
    traces["xform"] = profiled(place, "xform", "--xform", "mAdd")
    traces["calls"] = profiled(place, "calls", "--layer", "lib")
    traces["sums"] = profiled(place, "sums", "--layer", "lib", "--detail-above", "1ms")
    traces["pipes"] = pipes_of(place, traces["few"])
    looked = ["pipes", "calls", "sums", *(name for name in ("no-ops",) if name in traces), *some(traces, 2)]
    grouped = one(name for name in ("few", "exact") if name in traces)
    chosen = some((name for name in ("few", "exact", "open", "procmon") if name in traces), 4)
    checks.equal("tables with a second computation", sorted(TABLES), sorted(help_words(WFSTAT, "Tables:")))
    for name, path in traces.items():
        if name not in {*looked, *grouped, *chosen}:
            continue
        data = Data(path)
        plain_tables(data, path)
        totals(name, data, path)
        own_options(data, path)
        for by in BY + BY_FILE if name in ("calls", "sums") else ():
            one_table(data, [path], "hierarchy", by=by)
        if name in grouped:
            all_groups(data, path)
            shapes(path)
        if name in chosen:
            all_choices(data, path)
    for pair in one([("few", "straight"), ("procmon", "middle")]):
        several(*(traces[name] for name in pair))
    for table in TABLES:
        print(f"{table}: {cells[table]} cells compared")
        checks.check(f"{table}: something was compared", cells[table] > 0)
    if not checks.failed:
        shutil.rmtree(place)
    checks.end()


if __name__ == "__main__":
    main()
