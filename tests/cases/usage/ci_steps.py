#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 25
"""The action for GitHub and the template for GitLab: their steps, run here as shell, on a repository with a missing dependency and a
branch that adds a process."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import yaml
from ftractest import FTRAC, TOP, Checks, need, need_fuse

need_fuse()
need("git", "make", "gcc")
checks = Checks()
BASE = pathlib.Path(tempfile.mkdtemp(prefix="ftrac-case-"))
WFDAG = os.path.abspath(os.environ.get("WFDAG", "build/dag/wfdag"))
MAKEFILE = """all: prog data
prog: a.o
\tgcc -o $@ a.o
a.o: a.c
\tsleep 0.3; gcc -c -o $@ a.c
gen.h:
\techo '#define N 1' > $@
data: gen.h
\tcat gen.h > $@
"""


def git(*words):
    subprocess.run(["git", "-c", "user.name=test", "-c", "user.email=test@example.org", *words], cwd=BASE / "repository", check=True,
                   capture_output=True, timeout=60)


def repository():
    """main, and a branch whose build runs one process more; a.o does not declare gen.h."""
    top = BASE / "repository"
    (top / "sub").mkdir(parents=True)
    (top / "sub/a.c").write_text('#include "gen.h"\nint main(void) { return N - 1; }\n')
    (top / "sub/Makefile").write_text(MAKEFILE)
    git("init", "-q", "-b", "main")
    git("add", ".")
    git("commit", "-q", "-m", "first")
    git("checkout", "-q", "-b", "change")
    (top / "sub/Makefile").write_text(MAKEFILE.replace("cat gen.h > $@", "cat gen.h > $@; cat a.c >> $@"))
    git("commit", "-q", "-a", "-m", "change")
    return top


def environment(name, **more):
    """Programs by their names, as they are once they are installed."""
    programs = BASE / "bin"
    programs.mkdir(exist_ok=True)
    for program in FTRAC, WFDAG:
        link = programs / os.path.basename(program)
        if not link.exists():
            link.symlink_to(program)
    out = BASE / name
    out.mkdir()
    return {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "RUNNER_TEMP": str(out), **more}, out


def expand(text, values):
    return re.sub(r"\$\{\{ *([a-z._-]+) *\}\}", lambda match: values[match[1]], text)


def shell(script, env):
    return subprocess.run(["sh", "-e", "-c", script], cwd=BASE / "repository", env=env, capture_output=True, text=True, timeout=300, check=False)


# ---- GitHub ----

def action(name, **inputs):
    """The exit statuses of the steps of the action, what they printed, and where the results are."""
    described = yaml.safe_load((TOP / "ci/action.yml").read_text())
    env, temp = environment(name, GITHUB_STEP_SUMMARY=str(BASE / name / "step.md"))
    values = {f"inputs.{key}": str(given["default"]) for key, given in described["inputs"].items()}
    values |= {"runner.temp": str(temp), "github.action_path": str(TOP / "ci"), "github.event.pull_request.base.sha": "main"}
    values = {key: expand(value, values) for key, value in values.items()}
    for key, value in inputs.items():
        assert f"inputs.{key.replace('_', '-')}" in values
        values[f"inputs.{key.replace('_', '-')}"] = value
    done = {}
    for step in described["runs"]["steps"]:
        if "run" in step:
            checks.check(f"{step['name']}: no value is pasted into the script", "${{" not in step["run"], step["run"])
            given = {key: expand(value, values) for key, value in step["env"].items()}
            done[step["name"]] = shell(step["run"], {**env, **given})
    return done, temp


def github():
    done, temp = action("github", directory="sub", runs="2", fail_on="processes", command="make -s -j4")
    traced, gate = done["Trace, check and compare"], done["Gate"]
    checks.equal("install: there is nothing to do", (done["Install ftrac"].returncode, done["Install ftrac"].stdout), (0, ""))
    checks.equal(f"run: goes through ({traced.stderr[-1000:]})", traced.returncode, 0)
    checks.check("run: the finding at its line", "::error file=sub/Makefile,line=4,title=Missing prerequisite::" in traced.stdout, traced.stdout)
    summary = (temp / "step.md").read_text()
    print(summary)
    for words in ("## Compared with main", "1 process added", "| processes |", "more |", "## Dependencies of the build", "| missing | a.o | gen.h |",
                  "## Fails", "- processes: ", "- dependencies: "):
        checks.check(f"summary: {words}", words in summary, summary)
    checks.equal("summary: also a file", (temp / "ftrac-ci/summary.md").read_text(), summary)
    results = json.loads((temp / "ftrac-ci/ftrac.sarif").read_text())["runs"][0]["results"]
    checks.equal("SARIF: relative to the repository", [r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for r in results],
                 ["sub/Makefile", "sub/Makefile"])
    checks.check("gate: fails by both", gate.returncode == 1 and "processes: " in gate.stderr and "missing" in gate.stderr, gate.stderr)
    checks.equal("no tree is left", subprocess.run(["git", "worktree", "list"], cwd=BASE / "repository", capture_output=True, text=True,
                                                   check=False).stdout.count("\n"), 1)
    done, temp = action("lenient", directory="sub", runs="1", check="none", command="make -s -j4", base="")
    checks.equal(f"nothing to fail by ({done['Gate'].stderr})", [step.returncode for step in done.values()], [0, 0, 0])
    checks.check("no base: no comparison", "Compared" not in (temp / "step.md").read_text())
    done, temp = action("broken", directory="sub", runs="1", command="false")
    checks.check("a build that fails", done["Trace, check and compare"].returncode == 2 and "the build of base" in
                 done["Trace, check and compare"].stderr, done["Trace, check and compare"].stderr)
    done, temp = action("nowhere", base="no-such-branch")
    checks.check("no such base", done["Trace, check and compare"].returncode == 2 and "no commit 'no-such-branch'" in
                 done["Trace, check and compare"].stderr, done["Trace, check and compare"].stderr)


# ---- GitLab ----

def gitlab():
    job = yaml.safe_load((TOP / "ci/gitlab.yml").read_text())["ftrac"]
    env, out = environment("gitlab")
    given = {"CI_MERGE_REQUEST_DIFF_BASE_SHA": "main", "CI_PROJECT_DIR": str(out), "FTRAC_CI": str(TOP / "ci/ftrac-ci"),
             "FTRAC_DIRECTORY": "sub", "FTRAC_RUNS": "1", "FTRAC_COMMAND": "make -s -j4", "FTRAC_FAIL_ON": "edges"}
    variables = {key: re.sub(r"\$([A-Z_]+)", lambda match: given[match[1]], value) for key, value in job["variables"].items()}
    done = shell("\n".join(job["script"]), {**env, **given, **variables})
    checks.check("GitLab: the job fails by what is added", done.returncode == 1 and "edges: " in done.stderr, (done.returncode, done.stderr[-1000:]))
    for path in job["artifacts"]["paths"]:
        checks.check(f"GitLab: {path}", (out / path).stat().st_size > 0)


def script():
    for words in [], ["nothing"]:
        done = subprocess.run([TOP / "ci/ftrac-ci", *words], capture_output=True, text=True, check=False)
        checks.check("wrong usage", done.returncode == 2 and "install|run|gate|note" in done.stderr, done.stderr)


repository()
script()
github()
gitlab()
shutil.rmtree(BASE, ignore_errors=True)
checks.end()
