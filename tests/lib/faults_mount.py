# SPDX-License-Identifier: MIT
"""Runs of a mount in which something fails: what must be so whatever it was."""
import errno
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time

from faults import crashed, remove, steps
from ftractest import FTRAC

PATIENCE_S = 60


class Client:
    """A small application: it does each kind of thing, and knows what must come out.

    Each call either does what it should, or fails with an error, after which the state is looked at
    natively; what the mount shows must never be something else.
    """

    def __init__(self, top, native):
        self.top, self.native = top, native
        self.errors, self.wrong = [], []

    def do(self, what, call):
        try:
            return call()
        except OSError as e:
            self.errors.append((what, e.errno))
            return None

    def same(self, what, got, wanted):
        if got is not None and got != wanted:
            self.wrong.append((what, got[:40], wanted[:40]))

    def read(self, name):
        with open(f"{self.top}/{name}", "rb") as f:
            return f.read()

    def write(self, name, data):
        with open(f"{self.top}/{name}", "wb", buffering=0) as f:
            n = f.write(data)
        return n

    def is_served(self):
        try:
            return os.stat(self.top).st_dev != os.stat(self.native).st_dev
        except OSError:
            return True

    def run(self):
        """What is done below a mount that ended before it began to serve is no failure."""
        try:
            self.work()
        except FileNotFoundError:
            if self.is_served():
                raise
        if not self.is_served():
            self.errors.append(("the mount has ended", errno.ENOTCONN))
            self.wrong = []

    def work(self):
        for i in range(3):
            data = bytes([65 + i]) * (5000 + i)
            if self.do("write", lambda: self.write(f"f{i}", data)) == len(data):
                self.same("read", self.do("read", lambda: self.read(f"f{i}")), data)
                with open(f"{self.native}/f{i}", "rb") as f:
                    self.same("natively", f.read(), data)
        self.do("mkdir", lambda: os.mkdir(f"{self.top}/d"))
        self.do("rename", lambda: os.rename(f"{self.top}/f1", f"{self.top}/d/g"))
        self.do("symlink", lambda: os.symlink("d/g", f"{self.top}/l"))
        self.do("link", lambda: os.link(f"{self.top}/f2", f"{self.top}/h"))
        self.do("read", lambda: self.read("l"))
        self.do("truncate", lambda: os.truncate(f"{self.top}/f2", 100))
        self.do("xattr", lambda: os.setxattr(f"{self.top}/f0", "user.a", b"1"))
        self.do("xattr", lambda: os.listxattr(f"{self.top}/f0"))
        self.do("chmod", lambda: os.chmod(f"{self.top}/f0", 0o600))
        self.do("append", lambda: open(f"{self.top}/f0", "ab").close())
        self.do("unlink", lambda: os.unlink(f"{self.top}/h"))
        self.do("statvfs", lambda: os.statvfs(self.top))
        names = self.do("readdir", lambda: sorted(os.listdir(self.top)))
        if names is not None and names != sorted(os.listdir(self.native)):
            self.wrong.append(("readdir", names, os.listdir(self.native)))
        self.do("run", lambda: subprocess.run(["cat", f"{self.top}/f2"], check=False,
                                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        for i in range(30):
            self.do("write", lambda: self.write(f"more{i}", b"x" * i))


class Run:
    """One mount with a fault in it."""

    def __init__(self, base, environment, options=()):
        self.base, self.environment = base, environment
        self.mnt, self.work, self.db = base / "mnt", base / "work", base / "trace.db"
        for path in self.mnt, self.work:
            path.mkdir()
        self.log = base / "log"
        # Never "/": whatever goes wrong in a case about things that go wrong stays in here.
        self.command = [FTRAC, "-f", "--db", str(self.db), "-o", f"source={self.work}", *options,
                        str(self.mnt)]
        self.status, self.client, self.was_mounted = None, None, False

    def start(self):
        with open(self.log, "wb") as log:
            self.daemon = subprocess.Popen(self.command, env=self.environment, stderr=log,
                                           stdout=log, stdin=subprocess.DEVNULL)
        end = time.monotonic() + PATIENCE_S
        while self.daemon.poll() is None and time.monotonic() < end:
            if is_mounted(self.mnt):
                self.was_mounted = True
                return True
            time.sleep(0.002)
        return False

    def end(self):
        """Ends as it should; the status, or None if it had to be killed."""
        if self.daemon.poll() is None:
            self.daemon.send_signal(signal.SIGTERM)
        try:
            self.status = self.daemon.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.daemon.kill()
            self.daemon.wait()
        left = is_mounted(self.mnt)
        while is_mounted(self.mnt):
            subprocess.run(["umount", "-l", self.mnt], check=False)
        return left

    def said(self):
        return self.log.read_text(errors="replace")


def is_mounted(path):
    with open("/proc/self/mountinfo") as f:
        return any(line.split()[4] == str(path) for line in f)


def client_of(run):
    """In a process of its own, with a limit: (errors, wrong), or None if it hung."""
    code = ("import sys, json; sys.path.insert(0, sys.argv[1]); from faults_mount import Client\n"
            "c = Client(sys.argv[2], sys.argv[3]); c.run(); print(json.dumps([c.errors, "
            "[[str(x) for x in w] for w in c.wrong]]))")
    client = subprocess.Popen([sys.executable, "-c", code, os.path.dirname(__file__),
                               str(run.mnt), str(run.work)], text=True, cwd="/",
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        out, said = client.communicate(timeout=PATIENCE_S)
    except subprocess.TimeoutExpired:
        run.daemon.kill()  # else a client that waits for an answer cannot be killed
        client.kill()
        client.communicate()
        return None
    return json.loads(out) if client.returncode == 0 else [[], [["client", said]]]


def look_at_trace(checks, label, run):
    """What there is is sound; complete only if nothing is missing; what is missing is counted."""
    db = sqlite3.connect(f"file:{run.db}?mode=ro", uri=True)
    try:
        checks.equal(f"{label}: sound", db.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
        facts = dict(db.execute("SELECT key, value FROM meta"))
        ops = db.execute("SELECT count(*), max(id) FROM op").fetchone()
        checks.equal(f"{label}: the count of operations", (facts["ops_recorded"], ops[1] or 0),
                     (ops[0], ops[0]))
        if facts["complete"]:
            checks.check(f"{label}: complete, nothing lost",
                         facts["ops_lost"] == 0 and "recording_error" not in facts, facts)
        return facts
    finally:
        db.close()


def one(checks, faults, label, base, kind, n, settings, tally):
    remove(base)
    base.mkdir()
    run = Run(base, faults.environment(FTRAC, **{kind: n}, **settings))
    try:
        mounted = run.start()
        seen = client_of(run) if mounted else None
    finally:
        left = run.end()
    if not faults.failed():
        return False
    said = run.said()
    if "allocating bitmask" in said:
        tally["ended by libnuma"] += 1  # which calls exit() in libfuse's threads; with a word
        checks.check(f"{label}: not as if in order", run.status != 0, run.status)
        return True
    crash = run.status is not None and crashed(run.status)
    checks.check(f"{label}: no crash", not crash, f"{run.status}\n{said[-1500:]}")
    checks.check(f"{label}: ends", run.status is not None, said[-1500:])
    # libfuse has umount(8) and fusermount3(1) do it, which takes another process.
    checks.check(f"{label}: nothing stays mounted", not left or crash or "fuse: fork: " in said, said)
    if not mounted:
        tally["not mounted"] += 1
        # libfuse says some things before it can be told how to speak, or not by that way.
        checks.check(f"{label}: said why", run.status != 0 and ("ftrac: " in said or "fuse: " in said),
                     f"{run.status} {said}")
        return True
    checks.check(f"{label}: no application hangs", seen is not None or crash, said)
    if seen and seen[0] and {number for _, number in seen[0]} == {errno.ECONNREFUSED}:
        tally["not begun"] += 1  # see never_begins()
        return True
    if seen and not crash:
        tally["errors"] += len(seen[0]) > 0
        checks.equal(f"{label}: nothing wrong is shown", seen[1], [])
        allowed = {errno.ENOMEM, int(settings.get("errno", errno.ENOMEM))}
        if settings.get("thread") == "ftrac-writer":
            checks.equal(f"{label}: the application does not notice", seen[0], [])
        elif not run.daemon.returncode:
            others = [e for e in seen[0] if e[1] not in allowed | {errno.ENOENT, errno.ENODATA}]
            checks.equal(f"{label}: only that error", others, [])
    if run.db.exists() and not crash:
        facts = look_at_trace(checks, label, run)
        if not facts["complete"]:
            tally["stopped"] += 1
            checks.check(f"{label}: says that it is incomplete", run.status != 0 and
                         "ftrac: " in said, f"{run.status} {said!r} {facts}")
    return True


def mount_runs(checks, faults, given, kind, settings):
    tally = {"not mounted": 0, "not begun": 0, "errors": 0, "stopped": 0, "ended by libnuma": 0}
    base = faults.base / "run"
    base.mkdir()
    run = Run(base, faults.environment(FTRAC, **settings))
    checks.check("mounted without a fault", run.start())
    seen = client_of(run)
    run.end()
    checks.equal("without a fault", (run.status, seen), (0, [[], []]))
    total = faults.count(kind)
    for n in steps(total, given):
        one(checks, faults, f"{kind} {n} of {total}", base, kind, n, settings, tally)
    remove(base)
    return f" of {total}; " + ", ".join(f"{key} {n}" for key, n in tally.items())


def never_begins(checks, faults, given):
    """libfuse has no memory for the kernel's first request: the command that waits for the mount reports it."""
    base = faults.base / "run"
    for n in 1, 2, 3:
        remove(base)
        base.mkdir()
        run = Run(base, faults.environment(FTRAC, alloc=n, thread="fuse_worker"))
        run.command.remove("-f")
        done = subprocess.run(run.command, env=run.environment, capture_output=True, text=True,
                              timeout=60, check=False)
        faults.failed()
        checks.check(f"first request, allocation {n}: mounted, or said why not",
                     (done.returncode == 0) == is_mounted(run.mnt) and
                     (done.returncode == 0 or done.stderr.count("ftrac: ") >= 1),
                     f"{done.returncode} {done.stderr}")
        if is_mounted(run.mnt):
            subprocess.run([FTRAC, "umount", run.mnt], check=True, timeout=60)
        else:
            checks.check(f"first request, allocation {n}: no trace of a run that was none",
                         not run.db.exists())
