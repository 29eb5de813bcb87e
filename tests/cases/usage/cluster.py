#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 20
"""The example of a cluster: jobs by GNU parallel and, where Slurm is installed, by srun and sbatch on three nodes of this machine; what has
started them is known."""
import contextlib
import os
import pathlib
import shutil
import sqlite3
import subprocess
import tempfile

from ftractest import TOP, Checks, need, need_fuse

EXAMPLE = TOP / "examples/cluster"
SLURM = "munged", "slurmctld", "slurmd", "srun", "sbatch", "ss"
os.environ.update({name: os.path.abspath(os.environ.get(name, f"build/{place}")) for name, place in
                   (("FTRAC", "ftrac/ftrac"), ("WFDAG", "dag/wfdag"), ("WFSTAT", "dag/wfstat"))})
checks = Checks()


def rows(path, sql):
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
        return db.execute(sql).fetchall()


def wanted():
    """The words, counted once more."""
    words = subprocess.run("cat *.sh | tr -cs A-Za-z '\\n' | sort | uniq -c", shell=True, cwd=EXAMPLE, capture_output=True, text=True, check=True).stdout
    return sorted((3 * int(line.split()[0]) for line in words.splitlines()), reverse=True)[:10]


def run(how, base):
    done = subprocess.run([EXAMPLE / "run.sh", how, base / how], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300, check=False)
    checks.equal(f"{how}: status", (done.returncode, "rror" in done.stderr), (0, False))
    if done.returncode:
        print(done.stdout[-2000:], done.stderr[-2000:])
    found = [int(line.split()[0]) for line in (base / how / "work/frequent").read_text().splitlines()]
    checks.equal(f"{how}: the words are counted", found, wanted())
    trace = base / how / "all.db"
    edges = rows(trace, "SELECT DISTINCT f.path FROM access a JOIN access b ON b.file = a.file AND b.version = a.version JOIN file f ON f.id = a.file"
                        " WHERE a.nwrite > 0 AND b.nread > 0 AND a.process <> b.process")
    names = {os.path.basename(path) for path, in edges}
    checks.equal(f"{how}: data goes from job to job", names, {"count.0", "count.1", "count.2", "counts"})
    return trace


def by_slurm(base):
    trace = run("slurm", base)
    found = rows(trace, "SELECT p.program, s.reason, count(*) FROM start s JOIN process p ON p.id = s.parent GROUP BY 1, 2 ORDER BY 1")
    checks.equal("slurm: what has started jobs", found, [("sbatch", "launcher", 2), ("srun", "launcher", 3)])
    tasks = rows(trace, "SELECT DISTINCT value FROM merged WHERE key = 'slurmd_nodename' ORDER BY 1")
    checks.equal("slurm: the nodes", [name for name, in tasks], ["node1", "node2", "node3"])
    checks.equal("slurm: its daemons have ended", [path.name for path in (base / "slurm/slurm").glob("*.pid") if
                                                   os.path.exists(f"/proc/{path.read_text().strip() or 'none'}")], [])


need_fuse()
need("parallel", "sqlite3")
with tempfile.TemporaryDirectory(prefix="ftrac-case-") as directory:
    top = pathlib.Path(directory)
    by_parallel = run("parallel", top)
    checks.equal("parallel: so many runs", rows(by_parallel, "SELECT count(DISTINCT part) FROM merged"), [(5,)])
    if os.geteuid() == 0 and all(map(shutil.which, SLURM)):
        by_slurm(top)
    else:
        print("slurm was not tried: it needs root, slurmctld, slurmd, slurm-client, munge and iproute2")
checks.end()
