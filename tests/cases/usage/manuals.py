#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every example of wfstat(1), wfdag(1) and wfreport(1) works, and prints the columns that the manual shows, or
writes the file that it names."""
import contextlib
import os
import pathlib
import shlex
import shutil
import sqlite3
import subprocess
import tempfile

from ftractest import TOP, Checks, Mount, need_fuse

PROGRAMS = {"wfstat": os.environ.get("WFSTAT", "build/dag/wfstat"),
            "wfdag": os.environ.get("WFDAG", "build/dag/wfdag")}
WFREPORT = os.environ.get("WFREPORT", "build/dag/wfreport")
MAKEFILE = """all: d e
b: a
\tcat a > b
c: a b
\tsort a b > c
e: c
\tcp c e
d: c
\tcp c d; ls nothing-here 2>/dev/null || true
"""


def trace(base):
    """A make in a mount."""
    work = base / "work"
    work.mkdir()
    (work / "Makefile").write_text(MAKEFILE)
    (work / "a").write_text("one\ntwo\n" * 1000)
    with Mount(base=base) as mount:
        subprocess.run(["make", "-s", "-C", mount(work)], check=True, timeout=60)
    return mount.db


def examples(name):
    """Each command of a manual, and the first line of what it shows there."""
    lines = (TOP / f"man/{name}.1.scd").read_text().splitlines()
    for line, after in zip(lines, lines[1:]):
        if line.startswith(f"$ {name}"):
            shown = "" if after.startswith(("$", "```")) else after
            yield shlex.split(line)[2:], shown


def without_filters(args):
    """The trace of the manual is another one: what chooses from it goes."""
    kept, skip = [], False
    for arg in args:
        if skip:
            skip = False
        elif arg in ("--include", "--operation"):
            skip = True
        else:
            kept.append(arg)
    return kept


def check_diff(checks, args, shown, db):
    """Two traces are compared, here one with itself; what comes out is a sentence."""
    args = [arg for arg in args if not arg.endswith(".db")]
    args = args[:args.index(">")] if ">" in args else args
    done = subprocess.run([os.path.abspath(PROGRAMS["wfdag"]), *args, db, db], capture_output=True, text=True,
                          cwd=db.parent, timeout=60, check=False)
    checks.equal(f"wfdag {args}: exit status ({done.stderr.strip()})", done.returncode, 0)
    checks.check(f"wfdag {args}: a sentence", done.stdout.startswith("same graph") and shown, done.stdout)


def check(checks, name, args, shown, db):
    text = f"{name} {' '.join(args)}"
    done = subprocess.run([os.path.abspath(PROGRAMS[name]), *without_filters(args), db],
                          capture_output=True, text=True, cwd=db.parent, timeout=60, check=False)
    checks.equal(f"{text}: exit status ({done.stderr.strip()})", done.returncode, 0)
    head = done.stdout.splitlines()[0] if done.stdout else ""
    if shown:
        wanted = shown.removesuffix(" ...").split()
        checks.equal(f"{text}: columns", head.split()[:len(wanted) - 1], wanted[:-1])
    else:
        checks.check(f"{text}: prints something", head)


def check_reports(checks, db):
    """The file is the word behind -o."""
    if not os.path.exists(WFREPORT):
        print("wfreport was not built: its examples are left out")
        return
    found = [args for args, _ in examples("wfreport")]
    checks.check("wfreport: there are examples", found)
    for args in found:
        done = subprocess.run([os.path.abspath(WFREPORT), *args, db], capture_output=True, text=True, cwd=db.parent,
                              timeout=60, check=False)
        checks.equal(f"wfreport {args}: exit status ({done.stderr.strip()})", done.returncode, 0)
        written = [db.parent / name for option, name in zip(args, args[1:]) if option == "-o"]
        checks.equal(f"wfreport {args}: a file", [path.stat().st_size > 100 for path in written], [True])


def as_pipes(db):
    """The same, but all files are pipes, which a mount does not see."""
    copy = db.with_name("pipes.db")
    shutil.copy(db, copy)
    with contextlib.closing(sqlite3.connect(copy)) as pipes, pipes:
        pipes.execute("UPDATE kinds SET mode = mode & 4095 | 4096")
    return copy


def main():
    need_fuse()
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="ftrac-case-") as base:
        db = trace(pathlib.Path(base))
        for name in PROGRAMS:
            found = list(examples(name))
            checks.check(f"{name}: there are examples", found)
            for args, shown in found:
                if args[:1] == ["diff"]:
                    check_diff(checks, args, shown, db)
                else:
                    check(checks, name, args, shown, as_pipes(db) if args[:1] == ["flow"] else db)
        check_reports(checks, db)
    checks.end()


if __name__ == "__main__":
    main()
