#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# long: --long
# seconds: 30
"""The trace equals what strace saw of a run of its own, on Montage and on a compile.

In both fidelities: the same (program, file, read or written) and the same bytes written by program
and file.  In exact also the same reads and writes with their offsets and sizes, however large.
"""
import collections
import itertools
import os
import shutil
import subprocess
import sys

import straced
from ftractest import TOP, Checks, Mount, need, need_fuse
from sample import one

need_fuse()
need("strace", "make", "gcc")
checks = Checks()

# What is not the program's own doing: make's reading of terminals and pipes has no file.
WORKLOADS = {}


def workload(function):
    WORKLOADS[function.__name__] = function
    return function


@workload
def montage(top):
    need("mProjectPP", "mDiffFit")
    subprocess.run([TOP / "examples/montage/generate.sh", "A", top], check=True,
                   stdout=subprocess.DEVNULL)
    return ["make", "-j4"]


@workload
def compile(top):
    shutil.copytree(TOP / "examples/make", top, dirs_exist_ok=True)
    subprocess.run(["make", "-s", "clean"], cwd=top, check=True)
    return ["make", "-j4"]


def neutral(path, top):
    """Relative, without names that differ in each run."""
    relative = os.path.relpath(path, top)
    directory, name = os.path.split(relative)
    return os.path.join(directory, "TEMPORARY") if name.startswith(("st", "cc", "GM")) and \
        not os.path.exists(os.path.join(top, relative)) else relative


def from_strace(account, top):
    return [io._replace(path=neutral(io.path, top)) for io in account.io
            if io.path.startswith(f"{top}/")]


def from_trace(mount, top):
    rows = mount.sql("""
        SELECT i.exe, op.path, op.name, op.offset, op.length, op.bytes, op.via
        FROM op LEFT JOIN image i ON i.id = op.image LEFT JOIN handle h ON h.id = op.handle
        WHERE h.flags NOT LIKE '%EXEC%' AND op.name IN ('read', 'write') AND op.result >= 0 AND op.path LIKE ? || '/%'""",
                     str(top))
    return [(straced.Io(os.path.basename(exe or "?"), neutral(path, top), *rest), via)
            for exe, path, *rest, via in rows]


def pairs(ios):
    return {(io.program, io.path, io.op) for io in ios if io.bytes or io.op == "read"}


def totals(ios, op):
    sums = collections.Counter()
    for io in ios:
        if io.op == op and io.bytes:
            sums[io.program, io.path] += io.bytes
    return sums


def by_file(ios):
    found = collections.defaultdict(list)
    for io in ios:
        found[io.program, io.path, io.op].append(io)
    return found


def compare_calls(name, seen, recorded):
    """Number, sizes and offsets."""
    seen, recorded = by_file(seen), by_file(recorded)
    same = 0
    for key in sorted(seen.keys() | recorded.keys()):
        a, b = seen[key], recorded[key]
        known = [(io.offset, io.length, io.bytes) for io in a if io.offset is not None]
        got = [(io.offset, io.length, io.bytes) for io in b]
        if len(known) == len(a):
            checks.equal(f"{name}: calls of {key}", sorted(got), sorted(known))
        else:
            checks.equal(f"{name}: sizes of {key}", sorted(io.bytes for io in b),
                         sorted(io.bytes for io in a))
        same += len(a)
    return same


def compare(name, fidelity):
    with Mount("--fidelity", fidelity) as mount:
        top = mount.base / "work"
        top.mkdir()
        command = WORKLOADS[name](top)
        shutil.copytree(top, mount.base / "inputs", symlinks=True)
        seen = from_strace(straced.run(command, top), top)
        # The same names for the second run: its own temporary files are told by not being there.
        finished = mount.base / "finished"
        os.rename(top, finished)
        os.rename(mount.base / "inputs", top)
        subprocess.run(command, cwd=mount(top), check=True, stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL)
        mount.unmount()
        rows = from_trace(mount, top)
        recorded = [io for io, via in rows]
        label = f"{name}, {fidelity}"
        checks.equal(f"{label}: pairs of program and file", sorted(pairs(recorded) - pairs(seen)),
                     [])
        checks.equal(f"{label}: pairs missing", sorted(pairs(seen) - pairs(recorded)), [])
        checks.equal(f"{label}: bytes written", totals(recorded, "write"), totals(seen, "write"))
        checks.equal(f"{label}: nothing lost", mount.fact("ops_lost"), 0)
        calls = 0
        if fidelity == "exact":
            direct = [io for io, via in rows if via == "direct"]
            calls = compare_calls(label, seen, direct)
        print(f"{label}: {len(pairs(seen))} pairs, {len(seen)} calls seen by strace, "
              f"{len(recorded)} operations recorded, {calls} compared one by one")
        checks.check(f"{label}: there was something to compare", len(seen) > 100)


names = sys.argv[1:] or sorted(WORKLOADS)
for name, fidelity in one(itertools.product(names, ("exact", "cached"))):
    compare(name, fidelity)
checks.end()
