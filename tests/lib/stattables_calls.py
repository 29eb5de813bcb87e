# SPDX-License-Identifier: MIT
"""The second computation of wfstat hierarchy and slowest: calls of libraries are followed to the outermost one around them."""
import collections
import sqlite3

from statmodel import Reference, Row, heads, text_of

LIBRARIES = "mpi", "lib"
MOST = 4 * 10**18  # that wfstat reads from a trace


class Calls:
    """Those of one trace, and of each outermost one what was made inside of it."""

    def __init__(self, data):
        self.data, self.every = data, {}
        for path in data.paths:
            self.read(path)
        self.tops = [c for c in self.every.values() if c.layer in LIBRARIES and c.parent is None]
        self.has = {"lib": any(c.layer == "lib" for c in self.every.values()), "ops": any(c.layer not in LIBRARIES for c in self.every.values())}
        self.libs, self.ops = collections.defaultdict(list), collections.defaultdict(list)
        for c in self.every.values():
            top = self.top(c)
            if c.layer not in LIBRARIES and top.layer in LIBRARIES:
                self.ops[top.id].append(c)
            elif c.layer == "lib" and c is not top and self.every[c.parent].layer != "lib":
                self.libs[top.id].append(c)

    def read(self, path):
        db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        db.text_factory = lambda b: b.decode(errors="surrogateescape")
        cursor = db.execute("SELECT * FROM call")
        names = [column[0] for column in cursor.description]
        for values in cursor:
            row = Row({name: text_of(value) for name, value in zip(names, values)})
            if len(self.data.paths) > 1 and row.layer in LIBRARIES:
                raise NotImplementedError("calls of several traces")
            self.every[len(self.every) if len(self.data.paths) > 1 else row.id] = row
        db.close()

    def top(self, call):
        while call.parent is not None and call.parent in self.every:
            call = self.every[call.parent]
        return call

    def below(self, tops):
        """Numbers, bytes and the longest of calls of libc and of operations."""
        libs, ops = ([c for top in tops for c in inner[top.id]] for inner in (self.libs, self.ops))
        of_mpi = self.has["lib"] and tops[0].layer == "mpi"
        return [sum(c.calls for c in libs) if of_mpi else None, sum(c.bytes or 0 for c in libs) if of_mpi else None,
                longest(libs), len(ops) if self.has["ops"] else None,
                sum(c.bytes or 0 for c in ops) if self.has["ops"] else None, max((c.latency_ns for c in ops), default=None)]


def longest(calls):
    return max((c.latency_max_ns for c in calls if c.latency_max_ns is not None), default=None)


def chosen(r, calls):
    return [c for c in calls.tops if r.takes(c.process, c.file, c.start_ns, c.start_ns)]


def key_of(r, names, call):
    return r.key(names, call.process, call.image, call.file, call.name, images=True)


def total(values):
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def asked(calls):
    """More than 2 EiB are not told apart."""
    known = [c.length for c in calls if c.length is not None]
    return None if not known else 1 << 61 if sum(n >> 20 for n in known) > 1 << 41 else sum(known)


def rate(calls):
    """Bytes per second: the sum of the parts of a collective call, and the mean of all of which it is known."""
    parts, weights = collections.defaultdict(list), {}
    for c in calls:
        whole = c.id if c.mpi_call_id is None else c.mpi_call_id
        parts[whole].append(1e9 * c.bytes / c.latency_ns if c.latency_ns and c.bytes is not None else None)
        weights[whole] = 1 if c.collective else c.calls
    sums = {whole: total(values) for whole, values in parts.items() if total(values) is not None}
    return round(sum(rate * weights[whole] for whole, rate in sums.items()) / sum(weights[whole] for whole in sums)) if sums else None


def table_hierarchy(data, choice):
    r, calls = Reference(data, choice), Calls(data)
    names = r.names("command")
    groups = collections.defaultdict(list)
    for c in chosen(r, calls):
        groups[c.layer, c.name, *key_of(r, names, c)].append(c)
    rows = []
    for key, found in groups.items():
        lib_calls, lib_bytes, lib_ns, ops, op_bytes, op_ns = calls.below(found)
        whole = {c.mpi_call_id for c in found}
        rows.append((*key, sum(c.calls for c in found), len(whole) if any(c.collective for c in found) else None, asked(found),
                     total(c.bytes for c in found), lib_calls, lib_bytes, ops, op_bytes, longest(found), lib_ns, op_ns,
                     rate(found)))
    return ["layer", "call", *heads(names), *("calls collective_calls asked_bytes moved_bytes lib_calls lib_moved_bytes operations "
                                             "operations_moved_bytes latency_ns lib_latency_ns operation_latency_ns moved_rate").split()], rows


def table_slowest(data, choice):
    r, calls = Reference(data, choice), Calls(data)
    names = r.names("process")
    rows = []
    for c in sorted((c for c in chosen(r, calls) if c.calls == 1 and c.latency_ns is not None), key=lambda c: (-c.latency_ns, c.start_ns, c.id))[:100]:
        lib_calls, lib_bytes, lib_ns, ops, op_bytes, op_ns = calls.below([c])
        file = data.files.get(c.file)
        rows.append((c.latency_ns, c.layer, c.name, c.rank, *key_of(r, names, c), file.path if file and file.path is not None else c.path,
                     c.offset, c.length and min(c.length, MOST), c.bytes, lib_calls, lib_bytes, lib_ns, ops, op_bytes, op_ns, c.start_ns, c.mpi_call_id))
    return ["latency_ns", "layer", "call", "rank", *heads(names), *(
        "path offset asked_bytes moved_bytes lib_calls lib_moved_bytes lib_latency_ns operations operations_moved_bytes "
        "operation_latency_ns start_ns mpi_call_id").split()], rows
