#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 7
"""wfdag generate: WfFormat, Pegasus, DAX and DAGMan are valid, read by others' readers, and say the same.

The rules of WfFormat are those of its schemas 1.5 and 1.6 and of its validator, in our words.  DAGMan's file is
run by an interpreter of a few lines, and makes the same files.
"""
import json
import os
import pathlib
import re
import shlex
import shutil
import sqlite3
import subprocess
import tempfile
import xml.etree.ElementTree

from ftractest import Checks, has_fidelity, need, need_fuse
from workflows import traced

WFDAG = os.environ.get("WFDAG", "build/dag/wfdag")
ID = "^[0-9a-zA-Z_.#:/-]+$"
TEXT, NUMBER, COUNT = {"type": "string", "minLength": 1}, {"type": "number", "minimum": 0}, {"type": "integer", "minimum": 0}
MOMENT = {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$"}
IDS = {"type": "array", "items": {"type": "string", "pattern": ID}, "uniqueItems": True}


def thing(required, **properties):
    return {"type": "object", "required": required.split(), "properties": properties}


SCHEMA = thing(
    "name description createdAt schemaVersion author runtimeSystem workflow", name=TEXT, description=TEXT,
    createdAt=MOMENT, schemaVersion={"enum": ["1.5", "1.6"]},
    author=thing("name email", name=TEXT, email={"type": "string", "pattern": "^[^@]+@[^@]+$"}),
    runtimeSystem=thing("name version url", name=TEXT, version=TEXT, url={"type": "string", "pattern": "^https://"}),
    workflow=thing(
        "specification execution",
        specification=thing(
            "tasks files", tasks={"type": "array", "minItems": 1, "items": thing(
                "name id parents children inputFiles outputFiles", name=TEXT, id={"type": "string", "pattern": ID},
                parents=IDS, children=IDS, inputFiles=IDS, outputFiles=IDS)},
            files={"type": "array", "items": thing("id sizeInBytes", id={"type": "string", "pattern": ID},
                                                   sizeInBytes=COUNT)}),
        execution=thing(
            "makespanInSeconds executedAt tasks machines", makespanInSeconds=NUMBER, executedAt=MOMENT,
            tasks={"type": "array", "minItems": 1, "items": thing(
                "id runtimeInSeconds", id={"type": "string", "pattern": ID}, runtimeInSeconds=NUMBER,
                executedAt=MOMENT, command=thing("program", program=TEXT, arguments={"type": "array", "items": TEXT}),
                coreCount={"type": "integer", "minimum": 1}, avgCPU=NUMBER, readBytes=COUNT, writtenBytes=COUNT,
                memoryInBytes=COUNT, machines={"type": "array", "items": TEXT})},
            machines={"type": "array", "minItems": 1, "items": thing(
                "nodeName cpu", system={"enum": ["linux", "macos", "windows"]}, nodeName=TEXT, release=TEXT,
                memoryInBytes={"type": "integer", "minimum": 1},
                cpu=thing("", coreCount={"type": "integer", "minimum": 1}, vendor=TEXT))})))

# Names that all formats can say; that XML cannot; that are no text.
TEXTS = ["new\nline", "tab\there", "re\rturn", "\n", " ", "it's", 'quo"te', "back\\slash", "\\x41", "\\xff", "$(id)", "${x}",
         "%s%n", "&amp;", "]]>", "<a>", "- x", "x: y", "# x", "!!str", "null", "1e5", "'", '"', "\u0085x", "\u2028", "\ufeff",
         "\u00e9" * 120, "\U0001f600", "-n", "--", "{x}"]
CONTROLS = ["\x01", "x\x1b[31m", "\x7f\x08", "\ufffe", "x\uffff"]
BYTES = ["caf\udce9", "\udcff", "a\udcc3"]

checks = Checks()


def python_with(module):
    for python in "python3", "/usr/bin/python3":
        if subprocess.run([python, "-c", f"import {module}"], stderr=subprocess.DEVNULL, check=False).returncode == 0:
            return python
    print(f"no python3-{module} here: not looked at")
    return None


def generate(db, option, *more):
    done = subprocess.run([WFDAG, "generate", f"--{option}", *more, str(db)], capture_output=True, timeout=100,
                          check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def levels(tasks):
    level = {}

    def of(task):
        if task not in level:
            level[task] = 1 + max((of(p) for p in tasks[task]["parents"]), default=-1)
        return level[task]
    for task in tasks:
        of(task)
    return level


def acyclic(edges):
    """By the graph reader of networkx, if there is one."""
    python = python_with("networkx")
    code = ("import json, networkx, sys; g = networkx.DiGraph(json.load(sys.stdin)); "
            "print(networkx.is_directed_acyclic_graph(g))")
    if not python:
        return True
    return subprocess.run([python, "-c", code], input=json.dumps(sorted(edges)), capture_output=True, text=True,
                          timeout=100, check=True).stdout.strip() == "True"


def wfformat(what, db, version, level):
    text = generate(db, "wfformat", "--wfformat-version", version, "--level", level)
    w = json.loads(text)
    python = python_with("jsonschema")
    if python:
        code = "import json, jsonschema, sys; i, s = json.load(sys.stdin); jsonschema.Draft7Validator(s).validate(i)"
        done = subprocess.run([python, "-c", code], input=json.dumps([w, SCHEMA]), capture_output=True, text=True,
                              timeout=100, check=False)
        checks.check(f"{what}: valid", done.returncode == 0, done.stderr[-1500:])
    spec, execution = w["workflow"]["specification"], w["workflow"]["execution"]
    tasks = {task["id"]: task for task in spec["tasks"]}
    files = {file["id"]: file for file in spec["files"]}
    ran = {task["id"]: task for task in execution["tasks"]}
    checks.equal(f"{what}: version", w["schemaVersion"], version)
    checks.equal(f"{what}: ids are unique", (len(tasks), len(files)), (len(spec["tasks"]), len(spec["files"])))
    checks.equal(f"{what}: each ran", sorted(ran), sorted(tasks))
    for task in tasks.values():
        checks.check(f"{what}, {task['id']}: parents know it", all(
            p != task["id"] and task["id"] in tasks[p]["children"] for p in task["parents"]))
        checks.check(f"{what}, {task['id']}: children know it", all(
            task["id"] in tasks[c]["parents"] for c in task["children"]))
        checks.check(f"{what}, {task['id']}: files are declared",
                     all(f in files for f in task["inputFiles"] + task["outputFiles"]))
        checks.check(f"{what}, {task['id']}: machine", ran[task["id"]]["machines"] == [execution["machines"][0]["nodeName"]])
    checks.check(f"{what}: each file is used", set(files) == {
        f for t in tasks.values() for f in t["inputFiles"] + t["outputFiles"]})
    checks.check(f"{what}: no cycle", acyclic([[p, t] for t in tasks for p in tasks[t]["parents"]]))
    if version == "1.6":
        level_of = levels(tasks)
        width = [list(level_of.values()).count(n) for n in range(max(level_of.values()) + 1)]
        checks.equal(f"{what}: metrics", spec["metrics"], {
            "numberOfTasks": len(tasks), "numberOfFiles": len(files),
            "sumOfFileSizesInBytes": sum(f["sizeInBytes"] for f in files.values()), "numberOfLevels": len(width),
            "minimumWidth": min(width), "maximumWidth": max(width)})
        metrics = execution["metrics"]
        checks.check(f"{what}: sum of run times", abs(metrics["sumTaskRuntimesInSeconds"] - sum(
            t["runtimeInSeconds"] for t in ran.values())) < 1e-6)
        checks.equal(f"{what}: bytes", (metrics.get("totalNumBytesRead"), metrics.get("totalNumBytesWritten")), tuple(
            sum(t[key] for t in ran.values()) if all(key in t for t in ran.values()) else None
            for key in ("readBytes", "writtenBytes")))
    else:
        checks.check(f"{what}: no metrics", "metrics" not in spec and "metrics" not in execution)
    return w


def measured(what, db, w):
    """What WfFormat says of the jobs is what the trace says."""
    with sqlite3.connect(db) as sql:
        jobs = sql.execute("SELECT job, sum(cpu_ns), max(end_ns) - min(start_ns) FROM process WHERE job IS NOT NULL "
                           "GROUP BY job ORDER BY min(start_ns), min(id)").fetchall()
    ran = w["workflow"]["execution"]["tasks"]
    checks.equal(f"{what}: number of jobs", len(ran), len(jobs))
    for (job, cpu, wall), task in zip(jobs, ran):
        checks.check(f"{what}, job {job}: run time", abs(task["runtimeInSeconds"] - wall / 1e9) < 1e-6)
        checks.check(f"{what}, job {job}: use of processors", abs(task["avgCPU"] - 100 * cpu / wall) < 1e-6)


def same(what, w, jobs, deps):
    tasks = w["workflow"]["specification"]["tasks"]
    checks.equal(f"{what}: jobs", sorted(jobs), sorted(t["id"] for t in tasks))
    checks.equal(f"{what}: dependencies", sorted(deps), sorted((p, t["id"]) for t in tasks for p in t["parents"]))


def uses_of(w, path_of):
    return {t["id"]: sorted([path_of(f, "input") for f in t["inputFiles"] if f not in t["outputFiles"]] +
                            [path_of(f, "output") for f in t["outputFiles"] if f not in t["inputFiles"]] +
                            [path_of(f, "inout") for f in t["outputFiles"] if f in t["inputFiles"]])
            for t in w["workflow"]["specification"]["tasks"]}


def path_of(file, link):
    """The path behind an id."""
    return re.sub(":([0-9A-F]{2})", lambda m: chr(int(m[1], 16)), file).encode("latin-1").decode(
        "utf-8", "surrogateescape"), link


def pegasus(what, db, level, w):
    python = python_with("yaml")
    if not python:
        return
    text = generate(db, "pegasus", "--level", level)
    y = json.loads(subprocess.run([python, "-c", "import json, sys, yaml; print(json.dumps(yaml.safe_load(sys.stdin)))"],
                                  input=text, capture_output=True, timeout=100, check=True).stdout)
    checks.check(f"{what}: keys", set(y) <= {"pegasus", "name", "x-pegasus", "jobs", "jobDependencies"} and
                 y["pegasus"] == "5.0", list(y))
    for job in y["jobs"]:
        checks.check(f"{what}, {job['id']}: keys", set(job) <= {"type", "id", "name", "nodeLabel", "arguments", "uses"} and
                     job["type"] == "job" and re.fullmatch("[A-Za-z0-9_-]+", job["name"]) and
                     all(isinstance(a, str) for a in job["arguments"]), job)
        for use in job["uses"]:
            checks.check(f"{what}, {job['id']}: use", set(use) <= {
                "lfn", "type", "stageOut", "registerReplica", "size"} and isinstance(use.get("size", ""), str) and
                use["type"] in ("input", "output", "inout"), use)
    same(what, w, [j["id"] for j in y["jobs"]],
         [(d["id"], c) for d in y.get("jobDependencies", []) for c in d["children"]])
    checks.equal(f"{what}: files", {j["id"]: sorted((u["lfn"], u["type"]) for u in j["uses"]) for j in y["jobs"]},
                 uses_of(w, path_of))


def dax(what, db, level, w):
    text = generate(db, "dax", "--level", level)
    tag = "{http://pegasus.isi.edu/schema/DAX}"
    root = xml.etree.ElementTree.fromstring(text)
    checks.equal(f"{what}: root", (root.tag, root.get("version")), (tag + "adag", "3.6"))
    jobs = root.findall(tag + "job")
    order = [child.tag for child in root]
    checks.check(f"{what}: jobs come first", order == sorted(order, key=[tag + "job", tag + "child"].index))
    for job in jobs:
        checks.check(f"{what}, {job.get('id')}: attributes", set(job.keys()) <= {"id", "name", "node-label"} and
                     re.fullmatch("[0-9A-Za-z_-]+", job.get("id")), job.attrib)
        checks.check(f"{what}, {job.get('id')}: elements", [c.tag for c in job] == sorted(
            (c.tag for c in job), key=[tag + "argument", tag + "uses"].index))
        for use in job.findall(tag + "uses"):
            checks.check(f"{what}, {job.get('id')}: use", set(use.keys()) <= {
                "name", "link", "register", "transfer", "size"}, use.attrib)
    same(what, w, [j.get("id") for j in jobs],
         [(p.get("ref"), c.get("ref")) for c in root.findall(tag + "child") for p in c])
    checks.equal(f"{what}: files", {j.get("id"): sorted((u.get("name"), u.get("link")) for u in j.findall(tag + "uses"))
                                    for j in jobs}, uses_of(w, path_of))
    if shutil.which("xmllint"):
        done = subprocess.run(["xmllint", "--noout", "--nonet", "-"], input=text, capture_output=True, timeout=100,
                              check=False)
        checks.check(f"{what}: xmllint", done.returncode == 0, done.stderr)


def dax_for_simulators(what, db, level, w):
    """By the rules of SimGrid's reader: what it requires, and that what it waits for has no cycle and says what WfFormat says."""
    text = generate(db, "dax", "--dax-version", "2.1", "--level", level)
    tag = "{http://pegasus.isi.edu/schema/DAX}"
    root = xml.etree.ElementTree.fromstring(text)
    checks.equal(f"{what}: root", (root.tag, set(root.keys()), root.get("version")), (tag + "adag", {"version", "name"}, "2.1"))
    ran = {task["id"]: task["runtimeInSeconds"] for task in w["workflow"]["execution"]["tasks"]}
    sizes = {path_of(file["id"], "")[0]: file["sizeInBytes"] for file in w["workflow"]["specification"]["files"]}
    edges, makers = [], {}
    for job in root.findall(tag + "job"):
        name = job.get("id")
        checks.check(f"{what}, {name}: attributes, and nothing but uses", set(job.keys()) == {"id", "name", "runtime"} and
                     {child.tag for child in job} <= {tag + "uses"}, job.attrib)
        checks.check(f"{what}, {name}: run time", abs(float(job.get("runtime")) - ran[name]) < 1e-6, job.attrib)
        for use in job:
            checks.check(f"{what}, {name}: use", set(use.keys()) == {"file", "link", "register", "transfer", "size"} and
                         int(use.get("size")) == sizes[use.get("file")], use.attrib)
            file, makes = f"file {use.get('file')}", use.get("link") == "output"
            checks.check(f"{what}, {name}: {file} comes from one job", use.get("link") in ("input", "output") and
                         not (makes and file in makers), use.attrib)
            if makes:
                makers[file] = name
            edges.append((name, file) if makes else (file, name))
    deps = [(p.get("ref"), c.get("ref")) for c in root.findall(tag + "child") for p in c]
    checks.check(f"{what}: no cycle, with the files", acyclic([list(edge) for edge in edges + deps]))
    same(what, w, [job.get("id") for job in root.findall(tag + "job")], deps)
    used = {(task["id"], path_of(file, "")[0]) for task in w["workflow"]["specification"]["tasks"]
            for file in task["inputFiles"] + task["outputFiles"]}
    checks.equal(f"{what}: files", {(a, b[5:]) if b.startswith("file ") else (b, a[5:]) for a, b in edges}, used)
    return len(makers)


def arguments(text):
    """A quoted list of arguments in HTCondor's new syntax."""
    words, word, quoted, at = [], None, False, 0
    while at < len(text):
        c = text[at]
        if text[at:at + 2] == '""':
            word, at = (word or "") + '"', at + 1
        elif c == "'" and quoted and text[at:at + 2] == "''":
            word, at = word + "'", at + 1
        elif c == "'":
            word, quoted = word or "", not quoted
        elif c == " " and not quoted:
            words, word = words + ([word] if word is not None else []), None
        else:
            word = (word or "") + c
        at += 1
    assert not quoted, text
    return words + ([word] if word is not None else [])


def dagman(what, db, w, original, inputs, copy):
    text = generate(db, "dagman").decode("utf-8", "surrogateescape")
    head, body = text.split("\n}\n", 1)
    checks.check(f"{what}: description", "SUBMIT-DESCRIPTION job {" in head and 'arguments = "$(args)"' in head)
    jobs, values, deps = [], {}, []
    for line in body.removesuffix("\n").split("\n"):
        if m := re.fullmatch(r"JOB ([A-Za-z0-9_]+) job", line):
            jobs.append(m[1])
        elif m := re.fullmatch(r'VARS ([A-Za-z0-9_]+)((?: [a-z]+="(?:[^"\\]|\\["\\])*")+)', line):
            values[m[1]] = {k: re.sub(r'\\(["\\])', r"\1", v).replace("$(DOLLAR)", "$") for k, v in
                            re.findall(r' ([a-z]+)="((?:[^"\\]|\\["\\])*)"', m[2])}
        elif m := re.fullmatch(r"PARENT((?: [A-Za-z0-9_]+)+) CHILD ([A-Za-z0-9_]+)", line):
            deps += [(p, m[2]) for p in m[1].split()]
        else:
            checks.check(f"{what}: a line", False, line)
    same(what, w, jobs, deps)
    shutil.copytree(inputs, copy)
    order = {}
    for job in reversed(jobs): # another order than that of the run
        order.setdefault(job, [p for p, c in deps if c == job])
    done = set()
    while len(done) < len(jobs):
        ready = [j for j in order if j not in done and all(p in done for p in order[j])]
        assert ready, "a cycle"
        for job in ready[:1]:
            directory = values[job]["directory"].replace(str(original), str(copy))
            words = [a.replace(str(original), str(copy)) for a in arguments(values[job]["args"])]
            subprocess.run(["/bin/sh", *words], cwd=directory, stdout=subprocess.DEVNULL, check=True, timeout=100)
            done.add(job)
    wanted = {p.relative_to(original): p.read_bytes() for p in original.rglob("*") if p.is_file()}
    made = {p.relative_to(copy): p.read_bytes() for p in copy.rglob("*") if p.is_file()}
    checks.check(f"{what}: makes files", len(made) > 10)
    for path in sorted(wanted):
        checks.check(f"{what}: {path}", wanted[path] == made.get(path))


def workflow(base):
    """A compile of a kind, with all that is hard to quote."""
    inputs = base / "inputs"
    inputs.mkdir()
    for n in range(6):
        (inputs / f"in {n}").write_text(f"{n}\n" * (n + 1))
    (inputs / "Makefile").write_text(
        "all: sum 'quo\"ted$$'\n%.out:\n\tcat 'in $*' | sed \"s/^/'$$(echo $*)' /\" > $@\n"
        "sum: $(addsuffix .out,0 1 2 3 4 5)\n\tcat $^ > s.new && mv s.new sum\n"
        "'quo\"ted$$': sum\n\tcat sum > 'quo\"ted$$'\n\tprintf '%s\\n' 'it'\\''s \\ back' \"\" >> more\n"
        "\tcat \"$$PWD/sum\" more > 'more (2), \u00e9&<x>'\n\tmkdir -p sub/deep && cd sub/deep && cp ../../sum here\n")
    return inputs


def uncounted(base, inputs):
    """Bytes that ftrac did not count are left out, not 0."""
    if not has_fidelity("open"):
        print("no fidelity open here: not looked at")
        return
    copy, db = base / "uncounted", base / "uncounted.db"
    shutil.copytree(inputs, copy)
    traced(db, ["make", "-j4"], copy, "--fidelity", "open")
    execution = json.loads(generate(db, "wfformat"))["workflow"]["execution"]
    checks.check("uncounted: there are tasks", execution["tasks"])
    for task in execution["tasks"]:
        checks.check(f"uncounted, {task['id']}: no bytes", "readBytes" not in task and "writtenBytes" not in task, task)
    checks.equal("uncounted: sums", sorted(execution["metrics"]), ["sumTaskRuntimesInSeconds"])


def refuses(what, db, option, names):
    """With one line that shows one of the names."""
    done = subprocess.run([WFDAG, "generate", f"--{option}", str(db)], capture_output=True, timeout=100, check=False)
    said = done.stderr.decode()
    shown = [re.sub("[^ -~]", lambda m: "".join(f"\\x{b:02x}" for b in os.fsencode(m[0])), name) for name in names]
    checks.equal(f"{what} refuses: status, output", (done.returncode, done.stdout), (1, b""))
    checks.check(f"{what} refuses: one line with the name", said.count("\n") == 1 and
                 any(f"{name}'" in said for name in shown), said)


def words(what, db, option):
    """The words of each job as the format has them, without the program."""
    text = generate(db, option)
    if option == "wfformat":
        ran = json.loads(text)["workflow"]["execution"]["tasks"]
        return {t["id"]: t["command"]["arguments"] for t in ran if "command" in t}
    if option == "dax":
        tag = "{http://pegasus.isi.edu/schema/DAX}"
        return {j.get("id"): shlex.split(j.findtext(tag + "argument") or "")
                for j in xml.etree.ElementTree.fromstring(text).findall(tag + "job")}
    python = python_with("yaml")
    code = "import json, sys, yaml; print(json.dumps({j['id']: j['arguments'] for j in yaml.safe_load(sys.stdin)['jobs']}))"
    return python and json.loads(subprocess.run([python, "-c", code], input=text, capture_output=True, timeout=100,
                                                check=True).stdout)


def hostile(base, label, names, without):
    """Words and names are what they were, or the format is refused."""
    base.mkdir()
    inputs, original, db, lines, wanted = base / "inputs", base / "original", base / "trace.db", [], {}
    (inputs / "in").mkdir(parents=True)
    for i, name in enumerate(names):
        (inputs / "in" / name).write_text(f"{i}\n")
        (inputs / f"d{name}").mkdir()
        argv = ["-t", ".", "--", f"in/{name}"], ["", name, f"in/{name}", f"-{name}"]
        wanted[f"cp_{3 * i + 1}"], wanted[f"printf_{3 * i + 2}"] = argv[0], ["%s|", *argv[1]]
        lines += [shlex.join(["cp", *argv[0]]), f"{shlex.join(['/usr/bin/printf', '%s|', *argv[1]])} > said.{i}",
                  f"cd {shlex.quote(f'./d{name}')}", f"cat < ../said.{i} > {shlex.quote(f'x{name}')}", "cd .."]
    shutil.copytree(inputs, original)
    (base / "wf.sh").write_text("\n".join(lines) + "\n", errors="surrogateescape")
    traced(db, ["sh", "../wf.sh"], original)
    w = wfformat(f"{label}: wfformat", db, "1.6", "job")
    dagman(f"{label}: dagman", db, w, original, inputs, base / "copy")
    files = {path_of(f, "")[0] for t in w["workflow"]["specification"]["tasks"] for f in t["inputFiles"] + t["outputFiles"]}
    checks.check(f"{label}: names of files", {f"d{name}/x{name}" for name in names} | {f"in/{name}" for name in names} <= files)
    for option, check in ("pegasus", pegasus), ("dax", dax), ("wfformat", None):
        if option in without:
            refuses(f"{label}: {option}", db, option, names)
            continue
        found = words(f"{label}: {option}", db, option)
        said = {job: argv for job, argv in wanted.items() if not re.search("[\udc80-\udcff]", "".join(argv))}
        for job, argv in said.items() if found is not None else ():
            argv = [word or '""' for word in argv] if option == "wfformat" else argv
            checks.equal(f"{label}: {option}, words of {job}", found.get(job), argv)
        checks.check(f"{label}: {option}, commands that are no text", found is None or not (set(wanted) - set(said)) & set(found))
        if check:
            check(f"{label}: {option}", db, "job", w)


need("make")
need_fuse()
with tempfile.TemporaryDirectory(prefix="ftrac-formats-") as directory:
    base = pathlib.Path(directory).resolve()
    inputs, original, db = workflow(base), base / "original", base / "trace.db"
    shutil.copytree(inputs, original)
    traced(db, ["make", "-j4"], original)
    for level in "job", "process":
        for version in "1.5", "1.6":
            w = wfformat(f"wfformat {version}, {level}", db, version, level)
        if level == "job":
            measured("wfformat", db, w)
            dagman("dagman", db, w, original, inputs, base / "copy")
        pegasus(f"pegasus, {level}", db, level, w)
        dax(f"dax, {level}", db, level, w)
        checks.check(f"dax 2.1, {level}: jobs make files", dax_for_simulators(f"dax 2.1, {level}", db, level, w) > 0)
        checks.equal(f"{level}: same trace, same bytes", generate(db, "wfformat", "--level", level),
                     generate(db, "wfformat", "--level", level))
    uncounted(base, inputs)
    hostile(base / "texts", "texts", TEXTS, ())
    hostile(base / "controls", "controls", TEXTS[:3] + CONTROLS, ("dax",))
    hostile(base / "bytes", "bytes", TEXTS[-2:] + BYTES, ("dax", "pegasus"))
checks.end()
