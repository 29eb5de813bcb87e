# SPDX-License-Identifier: MIT
"""What the values of a column are. rows.py gives each column of each view one of these types; frames.py makes columns
of pandas of them. All but Bytes are None where a value is unknown.

type      in rows                              in pandas
Int       int                                  Int64
Flag      bool                                 boolean
Real      float                                float64 (NaN: unknown)
Text      str                                  string
Name      str, of which there are few          category
Point     int, nanoseconds since the epoch     datetime64[ns, UTC] (NaT: unknown)
Duration  int, nanoseconds                     timedelta64[ns] (NaT: unknown)
Bytes     bytes                                object
Value     whatever it is                       by its values

Names of files that are not UTF-8 are strings with surrogates in rows, as os.fsdecode() makes them; os.fsencode() gives
back the bytes. pandas takes different strings with surrogates for each other (its table of strings is one of UTF-8), so
DataFrames have each such byte as four letters, \\xff.
"""
import functools
import typing
from typing import Annotated, Any, Callable, Dict, Optional

Int = Annotated[Optional[int], "int"]
Flag = Annotated[Optional[bool], "flag"]
Real = Annotated[Optional[float], "real"]
Text = Annotated[Optional[str], "text"]
Name = Annotated[Optional[str], "name"]
Point = Annotated[Optional[int], "point"]
Duration = Annotated[Optional[int], "duration"]
Bytes = Annotated[Optional[bytes], "bytes"]
Value = Annotated[Any, "value"]


@functools.lru_cache(maxsize=None)
def of_class(row: type) -> Dict[str, str]:
    """The kind of each column that a class of rows.py has."""
    hints = typing.get_type_hints(row, include_extras=True)
    return {name: hint.__metadata__[0] for name, hint in hints.items() if hasattr(hint, "__metadata__")}


IN_ROWS, IN_FRAMES = "surrogateescape", "backslashreplace"  # errors of decode()


def text(value: Any, errors: str = IN_ROWS) -> Optional[str]:
    """A text of a trace. SQLite has names that are not UTF-8 as BLOBs."""
    if isinstance(value, bytes):
        return value.decode("utf-8", errors)
    return value if value is None or isinstance(value, str) else str(value)


def flag(value: Any) -> Optional[bool]:
    return None if value is None else bool(value)


def same(value: Any) -> Any:
    return value


# What becomes of a value that SQLite gave, in a row.
TO_ROW: Dict[str, Callable[[Any], Any]] = {
    "text": text, "name": text, "flag": flag, "int": same, "real": same, "point": same, "duration": same,
    "bytes": same, "value": same}


def printable(value: str) -> str:
    """The text as DataFrames have it."""
    return value.encode("utf-8", "surrogateescape").decode("utf-8", IN_FRAMES)
