# SPDX-License-Identifier: MIT
"""DataFrames of pandas: columns of the dtypes that kinds.py names. What is unknown is NA, NaT or NaN, never 0."""
from typing import Any, Dict, Iterator, List, Optional, Sequence

from . import kinds, reading
from .errors import FtracError, package
from .opening import Opened

CHUNK = 200000  # rows that become columns at once
NAT = -2**63
WHOLE = "integer", "boolean", "empty"


def pandas() -> Any:
    return package("pandas", "a DataFrame")


class Misfit(Exception):
    """A value that is not of its column's kind."""


def known_mask(values: List[Any]) -> Any:
    import numpy

    return numpy.fromiter((value is None for value in values), bool, len(values))


def whole_numbers(values: List[Any], unknown: int = 0) -> Any:
    """int64 and the mask of what is unknown."""
    import numpy

    found = numpy.array(values, dtype=object)
    mask = known_mask(values)
    if pandas().api.types.infer_dtype(found, skipna=True) not in WHOLE:
        raise Misfit(next(value for value in values if value is not None and not isinstance(value, int)))
    found[mask] = unknown
    return found.astype("int64"), mask


def int_column(values: List[Any]) -> Any:
    return pandas().arrays.IntegerArray(*whole_numbers(values))


def flag_column(values: List[Any]) -> Any:
    numbers, mask = whole_numbers(values)
    return pandas().arrays.BooleanArray(numbers != 0, mask)


def duration_column(values: List[Any]) -> Any:
    return pandas().TimedeltaIndex(whole_numbers(values, NAT)[0].view("m8[ns]"))


def point_column(values: List[Any]) -> Any:
    return pandas().DatetimeIndex(whole_numbers(values, NAT)[0].view("M8[ns]"), tz="UTC")


def real_column(values: List[Any]) -> Any:
    import numpy

    if any(value is not None and not isinstance(value, (int, float)) for value in values):
        raise Misfit(next(value for value in values if not isinstance(value, (int, float, type(None)))))
    return numpy.array([float("nan") if value is None else value for value in values], dtype="float64")


def text_column(values: List[Any]) -> Any:
    return pandas().array([kinds.text(value, kinds.IN_FRAMES) for value in values], dtype="string[python]")


def name_column(values: List[Any]) -> Any:
    texts = [kinds.text(value, kinds.IN_FRAMES) for value in values]
    # Always of one dtype, so that the categories of several traces can be joined.
    return pandas().Categorical(texts, categories=pandas().Index(sorted({*texts} - {None}), dtype=object))


def object_column(values: List[Any]) -> Any:
    import numpy

    found = numpy.empty(len(values), dtype=object)
    found[:] = values
    return found


COLUMN = {"int": int_column, "flag": flag_column, "real": real_column, "text": text_column, "name": name_column,
          "point": point_column, "duration": duration_column, "bytes": object_column}


def value_column(values: List[Any]) -> Any:
    """Of a column whose kind is not known: as its values are."""
    types = {type(value) for value in values} - {type(None)}
    if types <= {int, bool}:
        return flag_column(values) if types == {bool} else int_column(values)
    if types <= {int, float}:
        return real_column(values)
    return text_column(values) if types <= {str} else object_column(values)


def dtype_of(kind: str) -> Any:
    return pandas().Series(COLUMN[kind]([]) if kind in COLUMN else object_column([])).dtype


def rounded(values: List[Any], kind: Optional[str]) -> List[Any]:
    """Means of durations, to the nanosecond."""
    if kind != "duration" or not any(isinstance(value, float) for value in values):
        return values
    return [round(value) if isinstance(value, float) and abs(value) < 2**62 else value for value in values]


def columns_of(rows: Sequence[Sequence[Any]], names: Sequence[str], known: Dict[str, str]) -> Any:
    """A DataFrame of all rows. A column whose values are not what its name says is taken by its values; means of durations
    are rounded to nanoseconds."""
    made = {}
    for at, name in enumerate(names):
        values = rounded([row[at] for row in rows], known.get(name))
        try:
            column = COLUMN[known[name]](values) if name in known else value_column(values)
        except (Misfit, OverflowError):
            column = value_column(values)
        made[at] = pandas().Series(column)
    frame = pandas().DataFrame(made)
    frame.columns = list(names)
    return frame


def chunk(opened: Opened, view: str, rows: List[tuple], names: Sequence[str], known: Dict[str, str]) -> Any:
    """A DataFrame of some rows of a view; columns of no known kind are objects."""
    made = {}
    for at, name in enumerate(names):
        try:
            made[name] = pandas().Series(COLUMN.get(known.get(name, ""), object_column)([row[at] for row in rows]))
        except (Misfit, OverflowError) as error:
            raise FtracError(f"'{opened.path}': column '{name}' of view '{view}' has a value of another kind ({error}): "
                             "the trace is damaged, or another program wrote it") from None
    return pandas().DataFrame(made, columns=list(names))


def chunks(opened: Opened, chosen: reading.Choice, trace: Optional[str], size: int = CHUNK,
           kinds_known: Optional[Dict[str, str]] = None) -> Iterator[Any]:
    """DataFrames of at most so many rows; at least one, which may be empty."""
    sql, values, names = reading.statement(opened, chosen)
    known = reading.kinds_of(chosen.view) if kinds_known is None else kinds_known
    empty = True
    for rows in reading.batches(opened, opened.query(sql, values), size):
        yield marked(chunk(opened, chosen.view, rows, names, known), trace)
        empty = False
    if empty:
        yield marked(chunk(opened, chosen.view, [], names, known), trace)


def marked(frame: Any, trace: Optional[str]) -> Any:
    """With the column of the trace that it is from, if there are several."""
    if trace is not None:
        frame["trace"] = pandas().Categorical.from_codes([0] * len(frame), [trace])
    return frame


def joined(frames: Sequence[Any]) -> Any:
    """One below the other; the categories of a column are those of all."""
    if len(frames) == 1:
        return frames[0]
    pd = pandas()
    made = {}
    for name in frames[0].columns:
        parts = [frame[name] for frame in frames]
        if isinstance(parts[0].dtype, pd.CategoricalDtype):
            made[name] = pd.Series(pd.api.types.union_categoricals(parts, sort_categories=True))
        else:
            # Empty ones have no say in the type of the column.
            made[name] = pd.concat([part for part in parts if len(part)] or parts[:1], ignore_index=True)
    return pd.DataFrame(made)


def inferred(frame: Any, known: Dict[str, str]) -> Any:
    """With columns of no known kind taken by their values."""
    for name in frame.columns:
        if name not in known and name != "trace":
            frame[name] = pandas().Series(value_column(list(frame[name])), index=frame.index)
    return frame


def read_frame(opened: Opened, chosen: reading.Choice, trace: Optional[str]) -> Any:
    """The DataFrame of a view of one trace; columns of no known kind are objects still."""
    return joined(list(chunks(opened, chosen, trace)))
