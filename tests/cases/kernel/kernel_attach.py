#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# serial: records all processes of the machine
# seconds: 20
# long: --long --for 20
"""ftrac record: processes that run already, against what strace saw of them from their start.

Of each thread, the rows must be those of strace's lines that fall into the time of the record: all of a thread that began
and ended in it, and a piece without a gap of the others.

kernel_attach.py [--long] [--for SECONDS]: of each record
kernel_attach.py --build ARCHIVE [--for SECONDS]: by --pid, of a build of the source in this archive, as redis-7.0.15.tar.gz
"""
import argparse
import collections
import contextlib
import csv
import io
import os
import pathlib
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

import kernelleft
import kernelrecord
import kernelstrace
import straced
from filesystems import until
from ftractest import FTRAC, Checks, need, need_kernel
from sample import one

THREADS = """
import os, threading, time
def work(n, f):
    while True:
        f.write(b"x" * (n + 1))
        f.flush()
        with open("/etc/passwd", "rb", buffering=0) as p:
            p.read(100)
        time.sleep(0.01)
before = [open(f"before{n}", "wb") for n in range(3)]
for n, f in enumerate(before[1:]):
    threading.Thread(target=work, args=(n, f), daemon=True).start()
work(7, before[0])
"""
LOOP = "while :; do echo 'int f(void) { return 1; }' >f.c; gcc -c f.c; ls -l /etc | sort | head -n 3 >out; mkdir d; mv out d; rm -r d; done"
WORK = f"python3 -S threads.py & {LOOP}"


WFDAG = os.environ.get("WFDAG", "build/dag/wfdag")


class Running:
    """A workload below strace: small commands without an end, or a build of the source in an archive."""

    archive = None

    def __init__(self, base):
        self.work, self.prefix = base / "work", base / "log"
        self.work.mkdir()
        (self.work / "threads.py").write_text(THREADS)
        command = self.unpack() if self.archive else WORK
        calls = ",".join(f"?{call}" for call in sorted(kernelstrace.CALLS | dict.fromkeys(straced.CALLS.split(","))))
        self.strace = subprocess.Popen(
            ["strace", "-ff", "-A", "-ttt", "-y", "-v", "-s", "512", "-e", f"trace={calls}", "-e", "signal=none", "-o", self.prefix,
             "sh", "-c", command], cwd=self.work, start_new_session=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        time.sleep(1.5)

    def unpack(self):
        subprocess.run(["tar", "xf", self.archive, "--strip-components=1", "-C", self.work], check=True)
        return "make -s -j2 MALLOC=libc OPTIMIZATION=-O0 REDIS_CFLAGS=-w; :"

    def shell(self):
        children = pathlib.Path(f"/proc/{self.strace.pid}/task/{self.strace.pid}/children").read_text().split()
        return int(children[0])

    def end(self):
        os.killpg(self.strace.pid, signal.SIGKILL)
        self.strace.wait()


recorders = []  # the numbers of our processes that recorded


def record(base, *options):
    db = base / "trace.db"
    with subprocess.Popen([FTRAC, "record", "-q", "--strict", "--force", "--db", db, *options], stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL) as ftrac:
        said = ftrac.communicate(timeout=200)[1]
    recorders.append(ftrac.pid)
    return db, (ftrac.returncode, said)


def begin_of(seen, rows):
    """Where in what was seen the most rows follow; None: nowhere."""
    def same(k):
        return next((n for n, (a, b) in enumerate(zip(seen[k:], rows)) if kernelrecord.differs(a, b)), min(len(rows), len(seen) - k))
    best = max(range(len(seen)), key=same, default=None)
    return best if best is not None and same(best) else None


def compare(checks, name, db, running):
    """Returns how many threads began and ended in the record, and how many only partly were in it."""
    recorded, comparison = kernelrecord.Record(db), kernelrecord.Comparison(name)
    began, = recorded.base.execute("SELECT min(start_ns) FROM t.op").fetchone()
    recorded.base.execute("DELETE FROM rows WHERE op = 'exec' AND start_ns < ?", (began,))
    whole = {pid for (pid,) in recorded.base.execute(
        "SELECT pid FROM t.process WHERE start_ns > ? AND end_ns NOTNULL AND exit_signal IS NULL", (began,))}
    counts = collections.Counter()
    for tid, seen in kernelrecord.read_strace(running.prefix, running.work):
        rows = recorded.rows(tid)
        if not rows:
            continue
        if tid not in whole:
            at = begin_of(seen, rows)
            if at is None:
                print(f"{name}: thread {tid}: {rows[:4]} were not seen")
            seen = seen[at or 0:]
            seen = seen[:len(rows)]
        counts[tid in whole] += 1
        comparison.thread(tid, seen, rows)
    comparison.end(checks)
    return counts


def check(checks, name, options_of, seconds, base):
    running = Running(base)
    try:
        options = options_of(running)
        db, said = record(base, "--for", str(seconds), *options)
        checks.equal(f"{name}: exit status", said, (0, ""))
    finally:
        running.end()
    counts = compare(checks, name, db, running)
    checks.check(f"{name}: threads that are whole, and threads in part", counts[True] and counts[False] >= 3, counts)
    return db, running


def rows_of(db, sql):
    record_of = kernelrecord.Record(db)
    return [row for row in record_of.base.execute(sql)]


def by_pid(checks, base, seconds):
    db, running = check(checks, "--pid", lambda running: ["--pid", str(running.shell())], seconds, base)
    others = rows_of(db, "SELECT pid, comm FROM t.process WHERE parent IS NULL")
    checks.equal("--pid: one process has no parent", len(others), 1)
    files = {path for (path,) in rows_of(db, "SELECT DISTINCT path FROM t.op WHERE name = 'write'")}
    for n in range(3):
        path = str(running.work / f"before{n}")
        checks.check("--pid: what was open before is known by its path", path in files or os.fsencode(path) in files, n)


def of_all(checks, base, seconds):
    beside = subprocess.Popen(["sh", "-c", "while :; do cat /etc/group >/dev/null; sleep 0.1; done"])
    idle = subprocess.Popen(["sleep", "1000"])
    try:
        db, _ = check(checks, "--all", lambda running: ["--all"], seconds, base)
    finally:
        beside.kill()
        idle.kill()
        beside.wait()
        idle.wait()
    found = dict(rows_of(db, "SELECT pid, comm FROM t.process"))
    checks.check("--all: a process beside is there", beside.pid in found, found)
    checks.equal("--all: a process that does nothing, too", found.get(idle.pid), "sleep")
    checks.check("--all: no thread of the kernel is", found.get(2) != "kthreadd", found.get(2))
    checks.check("--all: ftrac itself is not", recorders[-1] not in found, found)
    children = rows_of(db, f"SELECT count(*) FROM t.process c JOIN t.process p ON p.id = c.parent WHERE p.pid = {beside.pid}")
    checks.check("--all: its children have a parent", children[0][0] > 3, children)


def group_root():
    with open("/proc/self/mounts", encoding="utf-8") as f:
        found = [line.split()[1] for line in f if line.split()[2] == "cgroup2"]
    return pathlib.Path(found[0]) if found else None


def by_group(checks, base, seconds):
    root = group_root()
    if not root or not os.access(root, os.W_OK):
        print("--cgroup: not tried: no control groups of version 2 here")
        return
    group = root / f"ftrac-case-{os.getpid()}"
    group.mkdir()

    def enter(running):
        (group / "cgroup.procs").write_text(str(running.shell()))
        return ["--cgroup", str(group)]

    beside = subprocess.Popen(["sh", "-c", "while :; do cat /etc/group >/dev/null; sleep 0.1; done"])
    late = subprocess.Popen(["sh", "-c", f"sleep 2.5; echo $$ >{group}/cgroup.procs; cat /etc/group >/dev/null; exit 3"])
    try:
        db, _ = check(checks, "--cgroup", enter, seconds, base)
        found = {pid for (pid,) in rows_of(db, "SELECT pid FROM t.process")}
        checks.check("--cgroup: a process that enters later is there", late.pid in found, found)
        checks.check("--cgroup: one beside is not", beside.pid not in found, found)
    finally:
        beside.kill()
        beside.wait()
        late.wait()
        time.sleep(0.3)
        for pid in (group / "cgroup.procs").read_text().split():
            (root / "cgroup.procs").write_text(pid)
        group.rmdir()


# Forks as fast as it can, two generations deep; no process ends, and all go on calling.
FORKS = """
import os, sys, time
def work():
    while True:
        os.close(os.open("/etc/group", os.O_RDONLY))
        time.sleep(1)
for n in range(int(sys.argv[1])):
    if os.fork() == 0:
        if os.fork() == 0:
            work()
        work()
print("all", flush=True)
work()
"""


def count_of(db, rows):
    """Of a trace that is being written; 0: it does not exist yet."""
    try:
        with contextlib.closing(sqlite3.connect(f"file:{db}?mode=ro", uri=True)) as base:
            return base.execute(f"SELECT count(*) FROM {rows}").fetchone()[0]
    except sqlite3.OperationalError:
        return 0


def sleeps_before(checks, base):
    """Of a process that slept before its first call in the record, most of the time is not known, and so no main reason."""
    late = subprocess.Popen(["python3", "-S", "-c", "import os, time; time.sleep(3); os.system('sleep 0.2; true')"])
    record(base, "--pid", str(late.pid), "--for", "6")
    late.wait()
    done = subprocess.run([WFDAG, "critical-path", "--format", "csv", base / "trace.db"], capture_output=True, text=True, check=True)
    columns, *rows = csv.reader(io.StringIO(done.stdout))
    said = {row[columns.index("process")]: row[columns.index("mostly")] for row in rows}
    checks.check("slept before: of itself nothing, of its children something", len(said) > 1 and not said.pop("1") and all(said.values()), rows)


TALKS = """
import os, time
r, w = os.pipe()
if os.fork() == 0:
    os.close(w)
    while os.read(r, 1000): pass
    os._exit(0)
end = time.monotonic() + 20
while time.monotonic() < end: os.write(w, bytes(100)); time.sleep(0.01)
"""


def talk_meanwhile(checks, base):
    """What two processes hand to each other; of one alone it is not known by which process.  Both are on the critical path."""
    writer = subprocess.Popen(["python3", "-S", "-c", TALKS], start_new_session=True)
    until(lambda: len(descendants(writer.pid)) == 2)
    reader = max(descendants(writer.pid) - {writer.pid})
    for pids in (writer.pid, reader), (reader,):
        db, _ = record(base, *(word for pid in pids for word in ("--pid", str(pid))), "--for", "1")
        with contextlib.closing(sqlite3.connect(db)) as trace:
            flows = trace.execute("SELECT w.pid, r.pid, bytes FROM flow JOIN process w ON w.id = writer JOIN process r ON r.id = reader").fetchall()
            moved = dict(trace.execute("SELECT p.pid, max(sum(u.bread), sum(u.bwrite)) FROM use u JOIN process p ON p.id = u.process GROUP BY 1"))
        # What was written first may have been read before the record began, or be read after it has ended.
        known = {moved[reader], None} if len(pids) == 2 else set()
        checks.equal(f"talk meanwhile, {len(pids)} recorded: flows", [flow[:2] for flow in flows], [(writer.pid, reader)] if known else [])
        checks.check(f"talk meanwhile, {len(pids)} recorded: bytes", {flow[2] for flow in flows} <= known and moved[reader] > 1000, (flows, moved))
        done = subprocess.run([WFDAG, "critical-path", "--format", "csv", db], capture_output=True, text=True, check=True)
        checks.check(f"talk meanwhile, {len(pids)} recorded: the path has no gap", len(done.stdout.splitlines()) > 1, done.stdout)
    os.killpg(writer.pid, signal.SIGKILL)
    writer.wait()


def has_operations(db):
    return count_of(db, "op") > 0


def descendants(pid):
    found = [pid]
    for one in found:
        for task in pathlib.Path(f"/proc/{one}/task").iterdir():
            found += [int(child) for child in (task / "children").read_text().split()]
    return set(found)


def forks_meanwhile(checks, base):
    """Of a process that forks all the time, no process is lost; its forks do not wait for us."""
    looked = 0
    for _ in range(3):
        forking = subprocess.Popen(["python3", "-S", "-c", FORKS, "500"], start_new_session=True, stdout=subprocess.PIPE)
        (base / "trace.db").unlink(missing_ok=True)
        one = subprocess.Popen([FTRAC, "record", "-q", "--strict", "--db", base / "trace.db", "--pid", str(forking.pid)])
        try:
            forking.stdout.readline()
            there = descendants(forking.pid)
            end = time.monotonic() + 100
            while time.monotonic() < end and count_of(base / "trace.db", "(SELECT DISTINCT process FROM op WHERE name = 'open')") < len(there):
                time.sleep(0.5)
            one.send_signal(signal.SIGINT)
            checks.equal("forks meanwhile: exit status", one.wait(timeout=60), 0)
        finally:
            os.killpg(forking.pid, signal.SIGKILL)
            forking.wait()
        rows = rows_of(base / "trace.db", "SELECT p.pid, max(p.parent NOTNULL), count(o.name) FROM t.process p LEFT JOIN t.op o "
                       "ON o.process = p.id AND o.name = 'open' GROUP BY p.pid")
        found = {pid for pid, _, opens in rows if opens}
        checks.check("forks meanwhile: all are there", not there - found, (len(there), len(found), len(there - {row[0] for row in rows}), sorted(there - found)[:5]))
        checks.equal("forks meanwhile: one has no parent", [pid for pid, parent, _ in rows if not parent], [forking.pid])
        looked += len(there)
    print(f"forks meanwhile: {looked} processes recorded")


NAMELESS = """
import os, time
gone = open("gone", "w+b", buffering=0)
os.unlink("gone")
never = os.open(".", os.O_TMPFILE | os.O_RDWR)
print(os.fstat(never).st_ino, flush=True)
while True:
    gone.write(b"x")
    os.write(never, b"yy")
    time.sleep(0.05)
"""


def files_without_names(checks, base):
    """What was open before, and had lost its name, or never had one."""
    writer = subprocess.Popen(["python3", "-S", "-c", NAMELESS], cwd=base, stdout=subprocess.PIPE, text=True)
    try:
        number = int(writer.stdout.readline())
        record(base, "--pid", str(writer.pid), "--for", "1")
    finally:
        writer.kill()
        writer.wait()
    rows = rows_of(base / "trace.db", "SELECT f.path, f.kind, f.deleted, sum(o.bytes) / count(*), count(*) > 3 FROM t.op o JOIN t.file f "
                   "ON f.id = o.file WHERE o.name = 'write' GROUP BY 1 ORDER BY 1")
    checks.equal("files without names", rows, [(f"{base}/#{number}", "file", 1, 2, 1), (f"{base}/gone", "file", 1, 1, 1)])


def number_is_given_again(checks, base):
    """A process that slept and has ended: its number's next owner is a stranger."""
    if not os.access("/proc/sys/kernel/ns_last_pid", os.W_OK):
        print("a number that is given again: not tried: the kernel is without CONFIG_CHECKPOINT_RESTORE")
        return
    busy = subprocess.Popen(["sh", "-c", "while :; do cat /etc/group >/dev/null; done"])
    sleeper = subprocess.Popen(["sleep", "1000"])
    one = subprocess.Popen([FTRAC, "record", "-q", "--force", "--db", base / "again.db", "--pid", str(busy.pid), "--pid", str(sleeper.pid)])
    try:
        while one.poll() is None and not has_operations(base / "again.db"):
            time.sleep(0.2)
        sleeper.kill()
        sleeper.wait()
        for _ in range(200):
            pathlib.Path("/proc/sys/kernel/ns_last_pid").write_text(str(sleeper.pid - 1))
            stranger = subprocess.Popen(["head", "-c1", "/etc/hostname"], stdout=subprocess.DEVNULL)
            stranger.wait()
            if stranger.pid == sleeper.pid:
                break
        one.send_signal(signal.SIGINT)
        one.wait(timeout=60)
    finally:
        busy.kill()
        busy.wait()
    if stranger.pid != sleeper.pid:
        print("a number that is given again: not tried: the kernel gave others")
        return
    found = {comm for (comm,) in rows_of(base / "again.db", f"SELECT comm FROM t.process WHERE pid = {sleeper.pid}")}
    checks.check("a number that is given again: its owner was not asked for", "sleep" in found and "head" not in found, found)


def refusals(checks, base):
    thread = next(tid for tid in map(int, os.listdir("/proc/self/task")) if tid != os.getpid())
    for options, status, word in (((), 2, "must say"), (("--all", "--pid", "1"), 2, "exclude"), (("--pid", "x"), 2, "--pid"),
                                  (("--pid", "999999999"), 1, "999999999: there is no such"),
                                  (("--pid", str(os.getpid()), "--pid", "999999998"), 1, "999999998: there is no such"),
                                  (("--pid", str(thread)), 1, f"thread of process {os.getpid()}"), (("--cgroup", "/nowhere"), 1, "/nowhere"),
                                  (("--cgroup", str(base)), 1, "cgroup2"), (("--all", "ls"), 2, "'ls'"),
                                  (("--all", "--for", "x"), 2, "--for")):
        (base / "trace.db").unlink(missing_ok=True)
        _, (got, said) = record(base, *options)
        checks.equal(f"{options}: exit status", got, status)
        checks.check(f"{options}: one line that says it", word in said and said.count("\n") == 1, said)




def ends(checks, base):
    """By a signal; and with the process."""
    for how in signal.SIGINT, signal.SIGTERM:
        one = subprocess.Popen([FTRAC, "record", "--all", "--force", "--db", base / "trace.db"], stderr=subprocess.PIPE, text=True)
        time.sleep(1)
        one.send_signal(how)
        said = one.communicate(timeout=60)[1]
        checks.equal(f"{how.name}: exit status", one.returncode, 0)
        checks.check(f"{how.name}: a summary", "ran already" in said, said)
    (base / "trace.db").unlink()
    short = subprocess.Popen(["sh", "-c", f"while ! [ -e {base}/go ]; do sleep 0.1; done; cat /etc/group; exit 7"], stdout=subprocess.DEVNULL)
    one = subprocess.Popen([FTRAC, "record", "-q", "--force", "--db", base / "trace.db", "--pid", str(short.pid)])
    while one.poll() is None and not has_operations(base / "trace.db"):
        time.sleep(0.2)
    (base / "go").touch()
    checks.equal("the process ends: exit status", (one.wait(timeout=60), short.wait()), (0, 7))
    checks.equal("the process ends: its status", rows_of(base / "trace.db", f"SELECT exit_code FROM t.process WHERE pid = {short.pid}"), [(7,)])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--for", dest="seconds", type=float, default=3)
    parser.add_argument("--build")
    given = parser.parse_args()
    need_kernel()
    need("strace", "gcc", "python3")
    checks = Checks()
    if given.build:
        Running.archive = os.path.abspath(given.build)
        with tempfile.TemporaryDirectory(prefix="ftrac-case-") as directory:
            base = pathlib.Path(directory).resolve()
            check(checks, "--build", lambda running: ["--pid", str(running.shell())], given.seconds, base)
        kernelleft.end(checks)
    for function in one([by_pid, of_all, by_group]):
        with tempfile.TemporaryDirectory(prefix="ftrac-case-") as directory:
            function(checks, pathlib.Path(directory).resolve(), given.seconds)
        sys.stdout.flush()
    with tempfile.TemporaryDirectory(prefix="ftrac-case-") as directory:
        forks_meanwhile(checks, pathlib.Path(directory).resolve())
        sleeps_before(checks, pathlib.Path(directory).resolve())
        talk_meanwhile(checks, pathlib.Path(directory).resolve())
        files_without_names(checks, pathlib.Path(directory).resolve())
        number_is_given_again(checks, pathlib.Path(directory).resolve())
        threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
        refusals(checks, pathlib.Path(directory).resolve())
        ends(checks, pathlib.Path(directory).resolve())
    kernelleft.end(checks)


main()
