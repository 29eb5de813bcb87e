#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What rules of wfdag generate wait for: each step of a workflow changes what another one looks for, tests, links,
lists, renames or removes; run in the order that is most unlike the original one, they make the same files.  What a shell
did itself, so that no command does it again, is refused."""
import os
import pathlib
import random
import subprocess
import tempfile

from ftractest import Checks, need, need_fuse
from rulesets import contents, differences, ninja_rules, run_in_order
from workflows import traced

WFDAG = os.environ.get("WFDAG", "build/dag/wfdag")
checks = Checks()

# Steps, each the recipe of a target that waits for the one before.
ORDERS = {
    "what is not there yet is removed, then made": ["rm -rf out", "mkdir out && echo 1 > out/a", "cat out/a > b"],
    "by its name": ["rm -f prog x.o", "echo 1 > x.o", "cat x.o > prog"],
    "made, removed, made": ["echo 1 > a", "rm -f a b", "echo 2 > a", "cat a > c"],
    "a name is tested, then made": ["test -e a || echo none > r", "echo 1 > a"],
    "made, then tested": ["echo 1 > a", "test -e a && echo there > r"],
    "tested, then removed": ["test -e given && echo there > r", "rm given"],
    "a directory is tested, then made": ["test -d d || echo none > r", "mkdir d", "test -d d && echo there > s"],
    "a name below what is not there": ["cat d/a > r 2>&1 || true", "mkdir d && echo 1 > d/a"],
    "the second of two names is removed": ["echo 2 > h", "ln h h2", "rm h2", "cat h > r"],
    "the first of two names is removed": ["echo 2 > h", "ln h h2", "rm h", "cat h2 > r"],
    "two names, one content": ["echo 2 > h", "ln h h2", "echo 3 >> h", "cat h2 > r", "echo 4 >> h2"],
    "links are counted": ["stat -c %h given > r", "ln given g2", "stat -c %h given > s", "rm g2"],
    "one temporary name for two files": ["echo 1 > t", "mv t o1", "echo 2 > t", "mv t o2", "cat o1 o2 > r"],
    "a directory gets another name": ["mkdir d && echo 1 > d/a", "mv d e", "mkdir d && echo 2 > d/a", "cat d/a e/a > r"],
    "a file takes the place of another": ["cat given > r", "echo 1 > t && mv t given", "cat given > s"],
    "a link leads elsewhere": ["echo 1 > a && echo 2 > b && ln -s a l", "cat l > r", "ln -sf b l", "cat l > s"],
    "a directory is listed": ["mkdir d && echo 1 > d/a", "ls d > r", "echo 2 > d/b", "ls d > s", "rm d/a"],
    "names fit a pattern": ["echo 1 > x1", "cat x* > r", "echo 2 > x2"],
    "which jobs may run it": ["printf '#!/bin/sh\necho 1\n' > p", "chmod +x p", "./p > r", "chmod -x p"],
    "two write one file": ["echo 1 > a", "echo 2 >> a", "echo 3 >> a", "sed -i s/2/x/ a"],
    "a reader comes before a job that empties": ["cat given > r", ": > given", "echo 1 >> given"],
    "a size is tested": [": > a", "test -s a || echo empty > r", "echo 1 > a", "test -s a && echo full > s"],
    "a job that fails": ["cat a > r; exit 3", "echo 1 > a"],
    "a shell that is left": ["echo 1 > a; exit 0", "exec cat a > r"],
}

# Makefiles and scripts, and what is done again of what make and shells do themselves.
DRIVERS = {
    "make removes what is only on the way": ({"Makefile": "all: x.c r\n%.c: %.b\n\tcat $< $< > $@\n%.b: %.a\n\tcat $< > $@\n"
                                                          "r: x.c\n\tls > $@\n", "x.a": "1\n"}, ["make", "-s"]),
    "a loop is one open": ({"wf.sh": "for i in a b a; do cat $i; done > r\nsort r > s\n", "a": "1\n", "b": "2\n"},
                           ["sh", "wf.sh"]),
    "so is a group": ({"wf.sh": "{ cat a; rm b; cat a; } > r\nexec > s\ncat a r\ncat a\n", "a": "1\n", "b": "2\n"},
                      ["sh", "wf.sh"]),
    "appended and emptied": ({"wf.sh": "cat a >> r\ncat a >> r\ncat b > r\ncat a >> r\n", "a": "1\n", "b": "2\n"},
                             ["sh", "wf.sh"]),
    "in bash": ({"wf.sh": "cat a a > r\nfor i in a b; do cat $i; done >> r\ncat r 2>&1 > s\n", "a": "1\n", "b": "2\n"},
                ["bash", "wf.sh"]),
    "below xargs": ({"wf.sh": "ls a b | xargs -n1 cat > r\n", "a": "1\n", "b": "2\n"}, ["sh", "wf.sh"]),
    "a script by its own name": ({"wf.sh": "chmod +x p\n./p 1 > r\nchmod -x p\n", "p": "#!/bin/sh\necho p $*\n"},
                                 ["sh", "wf.sh"]),
}

# Scripts that cannot be run again by parts, and a word of the reason.
REFUSED = {
    "the script writes a file": ("echo 1 > a\ncat a > b\n", "itself"),
    "which no job reads": ("cat given > a\necho 1 > b\n", "itself"),
    "it empties one": ("cat given > a\n: > given\n", "itself"),
    "it writes between its commands": ("{ cat given; echo 1; } > a\n", "itself"),
    "in a shell of its own": ("(echo 1; cat given) > a\n", "itself"),
    "into a pipe": ("echo 1 | cat > a\n", "pipe"),
    "behind a pipe": ("cat given | while read l; do echo $l; done > a\n", "itself"),
    "several into one pipe": ("{ cat given; cat given; } | cat > a\n", "pipe"),
    "from a document in it": ("cat > a <<E\n1\nE\n", "pipe"),
    "a part of a file": ("{ read l; cat > a; } < given\n", "by a descriptor that other processes read"),
}


def run(*args, cwd=None):
    return subprocess.run([str(a) for a in args], cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace", timeout=60, check=False)


def makefile(steps):
    """Make waits for nothing but the number of a step."""
    text = f"all: s{len(steps)}\n"
    for i, step in enumerate(steps, 1):
        line = step.replace("$", "$$").replace("\n", "\\n")
        text += f".PHONY: s{i}\ns{i}:{f' s{i - 1}' if i > 1 else ''}\n\t{line}\n"
    return text


def prepared(top, files):
    top.mkdir(parents=True)
    for name, text in files.items():
        (top / name).write_text(text)


def generated(base, files, command):
    """The files that it made, and what wfdag generate said, with its status."""
    prepared(base / "work", files)
    traced(base / "db", command, base / "work", "--stat")
    wanted = contents(base / "work")
    done = run(WFDAG, "generate", "--ninja", "-o", base / "rules", base / "db")
    return wanted, done


def order(base, what, files, command):
    wanted, done = generated(base, files, command)
    checks.check(f"{what}: generated", done.returncode == 0, done.stdout)
    if done.returncode:
        return
    rules = ninja_rules((base / "rules").read_text())
    checks.check(f"{what}: has rules", len(rules) > 0)
    for rng in None, random.Random(1):
        (base / "work").rename(base / f"before{rng is None}")
        prepared(base / "work", files)
        said = run_in_order(rules, base / "work", rng)
        differ = differences(contents(base / "work"), wanted)
        checks.check(f"{what}: the same {len(wanted)} files", not differ, "\n  " + "\n  ".join(differ) + f"\n{said}")


def main():
    need("make", "bash")
    need_fuse()
    with tempfile.TemporaryDirectory(prefix="ftrac-orders-") as directory:
        base = pathlib.Path(directory)
        for i, (what, steps) in enumerate(ORDERS.items()):
            order(base / f"o{i}", what, {"Makefile": makefile(steps), "given": "given\n"}, ["make", "-s", "-i"])
        for i, (what, (files, command)) in enumerate(DRIVERS.items()):
            order(base / f"d{i}", what, files, command)
        for i, (what, (text, word)) in enumerate(REFUSED.items()):
            done = generated(base / f"r{i}", {"wf.sh": text, "given": "given\nmore\n"}, ["sh", "wf.sh"])[1]
            checks.equal(f"{what}: status", done.returncode, 1)
            checks.check(f"{what}: one line, with the reason", word in done.stdout and done.stdout.count("\n") == 1,
                         done.stdout)
    checks.end()


main()
