#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 8
"""wfdag --rocrate: the rules of RO-Crate 1.1 and of its profile Process Run Crate 0.5 hold, the library ro-crate accepts it, its files are
on disk in the directory of the run, and actions have the processes, files and results that --json says."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import urllib.parse

from dagtraces import WFDAG, graph_of
from ftractest import Checks, need_fuse
from hostile import NAMES
from workflows import traced

need_fuse()
checks = Checks()
SCRIPT = r"""
mkdir d
printf 'one' > d/a
cat d/a > d/b
printf 'two' >> d/a
cat d/a d/b > 'd/the result: #1?.txt'
sh -c 'cat d/b > d/gone; rm d/gone'
cat d/a | sort > d/sorted
cat d/a ../outside > d/both
cat missing 2> /dev/null
sh -c 'kill -9 $$'
exit 0
"""
PROFILE = "https://w3id.org/ro/wfrun/process/0.5"
STATUS = "http://schema.org/%sActionStatus"
READER = """
// It has the context of RO-Crate itself, which it would fetch.
const shipped = require("ro-crate/lib/context.json");
globalThis.fetch = async (url) => ({ ok: true, json: async () => url.startsWith("https://w3id.org/ro/crate/") ? shipped : { "@context": {} } });
const { ROCrate } = require("ro-crate"), { Validator } = require("ro-crate/lib/validator"), fs = require("fs");
const text = fs.readFileSync(process.argv[2], "utf8"), validator = new Validator();
(async () => {
	validator.parseJSON(text);
	await validator.crate.resolveContext();
	await validator.validate();
	const crate = new ROCrate(JSON.parse(text), { array: true, link: true });
	console.log(JSON.stringify({ errors: validator.results.filter(r => r.status === "error"), checked: validator.results.length,
		actions: crate.rootDataset.mentions.map(a => [a["@id"], a.instrument[0].name[0], (a.object ?? []).map(f => f.name[0]),
			(a.result ?? []).map(f => f.name[0])]) }));
})();
"""


def written(db, *options):
    done = subprocess.run([WFDAG, "--rocrate", *options, db], stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False)
    checks.equal(f"{options}: status", (done.returncode, done.stderr[:300]), (0, b""))
    return done.stdout


def listed(value):
    return value if isinstance(value, list) else [] if value is None else [value]


def ids(entity, name):
    return [part["@id"] for part in listed(entity.get(name))]


def check_rules(label, crate):
    """Those that say MUST, in RO-Crate 1.1 and in the profile; the entities by their ids."""
    checks.equal(f"{label}: members", set(crate), {"@context", "@graph"})
    checks.equal(f"{label}: contexts", crate["@context"], ["https://w3id.org/ro/crate/1.1/context",
                                                           "https://w3id.org/ro/terms/workflow-run/context"])
    entities = {entity["@id"]: entity for entity in crate["@graph"]}
    checks.equal(f"{label}: each id once", len(entities), len(crate["@graph"]))
    for entity in crate["@graph"]:
        checks.check(f"{label}: {entity['@id']}: it has a type and is flat", isinstance(entity["@type"], str) and all(
            isinstance(value, str) or set(value) == {"@id"} for values in entity.values() for value in listed(values)), entity)
        checks.check(f"{label}: {entity['@id']}: the id is a URI reference", re.fullmatch(
            r"[A-Za-z0-9#._~:/?%!$&'()*+,;=@-]+", entity["@id"]) and not re.search("%(?![0-9A-F]{2})", entity["@id"]))
        for name, values in entity.items():
            for part in listed(values):
                checks.check(f"{label}: {entity['@id']}: what it refers to is there", isinstance(part, str) or part["@id"] in entities or
                             part["@id"] == "https://w3id.org/ro/crate/1.1", (name, part))
    about, root = entities["ro-crate-metadata.json"], entities["./"]
    checks.equal(f"{label}: the descriptor", (about["@type"], ids(about, "about"), ids(about, "conformsTo")),
                 ("CreativeWork", ["./"], ["https://w3id.org/ro/crate/1.1"]))
    checks.check(f"{label}: the root", root["@type"] == "Dataset" and all(root.get(name) for name in ("name", "description", "license")) and
                 re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", root["datePublished"]), root)
    checks.equal(f"{label}: the profile", (ids(root, "conformsTo"), entities[PROFILE]["@type"], entities[PROFILE]["version"]),
                 ([PROFILE], "CreativeWork", "0.5"))
    actions = {name: entity for name, entity in entities.items() if entity["@type"] in ("CreateAction", "ActivateAction")}
    checks.equal(f"{label}: the root mentions each action", ids(root, "mentions"), list(actions))
    checks.equal(f"{label}: the root has each file", set(ids(root, "hasPart")), {
        name for name, entity in entities.items() if entity["@type"] in ("File", "Dataset")} - {"./"})
    for name, action in actions.items():
        checks.equal(f"{label}: {name}: its program", [entities[part]["@type"] for part in ids(action, "instrument")], ["SoftwareApplication"])
        checks.equal(f"{label}: {name}: its user", [entities[part]["@type"] for part in ids(action, "agent")], ["Person"])
        checks.check(f"{label}: {name}: what it used and made are data", {entities[part]["@type"] for key in ("object", "result")
                     for part in ids(action, key)} <= {"File", "Dataset", "CreativeWork"})
        checks.equal(f"{label}: {name}: it creates if there is a result", action["@type"] == "CreateAction", bool(ids(action, "result")))
        checks.check(f"{label}: {name}: its times", action["startTime"] <= action["endTime"], action)
    return entities, actions


def check_files(label, entities, work):
    """Relative ids are files in the directory; all others say where they are, or that they are gone."""
    n = 0
    for name, entity in entities.items():
        if entity["@type"] not in ("File", "Dataset") or name == "./":
            continue
        is_part = not name.startswith("file:///")
        path = os.path.join(os.fsencode(work), urllib.parse.unquote_to_bytes(name.removeprefix("file://")))
        checks.check(f"{label}: {name}: it is there", os.path.isdir(path) if entity["@type"] == "Dataset" else os.path.isfile(path))
        checks.equal(f"{label}: {name}: below the directory of the run", is_part, path.startswith(os.fsencode(work) + b"/") and is_part)
        if "contentSize" in entity:
            checks.equal(f"{label}: {name}: its size", entity["contentSize"], str(os.path.getsize(path)))
            n += 1
    checks.check(f"{label}: there are files", n > 0)
    return n


def by_json(graph):
    """{process: (program, paths that it used, paths that it made)} of --json."""
    nodes = {node["id"]: node for node in graph["nodes"]}
    found = {f"#p{node['trace_id']}": (node["program"], set(), set()) for node in graph["nodes"] if node["kind"] == "process"}
    for edge in graph["edges"]:
        ends = [nodes[edge["source"]], nodes[edge["target"]]]
        process = [node for node in ends if node["kind"] == "process"]
        file = [node for node in ends if node["kind"] == "file"]
        words = set(edge["kind"].split("|"))
        if len(process) == len(file) == 1:
            for i, of in (1, {"read", "execute", "map", "metadata"}), (2, {"write", "create", "rename", "truncate"}):
                if words & of:
                    found[f"#p{process[0]['trace_id']}"][i].add(file[0]["path"])
    return found


def check_actions(label, entities, actions, graph):
    found = {name: (action["name"], {entities[part]["name"] for part in ids(action, "object")},
                    {entities[part]["name"] for part in ids(action, "result")}) for name, action in actions.items()}
    checks.equal(f"{label}: processes, what they used and made", found, by_json(graph))
    by_id = {f"#p{node['trace_id']}": node for node in graph["nodes"] if node["kind"] == "process"}
    for name, action in actions.items():
        node = by_id[name]
        checks.equal(f"{label}: {name}: command", action.get("description"), node.get("command"))
        checks.equal(f"{label}: {name}: how it ended", action["actionStatus"], STATUS % ("Failed" if node["failed"] else "Completed"))
    return sum(len(used) + len(made) for _, used, made in found.values())


def check_known(entities, actions):
    results = {entities[part]["name"].rpartition("/")[2]: action for action in actions.values() for part in ids(action, "result")}
    checks.equal("a name with signs of URIs", [name for name in entities if "result" in name], ["d/the%20result%3A%20%231%3F.txt"])
    for name, program in ("b", "cat"), ("sorted", "sort"), ("both", "cat"):
        checks.equal(f"{name}: the program that made it", results[name]["name"], program)
    checks.equal("how processes ended badly", sorted(action["error"] for action in actions.values() if "error" in action),
                 ["exit status 1", "signal 9"])
    gone = [entity for entity in entities.values() if entity.get("description") == "removed in the run"]
    checks.check("a file that is gone is no part", [entity["name"].rpartition("/")[2] for entity in gone] == ["gone"] and
                 gone[0]["@id"].startswith("#f"), gone)
    checks.check("a file beside the directory has a URI", any(name.startswith("file:///") and name.endswith("/outside") for name in entities))


def read_by_library(base, files):
    """What the library ro-crate of npm says; nothing if it is not to be had."""
    if not shutil.which("npm") or not shutil.which("node"):
        print("left out: no 'node' and 'npm' here")
        return []
    where = base / "library"
    where.mkdir()
    try:
        done = subprocess.run(["npm", "install", "--prefer-offline", "--no-audit", "--no-fund", "ro-crate@3"], cwd=where,
                              capture_output=True, timeout=120, check=False)
    except subprocess.TimeoutExpired:
        done = None
    if not done or done.returncode:
        print("left out: no ro-crate to be had from npm here")
        return []
    (where / "read.cjs").write_text(READER)
    return [json.loads(subprocess.run(["node", "read.cjs", file], cwd=where, capture_output=True, timeout=60, check=True).stdout)
            for file in files]


def check_by_library(base, crates):
    files = []
    for name, data in crates.items():
        files.append(base / f"{name}.json")
        files[-1].write_bytes(data)
    for data, read in zip(crates.values(), read_by_library(base, files)):
        entities = {entity["@id"]: entity for entity in json.loads(data)["@graph"]}
        checks.equal("the library finds no error", (read["errors"], read["checked"] > 5), ([], True))
        checks.equal("the library finds the actions", read["actions"], [
            [name, entities[ids(entities[name], "instrument")[0]]["name"], *([entities[part]["name"] for part in ids(entities[name], key)]
             for key in ("object", "result"))] for name in ids(entities["./"], "mentions")])
        print(f"the library ro-crate: {read['checked']} results, {len(read['actions'])} actions")


def main():
    base = pathlib.Path(tempfile.mkdtemp(prefix="ftrac-case-"))
    work, odd = base / "work", base / "odd"
    work.mkdir()
    odd.mkdir()
    (base / "outside").write_text("outside")
    (base / "script").write_text(SCRIPT)
    traced(base / "trace.db", ["sh", base / "script"], work, "--scope", base)
    for name in NAMES:
        with open(os.path.join(os.fsencode(odd), name), "wb") as file:
            file.write(name)
    traced(base / "odd.db", ["sh", "-c", "cat -- ./* ./.[!.]* | wc -c > 'sum of all'"], odd)
    seen = 0
    for db, directory, options in ("trace.db", work, ()), ("trace.db", work, ("--fold",)), ("trace.db", work, ("--metadata",)), \
            ("odd.db", odd, ("--all",)):
        label = f"{db} {' '.join(options)}"
        data = written(base / db, *options)
        checks.check(f"{label}: the same bytes", data == written(base / db, *options))
        entities, actions = check_rules(label, json.loads(data))
        seen += check_files(label, entities, directory) + check_actions(label, entities, actions, graph_of(base / db, *options))
        if not options:
            check_known(entities, actions)
    print(f"{seen} files and uses compared")
    check_by_library(base, {"whole": written(base / "trace.db"), "odd": written(base / "odd.db", "--all")})
    done = subprocess.run([WFDAG, "--rocrate", "--group-by", "phase", base / "trace.db"], capture_output=True, timeout=60, check=False)
    checks.equal("groups are refused", (done.returncode, done.stdout), (2, b""))
    os.chdir("/")
    shutil.rmtree(base)
    checks.end()


if __name__ == "__main__":
    main()
