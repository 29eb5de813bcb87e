# SPDX-License-Identifier: MIT
"""Traces that are not as they should be, and commands that read them.  For hostile_traces.py, hostile_names.py and
valgrind.py."""
import os
import shutil
import sqlite3

from dagtraces import exports
from ftractest import FTRAC, help_words

WFSTAT = os.path.abspath(os.environ.get("WFSTAT", "build/dag/wfstat"))
WFDAG = os.path.abspath(os.environ.get("WFDAG", "build/dag/wfdag"))

# hist and cdf need --of; without a longer interval, time refuses a run of many years.
STAT = [*(table for table in help_words(WFSTAT, "Tables:") if table not in ("hist", "cdf", "time")), "",
        "io --by directory", "io --by phase --per job", "run --by env:X", "sys --by process", "file --csv", "proc --json",
        "time --interval 4e9", "time --by operation --interval 4e9", "hist --of latency --by class --sizes tens", "sys --layer calls", "time --files --interval 4e9", "time --of bytes --interval 4e9", "time --of latency --sizes tens --by process --interval 4e9", "hist --of latency", "hist --of file-size", "cdf --of bytes-read",
        "hist --of lifetime", "overview whole.db", "--darshan"]
DAG = [*help_words(WFDAG, "Analyses, as a table:"), *(f"--{name}" for name, drawn in exports().items() if not drawn),
       "whatif --cores 2 --jobs 3 --faster *=2x", "--json --all --metadata --ghosts",
       "--tree --dot", "--fold --all --dot --width rate", "--reduce --graphml",
       "--csv --group-by command --pipes node", "--json --group-by ranks", "--gml --precedence --pipes edge", "--dot --max-nodes 3 --width time",
       "generate --make", "generate --ninja", "generate --snakemake", "generate --wfformat",
       "generate --dagman", "generate --dask", "generate --cwl", "generate --pegasus", "generate --dax",
       "generate --wfformat --level process", "changes --all --temporary", "changes --json", "changes --in-toto", "check --all", "check --sarif", "check --markdown", "check --github --all", "check --kinds missing,ghost", "diff whole.db", "diff --markdown whole.db whole.db --",
       "diff --data --all --format json whole.db"]
MERGE = ["merge --force -o merged.out", "merge --force --no-ops --same /=/tmp -o without.out whole.db", "redact --force -o redacted.out --map redacted.map --keep *a* --shift-times",
         "replay --prepare-only --directory load.out"]
COMMANDS = [[WFSTAT, *line.split()] for line in STAT] + [[WFDAG, *line.split()] for line in DAG]
WFREPORT = os.path.abspath(os.environ.get("WFREPORT", "build/dag/wfreport"))
if os.path.exists(WFREPORT):
    COMMANDS += [[WFREPORT, "-o", "-"], [WFREPORT, "--perfetto"], [WFREPORT, "--diff", "-o", "-", "whole.db"]]
else:
    print("wfreport was not built: it is left out")
COMMANDS += [[os.path.abspath(FTRAC), *line.split()] for line in MERGE] + [[os.path.abspath(FTRAC), "top", "--batch"]]
DEEP_COMMANDS = [[WFSTAT], [WFDAG, "critical-path", "--top", "3"], [WFDAG, "--tree", "--json"],
                 [WFDAG, "generate", "--make"], [WFDAG, "makespan"], [WFDAG, "generate", "--wfformat"],
                 [WFDAG, "--dot", "--include", "command:make"], [WFDAG, "--speedscope"], [WFDAG, "--rocrate"], [WFDAG, "--collapsed"], [WFDAG, "diff", "whole.db"]]

# Names with each byte, and names with a meaning for shells, make, XML, SQL, gnuplot, terminals or options.
NAMES = [b"c" + bytes(b for b in range(first, first + 16) if b not in b"\0/") for first in range(0, 256, 16)] + [
    b" ", b" a ", b"'", b'"', b"it's", b'quo"te', b"\\", b"back\\slash\\", b"\\n\\x41\\0", b"new\nline", b"\n", b"\r\n", b"\t", b"\x7f",
    b"$(id)", b"${x}", b"$$", b"`id`", b";id", b"|", b"&", b"&&", b"<x", b">x", b"*", b"?", b"[a]", b"{x}", b"{{", b"~root", b"#x",
    b"%s%n%99999999d", b"%", b"%%", b"-", b"--", b"-rf", b"--help", b"--db=x", b"@x", b"+x", b"=", b"a=b", b":", b"a:b", b"SHELL", b"all",
    b"include", b".PHONY", b"MAKEFLAGS", b"-lm", b"$(MAKE)", b"\xff", b"\xff" * 200, b"a\xc3", b"\xc0\xaf", b"\xed\xa0\x80",
    b"\xf4\x90\x80\x80", "\u00e9".encode() * 120, "\u202e\u0085\u2028\ufeff".encode(), "\ufffe\uffff".encode(),
    "\U0001f600".encode(), b"n" * 240, b"<b>&amp;", b"]]>", b"<!--", b"END_OF_DATA", b"a,b;c", b"=1+1", b"null", b"-1", b"1e999",
    b"\x1b[31m\x1b]0;x\x07", b" (deleted)", b"a b (deleted)", b"''; DROP TABLE meta; --", b"path:*", b"p1", b"f1"]

VALUES = [0, 1, -1, 2**31, -2**31, 2**53, 2**62, 2**63 - 1, -2**63, 1.5, -1e300, 1e300, float("inf"), "", "x",
          "-5", "'", "\0", "a" * 5000, b"\xff\xfe", b"", None, "[]", '{"a":1}', '[1,null,{"a":[]}]', "[[[[", "/",
          "../..", "\n", 'a\nb"c', "%s%n", "*"]


def damage_pages(good, rng):
    """Bytes, runs of bytes, and sometimes the end, are others."""
    bytes_ = bytearray(good)
    for _ in range(rng.choice([1, 5, 20, 100])):
        at = rng.randrange(len(bytes_) if rng.random() < 0.7 else 4096)
        length = rng.choice([1, 1, 1, 4, 8, 100, 4096])
        length = min(length, len(bytes_) - at)
        bytes_[at:at + length] = bytes([rng.randrange(256)]) * length
    if rng.random() < 0.1:
        del bytes_[rng.randrange(len(bytes_)):]
    return bytes_


def damage_values(path, rng):
    """Values of some columns, in a row or in all, are others."""
    db = sqlite3.connect(path, isolation_level=None)
    tables = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
    for _ in range(rng.choice([1, 2, 5, 30])):
        table = rng.choice(tables)
        columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
        column = "value" if table == "meta" else rng.choice(columns)
        row = rng.randrange(9)
        which = f"LIMIT 1 OFFSET {row}" if rng.random() < 0.6 else ""
        try:
            db.execute(f"UPDATE {table} SET {column} = ? WHERE {columns[0]} IN "
                       f"(SELECT {columns[0]} FROM {table} {which})", (rng.choice(VALUES),))
        except sqlite3.Error:
            pass # an id that is no number, or is there already
    db.close()


def make_deep(whole, path, n):
    """n processes more, each the child of the one before."""
    shutil.copy(whole, path)
    db = sqlite3.connect(path)
    top, image = (db.execute(f"SELECT max(id) FROM {table}").fetchone()[0] for table in ("processes", "images"))
    counter = f"WITH RECURSIVE c (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < {n}) "
    db.execute(f"{counter} INSERT INTO processes (id, pid, ppid, parent, uid, gid, start_t, end_t, exit_code, image, "
               f"tier) SELECT {top} + i, {top} + i, {top} + i - 1, {top} + i - 1, 0, 0, 1000 + i, "
               f"9000000 + {n} - i, 0, {image} + i, 8 FROM c")
    db.execute(f"{counter} INSERT INTO images (id, process, seq, start_t, exe, cwd, comm, argv) "
               f"SELECT {image} + i, {top} + i, 1, 1000 + i, 1, 1, 'x', '[\"x\"]' FROM c")
    db.execute("INSERT INTO jobs (process, job, xform, phase, lstart, lstop) SELECT id, '1', 'x', 'x', id, id FROM processes WHERE id > ?", (top,))
    db.commit()
    db.close()
