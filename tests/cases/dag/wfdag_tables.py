#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 15
# long: --long
"""wfdag's analyses beside what is computed here from its own graph and from the views; parts and folds of a
graph; the command line."""
import collections
import json
import os
import pathlib
import sqlite3
import subprocess
import tempfile

from dagtraces import exports
from ftractest import Checks, Mount, need_fuse
from sample import LONG, some
from workflows import traced

WFDAG = os.environ.get("WFDAG", "build/dag/wfdag")
MAKEFILE = """all: sum
part%: input
\tsort input > $@.tmp
\tmv $@.tmp $@
sum: part1 part2 part3 part4
\tcat part1 part2 part3 part4 > sum
\ttest -e missing || true
"""


SOURCES = 24  # files of a compile, of so many functions
FUNCTIONS = 300 if LONG else 100


def made(base, files):
    """The trace of a make."""
    work = base / "work"
    work.mkdir(parents=True)
    for name, text in files.items():
        (work / name).write_text(text)
    with Mount(base=base) as mount:
        subprocess.run(["make", "-s", "-j2", "-C", mount(work)], check=True, timeout=500)
    return mount.db


def trace(base):
    return made(base, {"Makefile": MAKEFILE, "input": "one\ntwo\n" * 20000})


def compile_trace(base):
    """Of a long run: unknown times, as the start of the first process, are a small part of it."""
    sources = {f"s{n}.c": "".join(f"int f{n}_{k}(int x) {{ return x * {k} + f{n}_{k - 1}(x - 1); }}\n" if k else
                                  f"int f{n}_0(int x) {{ return x; }}\n" for k in range(FUNCTIONS))
               for n in range(SOURCES)}
    objects = " ".join(f"s{n}.o" for n in range(SOURCES))
    return made(base, {"Makefile": f"all.a: {objects}\n\tar cr $@ {objects}\n%.o: %.c\n\tcc -O2 -c -o $@ $<\n",
                       **sources})


def run(*args):
    return subprocess.run([WFDAG, *map(str, args)], capture_output=True, text=True, timeout=60, check=False)


def wfdag(*args):
    done = run(*args)
    assert done.returncode == 0, done.stderr
    return done.stdout


def graph_of(*args):
    return json.loads(wfdag("--json", *args))


def rows_of(analysis, *args):
    table = json.loads(wfdag(analysis, "--format", "json", *args))
    assert table["schema"] == "ftrac.dag/1" and table["table"] == analysis
    return table["rows"]


def check_degree(checks, db, graph):
    into, out = collections.Counter(), collections.Counter()
    for edge in graph["edges"]:
        out[edge["source"]] += 1
        into[edge["target"]] += 1
    checks.equal("degree", {row["node"]: (row["in"], row["out"], row["degree"]) for row in rows_of("degree", db)},
                 {node["id"]: (into[node["id"]], out[node["id"]], into[node["id"]] + out[node["id"]])
                  for node in graph["nodes"]})


def check_weight(checks, db, graph):
    moved = collections.Counter()
    for edge in graph["edges"]:
        moved[edge["source"]] += edge.get("bytes", 0)
        moved[edge["target"]] += edge.get("bytes", 0)
    rows = rows_of("weight", db)
    checks.equal("weight by bytes", {row["node"]: row["weight_bytes"] for row in rows},
                 {node["id"]: moved[node["id"]] for node in graph["nodes"]})
    checks.equal("the largest first", [row["weight_bytes"] for row in rows],
                 sorted((row["weight_bytes"] for row in rows), reverse=True))
    sizes = {row["node"]: row["weight_bytes"] for row in rows_of("weight", "--by", "size", db)}
    checks.equal("weight by size", {node["id"]: sizes[node["id"]] for node in graph["nodes"]},
                 {node["id"]: node.get("rss_bytes", node.get("size_bytes")) for node in graph["nodes"]})


def check_order(checks, db, graph):
    place = {row["node"]: (row["order"], row["level"]) for row in rows_of("order", db)}
    checks.equal("order has all nodes", sorted(place), sorted(node["id"] for node in graph["nodes"]))
    checks.check("causes come first", all(place[edge["source"]][0] < place[edge["target"]][0] and
                                          place[edge["source"]][1] < place[edge["target"]][1]
                                          for edge in graph["edges"]))


def check_path(checks, db):
    steps = rows_of("critical-path", db)
    checks.check("the path has no gaps", all(a["end_ns"] == b["start_ns"] for a, b in zip(steps, steps[1:])))
    with sqlite3.connect(db) as sql:
        # What is read of a start in /proc may be a clock tick early.
        ends = dict(sql.execute("SELECT id, end_ns FROM process WHERE start_ns >= (SELECT value FROM trace WHERE "
                                "key = 'start_ns') - 10000000 AND end_ns IS NOT NULL"))
    checks.equal("it ends with the last exit", steps[-1]["end_ns"], max(ends.values()))
    checks.check("the last one has no slack", steps[-1]["slack_ns"] == 0)
    checks.check("slack and gain are no less than 0", all(step["slack_ns"] >= 0 and step["gain_ns"] >= 0
                                                         for step in steps))
    facts = {row["fact"]: row["value"] for row in rows_of("makespan", db)}
    checks.equal("makespan has its length", facts["critical_path_ns"], steps[-1]["end_ns"] - steps[0]["start_ns"])
    checks.equal("and the number of its steps", facts["critical_steps"], len(steps))
    marked = [node for node in graph_of(db)["nodes"] if node["critical"]]
    checks.check("in the graph the same processes are critical", {step["process"] for step in steps} >= {
        node["trace_id"] for node in marked if node["kind"] == "process"} and marked)


def check_lifecycle(checks, db):
    roles = {os.path.basename(row["path"]): row for row in rows_of("lifecycle", db)}
    wanted = {"Makefile": "input", "input": "input", "sum": "output", **{f"part{n}": "intermediate" for n in range(1, 5)}}
    checks.equal("lives of files", {name: row["role"] for name, row in roles.items() if name in wanted}, wanted)
    checks.equal("never read", [name for name, row in roles.items() if row["never_read"]], ["sum"])
    checks.check("parts may go after cat", all(roles[f"part{n}"]["delete_after_ns"] == roles[f"part{n}"]["last_use_ns"]
                                              for n in range(1, 5)))


def check_clusters(checks, db):
    found = {(row["kind"], row["pattern"]): row["count"] for row in rows_of("clusters", db)}
    checks.check("the files of four are read by one", found.get(("fan-in", "mv")) == 4, found)
    checks.check("four read the same file", found.get(("fan-out", "sort")) == 4, found)


def check_parallelism(checks, db):
    rows = rows_of("parallelism", "--interval", "0.001", db)
    facts = {row["fact"]: row["value"] for row in rows_of("makespan", db)}
    checks.equal("most at once", max(row["working_max"] for row in rows), facts["most_working"])
    checks.check("means are no more than the most", all(row["working_mean"] <= row["working_max"] + 1e-9 for row in rows))


def check_whatif(checks, db):
    def predicted(*args):
        return {row["via"]: row["time_ns"] for row in rows_of("whatif", *args, db)[:2]}
    same, one, fast = predicted(), predicted("--cores", "1"), predicted("--faster", "cc1=4x")
    checks.check("the same again", abs(same["predicted"] / same["measured"] - 1) < .1, same)
    checks.check("one core is not faster", one["predicted"] >= same["predicted"] * .9, (one, same))
    checks.check("faster programs are not slower", fast["predicted"] <= same["predicted"] * 1.01, (fast, same))


def check_parts(checks, db, graph):
    names = {node["id"]: os.path.basename(node.get("path", "")) for node in graph["nodes"]}
    above = graph_of("--ancestors-of", "part1", db)
    files = {names[node["id"]] for node in above["nodes"] if node["kind"] == "file"}
    checks.check("what leads to part1", "input" in files and not files & {"part2", "sum"}, files)
    below = {node["id"] for node in graph_of("--descendants-of", "part1", db)["nodes"]}
    checks.check("what comes from it", any(names[node] == "sum" for node in below) and
                 not any(names[node] == "part2" for node in below))
    between = graph_of("--between", "part1", "--between", "sum", db)
    checks.equal("between two files", sorted(names[node["id"]] for node in between["nodes"]), ["", "part1", "sum"])
    missing = [node for node in graph_of("--ghosts", db)["nodes"] if node["kind"] == "ghost"]
    checks.check("missing names", any(node["path"].endswith("/work/missing") for node in missing), missing)
    phases = graph_of("--group-by", "phase", db)
    checks.check("a node for each phase", any(node.get("group") == "sort" or node.get("group", "").startswith("part*")
                                             for node in phases["nodes"]), [n.get("group") for n in phases["nodes"]])
    checks.equal("nothing is lost by folding", sum(node["members"] for node in phases["nodes"]
                                                  if node["kind"] == "process"),
                 sum(node["kind"] == "process" for node in graph_of("--fold", db)["nodes"]))
    few = graph_of("--max-nodes", "5", db)
    checks.check("folded to few", len(few["nodes"]) < len(graph["nodes"]))
    dot = wfdag("--max-nodes", "5", "--dot", db)
    checks.check("which wfdag says", " nodes folded" in dot and "nodes folded" in run(
        "--max-nodes", "5", "--dot", db).stderr)
    reduced = graph_of("--reduce", db)
    checks.check("reduced: the same nodes, fewer edges", len(reduced["nodes"]) == len(graph["nodes"]) and
                 len(reduced["edges"]) < len(graph["edges"]))


# Two programs with ranks of 3 and 2 processes, as launchers of MPI name them; a rank starts another program.
RANKS = """\
import os, subprocess, sys
for variable, n in ("PMI_RANK", 3), ("OMPI_COMM_WORLD_RANK", 2):
    subprocess.run([sys.executable, "launcher.py", variable, str(n)], check=True)
open("last", "w").write(open("sum").read())
"""
LAUNCHER = """\
import os, subprocess, sys
variable, n = sys.argv[1], int(sys.argv[2])
ranks = [subprocess.Popen([sys.executable, "rank.py"], env={**os.environ, variable: str(rank)}) for rank in range(n)]
assert not any([rank.wait() for rank in ranks])
"""
RANK = """\
import os, subprocess
given = os.environ.get("PMI_RANK") or os.environ["OMPI_COMM_WORLD_RANK"]
rank = int(given)
open("input").read()
with open("sum", "r+") as file:
    file.seek(100 * rank)
    file.write("x" * (10 + rank))
open(f"own.{rank}", "w").write("y" * 20)
if rank == 1:
    subprocess.run(["cp", "input", "copied"], check=True)
"""


def check_ranks(checks, base):
    """--group-by ranks: the ranks of each launcher are one node, all others stay; edges and numbers are sums of those of --fold."""
    work = base / "ranks"
    work.mkdir()
    for name, text in ("ranks.py", RANKS), ("launcher.py", LAUNCHER), ("rank.py", RANK), ("input", "a line\n" * 1000), ("sum", "-" * 1000):
        (work / name).write_text(text)
    traced(base / "ranks.db", ["/usr/bin/python3", "ranks.py"], work)
    apart, joined = (graph_of(*words, base / "ranks.db") for words in (["--fold"], ["--fold", "--group-by", "ranks"]))
    groups = [node for node in joined["nodes"] if "(ranks of" in node.get("group", "")]
    checks.equal("the ranks of two jobs", sorted((node["kind"], node["members"]) for node in groups), [("process", 2), ("process", 3)])
    singles = {node["id"] for node in joined["nodes"] if node["kind"] == "process" and node["members"] == 1}
    ranks = {node["id"] for node in apart["nodes"] if node["kind"] == "process"} - singles
    checks.check(f"{len(singles)} other processes stay apart", len(ranks) == 5 and len(singles) >= 5, (ranks, singles))
    # Files that the same nodes use may be one, too: so sums over all.
    for kind in "write", "read", "fork":
        def total(graph, inside):
            return sum(edge.get("bytes") or 0 for edge in graph["edges"] if kind in edge["kind"].split("|") and
                       {edge["source"], edge["target"]} & inside), sum(
                           edge["members"] for edge in graph["edges"] if kind in edge["kind"].split("|") and
                           {edge["source"], edge["target"]} & inside)
        ours, theirs = total(joined, {node["id"] for node in groups}), total(apart, ranks)
        checks.check(f"edges of ranks, {kind}: {theirs}", ours == theirs and theirs[1] > 0, (ours, theirs))
    checks.equal("what they used of the processor", round(sum(node["cpu_s"] for node in groups), 6),
                 round(sum(node["cpu_s"] for node in apart["nodes"] if node["id"] in ranks), 6))
    checks.check("each group names its program", all(node["group"].startswith("rank.py (") or node["group"].startswith("python3")
                                                     for node in groups), [node["group"] for node in groups])


def check_usage(checks, base, db):
    for status, args, words in (
            (2, [db], "no output is given"), (2, ["nonsense"], "neither an analysis nor a trace"),
            (2, ["degree", "--sort", "nosuch", db], "no column 'nosuch'"), (2, ["--dot", "--width", "x", db], "width"),
            (2, ["--dot", "--between", "a", db], "two ends"), (2, ["--dot", "--group-by", "nosuch", db], "nosuch"),
            (2, ["--dot", "--phase", "sorr", db], "no phase 'sorr'; the phases are "), (2, ["--dot", "--expand", "nosuch", db], "no phase 'nosuch'"),
            (2, ["critical-path", "--job", "nosuch", db], "no job 'nosuch'; the "), (2, ["changes", "--phase", "nosuch", db], "no phase"),
            (2, ["order", "--dot", db], "give --dot -o FILE"), (2, ["--dot", "--json", db], "in one output: give --"),
            (2, ["whatif", "--cores", "0", db], "--cores"), (2, ["whatif", "--faster", "x", db], "--faster"),
            (2, ["--dot", "--top", "3", db], "analysis"), (2, ["--dot", "--max-nodes", "-1", db], "--max-nodes"),
            (1, ["--dot", "--ancestors-of", "nosuch", db], "no node matches 'nosuch'"),
            (1, ["--dot", "-o", base / "no/where", db], "cannot write"), (1, ["--dot", base / "none.db"], "none.db"),
            (1, ["--dot", "--fold", "--reduce", "--group-by", "all", db], None)):
        done = run(*args)
        label = " ".join(map(str, args))
        if words is None:
            checks.check(f"{label}: ends well or says why", done.returncode == 0 or len(done.stderr.splitlines()) == 1)
            continue
        checks.equal(f"{label}: exit status", done.returncode, status)
        checks.check(f"{label}: one line that says why", len(done.stderr.splitlines()) == 1 and words in done.stderr,
                     done.stderr)
    for output in some((name for name, is_picture in exports().items() if not is_picture), 3):
        checks.equal(f"--{output}: the same twice", wfdag(f"--{output}", db), wfdag(f"--{output}", db))


def main():
    need_fuse()
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="ftrac-case-") as base:
        base = pathlib.Path(base)
        db = trace(base)
        graph = graph_of(db)
        check_degree(checks, db, graph)
        check_weight(checks, db, graph)
        check_order(checks, db, graph)
        check_path(checks, db)
        check_lifecycle(checks, db)
        check_clusters(checks, db)
        check_parallelism(checks, db)
        check_whatif(checks, compile_trace(base / "compile"))
        check_parts(checks, db, graph)
        check_ranks(checks, base)
        check_usage(checks, base, db)
    checks.end()


if __name__ == "__main__":
    main()
