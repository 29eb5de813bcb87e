#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 6
# long: --count 300
"""wfdag generate of random workflows (randomflows.py): what is generated makes the same files in any order that
it allows, or says that it cannot.

Each workflow is traced; rules are generated and run in an empty copy of the inputs, by the programs that they
are for, each with few and with many jobs at a time, and one after the other in the order that is most unlike the
original one; a trace of the run by ninja has the same graph.

  wfdag_random.py [--count N] [--seconds N] [--seed N] [--only N] [--kind KIND] [--steps N] [--keep DIR]

Without --count, as many as --seconds leave time for; the seed that is printed repeats them, --only one of them.
"""
import argparse
import os
import pathlib
import random
import shutil
import subprocess
import tempfile
import time

import randomflows
from ftractest import Checks, need, need_fuse
from rulesets import contents, differences, ninja_rules, run_in_order
from workflows import traced

WFDAG = os.environ.get("WFDAG", "build/dag/wfdag")
SYSTEMS = {"make": ["make", "-s", "-f"], "ninja": ["ninja", "--quiet", "-f"], "snakemake": ["snakemake", "-q", "-s"]}
JOBS = {"make": ["-j2", "-j8"], "ninja": ["-j2", "-j8"], "snakemake": ["-c8"]}

checks = Checks()


def run(*args, cwd=None):
    return subprocess.run([str(a) for a in args], cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace", timeout=120, check=False)


class Sample:
    def __init__(self, base, seed, kind, count):
        self.base, self.seed, self.rng = base, seed, random.Random(seed)
        self.inputs, self.original, self.db = base / "inputs", base / "original", base / "original.db"
        self.script, self.command, self.steps = randomflows.flow(self.rng, self.inputs, kind, count)
        self.what, self.kind = f"--seed {seed} --kind {kind}", kind
        self.failed = False

    def check(self, fact, holds, detail=""):
        checks.check(f"{self.what}: {fact}", holds, detail)
        self.failed |= not holds

    def traced(self, db, command, cwd):
        return traced(db, command, cwd, "--stat", status=None, stderr=subprocess.STDOUT)

    def look(self):
        """Whether it could be generated."""
        randomflows.copy_tree(self.inputs, self.original)
        done = self.traced(self.db, self.command, self.original)
        self.check("it is traced", done.returncode == 0, done.stdout[-1000:])
        self.wanted = contents(self.original)
        done = run(WFDAG, "generate", "--ninja", "-o", self.base / "ninja", self.db)
        if done.returncode:
            self.check("a refusal has status 1 and a reason", done.returncode == 1 and "wfdag:" in done.stdout,
                       done.stdout)
            self.refusal = done.stdout.strip()
            return False
        self.in_other_orders()
        for system in SYSTEMS:
            if shutil.which(system):
                self.by_system(system)
        return True

    def copy(self):
        """An empty copy of the inputs, where the original was: commands may say where that is."""
        shutil.rmtree(self.original)
        randomflows.copy_tree(self.inputs, self.original)
        (self.original / self.script).unlink()
        return self.original

    def compare(self, how, said):
        made, wanted = contents(self.original), dict(self.wanted)
        del wanted[self.script]
        differ = differences(made, wanted)
        self.check(f"{how}: the same {len(wanted)} files", not differ, "\n  " + "\n  ".join(differ) + f"\n{said[-1500:]}")

    def in_other_orders(self):
        rules = ninja_rules((self.base / "ninja").read_text())
        for how, rng in ("last first", None), ("any order", self.rng), ("any order again", self.rng):
            self.compare(how, run_in_order(rules, self.copy(), rng))

    def by_system(self, system):
        rules, db = self.base / system, self.base / "again.db"
        done = run(WFDAG, "generate", f"--{system}", "-o", rules, self.db)
        self.check(f"generated for {system}, too", done.returncode == 0, done.stdout)
        for jobs in JOBS[system]:
            command = [*SYSTEMS[system], rules, jobs]
            cwd = self.copy()
            again = system == "ninja" and jobs == JOBS[system][-1]
            done = self.traced(db, command, cwd) if again else run(*command, cwd=cwd)
            self.compare(" ".join([system, jobs]), done.stdout)
            # Which of its processes opens a file for a command, bash decides otherwise than sh, and sh otherwise for
            # what runs in the background.
            if again and self.kind != "bash" and not any("& wait" in step for step in self.steps):
                self.same_graph(db)
            if again:
                self.once_more(db)

    def once_more(self, db):
        """From the trace of the run by ninja, in which much went on at the same time."""
        done = run(WFDAG, "generate", "--ninja", "-o", self.base / "once", db)
        self.check("generated from what was generated", done.returncode == 0, done.stdout)
        if done.returncode == 0:
            said = run_in_order(ninja_rules((self.base / "once").read_text()), self.copy())
            self.compare("generated from what was generated", said)

    def same_graph(self, db):
        excluded = [f"path:*/{name}" for name in (".ftrac*", ".ninja_log", ".ninja_deps", self.script)]
        done = run(WFDAG, "diff", "--data", *(word for name in excluded for word in ("--exclude", name)), self.db, db)
        self.check("same graph", done.returncode == 0 and done.stdout.startswith("same graph"), done.stdout[:3000])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--seed", type=int, default=random.randrange(10 ** 6))
    parser.add_argument("--kind", choices=randomflows.KINDS)
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--only", action="store_true", help="only the one of --seed and --kind")
    options = parser.parse_args()
    need("make", "ninja")
    need_fuse()
    print(f"seed {options.seed}", flush=True)
    begin, number, refused, failed = time.monotonic(), 0, 0, []
    with tempfile.TemporaryDirectory(prefix="ftrac-random-") as directory:
        while number < options.count if options.count else time.monotonic() - begin < options.seconds:
            kind = options.kind or randomflows.KINDS[number % len(randomflows.KINDS)]
            sample = Sample(pathlib.Path(directory) / str(number), options.seed + number, kind, options.steps)
            if not sample.look():
                refused += 1
                if options.only or options.keep:
                    print(f"{sample.what}: {sample.refusal}")
            if sample.failed:
                failed.append(sample.what)
                print("  " + "\n  ".join(sample.steps), flush=True)
            if options.keep and (sample.failed or options.only):
                shutil.copytree(sample.base, options.keep / f"{sample.seed}-{kind}", symlinks=True, dirs_exist_ok=True)
            shutil.rmtree(sample.base)
            number += 1
            if options.only:
                break
    print(f"{number} workflows, of which {refused} cannot be generated, {len(failed)} went wrong: {failed}")
    checks.check("some are generated", refused < number)
    checks.end()


main()
