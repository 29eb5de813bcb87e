#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""wfstat reads a trace and changes nothing beside it: after a kill, as another user, on a read-only mount, while a program
writes, and of a tracer that runs."""
import os
import shutil
import signal
import sqlite3
import subprocess
import time

import stattraces
from ftractest import FTRAC, Mount
from stattraces import (TABLES, UNPRIVILEGED, WFSTAT, add_process, base, checks, fails, make, odd, run, run_case, text,
                        works)


def add_to_log(path):
    """Writes a second process to the log of a trace, and dies as by kill -9."""
    pid = os.fork()
    if pid == 0:
        db = sqlite3.connect(path)
        db.execute("PRAGMA journal_mode = WAL")
        add_process(db, 2)
        db.commit()
        os._exit(0)
    os.waitpid(pid, 0)


def killed(name, *without, mode=0o644):
    """A directory with a trace of a tracer that was killed, and 2 processes."""
    place = base / name
    place.mkdir()
    path = make(f"{name}/trace.db", odd, finish=False, end_ns=None, complete=0)
    add_to_log(path)
    for end in without:
        os.unlink(path + end)
    for file in place.iterdir():
        file.chmod(mode)
    return place


def content(place):
    """All names, and the bytes of the files that must not change (the index of the log, -shm, may)."""
    return {p.name: p.name.endswith("-shm") or p.read_bytes() for p in place.iterdir()}


def reads(fact, place, processes=2, prefix=(), warnings=1, **more):
    """All of the trace there is read, and nothing there changes."""
    before = content(place)
    foreign = ["--foreign"] if "user" in more else []
    done = subprocess.run([*prefix, WFSTAT, "proc", "--csv", *foreign, place / "trace.db"],
                          capture_output=True, timeout=60, **more)
    checks.equal(f"{fact}: exit status", [done.returncode, done.stderr.count(b"\n")], [0, warnings])
    checks.equal(f"{fact}: processes", done.stdout.count(b"\r\n") - 1, processes)
    checks.equal(f"{fact}: nothing beside it changes", sorted(content(place)), sorted(before))
    checks.check(f"{fact}: it does not change", before.items() <= content(place).items())


def check_killed():
    reads("killed", killed("killed"))
    place = killed("again")
    reads("killed, first", place)
    reads("killed, again", place)
    reads("killed, without the index", killed("noindex", "-shm"))
    reads("killed, without its log", killed("nolog", "-shm", "-wal"), processes=1)
    place = killed("linked")
    (base / "links").mkdir()
    os.symlink(place / "trace.db", base / "links" / "trace.db")
    reads("killed, through a link", base / "links")
    checks.check("the log is still there", (place / "trace.db-wal").exists())


def check_others():
    """As another user, which may read, and where nothing can be written."""
    if os.geteuid() != 0:
        print("skipped: other users: only root can be another one")
        return
    base.chmod(0o755)
    other = {"user": UNPRIVILEGED, "group": UNPRIVILEGED, "extra_groups": []}
    if subprocess.run(["test", "-r", base], **other).returncode:
        print(f"skipped: other users: they cannot read '{base}'")
        return
    program = base / "wfstat"
    shutil.copy(WFSTAT, program)
    program.chmod(0o755)
    check_as(program, other)


def check_as(program, other):
    global WFSTAT
    ours = WFSTAT
    WFSTAT = stattraces.WFSTAT = str(program)
    try:
        reads("as another", killed("as_other"), **other)
        place = killed("as_linked")
        (base / "as_links").mkdir()
        os.symlink(place / "trace.db", base / "as_links" / "trace.db")
        reads("as another, through a link", base / "as_links", **other)
        place = killed("as_nolog", "-shm", "-wal")
        reads("as another, without its log", place, processes=1, **other)
        place.chmod(0o555)
        (place / "trace.db").chmod(0o666)
        reads("as another, which may write the file, but nothing beside it", place, processes=1,
              **other)
        finished = base / "as_finished"
        finished.mkdir(0o755)
        os.chmod(make("as_finished/trace.db", odd), 0o644)
        reads("as another, a finished one", finished, processes=1, warnings=0, **other)
        (finished / "trace.db").chmod(0o600)
        fails("as another, which may not", 1, ["Permission denied", "trace.db", "; "], "io",
              finished / "trace.db", **other)
        check_read_only()
    finally:
        WFSTAT = stattraces.WFSTAT = ours


def check_read_only():
    """Mounted so that nothing can be written."""
    script = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"'
    for fact, place, processes in (("killed", killed("ro_killed"), 2),
                                   ("killed, without its log", killed("ro_nolog", "-shm", "-wal"),
                                    1)):
        prefix = ["unshare", "-m", "sh", "-c", script, place]
        if subprocess.run([*prefix, "true"], stderr=subprocess.DEVNULL).returncode:
            print("skipped: read-only mounts: cannot mount here")
            return
        reads(f"read-only, {fact}", place, processes, prefix=prefix)


def check_live():
    """While a program writes, also in the middle of a transaction."""
    place = base / "live"
    place.mkdir()
    path = make("live/trace.db", odd, finish=False, end_ns=None, complete=0)
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("PRAGMA journal_mode = WAL")
    add_process(db, 2)
    reads("live", place)
    db.execute("BEGIN IMMEDIATE")
    add_process(db, 3)
    reads("live, in a transaction", place)
    works("live, twice", "proc", "--csv", path, path, warnings=1)
    db.execute("COMMIT")
    reads("live, later", place, processes=3)
    db.close()


def check_tracer():
    """A real one: while it runs, and when it has been killed."""
    if not os.access("/dev/fuse", os.R_OK | os.W_OK) or not shutil.which(FTRAC):
        print(f"skipped: a real tracer: no /dev/fuse, or no '{FTRAC}'")
        return
    work = base / "work"
    work.mkdir()
    with Mount() as mount:
        subprocess.run(["sh", "-c", "echo hello > f && cat f"], cwd=mount(work), check=True,
                       stdout=subprocess.DEVNULL)
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            done = run("list", "--csv", mount.db)
            if b"write" in done.stdout:
                break
            time.sleep(.2)
        checks.check("a real tracer: what was written is there", b"write" in done.stdout)
        checks.check("a real tracer: it is not over", "incomplete" in text(done), text(done))
        for table in TABLES:
            works(f"a real tracer: {table}", *table, "--csv", mount.db, warnings=1)
        place = base / "real"
        place.mkdir()
        os.kill(mount.pid, signal.SIGSTOP)  # so that the copies belong together
        for file in mount.base.glob("trace.db*"):
            shutil.copy(file, place)
        os.kill(mount.pid, signal.SIGCONT)
        before = sorted(os.listdir(place))
        out = works("as if killed", "list", "--csv", place / "trace.db", warnings=1)
        checks.check("as if killed: what was written is there", b"write" in out)
        checks.equal("as if killed: nothing more is there", sorted(os.listdir(place)), before)
        mount.unmount()
        works("a real trace", "list", "--strict", mount.db)
        checks.equal("a real trace is one file", sorted(p.name for p in mount.base.glob("trace*")),
                     ["trace.db"])


def main():
    check_killed()
    check_others()
    check_live()
    check_tracer()


run_case(main)
