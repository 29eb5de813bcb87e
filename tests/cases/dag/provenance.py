#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 6
"""wfdag --prov: the package prov reads it and gives it back unchanged, also by way of XML; it has the nodes and edges of --json
with their attributes, and names the processes that made, used and removed known files; all that it refers to is in it."""
import collections
import datetime
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

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
cat d/a d/b > d/c
mv d/c d/result
sh -c 'cat d/result > d/gone; rm d/gone'
cat d/a | sort > d/sorted
"""
SHAPES = [(), ("--fold",), ("--tree",), ("--metadata", "--all"), ("--group-by", "command"), ("--pipes", "node")]
XSD = {"xsd:string": str, "xsd:long": int, "xsd:double": float, "xsd:boolean": lambda text: {"true": True, "false": False}[text]}
ROLES = {"used": ("prov:entity", "prov:activity"), "wasGeneratedBy": ("prov:entity", "prov:activity"),
         "wasInvalidatedBy": ("prov:entity", "prov:activity"), "wasInformedBy": ("prov:informant", "prov:informed"),
         "wasDerivedFrom": ("prov:usedEntity", "prov:generatedEntity"), "wasAssociatedWith": ("prov:activity", "prov:agent")}
ENDS = {"prov:entity": "entity", "prov:activity": "activity", "prov:informant": "activity", "prov:informed": "activity",
        "prov:usedEntity": "entity", "prov:generatedEntity": "entity", "prov:agent": "agent"}
IN, OUT = {"read", "execute", "map", "metadata"}, {"write", "create", "rename", "truncate"}


def written(db, *options):
    done = subprocess.run([WFDAG, "--prov", *options, db], stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False)
    checks.equal(f"{options}: status", (done.returncode, done.stderr[:300]), (0, b""))
    return done.stdout


def attributes(record):
    return {name[6:]: XSD[value["type"]](value["$"]) for name, value in record.items() if name.startswith("ftrac:")}


def without(record, *names):
    return {name: value for name, value in record.items() if name not in names}


def check_nodes(label, prov, graph):
    """Entities and activities are the nodes of --json."""
    found = {name[4:]: attributes(record) for section in ("entity", "activity") for name, record in prov[section].items()}
    wanted = {node["id"]: without(node, "id") for node in graph["nodes"] if node["kind"] != "ghost"}
    checks.equal(f"{label}: nodes and their attributes", found, wanted)
    for node in graph["nodes"]:
        if node["kind"] == "process":
            record = prov["activity"][f"run:{node['id']}"]
            for name, key in ("prov:startTime", "start_s"), ("prov:endTime", "end_s"):
                checks.check(f"{label}: {node['id']}: {name}", key not in node or
                             abs(since(graph, record[name]) - node[key]) < 2e-6, (record, node))
    return len(found)


def since(graph, text):
    checks.check("a time ends with its zone and has nanoseconds", text.endswith("Z") and len(text) == 30, text)
    whole = datetime.datetime.fromisoformat(text[:19] + "+00:00").timestamp()
    return whole - graph["begin_ns"] / 1e9 + float(text[19:-1])


def relations_of(edge, kinds):
    """What an edge of --json is, and from which node to which: of a file and a process, the file first."""
    words = set(edge["kind"].split("|"))
    source, target = kinds[edge["source"]], kinds[edge["target"]]
    ends = edge["source"], edge["target"]
    if "ghost" in (source, target):
        return
    if source == target:
        yield ("wasDerivedFrom" if source == "file" else "wasInformedBy"), ends
        return
    ends = ends if source == "file" else ends[::-1]
    for name, of in ("used", IN), ("wasGeneratedBy", OUT), ("wasInvalidatedBy", {"delete"}):
        if words & of:
            yield name, ends


def check_edges(label, prov, graph):
    kinds = {node["id"]: node["kind"] for node in graph["nodes"]}
    wanted = collections.Counter((*relation, json.dumps(without(edge, "source", "target"), sort_keys=True))
                                 for edge in graph["edges"] for relation in relations_of(edge, kinds))
    found = collections.Counter(
        (section, tuple(record[role][4:] for role in roles), json.dumps(attributes(record), sort_keys=True))
        for section, roles in ROLES.items() if section != "wasAssociatedWith" for record in prov[section].values())
    checks.equal(f"{label}: edges and their attributes", found, wanted)
    return sum(found.values())


def check_references(label, prov):
    checks.equal(f"{label}: sections", set(prov), {"prefix", "entity", "activity", "agent", *ROLES})
    prefixes = {*prov["prefix"], "prov"}
    for section in set(prov) - {"prefix"}:
        for name, record in prov[section].items():
            checks.check(f"{label}: {name}: prefixes are declared", name.startswith("_:") == (section in ROLES) and
                         {key.partition(":")[0] for key in record} <= prefixes, record)
            for role in ROLES.get(section, ()):
                checks.check(f"{label}: {name}: its {role} is there", record[role] in prov[ENDS[role]], record)
    checks.check(f"{label}: nothing is both an entity and an activity", not set(prov["entity"]) & set(prov["activity"]))


def check_known(prov):
    """What the script did."""
    programs = {name: record["ftrac:program"]["$"] for name, record in prov["activity"].items() if "ftrac:program" in record}
    paths = {name: os.path.basename(record["ftrac:path"]["$"]) for name, record in prov["entity"].items()}
    facts = {(section, paths.get(record["prov:entity"]), programs.get(record["prov:activity"]))
             for section in ("used", "wasGeneratedBy", "wasInvalidatedBy") for record in prov[section].values()}
    for fact in (("used", "a", "cat"), ("wasGeneratedBy", "b", "cat"), ("used", "b", "cat"), ("wasGeneratedBy", "result", "cat"),
                 ("wasGeneratedBy", "result", "mv"), ("used", "result", "cat"), ("wasInvalidatedBy", "gone", "rm"),
                 ("wasGeneratedBy", "sorted", "sort")):
        checks.check(f"it is known: {fact}", fact in facts, sorted(map(str, facts)))
    checks.check("a file is removed after it was made", all(
        made["prov:time"] <= gone["prov:time"] for gone in prov["wasInvalidatedBy"].values()
        for made in prov["wasGeneratedBy"].values() if made["prov:entity"] == gone["prov:entity"]))
    checks.check("the file that was appended to has two versions", sum(path == "a" for path in paths.values()) == 2 and
                 any(paths[record["prov:generatedEntity"]] == "a" for record in prov["wasDerivedFrom"].values()), paths)
    users = {record["ftrac:uid"]["$"] for record in prov["agent"].values()}
    checks.equal("the user", users, {str(os.geteuid())})
    checks.equal("each process has its user", {record["prov:activity"] for record in prov["wasAssociatedWith"].values()}, set(prov["activity"]))


def check_by_prov(label, data):
    try:
        import prov.model
    except ImportError:
        print("left out: no prov for Python here (python3-prov)")
        return
    document = prov.model.ProvDocument.deserialize(content=data.decode(), format="json")
    given = json.loads(data)
    checks.equal(f"{label}: prov reads each record", len(document.get_records()),
                 sum(len(records) for section, records in given.items() if section != "prefix"))
    for form in "json", "xml":
        again = prov.model.ProvDocument.deserialize(content=document.serialize(format=form), format=form)
        checks.check(f"{label}: prov gives it back, as {form}", again == document)
    texts = {str(value) for entity in document.get_records(prov.model.ProvEntity) for value in entity.label and [entity.label]}
    checks.equal(f"{label}: prov reads the names", texts, {record["prov:label"] for record in given["entity"].values()})


def main():
    base = pathlib.Path(tempfile.mkdtemp(prefix="ftrac-case-"))
    work, db, odd = base / "work", base / "trace.db", base / "odd.db"
    for directory in work, base / "odd":
        directory.mkdir()
    (base / "script").write_text(SCRIPT)
    traced(db, ["sh", base / "script"], work)
    check_known(json.loads(written(db)))
    for name in NAMES:
        with open(os.path.join(os.fsencode(base / "odd"), name), "wb") as file:
            file.write(name)
    traced(odd, ["sh", "-c", "cat -- ./* ./.[!.]* | wc -c > 'sum of all'"], base / "odd")
    seen = 0
    for trace, options in [(db, options) for options in SHAPES] + [(odd, ())]:
        label = f"{trace.name} {' '.join(options)}"
        data = written(trace, *options)
        checks.check(f"{label}: the same bytes", data == written(trace, *options))
        graph, prov = graph_of(trace, *options), json.loads(data)
        check_references(label, prov)
        seen += check_nodes(label, prov, graph) + check_edges(label, prov, graph)
        if options in ((), ("--fold",)):
            check_by_prov(label, data)
    print(f"{seen} nodes and relations compared with --json")
    entities = len(json.loads(written(odd, "--all"))["entity"])
    checks.check("all names are there", entities > len(NAMES), (entities, len(NAMES)))
    os.chdir("/")
    shutil.rmtree(base)
    checks.end()


if __name__ == "__main__":
    main()
