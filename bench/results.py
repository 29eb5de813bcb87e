# SPDX-License-Identifier: MIT
"""RESULTS.md and RESULTS.csv, from the raw runs."""
import collections
import csv
import io
import statistics

import targets

# The time of a run during which others had more than this part of the processors is left out.
DISTURBED = 0.2
# In the figures, files are on disk, and threads of the kernel that write them back count as others.
DISTURBED_ON_DISK = 0.3
COLUMNS = ["session", "round", "workload", "group", "system", "cost", "unit", "seconds", "others", "all_cpu_s",
           "own_cpu_s", "cpu_s",
           "peak_MB", "start_s", "complete_s", "ops", "lost", "dropped", "db_bytes", "op_table_bytes",
           "index_bytes"]


def most_of_others(run):
    return DISTURBED_ON_DISK if run.get("group") == "figures" else DISTURBED


def quiet(run):
    return run.get("others", 0) <= most_of_others(run)


def cpu_cost(run):
    """CPU seconds of the work and the daemon: of the work, or where a time is given of an operation."""
    return run["all_cpu_s"] * (1 if run["unit"] == "s" else run["cost"] / run["seconds"])


class Runs:
    """all: the runs; groups: (workload, fidelity, uring) -> (session, round) -> role -> run."""

    def __init__(self, lines):
        self.machines, self.all, self.writers, self.stuck = [], [], [], []
        self.in_kernel = any(line.get("what") == "kernel" for line in lines)
        for line in lines:
            if "machine" in line:
                self.machines.append(line["machine"])
            elif "writer" in line:
                self.writers.append(line["writer"])
            elif "stuck" in line:
                self.stuck.append(line["stuck"])
            else:
                self.all.append({**line, "session": len(self.machines)})
        self.groups = collections.defaultdict(lambda: collections.defaultdict(dict))
        for run in self.all:
            key = run["workload"], run["fidelity"], run["uring"]
            self.groups[key][run["session"], run["round"]][run["role"]] = run

    @staticmethod
    def ratios(part, over, under):
        """Of one round each: what has only one of both is no pair, nor what others disturbed."""
        return [turn[over]["cost"] / turn[under]["cost"] for turn in part.values()
                if over in turn and under in turn and quiet(turn[over]) and quiet(turn[under])]

    @staticmethod
    def cpu_ratios(part, over, under):
        """Of the same work; that others had their share of the processors changes it little."""
        return [cpu_cost(turn[over]) / cpu_cost(turn[under]) for turn in part.values()
                if over in turn and under in turn]

    def lost(self):
        seen = [run for run in self.all if "lost" in run]
        return [("all runs", sum(run["lost"] for run in seen), len(seen))] if seen else []

    def writer(self):
        return [("made-up events", statistics.median(self.writers) / 1e6, len(self.writers))
                ] if self.writers else []


def number(value, form="{:.2f}", none="-"):
    return none if value is None else form.format(value)


def median_of(runs, what):
    values = [value for run in runs if (value := what(run)) is not None]
    return statistics.median(values) if values else None


def per_op(run, key):
    return run[key] / run["ops"] if run.get("ops") and key in run else None


def cpu_of(turn, role):
    """Seconds of the tracer for a million operations; a tracer that does not count them did as many as ftrac
    counted doing the same work."""
    run = turn[role]
    ops = run.get("ops") or (run["unit"] == "s" and turn.get("ftrac", {}).get("ops"))
    return run["cpu_s"] * 1e6 / ops if ops and "cpu_s" in run else None


def largest(runs, key):
    return max((run[key] for run in runs if run.get(key) is not None), default=None)


def own_cpu_ratio(turn, role):
    """CPU seconds of the work alone; None if they are not known."""
    own, native = (turn.get(name, {}).get("own_cpu_s") for name in (role, "native"))
    return own / native if own and native else None


def row_of(part, role):
    runs = [turn[role] for turn in part.values() if role in turn]
    ratios = Runs.ratios(part, role, "native")
    cpu = Runs.cpu_ratios(part, role, "native")
    calm = [run for run in runs if quiet(run)]
    spread = f"{min(ratios):.2f} .. {max(ratios):.2f}" if ratios else "-"
    return [runs[0]["system"], str(len(ratios)), number(median_of(calm, lambda r: r["cost"]), "{:.3f}"),
            number(statistics.median(ratios) if ratios else None), spread,
            number(statistics.median(cpu) if cpu else None),
            number(median_of(part.values(), lambda turn: own_cpu_ratio(turn, role))),
            number(median_of(runs, lambda r: r.get("ops")), "{:.0f}"),
            number(median_of([t for t in part.values() if role in t], lambda t: cpu_of(t, role)),
                   "{:.1f}"),
            number(median_of(runs, lambda r: r.get("peak_MB")), "{:.0f}"),
            number(median_of(runs, lambda r: r.get("start_s"))),
            number(median_of(runs, lambda r: r.get("complete_s"))),
            number(median_of(runs, lambda r: per_op(r, "db_bytes")), "{:.0f}"),
            number(median_of(runs, lambda r: per_op(r, "op_table_bytes")), "{:.0f}"),
            number(median_of(runs, lambda r: per_op(r, "index_bytes")), "{:.0f}"),
            number(largest(runs, "lost"), "{:d}"), number(largest(runs, "dropped"), "{:d}")]


def table(head, rows):
    return "\n".join(["| " + " | ".join(head) + " |", "|" + "---|" * len(head),
                      *("| " + " | ".join(row) + " |" for row in rows)]) + "\n"


HEAD = ["system", "pairs", "cost", "ratio", "spread", "CPU ratio", "own CPU", "operations", "CPU s / M", "peak MB",
        "start s", "complete s", "bytes/op", "rows", "indexes", "lost", "dropped"]


def group_tables(runs):
    parts = []
    for (workload, fidelity, uring), part in runs.groups.items():
        roles = dict.fromkeys(role for turn in part.values() for role in sorted(
            turn, key=lambda role: ROLES.index(role) if role in ROLES else len(ROLES)))
        unit = next(iter(next(iter(part.values())).values()))["unit"]
        title = f"### {workload}, {fidelity}{', io_uring' if uring else ''} (cost in {unit})\n"
        parts.append((workload, title + "\n" + table(HEAD, [row_of(part, role) for role in roles])))
    order = list(dict.fromkeys(workload for workload, _ in parts))
    return "\n".join(text for _, text in sorted(parts, key=lambda p: order.index(p[0])))


ROLES = ["native", "raw", "no-record", "no-ops", "ftrac"]


def limit(value):
    return f"{value:.2f}" if value < 10 else f"{value:.0f}"


def target_table(rows):
    body = []
    for row in rows:
        sign = ">=" if row.more else "<="
        worst = row.worst
        body.append([row.measure, f"{sign} {limit(row.least)}", f"{sign} {limit(row.aim)}",
                     number(worst and worst[1]), worst[0] if worst else "-",
                     f"{len(row.found) - len(row.missed)} of {len(row.found)}" if worst else "-",
                     str(worst[2]) if worst else "-", row.verdict])
    return table(["measure", "at least", "aim", "worst", "of", "within", "pairs", "verdict"], body)


def missed_list(rows):
    lines = [f"- {row.measure} (limit {limit(row.least)}): "
             + ", ".join(f"{name} {value:.2f}" + (f" ({pairs})" if pairs < targets.PAIRS_MIN else "")
                         for name, value, pairs in row.missed)
             for row in rows if row.missed]
    return "\n".join(lines) + "\n" if lines else "None.\n"


def machine_text(machines):
    last = machines[-1]
    text = (f"{last['cpus']} x {last['cpu']}, {last['memory_GiB']} GiB, Linux {last['kernel']}, "
            f"{last['system']}; {last['ftrac']} (commit {last['commit']}), libfuse "
            f"{last['libfuse']}, gcc {last['gcc']}, {last['fio']}, {last['strace']}.\n\n"
            f"Measured from {machines[0]['date']} to {last['date']}, in "
            f"{len(machines)} call{'s' if len(machines) > 1 else ''}")
    commits = list(dict.fromkeys(m["commit"] for m in machines))
    return text + (f", of commits {', '.join(map(str, commits))}" if len(commits) > 1 else "") + "."


def disturbed_text(runs):
    disturbed = sum(not quiet(run) for run in runs.all)
    most = max(map(most_of_others, runs.all))
    return (f"{len(runs.all)} runs; the times of {disturbed} of them were left out, because others had more "
            f"than {most:.0%} of the processors meanwhile: only CPU and sizes are taken from these.")


def cpu_table(runs):
    """One row for each workload and fidelity."""
    body = []
    for (workload, fidelity, uring), part in runs.groups.items():
        if fidelity not in targets.FIDELITIES:
            continue
        cells = []
        for over, under in (("raw", "native"), ("no-record", "native"), ("ftrac", "native"),
                            ("ftrac", "no-record"), ("ftrac", "raw")):
            found = Runs.cpu_ratios(part, over, under)
            cells.append(number(statistics.median(found) if found else None))
        body.append([workload, f"{fidelity}{' io_uring' if uring else ''}",
                     str(len(Runs.cpu_ratios(part, "ftrac", "native"))), *cells])
    if not body:
        return ""
    return "## CPU seconds\n\nOf the work and the daemon together.\n\n" + table(
        ["workload", "fidelity", "pairs", "raw : native", "no-record : native",
         "ftrac : native", "ftrac : no-record", "ftrac : raw"], body) + "\n"


TEXT = """# What tracing costs, as measured

Written by `bench/bench.py`; what was run and what the columns mean stands in `README.md`.

{machine} {disturbed}

## Targets

The worst of all workloads and fidelities that a row is about decides, of those with at least five pairs where
there are any; medians of the pairs.

{targets}
Not within the limit (in brackets: of how many pairs, where they are few):

{missed}
{stuck}{cpu}## All figures

{groups}"""


def write_csv(runs, path):
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(runs.all)
    path.write_text(text.getvalue())


def write(lines, path):
    runs = Runs(lines)
    if not runs.all:
        raise SystemExit("bench: no runs to write about; measure first")
    rows = (targets.kernel_rows if runs.in_kernel else targets.rows)(runs)
    path.write_text(TEXT.format(
        machine=machine_text(runs.machines), disturbed=disturbed_text(runs),
        targets=target_table(rows), missed=missed_list(rows),
        stuck="".join(f"Not measured: {what}.\n\n" for what in dict.fromkeys(runs.stuck)),
        cpu=cpu_table(runs), groups=group_tables(runs)))
    write_csv(runs, path.with_suffix(".csv"))
