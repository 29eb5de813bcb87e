# SPDX-License-Identifier: MIT
"""What the figures should be, and whether they are.

A row is a measure with two limits: what has to be reached at least, and what is aimed at.  Several
ratios may belong to it; the worst decides: of those that are medians of enough pairs, where there are such.
"""
import statistics

FIDELITIES = ["open", "cached", "exact"]
PAIRS_MIN = 5


class Row:
    def __init__(self, measure, least, aim, found, more_is_better=False):
        """found: (what it is of, value, pairs), any number of."""
        self.measure, self.least, self.aim = measure, least, aim
        self.found = sorted(found, key=lambda f: f[1], reverse=not more_is_better)
        self.more = more_is_better

    @property
    def worst(self):
        """Of few pairs one of several figures is always far off."""
        sure = [found for found in self.found if found[2] >= PAIRS_MIN]
        return next(iter(sure or self.found), None)

    def within(self, value, limit):
        return value >= limit if self.more else value <= limit

    @property
    def verdict(self):
        if not self.found:
            return "not measured"
        _, worst, pairs = self.worst
        few = "" if pairs >= PAIRS_MIN else ", of few pairs"
        if self.within(worst, self.aim):
            return "met, and the aim" + few
        return ("met" if self.within(worst, self.least) else "NOT met") + few

    @property
    def missed(self):
        return [found for found in self.found if not self.within(found[1], self.least)]


def medians(runs, over, under, uring=None, workloads=None, fidelities=FIDELITIES):
    """(name, median, pairs) of each workload and fidelity that has both roles."""
    found = []
    for (workload, fidelity, on), part in sorted(runs.groups.items()):
        if fidelity not in fidelities or (uring is not None and on != uring):
            continue
        if workloads and workload not in workloads:
            continue
        ratios = runs.ratios(part, over, under)
        if ratios:
            found.append((f"{workload} {fidelity}{' io_uring' if on else ''}",
                          statistics.median(ratios), len(ratios)))
    return found


def overheads(runs, ours, theirs, workloads, others="others"):
    """How much more than the native run, as a part of what another tracer takes more."""
    found = []
    for (workload, fidelity, on), part in sorted(runs.groups.items()):
        if fidelity != others or workload not in workloads:
            continue
        a, b = runs.ratios(part, ours, "native"), runs.ratios(part, theirs, "native")
        if a and b:
            more = statistics.median(b) - 1
            if more > 0:
                found.append((workload, (statistics.median(a) - 1) / more, min(len(a), len(b))))
    return found


def parallel(runs, of, uring):
    """The overhead of 8 jobs, which is none where it took less time, as a part of that of 1 job."""
    found = []
    for fidelity in FIDELITIES:
        one, many = (medians(runs, "ftrac", "native", uring, [f"{of}-{jobs}"], [fidelity])
                     for jobs in ("j1", "j8"))
        if one and many and one[0][1] > 1:
            found.append((f"{of} {fidelity}", max(many[0][1] - 1, 0) / (one[0][1] - 1),
                          min(one[0][2], many[0][2])))
    return found


def bytes_per_op(runs, workload):
    return [(f"{workload} {fidelity}", statistics.median(values), len(values))
            for fidelity in ("cached", "exact")
            if (values := [run["db_bytes"] / run["ops"] for run in runs.all
                           if run["workload"] == workload and run["role"] == "ftrac"
                           and run["fidelity"] == fidelity and run.get("ops")])]


def more_ns(runs, workload):
    """Nanoseconds that a call takes more when it is recorded."""
    return [(workload, statistics.median(more), len(more))
            for (name, fidelity, _), part in runs.groups.items()
            if name == workload and fidelity == "kernel"
            and (more := [turn["kernel"]["cost"] - turn["native"]["cost"] for turn in part.values()
                          if "kernel" in turn and "native" in turn])]


def dropped(runs, workload):
    values = [run["dropped"] for run in runs.all if run["workload"] == workload and run["role"] == "kernel"]
    return [(workload, max(values), len(values))] if values else []


def kernel_bytes_per_op(runs, workloads):
    return [(workload, statistics.median(values), len(values)) for workload in workloads
            if (values := [run["db_bytes"] / run["ops"] for run in runs.all
                           if run["workload"] == workload and run["role"] == "kernel" and run.get("ops")])]


COMMANDS = ["montage-j2", "montage-j8", "compile-j2", "compile-j8", "hello", "git", "tree"]

# Time of the recorded command : time of the native one.
KERNEL_RATIOS = [("Lua compile -j2, -j8", ["compile-j2", "compile-j8"], 1.03, 1.01),
                 ("Montage -j2, -j8", ["montage-j2", "montage-j8"], 1.06, 1.02),
                 ("GNU hello configure + make", ["hello"], 1.12, 1.05),
                 ("git", ["git"], 1.35, 1.10),
                 ("tar xf, cp -r, grep -r, rm -rf", ["tree"], 1.60, 1.20),
                 ("storm of 1,000 short programs", ["storm"], 1.10, 1.03)]

KERNEL_CALLS = [("1-byte read", "call-read", 500, 250), ("stat", "call-stat", 850, 400),
                ("open + close", "call-open", 2000, 1000)]


def kernel_rows(runs):
    """The same of the record in the kernel."""
    table = [Row(f"{name} : native", least, aim, medians(runs, "kernel", "native", None, names, ["kernel"]))
             for name, names, least, aim in KERNEL_RATIOS]
    table.append(Row("overhead : overhead of `strace -f` of the same calls", 1 / 30, 1 / 100,
                     overheads(runs, "kernel", "strace", COMMANDS, "kernel")))
    table.append(Row("`call` on a mount : `open` without record", 1.05, 1.02,
                     medians(runs, "call", "open", None, None, ["call"])))
    table.append(Row("untraced Montage beside a traced command that sleeps : native", 1.04, 1.01,
                     medians(runs, "beside", "native", None, None, ["beside"])))
    table += [Row(f"recorded {name}: ns more than native", least, aim, more_ns(runs, workload))
              for name, workload, least, aim in KERNEL_CALLS]
    table.append(Row("two processes of a million 1-byte reads each: dropped", 0, 0, dropped(runs, "reads")))
    table.append(Row("bytes per operation in trace.db", 40, 28, kernel_bytes_per_op(runs, COMMANDS)))
    table.append(Row("operations lost", 0, 0, runs.lost()))
    return table


LIMITS = {"open": (1.35, 1.15), "cached": (1.45, 1.20), "exact": (1.90, 1.40)}


def rows(runs):
    """The table, with and without io_uring where that makes a difference."""
    table = []
    for uring in (False, True):
        way = "io_uring" if uring else "by device"
        table.append(Row(f"ftrac : `ftrac --no-record`, {way}", 1.05, 1.02,
                         medians(runs, "ftrac", "no-record", uring)))
        table.append(Row(f"`cached` : passthrough_ll, {way}", 1.00, 0.85,
                         medians(runs, "ftrac", "raw", uring, fidelities=["cached"])))
        for fidelity, (least, aim) in LIMITS.items():
            table.append(Row(f"Montage -j2, -j8 : native, `{fidelity}`, {way}", least, aim,
                             medians(runs, "ftrac", "native", uring,
                                     ["montage-j2", "montage-j8"], [fidelity])))
        table.append(Row(f"compile -j2, -j8 : native, {way}", 1.08, 1.03,
                         medians(runs, "ftrac", "native", uring, ["compile-j2", "compile-j8"])))
        for of in "montage", "compile":
            table.append(Row(f"{of}: overhead of 8 jobs : overhead of 1, {way}", 1.10, 1.00,
                             parallel(runs, of, uring)))
        mark = " io_uring" if uring else ""
        table.append(Row(f"overhead of `exact` : overhead of `strace -f`, {way}", 1 / 5, 1 / 12,
                         overheads(runs, f"ftrac exact{mark}", "strace", ["montage-j2", "compile-j2"])))
        table.append(Row(f"overhead of `cached` : overhead of LoggedFS, Montage, {way}", 0.6, 0.25,
                         overheads(runs, f"ftrac cached{mark}", "loggedfs", ["montage-j2"])))
    table.append(Row("bytes per operation in trace.db, Montage", 40, 28,
                     bytes_per_op(runs, "montage-j2")))
    table.append(Row("writer alone, million events a second", 0.8, 1.5,
                     runs.writer(), more_is_better=True))
    table.append(Row("operations lost", 0, 0, runs.lost()))
    return table
