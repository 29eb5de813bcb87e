#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 42
# long: --long
"""wfdag: which process used which file how is what strace says of the same run, on a compile and on Montage.

strace runs inside the mount, around the workload, so that both see the same processes.  Its lines are
read here by the rules of the graph: a read is a read, mapping, execution, or an opening for reading
through which nothing was read; a write is a write, creation, truncation, or the target of a renaming.
Where data passes unseen (open), it is what a file was opened for.  A file is called by the last name it
had.
"""
import collections
import itertools
import os
import pathlib
import shutil
import subprocess
import tempfile

import straced
from sample import some
from straced_edges import CALLS, Account, from_wfdag
from ftractest import TOP, Checks, Mount, fidelities, need, need_fuse

WFDAG = os.environ.get("WFDAG", "build/dag/wfdag")
WORKLOADS = {}


def workload(function):
    WORKLOADS[function.__name__] = function
    return function


@workload
def compile(top):
    need("gcc", "ar")
    shutil.copytree(TOP / "examples/make", top, dirs_exist_ok=True)
    subprocess.run(["make", "-s", "clean"], cwd=top, check=True, timeout=60)
    return ["make", "-j3"]


@workload
def montage(top):
    if not shutil.which("mProjectPP"):
        print("left out: montage, since there is no 'mProjectPP' here")
        return None
    subprocess.run([TOP / "examples/montage/generate.sh", "A", top], check=True, stdout=subprocess.DEVNULL,
                   timeout=120)
    return ["make", "-j3"]


def run(checks, name, fidelity):
    with Mount("--fidelity", fidelity, "--processes", "connector") as mount:
        top = mount.base / "work"
        top.mkdir()
        command = WORKLOADS[name](top)
        if not command:
            return
        here = str(mount(top))
        account = Account(here, here, fidelity == "open")
        with tempfile.TemporaryDirectory() as scratch:
            prefix = pathlib.Path(scratch) / "strace"
            subprocess.run(["strace", "-ff", "-ttt", "-s", "4096", "-e", f"trace={CALLS}", "-e", "signal=none",
                            "-o", prefix, *command], cwd=here, check=True, stdin=subprocess.DEVNULL,
                           stdout=subprocess.DEVNULL, timeout=500)
            for _, pid, call, text, result in straced.lines_of(prefix):
                account.take(pid, call, text, result)
        mount.unmount()
        seen = collections.Counter({(pid, path[len(here):].lstrip("/"), what): n
                                    for (pid, path, what), n in account.end().items()})
        edges, graph = from_wfdag(WFDAG, mount.db, top)
        known = collections.Counter({(pid, os.path.relpath(path, top), what): n
                                     for (pid, path, what), n in edges.items()})
        label = f"{name}, {fidelity}"
        checks.equal(f"{label}: nothing lost", mount.fact("ops_lost"), 0)
        checks.equal(f"{label}: edges of wfdag that strace has not", sorted((known - seen).items()), [])
        checks.equal(f"{label}: edges of strace that wfdag has not", sorted((seen - known).items()), [])
        checks.check(f"{label}: there was something to compare", sum(seen.values()) > 50)
        print(f"{label}: {sum(seen.values())} edges of {len({key[0] for key in seen})} processes and "
              f"{len({key[1] for key in seen})} files compared, {len(graph['nodes'])} nodes")


def main():
    need_fuse()
    need("strace", "make")
    checks = Checks()
    for name, fidelity in some(itertools.product(WORKLOADS, fidelities()), 5):
        run(checks, name, fidelity)
    checks.end()


if __name__ == "__main__":
    main()
