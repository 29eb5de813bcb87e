#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What rows of wfstat count: parts add up to the whole, and a note names what is counted more than once; the time in
traced operations is that of all kinds.  Of a script with a process that ran several programs, one that used no file, and
a file that was only made."""
import json
import os
import pathlib
import sqlite3
import subprocess
import tempfile

from ftractest import Checks, need_fuse
from workflows import traced

WFSTAT = os.path.abspath(os.environ.get("WFSTAT", "build/dag/wfstat"))
SCRIPT = """\
sh -c 'read x < a; exec cat a' > b
mkdir d && ln a d/a && rm d/a && touch d/made
for i in 1 2 3; do cat a > c$i; done
(sleep 0; true)
"""
SIDES = "ro", "wo", "rw", "none"
checks = Checks()


def table(db, *words):
    done = subprocess.run([WFSTAT, *words, "--format", "json", db], capture_output=True, text=True, timeout=60, check=False)
    checks.equal(f"{words}: status", done.returncode, 0)
    return json.loads(done.stdout)


def phases(db, processes, files):
    rows = table(db, "phase")["rows"]
    parts, total = rows[:-1], rows[-1]
    checks.equal("phase: the last row is the total", total["phase"], "Total")
    for side in SIDES:
        checks.equal(f"phase: processes {side}", sum(row[f"processes_{side}"] for row in parts), total[f"processes_{side}"])
    checks.equal("phase: processes in all", sum(total[f"processes_{side}"] for side in SIDES), processes)
    checks.check("phase: some that used no file", total["processes_none"] > 0, total)
    checks.equal("phase: files in all", sum(total[f"files_{side}"] for side in SIDES), files)
    checks.equal("phase: files that neither was read nor written", total["files_none"], 0)


def programs(db, processes):
    said = table(db, "io", "--long", "--by", "command")
    counts = sum(row["count"] for row in said["rows"] if row["value"] == "read_bytes")
    checks.check(f"io: {counts} counts of {processes} processes", counts > processes)
    checks.check("io: a note says so", any(f"{counts} counts of {processes} processes" in note for note in said["notes"]),
                 said["notes"])
    for words in ["io"], ["mem"], ["run"], ["util"]:
        checks.check(f"{words}: what is counted", any(note.startswith("count:") for note in table(db, *words, "--long")["notes"]))


def traced_io(db, spent):
    rows = table(db, "util", "--long", "--by", "phase")["rows"]
    checks.equal("util: time in traced operations", sum(row["traced_io_ns"] for row in rows), spent)


def main():
    need_fuse()
    with tempfile.TemporaryDirectory(prefix="ftrac-populations-") as directory:
        base = pathlib.Path(directory)
        db, work = base / "trace.db", base / "work"
        work.mkdir()
        (work / "a").write_text("2\n1\n")
        checks.equal("it is traced", traced(db, ["sh", "-c", SCRIPT], work, status=None).returncode, 0)
        with sqlite3.connect(f"file:{db}?mode=ro", uri=True) as trace:
            processes, = trace.execute("SELECT count(*) FROM process").fetchone()
            files, = trace.execute("SELECT count(DISTINCT a.file) FROM access a JOIN file f ON f.id = a.file WHERE f.kind = 'file' "
                                   "AND (a.opens > 0 OR a.executed OR a.created OR a.nread > 0 OR a.nwrite > 0)").fetchone()
            spent, = trace.execute("SELECT sum(latency_ns) FROM op WHERE process IS NOT NULL").fetchone()
        trace.close()
        phases(db, processes, files)
        programs(db, processes)
        traced_io(db, spent)
    checks.end()


main()
