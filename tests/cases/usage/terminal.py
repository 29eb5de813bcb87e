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


# What a terminal of 80 columns has to show of tables with many columns.
MATTER = {("wfstat", "proc"): {"runtime", "cpu", "rss", "command"}, ("wfstat", "handle"): {"file", "bread", "bwrite"},
          ("wfstat", "file"): {"path", "read", "written"}, ("wfstat", "list"): {"program", "event", "path", "result"},
          ("wfdag", "degree"): {"name"}, ("wfdag", "weight"): {"name"}, ("wfdag", "order"): {"name"},
          ("wfdag", "critical-path"): {"step", "time", "command"}}


def what_matters(trace):
    for words, names in MATTER.items():
        _, said = on_terminal(80, {"wfstat": WFSTAT, "wfdag": WFDAG}[words[0]], *words[1:], trace)
        checks.check(f"{' '.join(words)}, 80: what matters is shown", names <= set(heading(said)), heading(said))


def messages(trace):
    """Messages break at words, and in a pipe they are one line."""
    words = [WFSTAT, "io", "--by", "nothing-of-this-name", trace]
    whole = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False).stderr
    _, said = on_terminal(80, *words)
    checks.check("a message in a pipe: one line", whole.count("\n") == 1 and len(whole) > 100, whole)
    checks.check("a message on a terminal: several", said.count("\n") > 1 and max(map(len, said.splitlines())) <= 80, said)
    checks.equal("a message on a terminal: the same words", said.split(), whole.split())


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
        what_matters(base / "trace.db")
        messages(base / "trace.db")
        through_pagers(base / "trace.db")
    print(f"{len(looked)} tables")
    checks.check("there were tables", len(looked) > 20, len(looked))
    checks.end()


main()
