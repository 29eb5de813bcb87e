# SPDX-License-Identifier: MIT
"""Exact quantiles of groups of any number of values, in memory that does not grow with them.

Each trace is read twice. The first time the values of each group are counted in buckets, which are a thousandth of their
values wide; the counts of all traces are added up. The second time the values are counted that lie in the buckets of the
quantiles. A quantile p is the smallest value that is at least as large as a part p of all (nearest rank), as in wfstat.
"""
import fractions
import math
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple

from . import reading
from .errors import FtracError
from .opening import Opened
from .work import Source

BITS = 10  # of a value's mantissa that tell its bucket
BATCH = 100000
SPAN = 1 << 22  # more than there are buckets

Group = Tuple[Any, ...]
Counts = Dict[int, int]


class Question(NamedTuple):
    """Quantiles of the column of, in the groups of the columns by, of a choice or of the rows that a statement in SQL has."""
    of: str
    by: Tuple[str, ...]
    chosen: Optional[reading.Choice]
    sql: str = ""
    values: Tuple[Any, ...] = ()


class Tally:
    """What is known of a group after the first reading."""

    def __init__(self) -> None:
        self.count = self.sum = 0
        self.min: Optional[int] = None
        self.max: Optional[int] = None
        self.buckets: Counts = {}

    def add(self, other: "Tally") -> None:
        self.count += other.count
        self.sum += other.sum
        self.min = other.min if self.min is None else self.min if other.min is None else min(self.min, other.min)
        self.max = other.max if self.max is None else self.max if other.max is None else max(self.max, other.max)
        add_counts(self.buckets, other.buckets)


def add_counts(to: Dict[Any, int], more: Dict[Any, int]) -> None:
    for key, count in more.items():
        to[key] = to.get(key, 0) + count


def buckets_of(values: Any) -> Any:
    """The bucket of each value: a number that never falls as values rise."""
    import numpy

    size = numpy.abs(values.astype("float64")).view("int64") >> (52 - BITS)
    return numpy.where(values < 0, -size - 1, size)


def statement(opened: Opened, question: Question) -> Tuple[str, Sequence[Any]]:
    if question.chosen is not None:
        sql, values, _ = reading.statement(opened, question.chosen)
        return sql, values
    names = ", ".join(map(reading.quoted, (*question.by, question.of)))
    return f"SELECT {names} FROM ({question.sql})", question.values


def parts(source: Source, question: Question) -> Iterator[Tuple[List[Group], Any, Any]]:
    """Of some rows at a time: the groups, the number of each row's group, and its value; without unknown values."""
    import numpy

    from . import frames
    pandas = frames.pandas()
    with source.open() as opened:
        sql, values = statement(opened, question)
        for rows in reading.batches(opened, opened.query(sql, values), BATCH):
            rows = [row for row in rows if row[-1] is not None]
            try:
                numbers, _ = frames.whole_numbers([row[-1] for row in rows])
            except (frames.Misfit, OverflowError) as error:
                raise FtracError(f"'{source.path}': column '{question.of}' is not of integers ({error})") from None
            if not rows:
                continue
            keys = numpy.empty(len(rows), dtype=object)
            keys[:] = [row[0] for row in rows] if len(question.by) == 1 else [row[:-1] for row in rows]
            codes, groups = pandas.factorize(keys, use_na_sentinel=False)
            yield [group_of(group, question) for group in groups], codes, numbers


def group_of(key: Any, question: Question) -> Group:
    cells = key if len(question.by) > 1 else (key,)
    # pandas makes NaN of None.
    return tuple(None if isinstance(cell, float) and math.isnan(cell) else cell for cell in cells)


def first(source: Source, question: Question) -> Dict[Group, Tally]:
    """The first reading of a trace."""
    import numpy

    found: Dict[Group, Tally] = {}
    for groups, codes, values in parts(source, question):
        keys, counts = numpy.unique(codes * SPAN + buckets_of(values) + SPAN // 2, return_counts=True)
        for code, group in enumerate(groups):
            of_group, mine = values[codes == code], (keys // SPAN) == code
            tally = Tally()
            tally.count, tally.sum = len(of_group), sum_of(of_group)
            tally.min, tally.max = int(of_group.min()), int(of_group.max())
            tally.buckets = dict(zip((keys[mine] % SPAN - SPAN // 2).tolist(), counts[mine].tolist()))
            found.setdefault(group, Tally()).add(tally)
    return found


def sum_of(values: Any) -> int:
    """Exact, also above 64 bits."""
    return (int((values >> 32).sum()) << 32) + int((values & 0xffffffff).sum())


def second(source: Source, question: Question, wanted: Dict[Group, Sequence[int]]) -> Dict[Group, Counts]:
    """The second reading: how often each value occurs that lies in one of the wanted buckets of its group."""
    import numpy

    found: Dict[Group, Counts] = {}
    for groups, codes, values in parts(source, question):
        buckets = buckets_of(values)
        for code, group in enumerate(groups):
            mine = (codes == code) & numpy.isin(buckets, wanted.get(group, ()))
            numbers, counts = numpy.unique(values[mine], return_counts=True)
            add_counts(found.setdefault(group, {}), dict(zip(numbers.tolist(), counts.tolist())))
    return found


def sum_first(several: Sequence[Dict[Group, Tally]]) -> Dict[Group, Tally]:
    total: Dict[Group, Tally] = {}
    for one in several:
        for group, tally in one.items():
            total.setdefault(group, Tally()).add(tally)
    return total


def sum_second(several: Sequence[Dict[Group, Counts]]) -> Dict[Group, Counts]:
    total: Dict[Group, Counts] = {}
    for one in several:
        for group, counts in one.items():
            add_counts(total.setdefault(group, {}), counts)
    return total


def rank(count: int, q: float) -> int:
    """Counted from 1. A part such as 0.1 is the decimal number that is written, not the double that is next to it."""
    return max(1, math.ceil(count * fractions.Fraction(str(q))))


def at_rank(counts: Counts, wanted: int) -> Tuple[int, int]:
    """The key that the value of this rank has, and how many values have smaller keys."""
    before = 0
    for key in sorted(counts):
        if before + counts[key] >= wanted:
            return key, before
        before += counts[key]
    raise FtracError("the traces changed while they were read; try again")


def wanted_buckets(tallies: Dict[Group, Tally], quantiles: Sequence[float]) -> Dict[Group, List[int]]:
    return {group: sorted({at_rank(tally.buckets, rank(tally.count, q))[0] for q in quantiles})
            for group, tally in tallies.items()}


def quantile(tally: Tally, counts: Counts, q: float) -> int:
    import numpy

    place = rank(tally.count, q)
    bucket, before = at_rank(tally.buckets, place)
    values = numpy.array(list(counts), dtype="int64")
    inside = {value: counts[value] for value in values[buckets_of(values) == bucket].tolist()}
    return at_rank(inside, place - before)[0]


def table(question: Question, tallies: Dict[Group, Tally], counts: Dict[Group, Counts], quantiles: Sequence[float]) -> Any:
    """A DataFrame with a row for each group: count, sum, min, the quantiles as p50 and so on, max."""
    from . import frames
    from .work import times
    names = [*question.by, "count", "sum", "min", *(f"p{100 * q:g}" for q in quantiles), "max"]
    rows = []
    for group in sorted(tallies, key=lambda cells: [(cell is not None, str(cell)) for cell in cells]):
        tally = tallies[group]
        values = [quantile(tally, counts.get(group, {}), q) for q in quantiles]
        rows.append((*group, tally.count, tally.sum, tally.min, *values, tally.max))
    kind = times().get(question.of, "int")
    known = {name: kind for name in names[len(question.by) + 1:]}
    return frames.columns_of(rows, names, {**known, "count": "int"}).set_index(list(question.by))
