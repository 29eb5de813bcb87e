#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 21
# long: --long
"""The examples, run as a user runs them: what they make is what they make without a mount, byte by
byte; the summary names the programs; each of the queries finds something."""
import filecmp
import os
import pathlib
import shutil
import sqlite3
import subprocess
import tempfile

from ftractest import FTRAC, TOP, Checks, need, need_fuse
from sample import one

EXAMPLES = TOP / "examples"
MAKE_SOURCE = "Makefile", "VERSION", "gen", "src"
os.environ["FTRAC"] = os.path.abspath(FTRAC)
os.environ["MALLOC_PERTURB_"] = "0"  # Montage's programs read memory that they have not set
for name in "WORK", "JOBS", "DB", "MNT", "MAKEFLAGS", "MAKELEVEL":
    os.environ.pop(name, None)

need_fuse()
need("make", "gcc", "ar", "sqlite3", "mountpoint", "flock")
checks = Checks()


def native_make(work):
    work.mkdir()
    for name in MAKE_SOURCE:
        copy = shutil.copytree if (EXAMPLES / "make" / name).is_dir() else shutil.copy
        copy(EXAMPLES / "make" / name, work / name)
    subprocess.run(["make", "-s", "-j8"], cwd=work, check=True, stdout=subprocess.DEVNULL,
                   timeout=250)


def native_montage(work):
    subprocess.run([EXAMPLES / "montage" / "generate.sh", "A", work], check=True, timeout=250)
    subprocess.run(["make", "-s", "-j8"], cwd=work, check=True, stdout=subprocess.DEVNULL,
                   timeout=250)


def products(top):
    """Without the log, which has what the jobs say in the order in which they ended."""
    return {os.path.relpath(os.path.join(at, name), top) for at, _, names in os.walk(top)
            for name in names if name != "make.log"}


def same_products(what, native, traced):
    checks.equal(f"{what}: the same files", sorted(products(native) ^ products(traced)), [])
    for name in sorted(products(native) & products(traced)):
        checks.check(f"{what}: {name} is the same",
                     filecmp.cmp(native / name, traced / name, shallow=False))
    return len(products(native))


def rows_of(db, query):
    done = subprocess.run(["sqlite3", "-bail", str(db)], stdin=open(query), capture_output=True,
                          text=True, timeout=120)
    checks.equal(f"{query.parent.parent.name}/{query.name} runs", (done.returncode, done.stderr),
                 (0, ""))
    return done.stdout.count("\n")


def facts_of(db):
    with sqlite3.connect(f"file:{db}?mode=ro", uri=True) as trace:
        facts = dict(trace.execute("SELECT key, value FROM trace"))
        sound = trace.execute("PRAGMA integrity_check").fetchall()
    trace.close()
    return facts, sound


def run(example, work, native, programs, some):
    """run.sh in an empty directory, in both fidelities; some: products that must be there."""
    for fidelity in one(("exact", "cached")):
        what = f"{example}, {fidelity}"
        empty = base / f"{example} {fidelity}".replace(" ", "-")
        empty.mkdir()
        done = subprocess.run([EXAMPLES / example / "run.sh", "--fidelity", fidelity], cwd=empty,
                              capture_output=True, text=True, timeout=280)
        checks.equal(f"{what}: run.sh succeeds, in silence", (done.returncode, done.stderr),
                     (0, ""))
        checks.equal(f"{what}: what it leaves", sorted(os.listdir(empty)),
                     sorted([work, "trace.db"]))
        named = {line.split()[0] for line in done.stdout.splitlines() if line.strip()}
        checks.equal(f"{what}: programs that the summary does not name", programs - named, set())
        facts, sound = facts_of(empty / "trace.db")
        for fact, wanted in {"complete": 1, "ops_lost": 0, "process_events_lost": 0,
                             "fidelity": fidelity}.items():
            checks.equal(f"{what}: {fact}", facts[fact], wanted)
        checks.equal(f"{what}: the trace is sound", sound, [("ok",)])
        n = same_products(what, native, empty / work)
        for name in some:
            checks.check(f"{what}: {name} is there", (empty / work / name).stat().st_size > 0)
        for query in sorted((EXAMPLES / example / "queries").glob("*.sql")):
            checks.check(f"{what}: {query.name} finds something",
                         rows_of(empty / "trace.db", query) > 0)
        print(f"{what}: {n} files compared, {facts['ops_recorded']} operations")


base = pathlib.Path(tempfile.mkdtemp(prefix="ftrac-case-"))
native_make(base / "tally")
run("make", "tally", base / "tally", {"make", "gcc", "cc1", "as", "ld", "ar", "tally", "mkclass"},
    ["build/tally"])
if shutil.which("mProjectPP"):
    native_montage(base / "montage-A")
    run("montage", "montage-A", base / "montage-A",
        {"make", "mProjectPP", "mImgtbl", "mDiff", "mFitplane", "mConcatFit", "mBgModel",
         "mBackground", "mAdd", "mViewer"}, ["mosaic.fits", "mosaic.png"])
else:
    print("left out: montage, since there is no 'mProjectPP' here")
shutil.rmtree(base)
checks.end()
