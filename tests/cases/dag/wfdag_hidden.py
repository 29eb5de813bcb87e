#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 2
"""Files of a workflow in /dev/shm are in the graph; devices, semaphores and segments of MPI there are not, unless --all is given."""
import json
import os
import pathlib
import subprocess
import tempfile

from ftractest import Checks, need
from workflows import traced

WFDAG = os.environ.get("WFDAG", "build/dag/wfdag")
NAMES = [f"/dev/shm/sem.ftrac-{os.getpid()}", f"/dev/shm/vader_segment.ftrac-{os.getpid()}.0"]
checks = Checks()


def files(db, *options):
    done = subprocess.run([WFDAG, "--json", *options, db], capture_output=True, text=True, timeout=100, check=True)
    return {node["path"] for node in json.loads(done.stdout)["nodes"] if "path" in node}


need("cat")
with tempfile.TemporaryDirectory(prefix="ftrac-case-", dir="/dev/shm") as directory:
    base = pathlib.Path(directory).resolve()
    try:
        traced(base / "trace.db", ["sh", "-c", f"echo x >a; cat a >b; cat b >/dev/null; echo y >{NAMES[0]}; cat {NAMES[0]} >{NAMES[1]}"], base,
               "--scope", "full", "--files", "preload")
    finally:
        for name in NAMES:
            pathlib.Path(name).unlink(missing_ok=True)
    wanted = {f"{base}/a", f"{base}/b"}
    checks.equal("shown", {path for path in files(base / "trace.db") if path.startswith("/dev/")}, wanted)
    everything = files(base / "trace.db", "--all")
    checks.check("--all", wanted | set(NAMES) <= everything, everything)
checks.end()
