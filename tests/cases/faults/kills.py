#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 7
# long: --all
"""ftrac, ftrac run or procmon is killed (SIGKILL) at any moment of a life: while it begins, at work, and in
its end.  The database opens, is sound, holds what was done up to the last batch, and does not say that
it is complete; the mount says that it is not connected any more, and `ftrac umount` takes it away.

    kills.py [--all] [--kills N] [--seed N]     (16; with --all 200)

What must be there is not asked of the trace.  Clients note when each step was done.  Another process looks,
every few milliseconds, whether a transaction has been committed since (PRAGMA data_version).  There is
one writer, and a batch is begun after the commit of the one before; so what was done before the last
two commits, as they were seen, is due.
"""
import argparse
import collections
import contextlib
import errno
import os
import pathlib
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time

from faults import remove
from faults_mount import is_mounted
from ftractest import FTRAC, Checks, Mount, has_fidelity, kernel_refuses, need_fuse

# How a program of Python gets this module.
THIS = f"import sys; sys.path.insert(0, {os.path.dirname(os.path.abspath(__file__))!r}); import kills"
PROCMON = os.environ.get("PROCMON", "build/procmon/procmon")
WFSTAT = os.environ.get("WFSTAT", "build/dag/wfstat")
PATIENCE_S = 60
# The errors of requests to a FUSE mount whose daemon has gone, and of those that were waiting for an answer.
GONE = {errno.ENOTCONN, errno.ECONNABORTED}


# ---- what is traced

def note(journal, *words):
    os.write(journal, (" ".join(map(str, words)) + "\n").encode())


def make_files(top, journal, name):
    """Makes files until that is impossible, and notes when each was there."""
    step = "begin"
    try:
        for i in range(10**9):
            step = "create"
            with open(f"{top}/{name}{i}", "w", encoding="ascii") as f:
                f.write(f"{i}\n")
                step = "write"
            step = "rename"
            os.rename(f"{top}/{name}{i}", f"{top}/{name}{i}.done")
            note(journal, name, i, time.monotonic_ns())
    except OSError as e:
        note(journal, "error", e.errno, step)


def start_programs(_top, journal, name):
    """Starts programs, one after another, and notes when each had ended."""
    note(journal, "pid", os.getpid(), name)
    while True:
        pid = os.posix_spawn("/bin/true", ["true"], {})
        os.waitpid(pid, 0)
        note(journal, name, pid, time.monotonic_ns())


def client(work, top, journal, name):
    """In a process of its own, which ends by itself if no other process ends it."""
    pid = os.fork()
    if pid == 0:
        try:
            signal.alarm(120)
            work(top, journal, name)
        finally:
            os._exit(0)
    return pid


# ---- a process that looks at it from outside

class Watch(threading.Thread):
    """Notes the commits of a trace, each with a time before it."""

    def __init__(self, db):
        super().__init__(daemon=True)
        self.db, self.commits, self.ends = db, [], False

    def run(self):
        while not self.ends:
            try:
                self.look()
            except sqlite3.Error:
                time.sleep(0.002)  # it is being made

    def look(self):
        if not pathlib.Path(f"{self.db}-wal").exists():
            raise sqlite3.OperationalError
        db = sqlite3.connect(f"file:{self.db}?mode=ro", uri=True, isolation_level=None)
        try:
            db.execute("SELECT value FROM meta WHERE key = 'start_ns'").fetchone()[0]
            last = None
            while not self.ends:
                before = time.monotonic_ns()
                version = db.execute("PRAGMA data_version").fetchone()[0]
                if last is not None and version != last[1]:
                    self.commits.append(last[0])  # after that look, at the earliest
                last = before, version
                time.sleep(0.003)
        except TypeError as e:  # no row yet
            raise sqlite3.OperationalError from e
        finally:
            db.close()

    def wait_for(self, n):
        end = time.monotonic() + PATIENCE_S
        while len(self.commits) < n and time.monotonic() < end:
            time.sleep(0.005)
        return len(self.commits) >= n

    def stop(self):
        """Returns up to when all is due; None: nothing is."""
        self.ends = True
        self.join()
        return self.commits[-2] if len(self.commits) > 1 else None


# ---- one life

class Life:
    """What is the same for all that are killed."""

    def __init__(self, checks, label, base, rng):
        self.checks, self.label, self.base, self.rng = checks, label, base, rng
        self.db, self.work, self.journal_path = base / "trace.db", base / "work", base / "journal"
        remove(base)
        base.mkdir()
        self.work.mkdir()
        self.journal = os.open(self.journal_path, os.O_CREAT | os.O_APPEND | os.O_RDWR)
        self.due_ns, self.batches = None, 0
        self.done, self.errors, self.due = [], [], set()

    def check(self, fact, holds, detail=""):
        self.checks.check(f"{self.label}: {fact}", holds, detail)

    def wait_until_begun(self):
        """Before that there need be nothing in the trace: see StartLife."""
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            with contextlib.suppress(sqlite3.OperationalError), contextlib.closing(self.connect()) as db:
                if db.execute("SELECT count(*) FROM trace WHERE key = 'complete'").fetchone()[0]:
                    return True
            time.sleep(0.005)
        return False

    def wait_and_kill(self, pid):
        """After some batches, at any moment of the next."""
        batches = self.rng.choice([0, 3, 3, 3, 4, 6])
        watch = Watch(self.db)
        watch.start()
        self.check("batches come", watch.wait_for(batches), len(watch.commits))
        self.check("it has begun", self.wait_until_begun())
        time.sleep(0.25 * self.rng.random())
        os.kill(pid, signal.SIGKILL)
        self.due_ns, self.batches = watch.stop(), len(watch.commits)

    def read_journal(self):
        lines = [line.split() for line in self.journal_path.read_text().splitlines()]
        self.done = [(word + number, int(ns)) for word, number, ns in lines if word not in ("error", "pid")]
        self.errors = [(int(number), step) for word, number, step in lines if word == "error"]
        self.due = {name for name, ns in self.done if self.due_ns is not None and ns < self.due_ns}
        os.close(self.journal)

    def connect(self):
        return sqlite3.connect(f"file:{self.db}?mode=ro", uri=True)

    def check_sound(self, db, complete=(0,)):
        rows = db.execute("PRAGMA integrity_check").fetchall()
        self.check("sound", rows == [("ok",)], rows)
        facts = dict(db.execute("SELECT key, value FROM trace"))
        self.check("complete, or not", facts.get("complete") in complete, facts.get("complete"))
        self.check("the trace says that nothing is lost", facts["ops_lost"] == 0, facts["ops_lost"])
        ops = db.execute("SELECT count(*) FROM op").fetchone()[0]
        self.check("as many operations as it says", ops == facts["ops_recorded"],
                   (ops, facts["ops_recorded"]))
        return facts

    def check_files(self, complete=(0,)):
        """The steps that are due; of each client a beginning; no more than were done."""
        self.read_journal()
        db = self.connect()
        try:
            facts = self.check_sound(db, complete)
            known = {os.path.basename(path)[:-len(".done")] for (path,) in db.execute(
                "SELECT path2 FROM op WHERE name = 'rename' AND result = 0")}
        finally:
            db.close()
        names = {name for name, _ in self.done}
        if facts["complete"]:
            self.due = names
        self.check("missing, though two batches were written since", self.due <= known,
                   sorted(self.due - known)[:5])
        for one in {name[0] for name in known}:
            numbers = sorted(int(name[1:]) for name in known if name[0] == one)
            self.check("no gap", numbers == list(range(len(numbers))), len(numbers))
        # Each client may have had one answer that it could not note any more.
        self.check("nothing that was not done", len(known - names) <= 2, known - names)
        return len(names), len(known & names)


class MountLife(Life):
    def __init__(self, *args, options=()):
        super().__init__(*args)
        self.options = options

    def begin(self):
        self.mount = mount = Mount(*self.options, base=self.base)
        mount.__enter__()
        self.clients = [client(make_files, mount(self.work), self.journal, name) for name in "ab"]
        return mount

    def live(self):
        mount = self.begin()
        self.wait_and_kill(mount.pid)
        for pid in [mount.pid, *self.clients]:
            os.waitpid(pid, 0)
        mount.pid = None
        self.check_mount(mount.mnt)
        counts = self.check_files()
        self.check("errors of the clients in the middle, two",
                   {number for number, _ in self.errors} <= GONE and len(self.errors) == 2, self.errors)
        return counts

    def check_mount(self, mnt):
        said = subprocess.run(["stat", "-f", mnt], capture_output=True, text=True, timeout=60, check=False,
                              env=os.environ | {"LC_ALL": "C"})
        self.check("what the mount says", said.returncode == 1 and
                   "Transport endpoint is not connected" in said.stderr, said)
        done = subprocess.run([FTRAC, "umount", mnt], capture_output=True, text=True, timeout=60, check=False)
        self.check("ftrac umount", done.returncode == 0 and "was gone" in done.stderr, done)
        self.check("it is gone", not is_mounted(mnt))
        self.check("the directory is as before", os.listdir(mnt) == [])


class EndLife(MountLife):
    """Killed while it ends: all is in the trace, and it says so, or it does not."""

    takes_s = 0.02  # as the last one that was not killed

    def live(self):
        mount = self.begin()
        watch = Watch(self.db)
        watch.start()
        self.check("batches come", watch.wait_for(3))
        self.due_ns, self.batches = watch.stop(), len(watch.commits)
        for pid in self.clients:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        begin = time.monotonic()
        mount.take_away()
        delay = 1.2 * EndLife.takes_s * self.rng.random()
        time.sleep(delay)
        os.kill(mount.pid, signal.SIGKILL)
        status = os.waitstatus_to_exitcode(os.waitpid(mount.pid, 0)[1])
        mount.pid = None
        self.was_killed = status == -signal.SIGKILL
        if not self.was_killed:
            EndLife.takes_s = time.monotonic() - begin
        self.check("killed, or ended in order before", status in (0, -signal.SIGKILL), status)
        self.check("no mount is left", not is_mounted(mount.mnt))
        return self.check_files((0, 1) if self.was_killed else (1,))


class StartLife(Life):
    """Killed while it begins: there is no trace, an empty file, or one that does not say more than is so."""

    takes_s = 0.05

    def live(self):
        mnt = self.base / "mnt"
        mnt.mkdir()
        begin = time.monotonic()
        daemon = subprocess.Popen([FTRAC, "-f", "--db", self.db, "-o", f"source={self.work}", mnt],
                                  stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
        time.sleep(self.takes_s * self.rng.random())
        daemon.kill()
        daemon.communicate()
        if is_mounted(mnt):
            StartLife.takes_s = max(time.monotonic() - begin, 0.005)
            subprocess.run([FTRAC, "umount", mnt], check=True, capture_output=True, timeout=60)
        self.check("nothing stays mounted", not is_mounted(mnt))
        self.state = self.look()
        os.close(self.journal)
        self.check_again(mnt)
        return 0, 0

    def look(self):
        if not self.db.exists():
            return "no file"
        if self.db.stat().st_size == 0 and not pathlib.Path(f"{self.db}-wal").exists():
            return "an empty file"
        db = self.connect()
        try:
            self.check("sound", db.execute("PRAGMA integrity_check").fetchall() == [("ok",)])
            tables = {name for (name,) in db.execute("SELECT name FROM sqlite_schema")}
            facts = dict(db.execute("SELECT key, value FROM meta")) if "meta" in tables else {}
        finally:
            db.close()
        self.check("not complete", facts.get("complete", 0) == 0, facts)
        told = subprocess.run([WFSTAT, self.db], capture_output=True, text=True, timeout=60, check=False)
        self.check("wfstat reads it, or says in a line why not", told.returncode in (0, 1) and
                   told.stderr.startswith("wfstat: "), told)
        return "a run" if facts else "tables" if tables else "no tables"

    def check_again(self, mnt):
        """A new mount with the same trace file gives a trace, or says what to do."""
        told = subprocess.run([FTRAC, "--force", "--db", self.db, "-o", f"source={self.work}", mnt],
                              capture_output=True, text=True, timeout=60, check=False)
        self.check("once more", told.returncode == (self.state == "an empty file") and
                   (told.returncode == 0 or "name another file" in told.stderr), (self.state, told))
        if is_mounted(mnt):
            subprocess.run([FTRAC, "umount", mnt], check=True, timeout=60)
            subprocess.run(["flock", self.db, "true"], check=True, timeout=60)


class RunLife(Life):
    """ftrac run: its command dies with it, and no mount is left."""

    def live(self):
        code = f"{THIS}; kills.make_files(sys.argv[1], 1, 'a')"
        run = subprocess.Popen([FTRAC, "run", "--db", self.db, "--scope", self.work, "--", sys.executable,
                                "-c", code, self.work], stdout=self.journal, stdin=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
        self.wait_and_kill(run.pid)
        run.wait()
        size = self.wait_until_quiet()
        self.check("its command has ended, too", os.fstat(self.journal).st_size == size)
        with open("/proc/self/mountinfo", encoding="utf-8") as f:
            left = [line for line in f if str(self.base) in line]  # of others there may be some
            self.check("no mount is left", not left, left)
        counts = self.check_files()
        self.check("what it may have been told", {number for number, _ in self.errors} <= GONE, self.errors)
        return counts

    def wait_until_quiet(self):
        """Its orphans have become ours, the command among them."""
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            try:
                os.waitpid(-1, 0)
            except ChildProcessError:
                break
        return os.fstat(self.journal).st_size


class ProcmonLife(Life):
    """procmon: its command goes on."""

    def live(self):
        code = f"{THIS}; import signal; signal.alarm(120); kills.start_programs(None, 1, 'p')"
        monitor = subprocess.Popen([PROCMON, "--processes", self.rng.choice(["ptrace", "auto"]),
                                    "--db", self.db, "--", sys.executable, "-c", code],
                                   stdout=self.journal, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.wait_and_kill(monitor.pid)
        monitor.wait()
        size = os.fstat(self.journal).st_size
        end = time.monotonic() + PATIENCE_S
        while size and os.fstat(self.journal).st_size < size + 40 and time.monotonic() < end:
            time.sleep(0.01)
        self.check("the command goes on", os.fstat(self.journal).st_size > size or not size)
        self.end_command()
        return self.check_processes()

    def end_command(self):
        for line in self.journal_path.read_text().splitlines():
            word, pid, _ = line.split()
            if word == "pid":
                os.kill(int(pid), signal.SIGKILL)
        RunLife.wait_until_quiet(self)

    def check_processes(self):
        """An end is told before the next start is let go, so what counts is the next but one."""
        self.read_journal()
        self.due = set([name for name, _ in self.done if name in self.due][:-2])
        db = self.connect()
        try:
            self.check_sound(db)
            ended = {f"p{pid}" for (pid,) in db.execute(
                "SELECT pid FROM process WHERE exe LIKE '%/true' AND exit_code = 0 AND end_ns > start_ns")}
        finally:
            db.close()
        names = {name for name, _ in self.done}
        self.check("missing, though two batches were written since", self.due <= ended,
                   sorted(self.due - ended)[:5])
        return len(names), len(ended & names)


def plan(n, rng):
    """Kinds of lives: (name, class, options) n times, each kind at least once, in any order."""
    kinds = [("mount", MountLife, {"options": ()}),
             ("mount cached", MountLife, {"options": ("--fidelity", "cached")}),
             ("mount --stat", MountLife, {"options": ("--stat",)}),
             ("run", RunLife, {}), ("procmon", ProcmonLife, {}), ("end", EndLife, {}), ("start", StartLife, {})]
    if has_fidelity("open"):
        kinds.append(("mount open", MountLife, {"options": ("--fidelity", "open")}))
    if not kernel_refuses():
        kinds.append(("mount call", MountLife, {"options": ("--fidelity", "call")}))
    lives = [kinds[i % len(kinds)] for i in range(n)]
    rng.shuffle(lives)
    return lives


def main():
    need_fuse()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--kills", type=int)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("kinds", nargs="*")
    given = parser.parse_args()
    checks, rng = Checks(), random.Random(given.seed)
    n = given.kills or (200 if given.all else 16)
    print(f"seed {given.seed}")
    tally = collections.Counter()
    per_kind = collections.Counter()
    with Mount() as own:
        own.unmount()
        for i, (kind, life, settings) in enumerate(plan(n, rng)):
            if given.kinds and kind not in given.kinds:
                continue
            one = life(checks, f"kill {i}, {kind}", own.base / "life", rng, **settings)
            done, known = one.live()
            tally.update(done=done, known=known, due=len(one.due), batches=one.batches)
            tally.update(f"told {os.strerror(number)}" for number, _ in one.errors)
            per_kind.update([f"{kind}: {what}" for what in (
                ["kills"] + ["with something due"] * bool(one.due) + [getattr(one, "state", "")]
                + ["in the middle"] * getattr(one, "was_killed", False)) if what])
        remove(own.base / "life")
    for what, count in sorted((per_kind + tally).items()):
        print(f"  {what} {count}")
    kills = sum(count for what, count in per_kind.items() if what.endswith(": kills"))
    with_due = sum(count for what, count in per_kind.items() if what.endswith("something due"))
    print(f"{kills} kills, {with_due} of them with something due: {tally['due']} of {tally['done']} steps that "
          f"were done, {tally['known']} are in the traces", flush=True)
    checks.check("in most cases something is due", with_due > kills / 2, f"{with_due} of {kills}")
    checks.end()


if __name__ == "__main__":
    main()
