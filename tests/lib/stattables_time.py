# SPDX-License-Identifier: MIT
"""Tables of wfstat, from the rows of a trace, by their definitions: hist, cdf, time, overview."""
import bisect
import collections
import itertools
import json

from statmodel import FOREVER, Reference, heads, known_sum, nearest
from stattables_parts import chosen_ops, in_order, minus, moved, op_key, span

# ---- distributions ----

def values_of(r, of):
    """(name of the unit, names of the keys, (keys, value) of each)."""
    data = r.data
    if of in ("latency", "read-size", "write-size"):
        names = r.names("operation" if of == "latency" else "command")
        name = of.partition("-")[0]
        return names, [(op_key(r, names, op), op.latency_ns if of == "latency" else op.bytes)
                       for op in chosen_ops(r) if of == "latency" or op.name == name
                       and op.bytes is not None]
    names = r.names("all" if of == "file-size" else "phase")
    if of in ("lifetime", "rss"):
        return names, [(r.key(names, p.id), minus(p.end_ns, p.start_ns) if of == "lifetime"
                        else p.rsspeak_bytes) for p in r.living()]
    found = collections.defaultdict(list)
    for a in data.rows["access"]:
        file = data.files.get(a.file)
        if r.takes(a.process, a.file, a.first_ns, a.last_ns):
            key = r.key(names, a.process, None, a.file)
            if of != "file-size":
                found[key, a.process].append(a.bread if of == "bytes-read" else a.bwrite)
            elif file and file.kind == "file":
                found[key, a.file] = [file.size_first if file.size_last is None else file.size_last]
    return names, [(key, known_sum(values)) for (key, _), values in found.items()]


def distributions(data, choice):
    r = Reference(data, choice, choice.of in ("lifetime", "rss"))
    names, pairs = values_of(r, choice.of)
    groups = {}
    for key, value in pairs:
        if value is not None:
            groups.setdefault(key, []).append(value)
    return heads(names), {key: sorted(values) for key, values in groups.items()}


def begins_of(choice):
    """The smallest value of each class."""
    base = 10 if choice.sizes == "tens" else 2
    return [0, *(base ** n for n in range(64))]


def table_hist(data, choice):
    names, groups = distributions(data, choice)
    rows, begins = [], begins_of(choice)
    for key, values in groups.items():
        counts, sofar = collections.Counter(bisect.bisect_right(begins, value) - 1 for value in values), 0
        for n in range(min(counts), max(counts) + 1):
            sofar += counts[n]
            rows.append((*key, begins[n], begins[n + 1], counts[n],
                         nearest(counts[n], len(values)), nearest(sofar, len(values))))
    return names + "from to count part_share cumulative_share".split(), rows


def table_cdf(data, choice):
    """All points; of a curve of more than 1000 values wfstat has some of them."""
    names, groups = distributions(data, choice)
    rows = []
    for key, values in groups.items():
        for value in sorted(set(values)):
            rank = bisect.bisect_right(values, value)
            rows.append((*key, value, rank, nearest(rank, len(values))))
    return names + "value count part_share".split(), rows


# ---- time ----

def levels(r):
    """(moment, change of processes, change of working ones, change of memory, change of processes whose memory is known): the first
    look counts from the start on, without any the peak does."""
    looks, found = collections.defaultdict(list), []
    for sample in r.data.rows["sample"]:
        if sample.rss_bytes is not None:
            looks[sample.process].append((sample.t_ns, sample.rss_bytes))
    for p in r.living():
        seen = sorted(looks[p.id])
        rss = seen[0][1] if seen else p.rsspeak_bytes
        known, rss = rss is not None, rss or 0
        found.append((p.start_ns, 1, 0, rss, known))
        for t, now in seen:
            found.append((t, 0, 0, now - rss, 0))
            rss = now
        if p.end_ns is not None:
            found.append((p.end_ns, -1, 0, -rss, -known))
        found += [(t, 0, n, 0, 0) for span in alone(r.data, p) for t, n in zip(span, (1, -1)) if t != FOREVER]
    return sorted(found)


def alone(data, process):
    """When it lives and none of its children does."""
    if "of_parent" not in data.__dict__:
        data.of_parent = collections.defaultdict(list)
        for p in data.rows["process"]:
            data.of_parent[p.parent].append((p.start_ns, FOREVER if p.end_ns is None else p.end_ns))
    first, last = process.start_ns, FOREVER if process.end_ns is None else process.end_ns
    children = [(max(first, a), min(last, b)) for a, b in data.of_parent[process.id] if a <= last]
    edges = sorted({first, last, *itertools.chain.from_iterable(children)})
    return [(a, b) for a, b in itertools.pairwise(edges) if not any(c <= a and b <= d for c, d in children)]


def highest(found, t0, step, n):
    """Of each interval the most processes and the most memory at a moment; None: that of none that lived is known."""
    most, now = [[0, 0, 0] for _ in range(n)], [0, 0, 0, 0]
    moments = {}
    for t, *change in found:
        now = [a + b for a, b in zip(now, change)]
        moments[t] = now
    before = [0, 0, 0, 0]
    for t, level in moments.items():
        if t <= t0:
            before = level
    carry = {}
    for t, level in moments.items():
        if t > t0:
            carry.setdefault((t - t0) // step, []).append((t, level))
    for k in range(n):
        inside = carry.get(k, [])
        points = [level for _, level in inside]
        if not inside or inside[0][0] != t0 + k * step or k == 0:
            points = [before] + points
        processes, working, rss, known = [max(point[i] for point in points) for i in range(4)]
        most[k] = [processes, working, None if processes and not known else rss]
        before = inside[-1][1] if inside else before
    return most


def interval_ns(choice):
    return round(float(choice.interval or 1) * 1e9)


@in_order
def table_time(data, choice):
    if choice.of:
        return time_of_classes(data, choice)
    if choice.files:
        return time_of_files(data, choice)
    if choice.by:
        return time_of_groups(data, choice)
    r, step, t0 = Reference(data, choice), interval_ns(choice), data.t0
    steps = collections.defaultdict(list)
    for op in chosen_ops(r):
        steps[(op.start_ns - t0) // step].append(op)
    sums = collections.defaultdict(list)
    for row in chosen_sums(r):
        sums[(row.t_ns - t0) // step].append(row)
    found = levels(r)
    last = max([t0, *[t for t, *_ in found], *[t0 + n * step for n in (*steps, *sums)]])
    n = (last - t0) // step + 1
    rows = []
    for k, most in enumerate(highest(found, t0, step, n)):
        if r.in_time(t0 + k * step, t0 + (k + 1) * step - 1):
            ops = steps[k]
            done = [None] * 4
            if data.has_ops and data.has_files:
                done = (len(ops), moved(ops, "read"), moved(ops, "write"),
                        len({op.file for op in ops if op.file is not None}))
            elif sums_say(r):
                done = (sum(row.count for row in sums[k]), summed(sums[k], "read"), summed(sums[k], "write"), None)
            rows.append((nearest(k * step, 10**9), *done, *most))
    return "from_s operations read_bytes written_bytes files processes working rss_bytes".split(), rows


def sums_say(r):
    """Do the sums of seconds stand for the single operations, which were not recorded?"""
    c = r.choice
    return (not r.data.has_ops and bool(r.data.rows["process_metric"]) and c.sizes != "tens" and not c.layer
            and all(ns % 10**9 == 0 for ns in (interval_ns(c), c.since_ns, c.until_ns))
            and all(r.kind(glob)[0] == "command" for glob in (*c.include, *c.exclude)))


def chosen_sums(r):
    return [row for row in r.data.rows["process_metric"] if r.takes(row.process, None, row.t_ns, row.t_ns)] if sums_say(r) else []


def summed(rows, name):
    return sum(row.bytes or 0 for row in rows if row.operation == name)


def values_of_sums(r, names, of):
    """(key, time, first operation, least value of the class, how many, bytes) of each class of each sum."""
    for row in chosen_sums(r):
        first, *counts = json.loads((row.latencies if of == "latency" else row.sizes) or "[0]")
        for class_, count in enumerate(counts, first):
            known = row.bytes if len(counts) == 1 else class_ * count if class_ < 2 else None
            if count:
                yield r.key(names, row.process, op=row.operation), row.t_ns, row.first_ns, 1 << class_ >> 1, count, known


def values_of_ops(r, names, of):
    """The same of single operations."""
    for op in chosen_ops(r):
        if of == "latency" or op.bytes is not None:
            yield op_key(r, names, op), op.start_ns, op.start_ns, op.latency_ns if of == "latency" else op.bytes, 1, op.bytes


def time_of_classes(data, choice):
    """Groups are in the order of their first operation in the run."""
    r, step, begins, of_bytes = Reference(data, choice), interval_ns(choice), begins_of(choice), choice.of == "bytes"
    names, found, first = r.names("operation"), collections.defaultdict(list), {}
    for key, t_ns, begin_ns, value, count, moved_bytes in (values_of_ops if data.has_ops else values_of_sums)(r, names, choice.of):
        first[key] = min(begin_ns, first.get(key, begin_ns))
        found[(t_ns - data.t0) // step, key, bisect.bisect_right(begins, value) - 1].append((count, moved_bytes))
    unit = "ns" if choice.of == "latency" else "bytes"
    rows = [(nearest(k * step, 10**9), *key, begins[n], begins[n + 1], sum(count for count, _ in cells),
             *([known_sum(moved_bytes for _, moved_bytes in cells)] if of_bytes else []))
            for (k, key, n), cells in sorted(found.items(), key=lambda pair: (pair[0][0], first[pair[0][1]], pair[0][2]))]
    return ["from_s", *heads(names), f"least_{unit}", f"below_{unit}", "operations", *["moved_bytes"] * of_bytes], rows


def time_of_groups(data, choice):
    r, step = Reference(data, choice), interval_ns(choice)
    names, found = r.names("operation"), collections.defaultdict(list)
    for op in chosen_ops(r):
        found[(op.start_ns - data.t0) // step, op_key(r, names, op)].append(op)
    return ["from_s", *heads(names), "operations", "moved_bytes", "latency_ns", "errors"], [
        (nearest(k * step, 10**9), *key, len(ops),
         None if all(op.bytes is None for op in ops) else sum(op.bytes or 0 for op in ops),
         sum(op.latency_ns for op in ops), sum(op.result < 0 for op in ops))
        for (k, key), ops in sorted(found.items(), key=lambda pair: (pair[0][0], min(op.start_ns for op in pair[1])))]


def time_of_files(data, choice):
    r, step = Reference(data, choice), interval_ns(choice)
    found = collections.defaultdict(list)
    for op in chosen_ops(r):
        if op.file is not None:
            found[(op.start_ns - data.t0) // step, op.file].append(op)
    rows = [(k, min(op.start_ns for op in ops), file, ops) for (k, file), ops in found.items()]
    return "from_s path operations read_bytes written_bytes".split(), [
        (nearest(k * step, 10**9), data.files[file].path if file in data.files else None, len(ops),
         moved(ops, "read"), moved(ops, "write"))
        for k, _, file, ops in sorted(rows, key=lambda row: row[:3])]


# ---- overview ----

@in_order
def table_overview(data, _choice):
    f, p, h = data.facts, data.processes.values(), data.rows["handle"]
    ends = [one.end_ns for one in p if one.end_ns is not None]
    end = f["end_ns"] if f["end_ns"] is not None else max(ends, default=None)
    roots = [one for one in p if one.parent is None] if f.get("command") is not None else []
    wall = max((one.end_ns for one in roots if one.end_ns is not None), default=None)
    wall = minus(end, f["start_ns"]) if wall is None else wall - min(one.start_ns for one in roots)

    def known(rows, *columns):
        values = [getattr(row, c) for row in rows for c in columns if getattr(row, c) is not None]
        return sum(values) if values else None

    rss = [one.rsspeak_bytes for one in p if one.rsspeak_bytes is not None]
    return ["fact", "value"], [
        *[(key, f.get(key)) for key in ("command", "exit_status", "host", "cpus")],
        ("begin_ns", f["start_ns"]), ("wall_ns", wall),
        ("tracer_cpu_ns", f.get("tracer_cpu_ns")), ("processes", len(p)),
        ("steps", len({one.step for one in p} - {None})),
        ("tasks", len({one.part for one in p} - {None})),
        ("failed_or_killed", sum(one.exit_signal is not None or bool(one.exit_code) for one in p)),
        ("cpu_ns", known(p, "cpu_ns")),
        ("processes_without_cpu", sum(one.cpu_ns is None for one in p)),
        ("largest_rss_bytes", max(rss, default=None)),
        ("operations", f["ops_recorded"]), ("opens", len(h)),
        ("files_opened", len({one.file for one in data.rows["access"] if one.opens} - {None})),
        ("read_bytes", known(h, "bread")), ("written_bytes", known(h, "bwrite")),
        ("reading_and_writing_ns", known(h, "read_ns", "write_ns")),
        ("all_io_bytes", f["bytes_kernel"]),
        ("processes_without_io", sum(one.read_char is None for one in p)), ("fidelity", f["fidelity"]),
        ("process_tier", f["process_tier"]), ("operations_lost", f["ops_lost"]),
        ("process_events_lost", f["process_events_lost"]), ("complete", f["complete"])]
