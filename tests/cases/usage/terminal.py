#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 8
"""Tables on a terminal: no line is wider than it, names of columns that are left out are told, the first column stays, and no path
is cut to nothing.  In a pipe, and with --wide, each column is there."""
import os
import pathlib
import re
import subprocess
import tempfile

from ftractest import Checks, need_fuse
from terminals import on_terminal
from workflows import traced

WFDAG = os.path.abspath(os.environ.get("WFDAG", "build/dag/wfdag"))
WFSTAT = os.path.abspath(os.environ.get("WFSTAT", "build/dag/wfstat"))
ANALYSES = ["critical-path", "lifecycle", "weight", "order", "parallelism", "clusters", "whatif"]
checks = Checks()


def tables():
    told = subprocess.run([WFSTAT, "--help"], capture_output=True, text=True, timeout=60, check=True).stdout
    names = re.findall(r"^  ([a-z]+) {2,}", told.partition("Tables")[2], re.M)
    return [[WFSTAT, name] + (["--of", "latency"] if name in ("hist", "cdf") else []) for name in names] + \
        [[WFDAG, name] for name in ANALYSES]


def heading(text):
    return text.partition("\n")[0].split()


def check(words, trace):
    what = " ".join([pathlib.Path(words[0]).name, *words[1:]])
    whole = subprocess.run([*words, trace], capture_output=True, text=True, timeout=60, check=True).stdout
    for width in 80, 120:
        status, said = on_terminal(width, *words, trace)
        lines = said.splitlines()
        checks.equal(f"{what}, {width}: status", status, 0)
        checks.equal(f"{what}, {width}: wider lines", [line for line in lines if len(line) > width], [])
        checks.equal(f"{what}, {width}: the first column", heading(said)[:1], heading(whole)[:1])
        hidden = re.search(r"^Not shown, for want of width \(--wide\): ((?:.|\n.)*)", said, re.M)
        shown = set(heading(said)) | set(hidden[1].replace(",", " ").split() if hidden else [])
        checks.check(f"{what}, {width}: each column is shown or named", set(heading(whole)) - shown <= {"%"}, (heading(whole), shown))
        checks.check(f"{what}, {width}: nothing is cut to nothing", not re.search(r" \.\.\. ", lines[1] if len(lines) > 1 else ""), lines[1:2])
    if "--of" not in words:  # which draws bars on a terminal
        checks.equal(f"{what} --wide: as in a pipe", on_terminal(80, *words, "--wide", trace)[1].partition("\n\n")[0], whole.partition("\n\n")[0])


def through_pagers(trace):
    words = [WFSTAT, "run", trace]
    status, plain = on_terminal(100, *words)
    checks.check("plain text has no signs of colours", status == 0 and "\033" not in plain and "Total" in plain, plain)
    for what, variables, wanted in (
            ("a pager of the user", {"PAGER": "sed s/^/+/"}, re.sub("^", "+", plain, flags=re.M).removesuffix("+")),
            ("a terminal that can do nothing", {"TERM": "dumb", "PAGER": "sed s/^/+/"}, plain),
            ("a pager that ends early", {"PAGER": "head -n 1"}, plain.split("\n", 1)[0] + "\n"),
            ("a pager that is not there", {"PAGER": "/no/such/pager"}, None)):
        status, said = on_terminal(100, *words, **variables)
        checks.equal(f"{what}: status", status, 0)
        if wanted is not None:
            checks.equal(what, said, wanted)
    status, said = on_terminal(100, *words, NO_COLOR="")
    checks.check("headings are bold", "\033[1m" in said.split("\n")[0] and re.sub("\033\\[[0-9;]*m", "", said) == plain, said)


def main():
    need_fuse()
    with tempfile.TemporaryDirectory(prefix="ftrac-case-") as directory:
        base = pathlib.Path(directory).resolve()
        work = base / ("a-long-name-of-a-directory/" * 4) / "work"
        work.mkdir(parents=True)
        done = traced(base / "trace.db", ["sh", "-c", "seq 20000 >a; for i in 1 2 3; do sort -r a >b$i; cat a b$i | wc -l >c$i; done; cat nothing; true"], work)
        checks.check("the workflow was traced", (base / "trace.db").exists(), done)
        looked = [check(words, base / "trace.db") for words in tables()]
        through_pagers(base / "trace.db")
    print(f"{len(looked)} tables")
    checks.check("there were tables", len(looked) > 20, len(looked))
    checks.end()


main()
