#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 10
"""Exit statuses mean the same in all programs, each is in the section EXIT STATUS of the program's manual, and each that is there
occurs."""
import os
import pathlib
import re
import sqlite3
import subprocess
import tempfile

from ftractest import FTRAC, TOP, Checks, need_fuse
from hostile import WFDAG, WFREPORT, WFSTAT

PROCMON = os.path.abspath(os.environ.get("PROCMON", "build/procmon/procmon"))
MAKEFILE = "all: b\nb:\n\tcat a >b\n"
checks = Checks()
seen = {}  # manual: statuses


def documented(page):
    """Statuses that the section names, as "*3*" at the begin of a line."""
    text = (TOP / f"man/{page}.1.scd").read_text().partition("\n# EXIT STATUS\n")[2].partition("\n# ")[0]
    return {int(number) for number in re.findall(r"^\*(\d+)\*", text, re.M)}


def ends(page, status, *words, cwd):
    done = subprocess.run(words, cwd=cwd, capture_output=True, text=True, timeout=120, check=False)
    what = " ".join(os.path.basename(str(word)) for word in words)
    checks.equal(f"{what}: status ({done.stderr.strip()[-200:]})", done.returncode, status)
    seen.setdefault(page, set()).add(128 if status > 128 else status)


def lossy(base):
    """The same trace, but its writer was killed."""
    (base / "lossy.db").write_bytes((base / "trace.db").read_bytes())
    with sqlite3.connect(base / "lossy.db") as connection:
        connection.execute("UPDATE meta SET value = 0 WHERE key = 'complete'")
    connection.close()


def runners(base):
    """Programs that end with the status of another one."""
    for page, words in ("ftrac", [FTRAC, "run", "-q"]), ("procmon", [PROCMON]):
        run = [*words, "--force", "--db", f"{page}.db"]
        for status, command in ((0, ["true"]), (7, ["sh", "-c", "exit 7"]), (127, ["./nothing"]), (126, ["./Makefile"]),
                                (143, ["sh", "-c", "kill -TERM $$"])):
            ends(page, status, *run, "--", *command, cwd=base)
        seen[page] -= {0, 7}
        for wrong in [*run], [*run, "--no-such-option", "true"], [*words, "--db", "no/x.db", "true"]:
            ends(page, 125, *wrong, cwd=base)


def others(base):
    ends("ftrac", 0, FTRAC, "--help", cwd=base)
    ends("ftrac", 2, FTRAC, "--no-such-option", cwd=base)
    ends("ftrac", 2, FTRAC, "umount", cwd=base)
    ends("ftrac", 1, FTRAC, "umount", "nothing", cwd=base)
    ends("ftrac", 2, FTRAC, "record", cwd=base)
    for status, *words in ((0, "--until", "operations > 0"), (4, "--until", "operations < 0"), (2, "--until", "no column"), (2,),
                           (1, "--until", "1", "nothing.db")):
        ends("ftrac", status, FTRAC, "wait", *words, cwd=base)
    with subprocess.Popen([FTRAC, "run", "-q", "--db", "w.db", "sh", "-c", "echo; read x"], cwd=base, stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        ends("ftrac", 124, FTRAC, "wait", "--until", "0", "--timeout", "0", "w.db", cwd=base)
        process.communicate(b"\n", timeout=60)
    ends("ftrac", 1, FTRAC, "--db", "m.db", "nothing", cwd=base)


def readers(base):
    programs = [("wfstat", [WFSTAT, "io"]), ("wfdag", [WFDAG, "makespan"]), ("wfdag", [WFDAG, "changes"])]
    if os.path.exists(WFREPORT):
        programs.append(("wfreport", [WFREPORT, "-o", "page.html"]))
    for page, words in programs:
        ends(page, 0, *words, "trace.db", cwd=base)
        ends(page, 0, *words, "--strict", "trace.db", cwd=base)
        ends(page, 0, *words, "lossy.db", cwd=base)
        ends(page, 3, *words, "--strict", "lossy.db", cwd=base)
        ends(page, 1, *words, "nothing.db", cwd=base)
        ends(page, 1, *words, "Makefile", cwd=base)
        ends(page, 2, *words, "--no-such-option", "trace.db", cwd=base)
        ends(page, 2, *words, "--from", "x", "trace.db", cwd=base)


def comparisons(base):
    """As diff(1): 1 is a difference, 2 is trouble."""
    ends("wfdag", 0, WFDAG, "diff", "trace.db", "trace.db", cwd=base)
    ends("wfdag", 1, WFDAG, "diff", "trace.db", "ftrac.db", cwd=base)
    ends("wfdag", 3, WFDAG, "diff", "--strict", "trace.db", "lossy.db", cwd=base)
    ends("wfdag", 1, WFDAG, "check", "trace.db", cwd=base)
    ends("wfdag", 0, WFDAG, "check", "--fail-on", "redundant", "trace.db", cwd=base)
    ends("wfdag", 3, WFDAG, "check", "--fail-on", "redundant", "--strict", "lossy.db", cwd=base)
    for verb, more in ("diff", ["trace.db", "nothing.db"]), ("diff", ["trace.db"]), ("check", ["nothing.db"]), ("check", ["ftrac.db"]), \
            ("check", ["--no-such-option"]):
        ends("wfdag", 2, WFDAG, verb, *more, cwd=base)


def main():
    need_fuse()
    with tempfile.TemporaryDirectory(prefix="ftrac-case-") as directory:
        base = pathlib.Path(directory).resolve()
        (base / "Makefile").write_text(MAKEFILE)
        (base / "a").write_text("one\n")
        subprocess.run([FTRAC, "run", "-q", "--", "make", "-s"], cwd=base, check=True, timeout=60)
        lossy(base)
        runners(base)
        others(base)
        readers(base)
        comparisons(base)
    for page, statuses in sorted(seen.items()):
        known = documented(page) - ({3} if page == "ftrac" else set())  # what a record in the kernel has lost: not at will
        checks.equal(f"{page}.1: statuses that occur and that the manual has", sorted(statuses), sorted(known))
    checks.check("there were manuals", len(seen) >= 4, seen)
    print({page: sorted(statuses) for page, statuses in seen.items()})
    checks.end()


main()
