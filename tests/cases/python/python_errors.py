# SPDX-License-Identifier: MIT
# seconds: 12
"""The Python package reads no trace that the programs refuse, says so in one line, works without pandas, and can be
installed by pip."""
import os
import shutil
import sqlite3
import subprocess
import sys
import warnings

import stattraces
from ftractest import TOP
from pythonpackage import ftrac, opened, refused
from stattraces import UNPRIVILEGED, base, checks, make, one_operation

# A trace is read without what is not there; the first argument names it.
WITHOUT = """
import sys
for name in sys.argv[1].split(","):
    sys.modules[name] = None
import ftrac
trace = ftrac.open(sys.argv[2])
rows = list(trace.rows("op"))
assert type(rows[0]).__name__ == "Operation" and rows[0].latency_ns == 7 and rows[0].handle is None, rows
assert trace.facts["host"] == "h" and "<table>" in trace._repr_html_()
for use in sys.argv[3:]:
    try:
        exec(use)
        print("worked:", use)
    except ftrac.MissingPackage as error:
        assert isinstance(error, ImportError)
        print(error)
"""


def copy_of(trace, name):
    return str(shutil.copy(trace, base / name))


def changed(trace, name, *statements):
    path = copy_of(trace, name)
    db = sqlite3.connect(path)
    for statement in statements:
        db.execute(statement)
    db.commit()
    db.close()
    return path


def what_is_no_trace(good):
    refused(checks, "no such file", ["missing.db", "No such file"], ftrac.open, base / "missing.db")
    (base / "nothing").mkdir()
    refused(checks, "a directory without traces", ["no trace in the directory"], ftrac.open, base / "nothing")
    refused(checks, "a glob without files", ["no file matches"], ftrac.open, str(base / "x*.nothing"))
    refused(checks, "no trace at all", ["no trace is given"], ftrac.open, [])
    text = base / "text.db"
    text.write_text("no database, but long enough to be looked at\n" * 50)
    refused(checks, "a text", ["no trace"], ftrac.open, text)
    sqlite3.connect(base / "other.db").execute("CREATE TABLE x (y)").connection.commit()
    refused(checks, "another database", ["is no trace"], ftrac.open, base / "other.db")
    refused(checks, "a newer format", ["newer format"], ftrac.open, changed(good, "newer.db", "PRAGMA user_version = 99"))
    refused(checks, "virtual tables", ["virtual tables"], ftrac.open,
            changed(good, "virtual.db", "CREATE VIRTUAL TABLE v USING fts5(a)"))
    cut = copy_of(good, "cut.db")
    os.truncate(cut, 8192)
    refused(checks, "a part of a trace", ["damaged"], lambda: list(ftrac.open(cut).rows("process")))
    os.mkfifo(base / "fifo.db")
    refused(checks, "a FIFO", ["it is no file"], ftrac.open, base / "fifo.db")


def hostile_views(good):
    """What a view of a trace may not do."""
    for name, call in ("load", "load_extension('x')"), ("token", "fts3_tokenizer('x')"):
        path = changed(good, f"{name}.db", "DROP VIEW ghost", f"CREATE VIEW ghost AS SELECT 1 AS process, {call} AS path")
        refused(checks, f"a view that calls {name}", [name[:4]], lambda path=path: list(opened(path).rows("ghost")))
    path = changed(good, "kinds.db", "DROP VIEW sample", "CREATE VIEW sample AS SELECT 1 AS process, 'x' AS t_ns, 1.5 AS rss_bytes, "
                   "2 AS cpu_ns")
    refused(checks, "a time that is a text", ["t_ns", "another kind", "x"], opened(path).frame, "sample")
    refused(checks, "bytes that are no integer", ["rss_bytes", "1.5"], opened(path).frame, "sample", ["rss_bytes"])
    trace = opened(good)
    refused(checks, "another database cannot be attached", ["authorized"], trace.sql, f"ATTACH '{base}/other.db' AS o")
    for statement in "DELETE FROM meta", "DROP VIEW op", "CREATE TABLE x (y)":
        refused(checks, f"{statement}: a trace is only read", ["cannot read"], trace.sql, statement)


def owners(good):
    """Whose traces are read; only root can make one of another user."""
    if os.geteuid() != 0:
        print("not root: traces of other users are not made")
        return
    foreign = copy_of(good, "foreign.db")
    os.chown(foreign, UNPRIVILEGED, UNPRIVILEGED)
    refused(checks, "a trace of another user", ["another user", "foreign=True"], ftrac.open, foreign)
    checks.equal("foreign=True reads it", len(opened(foreign, foreign=True).sql("SELECT 1 AS one")), 1)
    os.environ["SUDO_UID"] = str(UNPRIVILEGED)
    checks.equal("under sudo the user's traces are read", opened(foreign).facts["host"], "h")
    del os.environ["SUDO_UID"]
    beside = copy_of(good, "beside.db")
    (base / "beside.db-wal").write_bytes(b"")
    os.chown(base / "beside.db-wal", UNPRIVILEGED, UNPRIVILEGED)
    refused(checks, "a log of another user", ["beside.db-wal", "another user"], ftrac.open, beside, foreign=True)


def wrong_arguments(good):
    trace = opened(good)
    refused(checks, "no such view", ["no view 'opp'", "access"], trace.frame, "opp")
    refused(checks, "no such column", ["no column 'latency'", "latency_ns"], trace.frame, "op", ["latency"])
    refused(checks, "no such column of a condition", ["no column 'nme'"], lambda: list(trace.rows("op", nme="read")))
    refused(checks, "a condition that is no SQL", ["syntax error"], trace.frame, "op", where="bytes >")
    refused(checks, "too few values", ["cannot read"], trace.frame, "op", where="bytes > ?")
    refused(checks, "no columns", ["no column"], trace.frame, "op", [])
    refused(checks, "a query that is no SQL", ["syntax error"], trace.sql, "SELEC 1")
    refused(checks, "a quantile above 1", ["quantile"], trace.quantiles, q=[95])
    refused(checks, "quantiles of texts", ["not of integers"], trace.quantiles, of="path")
    refused(checks, "no such engine", ["no engine 'spark'"], ftrac.open, good, engine="spark")
    refused(checks, "a scheduler without dask", ["engine='dask'"], ftrac.open, good, scheduler="threads")
    refused(checks, "no such table of wfstat", ["wfstat"], trace.table, "tables")
    refused(checks, "no such option of wfdag", ["wfdag"], trace.graph, nonsense=1)
    refused(checks, "no such view for Parquet", ["Parquet" if not parquet_there() else "opp"], trace.to_parquet, base / "p", ["opp"])
    both = opened(good, copy_of(good, "second.db"))
    refused(checks, "facts of two traces", ["iterate"], lambda: both.facts)


def parquet_there():
    try:
        from ftrac import parquet
        return parquet.engine()
    except ftrac.MissingPackage as error:
        checks.check("without pyarrow the error names it", "pip install pyarrow" in str(error))
        return None


def without_packages(good):
    uses = ["trace.processes", "trace.graph()", "trace.plot.timeline()", "trace.to_parquet('x')", "ftrac.open(sys.argv[2], engine='dask')"]
    done = subprocess.run([sys.executable, "-c", WITHOUT, "pandas,networkx,matplotlib,dask,pyarrow,fastparquet,numpy", good, *uses],
                          capture_output=True, text=True, timeout=120, check=False, env={**os.environ, "PYTHONPATH": str(TOP / "python")})
    lines = done.stdout.splitlines()
    checks.equal("without packages: a line each", (len(lines), done.stderr[-500:]), (len(uses), ""))
    for line, words in zip(lines, ("apt install python3-pandas", "apt install python3-networkx", "apt install python3-matplotlib",
                                   "pip install pyarrow", "apt install python3-dask")):
        checks.check(f"without packages: '{words}' is in the error", words in line, line)


def installed(good):
    """By pip, into a directory, without a network."""
    source = shutil.copytree(TOP / "python", base / "source", ignore=shutil.ignore_patterns("build", "*.egg-info", "__pycache__"))
    done = subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--no-index", "--no-build-isolation", "--no-deps",
                           "--target", base / "installed", source], capture_output=True, text=True, timeout=300, check=False,
                          env={**os.environ, "PIP_ROOT_USER_ACTION": "ignore", "PIP_DISABLE_PIP_VERSION_CHECK": "1"})
    checks.equal("pip installs it", (done.returncode, done.stderr[-1000:] if done.returncode else ""), (0, ""))
    there = {path.name for path in (base / "installed" / "ftrac").glob("*") if path.is_file()}
    checks.equal("all its files are installed", there, {path.name for path in (TOP / "python" / "ftrac").glob("*") if path.is_file()})
    done = subprocess.run([sys.executable, "-c", "import ftrac, sys; print(ftrac.__file__, len(list(ftrac.open(sys.argv[1]).rows('op'))))",
                           good], capture_output=True, text=True, timeout=60, check=False, cwd="/",
                          env={**os.environ, "PYTHONPATH": str(base / "installed")})
    checks.equal("and works from there", done.stdout.strip(), f"{base}/installed/ftrac/__init__.py 1")


def main():
    warnings.simplefilter("error")
    good = make("good.db", one_operation)
    checks.equal("the good one is read", [row.name for row in opened(good).rows("op")], ["lookup"])
    what_is_no_trace(good)
    hostile_views(good)
    owners(good)
    wrong_arguments(good)
    without_packages(good)
    installed(good)


stattraces.run_case(main)
