# SPDX-License-Identifier: MIT
"""Programs in which the N-th allocation, or the N-th system call, fails (tests/work/fail.c).

A fault is one run with one such failure.  N goes from 1 on until a run in which it was not reached,
or, so that there are at most so many runs, at one random place in each of so many pieces of that; --all
goes by single steps.
"""
import argparse
import os
import pathlib
import random
import shutil
import signal
import struct
import tempfile

from ftractest import WORK, Checks

STATE = struct.Struct("llllll")  # struct state of fail.c
COUNTS = {"alloc": 0, "call": 1, "failed": 2, "shifted": 4, "sql": 5}
CRASHES = {signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL}


def arguments(what, runs):
    """runs: of each part, by default."""
    parser = argparse.ArgumentParser(description=what)
    parser.add_argument("--all", action="store_true", help="every N")
    parser.add_argument("--runs", type=int, default=runs, help="at most about so many for each part")
    parser.add_argument("--from", dest="first", type=int, default=1)
    parser.add_argument("--to", type=int)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("parts", nargs="*")
    given = parser.parse_args()
    print(f"seed {given.seed}", flush=True)
    return given


class Faults:
    """What is preloaded, and how often it failed something."""

    def __init__(self):
        # Not removed by itself, whatever happens: there may be a mount in it, and what is removed
        # through a mirror is removed from its source.
        self.base = pathlib.Path(tempfile.mkdtemp(prefix="ftrac-case-"))
        self.state = self.base / "state"
        self.injected = 0

    def environment(self, program, **settings):
        """For a run of program; settings are those of fail.c: alloc=3, call=7, only="fsync" ..."""
        self.state.write_bytes(bytes(STATE.size))
        return os.environ | {"LD_PRELOAD": str(WORK / "fail.so"), "FAIL_STATE": str(self.state),
                             "FAIL_PROGRAM": os.path.basename(str(program))} | {
                                 f"FAIL_{key.upper()}": str(value)
                                 for key, value in settings.items()}

    def count(self, what):
        """Of COUNTS, in the run so far."""
        return STATE.unpack(self.state.read_bytes())[COUNTS[what]]

    def set_clock(self, ns):
        with open(self.state, "r+b") as f:
            f.seek(24)
            f.write(struct.pack("l", ns))

    def shifted(self):
        """How often the program was given a time that was shifted."""
        return self.count("shifted")

    def failed(self):
        n = self.count("failed")
        self.injected += n > 0
        return n


def steps(total, given):
    """The N to be tried: all if they are few, else at random, but everywhere."""
    if given.to or given.first > 1:
        return range(given.first, (given.to or total) + 1)
    most = total if given.all else given.runs
    if total <= most:
        return range(1, total + 1)
    # One at any place of each of as many pieces.
    rng = random.Random(given.seed)
    return sorted({rng.randint(1 + i * total // most, (i + 1) * total // most) for i in range(most)})


def crashed(status):
    """Of a return code as subprocess has it, or as a shell says it."""
    number = -status if status < 0 else status - 128
    return number in CRASHES


def remove(top):
    if os.path.exists(top):
        shutil.rmtree(top)


class Parts:
    """Runs those that were asked for, each with its own count, which must not be 0."""

    def __init__(self, given):
        self.given, self.checks = given, Checks()

    def run(self, name, call, *values):
        if self.given.parts and not any(name.startswith(p) for p in self.given.parts):
            return
        faults = Faults()
        said = call(self.checks, faults, self.given, *values) or ""
        print(f"{name}: {faults.injected} faults injected{said}", flush=True)
        self.checks.check(f"{name}: something failed", faults.injected)
        remove(faults.base)
