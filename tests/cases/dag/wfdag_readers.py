#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 13
# long: --long
"""wfdag: other programs read each of its exports, and find in it what --json says: the same
nodes and edges with the same attributes, also where names are such that a careless export breaks."""
import collections
import csv
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

from dagtraces import Actor, compile_c, exports, graph_of, wfdag
from ftractest import Checks, Mount, need_fuse
from sample import some
from hostile import NAMES as HOSTILE

NAMES = [
    b"new\nline", b"tab\there", b"return\r", b'quo"te', b"apo'strophe", b"back\\slash", b"at the end\\",
    b"\\N\\G\\E\\l\\x0a", b"<b>bold", b"<", b"a&b", b"&amp;", b"&#10;", b"]]>", b"<!-- x", b"<![CDATA[",
    b"invalid \xff\xfe", b"cut \xc3", b"overlong \xc0\xaf", b"surrogate \xed\xa0\x80", b"beyond \xf4\x90\x80\x80",
    b"\x01\x02\x1b[31m", b"delete\x7f", "clef \U0001d11e".encode(), "face \U0001f600".encode(),
    "\u05e9\u05dc\u05d5\u05dd".encode(), "over\u202eride".encode(), "next\u0085line".encode(),
    "\u2028line".encode(), "none \ufffe".encode(), "none \uffff".encode(), "end \U0001ffff".encode(),
    "\ufeffmark".encode(), "e\u0301".encode(), b" led and trailed ", b"a,b;c", b"%s%n%d", b"$HOME `id`", b"{a|b}",
    b"a -> b [label=\"x\"]", b"# x", b"; x", b"=1+1", b"null", b"-1", b"1e5", b"true", "\u00e9".encode() * 127,
] + HOSTILE[:16] # each byte
SHAPES = [(), ("--fold",), ("--metadata",), ("--tree",), ("--all",), ("--all", "--metadata", "--fold")]
PROGRAM = """#include <fcntl.h>
#include <unistd.h>
int main(void)
{
	int fd = open("made by it", O_WRONLY | O_CREAT, 0644);
	return write(fd, "x", 1) != 1;
}
"""


def text_of(name):
    """Bytes as attributes have them: what is not UTF-8, control characters, what XML lacks, and a backslash
    that would look like one of these, as \\xNN."""
    found = ""
    while name:
        for n in range(1, 5):
            try:
                char = name[:n].decode()
            except UnicodeDecodeError:
                continue
            bad = char < " " or char in ("\x7f", "\ufffe", "\uffff") or name[:2] == b"\\x"
            found += "".join(f"\\x{byte:02x}" for byte in name[:n]) if bad else char
            name = name[n:]
            break
        else:
            found += f"\\x{name[0]:02x}"
            name = name[1:]
    return found


def trace(base):
    """Each name is that of a file; some are those of programs, and arguments."""
    work = base / "work"
    work.mkdir()
    program = compile_c(base, "program", PROGRAM)
    with Mount(base=base) as mount:
        os.chdir(base)
        actor = Actor(mount(work))
        for name in NAMES:
            actor(f"w({name!r})")
        actor.end()
        actor = Actor(mount(work))
        for name in NAMES:
            actor(f"r({name!r})", "w('sum')")
        actor.end()
        for name in NAMES:
            path = os.path.join(os.fsencode(mount(work)), b"run " + name[:200])
            shutil.copyfile(program, path)
            os.chmod(path, 0o755)
            subprocess.run([path, name, "\u00e9" * 3000], cwd=mount(work), check=True, timeout=60)
    return mount.db


def same(value, other):
    """Readers make of texts what they like: numbers are compared as such.  What is false may be left out."""
    if isinstance(value, bool):
        return str(other).lower() in ("true", "1", "1.0") if value else \
            str(other).lower() in ("false", "0", "0.0", "", "none")
    if isinstance(value, (int, float)):
        try:
            return abs(float(other) - value) <= 1e-9 * max(1, abs(value))
        except (TypeError, ValueError):
            return False
    return value == other


def compare(checks, label, graph, nodes, edges):
    """nodes {id: attributes}, edges [(source, target, attributes)]; others than ours do not matter."""
    wanted = {node["id"]: {k: v for k, v in node.items() if k != "id"} for node in graph["nodes"]}
    checks.equal(f"{label}: nodes", sorted(nodes), sorted(wanted))
    checks.equal(f"{label}: edges", sorted(tuple(edge[:2]) for edge in edges),
                 sorted((edge["source"], edge["target"]) for edge in graph["edges"]))
    wrong = [(key, name, value, nodes[key].get(name)) for key, attributes in wanted.items() if key in nodes
             for name, value in attributes.items() if not same(value, nodes[key].get(name))]
    checks.equal(f"{label}: attributes of nodes", wrong[:3], [])
    extra = [(key, name, value) for key, attributes in nodes.items() if key in wanted
             for name, value in attributes.items()
             if name in KNOWN and name not in wanted[key] and value not in (None, "", False) and value == value]
    checks.equal(f"{label}: attributes of nodes that are not there", extra[:3], [])
    ours, theirs = collections.defaultdict(list), collections.defaultdict(list)
    for edge in graph["edges"]:
        ours[edge["source"], edge["target"]].append(edge)
    for source, target, attributes in edges:
        theirs[source, target].append(attributes)
    wrong = [(ends, edge) for ends, some in ours.items() for edge in some
             if not any(all(same(value, other.get(name)) for name, value in edge.items()
                            if name not in ("source", "target")) for other in theirs[ends])]
    checks.equal(f"{label}: attributes of edges", wrong[:2], [])
    return sum(len(attributes) for attributes in wanted.values())


KNOWN = {"program", "command", "exe", "pid", "path", "file_kind", "size_bytes", "created", "deleted", "exit_code",
         "exit_signal", "cpu_s", "rss_bytes", "end_s", "life_s"}


def missing(what):
    print(f"skipped: {what}")


def python_with(module):
    """A Python that has the module: it may be installed for that of the system only."""
    for python in "python3", "/usr/bin/python3":
        if shutil.which(python) and subprocess.run([python, "-c", f"import {module}"], capture_output=True,
                                                   timeout=60, check=False).returncode == 0:
            return python
    missing(f"no {module} for Python here (python3-{module})")
    return None


def results_of(argv, **options):
    done = subprocess.run(list(map(str, argv)), capture_output=True, timeout=120, check=False, **options)
    assert done.returncode == 0, (argv[:2], done.stderr[-500:])
    return done.stdout


# ---- readers: (nodes, edges) of a file, or None ----

# All of them say what they have read in the same JSON.
NETWORKX = """
import json, networkx, sys
g = getattr(networkx, "read_" + sys.argv[1])(sys.argv[2], **json.loads(sys.argv[3]))
print(json.dumps([{str(n): dict(d) for n, d in g.nodes(data=True)},
                  [[str(a), str(b), dict(d)] for a, b, d in g.edges(data=True)]]))
"""
IGRAPH = """
import igraph, json, sys
g = igraph.Graph.Read(sys.argv[2], format=sys.argv[1])
ids = [str(v) for v in g.vs["id"]]
# For a boolean that is not there it has False.
print(json.dumps([{i: v.attributes() for i, v in zip(ids, g.vs)},
                  [[ids[e.source], ids[e.target], e.attributes()] for e in g.es]]))
"""
CYTOSCAPE = """
const cytoscape = require("cytoscape"), fs = require("fs");
const cy = cytoscape({ headless: true, elements: JSON.parse(fs.readFileSync(process.argv[2], "utf8")).elements });
const nodes = {};
cy.nodes().forEach(n => { nodes[n.id()] = n.data(); });
console.log(JSON.stringify([nodes, cy.edges().map(e => [e.source().id(), e.target().id(), e.data()])]));
"""


def by_networkx(path, how, **options):
    python = python_with("networkx")
    return python and json.loads(results_of([python, "-c", NETWORKX, how, path, json.dumps(options)]))


def by_igraph(path, how):
    python = python_with("igraph")
    return python and json.loads(results_of([python, "-c", IGRAPH, how, path]))


def by_graphviz(path):
    """dot itself, which says as JSON what it has read; a backslash is two there."""
    if not shutil.which("dot"):
        return missing("no 'dot' here (graphviz)")
    read = json.loads(results_of(["dot", "-Tdot_json", path]))
    for element in read.get("objects", []) + read.get("edges", []):
        element.update({name: value.replace("\\\\", "\\") for name, value in element.items()
                        if isinstance(value, str)})
    names = {node["_gvid"]: node["name"] for node in read.get("objects", ()) if "nodes" not in node}
    return ({node["name"]: node for node in read.get("objects", ()) if "nodes" not in node},
            [(names[edge["tail"]], names[edge["head"]], edge) for edge in read.get("edges", ())])


def by_cytoscape(path, scratch):
    if not shutil.which("node") or not shutil.which("npm"):
        return missing("no 'node' and 'npm' here")
    where = scratch / "cytoscape"
    if not where.exists():
        where.mkdir()
        done = subprocess.run(["npm", "install", "--prefer-offline", "--no-audit", "--no-fund", "cytoscape"], cwd=where,
                              capture_output=True, timeout=120, check=False)
        if done.returncode:
            (where / "not").touch()
    if (where / "not").exists():
        return missing("no cytoscape to be had from npm here")
    (where / "read.js").write_text(CYTOSCAPE)
    return json.loads(results_of(["node", "read.js", path], cwd=where))


def count_by_gc(checks, label, path, graph):
    if not shutil.which("gc"):
        return missing("no 'gc' here (graphviz)")
    counted = results_of(["gc", "-n", "-e", path]).split()
    return checks.equal(f"{label}: counted by gc", [int(n) for n in counted[:2]],
                        [len(graph["nodes"]), len(graph["edges"])])


def check_xml(checks, label, path):
    if not shutil.which("xmllint"):
        return missing("no 'xmllint' here (libxml2-utils)")
    done = subprocess.run(["xmllint", "--noout", path], capture_output=True, timeout=60, check=False)
    return checks.equal(f"{label}: xmllint", (done.returncode, done.stderr[:500]), (0, b""))


def check_drawn(checks, label, read, graph):
    """Nodes for yEd have shapes and labels."""
    for node in graph["nodes"] if read else ():
        drawn = read[0].get(node["id"], {})
        wanted = node["id"] if not node.get("path", node.get("program")) else node["program"] if node["kind"] == "process" else \
            node["path"].rpartition("/")[2] or node["path"]
        checks.equal(f"{label}, {node['id']}: its shape and its label for yEd", (drawn.get("shape_type"), drawn.get("label")),
                     ("ellipse" if node["kind"] == "process" else "rectangle", wanted if "group" not in node else node["group"]))


# With --json, which they are compared with, these are all exports that are no pictures.
READ = ("dot", "graphml", "yed", "cyjs", "gml", "csv")
# What has no nodes and edges has a case of its own.
ELSEWHERE = {"collapsed": "stacks", "speedscope": "stacks", "prov": "provenance", "rocrate": "crate"}


def read_all(checks, db, base, options, found):
    label = " ".join(options) or "as it is"
    graph = graph_of(db, *options)
    files = {name: base / f"x.{name}" for name in READ}
    wfdag(*(part for name, path in files.items() for part in (f"--{name}", "-o", path)), *options, db)
    count_by_gc(checks, label, files["dot"], graph)
    check_xml(checks, label, files["graphml"])
    check_xml(checks, label, files["yed"])
    check_drawn(checks, label, by_networkx(files["yed"], "graphml"), graph)
    elements = json.loads(files["cyjs"].read_bytes())["elements"]
    readers = {
        "dot by Graphviz": lambda: by_graphviz(files["dot"]),
        "GraphML by networkx": lambda: by_networkx(files["graphml"], "graphml"),
        "GraphML by igraph": lambda: by_igraph(files["graphml"], "graphml"),
        "GraphML for yEd by networkx": lambda: by_networkx(files["yed"], "graphml"),
        "cyjs as it stands": lambda: (
            {node["data"]["id"]: node["data"] for node in elements["nodes"]},
            [(edge["data"]["source"], edge["data"]["target"], edge["data"]) for edge in elements["edges"]]),
        "cyjs by networkx": lambda: by_cyjs_networkx(files["cyjs"]),
        "cyjs by cytoscape": lambda: by_cytoscape(files["cyjs"], base),
        "GML by networkx": lambda: by_networkx(files["gml"], "gml", label="label"),
        "CSV by Python": lambda: by_csv(files["csv"]),
    }
    for name, read in readers.items():
        try:
            got = read()
        except (AssertionError, ValueError, KeyError) as e:  # it has refused
            checks.check(f"{label}, {name}: it can be read", False, e)
            continue
        if got:
            found[name] += compare(checks, f"{label}, {name}", graph, *got)
    return graph


def by_csv(path):
    with open(path, encoding="utf-8", newline="") as file:
        rows = [{name: value for name, value in row.items() if value} for row in csv.DictReader(file, strict=True)]
    return ({row["id"]: row for row in rows if row["element"] == "node"},
            [(row["source"], row["target"], row) for row in rows if row["element"] == "edge"])


def by_cyjs_networkx(path):
    python = python_with("networkx")
    code = NETWORKX.replace('getattr(networkx, "read_" + sys.argv[1])(sys.argv[2], **json.loads(sys.argv[3]))',
                            "networkx.cytoscape_graph(json.load(open(sys.argv[2])))")
    return python and json.loads(results_of([python, "-c", code, "", path, ""]))


def check_names(checks, graph, top):
    """The names in --json itself."""
    paths = {node["path"]: node for node in graph["nodes"] if node["kind"] == "file"}
    programs = {node["program"] for node in graph["nodes"] if node["kind"] == "process"}
    for name in NAMES:
        checks.check(f"the file {name!r} is there", f"{top}/{text_of(name)}" in paths)
        checks.check(f"the program {name!r} is there", text_of(b"run " + name[:200]) in programs)
    for node in graph["nodes"]:
        for value in node.values():
            checks.check(f"{node['id']}: no control character",
                         not isinstance(value, str) or not any(c < " " or c == "\x7f" for c in value), node)


def main():
    need_fuse()
    checks = Checks()
    base = pathlib.Path(tempfile.mkdtemp(prefix="ftrac-case-"))
    checks.equal("each export has a reader here", sorted([*READ, *ELSEWHERE, "json"]),
                 sorted(name for name, is_picture in exports().items() if not is_picture))
    db, found = trace(base), collections.Counter()
    for options in [(), *some(SHAPES[1:], 3)]:
        graph = read_all(checks, db, base, options, found)
        if not options:
            check_names(checks, graph, base / "work")
    for name, n in found.items():
        print(f"{name}: {n} attributes of nodes compared")
    os.chdir("/")
    shutil.rmtree(base)
    checks.end()


if __name__ == "__main__":
    main()
