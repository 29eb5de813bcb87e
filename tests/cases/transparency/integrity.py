#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 12
# long: --long --operations 10000
"""Every byte of a file is what it must be, after whatever was done to it by whatever way: natively,
and in each fidelity.

integrity.py [--operations N] [SEED...]
"""
import argparse
import concurrent.futures
import re
import subprocess
import tempfile

from ftractest import WORK, Checks, Mount, modes, need_fuse
from sample import some

need_fuse()
parser = argparse.ArgumentParser()
parser.add_argument("--operations", type=int, default=1500)
parser.add_argument("seeds", type=int, nargs="*", default=[1])
arguments = parser.parse_args()
checks = Checks()
MODES = some([options for _, options in modes()], 2)
VARIANTS = {
    "plain": [],
    "several descriptors": ["--two-fds"],
    "several, opened anew": ["--two-fds", "--reopen", "15"],
    "without mappings": ["--two-fds", "--no-mmap"],
    "direct": ["--direct"],
    "direct and not": ["--direct", "--two-fds"],
    "appending": ["--append"],
    "appending and not": ["--append", "--two-fds", "--reopen", "50"],
    "synchronous": ["--sync", "--two-fds"],
    "kernel AIO": ["--aio", "--two-fds"],
    "kernel AIO, direct": ["--aio", "--direct", "--two-fds"],
    "io_uring": ["--uring", "--two-fds"],
    "io_uring, direct": ["--uring", "--direct"],
    # requests of more than the megabyte that one can have
    "large": ["--size", str(6 << 20), "--two-fds"],
}
# Where the kernel passes data through it writes by a file of its own, which goes on appending when
# fcntl(2) has taken O_APPEND away from that of the program.
NOT_THERE = dict.fromkeys(("open", "call"), ["--without", "change-flags"])


def exercise(seed, number, options, top, source):
    """One variant: whether it went well, the operations, the bytes verified, what was refused."""
    done = subprocess.run([WORK / "exerciser", "--seed", str(seed * 100 + number), "--operations",
                           str(arguments.operations), *options, f"{top}/file{seed}.{number}",
                           f"{source}/file{seed}.{number}"],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=280)
    said = re.fullmatch(r"(\d+) operations, (\d+) bytes verified\nrefused:(.*)\n", done.stdout)
    if done.returncode or not said:
        return False, done.stdout or f"status {done.returncode}", 0, 0
    return True, said[3].split(), int(said[1]), int(said[2])


def exercise_all(label, seed, top, source, more=()):
    """Two at once; ends with what each variant was refused."""
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda item: exercise(seed, item[0], [*item[1], *more], top,
                                                      source), enumerate(VARIANTS.values())))
    refused = {}
    for name, (well, said, _, _) in zip(VARIANTS, results):
        checks.check(f"{label}, {name}: every byte is right", well, f"\n{said}")
        refused[name] = said if well else None
    operations, verified = (sum(r[i] for r in results) for i in (2, 3))
    print(f"{label}: {len(results)} variants, {operations} operations, {verified} bytes verified",
          flush=True)
    checks.check(f"{label}: there was something to verify", verified > 1000 * operations > 0)
    return refused


for seed in arguments.seeds:
    with tempfile.TemporaryDirectory(prefix="ftrac-case-") as base:
        native = exercise_all(f"natively, seed {seed}", seed, base, base)
    for mode in MODES:
        label = " ".join((*mode, f"seed {seed}"))
        with Mount(*mode) as mount:
            top = mount.base / "work"
            top.mkdir()
            refused = exercise_all(label, seed, mount(top), top, NOT_THERE.get(mode[1], ()))
            for name in VARIANTS:
                if refused[name] is not None:
                    checks.equal(f"{label}, {name}: refused", refused[name], native[name])
            mount.unmount()
            checks.equal(f"{label}: nothing is lost", mount.fact("ops_lost"), 0)
checks.end()
