# SPDX-License-Identifier: MIT
"""What every case with a mount needs.

A case is a program: it prints one line for each fact it has checked and how many things it looked
at, and exits 0, 1 (a fact is not so), or 77 (a capability is missing, which it names).

The place of ftrac is $FTRAC, that of the compiled programs of tests/work $WORK (both set by Meson).
"""
import atexit
import contextlib
import ctypes
import fcntl
import functools
import importlib
import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

FTRAC = os.path.abspath(os.environ.get("FTRAC", "build/ftrac/ftrac"))
WORK = pathlib.Path(os.environ.get("WORK", "build/tests/work"))
TOP = pathlib.Path(__file__).resolve().parent.parent.parent

PR_SET_CHILD_SUBREAPER = 36

# Whatever starts the tests may have it ignored (nohup), and what is ignored is so for all that we start.
signal.signal(signal.SIGHUP, signal.SIG_DFL)

remove_tree = shutil.rmtree


def remove_without_mounts(path, *args, **kwargs):
    """In the place of shutil.rmtree, also for code that cleans up behind a case that was interrupted: what is
    removed through a mirror of / that is still mounted is the host's."""
    top = os.path.realpath(os.fsdecode(path))
    with open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as f:
        points = [line.split()[4].encode().decode("unicode_escape", "replace") for line in f]
    inside = [point for point in points if point.startswith(f"{top.rstrip('/')}/")]
    if inside:
        raise OSError(f"'{top}' is not removed: mounted in it are {inside}")
    remove_tree(path, *args, **kwargs)


shutil.rmtree = remove_without_mounts


DEBIANS = "/usr/bin/python3"  # has the modules of Debian's packages, but another one may come first in the PATH


def need_module(name, package):
    """Goes on with Debian's Python if this one does not have the module."""
    try:
        importlib.import_module(name)
    except ImportError:
        if os.path.exists(DEBIANS) and os.path.realpath(sys.executable) != os.path.realpath(DEBIANS):
            os.execv(DEBIANS, [DEBIANS, *sys.argv])
        skip(f"no {name} here ({package})")


def skip(capability):
    print(f"skipped: {capability}")
    sys.exit(77)


def for_everybody(program):
    """A copy of a program that each user may execute, wherever the tree is; removed at the end."""
    place = tempfile.mkdtemp(prefix="ftrac-case-", dir="/var/tmp")
    atexit.register(remove_tree, place)
    os.chmod(place, 0o755)
    return pathlib.Path(shutil.copy(program, place))


def help_words(program, heading):
    """The first word of each line below a heading of a program's --help, up to an empty line."""
    lines = subprocess.run([program, "--help"], capture_output=True, text=True, check=True,
                           timeout=20).stdout.split("\n")
    begin = next(i for i, line in enumerate(lines) if line.startswith(heading)) + 1
    words = [line.split()[0] for line in lines[begin:lines.index("", begin)]]
    if not words:
        raise ValueError(f"'{program} --help' has nothing below '{heading}'")
    return words


def need(*programs):
    for program in programs:
        if not shutil.which(program):
            skip(f"no '{program}' here")


def need_fuse():
    if os.geteuid() == 0 and not os.path.exists("/dev/fuse"):
        skip("no /dev/fuse here")
    if not os.access("/dev/fuse", os.R_OK | os.W_OK):
        skip("/dev/fuse cannot be opened by this user")
    need("fusermount3")


class Checks:
    """Facts; the end of a case prints how many were looked at and fails on none."""

    def __init__(self):
        self.looked, self.failed = 0, 0

    def check(self, fact, holds, detail=""):
        self.looked += 1
        if not holds:
            self.failed += 1
            print(f"NOT SO: {fact} {detail}")

    def equal(self, fact, got, wanted):
        self.check(fact, got == wanted, f"\n  got    {got!r}\n  wanted {wanted!r}")

    def end(self):
        print(f"{self.looked} facts looked at, {self.failed} not so")
        sys.exit(1 if self.failed or not self.looked else 0)


def unmounted(attempt):
    """attempt() until it gives 0: for a moment the daemon's look at /proc of a requester that
    has ended just now, holds what that had mapped of the mount."""
    for _ in range(200):
        status = attempt()
        if status == 0:
            return 0
        time.sleep(0.05)
    return status


def fidelities(but=()):
    """Those that this ftrac, kernel and user have, but for some."""
    found = []
    for fidelity in "exact", "cached", "open", "call":
        if fidelity in but:
            continue
        if has_fidelity(fidelity):
            found.append(fidelity)
        else:
            reason = kernel_refuses() if fidelity == "call" else ""
            print(f"fidelity {fidelity}: not here{reason and ': '}{reason}")
    if not found:
        skip("no mount of ftrac")
    return found


def has_fidelity(fidelity):
    """A mount without a record needs nothing of the kernel that its data would be recorded by."""
    if fidelity == "call" and kernel_refuses():
        return False
    with tempfile.TemporaryDirectory(prefix="ftrac-case-") as mnt:
        refused = subprocess.run([FTRAC, "--no-record", "--fidelity", fidelity, mnt],
                                 stderr=subprocess.DEVNULL, timeout=60).returncode
        if not refused:
            subprocess.run(["fusermount3", "-u", mnt], check=True, timeout=60)
        return not refused


def modes(wanted=(), but=()):
    """Names and options of the mounts of a case: the fidelities, but for some, and exact with --stat; with wanted, only the
    mounts of these names."""
    found = [(fidelity, ("--fidelity", fidelity)) for fidelity in fidelities(but)]
    found.append((f"{found[0][0]} with --stat", (*found[0][1], "--stat")))
    return [mode for mode in found if not wanted or mode[0] in wanted]


def complete(checks, what, mount):
    """After the unmount: nothing of the trace was lost."""
    for fact, wanted in {"complete": 1, "ops_lost": 0}.items():
        checks.equal(f"{what}: {fact}", mount.fact(fact), wanted)
    checks.check(f"{what}: operations", mount.fact("ops_recorded") > 0)


@functools.cache
def take_turn():
    """Until we end, no other case changes settings of the whole machine, or restores those that we have changed."""
    turn = open(pathlib.Path(tempfile.gettempdir()) / "ftrac-turn.lock", "w")
    fcntl.flock(turn, fcntl.LOCK_EX)
    return turn


@contextlib.contextmanager
def protections(**values):
    """fs.protected_NAME=VALUE, for all of the machine: put back at the end, also if we are ended."""
    take_turn()
    paths = {pathlib.Path(f"/proc/sys/fs/protected_{name}"): value for name, value in values.items()}
    before = {path: path.read_text() for path in paths}
    handler = signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended"))
    try:
        for path, value in paths.items():
            path.write_text(f"{value}\n")
        yield
    finally:
        for path, value in before.items():
            path.write_text(value)
        signal.signal(signal.SIGTERM, handler)


def become_reaper():
    """Daemons become our children, so that their end can be waited for and their status seen."""
    if ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        sys.exit("cannot become a subreaper")


class Mount:
    """A mount of ftrac with a work directory; used by 'with'.

    base   a directory of its own, below it:
    mnt    the mount point
    db     the trace
    """

    def __init__(self, *options, base=None, source="/", prefix=(), db=None):
        become_reaper()
        self.options, self.source, self.prefix = options, source, list(prefix)
        self.base = pathlib.Path(base or tempfile.mkdtemp(prefix="ftrac-case-"))
        self.owned = base is None
        self.mnt = self.base / "mnt"
        self.mnt.mkdir(exist_ok=True)
        self.db = pathlib.Path(db) if db else self.base / "trace.db"
        self.pid = None

    def command(self):
        return [*self.prefix, FTRAC, "--db", str(self.db), "-o", f"source={self.source}",
                *self.options, str(self.mnt)]

    def __enter__(self):
        before = children()
        subprocess.run(self.command(), check=True, stdin=subprocess.DEVNULL, timeout=60)
        new = [pid for pid in children() - before if comm(pid) == "ftrac"]
        assert len(new) == 1, f"one daemon expected, got {new}"
        self.pid = new[0]
        return self

    def __call__(self, path):
        """A path of the source as it is in the mount."""
        path = os.path.abspath(path)
        if self.source != "/":
            path = "/" + os.path.relpath(path, self.source)
        return pathlib.Path(f"{self.mnt}{path}")

    def unmount(self):
        self.take_away()
        self.wait()

    def take_away(self):
        status = unmounted(lambda: subprocess.run(["fusermount3", "-u", str(self.mnt)],
                                                  stderr=subprocess.DEVNULL).returncode)
        assert status == 0, f"{self.mnt} cannot be unmounted"

    def wait(self):
        """For the end of the daemon, which must be in order."""
        pid, self.pid = self.pid, None
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        assert status == 0, f"the daemon ended with {status}"

    def __exit__(self, kind, value, trace):
        if self.pid:
            try:
                self.unmount()
            except Exception:
                os.kill(self.pid, signal.SIGKILL)
                subprocess.run(["umount", "-l", str(self.mnt)], check=False)
                raise
        if self.owned and not kind:
            shutil.rmtree(self.base)

    def sql(self, query, *values):
        db = sqlite3.connect(f"file:{self.db}?mode=ro", uri=True)
        db.text_factory = lambda b: b.decode(errors="surrogateescape")
        try:
            return db.execute(query, values).fetchall()
        finally:
            db.close()

    def fact(self, key):
        return self.sql("SELECT value FROM trace WHERE key = ?", key)[0][0]


def kernel_refuses():
    """Why nothing is recorded in the kernel here; "" if it is."""
    lines = subprocess.run([FTRAC, "doctor"], capture_output=True, text=True, timeout=60, check=False).stdout.splitlines()
    found = [line for line in lines if "ftrac run --files kernel: " in line]
    assert len(found) == 1, lines
    return "" if found[0].startswith("yes") else found[0].split(": ", 1)[1]


def need_kernel():
    refused = kernel_refuses()
    if refused:
        skip(refused)


class InKernel:
    """A command that is recorded in the kernel, in a directory of its own."""

    def __init__(self, base, name="trace.db", ftrac=FTRAC):
        self.db, self.ftrac = pathlib.Path(base) / name, str(ftrac)

    def command(self, *options, files="kernel"):
        return [self.ftrac, "run", "--files", files, "--force", "--db", str(self.db), *options, "--"]

    sql, fact = Mount.sql, Mount.fact


def children():
    me = os.getpid()
    return {int(pid) for task in os.listdir(f"/proc/{me}/task")
            for pid in open(f"/proc/{me}/task/{task}/children").read().split()}


def comm(pid):
    try:
        with open(f"/proc/{pid}/comm") as f:
            return f.read().strip()
    except FileNotFoundError:
        return ""


def resident(pid):
    """Bytes of memory that a process has."""
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        return next(int(line.split()[1]) * 1024 for line in f if line.startswith("VmRSS"))
