# SPDX-License-Identifier: MIT
"""What is done with a single trace: functions that also the workers of Dask run, each where the trace lies."""
import dataclasses
import functools
from typing import Any, Dict, List, Optional, Sequence

from . import frames, kinds, reading
from .opening import Opened

LOSSES = {"ops_lost": "{} operations were lost; numbers are too small",
          "process_events_lost": "the kernel dropped process events {} times; processes may be missing",
          "notes_lost": "{} notes of make could not be read; dependencies that it declares may be missing"}


@dataclasses.dataclass(frozen=True)
class Source:
    """A trace: its path, whether it may be that of another user, and what the column "trace" of its rows has (None: there
    is no such column, because it is the only trace)."""
    path: str
    foreign: bool
    mark: Optional[str]

    def open(self, errors: str = kinds.IN_FRAMES) -> Opened:
        return Opened(self.path, self.foreign, errors)


def source(path: str, several: bool, foreign: bool) -> Source:
    """One trace, or one of several."""
    return Source(path, foreign, kinds.printable(path) if several else None)


def facts(source: Source) -> Dict[str, Any]:
    """The facts of the run, and size: bytes of the database."""
    with source.open() as opened:
        found = {key: kinds.text(value, kinds.IN_FRAMES) if isinstance(value, bytes) else value for key, value in opened.facts().items()}
        return {**found, "size": opened.file.st_size}


def doubts(found: Dict[str, Any]) -> List[str]:
    """What the trace does not have of its run, as the programs say it."""
    lines = []
    if found.get("recording_error"):
        lines.append(f"the recording stopped before the run did: {found['recording_error']}; numbers are too small")
    elif not found.get("complete"):
        lines.append("the trace is incomplete: it is still being written, or its writer was killed; numbers are those so far")
    return lines + [line.format(found[fact]) for fact, line in LOSSES.items() if found.get(fact)]


def frame(source: Source, chosen: reading.Choice) -> Any:
    with source.open() as opened:
        return frames.read_frame(opened, chosen, source.mark)


def sql(source: Source, query: str, values: Sequence[Any]) -> Any:
    with source.open() as opened:
        cursor = opened.query(query, values)
        names = [column[0] for column in cursor.description or ()]
        rows = [row for some in reading.batches(opened, cursor) for row in some]
        return frames.marked(frames.columns_of(rows, names, times()), source.mark)


@functools.lru_cache(maxsize=None)
def times() -> Dict[str, str]:
    return reading.by_name()


def empty_frame(source: Source, chosen: reading.Choice) -> Any:
    """The columns of frame(), without rows."""
    nothing = chosen._replace(where=f"({chosen.where or 1}) AND 0")
    return frame(source, nothing)
