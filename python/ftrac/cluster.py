# SPDX-License-Identifier: MIT
"""Traces on the workers of Dask. Each trace is a partition, which a worker reads where it lies; nothing is merged, and
only what a computation needs of a column leaves SQLite. All workers must see the traces under the same paths, and have
this package."""
from typing import Any, Callable, Iterator, List, Optional, Sequence, Union

from . import frames, kinds, reading, work
from .errors import package
from .trace import Names, Trace

FAN_IN = 8  # results that are added up at once
NAMED = "threads", "processes", "synchronous", "single-threaded", "sync"


def connect(scheduler: Any) -> Any:
    """A client of distributed, or None: what dask takes by itself, which is a client if one is there."""
    if scheduler is None:
        return None
    if scheduler in NAMED:
        package("dask", "engine='dask'").config.set(scheduler=scheduler)
        return None
    distributed = package("distributed", "a scheduler")
    return scheduler if isinstance(scheduler, distributed.Client) else distributed.Client(scheduler)


class Partition:
    """Reads the partition of a trace, by its path. Dask asks for fewer columns by project_columns(), or by columns."""

    def __init__(self, chosen: reading.Choice, meta: Any, several: bool, foreign: bool) -> None:
        self.chosen, self.meta, self.several, self.foreign = chosen, meta, several, foreign

    @property
    def columns(self) -> List[str]:
        return list(self.meta.columns)

    def project_columns(self, columns: Sequence[str]) -> "Partition":
        if list(columns) == self.columns:
            return self
        return Partition(self.chosen, self.meta[list(columns)], self.several, self.foreign)

    def __call__(self, path: str, columns: Optional[Sequence[str]] = None) -> Any:
        source = work.source(path, self.several, self.foreign)
        wanted = self.columns if columns is None else list(columns)
        # A row has at least one column, also if only its trace is used.
        read = [name for name in wanted if name != "trace" or not self.several] or [self.one_column()]
        frame = work.frame(source, self.chosen._replace(columns=tuple(read)))
        return self.like_meta(frame, wanted)

    def one_column(self) -> str:
        return next(iter(reading.kinds_of(self.chosen.view)), "rowid")

    def like_meta(self, frame: Any, wanted: Sequence[str]) -> Any:
        """Columns of no known kind have the dtype that they have in the first trace."""
        known = reading.kinds_of(self.chosen.view)
        for name in wanted:
            if name not in known and name != "trace":
                frame[name] = frame[name].astype(self.meta[name].dtype)
        return frame[list(wanted)]


class DaskTrace(Trace):
    """As Trace; processes, files, frame() and so on are DataFrames of Dask, which are computed by compute(). quantiles(),
    sql() and to_parquet() run on the workers at once, as does the first look at each trace, and give what they give
    without Dask. Graphs, tables and plots are computed here by wfdag and wfstat, which merge the traces."""

    def __init__(self, paths: Sequence[str], scheduler: Any = None, foreign: bool = False, strict: bool = False,
                 quiet: bool = False) -> None:
        package("dask.dataframe", "engine='dask'")
        self.scheduler = scheduler
        self.client = connect(scheduler)
        super().__init__(paths, foreign, strict, quiet)

    def _alone(self, path: str) -> Trace:
        return DaskTrace([path], self.client, self.foreign, quiet=True)

    def _compute(self, nodes: List[Any]) -> List[Any]:
        return list(package("dask", "engine='dask'").compute(*nodes))

    def _tasks(self, function: Callable[..., Any], arguments: Sequence[Any]) -> List[Any]:
        delayed = package("dask", "engine='dask'").delayed
        # Once for all tasks, however large.
        shared = [delayed(argument, traverse=False) for argument in arguments]
        return [delayed(function, pure=False)(delayed(source, traverse=False), *shared) for source in self._sources()]

    def _each(self, function: Callable[..., Any], *arguments: Any) -> List[Any]:
        return self._compute(self._tasks(function, arguments))

    def _fold(self, add: Callable[[List[Any]], Any], function: Callable[..., Any], *arguments: Any) -> Any:
        delayed = package("dask", "engine='dask'").delayed
        nodes = self._tasks(function, arguments)
        while len(nodes) > 1:
            nodes = [delayed(add, pure=False)(nodes[at:at + FAN_IN]) for at in range(0, len(nodes), FAN_IN)]
        return self._compute(nodes)[0]

    def rows(self, view: str, columns: Names = None, where: Optional[str] = None, values: Sequence[Any] = (),
             **equal: Any) -> Iterator[Any]:
        chosen = reading.choice(view, columns, where, values, equal)
        for task in self._tasks(list_rows, [chosen]):
            yield from self._compute([task])[0]

    def frame(self, view: str, columns: Names = None, where: Optional[str] = None, values: Sequence[Any] = (),
              **equal: Any) -> Any:
        """The rows of a view as a DataFrame of Dask, a partition for each trace; see Trace.frame()."""
        dataframe = package("dask.dataframe", "engine='dask'")
        chosen = reading.choice(view, columns, where, values, equal)
        delayed = package("dask", "engine='dask'").delayed
        meta = self._compute([delayed(work.empty_frame, pure=False)(delayed(self._sources()[0], traverse=False), chosen)])[0]
        meta = dataframe.utils.clear_known_categories(frames.inferred(meta, reading.kinds_of(view)))
        # Enforced, an empty partition would be meta, and its category "__UNKNOWN_CATEGORIES__" a group of the result.
        return dataframe.from_map(Partition(chosen, meta, len(self) > 1, self.foreign), self.paths, meta=meta,
                                  enforce_metadata=False)


def list_rows(source: work.Source, chosen: reading.Choice) -> List[Any]:
    with source.open(kinds.IN_ROWS) as opened:
        return list(reading.read_rows(opened, chosen, source.mark))
