#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 25
# long: --long
"""wfdag changes: random sessions that make, write, rename and remove files, by Python and by the programs of a shell.  What is
created, changed, renamed, removed and temporary is what follows from the steps (lib/sessions.py), in mounts of each fidelity and
recorded in the kernel; and each file that differs before and after, by content, mode or target, is in the list.

Also: parts of a run, several traces, and statements of a build by make, which fit the schema and have the sums of sha256sum(1).

wfdag_changes.py [--long] [FIDELITY...] [N]: N sessions, of 1,000 files with --long (100 of them).
"""
import hashlib
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

import sample
import sessions
from ftractest import FTRAC, TOP, Checks, fidelities, kernel_refuses, need, need_fuse
from workflows import traced

need_fuse()
need("make", "gcc", "python3", "sha256sum")
checks = Checks()
WFDAG = os.environ.get("WFDAG", "build/dag/wfdag")
BASE = pathlib.Path(tempfile.mkdtemp(prefix="ftrac-case-"))
WORDS = [word for word in sys.argv[1:] if not word.isdigit()]
N_SESSIONS = next((int(word) for word in sys.argv[1:] if word.isdigit()), 100 if sample.LONG else 1)
N_FILES, N_STEPS = (1000, 400) if sample.LONG else (300, 200)


def changes(db, *options):
    told = subprocess.run([WFDAG, "changes", "--json", *options, str(db)], capture_output=True, text=True, timeout=120, check=True)
    return json.loads(told.stdout)["rows"]


def picture(top):
    """What is at each path: a directory, the target of a link, or content and mode of a file."""
    found = {}
    for at, dirs, files in os.walk(top):
        for name in dirs + files:
            path = os.path.join(at, name)
            if os.path.islink(path):
                what = "link", os.readlink(path)
            elif os.path.isdir(path):
                what = ("dir",)
            else:
                what = hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest(), os.stat(path).st_mode
            found[os.path.relpath(path, top)] = what
    return found


def options_of(mode):
    return ("--files", "kernel") if mode == "kernel" else ("--fidelity", mode)


def as_found(rows, top, mode, plan, wanted):
    """The rows as Plan has them.  Where a trace does not tell all, what is wanted is found: what a rename replaced, if nothing had
    used it (kernel); whether a file that was opened for writing was written (open)."""
    found, unused = set(), plan.unused() if mode == "kernel" else set()
    for row in rows:
        path, before = os.path.relpath(row["path"], top), row["from"] and os.path.relpath(row["from"], top)
        kind = row["change"]
        if kind == "created" and ("changed", path, None) in wanted and place_before(plan, path) in unused:
            kind = "changed"
        if kind == "changed" and mode == "open" and ("attributes", path, None) in wanted:
            kind = "attributes"
        found.add((kind, path, before))
    return found | {("removed", path, None) for path in unused if ("removed", path, None) in wanted}


def place_before(plan, path):
    """The path before of what had the place of this one."""
    name = plan.was((plan.base(os.path.dirname(path), {}), os.path.basename(path)))
    return next((old for old, other in plan.before.items() if other is name), None)


def check_bytes(what, plan, rows, top):
    """How many bytes of each file were written, once or more often."""
    looked = 0
    for row in rows:
        name = plan.there.get(os.path.relpath(row["path"], top))
        if row["change"] not in ("created", "changed") or not name or name.inode.kind != "file" or not name.inode.written:
            continue
        looked += 1
        if name.inode.bytes() is not None and (row["written_bytes"], row["size_bytes"]) != (name.inode.bytes(), name.inode.size):
            checks.equal(f"{what}: bytes and size of {row['path']}", (row["written_bytes"], row["size_bytes"]),
                         (name.inode.bytes(), name.inode.size))
    checks.check(f"{what}: bytes of files", looked > 0)


def check_disk(what, plan, wanted, before, after):
    """The steps did what Plan says they do: the tree, and what is equal before and after."""
    checks.equal(f"{what}: the tree", set(after), {path for path in plan.there if path})
    listed = {path for _, path, _ in wanted}
    old_path = {name: path for path, name in plan.before.items()}
    different = 0
    for path, name in plan.there.items():
        if name.home and name.inode.kind == "file" and after.get(path) != before[old_path[name]]:
            different += 1
            checks.check(f"{what}: {path} differs and is in the list", path in listed)
    checks.check(f"{what}: files that differ", different > 0)


def do_session(seed, mode):
    what = f"session {seed}, {mode}"
    plan, top = sessions.session(seed, N_FILES, N_STEPS), BASE / f"{seed}-{mode}"
    top.mkdir()
    plan.build(top)
    before = picture(top)
    (BASE / "plan.json").write_text(json.dumps(plan.steps))
    (BASE / "script").write_text(sessions.script(plan.steps, str(BASE / "plan.json"), random.Random(seed)))
    db = BASE / "trace.db"
    traced(db, ["sh", BASE / "script"], top, *options_of(mode))
    wanted, rows = plan.changes(), changes(db, "--temporary")
    found = as_found(rows, top, mode, plan, wanted)
    if found != wanted:
        checks.equal(what, sorted(map(str, found - wanted)), sorted(map(str, wanted - found)))
    checks.looked += len(wanted)
    check_disk(what, plan, wanted, before, picture(top))
    if mode in ("exact", "kernel", "call"):
        check_bytes(what, plan, rows, top)
    shutil.rmtree(top)
    return len(wanted)


def modes():
    found = fidelities()
    refused = kernel_refuses()
    if refused:
        print(f"recorded in the kernel: not here: {refused}")
    else:
        found.append("kernel")
    wanted = [word for word in WORDS if word != "--long"]
    # What no program opened is looked at on disk when the record is read: on a busy machine after the session has gone on.
    return [mode for mode in found if (mode in wanted if wanted else mode != "kernel" or sample.LONG)]


def all_sessions():
    for mode in modes():
        facts = checks.failed
        n = sum(do_session(sample.rng().randrange(10**6) if not sample.LONG else seed, mode) for seed in range(N_SESSIONS))
        print(f"{mode}: {N_SESSIONS} sessions of {N_FILES} files and {N_STEPS} steps: {n} changes, "
              f"{checks.failed - facts} facts not so", flush=True)


# ---- parts of a run, and several runs ----

def in_dir(name, command, *options):
    """The trace of a shell command in a new directory, which has a file 'old'."""
    top = BASE / name
    top.mkdir(exist_ok=True)
    (top / "old").write_text("old\n")
    traced(BASE / f"{name}.db", ["sh", "-c", command], top, *options)
    return top, BASE / f"{name}.db"


def short(rows, top):
    return [(row["change"], os.path.relpath(row["path"], top)) for row in rows]


def parts():
    """What the rest of the run made was there before, for the part; what it removed was not."""
    top, db = in_dir("parts", "cp old a; touch b; sleep 0; sed -i s/o/O/ old; mv a c; chmod 600 b; rm old; mkdir d; ln -s c d/e")
    checks.equal("all", short(changes(db), top),
                 [("created", "b"), ("created", "c"), ("created", "d"), ("created", "d/e"), ("removed", "old")])
    checks.equal("of cp", short(changes(db, "--include", "command:cp"), top), [("created", "c")])
    checks.equal("of sed", short(changes(db, "--include", "command:sed"), top), [])
    checks.equal("of mv", short(changes(db, "--include", "command:mv"), top), [("renamed", "c")])
    checks.equal("of chmod", short(changes(db, "--include", "command:chmod"), top), [("attributes", "b")])
    checks.equal("of rm", short(changes(db, "--include", "command:rm"), top), [("removed", "old")])
    checks.equal("without ln", short(changes(db, "--exclude", "command:ln", "--exclude", "command:sh"), top),
                 [("created", "b"), ("created", "c"), ("created", "d"), ("removed", "old")])
    checks.equal("of one path", short(changes(db, "--include", "path:*/d/*"), top), [("created", "d/e")])
    checks.equal("after the run", short(changes(db, "--from", "1000"), top), [])


def by_the_kernel():
    if kernel_refuses():
        print(f"recorded in the kernel: not here: {kernel_refuses()}")
        return
    top, db = in_dir("by-the-kernel", "echo 1 > a; cat old > b; mkdir d; mv a d/c; sed -i s/o/O/ old; ln d/c e; echo 2 >> e; rm b",
                     "--files", "kernel")
    checks.equal("recorded in the kernel", short(changes(db), top), [("created", "d"), ("created", "d/c"), ("created", "e"),
                                                                     ("changed", "old")])


def several():
    top, one = in_dir("several", "echo 1 > one; echo 2 > two")
    _, two = in_dir("several", "rm one; echo 3 >> two; mv two three", "--db", str(BASE / "second.db"))
    two = BASE / "second.db"
    told = subprocess.run([WFDAG, "changes", "--json", str(one), str(two)], capture_output=True, text=True, timeout=60, check=True)
    checks.equal("two traces", short(json.loads(told.stdout)["rows"], top), [("created", "three")])
    checks.equal("the second alone", short(changes(two), top), [("renamed", "three"), ("removed", "one")])


def table():
    top, db = in_dir("table", "mkdir -p new/sub; echo 1 > new/a; echo 2 > new/sub/b; mv old very-much-older; echo x > t; rm t")
    told = subprocess.run([WFDAG, "changes", str(db)], capture_output=True, text=True, timeout=60, check=True).stdout
    lines = [line.split() for line in told.split("\n")]
    checks.check("a new directory is one row", ["created", "new/", "2", "-", "4", "B"] in lines, told)
    checks.check("a rename has both names", ["renamed", "old", "->", "very-much-older", "-", "-", "4", "B"] in lines, told)
    checks.check("what is temporary is counted", "1 more were made and removed again (--temporary)" in told, told)
    told = subprocess.run([WFDAG, "changes", "--all", str(db)], capture_output=True, text=True, timeout=60, check=True).stdout
    checks.check("--all has each file", "new/sub/b" in told, told)
    done = subprocess.run([FTRAC, "run", "--changes", "-q", "-o", BASE / "c.db", "sh", "-c", "echo 1 > made; exit 3"], cwd=top,
                          capture_output=True, text=True, timeout=60, check=False)
    checks.equal("ftrac run --changes: status", done.returncode, 3)
    checks.check("ftrac run --changes prints it", "created  made" in done.stderr, done.stderr)
    checks.check("in 80 columns", max(map(len, done.stderr.split("\n"))) <= 80, done.stderr)


def no_ops():
    _, db = in_dir("no-ops", "echo 1 > one", "--no-ops")
    done = subprocess.run([WFDAG, "changes", str(db)], capture_output=True, text=True, timeout=60, check=False)
    checks.equal("--no-ops", (done.returncode, done.stderr.count("\n"), "--no-ops" in done.stderr), (1, 1, True))
    done = subprocess.run([FTRAC, "run", "--changes", "--no-ops", "true"], capture_output=True, text=True, timeout=60, check=False)
    checks.equal("ftrac run --changes --no-ops", (done.returncode, done.stderr.count("\n")), (125, 1))


# ---- statements ----

MAKEFILE = """all: hello lib/a b%c
hello: main.o util.o
\tgcc -o $@ $^
%.o: %.c util.h
\tgcc -c -o $@ $<
lib/a: util.o
\tmkdir -p lib && ar rc $@ $<
b%c:
\techo 1 > "$@" && ln -sf hello link && touch tmp && rm tmp
"""


def sha256sum(path):
    return subprocess.run(["sha256sum", "--", path], capture_output=True, text=True, timeout=60, check=True).stdout[:64].lstrip("\\")


def valid(what, text):
    import jsonschema  # pylint: disable=import-outside-toplevel
    statement = json.loads(text)
    schema = json.loads((TOP / "tests/golden/in-toto.schema.json").read_text())
    faults = [fault.message for fault in jsonschema.Draft7Validator(schema).iter_errors(statement)]
    checks.equal(f"{what}: the schema", faults, [])
    return statement


def sums(what, top, artifacts):
    """The hashes are those of sha256sum; {name: reason or None}."""
    found = {}
    for artifact in artifacts:
        found[artifact["name"]] = artifact.get("annotations", {}).get("ftrac_not_hashed")
        if "digest" in artifact:
            checks.equal(f"{what}: {artifact['name']}", artifact["digest"]["sha256"], sha256sum(top / artifact["name"]))
    return found


def statements():
    top = BASE / "project"
    top.mkdir()
    (top / "Makefile").write_text(MAKEFILE)
    (top / "main.c").write_text('#include "util.h"\nint main(void) { return util(); }\n')
    (top / "util.c").write_text('#include "util.h"\nint util(void) { return 0; }\n')
    (top / "util.h").write_text("int util(void);\n")
    db, file = BASE / "make.db", BASE / "make.intoto.json"
    traced(db, ["make", "-j2"], top, "--in-toto", str(file))
    at_end = valid("at the end of the run", file.read_text())
    subjects, inputs = sums("made", top, at_end["subject"]), sums("read", top, at_end["predicate"]["buildDefinition"]["resolvedDependencies"])
    checks.equal("subjects", set(subjects), {"hello", "main.o", "util.o", "lib/a", "b%c"})
    checks.equal("dependencies", {name for name in inputs if not name.startswith("/")}, {"Makefile", "main.c", "util.c", "util.h"})
    checks.equal("by-products", sums("by-products", top, at_end["predicate"]["runDetails"]["byproducts"]), {"link": "it is no regular file"})
    parameters = at_end["predicate"]["buildDefinition"]["externalParameters"]
    checks.equal("parameters", parameters, {"command": "make -j2", "directory": os.path.realpath(top)})
    later(top, db)


def later(top, db):
    """What has changed since the run is named and has no hash."""
    (top / "util.h").write_text("int  util(void);\n")
    (top / "util.o").unlink()
    os.utime(top / "main.o", (1, 1))
    done = subprocess.run([WFDAG, "changes", "--in-toto", "--builder", "https://ci.example.org/1", str(db)], capture_output=True,
                          text=True, timeout=60, check=True)
    after = valid("later", done.stdout)
    checks.equal("later: subjects", set(sums("later", top, after["subject"])), {"hello", "lib/a", "b%c"})
    left = sums("later", top, after["predicate"]["runDetails"]["byproducts"])
    checks.equal("later: by-products", left, {"link": "it is no regular file", "main.o": "it has changed since the run",
                                              "util.o": "it is not there any more"})
    inputs = sums("later", top, after["predicate"]["buildDefinition"]["resolvedDependencies"])
    checks.equal("later: dependencies", {name for name, reason in inputs.items() if reason and not name.startswith("/")}, {"util.h"})
    checks.equal("later: builder", after["predicate"]["runDetails"]["builder"]["id"], "https://ci.example.org/1")
    checks.check("later: a line for each", "no hash of" in done.stderr, done.stderr)
    for path in top.iterdir():
        if path.is_file():
            path.unlink()
    shutil.rmtree(top / "lib")
    done = subprocess.run([WFDAG, "changes", "--in-toto", str(db)], capture_output=True, text=True, timeout=60, check=False)
    checks.equal("nothing is there: status and output", (done.returncode, done.stdout), (1, ""))


if not [word for word in WORDS if word != "--long"]:  # modes alone
    parts()
    by_the_kernel()
    several()
    table()
    no_ops()
    statements()
all_sessions()
shutil.rmtree(BASE)
checks.end()
