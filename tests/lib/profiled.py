# SPDX-License-Identifier: MIT
"""What every case of procmon needs: a command run under it, and the trace of that."""
import json
import os
import pathlib
import shutil
import sqlite3
import subprocess
import tempfile

PROCMON = os.environ.get("PROCMON", "build/procmon/procmon")
TIMEOUT = 300

# Both ways to follow a command.
WAYS = "ptrace", "connector"


class Profile:
    """A command under procmon, when it has ended; used by 'with'.

    status, out, err   of procmon
    db                 the trace
    """

    def __init__(self, command, *options, prefix=(), base=None, **more):
        self.base = pathlib.Path(base or tempfile.mkdtemp(prefix="ftrac-case-"))
        self.owned = base is None
        self.base.chmod(0o777)
        self.db = self.base / "trace.db"
        if isinstance(command, str):
            command = ["sh", "-c", command]
        done = subprocess.run([*prefix, PROCMON, "--db", str(self.db), *options, "--", *command],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=TIMEOUT, cwd=more.pop("cwd", self.base), **more)
        self.status, self.out, self.err = done.returncode, done.stdout, done.stderr

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if self.owned and not kind:
            shutil.rmtree(self.base)

    def sql(self, query, *values):
        db = sqlite3.connect(f"file:{self.db}?mode=ro", uri=True)
        db.text_factory = lambda b: b.decode(errors="surrogateescape")
        db.row_factory = sqlite3.Row
        try:
            return db.execute(query, values).fetchall()
        finally:
            db.close()

    def value(self, query, *values):
        return self.sql(query, *values)[0][0]

    def fact(self, key):
        return self.value("SELECT value FROM trace WHERE key = ?", key)

    def processes(self, where="1"):
        return self.sql(f"SELECT * FROM process WHERE {where} ORDER BY id")

    def images(self, where="seq > 0"):
        """Program and arguments of each."""
        return [(row["exe"], tuple(json.loads(row["argv"])) if row["argv"] else None)
                for row in self.sql(f"SELECT * FROM image WHERE {where} ORDER BY id")]

    def edges(self):
        """(what the parent ran when it forked, what the child ran in the end), for every process
        but the first: a tree without numbers."""
        return sorted((row[0] or "", row[1] or "") for row in self.sql(
            "SELECT (SELECT command FROM image i WHERE i.process = p.parent "
            "AND i.start_ns <= p.start_ns ORDER BY i.seq DESC LIMIT 1), p.command "
            "FROM process p WHERE p.parent IS NOT NULL"))


def whole(checks, way, profile):
    """Checks any profile: nothing was lost, and the database is sound."""
    checks.equal(f"{way}: complete", profile.fact("complete"), 1)
    checks.equal(f"{way}: process events lost", profile.fact("process_events_lost"), 0)
    checks.equal(f"{way}: tier", profile.fact("process_tier").split("+")[0], way)
    checks.equal(f"{way}: integrity", profile.value("PRAGMA integrity_check"), "ok")
    checks.equal(f"{way}: end without a start, or before it", profile.value(
        "SELECT count(*) FROM process WHERE start_ns IS NULL OR end_ns < start_ns"), 0)
    checks.equal(f"{way}: overlapping images", profile.value(
        "SELECT count(*) FROM image a JOIN image b USING (process) "
        "WHERE b.seq = a.seq + 1 AND a.end_ns > b.start_ns"), 0)


def available(way):
    """Whether it can be had here."""
    done = subprocess.run([PROCMON, "--check"], capture_output=True, text=True, timeout=60)
    return any(line.split()[:2] == [way, "yes"] for line in done.stdout.splitlines())
