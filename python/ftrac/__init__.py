# SPDX-License-Identifier: MIT
"""Traces of workflows, as ftrac writes them, for Python.

    import ftrac

    trace = ftrac.open("trace.db")
    trace.processes                         # a DataFrame of pandas for each view of the trace
    trace.frame("op", ["name", "latency_ns"], where="bytes > ?", values=[4096])
    for row in trace.rows("file"):          # the same without pandas
        print(row.path, row.size_last)
    trace.sql("SELECT name, count(*) AS n FROM op GROUP BY name")
    trace.quantiles("latency_ns", by="name")
    trace.critical_path(), trace.steps(), trace.table("sys", by="operation")   # by wfdag and wfstat
    trace.graph()                           # for networkx
    trace.plot.timeline()

What the columns mean is in ftrac-db(5).
"""
from typing import Any, Iterable, Union

from .errors import FtracError, FtracWarning, MissingPackage
from .paths import Path, expand
from .trace import Trace

__version__ = "0.1.0"
__all__ = ["FtracError", "FtracWarning", "MissingPackage", "Trace", "open"]

ENGINES = "pandas", "dask"


def open(*traces: Union[Path, Iterable[Path]], engine: str = "pandas", scheduler: Any = None, foreign: bool = False,
         strict: bool = False) -> Trace:
    """Opens traces for reading: paths, globs and directories (with all that is below them); by default trace.db.

    engine     "dask": each trace is a partition, and the workers of Dask read it where it lies
    scheduler  of Dask: an address, a Client, "threads", "processes" or "synchronous"; by default what Dask takes
    foreign    read traces of other users, too
    strict     an error, not an FtracWarning, if a trace does not have all of its run
    """
    if engine not in ENGINES:
        raise FtracError(f"there is no engine '{engine}'; there are {' and '.join(ENGINES)}")
    if scheduler is not None and engine != "dask":
        raise FtracError("a scheduler is for engine='dask'")
    paths = expand(*(traces or ("trace.db",)))
    if engine == "pandas":
        return Trace(paths, foreign, strict)
    from .cluster import DaskTrace
    return DaskTrace(paths, scheduler, foreign, strict)
