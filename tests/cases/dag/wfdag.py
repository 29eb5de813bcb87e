#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""wfdag: the edges of a small workflow are those that it has, in every export, and there is no cycle."""
import json
import os
import pathlib
import subprocess
import tempfile

from dagtraces import is_acyclic
from ftractest import Checks, Mount, need, need_fuse

WFDAG = os.environ.get("WFDAG", "build/dag/wfdag")

# Redirections, a pipe, a rename, an append, a program that was made, a file that is never read.
SCRIPT = """set -e
sort input > sorted
grep a sorted | tr a-z A-Z > upper
cp upper part.new
mv part.new part
cat part >> log
cat sorted >> log
cp /bin/true tool
./tool
wc -l log > /dev/null
"""
EDGES = {
    ("sort", "input", "read"), ("sort", "sorted", "write"), ("grep", "sorted", "read"),
    ("tr", "upper", "write"), ("cp", "upper", "read"), ("cp", "part", "write"),
    ("mv", "part", "write"), ("cat", "part", "read"), ("cat", "log", "write"),
    ("cat", "sorted", "read"), ("cp", "tool", "write"), ("tool", "tool", "read"),
    ("wc", "log", "read"), ("script", "script", "read"),
}


def trace(base):
    work = base / "work"
    work.mkdir()
    (work / "input").write_text("banana\napple\ncherry\n" * 50)
    (work / "script").write_text(SCRIPT)
    with Mount(base=base) as mount:
        subprocess.run(["sh", "script"], cwd=mount(work), check=True, timeout=60)
    return mount.db


def wfdag(*args):
    done = subprocess.run([WFDAG, *map(str, args)], capture_output=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def flows(graph):
    """(program, base name, read or write) of all data edges."""
    nodes = {node["id"]: node for node in graph["nodes"]}
    found = set()
    for edge in graph["edges"]:
        source, target = nodes[edge["source"]], nodes[edge["target"]]
        if {source["kind"], target["kind"]} != {"process", "file"}:
            continue
        process, file = (source, target) if source["kind"] == "process" else (target, source)
        kinds = set(edge["kind"].split("|"))
        name = os.path.basename(file["path"])
        if kinds & {"read", "execute", "map"} and process is target:
            found.add((process["program"], name, "read"))
        if kinds & {"write", "create", "rename"}:
            found.add((process["program"], name, "write"))
    return found


def check_exports(checks, db, base, graph):
    """Other programs read what was written, and find as much in it."""
    wanted = len(graph["nodes"]), len(graph["edges"])
    cyjs = json.loads(wfdag("--cyjs", db))["elements"]
    checks.equal("Cytoscape", (len(cyjs["nodes"]), len(cyjs["edges"])), wanted)
    checks.equal("attributes of Cytoscape", [node["data"]["kind"] for node in cyjs["nodes"]],
                 [node["kind"] for node in graph["nodes"]])
    (base / "link").symlink_to(base / "target")
    wfdag("--json", "-o", base / "link", "--dot", "-o", "/dev/null", db)
    checks.check("a link stays one, and a device", (base / "link").is_symlink() and
                 (base / "target").stat().st_size > 0 and pathlib.Path("/dev/null").is_char_device())
    wfdag("-o", base / "x.graphml", "--svg", "-o", base / "x.svg", "-o", base / "x.dot", db)
    checks.check("a picture", (base / "x.svg").read_bytes().startswith(b"<?xml"))
    counted = subprocess.run(["gc", "-n", "-e", base / "x.dot"], capture_output=True, text=True, timeout=60,
                             check=True).stdout.split()
    checks.equal("DOT", tuple(int(n) for n in counted[:2]), wanted)
    try:
        import networkx
    except ImportError:
        print("skipped: no networkx here")
        return
    read = networkx.read_graphml(base / "x.graphml")
    checks.equal("GraphML", (read.number_of_nodes(), read.number_of_edges()), wanted)
    checks.check("GraphML: no cycle", networkx.is_directed_acyclic_graph(read))
    for node in graph["nodes"]:
        got = dict(read.nodes[node["id"]])
        checks.equal(f"GraphML: {node['id']}", got, {k: v for k, v in node.items() if k != "id"})


def main():
    need_fuse()
    need("dot", "gc")
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="ftrac-case-") as base:
        base = pathlib.Path(base)
        db = trace(base)
        graph = json.loads(wfdag("--json", "--include", f"path:{base}/work/*", db))
        found = flows(graph)
        script = {edge for edge in found if edge[0] in ("sh", "script", "dash", "bash")}
        checks.equal("edges", found - script, {edge for edge in EDGES if edge[0] != "script"})
        checks.check("the shell reads its script", any(edge[1:] == ("script", "read") for edge in script))
        checks.check("no cycle", is_acyclic(graph))
        everything = json.loads(wfdag("--json", "--all", db))
        checks.check("all: no cycle", is_acyclic(everything))
        checks.check("all: more files", len(everything["nodes"]) >= len(graph["nodes"]))
        checks.equal("the same twice", wfdag("--json", "--all", db), wfdag("--json", "--all", db))
        tree = json.loads(wfdag("--json", "--tree", db))
        checks.check("tree: processes alone", {n["kind"] for n in tree["nodes"]} == {"process"})
        check_exports(checks, db, base, json.loads(wfdag("--json", db)))
    checks.end()


if __name__ == "__main__":
    main()
