# SPDX-License-Identifier: MIT
"""Rows of a view of one trace. Columns and conditions are in the SQL, so that SQLite reads no more than what is used."""
import collections
import os
import sqlite3
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple

from . import kinds
from .errors import FtracError
from .opening import Opened
from .rows import ROWS, column_of, columns_of

BATCH = 20000  # rows that are fetched at once


class Choice(NamedTuple):
    """What is to be read: a view; columns (None: all); a condition in SQL with its values, joined by AND with columns
    that equal a value, are one of several, or are NULL (None)."""
    view: str
    columns: Optional[Tuple[str, ...]] = None
    where: Optional[str] = None
    values: Tuple[Any, ...] = ()
    equal: Tuple[Tuple[str, Any], ...] = ()


def choice(view: str, columns: Optional[Sequence[str]], where: Optional[str], values: Sequence[Any],
           equal: Dict[str, Any]) -> Choice:
    if isinstance(columns, str):
        columns = [columns]
    if columns is not None and not columns:
        raise FtracError(f"no column of view '{view}' is chosen; leave columns out for all of them")
    return Choice(view, None if columns is None else tuple(columns), where, tuple(values), tuple(equal.items()))


def kinds_of(view: str) -> Dict[str, str]:
    """Of the columns that this package knows."""
    row = ROWS.get(view)
    return {column_of(field): kind for field, kind in kinds.of_class(row).items()} if row else {}


# Of wfdag lifecycle.
POINTS_OF_TABLES = "last_use_ns", "deleted_ns", "delete_after_ns"


def by_name() -> Dict[str, str]:
    """Kinds of times, by the names that columns have in views and tables. time_ns is a point in one view and a duration
    in tables, so it has none."""
    found = {name: kind for view in ROWS for name, kind in kinds_of(view).items()}
    found.update(dict.fromkeys(POINTS_OF_TABLES, "point"))
    return {name: kind for name, kind in found.items() if kind in ("point", "duration") and name != "time_ns"}


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def bindable(value: Any) -> Any:
    """The value as SQLite has it: a name that is not UTF-8 is a BLOB."""
    if isinstance(value, str) and not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            return os.fsencode(value)
    return value


def condition(name: str, value: Any) -> Tuple[str, List[Any]]:
    if value is None:
        return f"{quoted(name)} IS NULL", []
    if isinstance(value, (list, tuple, set, frozenset, range)):
        return f"{quoted(name)} IN ({', '.join('?' * len(value))})", [bindable(one) for one in value]
    return f"{quoted(name)} = ?", [bindable(value)]


def known_columns(opened: Opened, chosen: Choice) -> List[str]:
    """The columns that are read. One that only a newer release has is unknown in the traces of older ones."""
    there = opened.columns(chosen.view)
    if not there:
        raise FtracError(f"'{opened.path}' has no view '{chosen.view}'; it has {', '.join(opened.views())}")
    known = set(there) | set(kinds_of(chosen.view))
    for name in [*(chosen.columns or ()), *(name for name, _ in chosen.equal)]:
        if name not in known:
            raise FtracError(f"view '{chosen.view}' has no column '{name}'; it has {', '.join(there)}")
    return list(chosen.columns) if chosen.columns is not None else there


def statement(opened: Opened, chosen: Choice) -> Tuple[str, List[Any], List[str]]:
    """The SQL, its values, and the names of the columns."""
    there = set(opened.columns(chosen.view))
    names = known_columns(opened, chosen)
    columns = ", ".join(quoted(name) if name in there else f"NULL AS {quoted(name)}" for name in names)
    parts, values = [], [bindable(value) for value in chosen.values]
    if chosen.where:
        parts.append(f"({chosen.where})")
    for name, value in chosen.equal:
        sql, more = condition(name, value)
        parts.append(sql)
        values += more
    where = f" WHERE {' AND '.join(parts)}" if parts else ""
    return f"SELECT {columns} FROM {quoted(chosen.view)}{where}", values, names


def batches(opened: Opened, cursor: Any, size: int = BATCH) -> Iterator[List[tuple]]:
    while True:
        try:
            rows = cursor.fetchmany(size)
        except (sqlite3.Error, UnicodeDecodeError, OverflowError) as error:
            raise FtracError(f"cannot read '{opened.path}': {error}") from None
        if not rows:
            return
        yield rows


def row_class(view: str, names: Sequence[str]) -> Any:
    """That of rows.py, if all its columns are there and no other."""
    known = ROWS.get(view)
    if known and columns_of(known) == (*names, "trace"):
        return known
    return collections.namedtuple(known.__name__ if known else "Row", [*names, "trace"], rename=True, defaults=(None,))


def read_rows(opened: Opened, chosen: Choice, trace: Optional[str]) -> Iterator[Any]:
    """Typed rows."""
    sql, values, names = statement(opened, chosen)
    made = row_class(chosen.view, names)
    known = kinds_of(chosen.view)
    change = [(at, kinds.TO_ROW[known[name]]) for at, name in enumerate(names)
              if known.get(name) in ("text", "name", "flag")]
    for rows in batches(opened, opened.query(sql, values)):
        for row in rows:
            cells = list(row)
            for at, to_row in change:
                cells[at] = to_row(cells[at])
            yield made(*cells, trace)
