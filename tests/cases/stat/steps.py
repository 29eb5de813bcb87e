#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The steps of real workflows, whose names are known: of make, Snakemake, xargs, scripts, pipes, a compiler and a Nextflow task; by
a mount and, where that is possible, in the kernel.  And in each table with a total, what belongs to one row only adds up to it."""
import json
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import tempfile

from ftractest import FTRAC, Checks, kernel_refuses, need_fuse

WFSTAT = os.path.abspath(os.environ.get("WFSTAT", "build/dag/wfstat"))
checks = Checks()

UPPER = "import sys; open(sys.argv[2], 'w').write(open(sys.argv[1]).read().upper())\n"
JOIN = "import sys; open(sys.argv[1], 'w').write(''.join(open(f).read() for f in sys.argv[2:]))\n"
RECIPES = """\
all: out/all.txt
clean/%.txt: raw/%.txt
\tmkdir -p clean; python3 upper.py $< $@
out/all.txt: clean/1.txt clean/2.txt clean/3.txt
\tmkdir -p out && python3 join.py $@ $^
"""
NESTED = "all: ; $(MAKE) -C a && $(MAKE) -C b\n"
OBJECTS = "prog: x.o y.o ; cat $^ > $@\n%.o: %.c ; sort $< > $@\n"
RULES = """\
rule all:
    input: "out/all.txt"
rule upper:
    input: "raw/{n}.txt"
    output: "clean/{n}.txt"
    shell: "python3 upper.py {input} {output}"
rule join:
    input: expand("clean/{n}.txt", n=[1, 2, 3])
    output: "out/all.txt"
    shell: "mkdir -p out; python3 join.py {output} {input}"
"""
JOB = """\
#!/bin/sh
here=$(uname -m)
for f in raw/*.txt; do
\tb=$(basename $f .txt)
\tsort $f | uniq > $b.out
done
cat *.out | wc -l > total
"""
ASKS = """\
#!/bin/sh
first=$(ls raw | sed 's/[.].*//' | head -n 1)
sh -c 'uname -m' > machine
sed s/b/c/ raw/$first.txt | sort > sorted
"""
# The head of a script of Nextflow.
TASK = "#!/bin/bash\n# NEXTFLOW TASK: align (sample 2)\nset -e\n/bin/bash -ue .command.sh\n"

RAW = {f"raw/{n}.txt": "b\na\n" * n for n in (1, 2, 3)}
PYTHON = {"upper.py": UPPER, "join.py": JOIN}

# name, files, command, {step: tasks}, {step: names of tasks}
WORKFLOWS = [
    ("recipes", {**RAW, **PYTHON, "Makefile": RECIPES}, ["make", "-s", "-j2"], {"make": 0, "clean/%.txt": 3, "out/all.txt": 1},
     {"clean/%.txt": {f"clean/{n}.txt" for n in (1, 2, 3)}}),
    ("recipes without notes", {**RAW, **PYTHON, "Makefile": RECIPES}, ["--no-make", "make", "-s", "-j2"],
     {"make": 0, "upper.py": 3, "join.py": 1}, {"upper.py": {f"upper.py {n}.txt" for n in (1, 2, 3)}}),
    ("nested makes", {"Makefile": NESTED, **{f"{d}/{f}": text for d in "ab" for f, text in
                                            (("Makefile", OBJECTS), ("x.c", "1\n"), ("y.c", "2\n"))}}, ["make", "-s"],
     {"make": 0, "a/%.o": 2, "b/%.o": 2, "a/prog": 1, "b/prog": 1}, {"a/%.o": {"a/x.o", "a/y.o"}}),
    ("a script", {**RAW, "job.sh": JOB}, ["./job.sh"], {"job.sh": 0, "sort": 3, "uniq": 3, "cat": 1, "wc": 1},
     {"sort": {f"sort {n}.txt" for n in (1, 2, 3)}}),
    ("a script that asks", {**RAW, "job.sh": ASKS}, ["./job.sh"], {"job.sh": 0, "sed": 1, "sort": 1}, {}),
    ("a pipe", RAW, ["sh", "-c", "cat raw/*.txt | sort | uniq -c > counts; true"], {"sh": 0, "cat": 1, "sort": 1, "uniq": 1}, {}),
    ("xargs", RAW, ["sh", "-c", "ls raw | xargs -P 2 -I{} sort raw/{} -o {}; true"], {"sh": 0, "ls": 1, "xargs": 0, "sort": 3},
     {"sort": {f"sort {n}.txt" for n in (1, 2, 3)}}),
    ("a compiler", {"hello.c": "int main(void) { return 0; }\n"}, ["gcc", "-o", "hello", "hello.c"], None, {}),
    ("a task of Nextflow", {"work/.command.run": TASK, "work/.command.sh": "sort ../raw > sorted\nuniq sorted\n", "raw": "1\n"},
     ["sh", "-c", "cd work && bash .command.run; true"], {"sh": 0, "align": 1}, {"align": {"align (sample 2)"}}),
]
STEPD = """\
#!/bin/sh
name=$1 number=$2
shift 2
SLURM_JOB_ID=7 SLURM_JOB_NAME=$name SLURM_STEP_ID=$number "$@"
:
"""
SLURM = "; ".join((*(f"./slurmstepd order {n} sort raw/{n}.txt -o sorted.{n}" for n in (1, 2)), "./slurmstepd count 3 uniq raw/3.txt", "true"))
WORKFLOWS.append(("steps of Slurm", {**RAW, "slurmstepd": STEPD}, ["sh", "-c", SLURM], {"sh": 0, "order.1": 1, "order.2": 1, "count.3": 1}, {}))
SNAKEMAKE = ("rules", {**RAW, **PYTHON, "Snakefile": RULES}, ["snakemake", "-c2", "-q"], {"upper": 3, "join": 1},
             {"upper": {f"clean/{n}.txt" for n in (1, 2, 3)}, "join": {"out/all.txt"}})
# What belongs to several rows at once, and what is no sum.
# A file of several phases is one file in all, maybe of another kind.
NO_SUMS = {"time_ns", "utilization_share", "files_ro", "files_wo", "files_rw", "files_none",
           "mean_ns", "sd_ns", "min_ns", "p50_ns", "p95_ns", "p99_ns", "max_ns"}
with_total = []  # tables, and options
sums = 0


def make_files(place, files):
    for name, text in files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text)
        if text.startswith("#!"):
            (place / name).chmod(0o755)


def table(db, *words):
    done = subprocess.run([WFSTAT, *words, "--json", db], capture_output=True, text=True, timeout=60, check=False)
    checks.equal(f"{words}: status", (done.returncode, done.stderr), (0, ""))
    return json.loads(done.stdout)["rows"]


def has_total(rows):
    return len(rows) > 1 and next(iter(rows[-1].values())) == "Total"


def find_totals(db):
    """Of all tables of wfstat but the distributions, which ask of what."""
    text = subprocess.run([WFSTAT, "--help"], capture_output=True, text=True, check=True).stdout
    names = re.findall(r"^  (\w+)  +\S", text[text.index("Tables:"):text.index("What is counted")], re.MULTILINE)
    found = [[name] for name in names if name not in ("hist", "cdf") and (name == "waits" or has_total(table(db, name)))]
    checks.check("tables with a total", {"io", "run", "sys", "util", "phase"} <= {name for name, in found}, (names, found))
    with_total.extend([*found, ["io", "--by", "task"], ["waits", "--by", "command"]])


def totals(what, db):
    global sums
    if not with_total:
        find_totals(db)
    for words in with_total:
        rows = table(db, *words)
        if not has_total(rows):
            checks.check(f"{what}: {words}: there is a total", words[0] == "waits" and not rows, rows)
            continue
        for column in rows[-1].keys() - NO_SUMS - {next(iter(rows[-1]))}:
            parts, total = [row[column] for row in rows[:-1]], rows[-1][column]
            sums += len(parts)
            wanted = None if None in parts else sum(parts)
            fit = total == wanted if None in (total, wanted) else abs(total - wanted) <= 1e-6 * abs(wanted)
            checks.check(f"{what}: {words}: {column} of the rows are the total", fit, (total, wanted))
    times = {next(iter(row.values())): row["time_ns"] for row in table(db, "run")}
    checks.check(f"{what}: no step lives longer than the run", all(time <= times["Total"] for time in times.values()), times)


def look(what, db, steps, tasks):
    found = {row["step"]: row["tasks"] for row in table(db, "run")[:-1]}
    if steps:
        checks.equal(f"{what}: steps and their tasks", {step: found.get(step) for step in steps}, steps)
    if steps and "upper" not in steps:  # Snakemake starts more
        checks.equal(f"{what}: no others", sorted(set(found) - set(steps)), [])
    with sqlite3.connect(f"file:{db}?mode=ro", uri=True) as trace:
        for step, wanted in tasks.items():
            got = {task for task, in trace.execute("SELECT DISTINCT task FROM process WHERE step = ?", (step,))}
            checks.equal(f"{what}: tasks of {step}", got, wanted)
        checks.equal(f"{what}: processes without a step", trace.execute(
            "SELECT id, command FROM process WHERE step IS NULL").fetchall(), [])
        labels = {label for label, in trace.execute("SELECT label FROM process")}
    trace.close()
    if "compiler" in what:
        checks.check(f"{what}: what the parts of a compiler do", {"gcc hello.c", "cc1 hello.c"} <= labels, labels)
    totals(what, db)


def of_an_older_release(base, db):
    """A trace without steps has those of the kinds of jobs."""
    old = base / "old.db"
    shutil.copy(db, old)
    with sqlite3.connect(old) as trace:
        view, = trace.execute("SELECT sql FROM sqlite_schema WHERE name = 'process'").fetchone()
        trace.execute("DROP VIEW process_step")
        trace.execute("DROP VIEW process")
        trace.execute(view.replace(", x.step, x.task, x.part, x.label", "").replace("LEFT JOIN process_step x ON x.process = p.id", ""))
        wanted = dict(trace.execute("SELECT coalesce(xform, program), count(*) FROM process GROUP BY 1"))
    trace.close()
    checks.equal("an older trace: steps", {row["step"]: row["processes"] for row in table(old, "io")[:-1]}, wanted)
    done = subprocess.run([WFSTAT, "io", "--csv", old, db], capture_output=True, text=True, timeout=60, check=False)
    checks.check("an older trace beside a new one: works or says why", done.returncode == 0 or "; read it alone" in done.stderr, done.stderr)


def main():
    need_fuse()
    workflows = WORKFLOWS + ([SNAKEMAKE] if shutil.which("snakemake") else [])
    ways = ["mount"] + (["kernel"] if not kernel_refuses() else [])
    with tempfile.TemporaryDirectory(prefix="ftrac-steps-") as directory:
        for name, files, command, steps, tasks in workflows:
            for way in ways:
                place = pathlib.Path(directory) / f"{name} {way}".replace(" ", "-")
                make_files(place / "work", files)
                options = [word for word in command if word == "--no-make"]
                done = subprocess.run([FTRAC, "run", "-q", "--files", way, "--db", place / "trace.db", *options, "--", *command[len(options):]],
                                      cwd=place / "work", stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=100, check=False)
                checks.equal(f"{name}, {way}: it runs", done.returncode, 0)
                look(f"{name}, {way}", place / "trace.db", steps, tasks)
        of_an_older_release(pathlib.Path(directory), pathlib.Path(directory) / "recipes-mount" / "trace.db")
    print(f"{len(workflows)} workflows, {' and '.join(ways)}; {len(with_total)} tables with a total, {sums} parts of sums")
    checks.check("there were sums", sums > 100, sums)
    checks.end()


main()
