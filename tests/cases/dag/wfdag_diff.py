#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 15
# long: --long
"""wfdag diff: the same workflow is the same graph, whatever order, load, directory and generated names;
wfdag reports each change in it, and nothing else."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile

from ftractest import FTRAC, TOP, Checks, Mount, need, need_fuse
from sample import some
from workflows import traced

WFDAG = os.environ.get("WFDAG", "build/dag/wfdag")
PROCMON = os.environ.get("PROCMON", "build/procmon/procmon")

SOURCES = "a", "b", "c", "d", "e"
# Headers, a file that is made, an archive, a link, temporary files of the compiler, a shell between.
MAKEFILE = """CFLAGS = -O1 -Isrc -I.
export TMPDIR = $(CURDIR)/scratch
OBJS = a.o b.o c.o d.o e.o
out.txt: prog
	./prog > $@.new; mv $@.new $@
prog: main.o libx.a
	gcc -o $@ main.o libx.a
libx.a: $(OBJS)
	rm -f $@; ar rc $@ $(OBJS)
gen.h: VERSION
	t=`mktemp` && sed 's/.*/#define VERSION "&"/' VERSION > "$$t" && cp "$$t" $@ && rm "$$t"
%.o: src/%.c src/common.h gen.h
	gcc $(CFLAGS) -c -o $@ $<
main.o: src/main.c src/common.h
	gcc $(CFLAGS) -c -o $@ $<
"""


def make_project(top):
    (top / "src").mkdir(parents=True)
    (top / "scratch").mkdir()
    (top / "Makefile").write_text(MAKEFILE)
    (top / "VERSION").write_text("1.2\n")
    (top / "src/common.h").write_text("int f(int);\n")
    (top / "src/extra.h").write_text("#define EXTRA 1\n")
    for name in SOURCES:
        more = '#include "extra.h"\n' if name == "e" else ""
        (top / f"src/{name}.c").write_text(f'#include "common.h"\n#include "gen.h"\n{more}'
                                           f"const char *v_{name}(void) {{ return VERSION; }}\n")
    (top / "src/main.c").write_text('#include <stdio.h>\n#include "common.h"\nconst char *v_a(void);\n'
                                    "int main(void) { puts(v_a()); return 0; }\n")
    return top


class Runs:
    """Traces in one directory; a project that is copied for each, so that all begin alike."""

    def __init__(self, base):
        self.base, self.n = base, 0
        self.project = make_project(base / "project")

    def trace(self, command, change=None, where=None, status=0, options=(), tracer=None):
        self.n += 1
        work = self.base / (where or "work")
        shutil.rmtree(work, ignore_errors=True)
        work.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(self.project, work)
        if change:
            change(work)
        db = self.base / f"{self.n}.db"
        if tracer:
            done = subprocess.run([*map(str, tracer(db)), *command], cwd=work, capture_output=True, timeout=120, check=False)
            assert done.returncode == status, (done.returncode, done.stdout, done.stderr)
        else:
            traced(db, command, work, *options, status=status)
        return db


def diff(*args):
    return subprocess.run([WFDAG, "diff", *map(str, args)], capture_output=True, text=True, timeout=120,
                          check=False)


class Compared:
    def __init__(self, *args):
        done = diff("--format", "json", *args)
        assert done.returncode in (0, 1), done.stderr
        self.status, said = done.returncode, json.loads(done.stdout)
        self.summary, self.rows = said["notes"][0], said["rows"]

    def differences(self):
        """{"added read src/x.h > cc1"}"""
        found = []
        for row in self.rows:
            if row["part"] == "difference":
                program = os.path.basename((row["command"] or "").split(" ")[0])
                place = {"process": program, "fork": program, "file": row["path"]}.get(
                    row["what"], f"{row['path']} > {program}")
                found.append(f"{row['change']} {row['what']} {place}")
        return sorted(found)

    def details(self):
        return {row["command"]: row["detail"] for row in self.rows if row["part"] == "difference"}

    def count(self, what):
        return next((row["a"], row["b"]) for row in self.rows if row["part"] == "count" and row["what"] == what)


def replace(name, old, new):
    def change(work):
        text = (work / name).read_text()
        assert old in text, (name, old)
        (work / name).write_text(text.replace(old, new))
    return change


class Load:
    """What else goes on: two processes that compute."""

    def __enter__(self):
        self.busy = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(2)]

    def __exit__(self, *args):
        for busy in self.busy:
            busy.send_signal(signal.SIGKILL)
            busy.wait()


def check_same(checks, name, a, b, *options):
    found = Compared(*options, a, b)
    checks.equal(f"{name}: nothing differs", found.differences(), [])
    checks.equal(f"{name}: exit status", found.status, 0)
    checks.check(f"{name}: summary", found.summary.startswith("same graph ("), found.summary)
    checks.check(f"{name}: it was compared", min(*found.count("processes"), *found.count("files")) > 20,
                 str(found.rows[:3]))


def check_changes(checks, name, a, b, wanted, summary=""):
    found = Compared(a, b)
    checks.equal(name, found.differences(), sorted(wanted))
    checks.equal(f"{name}: exit status", found.status, 1)
    checks.check(f"{name}: summary", summary in found.summary, found.summary)
    swapped = {"added": "removed", "removed": "added", "changed": "changed"}
    back = [f"{swapped[text.split(' ')[0]]} {text.split(' ', 1)[1]}" for text in wanted
            if not text.startswith("changed")]
    checks.equal(f"{name}: the other way round", [text for text in Compared(b, a).differences()
                                                  if not text.startswith("changed")], sorted(back))
    summary = diff(a, b)
    checks.check(f"{name}: short", summary.stdout.count("\n") < 75, summary.stdout)
    checks.equal(f"{name}: the same twice", diff(a, b).stdout, summary.stdout)
    return found


def check_alike(checks, runs, first):
    """What is no difference."""
    with Load():
        for jobs in 2, 8:
            check_same(checks, f"make -j{jobs} with load", first, runs.trace(["make", "-s", f"-j{jobs}"]))
    check_same(checks, "another directory", first, runs.trace(["make", "-s", "-j4"], where="far/away/from here"))
    full = [runs.trace(["make", "-s", f"-j{jobs}"], options=["--scope", "full"]) for jobs in (1, 4)]
    check_same(checks, "all files", *full, "--all")
    check_same(checks, "all files, those of the system hidden", *full)
    check_same(checks, "all files or the project's alone", first, full[0], "--exclude", "path:/tmp/tmp.*")
    profiles = [runs.trace(["make", "-s", f"-j{jobs}"], tracer=lambda db: [PROCMON, "--db", db, "--"]) for jobs in (1, 4)]
    found = Compared(*profiles)
    checks.equal("without files: nothing differs", found.differences(), [])
    checks.check("without files: processes", min(found.count("processes")) > 20, str(found.count("processes")))
    check_same(checks, "the same trace", first, first)
    work = runs.base / "work"
    shutil.rmtree(work)
    shutil.copytree(runs.project, work)
    base = runs.base / "elsewhere"
    base.mkdir()
    with Mount(base=base) as mount:
        subprocess.run(["make", "-s", "-j4"], cwd=mount(work), check=True, timeout=120, capture_output=True)
    check_same(checks, "through a mount", first, mount.db)


def check_unlike(checks, runs, first):
    """What is one."""
    make = ["make", "-s", "-j4"]
    include = runs.trace(make, replace("src/b.c", '#include "gen.h"', '#include "gen.h"\n#include "extra.h"'))
    found = check_changes(checks, "an #include more", first, include, ["added read src/extra.h > cc1"], "1 edge added")
    checks.check("an #include more: whose", "src/b.c" in next(iter(found.details())))

    def remove(work):
        replace("src/e.c", '#include "extra.h"\n', "")(work)
        (work / "src/extra.h").unlink()
    check_changes(checks, "a header less", first, runs.trace(make, remove),
                  ["removed file src/extra.h", "removed read src/extra.h > cc1"],
                  "1 file removed, 1 edge removed")

    found = check_changes(checks, "another flag", first, runs.trace(make, replace("Makefile", "-O1", "-O2")),
                          ["changed process gcc", "changed process cc1"] * 6, "12 processes changed")
    checks.equal("another flag: which", set(found.details().values()), {"-O1 -> -O2"})

    found = check_changes(checks, "an option of one", first, runs.trace(
        make, replace("Makefile", "gcc -o $@ main.o", "gcc -s -o $@ main.o")),
                          ["changed process gcc", "changed process collect2", "changed process ld"],
                          "3 processes changed")
    checks.check("an option of one: which", "(nothing) -> -s" in found.details().values(), str(found.details()))

    found = check_changes(checks, "a process more", first, runs.trace(
        make, replace("Makefile", "\tgcc -o $@ main.o libx.a\n", "\tgcc -o $@ main.o libx.a\n\tcp $@ copy\n")),
                          ["added process cp", "added file copy"], "1 process added, 1 file added")

    def add_source(work):
        (work / "src/g.c").write_text("int g;\n")
        replace("Makefile", "d.o e.o", "d.o e.o g.o")(work)
    found = Compared(first, runs.trace(make, add_source))
    checks.equal("a source more", found.differences(), sorted([
        "added process gcc", "added process cc1", "added process as", "added file src/g.c", "added file g.o",
        "added read g.o > ar", "changed process sh", "changed process ar"]))


def check_shells(checks, runs):
    """A shell that becomes the program, and one that stays."""
    def script(text):
        return runs.trace(["sh", "-c", text])
    plain, exec_ = script("cat VERSION > v; sort -o w v; :"), script("cat VERSION > v; (exec sort -o w v); :")
    found = Compared(plain, exec_)
    checks.equal("a shell that becomes the program", found.differences(), ["changed process sh"])
    stays = script("cat VERSION > v; sh -c 'sort -o w v; :'; :")
    found = Compared(plain, stays)
    checks.equal("a shell that stays", found.differences(),
                 ["added fork sort", "added process sh", "changed process sh", "removed fork sort"])


def check_generated_below(checks, runs):
    """The recipes of a make in another directory, and a generated workflow's, which go there first."""
    def below(work):
        (work / "it's deps").mkdir()
        (work / "it's deps/Makefile").write_text("x: lib\n\techo 1 > x; cat lib >> x\nlib:\n\tsort ../VERSION > lib; :\n")

    made = runs.trace(["make", "-s", "-C", "it's deps"], below)
    for kind, run in ("make", ["make", "-s", "-f", "generated"]), ("ninja", ["ninja", "-f", "generated"]):
        def generated(work, kind=kind):
            below(work)
            done = subprocess.run([WFDAG, "generate", f"--{kind}", "-o", work / "generated", made], capture_output=True, text=True,
                                  timeout=60, check=False)
            assert done.returncode == 0, done
        found = diff("--data", made, runs.trace(run, generated))
        checks.check(f"{kind}: recipes of another directory", found.stdout.startswith("same graph ("), found.stdout)


def check_any_bytes(checks, runs):
    """The summary is UTF-8, also of a program with another name."""
    def slept(seconds):
        def change(work):
            shutil.copy(shutil.which("sleep"), os.fsencode(work) + b"/caf\xe9")
            (work / "any").write_text(f"a:\n\t./caf* {seconds}\n\ttouch b\n")
        return runs.trace(["make", "-s", "-f", "any"], change)
    done = subprocess.run([WFDAG, "diff", slept(0.05), slept(0.4)], capture_output=True, timeout=60, check=False)
    summary = done.stdout.split(b"\n")[0]
    checks.check("a name that is not UTF-8 in the summary", b", most in caf\\xe9 (+" in summary, summary)


def check_failed(checks, runs, first):
    """A run that ended half way."""
    half = runs.trace(["make", "-s", "-j1"], replace("src/d.c", "const", "error"), status=2)
    found = Compared(first, half)
    kinds = {text.split(" ")[0] for text in found.differences()}
    checks.equal("failed half way: nothing but less", kinds, {"removed"})
    checks.check("failed half way: what did not run", {"removed process ar", "removed process ld", "removed file prog"}
                 <= set(found.differences()), str(found.differences()))
    checks.check("failed half way: summary", "exited with" in found.summary, found.summary)
    checks.equal("failed half way: exit", diff("--fail-on", "exit", first, half).returncode, 1)


JOB = """d=$(mktemp -d ./tmp.XXXXXX); echo $1 > $d/in; sort $d/in > $d/out.$$; cat $d/out.$$ >> all.log
mkdir -p shared/dir; cp $d/out.$$ shared/dir/$1; rm -r $d
"""
CHAIN = """f=`mktemp`; echo 0 > "$f"; for i in `seq 30`; do g=`mktemp`; sort "$f" > "$g"; rm "$f"; f=$g; done; mv "$f" end
"""
POOL = """import multiprocessing, pathlib, sys
def work(i):
    pathlib.Path(f"out{i}").write_text(pathlib.Path(f"in{i}").read_text())
for i in range(20):
    pathlib.Path(f"in{i}").write_text("in")
multiprocessing.set_start_method("fork")
with multiprocessing.Pool(int(sys.stdin.read())) as pool:
    pool.map(work, range(20), chunksize=1)
"""


def check_generated_names(checks, runs):
    """Names of mktemp, process ids in names, the order of processes; a chain where all are alike; a pool."""
    def scripts(work):
        for name, text in ("job.sh", JOB), ("chain.sh", CHAIN), ("pool.py", POOL):
            (work / name).write_text(text)
    jobs = [runs.trace(["sh", "-c", f"seq 40 | xargs -P {n} -n 1 sh ./job.sh"], scripts) for n in (1, 4, 8)]
    check_same(checks, "generated names", jobs[0], jobs[1])
    check_same(checks, "generated names, again", jobs[1], jobs[2])
    space = ["unshare", "--fork", "--pid", "--mount-proc"]
    if subprocess.run([*space, "true"], stderr=subprocess.DEVNULL, check=False).returncode:
        print("no PID namespaces here: small process ids not tried")
    else:
        small = [runs.trace(["sh", "-c", f"seq 40 | xargs -P {n} -n 1 sh ./job.sh"], scripts,
                            tracer=lambda db: [*space, FTRAC, "run", "--db", db, "--"]) for n in (1, 6)]
        check_same(checks, "the same process ids in another order", *small)
    env = ["env", "TMPDIR=."]
    check_same(checks, "a chain", *[runs.trace([*env, "sh", "chain.sh"], scripts) for _ in range(2)])
    pools = [runs.trace(["sh", "-c", "/usr/bin/python3 pool.py < n"], lambda work, n=n: [
        scripts(work), (work / "n").write_text(str(n))]) for n in (2, 4)]
    found = Compared(*pools)
    checks.equal("a pool of forks", found.differences(), [])
    checks.check("a pool of forks: files", min(found.count("files")) > 40, str(found.count("files")))


def check_montage(checks, runs):
    if not shutil.which("mProjectPP"):
        print("no Montage here")
        return
    for jobs in 1, 8:
        work = runs.base / f"montage-{jobs}"
        subprocess.run([TOP / "examples/montage/generate.sh", "A", work], check=True, timeout=120, capture_output=True)
        traced(runs.base / f"montage-{jobs}.db", ["make", f"-j{jobs}"], work)
    check_same(checks, "Montage", runs.base / "montage-1.db", runs.base / "montage-8.db")


def check_options(checks, runs, first):
    slow = runs.trace(["sh", "-c", "make -s -j4; sleep 2"])
    fast = runs.trace(["sh", "-c", "make -s -j2; sleep 0"])
    for option, wanted in ("time:10%", 1), ("time:1000000%", 0), ("graph,time:1000000%", 1), ("graph,time:0.5%", 1), \
            ("bytes:1%", 0), ("exit", 0):
        checks.equal(f"--fail-on {option}", diff("--fail-on", option, fast, slow).returncode, wanted)
    checks.check("--fail-on says why", "time: " in diff("--fail-on", "time:10%", fast, slow).stderr)
    for format_ in "csv", "tsv":
        lines = diff("--format", format_, fast, slow).stdout.splitlines()
        checks.check(f"--format {format_}", len(lines) > 20 and lines[0].startswith("part"))
    checks.check("--root", "same graph" in diff("--root", "/", first, first).stdout)
    (runs.base / "no.db").write_text("this is none\n")
    for args in ([first], [first, runs.base / "missing.db"], [first, runs.base / "no.db"], [first, first, first],
                 ["--fail-on", "time", first, first], ["--fail-on", "time:x%", first, first],
                 ["--format", "xml", first, first], ["--root", "here", first, first], ["--nothing", first, first]):
        done = diff(*args)
        checks.equal(f"bad: {args[0]}: status", done.returncode, 2)
        checks.check(f"bad: {args[0]}: one line", done.stderr.count("\n") == 1 and not done.stdout, done.stderr)


def check_equals(checks, runs):
    """Hundreds of processes with the same command."""
    many = ["sh", "-c", "seq 300 | xargs -P 4 -n 1 sh -c : x"]
    few = ["sh", "-c", "seq 299 | xargs -P 3 -n 1 sh -c : x"]
    a, b, c = runs.trace(many), runs.trace(many), runs.trace(few)
    checks.equal("hundreds alike", Compared(a, b).differences(), [])
    checks.equal("one of them less", [text for text in Compared(a, c).differences() if "changed" not in text],
                 ["removed process sh"])
    same = ["sh", "-c", "yes | head -200 | xargs -P 4 -n 1 true"]
    checks.equal("with nothing to tell them apart", Compared(runs.trace(same), runs.trace(same)).differences(), [])


def main():
    need_fuse()
    need("make", "gcc", "ar", "ninja")
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="ftrac-case-") as base:
        runs = Runs(pathlib.Path(base))
        first = runs.trace(["make", "-s", "-j1"])
        for check in some([check_alike, check_unlike, check_failed, check_options], 2):
            check(checks, runs, first)
        for check in some([check_shells, check_generated_below, check_any_bytes, check_generated_names, check_montage, check_equals], 2):
            check(checks, runs)
    checks.end()


if __name__ == "__main__":
    main()
