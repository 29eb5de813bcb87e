# SPDX-License-Identifier: MIT
"""The tables of wfstat, from the rows of a trace, by their definitions."""
import bisect
import collections
import errno
import itertools

from statmodel import (FOREVER, Reference, Row, deviation_of, heads, known_sum, mean_of, nearest,
                       quantile_of)
from stattables_calls import table_hierarchy, table_slowest  # noqa: F401

# ---- io, mem, run, util: one row for each step ----

def by_step(choice):
    return not choice.long and not choice.per


def lived_ns(spans):
    """The time in which any of them lived: the sum of the pieces between two ends in which there is one."""
    if any(end is None for _, end in spans):
        return None
    edges = sorted({edge for span in spans for edge in span})
    return sum(b - a for a, b in itertools.pairwise(edges) if any(start <= a and b <= end for start, end in spans))


def steps_of(r, names):
    """The processes of each row."""
    groups = {}
    for process in sorted(r.living(), key=lambda p: (p.start_ns, p.id)):
        groups.setdefault(tuple(r.key(names, process.id)), []).append(process)
    return groups


def total_key(names):
    return "Total", *[None] * (len(names) - 1)


def tasks_of(processes):
    found = {}
    for process in processes:
        if process.part is not None:
            found.setdefault(process.part, []).append(process)
    return list(found.values())


def life_of(processes):
    return lived_ns([(p.start_ns, p.end_ns) for p in processes])


def run_steps(data, choice):
    r = Reference(data, choice, True)
    names, rows = r.names("step"), []
    groups = steps_of(r, names)
    for key, processes in groups.items():
        tasks = tasks_of(processes)
        times = [t for t in map(span, tasks) if t is not None]
        rows.append((*key, len(tasks), len(processes), life_of(processes), min(times, default=None),
                     int(mean_of(times)) if times else None, max(times, default=None)))
    every = list(itertools.chain.from_iterable(groups.values()))
    if every:
        rows.append((*total_key(names), len(tasks_of(every)), len(every), life_of(every), None, None, None))
    return heads(names) + "tasks processes time_ns min_ns mean_ns max_ns".split(), rows


def mem_steps(data, choice):
    r = Reference(data, choice, True)
    memory = choice.memory or data.facts.get("memory_bytes")
    names, rows = r.names("step"), []
    for key, processes in steps_of(r, names).items():
        known = all(p.rsspeak_bytes is not None for p in processes)
        upper = max(map(upper_rss, tasks_of(processes)), default=None) if known else None
        fit = [memory // upper if upper else None] if memory else []
        rows.append((*key, len(tasks_of(processes)), len(processes), lower_rss(processes), upper, *fit))
    return heads(names) + "tasks processes rss_bytes task_rss_bytes".split() + ["fit"] * bool(memory), rows


def own_ns(data, process):
    """How long it lived without a child that lived."""
    if process.end_ns is None:
        return None
    children = [(p.start_ns, min(process.end_ns, FOREVER if p.end_ns is None else p.end_ns))
                for p in data.rows["process"] if p.parent == process.id and p.end_ns is not None]
    return process.end_ns - process.start_ns - lived_ns([c for c in children if c[0] < c[1]])


def util_steps(data, choice):
    r = Reference(data, choice, True)
    waited = spent(data)
    names, rows = r.names("step"), []
    groups = steps_of(r, names)
    if groups:
        groups[total_key(names)] = list(itertools.chain.from_iterable(groups.values()))
    for key, processes in groups.items():
        life, cpu = life_of(processes), all_sum(processes, "cpu_ns")
        parts = [cpu, all_sum(processes, "cpu_delay_ns"), all_sum(processes, "blkio_delay_ns"),
                 all_sum(processes, "swapin_delay_ns", "reclaim_delay_ns"),
                 known_sum(None if p.fidelity is None else waited[p.id] for p in processes)]
        own = known_sum(own_ns(data, p) for p in processes)
        rest = None
        if own is not None and cpu is not None:
            rest = own - sum(part for part in parts if part is not None)
        rest = rest if rest is not None and rest >= 0 else None
        if key == total_key(names):
            rest = known_sum(row[-1] for row in rows)
        rows.append((*key, len(tasks_of(processes)), len(processes), life,
                     nearest(cpu, life) if cpu is not None and life else None, *parts, rest))
    return heads(names) + ("tasks processes time_ns utilization_share cpu_ns queue_ns block_io_ns memory_ns traced_io_ns "
                           "rest_ns").split(), rows


def io_steps(data, choice):
    r = Reference(data, choice)
    names, groups = r.names("step"), {}
    for row, values in io_uses(r, names):
        groups.setdefault(tuple(r.key(names, row.process, row.image, row.file, images=True)), []).append((row.process, values))
    if groups:
        groups[total_key(names)] = list(itertools.chain.from_iterable(groups.values()))
    rows = []
    for key, uses in groups.items():
        processes = [data.processes[number] for number in dict.fromkeys(process for process, _ in uses) if number in data.processes]
        rows.append((*key, len(tasks_of(processes)), len(processes), *[known_sum(side) for side in zip(*[v for _, v in uses])]))
    return heads(names) + ["tasks", "processes", *SIDE_NAMES], rows


# ---- io, mem, run, util: the long form ----

def grouped(data, choice, units, columns, rows_of, process_only):
    """Both levels, or the one that is asked for.  units(reference, names, per_job) gives (keys with
    what is counted, values) of each unit, rows_of the ends of rows."""
    reference = Reference(data, choice, process_only)
    names = reference.names("xform,exe")
    both = not choice.by and not choice.per

    def level(names, per_job):
        groups = {}
        for key, values in units(reference, names, per_job):
            groups.setdefault(key, []).append(values)
        return groups

    rows = []
    upper = level(["xform"] if both else names, True) if both or choice.per == "job" else {}
    lower = level(names, False) if both or choice.per != "job" else {}
    if both:
        upper = {(xform, "(all)", of): values for (xform, of), values in upper.items()}
    for groups in upper, lower:
        rows += [(*key, *end) for key, values in groups.items()
                 for end in rows_of(values, choice, data)]
    return heads(names) + ["of"] + columns, rows


def in_order(table):
    """Marks a table whose rows are compared in the order in which wfstat prints them."""
    table.in_order = True
    return table


def numbers(values):
    values = [value for value in values if value is not None]
    if not values:
        return 0, None, None, None, None, None
    return (len(values), min(values), max(values), mean_of(values), deviation_of(values),
            sum(values))


NUMBERS = "value count min max mean sd sum".split()
SIDES = "bread", "bwrite", "nread", "nwrite"
SIDE_NAMES = "read_bytes", "written_bytes", "reads", "writes", "read_at_exec_bytes", "reads_at_exec"


def begun_by(data, handle, use):
    """The image that an execve(2) begins, of a use of the handle by which the kernel has read the program."""
    later = [image for image in data.rows["image"] if handle.process is not None and
             image.process == handle.process == use.process and image.start_ns >= handle.open_ns]
    return min(later, key=lambda image: image.seq).id if later else use.image


def io_uses(r, names):
    """What is used, as rows with a process, image and file; and the numbers of SIDE_NAMES."""
    for use in r.data.rows["use"]:
        if r.takes(use.process, use.file, use.first_ns, use.last_ns):
            if use.exec:
                image = begun_by(r.data, r.data.handles[use.handle], use)
                yield (Row({"process": use.process, "image": image, "file": use.file}),
                    [0, 0, 0, 0, use.bread, use.nread])
            else:
                yield (use, [*(getattr(use, side) for side in SIDES), 0, 0])
    for handle in r.data.rows["handle"]:
        last = handle.open_ns if handle.close_ns is None else handle.close_ns
        if handle.nread is None and r.takes(handle.process, handle.file, handle.open_ns, last):
            yield (handle, [0] * 4 + [None] * 2 if handle.exec else [None] * 4 + [0] * 2)
    files = r.has_file_keys(names) or any(
        r.kind(glob)[0] != "command" for glob in (*r.choice.include, *r.choice.exclude))
    for process in () if files else r.living():
        yield (Row({"process": process.id, "image": process.last and process.last.id, "file": None}),
            [None if process.fidelity is None else 0] * 6)


def io_units(r, names, per_job):
    sums = {}
    for row, values in io_uses(r, names):
        unit, of = r.unit(row.process, per_job)
        key = *r.key(names, row.process, row.image, row.file, images=True), of
        for side, value in zip(sums.setdefault((unit, key), [[] for _ in SIDE_NAMES]), values):
            side.append(value)
    for (_, key), sides in sums.items():
        yield key, [known_sum(side) for side in sides]


def io_rows(values, _choice, _data):
    for i, name in enumerate(SIDE_NAMES):
        yield name, *numbers(value[i] for value in values)


def table_io(data, choice):
    if by_step(choice):
        return io_steps(data, choice)
    return grouped(data, choice, io_units, NUMBERS, io_rows, False)


def members(r, names, per_job):
    """The processes of each unit and group."""
    found = {}
    for process in r.living():
        unit, of = r.unit(process.id, per_job)
        found.setdefault((unit, (*r.key(names, process.id), of)), []).append(process)
    return ((key, processes) for (_, key), processes in found.items())


def span(processes):
    if any(p.end_ns is None for p in processes):
        return None
    return max(p.end_ns for p in processes) - min(p.start_ns for p in processes)


def run_units(r, names, per_job):
    return ((key, span(processes)) for key, processes in members(r, names, per_job))


def table_run(data, choice):
    if by_step(choice):
        return run_steps(data, choice)
    return grouped(data, choice, run_units, NUMBERS,
                   lambda values, *_: [("runtime_ns", *numbers(values))], True)


def upper_rss(processes):
    """A process that ends when another one starts is gone by then."""
    if any(p.rsspeak_bytes is None for p in processes):
        return None
    return max(sum(q.rsspeak_bytes for q in processes if q is p or q.start_ns <= p.start_ns and (
        q.end_ns is None or q.end_ns > p.start_ns)) for p in processes)


def lower_rss(processes):
    return max((p.rsspeak_bytes for p in processes if p.rsspeak_bytes is not None), default=None)


def mem_units(r, names, per_job):
    for key, processes in members(r, names, per_job):
        if per_job:
            yield key, {"rss_upper_bytes": upper_rss(processes),
                        "rss_lower_bytes": lower_rss(processes)}
        else:
            yield key, {"rss_bytes": processes[0].rsspeak_bytes}


def mem_rows(values, choice, data):
    memory = choice.memory or data.facts.get("memory_bytes")
    for name in values[0]:
        found = numbers(value[name] for value in values)
        fit = [memory // found[2] if found[2] else None] if memory else []
        yield name, *found, *fit


def table_mem(data, choice):
    if by_step(choice):
        return mem_steps(data, choice)
    columns = NUMBERS + ["fit"] * bool(choice.memory or data.facts.get("memory_bytes"))
    return grouped(data, choice, mem_units, columns, mem_rows, True)


def all_sum(processes, *columns):
    return known_sum(None if None in (v := [getattr(p, c) for c in columns]) else sum(v)
                     for p in processes)


def spent(data):
    """How long all operations of each process took. If the trace has no single operations: the sum in the trace."""
    if not data.has_ops:
        return {p.id: p.ops_ns for p in data.rows["process"]}
    found = collections.Counter()
    for op in data.rows["op"]:
        found[op.process] += op.latency_ns
    return found


def util_units(r, names, per_job):
    waited = spent(r.data)
    for key, processes in members(r, names, per_job):
        busy, wall = all_sum(processes, "utime_ns", "stime_ns"), span(processes)
        share = nearest(busy, wall) if busy is not None and wall else None
        yield key, (share, life_of(processes), all_sum(processes, "cpu_ns"),
                    all_sum(processes, "cpu_delay_ns"), all_sum(processes, "blkio_delay_ns"),
                    all_sum(processes, "swapin_delay_ns", "reclaim_delay_ns"),
                    known_sum(None if p.fidelity is None else waited[p.id] for p in processes))


def util_rows(values, _choice, _data):
    shares = numbers(value[0] for value in values)
    parts = [known_sum(value[i] for value in values) for i in range(1, 7)]
    rest = None
    if parts[0] is not None and parts[1] is not None:
        rest = parts[0] - sum(part for part in parts[1:] if part is not None)
    yield (len(values), *shares[1:5], *parts, rest if rest is not None and rest >= 0 else None)


def table_util(data, choice):
    if by_step(choice):
        return util_steps(data, choice)
    return grouped(data, choice, util_units, (
        "count min_share max_share mean_share sd_share life_ns cpu_ns queue_ns block_io_ns "
        "memory_ns traced_io_ns rest_ns").split(), util_rows, True)


# ---- operations ----

def chosen_ops(r):
    return [op for op in r.data.rows["op"]
            if r.takes(op.process, op.file, op.start_ns, op.start_ns) and is_of_layer(r, op)]


def is_of_layer(r, op):
    return {None: True, "calls": op.layer == "call" or op.via in ("direct", "copy"), "requests": op.layer == "request"}[r.choice.layer]


def op_key(r, names, op):
    return r.key(names, op.process, op.image, op.file, op.name, images=True)


def table_sys(data, choice):
    r = Reference(data, choice)
    names = r.names("operation")
    groups = {}
    for op in chosen_ops(r):
        groups.setdefault(op_key(r, names, op), []).append(op)
    every = [op for ops in groups.values() for op in ops]
    if every:
        groups = {**groups, ("Total", *[None] * (len(names) - 1)): every}
    total = sum(op.latency_ns for op in every)
    rows = []
    for key, ops in groups.items():
        values = sorted(op.latency_ns for op in ops)
        rows.append((*key, len(ops), nearest(len(ops), len(every)),
                     sum(op.result < 0 for op in ops), sum(values),
                     nearest(sum(values), total) if total else 0, mean_of(values),
                     deviation_of(values), values[0],
                     *[quantile_of(values, p) for p in (50, 95, 99)], values[-1]))
    return heads(names) + ("count count_share failed sum_ns sum_share mean_ns sd_ns min_ns p50_ns "
                           "p95_ns p99_ns max_ns").split(), rows


DARSHAN = (("0-100", 100), ("101-1K", 1 << 10), ("1K-10K", 10 << 10), ("10K-100K", 100 << 10),
           ("100K-1M", 1 << 20), ("1M-4M", 4 << 20), ("4M-10M", 10 << 20), ("10M-100M", 100 << 20),
           ("100M-1G", 1 << 30), ("1G+", FOREVER))
TRAITS = "consecutive", "sequential", "strided", "random", "aligned"


class Place:
    """Where a handle is."""

    def __init__(self):
        self.end, self.begins = 0, []

    def move(self, offset, size):
        """What the access is."""
        consecutive, sequential = offset == self.end, offset >= self.end
        strided = (not consecutive and len(self.begins) > 1 and offset != self.begins[-1]
                   and offset - self.begins[-1] == self.begins[-1] - self.begins[-2])
        self.begins = [*self.begins[-1:], offset]
        self.end = offset + size
        return (consecutive, sequential, strided, not sequential and not strided,
                offset % 4096 == 0)


def table_pattern(data, choice):
    r = Reference(data, choice)
    names = r.names("command")
    columns = heads(names) + ["operation", "count", "moved_bytes"] + [f"{t}_share" for t in TRAITS]
    if not data.has_ops:
        return columns, handle_patterns(r, names)
    groups, places = {}, collections.defaultdict(Place)
    for op in sorted(chosen_ops(r), key=lambda op: op.id):
        if op.name in ("read", "write") and op.result >= 0:
            traits = places[op.handle].move(op.offset, op.bytes) if op.offset is not None else None
            groups.setdefault((*op_key(r, names, op), op.name), []).append((op.bytes, traits))
    classes, class_of = size_classes(choice, groups)
    rows = []
    for key, accesses in groups.items():
        placed = [traits for _, traits in accesses if traits]
        counts = collections.Counter(class_of(size) for size, _ in accesses)
        rows.append((*key, len(accesses), sum(size for size, _ in accesses),
                     *[nearest(sum(t[i] for t in placed), len(placed)) if placed else None
                       for i in range(5)], *[counts[name] for name in classes]))
    return columns + classes, rows


def size_classes(choice, groups):
    if choice.sizes != "powers":
        return [name for name, _ in DARSHAN], lambda size: next(
            name for name, largest in DARSHAN if size <= largest)
    largest = max((size for accesses in groups.values() for size, _ in accesses), default=0)
    names = ["0"] + [f"{1 << n}+" for n in range(largest.bit_length())]
    return names, lambda size: names[size.bit_length()]


def handle_patterns(r, names):
    groups = {}
    for handle in r.data.rows["handle"]:
        last = handle.open_ns if handle.close_ns is None else handle.close_ns
        if r.takes(handle.process, handle.file, handle.open_ns, last):
            groups.setdefault(r.key(names, handle.process, handle.image, handle.file, images=True),
                              []).append(handle)
    for key, handles in groups.items():
        for operation, side in ("read", "reads"), ("write", "writes"):
            count, moved, consecutive, sequential = (
                sum(getattr(h, column) or 0 for h in handles) for column in (
                    f"n{operation}", f"b{operation}", f"consecutive_{side}", f"sequential_{side}"))
            if count:
                yield (*key, operation, count, moved, nearest(consecutive, count),
                       nearest(sequential, count), None, None, None)


SEARCH = {("lookup", "getattr", "access", "open"): (errno.ENOENT, errno.ENOTDIR)}
PROBE = {("getxattr", "listxattr"): (errno.ENODATA, errno.EOPNOTSUPP),
         ("readlink",): (errno.EINVAL,), ("ioctl",): (errno.ENOTTY,)}


def kind_of_error(name, number):
    for kind, table in ("search", SEARCH), ("probe", PROBE):
        if any(name in names and number in errors for names, errors in table.items()):
            return kind
    return "error"


def error_name(number):
    return {errno.EAGAIN: "EAGAIN", errno.EOPNOTSUPP: "EOPNOTSUPP",
            errno.EDEADLK: "EDEADLK"}.get(number, errno.errorcode.get(number))


def table_errors(data, choice):
    r = Reference(data, choice)
    names, found = r.names("command"), {}
    if data.has_ops:
        for op in chosen_ops(r):
            if op.result < 0:
                found.setdefault((kind_of_error(op.name, -op.result), op.name,
                                  error_name(-op.result), *op_key(r, names, op), op.path),
                                 []).append((1, op.start_ns))
    else:
        for missing in data.rows["ghost"]:
            if r.takes(missing.process, None, missing.first_ns, missing.first_ns):
                found.setdefault(("search", "lookup", "ENOENT", *r.key(names, missing.process),
                                  missing.path), []).append((missing.count, missing.first_ns))
    return ["kind", "operation", "errno", *heads(names), "path", "count", "first_ns"], [
        (*key, sum(n for n, _ in some), min(t for _, t in some)) for key, some in found.items()]


# ---- flow ----

def pipes_of(data):
    """file -> process -> [bytes read, written, when first written, last read, reads, writes]"""
    pipes = collections.defaultdict(dict)
    for u in data.rows["use"]:
        if u.file in data.files and data.files[u.file].kind == "fifo":
            end = pipes[u.file].setdefault(u.process, [0, 0, None, None, 0, 0])
            end[0] += u.bread
            end[1] += u.bwrite
            end[2] = min((t for t in (end[2], u.first_write_ns) if t is not None), default=None)
            end[3] = max((t for t in (end[3], u.last_read_ns) if t is not None), default=None)
            end[4] += u.nread
            end[5] += u.nwrite
    return {file: {process: end for process, end in ends.items() if end[0] or end[1]} for file, ends in pipes.items()}


def assumed_flows(data):
    """(writer, reader, path, first, last): of a mount, by the standard streams of programs."""
    if data.facts.get("files") == "kernel":
        return []
    held = collections.defaultdict(dict)
    for image in data.rows["image"]:
        for reads, path in (True, image.stdin), (False, image.stdout), (False, image.stderr):
            if image.seq > 0 and path and path.startswith("pipe:["):
                begin, end = image.start_ns, image.start_ns if image.end_ns is None else image.end_ns
                found = held[path].setdefault(image.process, [set(), begin, end])
                found[0].add(reads)
                found[1:] = min(found[1], begin), max(found[2], end)
    return [(w, r, path, of[w][1], of[r][2]) for path, of in held.items() for w in of for r in of
            if w != r and False in of[w][0] and True in of[r][0]]


def table_flow(data, choice):
    r, rows = Reference(data, choice, True), []
    for number, ends in pipes_of(data).items():
        writers = {p: end for p, end in ends.items() if end[1]}
        readers = {p: end for p, end in ends.items() if end[0]}
        if writers.keys() & readers.keys() and all(end[0] <= end[4] and end[1] <= end[5] for end in ends.values()):
            continue
        whole = sum(end[0] for end in readers.values()) == sum(end[1] for end in writers.values())
        for w, r_ in itertools.product(writers, readers):
            first, last = writers[w][2], readers[r_][3]
            # What is written after the last read has not come to the reader.
            if w == r_ or None in (first, last) or last < first or not {w, r_} & r.chosen or not r.in_time(first, last):
                continue
            known = readers[r_][0] if len(writers) == 1 else writers[w][1] if len(readers) == 1 and whole else None
            program = [p and data.processes[p].program for p in (w, r_)]
            rows.append((w, program[0], r_, program[1], data.files[number].path, known, first, last, 0))
    for w, reader, path, first, last in assumed_flows(data):
        if {w, reader} & r.chosen and r.in_time(first, last):
            rows.append((w, data.processes[w].program, reader, data.processes[reader].program, path, None, first, last, 1))
    return "writer writer_program reader reader_program path bytes first_ns last_ns assumed".split(), rows


READS, WRITES = {"read", "recv", "copy", "sendfile", "splice"}, {"write", "send", "copy", "sendfile", "splice"}
OF_FILES, OF_CALLS = {"file", "path", "directory", "fstype", "mount"}, {"operation", "class"}


def bytes_of(ops, names):
    return sum(op.bytes or 0 for op in ops if op.name in names)


def layers_of(ops):
    """(layer, operations, read, written, latency) of calls and requests."""
    calls = [op for op in ops if op.layer == "call" or op.via in ("direct", "copy")]
    asked = [op for op in ops if op.layer == "request"]
    rows = [("calls", len(calls), bytes_of(calls, READS), bytes_of(calls, WRITES), sum(op.latency_ns for op in calls))]
    if asked:
        n = sum((1 if op.pieces is None else op.pieces) if op.via == "direct" else 1 for op in asked)
        rows.append(("requests", n, bytes_of(asked, {"read", "copy"}), bytes_of(asked, {"write", "copy"}),
                     sum(op.latency_ns for op in asked)))
    return rows


def known_device(data, p, column):
    """Of a process that is older than the record, more is counted than the record has."""
    older = data.facts.get("command") is None and p.start_ns is not None and p.start_ns < data.t0
    return None if older else getattr(p, column)


def kept_from_devices(data, processes):
    """Bytes read and written that no device moved, and bytes that devices read beyond; of each process alone."""
    kept = {"read": 0, "written": 0, "ahead": 0}
    for p in processes:
        files = [op for op in data.rows["op"] if op.process == p.id and op.file in data.files and data.files[op.file].kind == "file"]
        read, written = bytes_of(files, {"read", "copy", "sendfile"}), bytes_of(files, {"write", "copy"})
        from_device, to_device = known_device(data, p, "read_bytes"), known_device(data, p, "write_bytes")
        if from_device is None:
            kept["read"] = kept["ahead"] = None
        elif kept["read"] is not None:
            kept["read"] += max(0, read - from_device)
            kept["ahead"] += max(0, from_device - read)
        kept["written"] = None if to_device is None or kept["written"] is None else kept["written"] + max(0, written - to_device)
    return kept


def devices_of(data, choice, names):
    """What the rows of devices are of: "processes", "files" or None."""
    some = any(not glob.startswith("command:") for glob in (*choice.include, *choice.exclude))
    if OF_CALLS & set(names) or choice.timed or choice.layer or some:
        return None
    if OF_FILES & set(names):
        return "files" if data.facts.get("device_io") else None
    return "processes"


def device_of_processes(data, living):
    rows = []
    if data.facts.get("files") == "kernel" and living:
        kept = kept_from_devices(data, living)
        if kept["read"] is not None or kept["written"] is not None:
            rows.append(("cache", None, kept["read"], kept["written"], None))
        if kept["ahead"]:
            rows.append(("read-ahead", None, kept["ahead"], None, None))
    did = [[known_device(data, p, column) for p in living] for column in ("read_bytes", "write_bytes", "blkio_delay_ns")]
    return [*rows, ("device", None, *(None if not one or None in one else sum(one) for one in did))]


def kept_of_files(data, files):
    kept = [0, 0, 0]
    for file in files:
        ops, did = [op for op in data.rows["op"] if op.file == file], [io for io in data.rows["device_io"] if io.file == file]
        for i, (names, name) in enumerate((({"read", "copy", "sendfile"}, "read"), ({"write", "copy"}, "write"))):
            more = bytes_of(ops, names) - sum(io.bytes for io in did if io.name == name)
            kept[i] += max(0, more)
            if name == "read":
                kept[2] += max(0, -more)
    return kept


def device_of_files(r, names, living):
    """By key: what devices did for files; and, if rows are of files alone, what the cache kept."""
    data, rows, did, files = r.data, collections.defaultdict(list), collections.defaultdict(list), collections.defaultdict(set)
    for io in data.rows["device_io"]:
        if r.takes(io.process, io.file, io.first_ns, io.last_ns):
            did[r.key(names, io.process, None, io.file)].append(io)
    if not set(names) - OF_FILES:
        for file in {op.file for op in data.rows["op"]} | {io.file for io in data.rows["device_io"]}:
            if file in data.files and data.files[file].kind == "file" and r.takes(None, file, None, None):
                files[r.key(names, None, None, file)].add(file)
    for key, some in files.items():
        read, written, ahead = kept_of_files(data, some)
        rows[key].append(("cache", None, read, written, None))
        if ahead:
            rows[key].append(("read-ahead", None, ahead, None, None))
    for key, some in did.items():
        rows[key].append(("device", sum(io.operations for io in some), *(sum(io.bytes for io in some if io.name == name)
                                                                        for name in ("read", "write")), sum(io.latency_ns for io in some)))
    return rows


def table_layers(data, choice):
    r = Reference(data, choice)
    names, ops, living, rows = r.names("phase"), collections.defaultdict(list), collections.defaultdict(list), []
    devices = devices_of(data, choice, names)
    for op in chosen_ops(r):
        ops[op_key(r, names, op)].append(op)
    for p in Reference(data, choice, True).living() if devices == "processes" else ():
        living[r.key(names, p.id)].append(p)
    of_files = device_of_files(r, names, living) if devices == "files" else {}
    for key in {**ops, **living, **of_files}:
        rows += [(*key, *row) for row in (layers_of(ops[key]) if ops[key] else [])]
        if devices:
            rows += [(*key, *row) for row in (device_of_processes(data, living[key]) if devices == "processes" else of_files.get(key, ()))]
    return heads(names) + "layer operations read_bytes written_bytes latency_ns".split(), rows


WAITS = ("running_ns queue_ns file_ns pipe_ns socket_ns lock_ns sleep_ns event_ns memory_ns stopped_ns other_ns "
         "child_ns").split()


@in_order
def table_waits(data, choice):
    r = Reference(data, choice, True)
    names, groups = r.names("step"), {}
    times = {row.process: row for row in data.rows["process_time"]}
    for p in sorted(r.living(), key=lambda p: (p.start_ns, p.id)):
        if p.id in times:
            groups.setdefault(r.key(names, p.id), []).append(times[p.id])
    rows = [(*key, len(found), sum(t.threads_ns - t.child_ns for t in found), *(sum(getattr(t, c) for t in found) for c in WAITS))
            for key, found in groups.items()]
    if rows:
        rows.append(("Total", *[None] * (len(names) - 1), *(sum(row[len(names) + i] for row in rows) for i in range(2 + len(WAITS)))))
    return heads(names) + ["processes", "work_ns", *WAITS], rows


# ---- phase ----

def sides_of(access):
    """Was it read, was it written?"""
    reads = (access.nread or 0) > 0 or access.mapped or access.executed or (
        access.nread is None and access.assumed_read)
    writes = (access.nwrite or 0) > 0 or access.created or access.truncated or (
        access.nwrite is None and access.assumed_write)
    return bool(reads), bool(writes)


def four_sums(marks):
    """Counts pairs (read, written): only read, only written, both, neither."""
    counts = collections.Counter(marks)
    return [counts[mark] for mark in ((True, False), (False, True), (True, True), (False, False))]


def is_counted(access):
    """Not what was only looked at.  Descriptors are inherited: a reader need not have opened."""
    return (access.opens or access.executed or access.created or (access.nread or 0) > 0
            or (access.nwrite or 0) > 0)


class Phase:
    def __init__(self):
        self.jobs, self.files, self.processes = set(), {}, {}
        self.read, self.written, self.first = [], [], None

    def add(self, access):
        sides = sides_of(access)
        for marks, number in (self.files, access.file), (self.processes, access.process):
            old = marks.get(number, (False, False))
            marks[number] = old[0] or sides[0], old[1] or sides[1]
        self.read.append(access.bread)
        self.written.append(access.bwrite)

    def row(self, has_files):
        if not has_files:
            return len(self.jobs), *[None] * 10
        return (len(self.jobs), known_sum(self.read), known_sum(self.written),
                *four_sums(self.files.values()), *four_sums(self.processes.values()))


def table_phase(data, choice):
    r = Reference(data, choice)
    names, found, total = r.names("phase"), {}, Phase()
    for access in data.rows["access"]:
        file = data.files.get(access.file)
        if file and file.kind == "file" and is_counted(access) and r.takes(
                access.process, access.file, access.first_ns, access.last_ns):
            for phase in found.setdefault(r.key(names, access.process), Phase()), total:
                phase.add(access)
    for process in r.living():
        for phase in found.setdefault(r.key(names, process.id), Phase()), total:
            phase.processes.setdefault(process.id, (False, False))
            if process.job is not None:
                phase.jobs.add(process.job)
    rows = [(*key, *phase.row(data.has_files)) for key, phase in found.items()]
    if rows:
        rows.append(("Total", *[None] * (len(names) - 1), *total.row(data.has_files)))
    return heads(names) + (
        "jobs read_bytes written_bytes files_ro files_wo files_rw files_none processes_ro "
        "processes_wo processes_rw processes_none").split(), rows


# ---- row by row ----

def by_thousand_millions(ns):
    return None if ns is None else ns / 10**9 if abs(ns) < 2**53 else float(ns) / 1e9


def minus(a, b):
    return None if a is None or b is None else a - b


PROC_MORE = ("read_char write_char read_bytes write_bytes nvcsw nivcsw minflt majflt cpu_delay_ns "
             "blkio_delay_ns swapin_delay_ns reclaim_delay_ns tier command").split()


@in_order
def table_proc(data, choice):
    r = Reference(data, choice, True)
    rows = []
    for p in sorted(r.living(), key=lambda p: (p.start_ns, p.id)):
        life, busy = minus(p.end_ns, p.start_ns), all_sum([p], "utime_ns", "stime_ns")
        seconds = [by_thousand_millions(t) for t in (p.utime_ns, p.stime_ns, life)]
        rows.append((p.xform, p.pid, p.ppid, p.exe, p.lstart, p.lstop,
                     by_thousand_millions(p.start_ns), by_thousand_millions(p.end_ns),
                     p.vmpeak_bytes and p.vmpeak_bytes // 1024,
                     p.rsspeak_bytes and p.rsspeak_bytes // 1024, *seconds, p.id, p.parent, p.job,
                     r.phase(p), p.host, p.program, p.state, p.exit_code, p.exit_signal, p.start_ns,
                     p.end_ns, life, p.cpu_ns,
                     nearest(busy, life) if busy is not None and life else None, p.rsspeak_bytes,
                     *[getattr(p, column) for column in PROC_MORE]))
    return ("xform pid ppid exe lstart lstop tstart tstop vmpeak rsspeak utime stime wtime process "
            "parent job phase host program state exit_code exit_signal start_ns end_ns runtime_ns "
            "cpu_ns utilization rss_bytes").split() + PROC_MORE, rows


USED = "bread", "nread", "bwrite", "nwrite", "nseek"


def table_handle(data, choice):
    r = Reference(data, choice)
    found = {}
    for use in data.rows["use"]:
        found.setdefault((use.handle, use.image), []).append(use)
    opened = {handle for handle, _ in found}
    for handle in data.rows["handle"]:
        if handle.id not in opened:
            found[handle.id, handle.image] = [handle]
    rows = []
    for (number, _), uses in found.items():
        h, use = data.handles[number], uses[0]
        if r.takes(use.process, use.file, h.open_ns,
                   h.open_ns if h.close_ns is None else h.close_ns):
            image, process = data.images.get(use.image), data.processes.get(use.process)
            rows.append((process and process.xform, process and process.pid, image and image.exe,
                         h.path, *[known_sum(getattr(u, c) for u in uses) for c in USED], h.mode,
                         h.flags, h.id, process and process.id, h.fidelity, h.open_ns, h.close_ns))
    return ["xform", "pid", "exe", "file", *USED, *"mode flags handle process fidelity open_ns "
            "close_ns".split()], rows


def covered(ranges):
    """Bytes of a union."""
    total, end = 0, -1
    for begin, stop in sorted(ranges):
        total += max(0, stop - max(begin, end))
        end = max(end, stop)
    return total


def from_the_begin(r):
    """Bytes of files that were read from their begin on, without a gap."""
    whole = {}
    for h in r.data.rows["handle"]:
        plain = h.nread is not None and (h.nread == 0 or h.nseek + h.nwrite == 0)
        before = whole.get(h.file, 0)
        whole[h.file] = max(before, h.bread) if plain and before is not None else None
    return whole


def portions(r, some):
    """Bytes of each file that were read at all; None: it cannot be told, as of the source of a
    copy, unless the handles tell."""
    c, ranges, seen = r.choice, collections.defaultdict(list), collections.Counter()
    partial = r.narrows() or c.timed or c.include or c.exclude
    whole = {} if partial else from_the_begin(r)
    for op in chosen_ops(r):
        if op.name == "read" and op.result >= 0:
            seen[op.file] += 1
            if op.bytes and op.offset is not None:
                ranges[op.file].append((op.offset, op.offset + op.bytes))
    found = {}
    for file, accesses in some.items():
        copied = known_sum(a.nread for a in accesses) != seen[file] and not c.timed
        found[file] = None if copied or not r.data.has_ops else covered(ranges[file])
        if whole.get(file) is not None:
            found[file] = whole[file]
    return found


def share_of(file, size, reads, read):
    if not size or reads is None:
        return None
    part = read[file] if reads else 0
    return None if part is None else 1.0 if part > size else nearest(part, size)


def rate(count, ns):
    return float(count) * 1e9 / ns if count is not None and ns else None


def file_row(data, file, some, used, read):
    size = file.size_first if file.size_last is None else file.size_last
    reads, writes = (known_sum(getattr(a, column) for a in some) for column in ("nread", "nwrite"))
    bread = None if reads is None else sum(a.bread for a in some)
    bwrite = None if writes is None else sum(a.bwrite for a in some)
    readers, writers = ([a for a in some if getattr(a, column)] for column in ("reads", "writes"))
    return (file.id, file.path, file.kind, file.fstype, file.mount, size,
            len({a.process for a in readers if a.process is not None}),
            len({a.process for a in writers if a.process is not None}),
            sum(a.opens for a in some), reads, writes, bread, bwrite,
            nearest(bread, size) if bread is not None and size else None,
            share_of(file.id, size, reads, read), min(a.first_ns for a in some),
            max(a.last_ns for a in some), bool(writers) and not readers,
            bool(file.created and file.deleted),
            rate(bread, sum(u.read_ns for u in used)), rate(bwrite, sum(u.write_ns for u in used)))


@in_order
def table_file(data, choice):
    r = Reference(data, choice)
    some, used = collections.defaultdict(list), collections.defaultdict(list)
    for rows, view in (some, "access"), (used, "use"):
        for row in data.rows[view]:
            if r.takes(row.process, row.file, row.first_ns, row.last_ns):
                rows[row.file].append(row)
    read = portions(r, some)
    rows = [file_row(data, data.files[number], accesses, used[number], read)
            for number, accesses in some.items()
            if number in data.files and data.files[number].kind not in ("dir", None)]
    return ("file path kind fstype mount size_bytes readers writers opens reads writes read_bytes "
            "written_bytes reread portion_share first_ns last_ns never_read temporary read_rate "
            "write_rate").split(), sorted(rows, key=lambda row: (row[15], row[0]))


def placed(op):
    if op.path2 is not None or op.length is None:
        return op.path2
    return f"{'?' if op.offset is None else op.offset}+{op.length}"


SIGNALS = {number: f"SIG{name}" for number, name in zip([*range(1, 16), 24, 25, 31], "HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE "
                                                        "ALRM TERM XCPU XFSZ SYS".split())}


def table_list(data, choice):
    r = Reference(data, choice)
    files = any(r.kind(glob)[0] != "command" for glob in (*choice.include, *choice.exclude))
    rows = []

    def add(t, process, program, *rest):
        rows.append((t, process and process.id, process and process.pid, program, *rest))

    for op in chosen_ops(r):
        process = data.processes.get(op.process)
        add(op.start_ns, process, process and process.program, op.name, op.path, placed(op),
            op.result, op.latency_ns, op.bytes)
    for p in () if files else r.living():
        said = SIGNALS.get(p.exit_signal, f"signal {p.exit_signal}") if p.exit_signal is not None else \
            f"status {p.exit_code}" if p.exit_code is not None else None
        for t, event, path, detail in (p.start_ns, "start", None, None), (p.end_ns, "exit", None,
                                                                         said):
            if t is not None and r.in_time(t, t):
                add(t, p, p.program, event, path, detail, None, None, None)
    for i in () if files else data.images.values():
        if i.seq > 0 and i.process in r.alive and r.in_time(i.start_ns, i.start_ns):
            add(i.start_ns, data.processes[i.process], i.program, "exec", i.exe, i.command, None,
                None, None)
    return "t_ns process pid program event path detail result latency_ns moved_bytes".split(), rows


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


def table_hist(data, choice):
    names, groups = distributions(data, choice)
    rows = []
    for key, values in groups.items():
        base = 10 if choice.sizes == "tens" else 2
        begins = [0, *(base ** n for n in range(64))]
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


def moved(ops, name):
    return sum(op.bytes or 0 for op in ops if op.name == name)


@in_order
def table_time(data, choice):
    if choice.files:
        return time_of_files(data, choice)
    if choice.by:
        return time_of_groups(data, choice)
    r, step, t0 = Reference(data, choice), interval_ns(choice), data.t0
    steps = collections.defaultdict(list)
    for op in chosen_ops(r):
        steps[(op.start_ns - t0) // step].append(op)
    found = levels(r)
    last = max([t0, *[t for t, *_ in found], *[t0 + n * step for n in steps]])
    n = (last - t0) // step + 1
    rows = []
    for k, most in enumerate(highest(found, t0, step, n)):
        if r.in_time(t0 + k * step, t0 + (k + 1) * step - 1):
            ops = steps[k]
            done = (len(ops), moved(ops, "read"), moved(ops, "write"),
                    len({op.file for op in ops if op.file is not None}))
            rows.append((nearest(k * step, 10**9), *(done if data.has_ops and data.has_files
                                                     else [None] * 4), *most))
    return "from_s operations read_bytes written_bytes files processes working rss_bytes".split(), rows


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


TABLES = {name.removeprefix("table_"): made for name, made in list(globals().items())
          if name.startswith("table_")}
