#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 10
"""On a terminal of 80 columns no help, summary, list or comparison has a longer line, and a program that writes a file says so in a line.  (For
tables see `terminal`.)"""
import os
import pathlib
import subprocess
import tempfile

from ftractest import FTRAC, Checks, need_fuse
from hostile import WFDAG, WFREPORT, WFSTAT
from terminals import on_terminal

WIDTH = 80
PROCMON = os.path.abspath(os.environ.get("PROCMON", "build/procmon/procmon"))
MAKEFILE = """all: d e
b: a
\tcat a >b
c: b
\tcat b a >c
d: c
\tcat c b >d
e: c
\tcat c >e; cat nothing-of-this-name-is-here; true
"""
checks = Checks()
looked = {"helps": 0, "outputs": 0, "lines": 0, "files": 0}


def fits(what, text):
    lines = text.splitlines()
    looked["lines"] += len(lines)
    checks.check(f"{what}: prints something", lines)
    checks.equal(f"{what}: lines longer than {WIDTH}", [line for line in lines if len(line) > WIDTH], [])


def helps():
    programs = [[FTRAC], [FTRAC, "run"], [FTRAC, "record"], [FTRAC, "umount"], [FTRAC, "doctor"], [FTRAC, "top"], [FTRAC, "merge"], [FTRAC, "redact"], [FTRAC, "replay"], [FTRAC, "import"], [FTRAC, "wait"], [PROCMON], [WFSTAT], [WFDAG],
                [WFDAG, "summary"], [WFDAG, "generate"], [WFDAG, "changes"], [WFDAG, "check"], [WFDAG, "diff"]]
    if os.path.exists(WFREPORT):
        programs.append([WFREPORT])
    for words in programs:
        text = subprocess.run([*words, "--help"], capture_output=True, text=True, timeout=60, check=True).stdout
        fits(" ".join([*map(os.path.basename, words), "--help"]), text)
        looked["helps"] += 1


def shown(*words):
    status, text = on_terminal(WIDTH, *words)
    fits(" ".join(map(os.path.basename, map(str, words))), text)
    looked["outputs"] += 1
    return status, text


def outputs(base):
    """The names of the traces are short, since they are printed as they were given."""
    os.chdir(base)
    run = [FTRAC, "run", "--make"]
    shown(*run, "--db", "a.db", "--", "make", "-s")
    shown(*run, "--db", "b.db", "--", "make", "-s", "-B", "-j2", "d")
    for words in ([FTRAC, "doctor"], [PROCMON, "--check"], [WFDAG, "summary", "a.db"], [WFDAG, "check", "a.db"],
                  [WFDAG, "check", "--all", "b.db"], [WFDAG, "diff", "a.db", "b.db"], [WFDAG, "diff", "a.db", "a.db"]):
        shown(*words)


def written(base):
    """The line names the program and the file; without a terminal there is none."""
    commands = [[WFSTAT, "proc", "-o", "proc.csv"], [WFDAG, "-o", "graph.json"], [WFDAG, "makespan", "-o", "makespan.csv"],
                [WFDAG, "generate", "-o", "flow.mk"], [WFDAG, "diff", "a.db", "-o", "diff.csv", "--format", "csv"]]
    if os.path.exists(WFREPORT):
        commands.append([WFREPORT, "--perfetto", "-o", "line.json"])
    for words in commands:
        name = words[words.index("-o") + 1]
        what = " ".join([os.path.basename(words[0]), *words[1:]])
        _, text = on_terminal(WIDTH, *words, "a.db")
        path = pathlib.Path(base / name)
        checks.check(f"{what}: a file", path.exists() and path.stat().st_size, text)
        lines = [line for line in text.splitlines() if line.endswith(" written")]
        checks.check(f"{what}: a line", len(lines) == 1 and lines[0].startswith(f"{os.path.basename(words[0])}") and f": {name}: " in lines[0], text)
        done = subprocess.run([*words, "a.db"], capture_output=True, text=True, timeout=60, check=False)
        checks.check(f"{what}: none without a terminal", "written" not in done.stderr + done.stdout, done)
        looked["files"] += 1


def main():
    need_fuse()
    helps()
    with tempfile.TemporaryDirectory(prefix="ftrac-case-") as directory:
        base = pathlib.Path(directory).resolve()
        (base / "Makefile").write_text(MAKEFILE)
        (base / "a").write_text("line\n" * 1000)
        outputs(base)
        written(base)
        os.chdir("/")
    print(looked)
    checks.check("all kinds were looked at", all(looked.values()), looked)
    checks.end()


main()
