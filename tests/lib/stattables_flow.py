# SPDX-License-Identifier: MIT
"""Tables of wfstat, from the rows of a trace, by their definitions: flow, layers (what devices did), waits."""
import collections
import itertools

from statmodel import Reference, heads
from stattables_parts import chosen_ops, in_order, op_key


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
