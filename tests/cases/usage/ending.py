#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 20
"""No tool shows a trace between the end of its run and its last row: `ftrac umount` waits until the trace is complete, and
the tools wait for a writer that completes it.  A run that goes on is read at once, and so is what a killed writer left.

The daemons are stopped (SIGSTOP) while they complete their traces, so that it can be seen what waits for them.
"""
import contextlib
import fcntl
import os
import signal
import subprocess
import time

from ftractest import FTRAC, Checks, Mount, need_fuse
from hostile import WFDAG, WFREPORT, WFSTAT

need_fuse()
checks = Checks()
PATIENCE_S = 120
ATTEMPTS = 20
WRITES = 3000


def work(mount, name="work"):
    """Some operations to complete the trace of."""
    path = mount.base / name
    fd = os.open(mount(path), os.O_RDWR | os.O_CREAT)
    for i in range(WRITES):
        os.pwrite(fd, b"x", i)
    os.close(fd)


def is_locked(db):
    with open(db, "rb") as f:
        try:
            fcntl.flock(f, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def is_mounted(path):
    with open("/proc/self/mounts", encoding="utf-8", errors="replace") as f:
        return any(line.split()[1] == str(path) for line in f)


def stopped(mount):
    """Stops the daemon as soon as its trace says that the run has ended; whether it still had to complete the trace."""
    while is_mounted(mount.mnt) or (is_locked(mount.db) and not mount.fact("ending") and not mount.fact("complete")):
        pass
    os.kill(mount.pid, signal.SIGSTOP)
    return is_locked(mount.db) and not mount.fact("complete")


def go_on(mount):
    if mount.pid:
        os.kill(mount.pid, signal.SIGCONT)
        mount.wait()


@contextlib.contextmanager
def caught(remove, **more):
    """A mount whose daemon stands between the unmount and the complete trace; remove(mount) begins the unmount, and returns
    what runs then."""
    for _ in range(ATTEMPTS):
        with Mount(**more) as mount:
            work(mount)
            running = remove(mount)
            if not stopped(mount):
                go_on(mount)
                running.communicate(timeout=PATIENCE_S)
                continue
            try:
                yield mount, running
            finally:
                go_on(mount)
            return
    raise AssertionError(f"{ATTEMPTS} daemons were too quick to be stopped")


def start(*command, **more):
    return subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)


def fusermount(mount):
    return start("fusermount3", "-u", mount.mnt)


def umount(mount):
    return start(FTRAC, "umount", mount.mnt)


def first_line(process):
    """What it says while it waits."""
    return process.stderr.readline()


def end_of(process):
    out, err = process.communicate(timeout=PATIENCE_S)
    return process.returncode, out, err


def tools(base, db):
    yield [WFSTAT, "proc", "--csv", db]
    yield [WFDAG, "--json", "-o", base / "graph.json", db]
    yield [WFDAG, "critical-path", db]
    yield [WFDAG, "summary", db]
    yield [WFDAG, "generate", "--wfformat", "-o", base / "wf.json", db]
    yield [WFDAG, "diff", "--json", db, db]
    if os.path.exists(WFREPORT):
        yield [WFREPORT, "-o", base / "page.html", db]


def waiting_tools():
    with caught(fusermount) as (mount, running):
        checks.equal("fusermount3 -u", end_of(running)[0], 0)
        started = [start(*command) for command in tools(mount.base, mount.db)]
        for tool in started:
            line = first_line(tool)
            checks.check("a tool says what it waits for", "waiting: the run has ended" in line and str(mount.db) in line,
                         (tool.args, line))
            checks.check("and waits", tool.poll() is None, tool.args)
        os.kill(mount.pid, signal.SIGCONT)
        for tool in started:
            status, _, err = end_of(tool)
            checks.check("then it reads all", status == 0 and "incomplete" not in err, (tool.args, status, err))
        checks.equal("complete", mount.fact("complete"), 1)
        print(f"{len(started)} tools have waited")


def killed_writer():
    """The writer is killed while tools wait for it: they go on, and say so."""
    with caught(fusermount) as (mount, running):
        end_of(running)
        tool = start(WFSTAT, "proc", mount.db)
        checks.check("it waits", "waiting" in first_line(tool))
        kill(mount)
        status, out, err = end_of(tool)
        checks.check("it goes on, and says so", status == 0 and out and "the trace is incomplete" in err, (status, err))
        status, _, err = end_of(start(WFSTAT, "proc", mount.db))
        checks.check("what is left is read at once", status == 0 and "waiting" not in err and "the trace is incomplete" in err, err)


def kill(mount):
    pid, mount.pid = mount.pid, None
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


def before_the_daemon_knows():
    """The mount is gone, and its daemon has not seen that."""
    with Mount() as mount:
        work(mount)
        os.kill(mount.pid, signal.SIGSTOP)
        mount.take_away()
        tool = start(WFSTAT, "proc", mount.db)
        checks.check("a tool waits for a daemon that has not begun to end", "waiting" in first_line(tool))
        go_on(mount)
        status, _, err = end_of(tool)
        checks.check("then it reads all", status == 0 and "incomplete" not in err, (status, err))


def several():
    """Two mounts: one goes on, the other one is being completed; together they are one trace."""
    with Mount() as on, caught(fusermount) as (mount, running):
        end_of(running)
        work(on)
        status, out, err = end_of(start(WFSTAT, "proc", on.db))
        checks.check("a run that goes on is read at once", status == 0 and out and "waiting" not in err, (status, err))
        both = start(WFSTAT, "proc", on.db, mount.db)
        checks.check("both wait for one", str(mount.db) in first_line(both))
        os.kill(mount.pid, signal.SIGCONT)
        status, out, err = end_of(both)
        checks.check("then both are read", status == 0 and out and "the trace is incomplete" in err, (status, err))


def waiting_umount():
    with caught(umount) as (mount, running):
        line = first_line(running)
        checks.check("umount says what it waits for", str(mount.db) in line and "--no-wait" in line, line)
        checks.check("and waits", running.poll() is None)
        os.kill(mount.pid, signal.SIGCONT)
        checks.equal("umount ends in order", end_of(running), (0, "", ""))
        checks.equal("and the trace is complete", (mount.fact("complete"), is_locked(mount.db)), (1, False))
    with caught(umount) as (mount, running):
        first_line(running)
        kill(mount)
        status, _, err = end_of(running)
        checks.check("of a killed daemon it says what is missing", status == 1 and "before" in err and str(mount.db) in err,
                     (status, err))
    with caught(lambda mount: start(FTRAC, "umount", "--no-wait", mount.mnt)) as (mount, running):
        checks.equal("umount --no-wait does not wait", end_of(running), (0, "", ""))
        checks.check("for this trace", is_locked(mount.db) and not mount.fact("complete"))


def unhurried():
    """Without help of ours: what follows the umount reads the whole trace."""
    with Mount() as mount:
        work(mount)
        checks.equal("umount", subprocess.run([FTRAC, "umount", mount.mnt], timeout=PATIENCE_S, check=False).returncode, 0)
        checks.equal("complete at once", (mount.fact("complete"), mount.fact("ending"), is_locked(mount.db)), (1, 0, False))
        mount.wait()
    with Mount() as mount:
        work(mount)
        mount.take_away()
        status, _, err = end_of(start(WFSTAT, "proc", mount.db))
        checks.check("and so does what follows fusermount3 -u", status == 0 and "incomplete" not in err, err)
        mount.wait()


def not_recorded():
    with Mount("--no-record") as mount:
        checks.equal("umount of a mount without a trace", end_of(umount(mount)), (0, "", ""))
        mount.wait()


def name_of_the_trace():
    """The name of the trace is for the user of the mount, and is not recorded."""
    with Mount() as mount:
        checks.equal("it names the trace", os.getxattr(mount.mnt, "user.ftrac.trace"), os.fsencode(mount.db))
        checks.check("it is not listed", "user.ftrac.trace" not in os.listxattr(mount.mnt))
        if os.geteuid() == 0:
            os.chmod(mount.base, 0o755)
            done = subprocess.run(["getfattr", "-n", "user.ftrac.trace", mount.mnt], user=65534, group=65534, capture_output=True,
                                  text=True, check=False)
            checks.check("others get no name", done.returncode != 0 and str(mount.db) not in done.stdout, done)
        mount.unmount()
        checks.equal("and it is no operation", mount.sql("SELECT count(*) FROM op WHERE path2 LIKE 'user.ftrac%'"), [(0,)])


for part in waiting_tools, killed_writer, before_the_daemon_knows, several, waiting_umount, unhurried, not_recorded, name_of_the_trace:
    before = time.monotonic()
    part()
    print(f"{part.__name__}: {time.monotonic() - before:.1f} s")
checks.end()
