# SPDX-License-Identifier: MIT
"""The Python package beside SQLite: what it says of a trace, compared with what the module sqlite3 says alone. For the cases
of python/."""
import os
import sqlite3
import subprocess
import sys
import warnings

from ftractest import FTRAC, TOP, need_module

sys.path.insert(0, str(TOP / "python"))
for name, program in ("WFDAG", "wfdag"), ("WFSTAT", "wfstat"):
    os.environ.setdefault(name, str(TOP / "build" / "dag" / program))

need_module("pandas", "python3-pandas")
import pandas
import ftrac
from ftrac import reading
from ftrac.rows import ROWS


def raw(path, sql, values=(), errors="surrogateescape"):
    """Rows as SQLite has them; errors: what becomes of texts that are not UTF-8."""
    db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    db.text_factory = lambda found: found.decode("utf-8", errors)
    try:
        return db.execute(sql, values).fetchall()
    finally:
        db.close()


def as_rows(path, view, names, errors):
    """The rows of SQLite as the package has them, in some order."""
    rows = raw(path, f'SELECT * FROM "{view}"', (), errors)
    return sorted((as_row(view, names, row, errors) for row in rows), key=repr)


def as_row(view, names, row, errors):
    known = reading.kinds_of(view)
    cells = []
    for name, value in zip(names, row):
        kind = known.get(name, "value")
        if isinstance(value, bytes) and kind in ("text", "name"):
            value = value.decode("utf-8", errors)
        cells.append(bool(value) if kind == "flag" and value is not None else value)
    return tuple(cells)


def cells_of(series, kind):
    """A column of a DataFrame as values of a row: integers of nanoseconds, None for what is unknown."""
    missing = series.isna()
    if kind in ("point", "duration"):
        plain = series.dt.tz_localize(None) if kind == "point" else series
        values = plain.astype("int64").tolist()
    else:
        values = series.tolist()
    return [None if gone else value for value, gone in zip(values, missing)]


DTYPES = {"int": "Int64", "flag": "boolean", "real": "float64", "text": "string", "name": "category",
          "point": "datetime64[ns, UTC]", "duration": "timedelta64[ns]", "bytes": "object"}


def compare_view(checks, what, trace, view):
    """The rows and the DataFrame of a view with SQLite's; how many values there are."""
    path = trace.paths[0]
    names = [row[0] for row in raw(path, "SELECT name FROM pragma_table_info(?)", (view,))]
    wanted = as_rows(path, view, names, "surrogateescape")
    rows = sorted((tuple(row)[:-1] for row in trace.rows(view)), key=repr)
    checks.equal(f"{what}: rows of {view}", rows, wanted)
    frame = trace.frame(view)
    checks.equal(f"{what}: columns of {view}", list(frame.columns), names)
    known = reading.kinds_of(view)
    columns = []
    for name in names:
        kind = known.get(name, "value")
        if kind != "value":
            checks.equal(f"{what}: dtype of {view}.{name}", str(frame[name].dtype), DTYPES[kind])
        columns.append(cells_of(frame[name], kind))
    checks.equal(f"{what}: frame of {view}", sorted(zip(*columns), key=repr),
                 as_rows(path, view, names, "backslashreplace"))
    return len(wanted) * len(names)


def compare_views(checks, what, trace):
    there = {row[0] for row in raw(trace.paths[0], "SELECT name FROM sqlite_schema WHERE type = 'view'")}
    compared = sum(compare_view(checks, what, trace, view) for view in ROWS if view in there)
    print(f"{what}: {len(there & set(ROWS))} views, {compared} values compared")
    return compared


def opened(*paths, **how):
    """Without the warnings of the package, which are errors in the cases."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ftrac.FtracWarning)
        return ftrac.open(*paths, **how)


def refused(checks, what, words, function, *arguments, **how):
    """An FtracError of one line that has these words."""
    try:
        function(*arguments, **how)
    except ftrac.FtracError as error:
        text = str(error)
        checks.check(f"{what}: one line", "\n" not in text and len(text) > 10, text)
        for word in words:
            checks.check(f"{what}: says '{word}'", word in text, text)
        return
    checks.check(f"{what}: is refused", False)


def record(db, command, cwd, *options):
    """A run that ftrac records by a mount."""
    done = subprocess.run([FTRAC, "run", "-q", "--force", "--db", str(db), "--scope", "dir", *options, "--", *command], cwd=cwd,
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=120, check=False)
    if done.returncode:
        raise AssertionError(f"{command}: status {done.returncode}\n{done.stderr.decode(errors='replace')}")
