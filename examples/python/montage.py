#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A trace in Python, cell by cell (# %%), as Jupyter, VS Code and Spyder read it; or as a program:

    examples/python/montage.py [TRACE [DIRECTORY]]

TRACE is by default trace.db, such as examples/montage/run.sh leaves it; the pictures go to DIRECTORY, by default
examples/python/figures.
"""
# %% The trace
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "python"))
import ftrac
import networkx

trace = ftrac.open(sys.argv[1] if len(sys.argv) > 1 else "trace.db")
figures = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else HERE / "figures"
figures.mkdir(exist_ok=True)
trace  # Jupyter shows the facts of the run


def save(axes, name):
    axes.figure.savefig(figures / f"{name}.png", dpi=80)


# %% Which programs ran, how often, and what they used
processes = trace.processes
print(processes.groupby("step", observed=True).agg(
    processes=("id", "size"), cpu=("cpu_ns", "sum"), memory=("rsspeak_bytes", "max")).sort_values("cpu", ascending=False).head(8))

# %% When they ran
save(trace.plot.timeline(), "timeline")

# %% What was read and written, and when
print(trace.steps()[["step", "tasks", "read_bytes", "written_bytes"]].tail(8))
save(trace.plot.bandwidth(), "bandwidth")
save(trace.plot.steps(), "steps")

# %% How long operations took: exact quantiles, and their distributions
print(trace.quantiles("latency_ns", by="name", q=[0.5, 0.99]).sort_values("sum", ascending=False).head(6))
save(trace.plot.latency(), "latency")

# %% Files that several processes read: a join of two views
accesses, files = trace.accesses, trace.files
reads = accesses[accesses["reads"]].groupby("file").agg(readers=("process", "nunique"), read=("bread", "sum"))
shared = reads.join(files.set_index("id")[["path", "size_last"]]).sort_values("read", ascending=False)
print(shared[shared["readers"] > 1].head(5).to_string(max_colwidth=40))

# %% What the end of the run has waited for
path = trace.critical_path()
print(path.groupby("step", observed=True)[["time_ns", "gain_ns"]].sum().sort_values("time_ns", ascending=False).head(5))

# %% The graph: how deep the workflow is, and which file most depends on
graph = trace.graph()
print(f"{graph}; {networkx.dag_longest_path_length(graph, weight=None, default_weight=1)} edges deep")
data = [(name, len(networkx.descendants(graph, name))) for name, kind in graph.nodes(data="kind") if kind == "file"]
name, after = max(data, key=lambda pair: (pair[1], pair[0]))
print(f"{after} nodes depend on {graph.nodes[name]['path']}")
