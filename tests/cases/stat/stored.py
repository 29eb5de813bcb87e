#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What sum.sql and finish.sql store until the end of a run is what the views would compute: of the programs, jobs and steps of a workflow of
scripts, interpreters, compilers and drivers, and of processes without a program that is known."""
# seconds: 6
import pathlib
import re
import shutil
import sqlite3
import sys
import tempfile

from ftractest import Checks, TOP, kernel_refuses, need_fuse
from workflows import traced

DB = TOP / "db"
sys.path.insert(0, str(DB))
import embed

checks = Checks()
STORED = ["program", "process_job", "process_step"]
PARTS = ["access_parts"]  # views of these that are gone at the end
MAKEFILE = "all: a.o b.o ; cat $^ > $@\n%.o: %.c ; sort -o $@ $<\n"
SCRIPT = "#!/usr/bin/python3\nimport sys\nopen('script.txt', 'w').write(' '.join(sys.argv))\n"
JOB = """\
make -s
./script-with-a-long-name a; python3 ./script-with-a-long-name b; python3 -c 'open("c", "w")'
perl -ne 'print' Makefile > d; sh -c 'sort d | uniq > e'; x=$(sed -n 1p e | cut -c 1)
printf '%s\\n' 1 2 3 | xargs -P 2 -I{} sh -c 'echo {} > in.{}; sort in.{} > out.{}; rm in.{}'
cp e f; mv f g; ln g h; (cat h; cat d) > i; env X=1 nice -n 1 timeout 9 wc -l i > "with blank"; ./nothing
exit 0
"""


def computed_views():
    """name -> text, of what is computed until the end."""
    sql = "".join(embed.text(DB / name) for name in ("views.sql", "steps.sql"))
    return {name: re.search(rf"^CREATE VIEW {name} AS\n.*?;$", sql, re.MULTILINE | re.DOTALL).group() for name in PARTS + STORED}


def rows_of(trace, name):
    return trace.execute(f"SELECT * FROM {name} ORDER BY 1").fetchall()


def compare(what, db, copy):
    shutil.copy(db, copy)
    trace = sqlite3.connect(copy)
    stored = {name: rows_of(trace, name) for name in STORED}
    for name, text in computed_views().items():
        trace.execute(f"DROP VIEW IF EXISTS {name}")
        trace.execute(text)
    for name, rows in stored.items():
        checks.check(f"{what}: there are many rows of {name}", len(rows) >= 30, len(rows))
        checks.equal(f"{what}: {name} as it is stored and as it is computed", rows, rows_of(trace, name))
    names = {row[3] for row in stored["program"]}
    checks.check(f"{what}: programs of each kind", {"make", "xargs", "script-with-a-long-name", "sh"} <= names, names)
    trace.close()


def main():
    need_fuse()
    with tempfile.TemporaryDirectory(prefix="ftrac-stored-") as directory:
        base = pathlib.Path(directory)
        for way in ["mount"] + (["kernel"] if not kernel_refuses() else []):
            work = base / way
            work.mkdir()
            for name, text in {"Makefile": MAKEFILE, "a.c": "b\na\n", "b.c": "c\n", "job.sh": JOB, "script-with-a-long-name": SCRIPT}.items():
                (work / name).write_text(text)
            (work / "script-with-a-long-name").chmod(0o755)
            traced(base / f"{way}.db", ["sh", "job.sh"], work, "--files", way, "--make")
            compare(way, base / f"{way}.db", base / "copy.db")
    checks.end()


main()
