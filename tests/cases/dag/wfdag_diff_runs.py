#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 60
# long: --long
"""wfdag diff --fail-on: what is counted is equal in equal runs, and one process, one edge or 1 % of the bytes more is found.

Workflows, ways to record and places of the change are random.
"""
import json
import os
import pathlib
import random
import shutil
import subprocess
import tempfile

from ftractest import Checks, kernel_refuses, need, need_fuse
from sample import LONG, rng
from workflows import traced

need_fuse()
need("make", "gcc")
PAIRS = 100 if LONG else 4
checks = Checks()
WFDAG = os.path.abspath(os.environ.get("WFDAG", "build/dag/wfdag"))
BASE = pathlib.Path(tempfile.mkdtemp(prefix="ftrac-case-"))
COUNTED = "graph,exit,processes,files,edges,operations,bytes"
CACHED = ("--files", "mount", "--fidelity", "cached")
WAYS = [("--files", "mount"), CACHED]
if not kernel_refuses():
    WAYS = [("--files", "kernel"), *WAYS, ("--files", "kernel")]
print(f"ways to record: {'; '.join(' '.join(way) for way in WAYS)}")


# ---- workflows; each has steps a change can be made in ----

def compiled(some):
    """A library and a program, by make -j."""
    n = some.randint(2, 4)
    files = {f"src/m{i}.c": f'#include "common.h"\nint m{i}(void) {{ return COMMON + {i}; }}\n' for i in range(n)}
    files["src/common.h"] = "#define COMMON 1\n"
    files["Makefile"] = f"""OBJS = {' '.join(f'm{i}.o' for i in range(n))}
export TMPDIR = $(CURDIR)/scratch
all: lib.a result
lib.a: $(OBJS)
\trm -f $@; ar rc $@ $(OBJS); sh steps/0
%.o: src/%.c src/common.h
\tgcc -c -o $@ $<
result: extra.bin
\tcat extra.bin > $@; sh steps/1; t=`mktemp` && date > $$t && rm $$t
"""
    return files, ["make", "-s", f"-j{some.randint(1, 4)}"], 2


def piped(some):
    """Words of texts, sorted and counted, by pipes and loops."""
    n = some.randint(2, 5)
    files = {f"texts/{i}.txt": "".join(f"{some.choice('abcdefgh')} {some.randrange(50)}\n" for _ in range(some.randint(500, 3000)))
             for i in range(n)}
    files["run.sh"] = """set -e
for f in texts/*.txt; do sort $f | uniq -c | sort -rn > $f.counts & done; wait
sh steps/0
cat texts/*.counts | awk '{ n += $1 } END { print n }' > total
cat extra.bin > copy.bin
sh steps/1
"""
    return files, ["sh", "run.sh"], 2


def spread(some):
    """The same for many files, at the same time, by xargs."""
    n = some.randint(5, 15)
    files = {f"in/{i}": "x" * some.randint(10, 9000) for i in range(n)}
    files["run.sh"] = f"""set -e
mkdir out
ls in | xargs -P {some.randint(2, 4)} -I% sh -c 'gzip -nc in/% > out/%.gz; md5sum out/%.gz > out/%.sum'
sh steps/0
cat out/*.sum | sort > sums; cat extra.bin > copy.bin
sh steps/1
"""
    return files, ["sh", "run.sh"], 2


def make(kind, seed):
    files, command, steps = kind(random.Random(seed))
    files |= {f"steps/{i}": "set -e\nread x < known.txt\n:\n" for i in range(steps)}
    files |= {"known.txt": "1\n", "other.txt": "2\n", "extra.bin": "x" * 1000, "steps/last": "read x < other.txt\n"}
    return files, command, steps


def run(db, files, command, way):
    work = BASE / "work"
    shutil.rmtree(work, ignore_errors=True)
    (work / "scratch").mkdir(parents=True)
    for name, text in files.items():
        (work / name).parent.mkdir(exist_ok=True)
        (work / name).write_text(text)
    traced(db, command, work, *way, "--strict")
    return db


def diff(*words, status=None):
    done = subprocess.run([WFDAG, "diff", *map(str, words)], capture_output=True, text=True, timeout=120, check=False)
    checks.check(f"diff {' '.join(map(str, words[:2]))}: ends well", done.returncode in (0, 1), done.stderr)
    return done


def counts(*traces):
    rows = json.loads(diff("--json", *traces).stdout)["rows"]
    return {row["what"]: row["b"] - row["a"] for row in rows if row["part"] == "count"}, \
        {row["what"]: row["b"] for row in rows if row["part"] == "count"}


# ---- pairs ----

class Tally:
    """How many of how many."""

    def __init__(self):
        self.n, self.found = {}, {}

    def add(self, what, found):
        self.n[what] = self.n.get(what, 0) + 1
        self.found[what] = self.found.get(what, 0) + found


def pair(number, tally):
    kind, way, seed = rng().choice([compiled, piped, spread]), rng().choice(WAYS), rng().randrange(10**6)
    files, command, steps = make(kind, seed)
    what = f"{number}: {kind.__name__} {seed}, {' '.join(way)}"
    before = run(BASE / "a.db", files, command, way)
    equal = run(BASE / "b.db", files, command, way)
    # How often the page cache asks depends on timing.
    counted = COUNTED.replace(",operations,bytes", "") if way == CACHED else COUNTED
    done = diff("--fail-on", counted, before, equal)
    tally.add("equal runs: alarms", done.returncode != 0)
    if done.returncode:
        print(f"{what}: {done.stderr}{done.stdout[:1500]}")
    step = f"steps/{rng().randrange(steps)}"
    for name, change, fail in (
            ("one process more", {step: files[step] + "/bin/true\n:\n"}, "processes"),
            ("one edge more", {step: files[step] + "read x < other.txt\n"}, "edges"),
            ("1 % more bytes", {"extra.bin": "x" * (1000 + counts(before, equal)[1]["bytes"] // 200 + 1)}, "bytes:0.9%")):
        after = run(BASE / "c.db", files | change, command, way)
        done = diff("--fail-on", fail, before, after)
        tally.add(f"{name}: found", done.returncode == 1)
        more = counts(before, after)[0]
        if done.returncode != 1 or (fail in more and more[fail] != 1 and fail == "edges"):
            print(f"{what}: {name}: {more} {done.stderr}")


def pairs():
    tally = Tally()
    for number in range(PAIRS):
        pair(number, tally)
    for what, n in tally.n.items():
        found = tally.found[what]
        print(f"{what}: {found} of {n}")
        checks.equal(what, found, 0 if "equal" in what else n)


# ---- several runs of each side ----

def several():
    """What is random within a side is noise, and named; what is not is found beside it."""
    files, command, _ = make(piped, 1)
    noisy = {"steps/1": "set -e\nread x < known.txt\nif test -e flag; then cat other.txt > maybe.txt; fi\n"}
    way = ("--files", "mount")
    with_flag = files | noisy | {"flag": ""}
    a = [run(BASE / "a1.db", files | noisy, command, way), run(BASE / "a2.db", with_flag, command, way)]
    b = [run(BASE / "b1.db", files | noisy, command, way), run(BASE / "b2.db", with_flag, command, way)]
    done = diff("--fail-on", "graph", a[0], a[1])
    checks.equal("one run of each side: it differs", done.returncode, 1)
    done = diff("--fail-on", COUNTED, *a, "--", *b)
    checks.equal("two runs of each side: no alarm", (done.returncode, done.stderr), (0, ""))
    checks.check("the noise is named", "noise" in done.stdout and "maybe.txt" in done.stdout and "within A" in done.stdout, done.stdout)
    more = with_flag | {"steps/0": "set -e\nread x < known.txt\n/bin/echo more\n/bin/true\n/bin/true\n/bin/true\n"}
    c = [run(BASE / "c1.db", more, command, way), run(BASE / "c2.db", more, command, way)]
    done = diff("--fail-on", "processes", *a, "--", *c)
    checks.equal("two runs of each side: what is added is found", done.returncode, 1)
    checks.check("and said", "processes: " in done.stderr and "first side" in done.stderr, done.stderr)
    checks.check("noise is not counted as added", "added    process  cat other.txt" not in done.stdout, done.stdout)
    rows = json.loads(diff("--json", *a, "--", *b).stdout)["rows"]
    checks.check("rows: the noise", any(row["part"] == "noise" and row["path"] == "maybe.txt" for row in rows) and
                 any(row["part"] == "noise" and row["what"] == "processes" and row["a"] == 1 for row in rows), rows[-30:])
    checks.equal("two traces without -- are as before", diff(a[0], b[0]).stdout.splitlines()[0].split(" (")[0], "same graph")
    checks.equal("-- in front of two traces is the end of the options", diff("--", a[0], b[0]).returncode, 0)
    markdown(a, c)


def markdown(a, b):
    text = diff("--markdown", "--fail-on", "graph", *a, "--", *b).stdout
    lines = text.splitlines()
    checks.check("Markdown: begins with a heading", lines[0].startswith("### ") and "processes added" in lines[0], lines[:1])
    tables = [i for i, line in enumerate(lines) if line.startswith("|--")]
    checks.check("Markdown: has tables", len(tables) >= 3)
    for i in tables:
        width = lines[i].count("|")
        k = i - 1
        while k < len(lines) and lines[k].startswith("|"):
            checks.equal("Markdown: a row has a cell for each column", lines[k].replace("\\|", "").count("|"), width)
            k += 1
    checks.equal("Markdown: what is opened is closed", text.count("<details>"), text.count("</details>"))
    checks.check("Markdown: what is counted", any(line.startswith("| processes |") and "more" in line for line in lines), text)
    checks.equal("--format markdown is the same", diff("--format", "markdown", *a, "--", *b).stdout, text)


def timing():
    files, command, _ = make(piped, 2)
    traces = [run(BASE / f"t{i}.db", files, command, CACHED) for i in range(2)]
    for words, status in [(["operations"], 2), (["bytes"], 2), (["operations:50%,bytes:50%,processes"], 0)]:
        done = subprocess.run([WFDAG, "diff", "--fail-on", *words, *traces], capture_output=True, text=True, timeout=120, check=False)
        checks.check(f"what depends on timing: {words[0]}", done.returncode == status and
                     (status == 0 or "depend on timing: allow some more" in done.stderr), done)


several()
timing()
pairs()
shutil.rmtree(BASE, ignore_errors=True)
checks.end()
