#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The operations of each interval, as a run has counted them: the views metric, metric_latency and metric_size say the same as single
operations, by operation, file system, mount and phase, in traces of mounts and of system calls, in several as one, and without single
operations; and wfstat time --by and --of say the same from both."""
# seconds: 20
import collections
import os
import pathlib
import shutil
import sqlite3
import subprocess
import tempfile

from ftractest import Checks, WORK, kernel_refuses, need_fuse
from workflows import traced

checks = Checks()
WFSTAT = os.environ.get("WFSTAT", "build/dag/wfstat")
JOB = """\
for i in 1 2 3; do seq 2000 > in.$i; sort in.$i > out.$i; cat in.$i out.$i | wc -l > count.$i; done
cat nothing; mkdir d; mv in.1 d/one; ln d/one two; ls -l . d > list; rm in.2; sleep 1.1
python3 -c "
import os
f = os.open('sizes', os.O_RDWR | os.O_CREAT)
for power in range(18):
    os.pwrite(f, b'x' * (1 << power), 0)
    os.pread(f, (1 << power) - 1, 0)
os.ftruncate(f, 7)
os.symlink('sizes', 'link')
"
cp list copy; head -c 100 copy > part; exit 0
"""
WAYS = {"mount": [], "kernel": ["--files", "kernel", "--scope", "dir"], "full": ["--files", "kernel", "--scope", "full"],
        "both": ["--files", "both", "--fidelity", "call"]}
KEYS = ("fstype", "mount", "operation", "phase")


def class_of(value):
    return 0 if value <= 0 else 1 << value.bit_length() - 1


def counted(ops):
    """key -> what view metric says of these operations; and the same of the classes of metric_latency and metric_size"""
    sums, latencies, sizes = {}, collections.Counter(), collections.Counter()
    for key, data, latency, result in ops:
        count, errors, moved, time = sums.get(key, (0, 0, None, 0))
        moved = moved if data is None else (moved or 0) + data
        sums[key] = count + 1, errors + (result < 0), moved, time + latency
        latencies[key, class_of(latency)] += 1
        if data is not None:
            sizes[key, class_of(data)] += 1
    return sums, dict(latencies), dict(sizes)


def of_intervals(trace, view, columns):
    rows = trace.execute(f"SELECT {', '.join(KEYS)}, {columns} FROM {view} GROUP BY {', '.join(KEYS)}"
                         f"{', 5' if view != 'metric' else ''}").fetchall()
    return {row[:4] if view == "metric" else (row[:4], row[4]): row[4:] if view == "metric" else row[5] for row in rows}


def compare(what, trace):
    """Sums over intervals, with single operations."""
    ops = trace.execute("""SELECT f.fstype, f.mount, o.name, p.phase, o.bytes, o.latency_ns, o.result FROM op o
        LEFT JOIN file f ON f.id = o.file LEFT JOIN process p ON p.id = o.process""").fetchall()
    sums, latencies, sizes = counted([(row[:4], *row[4:]) for row in ops])
    checks.check(f"{what}: there are many operations, of many kinds", len(ops) > 100 and len(sums) > 20, (len(ops), len(sums)))
    checks.equal(f"{what}: metric", of_intervals(trace, "metric", "sum(count), sum(errors), sum(bytes), sum(latency_ns)"), sums)
    checks.equal(f"{what}: metric_latency", of_intervals(trace, "metric_latency", "bucket_ns, sum(count)"), latencies)
    checks.equal(f"{what}: metric_size", of_intervals(trace, "metric_size", "bucket_bytes, sum(count)"), sizes)
    intervals = trace.execute("""SELECT count(*), sum(t_ns > first_ns OR first_ns >= t_ns + interval_ns) FROM process_metric""").fetchone()
    checks.check(f"{what}: each row begins in its interval", intervals[0] > 20 and intervals[1] == 0, intervals)
    checks.equal(f"{what}: no combination has two rows", trace.execute("""SELECT count(*) FROM (SELECT 1 FROM metric
        GROUP BY t_ns, fstype, mount, operation, phase HAVING count(*) > 1)""").fetchone()[0], 0)
    checks.equal(f"{what}: latencies of metric are those of metric_latency", trace.execute("""SELECT sum(CAST(e.value AS INTEGER)),
        sum(CAST(e.key AS INTEGER) * e.value) FROM metric m, json_each(m.latencies) e""").fetchone(),
        trace.execute("SELECT sum(count), sum(bucket_ns * count) FROM metric_latency").fetchone())


def time_by(db, *options):
    return subprocess.run([WFSTAT, "time", "--csv", *options, *map(str, db)], check=True, capture_output=True, text=True).stdout


BY = [["operation"], ["fstype,mount"], ["phase"], ["phase,operation", "--interval", "2"], ["class,job", "--from", "1", "--to", "2"],
      ["process,operation"], ["operation", "--operation", "read", "--operation", "write"], ["operation", "--phase", "sort"],
      ["xform", "--interval", "0.5"], ["command,operation"], ["operation", "--include", "path:out.*"], ["all"]]


def compare_tables(what, db, base):
    """With sums, and with the operations alone."""
    plain = base / "plain.db"
    shutil.copy(db, plain)
    with sqlite3.connect(plain) as trace:
        trace.execute("DELETE FROM metrics")
    lines = 0
    for by, *options in BY:
        table = time_by([db], "--by", by, *options)
        lines += table.count("\n") - 1
        checks.equal(f"{what}: time --by {by} {' '.join(options)}", table, time_by([plain], "--by", by, *options))
    checks.check(f"{what}: tables have rows", lines > 200, lines)


def classes(db, of, *options):
    """time --of, with --by operation,phase; in rows of text."""
    return [line.split(",") for line in time_by([db], "--by", "operation,phase", "--of", of, *options).splitlines()]


def compare_classes(what, db, base):
    """Operations by sizes and latencies: with sums, and with the operations alone; those by powers of ten add up to the same."""
    plain = base / "plain.db"
    for of in "size", "latency":
        for options in [], ["--interval", "3"], ["--from", "1", "--to", "2"], ["--phase", "sort"], ["--operation", "read"]:
            rows = classes(db, of, *options)
            checks.equal(f"{what}: time --of {of} {' '.join(options)}", rows, classes(plain, of, *options))
            checks.check(f"{what}: time --of {of} {' '.join(options)} has rows", len(rows) > 1 or "--from" in options, len(rows))
        sums = [collections.Counter() for _ in range(2)]
        for sum_, sizes in zip(sums, ("powers", "tens")):
            for row in classes(db, of, "--sizes", sizes)[1:]:
                sum_[tuple(row[:3])] += int(row[5])
        checks.equal(f"{what}: time --of {of}: powers of ten have as many", *sums)
    moved, whole = collections.Counter(), collections.Counter()
    for row in classes(db, "bytes")[1:]:
        checks.check(f"{what}: bytes of {row[:5]} are within its bounds", int(row[3]) * int(row[5]) <= int(row[6]) <=
                     (int(row[4]) - 1) * int(row[5]), row)
        moved[tuple(row[:3])] += int(row[6])
    for line in time_by([db], "--by", "operation,phase").splitlines()[1:]:
        row = line.split(",")
        whole[tuple(row[:3])] += int(row[4] or 0)
    checks.equal(f"{what}: time --of bytes: those of time --by", +moved, +whole)


def without_operations(base, work):
    """What was counted, and nothing else."""
    traced(base / "none.db", ["sh", "job.sh"], work, "--no-ops")
    with sqlite3.connect(base / "none.db") as trace:
        facts = trace.execute("SELECT (SELECT value FROM trace WHERE key = 'ops_recorded'), (SELECT count(*) FROM op)").fetchone()
        checks.equal("--no-ops: metric has all of them", trace.execute("SELECT sum(count) FROM metric").fetchone()[0], facts[0])
        checks.check("--no-ops: there are some, and no rows", facts[0] > 100 and facts[1] == 0, facts)
        checks.equal("--no-ops: operations of each process", trace.execute("""SELECT process, sum(count), sum(latency_ns) FROM process_metric
            WHERE process NOTNULL GROUP BY 1 ORDER BY 1""").fetchall(),
            trace.execute("SELECT id, ops, ops_ns FROM process WHERE ops > 0 ORDER BY 1").fetchall())
        sums = trace.execute("SELECT operation, sum(count) FROM metric GROUP BY 1").fetchall()
    table = time_by([base / "none.db"], "--by", "operation", "--interval", "1000", "--columns", "operation,operations")
    checks.equal("--no-ops: wfstat time --by", sorted(tuple(line.split(",")) for line in table.splitlines()[1:]),
                 sorted((name, str(n)) for name, n in sums))
    plain_table(base / "none.db")


def plain_table(db):
    """time without --by and without operations: it says what the views do."""
    rows = [line.split(",") for line in time_by([db]).splitlines()]
    at = [rows[0].index(name) for name in ("from_s", "operations", "read_bytes", "written_bytes", "files")]
    with sqlite3.connect(db) as trace:
        wanted = trace.execute("""SELECT (t_ns - (SELECT value FROM trace WHERE key = 'start_ns')) / 1000000000, sum(count),
            coalesce(sum(bytes) FILTER (WHERE operation = 'read'), 0), coalesce(sum(bytes) FILTER (WHERE operation = 'write'), 0)
            FROM metric GROUP BY 1""").fetchall()
        counts = trace.execute("""SELECT operation, bucket_bytes, sum(count) FROM metric_size GROUP BY 1, 2 ORDER BY 1, 2""").fetchall()
    got = [[row[i] for i in at] for row in rows[1:] if row[at[1]] != "0"]
    checks.equal("--no-ops: wfstat time", got, [[*map(str, row), ""] for row in wanted])
    checks.check("--no-ops: wfstat time has seconds with reads and writes", any(int(row[2]) and int(row[3]) for row in got), got)
    table = time_by([db], "--of", "size", "--interval", "1000", "--columns", "operation,least_bytes,operations")
    checks.equal("--no-ops: wfstat time --of size", sorted(tuple(line.split(",")) for line in table.splitlines()[1:]),
                 sorted((name, str(least), str(n)) for name, least, n in counts))


def differences(sums, ops):
    return f"SELECT (SELECT count(*) FROM ({sums})), (SELECT count(*) FROM ({sums} EXCEPT {ops})), (SELECT count(*) FROM ({ops} EXCEPT {sums}))"


OPS = """(SELECT f.fstype, f.mount, o.name AS operation, p.phase, o.bytes, o.latency_ns, o.result FROM op o LEFT JOIN file f ON f.id = o.file
    LEFT JOIN process p ON p.id = o.process)"""
BOTH = ["SELECT fstype, mount, operation, phase, sum(count), sum(errors), sum(bytes), sum(latency_ns) FROM metric GROUP BY 1, 2, 3, 4",
        f"SELECT fstype, mount, operation, phase, count(*), sum(result < 0), sum(bytes), sum(latency_ns) FROM {OPS} GROUP BY 1, 2, 3, 4"]


def merged(traces):
    """Several traces as one."""
    done = subprocess.run([WORK / "rows", differences(*BOTH), *traces], check=True, capture_output=True, text=True)
    rows, *others = map(int, done.stdout.split())
    checks.check(f"{len(traces)} traces as one: metric has many rows", rows > 50, rows)
    checks.equal(f"{len(traces)} traces as one: rows that only metric or only single operations have", others, [0, 0])
    checks.check(f"{len(traces)} traces as one: time --by", time_by(traces, "--by", "operation").count("\n") > 20)


def main():
    need_fuse()
    with tempfile.TemporaryDirectory(prefix="ftrac-metrics-") as directory:
        base = pathlib.Path(directory)
        traces = []
        for way in WAYS if not kernel_refuses() else ["mount"]:
            work = base / way
            work.mkdir()
            (work / "job.sh").write_text(JOB)
            traces.append(base / f"{way}.db")
            traced(traces[-1], ["sh", "job.sh"], work, *WAYS[way])
            with sqlite3.connect(traces[-1]) as trace:
                compare(way, trace)
            compare_tables(way, traces[-1], base)
            compare_classes(way, traces[-1], base)
        without_operations(base, work)
        merged(traces)
    checks.end()


main()
