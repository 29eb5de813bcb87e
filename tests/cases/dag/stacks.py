#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 8
"""wfdag --collapsed and --speedscope: stacks of processes and of directories have the values that the trace says, worked out
a second time by SQL; speedscope reads both files and finds the same; its schema accepts what is written; the same trace
gives the same bytes."""
import collections
import json
import os
import pathlib
import shutil
import sqlite3
import subprocess
import tempfile

from dagtraces import WFDAG
from ftractest import TOP, Checks, need_fuse
from workflows import traced

need_fuse()
checks = Checks()
RELEASE = TOP / "report/node_modules/speedscope/dist/release"
SCRIPT = r"""
mkdir -p a/b 'c;d'
head -c 100000 /dev/zero > a/x
cat a/x > a/b/y & cat a/x > 'c;d/z' & sleep 0.05 &
wait
sh -c 'sh -c "cat a/b/y c*/z > out; sleep 0.05"; : > empty'
'./cat;1 2' a/x > 'a/new
line'
cat a/x | cat > a/copied
"""
KINDS = {"wall": "process", "cpu": "process", "io": "process", "read": "process", "written": "process",
         "directory-io": "directory", "directory-read": "directory", "directory-written": "directory"}
TITLES = dict(zip(KINDS, (
    "time of processes", "CPU time of processes", "time in reads and writes of processes", "bytes that processes read",
    "bytes that processes wrote", "time in reads and writes by directory", "bytes read by directory", "bytes written by directory")))


def wfdag(*words, status=0):
    done = subprocess.run([WFDAG, *map(str, words)], stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False)
    checks.equal(f"wfdag {' '.join(map(str, words[:4]))}: status", (done.returncode, done.stderr[:300]) if status == 0 else done.returncode,
                 (0, b"") if status == 0 else status)
    return done


def text(name):
    return name.replace("\n", "\\x0a")


# ---- the same by SQL ----

def own_times(processes):
    """The time of each process in which none of its children lived."""
    children = collections.defaultdict(list)
    for one in processes.values():
        children[one["parent"]].append(one)
    for process in processes.values():
        edges = sorted({process["begin"], process["end"], *(edge for child in children[process["id"]]
                        for edge in (child["begin"], child["end"]) if process["begin"] < edge < process["end"])})
        yield process["id"], sum(later - edge for edge, later in zip(edges, edges[1:])
                                 if not any(child["begin"] <= edge and later <= child["end"] for child in children[process["id"]]))


def stack_of(processes, process):
    above = stack_of(processes, processes[process]["parent"]) if processes[process]["parent"] in processes else ()
    return (*above, text(processes[process]["program"]))


def directories_of(path):
    return ("/", *(text(part) for part in path.split("/")[1:-1]))


def by_sql(db):
    """{kind: {stack: value}}"""
    sql = sqlite3.connect(f"file:{db}?mode=ro", uri=True)
    sql.row_factory = sqlite3.Row
    began = sql.execute("SELECT value FROM trace WHERE key = 'start_ns'").fetchone()[0]
    processes = {row["id"]: {**row, "begin": max(began, row["start_ns"]), "end": row["end_ns"]} for row in map(dict, sql.execute(
        "SELECT id, parent, program, start_ns, end_ns, cpu_ns FROM process"))}
    found = {kind: collections.Counter() for kind in KINDS}
    for process, own_ns in own_times(processes):
        found["wall"][stack_of(processes, process)] += own_ns
        found["cpu"][stack_of(processes, process)] += processes[process]["cpu_ns"] or 0
    for row in sql.execute("SELECT process, f.path, io_ns, bread, bwrite FROM access a JOIN file f ON f.id = a.file"):
        for kind, column in ("io", "io_ns"), ("read", "bread"), ("written", "bwrite"):
            found[kind][stack_of(processes, row["process"])] += row[column] or 0
            found[f"directory-{kind}"][directories_of(row["path"])] += row[column] or 0
    total = sum(found["wall"].values())
    sql.close()
    checks.check("processes lived at the same time", total > max(p["end"] for p in processes.values()) - began, total)
    return {kind: {stack: value for stack, value in values.items() if value} for kind, values in found.items()}


# ---- what is written ----

def of_collapsed(data):
    found = {}
    for line in data.decode().splitlines():
        stack, _, value = line.rpartition(" ")
        frames = tuple(frame.replace("\\x3b", ";") for frame in stack.split(";"))
        checks.check("each stack has one line", frames not in found, line)
        found[frames] = int(value)
    return found


def of_profile(profile, frames):
    return {tuple(frames[i]["name"] for i in sample): weight
            for sample, weight in zip(profile["samples"], profile["weights"], strict=True)}


def check_written(db, base, wanted):
    for kind in KINDS:
        wfdag("--collapsed", "--stacks", kind, "-o", base / kind, "--all", db)
        checks.equal(f"{kind}: the values of the trace", of_collapsed((base / kind).read_bytes()), wanted[kind])
        print(f"{kind}: {len(wanted[kind])} stacks, sum {sum(wanted[kind].values())}")
        checks.check(f"{kind}: there are values", wanted[kind])
    wfdag("--speedscope", "-o", base / "all.json", "--all", db)
    got = json.loads((base / "all.json").read_bytes())
    frames = got["shared"]["frames"]
    checks.equal("speedscope: a name once", len({frame["name"] for frame in frames}), len(frames))
    checks.equal("speedscope: a profile of each kind", [profile["name"] for profile in got["profiles"]], list(TITLES.values()))
    for kind, profile in zip(KINDS, got["profiles"]):
        checks.equal(f"speedscope: {kind}", of_profile(profile, frames), wanted[kind])
        checks.equal(f"speedscope: {kind}: its length", (profile["startValue"], profile["endValue"]), (0, sum(profile["weights"])))
        checks.equal(f"speedscope: {kind}: unit", profile["unit"],
                     "nanoseconds" if kind.split("-")[-1] in ("wall", "cpu", "io") else "bytes")
    return got


def check_schema(got):
    try:
        import jsonschema
    except ImportError:
        print("left out: no jsonschema for Python here (python3-jsonschema)")
        return
    schema = RELEASE / "file-format-schema.json"
    if not schema.exists():
        print("left out: no speedscope here (npm ci in report/)")
        return
    jsonschema.validate(got, json.loads(schema.read_bytes()))
    wrong = {**got, "profiles": [{**got["profiles"][0], "unit": "hours"}]}
    checks.check("its schema refuses another unit", not jsonschema.Draft7Validator(json.loads(schema.read_bytes())).is_valid(wrong))


def by_speedscope(files):
    """What speedscope says of each file: [{stack: value} of each profile]."""
    reader = TOP / "report/test/stacks.mjs"
    if not RELEASE.exists() or not shutil.which("node") or not shutil.which("chromium"):
        print("left out: speedscope itself, which needs node, chromium and npm ci in report/")
        return None
    done = subprocess.run(["node", reader, *files], capture_output=True, text=True, timeout=120, check=False)
    checks.equal("speedscope reads them", (done.returncode, done.stderr[-500:]), (0, ""))
    return [[{tuple(stack): value for stack, value in profile} for profile in file] for file in json.loads(done.stdout)]


def check_by_speedscope(base, wanted):
    kinds = ["wall", "directory-read"]
    read = by_speedscope([base / "all.json", *(base / kind for kind in kinds)])
    if not read:
        return
    checks.equal("speedscope: profiles of its own format", read[0], list(wanted.values()))
    for kind, profiles in zip(kinds, read[1:]):
        checks.equal(f"speedscope: collapsed stacks of {kind}", profiles,
                     [{tuple(frame.replace(";", "\\x3b") for frame in stack): value for stack, value in wanted[kind].items()}])
    print(f"speedscope: {sum(len(profile) for file in read for profile in file)} stacks compared")


def check_choices(db, base):
    first, again = (wfdag("--speedscope", "--all", db).stdout for _ in range(2))
    checks.check("the same bytes", first == again and len(first) > 100)
    whole = of_collapsed(wfdag("--collapsed", "--stacks", "read", "--all", db).stdout)
    part = of_collapsed(wfdag("--collapsed", "--stacks", "read", "--all", "--include", "path:*/b/y", db).stdout)
    checks.check("a part of the run", part and all(value <= whole[stack] for stack, value in part.items()) and
                 sum(part.values()) == 100000 < sum(whole.values()), part)
    checks.equal("wall is the default", wfdag("--collapsed", "--all", db).stdout, (base / "wall").read_bytes())
    for words in (["--collapsed", "--group-by", "command"], ["--speedscope", "--expand", "x"], ["--collapsed", "--max-nodes", "3"],
                  ["--json", "--stacks", "cpu"], ["--collapsed", "--stacks", "hours"]):
        done = wfdag(*words, db, status=2)
        checks.check(f"{words}: one line that says what to do", done.stderr.count(b"\n") == 1 and not done.stdout, done.stderr)


def main():
    base = pathlib.Path(tempfile.mkdtemp(prefix="ftrac-case-"))
    work, db = base / "work", base / "trace.db"
    work.mkdir()
    shutil.copy("/bin/cat", work / "cat;1 2")
    (base / "script").write_text(SCRIPT)
    traced(db, ["sh", base / "script"], work)
    wanted = by_sql(db)
    check_schema(check_written(db, base, wanted))
    check_by_speedscope(base, wanted)
    check_choices(db, base)
    os.chdir("/")
    shutil.rmtree(base)
    checks.end()


if __name__ == "__main__":
    main()
