# SPDX-License-Identifier: MIT
"""Systems under which the command runs natively: recorded in the kernel, or by strace.

What counts is the command's own time, which a program that the tracer runs writes down (within.c): loading the programs
and writing the rest of the record come before and after it, and have columns of their own.
"""
import pathlib
import re
import signal
import subprocess
import sys
import time

import machine
from systems import Ftrac, Group, Strace, System, trace_facts

CALLS = machine.TOP / "kernel/calls.h"


def recorded_calls():
    """The names of the system calls that are recorded, for strace."""
    rows = re.findall(r"^\s*X\((\w+), (\w+), ", CALLS.read_text(), re.M)
    names = [name for name, number in rows if number.isdigit()]
    if len(names) < 50:
        sys.exit(f"bench: found only {len(names)} system calls in '{CALLS}'")
    return ",".join(["%process", *(f"?{name}" for name in names)])


class Within(System):
    """Natively, timed from within."""

    def __init__(self, within, name="native", role=None):
        super().__init__(name, role)
        self.within = within

    def start(self, directory, scratch):
        self.times_file = scratch / "times"
        self.db = scratch / "trace.db"
        return directory

    def wrap(self, command):
        return [*self.tracer(), self.within, self.times_file, *command]

    def tracer(self):
        return []

    def times(self, begin, end):
        began, ended, used = (int(word) / 1e9 for word in self.times_file.read_text().split())
        return {"seconds": round(ended - began, 6), "own_cpu_s": round(used, 6),
                "start_s": round(began - begin, 4), "complete_s": round(end - ended, 4)}


class Native(Within):
    def times(self, begin, end):
        times = super().times(begin, end)
        return {key: times[key] for key in ("seconds", "own_cpu_s")}


class InKernel(Within):
    """ftrac run or procmon: what a user types."""

    def __init__(self, within, role, program, *words, files="kernel"):
        super().__init__(within, " ".join([program.name, *words, f"--files {files}"]), role)
        self.words, self.files = [program, *words, "--files", files], files

    def tracer(self):
        return [*self.words, "--db", self.db, "--"]

    def stop(self):
        return facts_of(self.db, self.files)


def facts_of(db, files):
    facts = trace_facts(db)
    facts["cpu_s"] = facts["tracer_cpu_s"]
    if facts["files"] != files:
        sys.exit(f"bench: '{db}' was recorded by {facts['files']}, not by {files}")
    return facts


class StraceWithin(Within):
    """The same calls."""
    foreign = True

    def __init__(self, within):
        super().__init__(within, "strace -f", "strace")

    def tracer(self):
        self.log = self.db.with_name("strace.log")
        return ["strace", "-f", "-qq", "-ttt", "-T", "-o", self.log, "-e", "trace=" + recorded_calls(),
                "-e", "signal=none"]

    stop = Strace.stop


class Beside(Native):
    """Another command is recorded meanwhile, which sleeps; the work is not."""
    tracer_process = None

    def start(self, directory, scratch):
        super().start(directory, scratch)
        ready = scratch / "ready"
        self.tracer_process = subprocess.Popen(
            [machine.FTRAC, "run", "-q", "--files", "kernel", "--db", self.db, "--", "sh", "-c",
             f"echo > '{ready}'; exec sleep 86400"], stdin=subprocess.DEVNULL)
        while not ready.exists():
            if self.tracer_process.poll() is not None:
                sys.exit(f"bench: ftrac run ended with {self.tracer_process.returncode}")
            time.sleep(0.01)
        return directory

    def stop(self):
        self.tracer_process.send_signal(signal.SIGTERM)
        self.tracer_process.wait()
        return {"dropped": facts_of(self.db, "kernel")["dropped"]}

    def abandon(self):
        if self.tracer_process and self.tracer_process.poll() is None:
            self.tracer_process.kill()
            self.tracer_process.wait()


def in_kernel(within, with_others):
    """with_others: also strace, and procmon."""
    procmon = machine.BUILD / "procmon/procmon"
    members = [InKernel(within, "kernel", machine.FTRAC, "run", "-q")]
    if with_others:
        members += [InKernel(within, "preload", machine.FTRAC, "run", "-q", files="preload"),
                    InKernel(within, "procmon", procmon), StraceWithin(within)]
    return of_natives("kernel", within, members)


def beside(within):
    return of_natives("beside", within, [Beside(within, "beside a recorded sleep", "beside")])


def of_natives(name, within, members):
    group = Group(name, False, members)
    group.members[0] = Native(within)
    return group


def call_on_a_mount():
    """Names by a mount, data from the kernel, and the same mount without a record; [] if this ftrac cannot do that."""
    text = subprocess.run([machine.FTRAC, "--help"], capture_output=True, text=True).stdout
    if not re.search(r"\bcall\b", text.partition("--fidelity")[2].partition("--stat")[0]):
        return []
    return [Group("call", False, [Ftrac("open", "open", "--no-record"), Ftrac("call", "call")])]
