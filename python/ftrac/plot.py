# SPDX-License-Identifier: MIT
"""Pictures of a trace by matplotlib. Each function draws on axes that are given, or on new ones, and returns them."""
import itertools
from typing import Any, Dict, List, Optional, Sequence, Tuple

from . import kinds
from .errors import FtracError, package

MOST = 12  # steps with a colour of their own
OTHERS = "others"
GREY = "0.75"
INTERVALS = 100
Bar = Tuple[float, float]


def label(text: Any) -> str:
    """A text that matplotlib takes as it is: no formula, no name that it leaves out, no character without a form."""
    plain = "".join(letter if letter.isprintable() else "\ufffd" for letter in kinds.printable(str(text)))
    return (" " if plain.startswith("_") else "") + plain.replace("$", r"\$")


def new_axes(axes: Any, height: float = 4.0) -> Any:
    if axes is not None:
        return axes
    return package("matplotlib.pyplot", "a plot").subplots(figsize=(10, height), layout="constrained")[1]


def lanes(bars: Sequence[Bar]) -> List[int]:
    """The lane of each bar, so that none lies on another; bars are in the order of their starts."""
    ends: List[float] = []
    found = []
    for start, length in bars:
        lane = next((at for at, end in enumerate(ends) if end <= start), len(ends))
        ends[lane:lane + 1] = [start + length]
        found.append(lane)
    return found


def colours(weights: Dict[str, float]) -> Dict[str, Any]:
    """A colour for each of the heaviest names, in the order of the names; the others are grey."""
    palette = package("matplotlib", "a plot").colormaps["tab20"].colors
    heaviest = sorted(weights, key=lambda name: -weights[name])[:MOST]
    shades = itertools.cycle([*palette[::2], *palette[1::2]])
    return {name: next(shades) for name in weights if name in heaviest}


class Plot:
    """trace.plot: pictures of the trace."""

    def __init__(self, trace: Any) -> None:
        self.trace = trace

    def timeline(self, axes: Any = None) -> Any:
        """The processes as bars over the time of the run in seconds, in the colours of their steps. A process that had not
        ended goes on to the last event."""
        bars = self._bars()
        if not bars:
            raise FtracError("the trace has no process with a start: there is nothing to draw")
        at = lanes([(start, length) for start, length, _ in bars])
        weights: Dict[str, float] = {}
        for start, length, step in bars:
            weights[step] = weights.get(step, 0) + length
        of = colours(weights)
        axes = new_axes(axes, min(10, 2 + 0.16 * (max(at) + 1)))
        for step, colour in [*of.items(), (OTHERS, GREY)]:
            self._draw_step(axes, [(bar, lane) for bar, lane in zip(bars, at) if (bar[2] if bar[2] in of else OTHERS) == step],
                            step, colour)
        axes.set_xlabel("seconds since the start")
        axes.set_yticks([])
        axes.set_ylabel("processes")
        axes.set_ylim(max(at) + 1, 0)
        axes.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
        return axes

    @staticmethod
    def _draw_step(axes: Any, bars: Sequence[Any], step: str, colour: Any) -> None:
        from matplotlib.collections import PolyCollection

        corners = [[(start, lane + 0.1), (start, lane + 0.9), (start + length, lane + 0.9), (start + length, lane + 0.1)]
                   for (start, length, _), lane in bars]
        if corners:
            axes.add_collection(PolyCollection(corners, facecolor=[colour], edgecolor=[colour], linewidth=0.4,
                                               label=label(step)))
            axes.autoscale_view()

    def _bars(self) -> List[Tuple[float, float, str]]:
        """Start and length in seconds, and the step, of each process, by their starts; what was before the record is not
        there."""
        rows = list(self.trace.rows("process", ["start_ns", "end_ns", "step"], where="start_ns NOTNULL"))
        if not rows:
            return []
        starts, _ = self._ends()
        begin = min(starts) if starts else min(row.start_ns for row in rows)
        last = max(max(row.start_ns, row.end_ns or 0) for row in rows)
        spans = [(max(row.start_ns, begin) - begin, (row.end_ns or last) - begin, row.step or "-") for row in rows]
        return sorted((start / 1e9, (end - start) / 1e9, step) for start, end, step in spans if end >= start)

    def bandwidth(self, interval: Optional[float] = None, axes: Any = None) -> Any:
        """Bytes that were read and written per second, in each interval (seconds; by default a hundredth of the run), by
        wfstat time."""
        wanted = interval or self._interval()
        table = self.trace.table("time", interval=f"{wanted:.9f}")
        axes = new_axes(axes)
        for column, text in ("read_bytes", "read"), ("written_bytes", "written"):
            if column in table:
                axes.step(table["from_s"].astype("float64"), table[column].astype("float64") / wanted / 1e6, where="post",
                          label=text)
        axes.set_xlabel("seconds since the start")
        axes.set_ylabel("MB per second")
        axes.set_ylim(bottom=0)
        axes.legend(frameon=False)
        return axes

    def _ends(self) -> Tuple[List[int], List[int]]:
        """Starts and ends of the traces, as far as they are known."""
        facts = self.trace._facts  # pylint: disable=protected-access
        starts = [found["start_ns"] for found in facts if isinstance(found.get("start_ns"), int)]
        return starts, [found["end_ns"] for found in facts if isinstance(found.get("end_ns"), int)]

    def _interval(self) -> float:
        starts, ends = self._ends()
        length = (max(ends) - min(starts)) / 1e9 if starts and ends else 0
        return max(length / INTERVALS, 0.001) if length > 0 else 1.0

    def latency(self, operations: Optional[Sequence[str]] = None, axes: Any = None) -> Any:
        """The part of the operations of each name that took at most so long, by wfstat cdf. By default, of the five names
        that occur most often."""
        names = list(operations) if operations is not None else None
        table = self.trace.table("cdf", of="latency", operation=names)
        counts = table.groupby("operation")["count"].max()
        axes = new_axes(axes)
        for name in names or list(counts.sort_values(ascending=False, kind="stable").index[:5]):
            part = table[table["operation"] == name]
            axes.step(part["value"].astype("float64") / 1e3, part["part_share"].astype("float64"), where="post",
                      label=f"{label(name)} ({counts.get(name, 0):,})")
        axes.set_xscale("log")
        axes.set_xlabel("microseconds")
        axes.set_ylabel("part of the operations")
        axes.set_ylim(0, 1.02)
        axes.legend(frameon=False)
        return axes

    def steps(self, axes: Any = None) -> Any:
        """Bytes that each step read and wrote, by wfstat io; the largest first."""
        table = self.trace.steps()
        if len(table) > 1 and table["step"].iloc[-1] == "Total":
            table = table.iloc[:-1]
        table = table[["step", "read_bytes", "written_bytes"]].dropna(subset=["step"])
        total = table["read_bytes"].fillna(0) + table["written_bytes"].fillna(0)
        table = table.loc[total.sort_values(kind="stable").index[-25:]]
        axes = new_axes(axes, 1.5 + 0.3 * len(table))
        places = list(range(len(table)))
        for offset, column, text in (0.2, "read_bytes", "read"), (-0.2, "written_bytes", "written"):
            axes.barh([place + offset for place in places], table[column].astype("float64").fillna(0) / 1e6, height=0.4,
                      label=text)
        axes.set_yticks(places, [label(step) for step in table["step"]])
        axes.set_xlabel("MB")
        axes.legend(frameon=False, loc="lower right")
        return axes
