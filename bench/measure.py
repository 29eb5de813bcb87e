# SPDX-License-Identifier: MIT
"""Runs of workloads on systems, and what is known of each, as lines of JSON.

The members of a group run right after each other, each round begins with another one: only figures
of one round of one group may be compared, since machines are noisy.
"""
import contextlib
import json
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from machine import run


class Journal:
    """The raw runs, in a file; what is there already may stay."""

    def __init__(self, path, append):
        self.path = pathlib.Path(path)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if not append:
            self.path.write_text("")

    def add(self, **fields):
        with open(self.path, "a") as file:
            file.write(json.dumps(fields) + "\n")


def read_journal(path):
    try:
        return [json.loads(line) for line in open(path) if line.strip()]
    except OSError as error:
        sys.exit(f"bench: cannot read '{path}': {error.strerror}; measure first")


def detach(top):
    """Takes away what is mounted at top or below, however the work on it ended; yes if nothing is left.
    What is removed afterwards must not be another name of the machine's own files."""
    for _ in range(20):
        places = [line.split()[4] for line in pathlib.Path("/proc/self/mountinfo").read_text()
                  .splitlines()]
        there = [place for place in places if place == str(top) or place.startswith(f"{top}/")]
        if not there:
            return True
        for place in reversed(there):
            subprocess.run(["umount", "-l", place], stderr=subprocess.DEVNULL)
    return False


@contextlib.contextmanager
def directory_for(prefix, where):
    """Removed at the end, unless something stays mounted in it."""
    path = pathlib.Path(tempfile.mkdtemp(prefix=prefix, dir=where))
    try:
        yield path
    finally:
        if detach(path):
            shutil.rmtree(path)


@contextlib.contextmanager
def memory():
    """A file system in memory, so that nothing hides the cost; it is mounted in a namespace of our own."""
    top = pathlib.Path(tempfile.mkdtemp(prefix="ftrac-bench-"))
    run(["mount", "-t", "tmpfs", "-o", "size=75%", "bench", top])
    try:
        yield top
    finally:
        if detach(top):
            top.rmdir()


@contextlib.contextmanager
def place_of(workload, top):
    """Its directory, filled."""
    with contextlib.ExitStack() as stack:
        if workload.disk:
            top = stack.enter_context(directory_for("ftrac-bench-", "/var/tmp"))
        directory = top / workload.name
        directory.mkdir()
        workload.prepare(directory)
        yield directory


class Unfit(Exception):
    """What is not ours, and under which the work does not end, or fails; the text says how."""


def perform(command, where, limit):
    """Its end; all that it started is ended with it where that takes too long."""
    work = subprocess.Popen(command, cwd=where, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, errors="replace",
                            start_new_session=True)
    try:
        output, error = work.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        os.killpg(work.pid, signal.SIGKILL)
        work.communicate()
        raise Unfit(f"no end in {limit} s") from None
    return work.returncode, output, error


def busy_s():
    """Seconds that all processors have worked: for anybody, and for us and all that we have seen end."""
    words = pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    user, nice, system, _, _, irq, softirq, steal = map(int, words[:8])
    ours = [resource.getrusage(processes) for processes in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return ((user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK"),
            sum(used.ru_utime + used.ru_stime for used in ours))


def disturbance(before, after, seconds):
    """The part of the processors' time that other processes used while we measured. The kernel counts in
    ticks: a part as small as those is 0."""
    others = (after[0] - before[0]) - (after[1] - before[1])
    return round(max(0, others - 0.05) / (seconds * os.cpu_count()), 3)


def measure(system, workload, directory):
    """One run: what it cost, and what is known of the tracer."""
    workload.reset(directory)
    if workload.disk:
        os.sync()  # what earlier runs wrote is not to be written during this one
    before, begin = busy_s(), time.monotonic()
    with directory_for("run-", directory.parent) as scratch:
        try:
            where = system.start(directory, scratch)
            started = time.monotonic()
            status, output, error = perform(system.wrap(workload.command()), where, system.limit_s)
            ended = time.monotonic()
            facts = system.stop()
            times = system.times(started, ended) if not status else {}
        except BaseException:
            system.abandon()
            raise
        after = busy_s()
        others = disturbance(before, after, time.monotonic() - begin)
    if status and system.foreign:
        raise Unfit(error.strip().split("\n")[-1][-200:])
    if status:
        sys.exit(f"bench: {workload.name} failed on {system.name}: {error.strip()[-400:]}")
    return {"cost": round(workload.cost(times["seconds"], output), 6), **facts, **times,
            "all_cpu_s": round(after[1] - before[1], 4),
            "others": 0 if workload.tiny or workload.is_cpu_time else others}


def rotated(members, by):
    by %= len(members)
    return members[by:] + members[:by]


def measure_group(journal, group, workload, directory, number, say):
    for system in rotated(group.members, number):
        try:
            figures = measure(system, workload, directory)
        except Unfit as how:
            group.members.remove(system)
            journal.add(stuck=f"{workload.name} under {system.name}: {how}")
            say(f"{workload.name:13} {number:2}  {group.name:16} {system.name:28} {how}")
            continue
        journal.add(round=number, workload=workload.name, unit=workload.unit, group=group.name,
                    fidelity=group.fidelity, uring=group.uring, system=system.name,
                    role=system.role, **figures)
        say(f"{workload.name:13} {number:2}  {group.name:16} {system.name:28} "
            f"{figures['cost']:9.3f} {workload.unit}")


def first_round(path):
    """Rounds go on counting where the file ends."""
    if not os.path.exists(path):
        return 0
    return 1 + max((line.get("round", -1) for line in read_journal(path)), default=-1)


def measure_all(journal, chosen, rounds, top, say):
    """chosen: for each workload its groups."""
    number = first_round(journal.path)
    for workload, groups in chosen:
        with place_of(workload, top) as directory:
            measure(groups[0].members[0], workload, directory)  # warms the caches
            for turn in range(number, number + rounds):
                for group in rotated(groups, turn):
                    measure_group(journal, group, workload, directory, turn, say)
