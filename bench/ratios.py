#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What tracing costs: ratios of run times, in pairs, on a file system in memory.

    sudo bench/ratios.py [--pairs N] [--jobs N] [WORKLOAD...]

Each system runs right after a native run of the same work, N times over; the figure is the median
of the ratios, with the smallest and the largest beside it.  Systems: libfuse's passthrough_ll with
the same caches (raw FUSE), ftrac --no-record, --no-ops and full, in both fidelities.

Needs root, ./setup tests, and a quiet machine.
"""
import argparse
import fcntl
import os
import pathlib
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

TOP = pathlib.Path(__file__).resolve().parent.parent
FTRAC = TOP / "build/ftrac/ftrac"
EXAMPLES = TOP / "examples"


def run(command, **more):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                   stdin=subprocess.DEVNULL, **more)


def libfuse():
    found = sorted((TOP / "subprojects").glob("fuse-3.*/example/passthrough_ll.c"))
    if not found:
        sys.exit("ratios: no source of libfuse in subprojects/: run ./setup first")
    return found[-1].parent.parent


def build_passthrough_ll(where):
    source = libfuse()
    build = next((TOP / "build/subprojects").glob("fuse-3.*"))
    program = where / "passthrough_ll"
    uring = ["-luring", "-lnuma"] if b"io_uring_queue_init" in (
        build / "lib/libfuse3.a").read_bytes() else []
    run(["gcc", "-O2", "-D_GNU_SOURCE", "-D_FILE_OFFSET_BITS=64", "-DHAVE_POSIX_FALLOCATE",
         f"-I{source}/include", f"-I{source}", f"-I{build}", str(source / "example/passthrough_ll.c"),
         str(build / "lib/libfuse3.a"), "-lpthread", "-ldl", *uring, "-o", str(program)])
    return program


class Native:
    name = "native"

    def work(self, directory, scratch):
        return directory

    def done(self, scratch):
        return {}


class Raw(Native):
    """passthrough_ll: the cost of FUSE itself."""

    def __init__(self, program, fidelity):
        self.program, self.name = program, f"passthrough_ll {fidelity}"
        self.cache = "auto" if fidelity == "cached" else "never"

    def work(self, directory, scratch):
        self.mount = scratch / "mnt"
        self.mount.mkdir()
        self.daemon = subprocess.Popen(
            [self.program, "-f", "-o", f"source=/,cache={self.cache},timeout=1,"
             "allow_other,default_permissions,dev,suid", self.mount],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while not os.path.ismount(self.mount):
            if self.daemon.poll() is not None:
                sys.exit("ratios: passthrough_ll did not start")
        return pathlib.Path(f"{self.mount}{directory}")

    def done(self, scratch):
        run(["fusermount3", "-u", self.mount])
        self.daemon.wait()
        return {}


class Ftrac(Native):
    def __init__(self, fidelity, *options):
        self.name = " ".join(["ftrac", fidelity, *options])
        self.options = ["--fidelity", fidelity, *options]

    def work(self, directory, scratch):
        self.mount, self.db = scratch / "mnt", scratch / "trace.db"
        self.mount.mkdir()
        run([FTRAC, "--db", self.db, *self.options, self.mount])
        return pathlib.Path(f"{self.mount}{directory}")

    def done(self, scratch):
        run(["fusermount3", "-u", self.mount])
        if not self.db.exists():
            return {}
        with open(self.db) as db:
            fcntl.flock(db, fcntl.LOCK_SH)  # ftrac holds it until it is through
        db = sqlite3.connect(self.db)
        facts = dict(db.execute("SELECT key, value FROM trace"))
        db.close()
        if not facts["complete"]:
            sys.exit(f"ratios: the trace of {self.name} is not complete")
        if facts["ops_lost"]:
            sys.exit(f"ratios: {self.name} lost {facts['ops_lost']} operations")
        if "--no-ops" in self.options:
            return {}
        return {"operations": facts["ops_recorded"],
                "bytes/op": os.path.getsize(self.db) / max(1, facts["ops_recorded"])}


class Montage:
    name = "montage"

    def prepare(self, directory):
        run([EXAMPLES / "montage/generate.sh", "A", directory])

    def work(self, directory, jobs):
        run(["make", f"-j{jobs}", "-C", directory])

    def clean(self, directory):
        run(["make", "clean", "-C", directory])


class Compile:
    name = "compile"

    def prepare(self, directory):
        shutil.copytree(EXAMPLES / "make", directory, dirs_exist_ok=True)

    def work(self, directory, jobs):
        run(["make", f"-j{jobs}", "-C", directory])

    def clean(self, directory):
        run(["make", "clean", "-C", directory])


def measure(system, workload, directory, jobs):
    workload.clean(directory)
    with tempfile.TemporaryDirectory(dir=directory.parent) as scratch:
        scratch = pathlib.Path(scratch)
        where = system.work(directory, scratch)
        start = time.monotonic()
        try:
            workload.work(where, jobs)
            seconds = time.monotonic() - start
        finally:
            facts = system.done(scratch)
    return seconds, facts


def compare(workload, systems, directory, options):
    directory.mkdir()
    workload.prepare(directory)
    native = Native()
    measure(native, workload, directory, options.jobs)  # warms the caches
    print(f"\n{workload.name}, make -j{options.jobs}, {options.pairs} pairs\n")
    print("| system | ratio to native | smallest | largest | operations | bytes/op |")
    print("|---|---|---|---|---|---|")
    for system in systems:
        ratios, facts = [], {}
        for _ in range(options.pairs):
            base, _ = measure(native, workload, directory, options.jobs)
            seconds, facts = measure(system, workload, directory, options.jobs)
            ratios.append(seconds / base)
        print(f"| {system.name} | {statistics.median(ratios):.2f} | {min(ratios):.2f} | "
              f"{max(ratios):.2f} | {facts.get('operations', '-')} | "
              + (f"{facts['bytes/op']:.0f}" if facts else "-") + " |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("workloads", nargs="*", default=["montage", "compile"])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as top:
        top = pathlib.Path(top)
        run(["mount", "-t", "tmpfs", "bench", top])
        try:
            raw = build_passthrough_ll(top)
            systems = []
            for fidelity in "cached", "exact":
                systems += [Raw(raw, fidelity), Ftrac(fidelity, "--no-record"),
                            Ftrac(fidelity, "--no-ops"), Ftrac(fidelity)]
            for workload in Montage(), Compile():
                if workload.name in options.workloads:
                    compare(workload, systems, top / workload.name, options)
        finally:
            run(["umount", "-l", top])


main()
