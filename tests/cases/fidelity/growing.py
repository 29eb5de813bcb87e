#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 5
"""The trace of a build is read all the time while it is written; neither disturbs the other."""
import filecmp
import os
import shutil
import sqlite3
import subprocess

from ftractest import TOP, Checks, Mount, need, need_fuse

EXAMPLE = TOP / "examples" / "make"
QUERIES = sorted((EXAMPLE / "queries").glob("*.sql"))
ROUNDS = 5

need_fuse()
need("make", "gcc", "ar", "sqlite3")
for name in "MAKEFLAGS", "MAKELEVEL":
    os.environ.pop(name, None)
checks = Checks()


def copy_to(work):
    work.mkdir()
    for name in "Makefile", "VERSION", "gen", "src":
        copy = shutil.copytree if (EXAMPLE / name).is_dir() else shutil.copy
        copy(EXAMPLE / name, work / name)


def ask(words):
    """What sqlite3 says; it must not fail."""
    done = subprocess.run(["sqlite3", "-bail", str(mount.db)], input=words, capture_output=True,
                          text=True, timeout=60)
    checks.equal("sqlite3 can read", (done.returncode, done.stderr), (0, ""))
    return done.stdout


with Mount() as mount:
    copy_to(mount.base / "native")
    subprocess.run(["make", "-s", "-j8"], cwd=mount.base / "native", check=True, timeout=120,
                   stdout=subprocess.DEVNULL)
    # A reader that begins before the work and ends after it: all of it stays in the log.
    slow = sqlite3.connect(f"file:{mount.db}?mode=ro", uri=True, isolation_level=None)
    slow.execute("BEGIN")
    seen_first = slow.execute("SELECT count(*) FROM op").fetchone()
    # A reader that is killed in the middle of a read.
    killed = subprocess.Popen(
        ["sqlite3", str(mount.db), "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
         " SELECT count(*) FROM n, op"], stdout=subprocess.DEVNULL)
    last, reads, growths = 0, 0, 0
    for round in range(ROUNDS):
        work = mount.base / f"work{round}"
        copy_to(work)
        make = subprocess.Popen(["make", "-s", "-j8"], cwd=mount(work), stdout=subprocess.DEVNULL)
        while make.poll() is None:
            for query in QUERIES[reads // 3 % len(QUERIES)], None:
                count = int(ask("SELECT count(*) FROM op;"))
                checks.check("the number of operations does not fall", count >= last)
                growths += count > last
                last = count
                if query:
                    ask(query.read_text())
            reads += 3
        checks.equal("make succeeds", make.returncode, 0)
        for name in "build/tally", "build/libtally.a":
            checks.check(f"{name} is the same", filecmp.cmp(
                mount.base / "native" / name, work / name, shallow=False))
        if round == 1:
            killed.kill()
            killed.wait()
    checks.equal("sound while it is written", ask("PRAGMA integrity_check;"), "ok\n")
    checks.equal("what one reader sees stands still",
                 slow.execute("SELECT count(*) FROM op").fetchone(), seen_first)
    slow.execute("COMMIT")
    slow.close()
    checks.check("it has been seen growing", growths > ROUNDS, f"{growths} times")
    mount.unmount()
    checks.equal("it is complete", mount.fact("complete"), 1)
    checks.equal("nothing is lost", mount.fact("ops_lost"), 0)
    checks.equal("all that was recorded is there", mount.sql("SELECT count(*) FROM op")[0][0],
                 mount.fact("ops_recorded"))
    checks.equal("it is sound", mount.sql("PRAGMA integrity_check"), [("ok",)])
    checks.equal("no log is left", [p for p in os.listdir(mount.base) if p.startswith("trace.db-")],
                 [])
    print(f"{reads} reads during the work, {growths} times there was more")
checks.end()
