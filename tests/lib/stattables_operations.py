# SPDX-License-Identifier: MIT
"""Tables of wfstat, from the rows of a trace, by their definitions: sys, pattern, errors."""
import collections
import errno

from statmodel import FOREVER, Reference, deviation_of, heads, mean_of, nearest, quantile_of
from stattables_parts import chosen_ops, moved, op_key, placed


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
