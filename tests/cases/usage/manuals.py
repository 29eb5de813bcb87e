#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every example of the manuals works, and prints the first line that the manual shows, but for its numbers, or writes the file
that it names."""
import contextlib
import os
import pathlib
import re
import shlex
import shutil
import sqlite3
import subprocess
import tempfile

from ftractest import FTRAC, TOP, Checks, Mount, need_fuse

PROGRAMS = {"wfstat": os.environ.get("WFSTAT", "build/dag/wfstat"),
            "wfdag": os.environ.get("WFDAG", "build/dag/wfdag")}
WFREPORT = os.environ.get("WFREPORT", "build/dag/wfreport")
PROCMON = os.environ.get("PROCMON", "build/procmon/procmon")
UNITS = {"s", "ms", "us", "ns", "B", "kB", "MB", "GB"}
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
# e is made from d, and does not say so.
UNDECLARED = MAKEFILE.replace("\tcp c e", "\tcat c d > e")


def trace(base):
    """A make in a mount."""
    work = base / "work"
    work.mkdir()
    (work / "Makefile").write_text(MAKEFILE)
    (work / "a").write_text("one\ntwo\n" * 1000)
    with Mount(base=base) as mount:
        subprocess.run(["make", "-s", "-C", mount(work)], check=True, timeout=60)
    return mount.db


def declared_trace(base):
    """A make whose targets are recorded, and one of which reads what it does not declare."""
    work = base / "declared"
    work.mkdir()
    (work / "Makefile").write_text(UNDECLARED)
    (work / "a").write_text("one\ntwo\n" * 1000)
    subprocess.run([FTRAC, "run", "-q", "--make", "--db", base / "declared.db", "--", "make", "-s"], cwd=work, check=True, timeout=60)
    return base / "declared.db"


def check_findings(checks, args, shown, db):
    """Some findings, which are others than those of the manual."""
    done = subprocess.run([os.path.abspath(PROGRAMS["wfdag"]), *args, db], capture_output=True, text=True, cwd=db.parent / "declared",
                          timeout=60, check=False)
    checks.equal(f"wfdag {args}: something was found ({done.stderr.strip()})", done.returncode, 1)
    if "-o" in args:
        checks.check(f"wfdag {args}: a file", (db.parent / "declared" / args[args.index("-o") + 1]).stat().st_size > 100)
    else:
        checks.equal(f"wfdag {args}: begins as shown", done.stdout.split()[:1], shown.split()[:1])


def sessions(page):
    """The commands of a manual's section EXAMPLES, which may have several lines, and the line that each shows."""
    lines = (TOP / f"man/{page}.scd").read_text().partition("\n# EXAMPLES\n")[2].partition("\n# ")[0].splitlines()
    at = 0
    while at < len(lines):
        if lines[at].startswith("$ "):
            end = at + 1
            while lines[end].startswith("    "):
                end += 1
            yield "\n".join(lines[at:end])[2:], "" if lines[end].startswith(("$ ", "```")) else lines[end]
            at = end
        else:
            at += 1


def words_of(line):
    """Numbers, their units and the ends of columns may be others."""
    return [word for word in re.split(r"\s+", line) if not re.search(r"\d", word) and word.strip(",;") not in UNITS and word]


def check_sessions(checks, base):
    """The commands of one manual follow each other in one directory."""
    programs = base / "programs"
    programs.mkdir()
    for path in FTRAC, PROCMON, WFREPORT, *PROGRAMS.values():
        if os.path.exists(path):
            (programs / os.path.basename(path)).symlink_to(os.path.abspath(path))
    environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}
    for page in "ftrac.1", "procmon.1", "ftrac-db.5":
        work = base / page
        work.mkdir()
        (work / "Makefile").write_text(UNDECLARED)
        (work / "a").write_text("one\ntwo\n" * 1000)
        found = list(sessions(page))
        checks.check(f"{page}: there are examples", len(found) > 1, found)
        if page == "ftrac-db.5":
            subprocess.run([FTRAC, "run", "-q", "--", "make", "-s"], cwd=work, check=True, timeout=60)
        for command, shown in found:
            done = subprocess.run(["sh", "-c", command], cwd=work, env=environment, capture_output=True, text=True, timeout=120,
                                  stdin=subprocess.DEVNULL, check=False)
            checks.equal(f"{page}: {command}: exit status ({done.stderr.strip()})", done.returncode,
                         1 if command == "wfdag check" else 0)
            first = (done.stdout + done.stderr).partition("\n")[0]
            checks.equal(f"{page}: {command}: first line", words_of(first) if shown else [], words_of(shown))


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
    elif "-o" in args:
        file = db.parent / args[args.index("-o") + 1]
        checks.check(f"{text}: writes {file.name}", file.stat().st_size > 0)
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
        declared = declared_trace(pathlib.Path(base))
        check_sessions(checks, pathlib.Path(base))
        for name in PROGRAMS:
            found = list(examples(name))
            checks.check(f"{name}: there are examples", found)
            for args, shown in found:
                if args[:1] == ["check"]:
                    check_findings(checks, args, shown, declared)
                elif args[:1] == ["diff"]:
                    check_diff(checks, args, shown, db)
                else:
                    check(checks, name, args, shown, as_pipes(db) if args[:1] == ["flow"] else db)
        check_reports(checks, db)
    checks.end()


if __name__ == "__main__":
    main()
