# SPDX-License-Identifier: MIT
"""How Jupyter shows a trace. All that is from a trace is escaped."""
import datetime
import html
from typing import Any, Dict, List, Tuple

from . import kinds

SHOWN = 20  # traces
FACTS = "command", "exit_status", "host", "user", "kernel", "fidelity", "process_tier", "ops_recorded"


def escaped(value: Any) -> str:
    return "-" if value is None else html.escape(kinds.printable(str(value)))


def moment(ns: Any) -> str:
    """A point in time, to the second."""
    try:
        return datetime.datetime.fromtimestamp(ns // 10**9, datetime.timezone.utc).strftime("%Y-%m-%d %H:%M:%S UTC")
    except (TypeError, ValueError, OverflowError, OSError):
        return "-"


def seconds(facts: Dict[str, Any]) -> str:
    start, end = facts.get("start_ns"), facts.get("end_ns")
    return f"{(end - start) / 1e9:.3f} s" if isinstance(start, int) and isinstance(end, int) else "-"


def size(count: Any) -> str:
    return f"{count / 1e6:.1f} MB" if isinstance(count, int) else "-"


def table(head: List[str], rows: List[Tuple[Any, ...]]) -> str:
    """Cells that are aligned to the left; text is escaped here."""
    line = "<tr>{}</tr>".format
    cells = "".join(f"<th style='text-align: left'>{escaped(cell)}</th>" for cell in head)
    body = "".join(line("".join(f"<td style='text-align: left'>{escaped(cell)}</td>" for cell in row)) for row in rows)
    return f"<table>{line(cells) if head else ''}{body}</table>"


def one(path: str, facts: Dict[str, Any]) -> str:
    rows = [(name.replace("_", " "), facts.get(name)) for name in FACTS]
    rows += [("start", moment(facts.get("start_ns"))), ("duration", seconds(facts)), ("size", size(facts.get("size"))),
             ("trace", path)]
    return table([], rows)


def several(paths: List[str], facts: List[Dict[str, Any]]) -> str:
    rows = [(path, found.get("host"), moment(found.get("start_ns")), seconds(found), found.get("ops_recorded"),
             found.get("command")) for path, found in zip(paths[:SHOWN], facts)]
    more = f"<p>and {len(paths) - SHOWN} more</p>" if len(paths) > SHOWN else ""
    return table(["trace", "host", "start", "duration", "operations", "command"], rows) + more


def page(trace: Any) -> str:
    """The facts of a trace, or a line for each of several, and what is missing."""
    facts = trace._facts  # pylint: disable=protected-access
    body = one(trace.paths[0], facts[0]) if len(trace) == 1 else several(trace.paths, facts)
    lines = "".join(f"<li>{escaped(line)}</li>" for line in trace.warnings[:SHOWN])
    return f"<div>{body}{f'<ul>{lines}</ul>' if lines else ''}</div>"
