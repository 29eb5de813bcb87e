#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 30
# long: --long
"""wfdag check: builds with planted faults.  Each is found, nothing else is, and what the printed line mends
is not found again.

wfdag_check.py [PART...]; MAKE_TO_TEST: another make.

A bed is a project, as {name: text}, and what is to be found in it, as "kind target file".  A recipe TELLs something, and another one
waits till AFTER that, by files that are not traced: so they come in this order, which no rule declares.
"""
import csv
import io
import json
import os
import pathlib
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import textwrap
import unittest.mock

from ftractest import Checks, need, need_fuse
from sample import one, rng, some
from workflows import traced

need_fuse()
need("make", "gcc")
checks = Checks()
WFDAG = os.environ.get("WFDAG", "build/dag/wfdag")
BASE = pathlib.Path(tempfile.mkdtemp(prefix="ftrac-case-"))
MAKE = os.environ.get("MAKE_TO_TEST", "make")
MAIN = "int main(void) { return 0; }\n"
MORE = []  # options of ftrac run


class Project:
    def __init__(self, name, files):
        self.name, self.top = name, BASE / "".join(MORE) / name
        self.db = BASE / f"{name}.db"
        for path, text in files.items():
            file = self.top / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(self.in_order(textwrap.dedent(text)))
            if text.lstrip().startswith("#!"):
                file.chmod(0o755)
        self.first = sorted(p for p in self.top.rglob("*"))

    def in_order(self, text):
        text = re.sub(r"AFTER (\w+)", rf'while ! test -e "{self.top}.\1"; do sleep 0.05; done', text)
        return re.sub(r"TELL (\w+)", rf'echo > "{self.top}.\1"', text)

    def clean(self):
        for path in sorted(self.top.rglob("*"), reverse=True):
            if path not in self.first:
                path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()

    def build(self, *command, options=("--make",)):
        done = traced(self.db, command or (MAKE, "-j4"), self.top, *options, *MORE, status=None)
        checks.equal(f"{self.name}: the build works", (done.returncode, done.stderr), (0, ""))
        return done.stdout

    def check(self, *options):
        done = subprocess.run([WFDAG, "check", "--format", "csv", *options, self.db], cwd=self.top,
                              capture_output=True, text=True, timeout=120, check=False)
        checks.check(f"{self.name}: check says nothing else", not done.stderr, done.stderr)
        return done.returncode, list(csv.DictReader(io.StringIO(done.stdout)))

    def mend(self, rows):
        """By the printed lines, in the makefile that they are for."""
        for row in rows:
            makefile = pathlib.Path(row["directory"]) / "Makefile"
            if row["kind"] == "redundant":
                text = makefile.read_text()
                assert row["mend"] == f"remove '{row['file']}' from the prerequisites of {row['target']}"
                lines = [line.replace(f" {row['file']}", "", 1) if line.startswith(f"{row['target']}:")
                         else line for line in text.splitlines()]
                makefile.write_text("\n".join(lines) + "\n")
            else:
                with open(makefile, "a") as f:
                    f.write(row["mend"] + "\n")


def text_of(row):
    return f"{row['kind']} {row['target']} {row['file']}"


def bed(name, files, *faults, command=(), options=(), mends=True):
    project = Project(name, files)
    project.build(*command)
    status, rows = project.check(*options)
    checks.equal(f"{name}: what is found", sorted(map(text_of, rows)), sorted(faults))
    checks.equal(f"{name}: status", status, 1 if faults else 0)
    for row in rows:
        if row["kind"] != "redundant":
            checks.check(f"{name}: {text_of(row)}: the process, and when",
                         row["command"] and row["operation"] and int(row["pid"]) > 0 and
                         int(row["first_ns"]) > 0, row)
    if faults and mends:
        project.mend(rows)
        project.clean()
        project.build(*command)
        checks.equal(f"{name}: mended", project.check(*options), (0, []))
    return project, rows


def headers():
    files = {"a.c": '#include "a.h"\n#include "b.h"\n' + MAIN, "a.h": "", "b.h": "", "c.h": "/* c */\n",
             "Makefile": """\
                 a: a.o
                 \t$(CC) -o $@ $^
                 a.o: a.c a.h c.h
                 \t$(CC) -c -o $@ $<
                 """}
    bed("headers", files, "missing a.o b.h", "redundant a.o c.h")


def generated():
    bed("generated", {"a.c": '#include "gen.h"\n' + MAIN, "Makefile": """\
        all: a gen.h
        a: a.c
        \tAFTER gen; $(CC) -o $@ $<
        gen.h:
        \techo '#define GEN' > $@.tmp && mv $@.tmp $@; TELL gen
        """}, "missing a gen.h")
    # With -MD the header is known from the next time on; for this time, order is enough.
    project, rows = bed("depfile", {"a.c": '#include "gen.h"\n#include "own.h"\n' + MAIN, "own.h": "", "Makefile": """\
        all: a.o gen.h
        a.o: a.c
        \tAFTER gen; $(CC) -MD -c -o $@ $<
        gen.h:
        \techo '#define GEN' > $@; TELL gen
        -include a.d
        """}, "missing a.o gen.h")
    checks.equal("order is enough with a dependency file", [row["mend"] for row in rows], ["a.o: | gen.h"])
    (project.top / "a.d").unlink()
    gone = project.check()
    os.mkfifo(project.top / "a.d")
    checks.equal("a pipe in the place of a dependency file is not waited for", project.check(), gone)


def tools():
    bed("tool", {"gen.c": MAIN, "list.txt": "x\n", "conv.sh": "#!/bin/sh\ncat list.txt\n", "Makefile": """\
        all: gen out out2
        gen: gen.c
        \t$(CC) -o $@ $<; TELL gen
        out:
        \tAFTER gen; ./gen > $@
        out2: list.txt
        \t./conv.sh > $@
        """}, "missing out gen", "missing out2 conv.sh")


def races():
    files = {"Makefile": """\
        all: one two three
        one:
        \techo 1 > shared.txt; cp shared.txt $@; TELL one
        two:
        \tAFTER one; echo 2 > shared.txt; cp shared.txt $@
        three: one
        \techo log >> build.log; touch $@
        """}
    bed("race", files, "unordered two shared.txt")
    # The classic: yacc has one name for what it makes.
    bed("temporary", {"gen.sh": "#!/bin/sh\necho $1 > y.tab.c\nmv y.tab.c $1\n", "Makefile": """\
        all: a.c b.c | log
        a.c: gen.sh
        \t./gen.sh $@; echo a >> log.txt; TELL a
        b.c: gen.sh
        \tAFTER a; ./gen.sh $@; echo b >> log.txt
        log: ; mkdir log
        """}, "unordered b.c y.tab.c")
    # A race that was lost: rep looked before prog was there.
    bed("lost", {"Makefile": """\
        all: rep prog
        rep:
        \tif test -e prog; then echo 1 > $@; else echo none > $@; fi; TELL rep
        prog:
        \tAFTER rep; echo 1 > $@
        """}, "unordered rep prog")
    bed("script", {"Makefile": "all: ; echo 1 > x\nclean: ; rm -f x\n"},
        command=("sh", "-c", f"{MAKE} && {MAKE} clean && {MAKE}"))


def makefiles():
    """What make includes it makes before all else, so nothing has to wait for that."""
    files = {"a.in": "a\n", "Makefile": """\
        -include dep.mk
        all: a
        a: a.in
        \tAFTER clean; cat a.in > $@
        dep.mk: list
        \techo "x := $$(cat list)" > $@
        list:
        \techo list > $@
        clean:
        \trm -f a dep.mk list; TELL clean
        """}
    bed("included", files, command=(MAKE, "clean"))
    bed("included and used", files, "unordered clean a", command=(MAKE, "-j4", "all", "clean"), mends=False)


def missing_names():
    project, rows = bed("ghost", {"a.c": "#include <x.h>\n" + MAIN, "second/x.h": "", "first/y.h": "", "Makefile": """\
        a.o: a.c second/x.h
        \t$(CC) -Ifirst -Isecond -c -o $@ $<
        """})
    status, rows = project.check("--kinds", "missing,ghost")
    checks.equal("a missing name", [text_of(row) for row in rows], ["ghost a.o first/x.h"])
    checks.equal("a missing name is no failure", status, 0)
    checks.equal("unless --fail-on names it", project.check("--kinds", "ghost", "--fail-on", "ghost")[0], 1)


RECURSIVE = {
    "Makefile": """\
        all: lib prog
        lib:
        \t$(MAKE) -C lib
        prog: {order}
        \t$(MAKE) -C prog
        .PHONY: all lib prog
        """,
    "lib/Makefile": """\
        lib.a: one.o two.o
        \t$(AR) rc $@ $^; TELL lib
        %.o: %.c common.h
        \t$(CC) -c -o $@ $<
        """,
    "lib/one.c": '#include "common.h"\nint one;\n', "lib/two.c": '#include "common.h"\nint two;\n',
    "lib/common.h": "",
    "prog/Makefile": """\
        main: main.o {lib}
        \t{wait}$(CC) -o $@ main.o ../lib/lib.a
        main.o: main.c {header}
        \t$(CC) -I../lib -c -o $@ $<
        """,
    "prog/main.c": '#include "common.h"\n' + MAIN}


def recursive():
    def files(**values):
        return {name: text.format(**values) if "{" in text and name.endswith("Makefile") else text
                for name, text in RECURSIVE.items()}
    bed("recursive", files(order="lib", lib="../lib/lib.a", header="../lib/common.h", wait=""))
    bed("recursive-missing", files(order="lib", lib="", header="", wait=""),
        "missing main ../lib/lib.a", "missing main.o ../lib/common.h")
    bed("recursive-race", files(order="", lib="", header="../lib/common.h", wait="AFTER lib; "),
        "missing main ../lib/lib.a", "unordered prog lib/lib.a")


def kinds_of_rules():
    bed("rules", {"src/x.in": "x\n", "y.in": "y\n", "z.in": "z\n", "t.in": "t\n", "Makefile": """\
        .SECONDEXPANSION:
        VPATH = src
        OBJS = x.out p.l p.r g1 g2 s.one s.two sec d1 | made
        all: used log check
        used: x.out p.l p.r g1 g2 s.one s.two sec d1
        \tcat $^ > $@
        x.out: x.in | made
        \tcat $< > $@
        \tcp $@ made/
        made: ; mkdir -p $@
        %.l %.r: %.src
        \tcat $< > $*.l; cat $< > $*.r
        p.src: ; echo p > $@
        g1 g2 &: y.in
        \tcat y.in > g1; cat y.in > g2
        s.one s.two: s.%: z.in
        \tcat $< > $@
        sec: $$(addsuffix .in,t)
        \tcat $< > $@
        d1:: x.out ; cat x.out > $@
        d1:: y.in ; cat y.in >> $@
        log: used
        \tmktemp tmp.XXXXXX | xargs rm; mkdir d; touch d/x; rm -r d; touch log
        check: used
        \tcat used >/dev/null; ls; test -f z.in
        .PHONY: all check
        """})
    bed("shell", {"a.in": "a\n", "b.in": "b\n", "Makefile": """\
        SHELL = /bin/bash
        .SHELLFLAGS = -eu -o pipefail -c
        .ONESHELL:
        all: one two
        one: a.in
        \tdeclare -a words=(x y)
        \tcat a.in | cat > $@
        \ttest "$${words[1]}" = y
        two: a.in
        \tcat b.in a.in > $@
        unexport
        """}, "missing two b.in")
    bed("names", {"a b.in": "a\n", "c$d.in": "c\n", "Makefile": """\
        all: one
        one:
        \tcat 'a b.in' 'c$$d.in' > $@
        """}, "missing one a b.in", "missing one c$d.in")
    bed("catch-all", {"sub.mk": "all: in ; cat in > out\n", "in": "x\n", "Makefile": """\
        %: force
        \t@$(MAKE) -f sub.mk $@
        force: ;
        Makefile: ;
        """}, command=(MAKE, "all"))
    # The target of a makefile is that of another one, which runs in a directory below, too.
    bed("twice", {"sub/in1": "1\n", "sub/in2": "2\n", "sub/Makefile": "out: in1\n\tcat in1 in2 > out\n", "Makefile": """\
        all: sub/out
        sub/out: sub/in1
        \t@$(MAKE) -C sub out
        """}, "missing out in2")


def alias():
    """What lies behind an alias is not known: wfdag finds nothing about what was there in time."""
    bed("alias", {"Makefile": """\
        all: check
        check: parts
        \tcat part1 part2 > result
        parts: part1 part2
        part1 part2: ; echo $@ > $@
        """})


def large():
    n = 6000
    files = {f"in/a-prerequisite-with-a-long-name-{i}": "" for i in range(n)}
    files["in/extra"] = "x\n"
    files["Makefile"] = f"""\
        IN = $(addprefix in/a-prerequisite-with-a-long-name-,$(shell seq 0 {n - 1}))
        all: one two
        one two: $(IN)
        \tcat in/*-7 in/extra > $@; echo "$$FTRAC_TARGET" >&2; test $$(env | wc -c) -lt 100000
        """
    project = Project("large", files)
    done = traced(project.db, [MAKE, "-j4"], project.top, "--make", status=None)
    checks.equal("large: targets", sorted(done.stderr.split()), [f"{project.top}/one", f"{project.top}/two"])
    status, rows = project.check("--kinds", "missing")
    checks.equal("large: what is found", sorted(map(text_of, rows)), ["missing one in/extra", "missing two in/extra"])


def nothing_changes():
    """Only makefiles that look for it see what --make adds."""
    files = {"Makefile": """\
        $(info $(firstword $(MAKEFILE_LIST)) $(words $(MAKEFILE_LIST)) $(.DEFAULT_GOAL) $(MAKEFLAGS) $(SHELL))
        first: ; @echo $@ $(MAKEFILE_LIST) $(filter FTRAC%,$(MAKEFLAGS))
        x: first ; echo $(shell echo shell) $@
        """}
    project = Project("same", files)
    for words in ((), ("-n",), ("-q",), ("-t",), ("--version",), ("x",), ("-j2", "-k", "x", "nothing"),
                  ("--warn-undefined-variables", "x"), ("-e", "x"), ("-r", "-R", "x")):
        native = subprocess.run([MAKE, *words], cwd=project.top, capture_output=True, text=True, check=False)
        project.clean()
        done = traced(project.db, [MAKE, *words], project.top, "--make", status=None)
        checks.equal(f"make {' '.join(words)} is the same", (done.returncode, done.stdout, done.stderr),
                     (native.returncode, native.stdout, native.stderr))
        project.clean()


def only_three_variables_are_added():
    """Of the environment of a recipe, and of a make below, with all variables exported."""
    for export in "export", "unexport", ".EXPORT_ALL_VARIABLES:", "":
        project = Project(f"environment-{export[:5]}", {"Makefile": f"""\
            {export}
            V = $(shell env | grep -v FTRAC | wc -l)
            x: ; @env | sed 's/=.*//' | sort; $(MAKE) y
            y: ; @env | sed 's/=.*//' | sort; echo $(V)
            """})
        native = subprocess.run([MAKE], cwd=project.top, capture_output=True, text=True, check=False).stdout
        added = set(project.build().split()) - set(native.split())
        checks.equal(f"{export}: what is added", {word for word in added if not word.isdigit()},
                     {"FTRAC_RUN", "FTRAC_TARGET", "MAKEFILES"})
        checks.equal(f"{export}: a note for each recipe that ran", sorted(
            os.path.basename(row[0]) for row in sqlite3.connect(project.db).execute("SELECT key FROM declared")),
            ["x", "y"])


def by_ninja():
    if not shutil.which("ninja"):
        print("no ninja here: not looked at")
        return
    project = Project("ninja", {
        "a.c": '#include "gen.h"\n#include "own.h"\n' + MAIN, "own.h": "", "x.in": "x\n", "y.in": "y\n",
        "build.ninja": """\
            rule cc
              command = AFTER gen; gcc -MD -MF $out.d -c -o $out $in
              depfile = $out.d
              deps = gcc
            rule gen
              command = echo > $out; TELL gen
            rule cat
              command = cat x.in > $out
            build a.o: cc a.c
            build gen.h: gen
            build good: cat x.in || gen.h
            build bad: cat y.in
            """})
    project.build("ninja", "-j4", options=())
    status, rows = project.check("--ninja", ".")
    checks.equal("ninja: what is found", sorted(map(text_of, rows)), ["missing a.o gen.h", "missing bad x.in"])
    checks.equal("ninja: how to mend it", sorted(row["mend"] for row in rows),
                 ["build a.o: ... || gen.h", "build bad: ... | x.in"])
    checks.equal("ninja: status", status, 1)
    file = project.top / "build.ninja"
    file.write_text(file.read_text().replace("cc a.c", "cc a.c || gen.h").replace("cat y.in", "cat x.in"))
    project.clean()
    project.build("ninja", "-j4", options=())
    checks.equal("ninja: mended", project.check("--ninja", "."), (0, []))


def by_dyndep():
    """What ninja learns from a dyndep file while it builds is declared, and so is the file itself, which ninja alone reads."""
    if not shutil.which("ninja"):
        print("no ninja here: not looked at")
        return
    scan = "ninja_dyndep_version = 1\nbuild a.out | a.mod: dyndep\nbuild b.out: dyndep | a.mod\n"
    project = Project("dyndep", {
        "a.src": "a\n", "b.src": "b\n", "y.in": "y\n", "scan.in": scan,
        "build.ninja": """\
            ninja_required_version = 1.10
            rule cp
              command = cp $in $out
            rule a
              command = cp $in $out; cp $in a.mod; TELL mod
              dyndep = dd
            rule b
              command = AFTER mod; cat $in a.mod > $out
              dyndep = dd
            build dd: cp scan.in
            build a.out: a a.src | dd
            build b.out: b b.src || dd
            build other: cp y.in
            """})
    project.build("ninja", "-j4", options=())
    checks.equal("dyndep: nothing is missing or too much", project.check("--ninja", "."), (0, []))
    (project.top / "scan.in").write_text(scan.replace("| a.mod\n", "| y.in\n"))
    project.clean()
    pathlib.Path(f"{project.top}.mod").unlink()
    project.build("ninja", "-j4", options=())
    status, rows = project.check("--ninja", ".")
    checks.equal("dyndep: what it does not say", (status, sorted(map(text_of, rows))), (1, ["missing b.out a.mod", "redundant b.out y.in"]))


class ActionGraph:
    """An action graph as Bazel prints it: its analysis_v2.proto as JSON, in which unset members are left out; ids are numbers, or texts in
    the form of old versions, which had whole paths.  Nothing here runs Bazel, which is no package of Debian."""

    def __init__(self, rng, old):
        self.rng, self.old, self.ids = rng, old, {}
        self.document = {"artifacts": [], "actions": [], "targets": [{"id": self.id("target", "t"), "label": "//:t"}], "depSetOfFiles": [],
                         "configuration": [{"id": self.id("configuration", ""), "mnemonic": "k8-fastbuild", "platformName": "k8"}]}
        if not old:
            self.document["pathFragments"] = []

    def id(self, kind, key):
        number = self.ids.setdefault((kind, key), len(self.ids) + 1)
        return str(number) if self.old else number

    def fragment(self, path):
        known = ("fragment", path) in self.ids
        number = self.id("fragment", path)
        if not known:
            above, _, name = path.rpartition("/")
            entry = {"id": number, "label": name} | ({"parentId": self.fragment(above)} if above else {})
            self.document["pathFragments"].append(entry)
        return number

    def artifact(self, path):
        known = ("artifact", path) in self.ids
        number = self.id("artifact", path)
        if not known:
            self.document["artifacts"].append({"id": number} | ({"execPath": path} if self.old else {"pathFragmentId": self.fragment(path)}))
        return number

    def depset(self, paths, depth=0):
        """Sets of sets, some of which are there more than once."""
        paths = list(paths)
        cut = self.rng.randrange(len(paths) + 1) if depth < 5 else len(paths)
        entry = {"id": self.id("depset", (len(self.document["depSetOfFiles"]), depth))}
        if paths[:cut]:
            entry["directArtifactIds"] = [self.artifact(path) for path in paths[:cut]]
        if paths[cut:]:
            below = self.depset(paths[cut:], depth + 1)
            entry["transitiveDepSetIds"] = [below] * self.rng.choice([1, 2])
        self.document["depSetOfFiles"].append(entry)
        return entry["id"]

    def action(self, outputs, inputs, mnemonic="Genrule"):
        ids = [self.artifact(path) for path in outputs]
        self.document["actions"].append({
            "targetId": self.id("target", "t"), "actionKey": "%064x" % self.rng.getrandbits(256), "mnemonic": mnemonic,
            "configurationId": self.id("configuration", ""), "arguments": ["sh", "-c", "x"], "outputIds": ids, "primaryOutputId": ids[0]} |
            ({"inputDepSetIds": [self.depset(inputs)]} if inputs else {}))

    def write(self, path):
        self.rng.shuffle(self.document["depSetOfFiles"])
        path.write_text(json.dumps(self.document, indent=2))


def by_bazel():
    """--declared takes Bazel's action graph: the same findings as the same edges as CSV, which are those that were left out."""
    for number in range(6):
        seed = rng().randrange(10**9)
        numbers = random.Random(seed)
        sources = [f"src/d{i % 3}/s{i}.in" for i in range(9)]
        made, actions = [], []
        for i in range(8):
            outputs = [f"bazel-out/k8-fastbuild/bin/p{i}/{name}" for name in ("out", "more")[:numbers.choice([1, 1, 2])]]
            used = numbers.sample(sources, 2) + numbers.sample(made, min(len(made), numbers.randrange(3)))
            unused = numbers.sample([path for path in sources if path not in used], numbers.choice([0, 0, 1]))
            lost = numbers.sample(used[:2], numbers.choice([0, 0, 1])) + [path for path in used[2:] if numbers.random() < 0.2]
            actions.append((outputs, used, unused, lost))
            made += outputs
        script = "".join(f"sh -c 'cat {' '.join(used)} | tee {' '.join(outputs)} > /dev/null'\n" for outputs, used, _, _ in actions)
        project = Project(f"bazel {number}", {"run.sh": script} | {path: f"{path}\n" for path in sources})
        for outputs, *_ in actions:
            (project.top / outputs[0]).parent.mkdir(parents=True)
        project.build("sh", "run.sh", options=())
        graph = ActionGraph(numbers, number % 2)
        rows = [["target", "prerequisite"]]
        for outputs, used, unused, lost in actions:
            inputs = [path for path in used if path not in lost] + unused
            rows += [[output, path] for output in outputs for path in inputs or [""]] + [[output, outputs[0]] for output in outputs[1:]]
            if not number % 2 and len(inputs) > 1:  # some by a middleman
                graph.action([f"bazel-out/_middlemen/{outputs[0].replace('/', '_S')}"], inputs[:1], "Middleman")
                inputs = [f"bazel-out/_middlemen/{outputs[0].replace('/', '_S')}", *inputs[1:]]
            graph.action(outputs, inputs)
        graph.write(project.top / "aquery.json")
        with open(project.top / "edges.csv", "w", newline="") as f:
            csv.writer(f).writerows(rows)
        status, found = project.check("--declared", "aquery.json")
        checks.equal(f"bazel, seed {seed}: as the edges say it", (status, found), project.check("--declared", "edges.csv"))
        declared = {output: set(used) - set(lost) | set(unused) for outputs, used, unused, lost in actions for output in outputs}

        with_it = {output: set(outputs) for outputs, *_ in actions for output in outputs}  # an action makes them together

        def reaches(path, to):
            return path in with_it.get(to, {to}) or any(reaches(one, to) for one in declared.get(path, ()))

        missing = sorted({f"missing {outputs[0]} {path}" for outputs, used, unused, lost in actions for path in lost
                          if not any(reaches(one, path) for one in declared[outputs[0]])})
        checks.equal(f"bazel, seed {seed}: what is missing", sorted(text_of(row) for row in found if row["kind"] == "missing"), missing)
    print(f"action graphs: {6}, the last with {len(graph.document['depSetOfFiles'])} sets")
    (project.top / "bad.json").write_text('{"a": 1}')
    done = subprocess.run([WFDAG, "check", "--declared", "bad.json", project.db], cwd=project.top, capture_output=True, text=True, check=False)
    checks.check("JSON that is no action graph", done.returncode == 2 and "bazel aquery" in done.stderr and done.stderr.count("\n") == 1, done.stderr)
    circle = json.loads((project.top / "aquery.json").read_text())
    circle["depSetOfFiles"].append({"id": circle["depSetOfFiles"][0]["id"], "transitiveDepSetIds": [circle["depSetOfFiles"][0]["id"]]})
    (project.top / "circle.json").write_text(json.dumps(circle))
    project.check("--declared", "circle.json")


def by_file():
    project = Project("file", {"a.in": "a\n", "b.in": "b\n", "run.sh": """\
        #!/bin/sh
        sh -c 'cat a.in b.in > one'
        sh -c 'cat one > two'
        """, "edges.csv": 'target,prerequisite,kind\none,a.in,\n"two",,\n'})
    project.build("sh", "run.sh", options=())
    status, rows = project.check("--declared", "edges.csv")
    checks.equal("file: what is found", sorted(map(text_of, rows)), ["missing one b.in", "missing two one"])
    with open(project.top / "edges.csv", "a") as f:
        f.writelines(row["mend"] + "\n" for row in rows)
    checks.equal("file: mended", project.check("--declared", "edges.csv"), (0, []))


def other_records():
    """What is found does not depend on how it was recorded."""
    every = (["--fidelity", "cached"], ["--fidelity", "open"], ["--processes", "inband"], ["--processes", "connector"],
             ["--no-ops"])
    here = [more for more in every if not traced(BASE / "try.db", ["true"], BASE, *more, status=None).returncode]
    print(f"ways to record that are here: {', '.join(map(' '.join, here))}")
    for more in some(here, 2):
        MORE[:] = more
        for part in one([headers, generated, races, kinds_of_rules, alias]):
            part()
        MORE.clear()


def another_user():
    """The command may run as another user, whose makes leave notes, too."""
    if os.geteuid() != 0:
        return
    project = Project("else", {"Makefile": "all: one\none: in\n\tcat in > $@\n", "in": "x\n"})
    tmp = BASE / "tmp"
    tmp.mkdir()
    for path in BASE, project.top, tmp:
        path.chmod(0o777)
    with unittest.mock.patch.dict(os.environ, TMPDIR=str(tmp)):
        project.build(options=("--make", "--user", "nobody"))
    checks.equal("another user", project.check(), (0, []))
    checks.equal("no note is left", list(tmp.glob("ftrac-make-*")), [])


def environments():
    """Makes that clean up behind others, and makefiles that another program has added."""
    files = {"more.mk": "MORE = more\n", "sub/Makefile": "all: out\nout: ; echo $(MORE) > $@; cat ../in >> $@\n",
             "in": "x\n", "Makefile": """\
                 MAKEFLAGS = -r
                 all: sub ; cat in > all
                 sub: ; env -i PATH="$$PATH" MAKEFILES="$$MAKEFILES" $(MAKE) -C sub MAKEFLAGS=
                 .PHONY: sub
                 """}
    os.environ["MAKEFILES"] = str(BASE / "environments/more.mk")
    project = Project("environments", files)
    project.build()
    del os.environ["MAKEFILES"]
    checks.equal("makefiles of another program are read", (project.top / "sub/out").read_text(), "more\nx\n")
    status, rows = project.check()
    checks.equal("environments: what is found", sorted(map(text_of, rows)), ["missing out ../in"])


def usage():
    project = Project("usage", {"Makefile": "all: ; echo > x\n"})
    project.build(options=("--no-make",))

    def fails(what, words, *options):
        done = subprocess.run([WFDAG, "check", *options], cwd=project.top, capture_output=True, text=True,
                              check=False)
        checks.check(f"usage: {what}", done.returncode == 2 and done.stderr.count("\n") == 1 and
                     all(word in done.stderr for word in words), (done.returncode, done.stderr))
    fails("nothing is declared", ["ftrac run --make", "--ninja"], project.db)
    project.build(MAKE, "-n")
    fails("nothing was to be done", ["no recipe", "from scratch"], project.db)
    fails("no trace", ["no trace.db"])
    fails("an unknown kind", ["lost", "missing"], "--kinds", "lost", project.db)
    fails("no such file", ["edges.csv"], "--declared", "edges.csv", project.db)
    fails("no such folder", ["nowhere"], "--ninja", "nowhere", project.db)
    fails("an unknown option", ["--nothing"], "--nothing")
    for style in "table", "csv", "tsv", "json", "markdown", "sarif", "github":
        done = subprocess.run([WFDAG, "check", "--format", style, BASE / "headers.db"], capture_output=True,
                              text=True, check=False)
        checks.check(f"format {style}", done.returncode == 0 and "recipes" in done.stdout or style[1] == "s",
                     done.stdout)


ALL = headers, generated, tools, races, makefiles, missing_names, recursive, kinds_of_rules, alias, large, \
    nothing_changes, only_three_variables_are_added, by_ninja, by_dyndep, by_bazel, by_file, other_records, another_user, environments, usage
for subject in ALL:
    if len(sys.argv) < 2 or subject.__name__ in sys.argv[1:]:
        subject()
shutil.rmtree(BASE, ignore_errors=True)
checks.end()
