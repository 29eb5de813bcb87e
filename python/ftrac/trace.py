# SPDX-License-Identifier: MIT
"""One trace, or several that are read together, by pandas. dask.py has the same on other machines."""
import functools
import warnings
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Union

from . import frames, html, kinds, parquet, quantiles, reading, tools, work
from .errors import FtracError, FtracWarning, package
from .graph import graph_of
from .plot import Plot

Names = Union[str, Sequence[str], None]


def view(name: str, text: str) -> Any:
    """A property: the DataFrame of a view."""
    return property(lambda self: self.frame(name), doc=f"{text} The view {name} as a DataFrame.")


class Trace:
    """Traces that were opened by ftrac.open().

    The DataFrames have the columns of the views of the same trace (ftrac-db(5)), under the same names. Columns *_ns
    are points in time (datetime64[ns, UTC]) or durations (timedelta64[ns]); sizes are bytes. What is unknown is NA,
    never 0.

    Several traces are not merged: their rows stand one below the other, with the column "trace", the path. ids are
    those of each trace, so (trace, id) is the key. Graphs and tables of wfdag and wfstat are those of one workflow:
    these programs merge the traces, and have ids of their own then.
    """

    processes = view("process", "A row for each process, from its fork to its exit; sizes in bytes.")
    images = view("image", "A row for each program that a process ran.")
    files = view("file", "A row for each file; sizes in bytes.")
    names = view("name", "A row for each name that a file had.")
    operations = view("op", "A row for each operation; offset, length, bytes in bytes. frame('op', columns) reads less.")
    handles = view("handle", "A row for each open; bread and bwrite in bytes.")
    uses = view("use", "A row for each image, handle and version of a file; bread and bwrite in bytes.")
    accesses = view("access", "A row for each process and version of a file; bread and bwrite in bytes.")
    flows = view("flow", "A row for each pair of processes that a pipe or socket connects; bytes in bytes.")
    calls = view("call", "A row for each call of a library, in traces that have them.")
    missing_names = view("ghost", "A row for each name that a process looked up and that did not exist.")
    samples = view("sample", "Memory (bytes) and time of processors of each process, once a second.")
    variables = view("environ", "A row for each stored variable of the environment.")
    runs = view("run", "A row for each run, of which a merged trace has several.")
    device_io = view("device_io", "What block devices read and wrote of files, in bytes.")

    def __init__(self, paths: Sequence[str], foreign: bool = False, strict: bool = False, quiet: bool = False) -> None:
        self.paths = list(paths)
        self.foreign = foreign
        self.plot = Plot(self)
        self._facts = self._each(work.facts)
        if not quiet:
            self._warn(strict)

    def _warn(self, strict: bool) -> None:
        if strict and self.warnings:
            raise FtracError(self.warnings[0])
        for line in self.warnings:
            warnings.warn(line, FtracWarning, stacklevel=5)

    # ---- which traces ----

    def _sources(self) -> List[work.Source]:
        return [work.source(path, len(self.paths) > 1, self.foreign) for path in self.paths]

    def _each(self, function: Callable[..., Any], *arguments: Any) -> List[Any]:
        """function(source, *arguments) of each trace."""
        return [function(source, *arguments) for source in self._sources()]

    def __len__(self) -> int:
        return len(self.paths)

    def __iter__(self) -> Iterator["Trace"]:
        """Each trace alone."""
        return map(self._alone, self.paths)

    def _alone(self, path: str) -> "Trace":
        return Trace([path], self.foreign, quiet=True)

    def __repr__(self) -> str:
        return f"<ftrac.Trace {self.paths[0]!r}{f' and {len(self) - 1} more' if len(self) > 1 else ''}>"

    def _repr_html_(self) -> str:
        return html.page(self)

    @property
    def facts(self) -> Dict[str, Any]:
        """The facts of the run (view trace), and size, the bytes of the file. Of several traces: iterate over them."""
        if len(self) > 1:
            raise FtracError(f"{len(self)} traces have facts of their own: iterate over the traces")
        return self._facts[0]

    @property
    def warnings(self) -> List[str]:
        """What the traces do not have of their runs, a line each."""
        several = len(self) > 1
        return [f"'{path}': {line}" if several else line
                for path, facts in zip(self.paths, self._facts) for line in work.doubts(facts)]

    # ---- rows ----

    def rows(self, view: str, columns: Names = None, where: Optional[str] = None, values: Sequence[Any] = (),
             **equal: Any) -> Iterator[Any]:
        """The rows of a view as they are read, without pandas: of the class that ftrac.rows has for the view, or with the
        chosen columns alone. Times are integers of nanoseconds.

        where is a condition in SQL, with ? for each of values; name="read" and process=[1, 2] are conditions, too.
        """
        chosen = reading.choice(view, columns, where, values, equal)
        for source in self._sources():
            with source.open(kinds.IN_ROWS) as opened:
                yield from reading.read_rows(opened, chosen, source.mark)

    def frame(self, view: str, columns: Names = None, where: Optional[str] = None, values: Sequence[Any] = (),
              **equal: Any) -> Any:
        """The rows of a view as a DataFrame; see rows(). Only the chosen columns are read."""
        chosen = reading.choice(view, columns, where, values, equal)
        return frames.inferred(frames.joined(self._each(work.frame, chosen)), reading.kinds_of(view))

    def sql(self, query: str, values: Sequence[Any] = ()) -> Any:
        """The answer to a query as a DataFrame; of several traces, that of each, one below the other. Columns that are
        named as times of the views are times."""
        return frames.joined(self._each(work.sql, query, tuple(values)))

    def quantiles(self, of: str = "latency_ns", by: Union[str, Sequence[str]] = "name",
                  q: Sequence[float] = (0.5, 0.95, 0.99), view: str = "op", where: Optional[str] = None,
                  values: Sequence[Any] = (), sql: Optional[str] = None, **equal: Any) -> Any:
        """Exact quantiles of the column of, in the groups of the columns by, over all traces: a DataFrame with count, sum,
        min, p50 ..., max for each group. A quantile is a value that occurs (nearest rank), as in wfstat.

        Memory does not grow with the number of rows. sql: the rows are those of this query instead of a view's."""
        if not q or not all(0 < one <= 1 for one in q):
            raise FtracError("a quantile is a number above 0 and up to 1, as 0.95")
        by = (by,) if isinstance(by, str) else tuple(by)
        chosen = reading.choice(view, (*by, of), where, values, equal) if sql is None else None
        question = quantiles.Question(of, by, chosen, sql or "", tuple(values))
        tallies = self._fold(quantiles.sum_first, quantiles.first, question)
        wanted = quantiles.wanted_buckets(tallies, q)
        counts = self._fold(quantiles.sum_second, quantiles.second, question, wanted)
        return quantiles.table(question, tallies, counts, q)

    def _fold(self, add: Callable[[List[Any]], Any], function: Callable[..., Any], *arguments: Any) -> Any:
        """The sum of function(source, *arguments) over all traces; what was added is not kept."""
        return functools.reduce(lambda total, source: add([total, function(source, *arguments)]), self._sources(), add([]))

    def to_parquet(self, directory: str, views: Names = None) -> List[str]:
        """Writes views (default: those of processes, files, operations and data) as Parquet, which DuckDB, Spark and
        Polars read: DIRECTORY/VIEW/host=HOST/run=START/FILE. Times are integers of nanoseconds there. Needs pyarrow or
        fastparquet. Returns the names of the files."""
        parquet.engine()
        return [path for paths in self._each(parquet.write, str(directory), parquet.views(views)) for path in paths]

    # ---- what wfdag and wfstat compute ----

    def table(self, name: str = "overview", by: Names = None, **options: Any) -> Any:
        """A table of wfstat as a DataFrame: table("io", by="step"), table("sys", by=["phase", "operation"],
        include="path:*.dat"). Options are those of wfstat, with _ for -."""
        return self._table("wfstat", [name], {"by": tools.by_option(by), **options})

    def analysis(self, name: str, by: Names = None, **options: Any) -> Any:
        """An analysis of wfdag as a DataFrame: makespan, degree, weight, clusters, parallelism, order, lifecycle ..."""
        return self._table("wfdag", [name], {"by": tools.by_option(by), **options})

    def _table(self, program: str, words: Sequence[str], options: Dict[str, Any]) -> Any:
        rows = tools.run(program, words, options, self.paths, self.foreign)["rows"]
        names = list(rows[0]) if rows else []
        known = {name: work.times().get(name, "duration") for name in names if name.endswith("_ns")}
        return frames.columns_of([tuple(row.values()) for row in rows], names, known)

    def critical_path(self, **options: Any) -> Any:
        """What the end of the run has waited for, step by step (wfdag critical-path)."""
        return self.analysis("critical-path", **options)

    def phases(self, **options: Any) -> Any:
        """Jobs and bytes of each phase, and its files by their use (wfstat phase)."""
        return self.table("phase", **options)

    def steps(self, **options: Any) -> Any:
        """Bytes and operations of each step (wfstat io)."""
        return self.table("io", **options)

    def graph(self, **options: Any) -> Any:
        """The graph of the workflow, a DiGraph of networkx with the attributes of wfdag --json. Options are those of
        wfdag: graph(tree=True), graph(group_by="phase"), graph(all=True)."""
        package("networkx", "a graph")
        return graph_of(tools.run("wfdag", [], options, self.paths, self.foreign))

