#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 18
"""What programs write never takes the place of a trace, whatever the option and the name; errors point to the help of
the verb that was called; a trace can be read at any moment of the end of its writer."""
import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import threading
import time

from dagtraces import exports
from filesystems import until
from ftractest import FTRAC, Checks, need, need_fuse
from stattraces import APPLICATION_ID
from workflows import traced

WFDAG = os.path.abspath(os.environ.get("WFDAG", "build/dag/wfdag"))
WFSTAT = os.path.abspath(os.environ.get("WFSTAT", "build/dag/wfstat"))
WFREPORT = os.path.abspath(os.environ.get("WFREPORT", "build/dag/wfreport"))
checks = Checks()

# What writes a file; OUT: its name.
WRITERS = {
    "graph": [[WFDAG, f"--{kind}", "-o", "OUT"] for kind in exports()],
    "analysis": [[WFDAG, what, "--json", "-o", "OUT"] for what in ("critical-path", "lifecycle")],
    "generate": [[WFDAG, "generate", f"--{kind}", "-o", "OUT"] for kind in
                 ("make", "ninja", "snakemake", "dask", "cwl", "wfformat", "dagman", "pegasus", "dax")],
    "charts": [[WFSTAT, "hist", "--of", "read-size", "--svg", "-o", "OUT"], [WFSTAT, "time", "--png", "-o", "OUT"]],
    "report": [[WFREPORT, "-o", "OUT"], [WFREPORT, "--perfetto", "-o", "OUT"]],
}


def run(*words, **more):
    return subprocess.run([str(word) for word in words], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=60, check=False, **more)


def commands():
    for what, writers in WRITERS.items():
        for words in writers:
            if os.path.exists(words[0]):
                yield f"{what} {words[-2]}", words
            else:
                print(f"left out: {what}, since there is no '{words[0]}'")


def refuses(what, words, out, kept, trace, cwd):
    """kept: the trace that would be lost."""
    before = kept.read_bytes()
    done = run(*(str(out) if word == "OUT" else word for word in words), trace, cwd=cwd)
    checks.check(f"{what}: refused", done.returncode not in (0, 3), (done.returncode, done.stdout[:200]))
    checks.check(f"{what}: one line, with the reason", done.stderr.count("\n") == 1 and "it is a trace" in done.stderr and
                 f"'{out}'" in done.stderr, done.stderr)
    checks.check(f"{what}: the trace is as it was", kept.exists() and kept.read_bytes() == before)


def overwriting(base, trace):
    own, other = base / "own.db", base / "other.db"
    for path in own, other:
        shutil.copy(trace, path)
    for what, words in commands():
        refuses(f"{what}, the trace itself", words, own, own, own, base)
        refuses(f"{what}, another trace", words, other, other, own, base)
    link, part = base / "link.json", base / "x.json.part"
    link.symlink_to("other.db")
    shutil.copy(trace, part)
    writer = [WFDAG, "--json", "-o", "OUT"]
    refuses("through a link", writer, link, other, own, base)
    refuses("by the name that it has on its way", writer, base / "x.json", part, own, base)
    refuses("the log of a trace", writer, grown(base / "grows.db"), base / "grows.db-wal", own, base)
    charts(base, own)
    for name, text in ("empty", ""), ("text", "text\n"), ("other.sqlite", None):
        if text is None:
            with sqlite3.connect(base / name) as db:
                db.execute("CREATE TABLE t (a)")
            db.close()
        else:
            (base / name).write_text(text)
        checks.equal(f"what is no trace is replaced with --force: {name}", run(WFDAG, "--force", "--json", "-o", base / name, own).returncode, 0)
        checks.check(f"by what was asked for: {name}", (base / name).read_text().startswith("{"))
    foreign(base, own)
    ended(base, own)


def foreign(base, own):
    """A file that is no result is kept; an older result, also of another trace, and an empty file are replaced."""
    for what, words in commands():
        out = base / "result"
        words = [str(out) if word == "OUT" else word for word in words]
        out.write_bytes(b"notes of mine\n")
        done = run(*words, own, cwd=base)
        checks.check(f"{what}: refuses to replace another file", done.returncode not in (0, 3) and done.stderr.count("\n") == 1 and
                     "--force" in done.stderr and out.read_bytes() == b"notes of mine\n", (done.returncode, done.stderr))
        out.write_bytes(b"")
        for how in "empty", "older":
            done = run(*words, own, cwd=base)
            checks.check(f"{what}: replaces an {how} file", done.returncode == 0 and out.stat().st_size > 0, (done.returncode, done.stderr))
        before = out.read_bytes()
        out.write_bytes(b"notes of mine\n")
        checks.equal(f"{what}: with --force", run(*words[:-2], "--force", *words[-2:], own, cwd=base).returncode, 0)
        checks.equal(f"{what}: begins as before", out.read_bytes()[:8], before[:8])
        out.unlink()


def ended(base, own):
    """Nothing is left of a program that a signal ends while it draws: no part of a file, and no helper."""
    slow = base / "bin"
    slow.mkdir()
    (slow / "dot").write_text("#!/bin/sh\ncat >/dev/null\nexec sleep 1000.25\n")
    (slow / "dot").chmod(0o755)
    before = sorted(os.listdir(base))
    for number in signal.SIGTERM, signal.SIGKILL:
        drawing = subprocess.Popen([WFDAG, "-o", base / "ended.svg", own], env={**os.environ, "PATH": f"{slow}:{os.environ['PATH']}"})
        looked = until(lambda: subprocess.run(["pgrep", "-fx", "sleep 1000.25"], capture_output=True, check=False).returncode == 0)
        drawing.send_signal(number)
        checks.equal(f"{number.name}: ends it", (looked is not None, drawing.wait()), (True, -number))
        checks.equal(f"{number.name}: nothing is left", sorted(os.listdir(base)), before)
        gone = until(lambda: subprocess.run(["pgrep", "-fx", "sleep 1000.25"], capture_output=True, check=False).returncode == 1, 2)
        checks.check(f"{number.name}: the helper has ended", gone is not None or number == signal.SIGKILL)
    subprocess.run(["pkill", "-fx", "sleep 1000.25"], check=False)


def charts(base, own):
    """Two files of one name."""
    kept = base / "chart.dat"
    shutil.copy(own, kept)
    done = run(WFSTAT, "hist", "--of", "read-size", "--gnuplot", base / "chart", own)
    checks.check("the data of a chart", done.returncode and "it is a trace" in done.stderr, done.stderr)
    checks.equal("is the trace that it was", kept.read_bytes(), own.read_bytes())


def dashes(own):
    """A "-" behind a format is stdout, as behind -o."""
    for words in (["generate", "--make"], ["--json"], ["critical-path", "--csv"], ["changes", "--json"]):
        plain, *others = (run(WFDAG, *words, *dash, own) for dash in ([], ["-"], ["-o", "-"]))
        checks.check(f"{words}: writes", plain.returncode == 0 and plain.stdout, plain.stderr)
        checks.equal(f"{words}: the same with a dash", [o.stdout for o in others], [plain.stdout] * 2)


def grown(path):
    """A trace with a log: its name."""
    db = sqlite3.connect(path, isolation_level=None)
    db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("CREATE TABLE t (a)")
    grown.db = db
    return pathlib.Path(f"{path}-wal")


def helps():
    for words in ["generate"], ["check"], ["diff"]:
        for wrong in ["--nix"], ["-x"], ["--format"], ["--raw=1"]:
            done = run(WFDAG, *words, *wrong)
            checks.check(f"{words} {wrong}: points to its own help", done.stderr.count("\n") == 1 and
                         f"see 'wfdag {words[0]} --help'" in done.stderr or "unknown" not in done.stderr and
                         "takes no value" not in done.stderr and "needs a value" not in done.stderr, done.stderr)
        checks.check(f"{words}: an unknown option", f"see 'wfdag {words[0]} --help'" in run(WFDAG, *words, "--nix").stderr)
        checks.equal(f"{words}: that help is there", run(WFDAG, *words, "--help").returncode, 0)


def ending(base, trace, seconds=10):
    """Reads a trace, alone and together with another one, while its log is made and taken away, as at the end of a mount."""
    path, end = base / "ending.db", time.monotonic() + seconds
    shutil.copy(trace, path)
    rounds, read, wrong = 0, [], []

    def write():
        nonlocal rounds
        while time.monotonic() < end:
            db = sqlite3.connect(path, isolation_level=None, timeout=10)
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("UPDATE meta SET value = value WHERE key = 'complete'")
            try:
                db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                db.execute("PRAGMA journal_mode = MEMORY").fetchall()
                rounds += 1
            except sqlite3.OperationalError as e: # a reader
                assert "locked" in str(e), e
            db.close()

    def reader(*more):
        while time.monotonic() < end:
            done = run(WFSTAT, "overview", "--format", "csv", path, *more)
            read.append(done.returncode)
            if done.returncode:
                wrong.append(done.stderr)

    threads = [threading.Thread(target=write), threading.Thread(target=reader)]
    threads += [threading.Thread(target=reader, args=(trace,)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    checks.check(f"all of {len(read)} readers read, while {rounds} times the log went", read and rounds and not wrong,
                 f"{len(wrong)} did not: {wrong[:3]}")


def after_mounts(base, count=15):
    """A reader that begins when the mount goes."""
    wrong = []
    (base / "in").mkdir()
    for i in range(count):
        db = base / f"mount{i}.db"
        mnt = base / "mnt"
        mnt.mkdir(exist_ok=True)
        subprocess.run([FTRAC, "--db", db, "-o", f"source={base / 'in'}", mnt], check=True, timeout=60)
        for n in range(200):
            (mnt / f"f{n}").write_text("x")
        subprocess.run([FTRAC, "umount", mnt], check=True, timeout=60)
        for _ in range(5):
            done = run(WFSTAT, "overview", db)
            if done.returncode:
                wrong.append(done.stderr)
    checks.check(f"each of {5 * count} readers right after the end of {count} mounts reads", not wrong, wrong[:3])


def main():
    need_fuse()
    need("make", "dot", "gnuplot")
    with tempfile.TemporaryDirectory(prefix="ftrac-outputs-") as directory:
        base = pathlib.Path(directory)
        work = base / "work"
        work.mkdir()
        (work / "Makefile").write_text("all: b\nb: a\n\tcat a > b\na:\n\techo 1 > a\n")
        checks.equal("a trace", traced(base / "trace.db", ["make", "-s"], work, status=None).returncode, 0)
        overwriting(base, base / "trace.db")
        helps()
        dashes(base / "trace.db")
        ending(base, base / "trace.db")
        after_mounts(base)
    checks.end()


main()
