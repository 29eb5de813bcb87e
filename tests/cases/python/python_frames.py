# SPDX-License-Identifier: MIT
# seconds: 12
"""The Python package says of a trace what SQLite and wfstat say of it: each value of each view as rows and as DataFrames,
names of any bytes, unknown values, several traces, an empty one and an unfinished one."""
import csv
import html
import json
import os
import pathlib
import sqlite3
import subprocess
import warnings

import stattraces
from ftractest import need_fuse
from hostile import NAMES
from pythonpackage import cells_of, compare_views, ftrac, opened, pandas, raw, record
from stattraces import WFSTAT, base, checks, make, odd, units

WFDAG = os.environ["WFDAG"]
# Writes and reads files of all names, by a program that make starts.
SCRIPT = """
import os, sys
names = [os.fsencode(name) for name in sys.argv[2:]]
if sys.argv[1] == "write":
    for name in names:
        with open(name, "wb") as file:
            file.write(name * 100)
else:
    os.stat(names[0])
    with open("sum", "w") as file:
        file.write(str(sum(len(open(name, "rb").read()) for name in names)))
    open("sum", "rb").read(); os.rename("sum", "total")
    try:
        open("not there")
    except OSError:
        pass
"""


def real_trace(name):
    """By a mount: a make with two recipes, and names of any bytes."""
    work = base / f"work-{pathlib.Path(name).stem}"
    work.mkdir()
    (work / "step.py").write_text(SCRIPT)
    (work / "run.sh").write_text('python3 step.py write "$@"\npython3 step.py read "$@"\n')
    names = [name for name in NAMES if b"/" not in name and name not in (b"-", b"--") and len(name) < 240]
    record(base / name, ["sh", "run.sh", *(b"./" + name for name in names)], work)
    return str(base / name)


def table(program, *words):
    """The CSV of a program: the names of its columns and a dictionary for each row."""
    done = subprocess.run([program, *words], capture_output=True, check=True, timeout=60, stdin=subprocess.DEVNULL)
    return list(csv.DictReader(done.stdout.decode("utf-8", "replace").splitlines()))


def compare_table(fact, frame, rows, columns):
    """Columns of a DataFrame with those of CSV, where what is unknown is empty."""
    checks.check(f"{fact}: rows", len(rows) > 0 and len(rows) == len(frame), f"{len(rows)} {len(frame)}")
    for name in columns:
        kind = {"timedelta64[ns]": "duration", "datetime64[ns, UTC]": "point"}.get(str(frame[name].dtype), "value")
        got = ["" if cell is None else str(cell) for cell in cells_of(frame[name], kind)]
        checks.equal(f"{fact}: {name}", got, [row[name] for row in rows])


def by_wfstat(path):
    trace = opened(path)
    compare_table("wfstat io", trace.steps(), table(WFSTAT, "io", "--csv", path),
                  ["step", "processes", "read_bytes", "written_bytes", "reads", "writes"])
    compare_table("wfstat phase", trace.phases(), table(WFSTAT, "phase", "--csv", path), ["phase", "jobs", "read_bytes"])
    rows = table(WFSTAT, "sys", "--by", "operation", "--csv", path)
    compare_table("wfstat sys", trace.table("sys", by="operation"), rows,
                  ["operation", "count", "failed", "sum_ns", "min_ns", "p50_ns", "p95_ns", "p99_ns", "max_ns"])
    found = trace.quantiles("latency_ns", by="name")
    checks.equal("quantiles: names", sorted(found.index), sorted(row["operation"] for row in rows if row["operation"] != "Total"))
    for row in rows[:-1]:
        for column in "min", "p50", "p95", "p99", "max", "sum":
            checks.equal(f"quantiles: {column} of {row['operation']}", found.loc[row["operation"], column].value,
                         int(row[f"{column}_ns"]))
    compare_table("wfstat proc", trace.table("proc"), table(WFSTAT, "proc", "--csv", path), ["pid", "start_ns", "runtime_ns", "cpu_ns"])
    compare_table("wfdag critical-path", trace.critical_path(), table(WFDAG, "critical-path", "--csv", path),
                  ["start_ns", "time_ns", "via", "process", "slack_ns"])
    table_of_options = trace.table("sys", by=["step", "operation"], operation=["read", "write"])
    checks.equal("options of wfstat", {*table_of_options["operation"].dropna()} - {"Total"}, {"read", "write"})


def choices(path):
    """Columns, conditions, free queries."""
    trace = opened(path)
    wanted = raw(path, "SELECT id, bytes FROM op WHERE bytes >= 100 AND name IN ('read', 'write') AND path2 IS NULL")
    how = {"where": "bytes >= ? OR 0", "values": [100], "name": ["read", "write"], "path2": None}
    frame = trace.frame("op", ["id", "bytes"], **how)
    checks.check("a condition leaves rows", 0 < len(wanted) < len(trace.operations))
    checks.equal("columns and conditions, frame", sorted(zip(frame["id"], frame["bytes"])), sorted(wanted))
    rows = list(trace.rows("op", ["id", "bytes"], **how))
    checks.equal("columns and conditions, rows", sorted((row.id, row.bytes) for row in rows), sorted(wanted))
    answer = trace.sql("SELECT name, count(*) AS n, max(latency_ns) AS latency_ns, avg(latency_ns) AS read_ns, NULL AS x "
                       "FROM op WHERE name <> ? GROUP BY name", ["read"])
    wanted = raw(path, "SELECT name, count(*), max(latency_ns), avg(latency_ns) FROM op WHERE name <> 'read' GROUP BY name")
    checks.equal("sql: values", list(zip(answer["name"], answer["n"], cells_of(answer["latency_ns"], "duration"))),
                 [row[:3] for row in wanted])
    checks.equal("sql: means are whole", cells_of(answer["read_ns"], "duration"), [round(row[3]) for row in wanted])
    checks.check("sql: unknown", answer["x"].isna().all())
    small = trace.quantiles("bytes", by=["name", "process"], q=[0.1, 1], name=["read", "write"])
    for (name, process), row in small.iterrows():
        values = sorted(value for value, in raw(path, "SELECT bytes FROM op WHERE name = ? AND process = ? AND bytes NOTNULL",
                                                (name, process)))
        checks.equal(f"quantiles of bytes of {name} by {process}", (row["count"], row["p10"], row["p100"]),
                     (len(values), values[max(0, -(-len(values) // 10) - 1)], values[-1]))
    joined = trace.quantiles(by="step", sql="SELECT p.step, o.latency_ns FROM op o JOIN process p ON p.id = o.process", q=[1])
    checks.equal("quantiles of a query", {step: row["max"].value for step, row in joined.iterrows()},
                 dict(raw(path, "SELECT p.step, max(latency_ns) FROM op o JOIN process p ON p.id = o.process GROUP BY 1")))


def graphs(path):
    written = json.loads(subprocess.run([WFDAG, "--json", "-o", "-", path], capture_output=True, check=True, timeout=60).stdout)
    graph = opened(path).graph()
    checks.equal("nodes", {name: dict(graph.nodes[name]) for name in graph},
                 {node["id"]: {key: value for key, value in node.items() if key != "id" and value is not None}
                  for node in written["nodes"]})
    edges = [(one, other, {**data, "more": None}) for one, other, data in graph.edges(data=True)]
    edges += [(one, other, {**more, "more": None}) for one, other, data in graph.edges(data=True) for more in data.get("more", [])]
    checks.equal("edges", sorted(map(repr, edges)), sorted(
        repr((edge["source"], edge["target"], {**{key: value for key, value in edge.items() if key not in ("source", "target")
                                                  and value is not None}, "more": None})) for edge in written["edges"]))
    checks.check("there are edges", graph.number_of_edges() > 10)
    checks.check("processes of the graph are those of the trace", set(raw(path, "SELECT id FROM process")) >= {
        (data["trace_id"],) for _, data in graph.nodes(data=True) if data["kind"] == "process"})
    checks.check("a tree has no files", {data["kind"] for _, data in opened(path).graph(tree=True).nodes(data=True)} == {"process"})


def several(first, second):
    """Rows of several stand below each other; the ids are those of each."""
    both = opened(base / "several")
    checks.equal("a directory has its traces", both.paths, sorted([first, second]))
    checks.equal("globs, directories and names, each file once", opened(str(base / "several/*.db"), base / "several", first).paths,
                 both.paths)
    parts = [opened(path).frame("op", ["id", "name", "latency_ns"]) for path in both.paths]
    frame = both.frame("op", ["id", "name", "latency_ns"])
    checks.equal("rows of both", list(zip(frame["id"], frame["name"], frame["latency_ns"])),
                 [row for part in parts for row in zip(part["id"], part["name"], part["latency_ns"])])
    checks.equal("their traces", frame["trace"].value_counts().to_dict(), dict(zip(both.paths, map(len, parts))))
    checks.equal("rows with their trace", {row.trace for row in both.rows("process")}, set(both.paths))
    checks.equal("each alone", [one.facts["start_ns"] for one in both], [opened(path).facts["start_ns"] for path in both.paths])
    counts = both.sql("SELECT count(*) AS n FROM op")
    checks.equal("an answer of each", dict(zip(counts["trace"], counts["n"])), dict(zip(both.paths, map(len, parts))))
    latencies = sorted(value for path in both.paths for value, in raw(path, "SELECT latency_ns FROM op WHERE name = 'read'"))
    row = both.quantiles(q=[0.5]).loc["read"]
    checks.equal("quantiles over both", (row["count"], row["p50"].value), (len(latencies), latencies[(len(latencies) + 1) // 2 - 1]))
    checks.check("tables of both", both.table("overview")["value"].notna().any() and len(both.graph()) > len(opened(first).graph()))
    checks.check("in Jupyter both are listed", all(html.escape(path) in both._repr_html_() for path in both.paths))


def unfinished():
    """One that is being written: its log is a part of it, and nothing is left beside it."""
    path = make("growing.db", odd, finish=False, complete=0)
    writer = sqlite3.connect(path)
    writer.execute("PRAGMA journal_mode = WAL")
    writer.execute("INSERT INTO meta VALUES ('newest', 1)")
    writer.commit()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        trace = ftrac.open(path)
    checks.check("an unfinished trace is warned of", [warning.category for warning in said] == [ftrac.FtracWarning])
    checks.check("and is incomplete", "incomplete" in str(said[0].message) and trace.warnings[0] in trace._repr_html_())
    checks.equal("what is in the log is seen", trace.facts["newest"], 1)
    compare_views(checks, "unfinished", trace)
    try:
        ftrac.open(path, strict=True)
        checks.check("strict=True is an error", False)
    except ftrac.FtracError as error:
        checks.check("strict=True is an error", "incomplete" in str(error))
    checks.equal("the log of the writer is left alone", os.path.exists(path + "-wal"), True)
    writer.execute("INSERT INTO meta VALUES ('newer', 1)")
    writer.commit()
    writer.close()
    left = make("killed.db", odd, finish=False, complete=0)
    subprocess.run(["python3", "-c", "import os, sqlite3, sys; db = sqlite3.connect(sys.argv[1]); db.execute('PRAGMA journal_mode = "
                    "WAL'); db.execute(\"INSERT INTO meta VALUES ('newest', 2)\"); db.commit(); os._exit(0)", left], check=True, timeout=60)
    os.unlink(left + "-shm")
    checks.check("a killed writer leaves its log", os.path.exists(left + "-wal"))
    checks.equal("a log that was left behind is read", opened(left).facts["newest"], 2)
    checks.check("and no index is left beside it", not os.path.exists(left + "-shm") and os.path.exists(left + "-wal"))


def shown(path):
    """HTML and plots."""
    text = opened(make("html.db", odd, command="<script>alert('x')</script> & \"q\"", host=b"h\xff<b>"))._repr_html_()
    checks.check("HTML is escaped", "<script>" not in text and "<b>" not in text and "&lt;script&gt;" in text and r"h\xff" in text, text)
    trace = opened(path)
    try:
        import matplotlib
        matplotlib.use("Agg")
    except ImportError:
        print("no matplotlib here: plots are not drawn")
        return
    for name in "timeline", "bandwidth", "latency", "steps":
        axes = getattr(trace.plot, name)()
        axes.figure.savefig(base / f"{name}.png")
        checks.check(f"{name} is drawn", axes.has_data() and (base / f"{name}.png").stat().st_size > 5000)


def main():
    need_fuse()
    warnings.simplefilter("error")
    (base / "several").mkdir()
    one, two = real_trace("several/one.db"), real_trace("several/two.db")
    checks.check("names of any bytes are there", compare_views(checks, "a mount", opened(one)) > 10000)
    odd_names = [row.path for row in opened(one).rows("file") if row.path and os.fsencode(row.path).decode("utf-8", "replace") != row.path]
    checks.check("names that are not UTF-8 are there", len(odd_names) > 5, odd_names)
    checks.check("such a name can be a condition", all(len(list(opened(one).rows("file", path=path))) == 1 for path in odd_names))
    checks.equal("different names are different groups", opened(one).files.groupby("path").size().max(), 1)
    compare_views(checks, "odd names", opened(make("odd.db", odd)))
    compare_views(checks, "sizes", opened(make("units.db", units)))
    compare_views(checks, "synthetic", opened(stattraces.synthetic("synthetic.db")))
    empty = opened(make("empty.db"))
    compare_views(checks, "empty", empty)
    checks.check("an empty trace has an empty frame", empty.processes.empty and empty.quantiles().empty and not list(empty.rows("op")))
    by_wfstat(one)
    choices(one)
    graphs(one)
    several(one, two)
    unfinished()
    shown(one)
    print(f"pandas {pandas.__version__}")


stattraces.run_case(main)
