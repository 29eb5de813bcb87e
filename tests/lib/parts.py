# SPDX-License-Identifier: MIT
"""Cases of several parts, each a process of its own with mounts of its own."""
import argparse
import fnmatch
import os
import pathlib
import pickle
import resource
import signal
import subprocess
import sys
import tempfile
import time
import traceback

import ftractest
from ftractest import Checks, become_reaper, comm, complete
from sample import LONG, rng
from sides import LIBC



# ---- what this ftrac can do ----

def accepts(*options):
    return subprocess.run([ftractest.FTRAC, *options, "--help"], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, timeout=60).returncode == 0


def has_capability(number):
    with open("/proc/self/status") as f:
        line = next(line for line in f if line.startswith("CapEff:"))
    return int(line.split()[1], 16) >> number & 1


def arguments(text, **numbers):
    """The command line of a case: numbers that have a default, and which parts to run."""
    parser = argparse.ArgumentParser(description=text.split("\n")[0])
    parser.add_argument("--fidelity", action="append")
    for name, default in numbers.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("parts", nargs="*", metavar="PART", help="such as 'files*'")
    given = parser.parse_args()
    given.long = LONG
    return given


# ---- parts ----

def descendants(pid):
    parents = {}
    for other in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{other}/stat") as f:
                parents[int(other)] = int(f.read().rsplit(")", 1)[1].split()[1])
        except OSError:
            pass
    found, more = [], {pid}
    while more:
        more = {child for child, parent in parents.items() if parent in more}
        found += more
    return found


def where(pid):
    """State and place in the kernel of a process that does not end."""
    try:
        with open(f"/proc/{pid}/stat") as f, open(f"/proc/{pid}/wchan") as g:
            return f"{comm(pid)} {pid} {f.read().rsplit(')', 1)[1].split()[0]} {g.read()}"
    except OSError:
        return ""


def kill(pids):
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def end_tree(pid):
    """The daemons first: a process that waits for one of them can be killed only then."""
    pids = descendants(pid)
    print("  left:", "; ".join(filter(None, map(where, [pid, *pids][:12]))), flush=True)
    kill(other for other in pids if comm(other) == "ftrac")
    time.sleep(0.5)
    kill([*descendants(pid), *pids, pid])


class Child:
    """Facts looked at in a process of its own, with its own descriptors, directory and user."""

    def __init__(self, checks, name, function, *arguments, uid=None):
        self.checks, self.name = checks, name
        self.pipe, pipe = os.pipe()
        sys.stdout.flush()
        self.pid = os.fork()
        if self.pid == 0:
            self.work(function, arguments, uid, pipe)
        os.close(pipe)

    def work(self, function, arguments, uid, pipe):
        checks = Checks()
        try:
            os.close(self.pipe)
            if uid is not None:
                os.setgroups([])
                os.setgid(uid)
                os.setuid(uid)
                LIBC.prctl(4, 1)  # files of /proc belong to that user, as after an exec
            function(checks, *arguments)
        except BaseException:
            checks.check(f"{self.name} goes through", False, "\n" + traceback.format_exc())
        finally:
            sys.stdout.flush()
            os.write(pipe, pickle.dumps((checks.looked, checks.failed)))
            os._exit(0)

    def ended(self, seconds):
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if os.waitpid(self.pid, os.WNOHANG)[0]:
                return True
            time.sleep(0.01)
        return False

    def join(self, seconds=None):
        if seconds is None:
            os.waitpid(self.pid, 0)
        elif not self.ended(seconds):
            self.checks.check(f"{self.name} ends", False, f"within {seconds} s")
            end_tree(self.pid)
            os.waitpid(self.pid, 0)
        os.set_blocking(self.pipe, False)
        try:
            said = os.read(self.pipe, 1000)
        except BlockingIOError:
            said = b""
        os.close(self.pipe)
        if not said:
            self.checks.check(f"{self.name} says what it found", False)
            return
        looked, failed = pickle.loads(said)
        self.checks.looked += looked
        self.checks.failed += failed


def mounts_below(top):
    found = []
    with open("/proc/self/mountinfo") as f:
        for line in f:
            path = line.split()[4].encode().decode("unicode_escape")
            if path == str(top) or path.startswith(f"{top}/"):
                found.append(path)
    return found


def remove(base):
    for path in reversed(mounts_below(base)):
        subprocess.run(["umount", "-l", path], check=False)
    if not mounts_below(base):
        subprocess.run(["rm", "-rf", str(base)], check=False)


class Parts:
    """Those that are chosen; if none is, a sample: one of so many parts, another one each time."""

    def __init__(self, chosen, seconds=600, one_of=1):
        self.checks, self.chosen, self.seconds = Checks(), chosen or ["*"], seconds
        self.one_of = 1 if chosen or LONG else one_of
        self.turn = rng().randrange(self.one_of) if self.one_of > 1 else 0
        become_reaper()

    def is_chosen(self, name):
        if not any(fnmatch.fnmatch(name, pattern) for pattern in self.chosen):
            return False
        self.turn = (self.turn + 1) % self.one_of
        return self.turn == 0

    def run(self, name, function, *arguments):
        if not self.is_chosen(name):
            return
        base = pathlib.Path(tempfile.mkdtemp(prefix="ftrac-case-"))
        base.chmod(0o755)
        start, looked, failed = time.monotonic(), self.checks.looked, self.checks.failed
        try:
            Child(self.checks, name, function, base, *arguments).join(self.seconds)
        finally:
            remove(base)
        print(f"{name}: {self.checks.looked - looked} facts, {self.checks.failed - failed} not so, "
              f"{time.monotonic() - start:.0f} s", flush=True)


# ---- company ----

def background(action):
    pid = os.fork()
    if pid == 0:
        try:
            action()
        finally:
            os._exit(1)
    return pid


def walk_on(top):
    while True:
        subprocess.run(["find", top], stdout=subprocess.DEVNULL, check=False)


# ---- daemons ----

def limited(files):
    return ["prlimit", f"--nofile={files}:{files}"]


def unlimited():
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def daemon_handles(pid, top):
    """Descriptors of the daemon that stand for open files of clients, and those of inodes that
    have no name any more."""
    handles, deleted = [], []
    for fd in os.listdir(f"/proc/{pid}/fd"):
        try:
            path = os.readlink(f"/proc/{pid}/fd/{fd}")
            if not path.startswith(str(top)) or ".db" in path:
                continue
            links = os.stat(f"/proc/{pid}/fd/{fd}").st_nlink
            with open(f"/proc/{pid}/fdinfo/{fd}") as f:
                flags = int(next(line for line in f if line.startswith("flags:")).split()[1], 8)
        except FileNotFoundError:
            continue
        if not flags & os.O_PATH:
            handles.append(path)
        if links == 0:
            deleted.append(path)
    return handles, deleted


def no_descriptor_lost(checks, mount, top):
    """RELEASE and FORGET come after the close and the unlink, by themselves."""
    handles, deleted = daemon_handles(mount.pid, top)
    for _ in range(100):
        if not handles and not deleted:
            break
        time.sleep(0.05)
        handles, deleted = daemon_handles(mount.pid, top)
    checks.equal("descriptors of files that no client has open", handles[:5], [])
    checks.equal("descriptors of files that have no name", deleted[:5], [])


def in_order(checks, mount):
    mount.unmount()
    complete(checks, "after the unmount", mount)


def own_namespace(base):
    """A mount namespace with a /dev/fuse for all, and without what others have mounted: it would
    be theirs for as long as we live."""
    if LIBC.unshare(0x20000) != 0:
        return False
    (base / "dev").mkdir()
    run = subprocess.run
    run(["mount", "--make-rprivate", "/"], check=True)
    with open("/proc/self/mountinfo") as f:
        fields = [line.split() for line in f]
    for line in reversed(fields):
        kind = line[line.index("-") + 1]
        if kind.startswith("fuse") or line[4].startswith(("/tmp/", tempfile.gettempdir())):
            run(["umount", "-l", line[4]], check=False, stderr=subprocess.DEVNULL)
    for command in (["mount", "-t", "tmpfs", "none", base / "dev"],
                    ["mknod", "-m", "666", base / "dev" / "fuse", "c", "10", "229"],
                    ["mount", "--bind", base / "dev" / "fuse", "/dev/fuse"]):
        if run(command, check=False).returncode != 0:
            return False
    return True
