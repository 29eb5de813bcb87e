# SPDX-License-Identifier: MIT
"""Traces as they should be and as they should not, made by hand; runs of wfstat on them; and what it
printed as rows.  For the cases of stat/."""
import csv
import errno
import io
import json
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile

from ftractest import Checks, TOP, help_words

sys.path.insert(0, str(TOP / "db"))
import embed

WFSTAT = os.path.abspath(os.environ.get("WFSTAT", "build/dag/wfstat"))
APPLICATION_ID = int(re.search(r"TRACE_FILE_ID (\d+)", (TOP / "base/trace_file.h").read_text())[1])
START_NS = 1700000000 * 10**9
SECOND = 10**9
UNPRIVILEGED = 65534

PLAIN = [name for name in help_words(WFSTAT, "Tables:") if name not in ("hist", "cdf")]
VALUES = ["latency", "read-size", "write-size", "bytes-read", "bytes-written", "lifetime",
          "file-size", "rss"]
TABLES = [[t] for t in PLAIN] + [["time", "--files"]] + [
    [t, "--of", v] for t in ("hist", "cdf") for v in VALUES]
OPTIONS = ["--by", "--per", "--include", "--exclude", "--job", "--process", "--operation",
           "--phase", "--from", "--to", "--sort", "--top", "--format", "--csv", "--tsv", "--json",
           "--raw", "--sql",
           "--strict", "--of", "--svg", "--png", "--gnuplot", "--interval", "--files", "--memory",
           "--sizes", "--help", "--version"]
FORMATS = ["--csv", "--tsv", "--json", "--format=table"]

# Names of files as no sane person has them, and as all others have.
NAMES = ["/a/new\nline", "/a/return\r", "/a/tab\there", '/a/quote"', "/a/comma,", "/a/back\\slash",
         "/a/\\t\\n", b"/a/bad\xff\xfename", "/a/uml\u00e4ut", "/a/\U0001f600", "/a/" + "x" * 3000,
         "", "/a/ ", "/a/\x1b[31mred", "/a/'single'", "/a/plain.dat"]
UNITS = [0, 999, 1000, 99940, 999940, 999960, 999999, 1000000, 999999999, 10**18]
UNITS_BYTES = ["0 B", "999 B", "1.00 kB", "99.9 kB", "999.9 kB", "1.00 MB", "1.00 MB", "1.00 MB",
               "1.00 GB", "1000.0 PB"]
UNITS_NS = ["0 ns", "999 ns", "1.00 us", "99.9 us", "999.9 us", "1.00 ms", "1.00 ms", "1.00 ms",
            "1.00 s", "1000000000.0 s"]

checks = Checks()
base = pathlib.Path(tempfile.mkdtemp(prefix="ftrac-case-"))


# ---- traces ----

def meta(**more):
    return {"start_ns": START_NS, "end_ns": START_NS + SECOND, "complete": 1, "ops_lost": 0,
            "process_events_lost": 0, "ops_recorded": 0, "fidelity": "exact", "host": "h",
            "cpus": 2, "memory_bytes": 8 << 30, "process_tier": "ptrace"} | more


def make(name, fill=None, finish=True, application=APPLICATION_ID, version=1, **more):
    """A trace with these facts, filled by fill(db)."""
    path = base / name
    db = sqlite3.connect(path)
    db.executescript(embed.text(TOP / "db/schema.sql") + embed.text(TOP / "db/views.sql") + embed.text(TOP / "db/steps.sql"))
    db.execute(f"PRAGMA application_id = {application}")
    db.execute(f"PRAGMA user_version = {version}")
    db.executemany("INSERT INTO meta VALUES (?, ?)", meta(**more).items())
    db.executemany("INSERT INTO op_name VALUES (?, ?, NULL)",
                   enumerate(["lookup", "open", "read", "write", "release"]))
    db.execute("INSERT INTO via_name VALUES (0, 'direct')")
    db.execute("INSERT INTO fidelity_name VALUES (0, 'exact')")
    db.execute("INSERT INTO flag_text VALUES (0, 'O_RDONLY')")
    insert(db, "ways", id=1, flags=0, fidelity=0, mapped=0)
    insert(db, "kinds", id=1, dev=1, mode=0o100644)
    if fill:
        fill(db)
    db.execute("INSERT INTO op_times SELECT process, count(*), sum(latency_ns) FROM op WHERE process IS NOT NULL GROUP BY process")
    db.commit()
    if finish:
        db.executescript(embed.ends())
    db.close()
    return str(path)


def insert(db, table, **row):
    db.execute(f"INSERT INTO {table} ({','.join(row)}) VALUES ({','.join('?' * len(row))})",
               list(row.values()))


def add_process(db, number=1, figures=False, job=None):
    """One that runs for a millisecond, with figures if they are asked for."""
    insert(db, "processes", id=number, pid=9 + number, ppid=1, uid=0, gid=0, start_t=number,
           end_t=SECOND // 1000, exit_code=0, image=number, tier=8)
    db.execute("INSERT OR IGNORE INTO path_names VALUES (1, NULL, '/bin/prog')")
    insert(db, "images", id=number, process=number, seq=1, start_t=number, end_t=SECOND // 1000,
           exe=1, cwd=1, comm="prog", argv=json.dumps(["prog", f"it's {number}"]))
    insert(db, "fresh_images", image=number)
    if job:
        insert(db, "environs", image=number, name="FTRAC_JOB", value=job)
    if figures:
        insert(db, "figures", process=number, cpu_ns=500, utime_ns=300, stime_ns=200,
               vmpeak_bytes=8192, rsspeak_bytes=4096)


def add_file(db, number, path, size=10, latency=5):
    """Read once from begin to end by process 1, after one look for a name that is not there."""
    same = {"file": number, "version": 1}
    insert(db, "path_names", id=number, name=path)
    insert(db, "files", id=number, path=number, kind=1, ino=number, size_first=size, state=0)
    insert(db, "handles", id=number, image=1, path=number, way=1, open_t=100, life=800, **same)
    insert(db, "moved", handle=number, nread=1, bread=10, nwrite=0, bwrite=0, read_ns=5, write_ns=0, first_read=100, last_read=0)
    insert(db, "fresh_handles", handle=number, over=1)
    insert(db, "touches", id=number, process=1, path=number, did=0, opens=1, nmeta=0, first_t=100,
           last_t=0, **same)
    insert(db, "ops_handle", id=number, code=2, t=number, latency=latency, handle=number,
           result=10, offset=0)
    insert(db, "ops_name", id=number + 100000, code=0, t=number, latency=5, requester=1, path=number,
           result=-errno.ENOENT)
    insert(db, "missing_names", process=1, path=number, count=1, first_t=5)


def odd(db):
    add_process(db, figures=True, job="it's \"x\"")
    for number, path in enumerate(NAMES, 2):
        add_file(db, number, path)


def units(db):
    add_process(db)
    for number, value in enumerate(UNITS, 2):
        add_file(db, number, f"/u/{number}", value, value)


def one_operation(db):
    add_process(db)
    insert(db, "path_names", id=2, name="/nowhere")
    insert(db, "ops_name", id=1, code=0, t=5, latency=7, requester=1, path=2, result=-errno.ENOENT)


def synthetic(name):
    path = str(base / name)
    subprocess.run([sys.executable, TOP / "bench/synthetic.py", path, "--ops", "3000",
                    "--processes", "40", "--files", "60", "--edges", "300"], check=True,
                   stdout=subprocess.DEVNULL, timeout=60)
    return path


# ---- wfstat ----

def run(*arguments, **more):
    more = {"capture_output": True, "timeout": 60, "cwd": base, "stdin": subprocess.DEVNULL} | more
    try:
        return subprocess.run([WFSTAT, *map(str, arguments)], **more)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(arguments, "no end", b"", b"")


def text(done):
    return done.stderr.decode(errors="replace")


def works(fact, *arguments, status=0, warnings=0, **more):
    """What it prints, of a call that works."""
    done = run(*arguments, **more)
    checks.equal(f"{fact}: exit status", done.returncode, status)
    checks.check(f"{fact}: {warnings} lines on stderr", done.stderr.count(b"\n") == warnings,
                 text(done)[:500])
    return done.stdout


def fails(fact, status, words, *arguments, **more):
    done = run(*arguments, **more)
    checks.equal(f"{fact}: exit status", done.returncode, status)
    checks.equal(f"{fact}: lines", done.stderr.count(b"\n"), 1)
    checks.check(f"{fact}: nothing on stdout", not done.stdout, done.stdout[:200])
    for word in ["wfstat: ", *words]:
        checks.check(f"{fact}: says '{word}'", word in text(done), text(done))


# ---- what it printed, as rows of bytes; what is not known is empty ----

def csv_rows(out):
    rows = csv.reader(io.StringIO(out.decode("latin-1"), newline=""), strict=True)
    return [[cell.encode("latin-1") for cell in row] for row in rows]


def tsv_rows(out):
    escapes = {b"\\t": b"\t", b"\\n": b"\n", b"\\r": b"\r", b"\\\\": b"\\"}

    def plain(cell):
        parts, at = [], 0
        while at < len(cell):
            found = escapes.get(cell[at:at + 2])
            parts.append(found or cell[at:at + 1])
            at += 2 if found else 1
        return b"".join(parts)

    return [[plain(cell) for cell in line.split(b"\t")] for line in out.split(b"\n")[:-1]]


def json_rows(out):
    """With the names of the columns in front, as the others have them."""
    rows = json.loads(out.decode())["rows"]
    return [list(rows[0])] + [list(row.values()) for row in rows] if rows else []


def as_cell(value):
    """A value of SQLite as CSV has it."""
    if value is None:
        return b""
    if isinstance(value, float):
        return b"%.15g" % value
    return value if isinstance(value, bytes) else str(value).encode()


def column(rows, name):
    at = rows[0].index(name)
    return [row[at] for row in rows[1:]]


def run_case(main):
    """The whole of a case."""
    try:
        main()
    finally:
        for place, _, _ in os.walk(base):
            os.chmod(place, 0o755)
        shutil.rmtree(base)
    checks.end()
