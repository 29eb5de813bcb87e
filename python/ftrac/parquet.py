# SPDX-License-Identifier: MIT
"""Traces as Parquet: DIRECTORY/VIEW/host=HOST/run=START/FILE, so that DuckDB, Spark and Polars read many traces at once.

Columns are those of the views. All times are integers of nanoseconds, as in the trace; the column trace has the path of
the trace, since ids are those of each. The host is that of the row where the view has it, else that of the trace.
"""
import hashlib
import os
import pathlib
import urllib.parse
from typing import Any, Dict, Iterator, List, Sequence, Tuple, Union

from . import frames, kinds, reading, work
from .errors import FtracError, MissingPackage, package
from .rows import ROWS

VIEWS = ("run", "process", "image", "environ", "file", "name", "op", "handle", "use", "access", "flow", "ghost", "sample")
UNKNOWN = "__HIVE_DEFAULT_PARTITION__"
ROWS_IN_FILE = 500000
# The kinds that other programs have, too.
PLAIN = {"point": "int", "duration": "int", "name": "text"}


def engine() -> str:
    """pyarrow or fastparquet."""
    for name in "pyarrow", "fastparquet":
        try:
            package(name, "Parquet")
            return name
        except MissingPackage:
            pass
    raise MissingPackage("neither pyarrow nor fastparquet here, which Parquet needs: install one by 'pip install pyarrow' "
                         "(in a virtual environment: Debian 12 and 13 have no package of them)")


def views(given: Union[str, Sequence[str], None]) -> Tuple[str, ...]:
    chosen = VIEWS if given is None else (given,) if isinstance(given, str) else tuple(given)
    for view in chosen:
        if view not in ROWS:
            raise FtracError(f"there is no view '{view}'; there are {', '.join(ROWS)}")
    return chosen


def directory_of(host: Any, run: Any) -> str:
    name = UNKNOWN if host is None or host != host else urllib.parse.quote(str(host), safe="", errors="replace")
    return f"host={name}/run={UNKNOWN if run is None else run}"


def plain(frame: Any, known: Dict[str, str], path: str) -> Any:
    """The frame with types that Parquet has, and the path of its trace."""
    for name in frame.columns:
        if known.get(name, "value") == "value":
            frame[name] = frames.text_column(list(frame[name]))
    frame["trace"] = frames.text_column([kinds.printable(path)] * len(frame))
    return frame


def divided(frame: Any, host: Any) -> Iterator[Tuple[Any, Any]]:
    """The host, and its rows without it: two columns of one name would be in each other's way."""
    if "host" not in frame.columns:
        yield host, frame
        return
    for name, rows in frame.groupby(frame["host"].fillna(""), sort=True):
        yield name or None, rows.drop(columns="host")


def write(source: work.Source, directory: str, chosen: Sequence[str]) -> List[str]:
    """Writes views of one trace; an empty one has no file."""
    with source.open() as opened:
        facts = opened.facts()
        there = [view for view in chosen if opened.columns(view)]
        written: List[str] = []
        for view in there:
            written += write_view(source, opened, directory, view, facts)
        return written


def write_view(source: work.Source, opened: Any, directory: str, view: str, facts: Dict[str, Any]) -> List[str]:
    name = f"{pathlib.Path(source.path).stem}-{hashlib.sha256(os.fsencode(source.path)).hexdigest()[:8]}"
    known = {column: PLAIN.get(kind, kind) for column, kind in reading.kinds_of(view).items()}
    written = []
    chunks = frames.chunks(opened, reading.Choice(view), None, ROWS_IN_FILE, known)
    for number, frame in enumerate(chunks):
        if not len(frame):
            continue
        for host, rows in divided(plain(frame, known, source.path), facts.get("host")):
            place = pathlib.Path(directory) / view / directory_of(host, facts.get("start_ns"))
            place.mkdir(parents=True, exist_ok=True)
            path = str(place / f"{kinds.printable(name)}-{number:04}.parquet")
            rows.reset_index(drop=True).to_parquet(path, engine=engine(), index=False)
            written.append(path)
    return written
