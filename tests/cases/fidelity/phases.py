#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 28
# long: --long
"""Phases of real workflows are what a person would name: of Montage in three styles (as in the example; with mkdir -p in
each rule, also as lines of their own; as one shell script), of a compile whose rules make their directories, of a pipeline
of Python scripts, and of one script that is started by its own name."""
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import tempfile

from ftractest import TOP, Checks, need, need_fuse
from sample import one, some
from workflows import traced

checks = Checks()
ENV = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL", "JOBS")}
ENV["MALLOC_PERTURB_"] = "0" # Montage's programs read memory that they have not set
MOST = 12
MONTAGE = ["mProjectPP", "mImgtbl", "mDiffFit", "mConcatFit", "mBgModel", "mBackground", "mImgtbl.2", "mAdd", "mShrink",
           "mViewer"]
HELPERS = {"mkdir", "rm", "cp", "mv", "touch", "test", "sh"} # sh: what a shell does itself, as test


def phases_of(base, name, command, cwd, options=()):
    """[(phase, number of jobs)] in the order in which they began."""
    db = base / f"{name}.db"
    done = traced(db, command, cwd, *(options or ["--no-make"]), env=ENV, status=None)
    checks.equal(f"{name}: it runs", (done.returncode, done.stderr[-500:]), (0, ""))
    with sqlite3.connect(f"file:{db}?mode=ro", uri=True) as trace:
        rows = trace.execute("SELECT phase, count(DISTINCT job) FROM process WHERE job IS NOT NULL GROUP BY phase "
                             "ORDER BY min(start_ns)").fetchall()
    trace.close()
    print(f"{name}: {len(rows)} phases: {', '.join(f'{phase} {jobs}' for phase, jobs in rows)}")
    checks.check(f"{name}: at most {MOST} phases", 0 < len(rows) <= MOST, rows)
    return rows


def same_phases(name, rows, wanted, more=()):
    found = [phase for phase, _ in rows if phase not in more]
    checks.equal(f"{name}: phases", sorted(found), sorted(wanted))


# ---- Montage ----

def rules_of(text, together):
    """Each rule begins with mkdir -p: as a line of its own, or in front of the command."""
    line = "\t@mkdir -p $(@D) diff\n"
    return re.sub(r"^\tm(?=[A-Z])", "\t@mkdir -p $(@D) diff && m" if together else f"{line}\tm", text, flags=re.MULTILINE)


def montage(base):
    work = base / "montage"
    subprocess.run([TOP / "examples/montage/generate.sh", "A", work], check=True, timeout=120, capture_output=True)
    rules = (work / "Makefile").read_text()
    styles = {"as it is": rules, "mkdir in each line": rules_of(rules, True), "mkdir in each rule": rules_of(rules, False)}
    for name, text in styles.items():
        checks.equal(f"Montage, {name}: rules with mkdir", text.count("mkdir -p"), 0 if name == "as it is" else 14)
    ways = [("as it is", "-j8"), ("mkdir in each line", "-j8"), ("mkdir in each rule", "-j1"), ("mkdir in each rule", "-j8"),
            ("mkdir in each rule", "-j8", "--make")]
    for name, jobs, *options in some(ways, 5):
        (work / "Makefile").write_text(styles[name])
        clean(work)
        fact = ", ".join(["Montage", name, *(["notes"] if options else [jobs])])
        rows = phases_of(base, fact, ["make", "-s", jobs], work, options)
        same_phases(fact, rows, MONTAGE, {"mkdir"} if name == "mkdir in each rule" and not options else ())
    (work / "Makefile").write_text(rules)
    as_script(base, work)


def clean(work):
    subprocess.run(["make", "-s", "clean"], cwd=work, check=True, timeout=60)


def as_script(base, work):
    clean(work)
    lines = subprocess.run(["make", "-nB"], cwd=work, check=True, capture_output=True, text=True, timeout=60).stdout
    lines = "".join(f"mkdir -p proj diff fits corr\n{line}\n" for line in lines.splitlines() if re.match(r"m[A-Z]", line))
    script = work / "montage.sh"
    script.write_text(f"#!/bin/sh\nset -e\n{lines}rm -f statfiles.tmp\n")
    script.chmod(0o755)
    for run in one([given_to_sh, by_its_own_name]):
        run(base, work)
        clean(work)


def given_to_sh(base, work):
    rows = phases_of(base, "Montage, a script given to sh", ["sh", "montage.sh"], work)
    same_phases("Montage, a script given to sh", rows, MONTAGE, HELPERS)


def by_its_own_name(base, work):
    rows = phases_of(base, "Montage, a script by its own name", ["./montage.sh"], work)
    checks.equal("a script by its own name is one job, named after it", rows, [("montage.sh", 1)])


# ---- others ----

STEPS = {
    "fetch.py": "import sys\nopen(sys.argv[1], 'w').write(sys.argv[2] * 1000)\n",
    "clean.py": "import sys\nopen(sys.argv[2], 'w').write(open(sys.argv[1]).read().strip())\n",
    "train.py": "import sys\nopen(sys.argv[-1], 'w').write(str(sum(len(open(f).read()) for f in sys.argv[1:-1])))\n",
    "plot.py": "import sys\nopen(sys.argv[2], 'w').write('#' * len(open(sys.argv[1]).read()))\n",
}


def python(base):
    work = base / "python"
    (work / "steps").mkdir(parents=True)
    for name, text in STEPS.items():
        (work / "steps" / name).write_text(text)
    parts = range(6)
    (work / "Makefile").write_text(
        "all: out/plot.txt\n"
        "raw/%.txt:\n\tmkdir -p raw\n\tpython3 steps/fetch.py $@ $*\n"
        "clean/%.txt: raw/%.txt\n\tmkdir -p clean && python3 steps/clean.py $< $@.tmp\n\tmv $@.tmp $@\n"
        f"out/model: {' '.join(f'clean/{i}.txt' for i in parts)}\n\tmkdir -p out\n\trm -f $@\n\tpython3 -B steps/train.py $^ $@\n"
        "out/plot.txt: out/model\n\ttest -s $<\n\tpython3 steps/plot.py $< $@\n"
        ".SECONDARY:\n")
    rows = phases_of(base, "Python", ["make", "-s", "-j4"], work)
    same_phases("Python", rows, STEPS, HELPERS)
    checks.equal("Python: jobs", {phase: jobs for phase, jobs in rows if phase in STEPS},
                 {"fetch.py": 6, "clean.py": 6, "train.py": 1, "plot.py": 1})
    for name in "raw", "clean", "out":
        shutil.rmtree(work / name)
    rows = phases_of(base, "Python, notes", ["make", "-s", "-j4"], work, ["--make"])
    same_phases("Python, notes", rows, STEPS)


def compiled(base):
    """Rules that make their directories and clean before: the usual way."""
    work = base / "compile"
    (work / "src").mkdir(parents=True)
    for i in range(12):
        (work / f"src/f{i}.c").write_text(f"int f{i}(void) {{ return {i}; }}\n")
    (work / "src/main.c").write_text("int main(void) { return 0; }\n")
    (work / "Makefile").write_text(
        "OBJECTS := $(patsubst src/%.c,obj/%.o,$(wildcard src/*.c))\n"
        "all: bin/prog bin/lib.a\n\ttouch $@\n"
        "obj/%.o: src/%.c\n\t@mkdir -p $(@D)\n\trm -f $@\n\tgcc -c -o $@ $<\n"
        "bin/prog: $(OBJECTS)\n\t@mkdir -p $(@D)\n\tgcc -o $@ $^\n"
        "bin/lib.a: $(OBJECTS)\n\t@mkdir -p $(@D)\n\trm -f $@\n\tar cr $@ $^\n\tranlib $@\n")
    rows = phases_of(base, "compile", ["make", "-s", "-j3"], work)
    same_phases("compile", rows, ["gcc", "ar", "ranlib"], HELPERS)
    shutil.rmtree(work / "obj")
    shutil.rmtree(work / "bin")
    (work / "all").unlink()
    rows = phases_of(base, "compile, notes", ["make", "-s", "-j3"], work, ["--make"])
    same_phases("compile, notes", rows, ["gcc", "ar"], {"touch"})


def main():
    need_fuse()
    need("make", "gcc", "ar")
    with tempfile.TemporaryDirectory(prefix="ftrac-phases-") as directory:
        base = pathlib.Path(directory)
        if shutil.which("mProjectPP"):
            montage(base)
        else:
            print("left out: Montage, since there is no 'mProjectPP' here")
        python(base)
        compiled(base)
    checks.end()


main()
