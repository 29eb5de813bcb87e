# SPDX-License-Identifier: MIT
"""What programs.py, cannot.py and regressions.py share: the same work natively and in a mount.

A side is a directory, of the source or as the mount shows it; what is done on both sides must have
the same results, which are compared as lines of text.
"""
import ctypes
import difflib
import errno
import os
import pickle
import signal
import subprocess
import sys
import traceback

from ftractest import fidelities

STUCK = 250  # seconds after which something on a mount is given up


def modes(wanted=()):
    """Names and options of the mounts in which all is done: the fidelities, and exact with --stat;
    only those that are wanted, by their names, if any are."""
    found = [(fidelity, ("--fidelity", fidelity)) for fidelity in fidelities()]
    found.append((f"{found[0][0]} with --stat", (*found[0][1], "--stat")))
    return [mode for mode in found if not wanted or mode[0] in wanted]


def compare(checks, what, native, mounted):
    """Two texts, line by line, each a fact."""
    native, mounted = native.splitlines(), mounted.splitlines()
    if len(native) != len(mounted):
        lines = [line for line in difflib.ndiff(native, mounted) if line[0] in "+-"]
        checks.check(f"{what}: as many lines", False, "\n  " + "\n  ".join(lines[:20]))
        return
    for a, b in zip(native, mounted):
        checks.check(f"{what}: the same natively and in the mount", a == b,
                     f"\n  natively {a}\n  mounted  {b}")


def complete(checks, what, mount):
    """After the unmount: nothing of the trace was lost."""
    for fact, wanted in {"complete": 1, "ops_lost": 0}.items():
        checks.equal(f"{what}: {fact}", mount.fact(fact), wanted)
    checks.check(f"{what}: operations", mount.fact("ops_recorded") > 0)


# ---- what a call returned, as text

class Teller(list):
    """Called with a name, a call and its arguments it keeps a line that says what came of it."""

    def __call__(self, what, call, *arguments, **named):
        try:
            result = call(*arguments, **named)
        except OSError as e:
            result = errno.errorcode.get(e.errno, e)
        self.append(f"{what}: {result}")
        return result

    def say(self, what, value):
        self.append(f"{what}: {value}")


def in_child(work, *arguments, user=None):
    """What work(*arguments) returns in a process of its own, of the user (uid, gid, groups) if one
    is given; its failure is ours."""
    back, forth = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            signal.alarm(STUCK)
            if user:
                os.setgroups(user[2])
                os.setresgid(user[1], user[1], user[1])
                os.setresuid(user[0], user[0], user[0])
            result = work(*arguments)
            with os.fdopen(forth, "wb") as f:
                pickle.dump(result, f)
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(status)
    os.close(forth)
    with os.fdopen(back, "rb") as f:
        data = f.read()
    status = os.waitpid(child, 0)[1]
    if status != 0:
        raise RuntimeError(f"{getattr(work, '__name__', work)} ended with {status}")
    return pickle.loads(data)


def as_user(user, work, *arguments):
    return in_child(work, *arguments, user=user)


# ---- mounts of other file systems

libc = ctypes.CDLL(None, use_errno=True)
MS_RDONLY, MS_REMOUNT, MS_BIND, MNT_DETACH = 1, 32, 4096, 2


def mount_fs(source, target, kind, flags=0, data=""):
    if libc.mount(str(source).encode(), os.fsencode(target), kind.encode(), flags,
                  data.encode()) != 0:
        raise OSError(ctypes.get_errno(), f"mount of {kind}")


class OtherFs:
    """A file system of its own on a directory; used by 'with'.  kind is tmpfs, or that of an image
    of some MiB that is made beside the directory, with options for mkfs."""

    def __init__(self, target, kind, options="", size=0, make=()):
        self.target, self.kind, self.options = target, kind, options
        self.size, self.make = size, make
        self.image = f"{target}.img" if size else None

    def __enter__(self):
        os.makedirs(self.target, exist_ok=True)
        if not self.image:
            mount_fs("tmpfs", self.target, self.kind, data=self.options)
            return self.target
        with open(self.image, "wb") as f:
            f.truncate(self.size << 20)
        subprocess.run([f"mkfs.{self.kind}", "-q", *self.make, self.image], check=True, timeout=60,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        subprocess.run(["mount", "-o", f"loop,{self.options}", self.image, self.target],
                       check=True, timeout=60)
        return self.target

    def __exit__(self, *failure):
        # A mirror may hold on to it for a moment.
        libc.umount2(os.fsencode(self.target), MNT_DETACH)
        if self.image:
            os.unlink(self.image)
