# SPDX-License-Identifier: MIT
"""Which files are meant: names of traces, globs, and directories."""
import glob
import os
import struct
from typing import Iterable, Iterator, List, Union

from .errors import FtracError
from .opening import APPLICATION_ID

Path = Union[str, bytes, "os.PathLike[str]"]
HEADER = b"SQLite format 3\0"
ID_AT = 68


def is_trace(path: str) -> bool:
    """Whether the file begins with the header of a trace; False also if it cannot be read."""
    try:
        with open(path, "rb") as file:
            head = file.read(ID_AT + 4)
    except OSError:
        return False
    return head.startswith(HEADER) and head[ID_AT:] == struct.pack(">I", APPLICATION_ID)


def below(directory: str) -> List[str]:
    """The traces in a directory and in those below it."""
    found = [os.path.join(place, name) for place, _, names in os.walk(directory) for name in names]
    return sorted(path for path in found if os.path.isfile(path) and is_trace(path))


def meant(path: str) -> List[str]:
    if os.path.isdir(path):
        found, what = below(path), "no trace in the directory"
    elif not os.path.lexists(path) and glob.has_magic(path):
        found, what = sorted(glob.glob(path, recursive=True)), "no file matches"
    else:
        return [path]
    if not found:
        raise FtracError(f"{what} '{path}'; make a trace with 'ftrac run -- COMMAND'")
    return [trace for one in found for trace in (below(one) if os.path.isdir(one) else [one])]


def each(paths: Union[Path, Iterable[Path]]) -> Iterator[str]:
    several = [paths] if isinstance(paths, (str, bytes, os.PathLike)) else paths
    for path in several:
        yield from meant(os.fsdecode(path))


def expand(*paths: Union[Path, Iterable[Path]]) -> List[str]:
    """Absolute paths of traces, each file once, in the order in which they are given; globs and directories in that of
    their names."""
    found = {}
    for given in paths:
        for path in each(given):
            found.setdefault(os.path.realpath(path), os.path.abspath(path))
    if not found:
        raise FtracError("no trace is given")
    return list(found.values())
