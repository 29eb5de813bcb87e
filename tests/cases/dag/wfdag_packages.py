#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 20
# long: --packages hello redis --all
"""wfdag generate of workflows that were not written for ftrac: operations of git, and the builds of packages from Debian's
sources.

Each workflow is traced.  wfdag generates rules for make, ninja and Snakemake from the trace.  The rules run with two and
with eight jobs at a time, in an empty copy of the inputs that lies where the original lay.  All files must be the same,
byte for byte; the trace of a run by ninja must have the same graph.

  wfdag_packages.py [--packages NAME...] [--all] [--keep DIR]

Without --packages only git, with one random system and number of jobs; --all: all of them.
"""
import argparse
import os
import pathlib
import random
import shutil
import subprocess
import tempfile

from ftractest import Checks, need, need_fuse, skip
from rulesets import contents
from workflows import traced

WFDAG = os.environ.get("WFDAG", "build/dag/wfdag")
SYSTEMS = {"make": ["make", "-s", "-f"], "ninja": ["ninja", "--quiet", "-f"], "snakemake": ["snakemake", "-q", "-s"]}
JOBS = {"make": "-j", "ninja": "-j", "snakemake": "-c"}
# Packages put the time of the build and the host into their files.
ENV = {**os.environ, "SOURCE_DATE_EPOCH": "1600000000", "GIT_AUTHOR_DATE": "1600000000 +0000",
       "GIT_COMMITTER_DATE": "1600000000 +0000", "GIT_CONFIG_GLOBAL": "/dev/null", "MAKEFLAGS": "",
       **{f"GIT_{role}_{what}": "me@example.org" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}}
# How a package is prepared natively, and the command that is traced.
PACKAGES = {"hello": (["./configure", "-q"], ["make", "-s", "-j2"]),
            "redis": ([], ["make", "-s", "-j2", "MALLOC=libc", "OPTIMIZATION=-O0", "REDIS_CFLAGS=-w"])}
GIT = """set -e
git init -q repository
sh -c 'cp -r input/. repository/'
git -C repository add .
git -C repository commit -q -m one
git clone -q repository clone
sh -c 'echo more >> clone/a.txt'
git -C clone commit -q -a -m two
git -C clone log -p > log.txt
git -C clone mv a.txt d.txt
git -C clone commit -q -m three
git --no-optional-locks -C clone status --short > status.txt
rm -rf repository
"""
VOLATILE = {".git/index": "inode numbers and times of files"}

# git reads a file of the work tree again if it was written in the same moment as the index.
UNSTEADY = {"git": ["path:*/*.txt"]}

checks = Checks()


def run(*args, **more):
    return subprocess.run([str(a) for a in args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env=ENV,
                          stderr=subprocess.STDOUT, text=True, errors="replace", timeout=1800, check=False, **more)


class RoundTrip:
    def __init__(self, base, name, inputs, command):
        self.base, self.name, self.inputs, self.command = base, name, inputs, command
        self.place, self.db = base / "place", base / "place.db"

    def fresh_copy(self):
        """The inputs where the original was: debug data has paths."""
        shutil.rmtree(self.place, ignore_errors=True)
        shutil.copytree(self.inputs, self.place, symlinks=True)

    def trace(self):
        self.fresh_copy()
        done = traced(self.db, self.command, self.place, "--stat", status=None, env=ENV, timeout=1800)
        checks.check(f"{self.name}: it is traced", done.returncode == 0, done.stderr[-2000:])
        self.wanted = contents(self.place)

    def compare(self, how, said):
        made = contents(self.place)
        names = sorted({*made, *self.wanted})
        differ = [name for name in names if made.get(name) != self.wanted.get(name)
                  and not any(name.endswith(end) for end in VOLATILE)]
        checks.check(f"{self.name}: {how}: {len(names)} files are the same", names and not differ,
                     f"{len(differ)} differ: {differ[:10]}\n{said[-1500:]}")
        print(f"{self.name}: {how}: {len(names)} files, {len(differ)} differ", flush=True)

    def by_system(self, system, jobs):
        rules, how = self.base / system, f"{system} {JOBS[system]}{jobs}"
        done = run(WFDAG, "generate", f"--{system}", "-o", rules, self.db)
        checks.check(f"{self.name}: generated for {system}", done.returncode == 0, done.stdout)
        if done.returncode:
            return
        self.fresh_copy()
        done = run(*SYSTEMS[system], rules, f"{JOBS[system]}{jobs}", cwd=self.place)
        checks.check(f"{self.name}: {how}: it runs", done.returncode == 0, done.stdout[-2000:])
        self.compare(how, done.stdout)

    def same_graph(self):
        again, rules = self.base / "again.db", self.base / "ninja"
        run(WFDAG, "generate", "--ninja", "-o", rules, self.db)
        self.fresh_copy()
        done = traced(again, [*SYSTEMS["ninja"], rules, "-j2"], self.place, "--stat", status=None, env=ENV, timeout=1800)
        checks.check(f"{self.name}: ninja runs traced", done.returncode == 0, done.stderr[-1000:])
        names = [f"path:*/{end}" for end in (".ftrac*", ".ninja_log", ".ninja_deps", "steps.sh")]
        excluded = [word for name in names + UNSTEADY.get(self.name, []) for word in ("--exclude", name)]
        done = run(WFDAG, "diff", "--data", *excluded, self.db, again)
        checks.check(f"{self.name}: same graph", done.returncode == 0 and done.stdout.startswith("same graph"),
                     done.stdout[:3000])
        print(f"{self.name}: {done.stdout.splitlines()[0] if done.stdout else 'no answer'}", flush=True)


def git_inputs(base):
    inputs = base / "git-inputs"
    (inputs / "input" / "sub").mkdir(parents=True)
    for i, name in enumerate(["a.txt", "b.txt", "sub/c.txt"]):
        (inputs / "input" / name).write_text(f"line of {name}\n" * (50 * i + 1))
    (inputs / "steps.sh").write_text(GIT)
    return inputs, ["sh", "steps.sh"]


def package_inputs(base, name):
    """Unpacked and prepared.  The caller's apt must know source packages (deb-src)."""
    sources = base / f"{name}-source"
    sources.mkdir()
    done = run("apt-get", "source", "-qq", name, cwd=sources)
    found = [entry for entry in sources.iterdir() if entry.is_dir()]
    if done.returncode or len(found) != 1:
        skip(f"no source package of {name} ('apt-get source' needs a deb-src entry): {done.stdout[-200:]}")
    prepare, command = PACKAGES[name]
    inputs = base / f"{name}-inputs"
    # What is prepared natively knows its directory, too.
    place = base / "place"
    shutil.rmtree(place, ignore_errors=True)
    found[0].rename(place)
    if prepare:
        checks.equal(f"{name}: prepared", run(*prepare, cwd=place).returncode, 0)
    place.rename(inputs)
    return inputs, command


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--packages", nargs="*", default=[], choices=PACKAGES)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--keep", type=pathlib.Path)
    options = parser.parse_args()
    need("make", "ninja", "git")
    need_fuse()
    systems = [(system, jobs) for system in SYSTEMS if shutil.which(system) for jobs in (2, 8)]
    with tempfile.TemporaryDirectory(prefix="ftrac-packages-") as directory:
        for name in ["git", *options.packages]:
            base = (options.keep or pathlib.Path(directory)) / name
            base.mkdir(parents=True)
            inputs, command = git_inputs(base) if name == "git" else package_inputs(base, name)
            trip = RoundTrip(base, name, inputs, command)
            trip.trace()
            for system, jobs in systems if options.all else random.sample(systems, 1):
                trip.by_system(system, jobs)
            trip.same_graph()
    checks.end()


main()
