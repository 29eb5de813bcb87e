# SPDX-License-Identifier: MIT
"""Tables of wfstat, from the rows of a trace, by their definitions: what several tables have in common."""
import collections

from statmodel import Row, deviation_of, known_sum, mean_of


def by_step(choice):
    return not choice.long and not choice.per


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


def span(processes):
    if any(p.end_ns is None for p in processes):
        return None
    return max(p.end_ns for p in processes) - min(p.start_ns for p in processes)


def upper_rss(processes):
    """A process that ends when another one starts is gone by then."""
    if any(p.rsspeak_bytes is None for p in processes):
        return None
    return max(sum(q.rsspeak_bytes for q in processes if q is p or q.start_ns <= p.start_ns and (
        q.end_ns is None or q.end_ns > p.start_ns)) for p in processes)


def lower_rss(processes):
    return max((p.rsspeak_bytes for p in processes if p.rsspeak_bytes is not None), default=None)


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


def chosen_ops(r):
    return [op for op in r.data.rows["op"]
            if r.takes(op.process, op.file, op.start_ns, op.start_ns) and is_of_layer(r, op)]


def is_of_layer(r, op):
    return {None: True, "calls": op.layer == "call" or op.via in ("direct", "copy"), "requests": op.layer == "request"}[r.choice.layer]


def op_key(r, names, op):
    return r.key(names, op.process, op.image, op.file, op.name, images=True)


def minus(a, b):
    return None if a is None or b is None else a - b


def placed(op):
    if op.path2 is not None or op.length is None:
        return op.path2
    return f"{'?' if op.offset is None else op.offset}+{op.length}"


def moved(ops, name):
    return sum(op.bytes or 0 for op in ops if op.name == name)
