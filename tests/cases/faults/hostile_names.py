#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# long: --long
# seconds: 15
"""All command lines of wfstat and wfdag, for traces in which files, directories, programs, arguments, variables, jobs
and phases have names of any bytes: each ends with a status of its own, a failure says why in one line, and what is
printed can be read as what it is.  sanitized.py has programs do this that find wrong addresses, leaks and undefined
behaviour.
"""
import concurrent.futures
import csv
import io
import json
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import tempfile
import xml.etree.ElementTree

from darshanlog import Log
from ftractest import FTRAC, Checks, need, need_fuse
from hostile import COMMANDS, NAMES, WFDAG, WFSTAT
from sample import some
from workflows import traced

need_fuse()
need("make", "ninja", "gnuplot", "dot")
STAT = ["io --by file", "io -o table.csv --columns step,reads", "proc --output table.txt", "io --long", "waits --by task", "io --by exe,env:H --csv", "io --by job --tsv", "sys --by path --json", "run --by phase,xform",
        "proc --csv", "proc --tsv", "proc --raw --wide --sort -command --top 5", "handle --json", "file --json", "file --tsv",
        "errors --json", "errors --csv", "list --json", "list --csv", "phase --json", "phase --sql", "mem --memory 64G",
        "pattern --sizes powers", "pattern --operation read", "time --files --json --interval 1", "io --process 3",
        "io --from 0 --to 1", "io --exclude command:cp", "io --include path:*x* --format json", "file --job '",
        "io --phase ph=cp* --phase ph --strict --foreign --force", "hist --of latency --by command -o plot.svg",
        "cdf --of bytes-written --by command --png", "hist --of latency --gnuplot plot", "time --of size --by command -o plot.svg", "sys --by directory --csv",
        "io --by mount,fstype,host --csv", "--darshan", "--darshan --include *out* --output x.darshan"]
DAG = ["order --format json", "order --format csv", "lifecycle --format tsv --raw --wide", "critical-path --format json --all",
       "weight --by time --sort -name --top 3", "parallelism --interval 1 --format csv", "clusters --format json",
       "whatif --faster command:*=3x", "--svg --cluster phase --max-nodes 50", "--png --no-legend --max-nodes 20",
       "--pdf --max-nodes 5", "--ps --max-nodes 5", "--jpeg --max-nodes 5", "--csv --all --ghosts --metadata", "--gml --ghosts",
       "--graphml --ghosts --metadata", "--yed --all --group-by command", "--dot --dag --ghosts --cluster job", "--json --group-by directory,env:H",
       "--graphml --group-by exe", "--cyjs --phase ph=cp* --expand ph", "--rocrate --all --ghosts --metadata", "--rocrate --tree", "--prov --all --ghosts --metadata", "--prov --group-by command,directory", "--collapsed --stacks directory-io --all", "--collapsed --stacks read", "--speedscope --all", "--json --ancestors-of out.3", "--json --descendants-of *in*",
       "--json --between p2 --between p9", "--json --file *x*", "--json --exclude path:*x* --include *", "--json --from 0 --to 1",
       "--json --job '", "--json --process 5", "--json --phase ph=cp*", "--json --strict --foreign --force",
       "generate --wfformat --wfformat-version 1.5", "generate --dax --dax-version 2.1 --level process", "generate --make --root / --strict --foreign --force",
       "generate --ninja --root /tmp", "generate --output rules.mk", "critical-path --columns label,command --output path.tsv", "generate --pegasus --level process", "generate --dax --level process",
       "check --declared edges.csv --format json", "check --declared edges.csv --format csv --all --kinds missing,redundant,unordered,ghost",
       "check --ninja n --format tsv --root / --strict --foreign", "check --ninja n --fail-on missing", "check --ninja n --csv --output found.csv",
       "changes --all --temporary --wide", "changes --csv", "changes --json --columns path,from", "changes --in-toto --builder file:///",
       "check --declared edges.csv --sarif --all --kinds missing,redundant,unordered,ghost", "check --declared edges.csv --github --kinds missing,ghost",
       "check --ninja n --format sarif",
       "diff make.db --csv --output diff.csv", "diff make.db --markdown", "diff --format markdown --fail-on processes,files:1%,edges,operations,bytes:2% make.db facts.db --", "diff --json facts.db make.db -- make.db", "diff make.db --format csv", "diff make.db --format json --data", "diff make.db --top 0 --raw --wide --all --strict --foreign",
       "diff make.db --fail-on graph,time:10%", "diff make.db --root / --include * --exclude path:*x* --phase ph=cp*",
       "summary --foreign"]
# Options whose value may be any text: each name is given to two of them.
TAKE = [(WFSTAT, line) for line in ("io --by {}", "io --by env:{}", "io --include {}", "io --phase {}", "io --phase {}=*", "io --job {}",
                                    "io --sort {}", "{}", "hist --of {}")] + \
       [(WFDAG, line) for line in ("--json --ancestors-of {}", "--json --group-by env:{}", "--json --group-by {}", "--json --file {}",
                                   "--json --expand {}", "order --sort {}", "whatif --faster {}=2x", "generate --make --root /{}",
                                   "check --kinds {}", "check --declared {}", "check --ninja {}", "check --root {}", "diff {}",
                                   "diff make.db --fail-on {}", "summary {}", "{}")]
HELPS = [[WFSTAT], [WFDAG], [WFDAG, "generate"], [WFDAG, "diff"], [WFDAG, "check"], [WFDAG, "summary"], [os.path.abspath(FTRAC), "merge"], [os.path.abspath(FTRAC), "redact"], [os.path.abspath(FTRAC), "replay"], [os.path.abspath(FTRAC), "top"]]
MERGE = "merge --strict --foreign --force --no-ops --same /a=/tmp --output strict.out make.db"
REDACT = "redact --foreign --force --keep *a* --keep-system --keep-extensions --shift-times --key redact.key --map redact.map --output redact.out"
REPLAY = "replay --foreign --fill --speed max --prepare-only --directory load.out", "replay --prepared --directory load.out"
TOP = "top --batch --foreign --delay 0.1 --count 1 --like make.db"
FOUND = {"check", "diff"}     # 1 is what they found, 2 is failure
REFUSED = {"--pegasus", "--cwl", "--dax", "replay"}  # cannot say all names; needs system calls
SECONDS = 120
checks = Checks()
base = pathlib.Path(tempfile.mkdtemp(prefix="ftrac-case-"))


def quote(word):
    return b"'" + word.replace(b"'", b"'\\''") + b"'"


def script(names):
    """For each name: a file that is copied, renamed, read and looked for, a program, a directory, arguments, a variable,
    and a batch job."""
    lines = []
    for i, name in enumerate(names):
        q, out = quote(name), b"out.%d" % i
        lines += [b"cp -- in/%s %s.x" % (q, q), b"mv -- ./%s.x ./%s" % (q, q),
                  b"bin/%s -- in/%s ./%s > %s" % (q, q, q, out), b"cat '' missing/%s ./%s.x 2> err.%d" % (q, q, i),
                  b"/usr/bin/printf '%%s|' %s '' -%s > %s.a" % (q, q, out), b"cd d/%s" % q,
                  b"H=%s FTRAC_JOB=%s cat ../../%s > %s" % (q, q, out, q), b"cd ../.."]
    lines.append(b"/usr/bin/printf %%s -%s '' > long" % (b"x" * 100000))
    return b"\n".join(lines) + b"\n"


def make_inputs(work):
    for part in "in", "bin", "d":
        (work / part).mkdir(parents=True)
    for name in NAMES:
        there = os.fsencode(work)
        os.mkdir(os.path.join(there, b"d", name))
        shutil.copy("/bin/cat", os.path.join(there, b"bin", name))
        with open(os.path.join(there, b"in", name), "wb") as file:
            file.write(name + b"\n")


def trace_in(folder, db, command):
    work = base / f"by {db}" / folder
    make_inputs(work)
    for file in "wf.sh", "Makefile", "build.ninja":
        shutil.copy(base / file, work.parent)
    traced(base / db, command.split(), work, "--make", "--env", "*", env=os.environ | {"H": "other"})
    return work


def make_traces():
    """A script is traced, then make and ninja with what wfdag generates from that; facts.db has names in facts, too."""
    (base / "redact.key").write_bytes(bytes(range(32)))
    files = base / "wf.sh", base / "Makefile", base / "build.ninja"
    for file in files:
        file.touch()
    files[0].write_bytes(script([name for name in NAMES if is_text(name)]))
    trace_in("text", "text.db", "sh ../wf.sh")
    generate("--ninja", "-o", files[2], base / "text.db")
    shutil.copy(files[2], trace_in("it's $x\x01", "ninja.db", "ninja --quiet -f ../build.ninja"))
    (base / "n").symlink_to(base / "by ninja.db" / "it's $x\x01")
    files[0].write_bytes(script(NAMES))
    trace_in(os.fsdecode(b"work'\xff\n"), "trace.db", "sh ../wf.sh")
    generate("--make", "-o", files[1], base / "trace.db")
    work = trace_in(os.fsdecode(b"work'\xff\r $x"), "make.db", "make -s -j2 -f ../Makefile")
    shutil.copy(base / "trace.db", base / "facts.db")
    spoil(base / "facts.db")
    shutil.copy(base / "trace.db", base / "whole.db")
    with open(base / "edges.csv", "w", newline="", errors="surrogateescape") as file:
        csv.writer(file).writerows([("target", "prerequisite")] + [
            (f"{work}/{os.fsdecode(name)}", f"{work}/in/{os.fsdecode(name)}") for name in NAMES])


def is_text(name):
    try:
        return bool(name.decode())
    except UnicodeDecodeError:
        return False


def generate(*words):
    subprocess.run([WFDAG, "generate", *words], check=True, timeout=SECONDS, stderr=subprocess.DEVNULL)


def spoil(db):
    """Gives names to what has others on this machine: the host, the user, mounts, kinds of jobs."""
    sql = sqlite3.connect(db)
    texts = [name.decode() if is_text(name) else name for name in NAMES]
    for table, columns, where in (
            ("meta", ["value"], "key IN ('host', 'user', 'kernel', 'cpu_model', 'command')"), ("jobs", ["xform", "phase"], "1"),
            ("mounts", ["path", "fstype"], "1"), ("images", ["comm"], "1")):
        key = "key" if table == "meta" else "rowid"
        for i, row in enumerate(sql.execute(f"SELECT {key} FROM {table} WHERE {where}").fetchall()):
            for column in columns:
                sql.execute(f"UPDATE {table} SET {column} = ? WHERE {key} = ?", (texts[i % len(texts)], *row))
    sql.commit()
    sql.close()


def is_readable(command, out):
    """Whether the output is valid in the format that the command line asks for."""
    words = " ".join(map(str, command[1:]))
    try:
        if "--darshan" in command and "--output" not in command:
            return len(Log(out).records) > 0
        if re.search(r"json -|--json|cyjs -|--wfformat -|json$|format json|--perfetto|--speedscope|--prov|--rocrate|--sarif|format sarif|--in-toto", words) and "--sql" not in words:
            json.loads(out)
        elif re.search("--graphml -|--yed -|--dax -|--svg", words):
            xml.etree.ElementTree.fromstring(out)
        elif "plot.svg" in words:
            xml.etree.ElementTree.parse(base / "plot.svg")
        elif re.search("--csv|format csv", words):
            rows = list(csv.reader(io.StringIO(out.decode(errors="surrogateescape"), newline=""), strict=True))
            return len({len(row) for row in rows}) == 1 or "--csv" in words
        elif re.search("--dot -|--gml -|--pegasus -|--snakemake|--cwl|--dask", words):
            out.decode()
        return True
    except ValueError as e:
        print(e)
        return False
    except (xml.etree.ElementTree.ParseError, csv.Error) as e:
        print(e)
        return False


def run(command):
    return subprocess.run(list(map(str, command)), capture_output=True, stdin=subprocess.DEVNULL, timeout=SECONDS, cwd=base, check=False)


def judge(command, done, may_fail):
    line, said = " ".join(map(str, command[1:])), done.stderr.decode(errors="surrogateescape")
    verb = command[1] if len(command) > 1 else ""
    fails = {2} if verb in FOUND else {1, 2}
    allowed = {0, 1} if verb in FOUND else {0}
    if may_fail or REFUSED & set(command):
        allowed = {0, 1, 2}
    checks.check(f"{line!r}: status", done.returncode in allowed, f"{done.returncode} {said[-500:]}")
    checks.check(f"{line!r}: prints no control characters", not re.search("[\x00-\x09\x0b-\x1f\x7f]", said), repr(said[-500:]))
    if done.returncode in fails:
        errors = [one for one in said.removesuffix("\n").split("\n") if "warning: " not in one and "folded" not in one]
        checks.check(f"{line!r}: says why in one line", len(errors) == 1 and errors[0].startswith(("wf", "ftrac: ")), said[-500:])
    elif done.returncode == 0:
        checks.check(f"{line!r}: is readable", is_readable(command, done.stdout), repr(done.stdout[:300]))


def check_options():
    """No option is left out."""
    used = {word for command in COMMANDS + MORE for word in command}
    for program in HELPS:
        said = run([*program, "--help"]).stdout.decode()
        options = set(re.findall(r"--[a-z][a-z-]+", said)) - {"--help", "--version", "--complete"} - ({"--make"} if "check" in program else set())
        checks.check(f"{' '.join(program[1:])} --help: options", len(options) > (4 if "merge" in program else 3 if "top" in program else 0 if "summary" in program else 5))
        for option in sorted(options):
            checks.check(f"{' '.join(program)}: {option} is tried", option in used)


def all_lines():
    """Pairs: a command, and whether it may fail."""
    found = [([*command, "facts.db"], False) for command in COMMANDS + MORE if command[1:2] != ["check"]]
    found += [([*command, "ninja.db" if "--ninja" in command else "make.db"], False) for command in COMMANDS + MORE
              if command[1:2] == ["check"]]
    for i, name in enumerate(NAMES):
        for program, line in TAKE[i % len(TAKE)], TAKE[-1 - i % len(TAKE)]:
            found.append(([program, *(word.replace("{}", os.fsdecode(name)) for word in line.split()), "trace.db"], True))
    return found


MORE = [[WFSTAT, *line.split()] for line in STAT] + [[WFDAG, *line.split()] for line in DAG] + [[os.path.abspath(FTRAC), *MERGE.split()], [os.path.abspath(FTRAC), *TOP.split()],
    [os.path.abspath(FTRAC), *REDACT.split()], *([os.path.abspath(FTRAC), *line.split()] for line in REPLAY)]
make_traces()
check_options()
every = all_lines()
lines = some(every, 10)
with concurrent.futures.ThreadPoolExecutor(2) as pool:
    for (one, fails), ended in zip(lines, pool.map(run, (command for command, _ in lines))):
        judge(one, ended, fails)
shutil.rmtree(base)
print(f"{len(lines)} command lines, {len(NAMES)} names")
checks.check("there are command lines and names", len(every) > 300 and len(NAMES) > 50)
checks.end()
