# SPDX-License-Identifier: MIT
"""The records of a log of Darshan, worked out a second time: out of the rows of `op` and `call`, as darshan-runtime counts calls."""
import collections

from darshanlog import CLASSES, COUNTERS

LIMITS = [100, 1024, 10240, 102400, 1 << 20, 4 << 20, 10 << 20, 100 << 20, 1 << 30]
RANK = """SELECT p.id, p.parent, (SELECT rank FROM call c WHERE c.process = p.id AND c.layer = 'mpi' AND c.size NOTNULL
    ORDER BY c.size DESC LIMIT 1), (SELECT max(size) FROM call c WHERE c.process = p.id AND c.layer = 'mpi') FROM process p
    ORDER BY p.start_ns, p.id"""
GIVEN = """SELECT i.process, e.value FROM environ e JOIN image i ON i.id = e.image WHERE e.name IN ('PMI_RANK', 'PMIX_RANK', 'OMPI_COMM_WORLD_RANK')"""


def as_bytes(path):
    return path.encode() if isinstance(path, str) else path


def ranks(sql):
    """Process -> rank, and whether they are those of MPI."""
    rows, given = sql(RANK), {process: int(value) for process, value in sql(GIVEN)}
    known = {process: given[process] if process in given and parent not in given else rank for process, parent, rank, _ in rows}
    known = {process: rank for process, rank in known.items() if rank is not None}
    if not known or len(set(known.values())) < len(known):
        return {row[0]: n for n, row in enumerate(rows)}, False
    size = max(*(rank + 1 for rank in known.values()), *(row[3] or 0 for row in rows))
    others = [row[0] for row in rows if row[0] not in known]
    return {**known, **{process: size + n for n, process in enumerate(others)}}, True


class Times:
    """Times of kinds of calls; a call that lies in an earlier one counts from the end of that."""

    def __init__(self):
        self.first, self.last, self.sums, self.until, self.longest = {}, {}, collections.Counter(), collections.Counter(), {}

    def stamp(self, kind, begin, end):
        self.first[kind] = min(self.first.get(kind, begin), begin)
        self.last[kind] = end

    def add(self, kind, begin, end):
        self.sums[kind] += end - max(begin, self.until[kind])
        self.until[kind] = max(self.until[kind], end)

    def write(self, out):
        for kind in "OPEN", "READ", "WRITE", "CLOSE":
            out[f"F_{kind}_START_TIMESTAMP"] = self.first.get(kind, 0) / 1e9
            out[f"F_{kind}_END_TIMESTAMP"] = self.last.get(kind, 0) / 1e9
        for kind in "READ", "WRITE", "META":
            out[f"F_{kind}_TIME"] = self.sums[kind] / 1e9


def size_class(n):
    return CLASSES[sum(n > limit for limit in LIMITS)]


def most_frequent(out, kind, value, values):
    counted = collections.Counter(v for v in values if v)
    best = sorted(counted.items(), key=lambda item: (-item[1], -item[0]))[:4] + [(0, 0)] * 4
    for n in range(4):
        out[f"{kind}{n + 1}_{value}"], out[f"{kind}{n + 1}_COUNT"] = best[n]


def blank(module):
    integers, reals = COUNTERS[module]
    return {**dict.fromkeys(integers, 0), **dict.fromkeys(reals, 0.0)}


OPERATIONS = """SELECT o.id, o.process, coalesce(o.path, f.path), o.name, o.layer, o.offset, o.bytes, o.start_ns,
    o.start_ns + coalesce(o.latency_ns, 0), o.via, o.path2, h.mode, h.fidelity, h.exec FROM op o JOIN file f ON f.id = o.file
    LEFT JOIN handle h ON h.id = o.handle WHERE o.result >= 0 AND coalesce(f.kind, 'file') = 'file' AND o.process NOTNULL"""


def operations(sql, start):
    """(path, process) -> [(name, layer, offset, bytes, begin, end, mode, fidelity, origin)], in the order of their ends."""
    rows = collections.defaultdict(list)
    for n, process, path, name, layer, offset, moved, begin, end, via, path2, mode, fidelity, executed in sql(OPERATIONS):
        if executed or (via not in (None, "direct") and (via, fidelity) != ("pagecache", "cached")) or path is None:
            continue
        if name in ("close", "flush") and name != ("close" if layer == "call" else "flush"):
            continue
        if name not in "read write open create tmpfile dup lseek getattr mmap fsync rename close flush".split():
            continue
        row = (end, n, name, layer, offset, moved, begin - start, end - start, mode, fidelity, None)
        rows[as_bytes(path), process].append(row)
        if name == "rename":
            rows[as_bytes(path2), process].append((end, n, "renamed", *row[3:-1], as_bytes(path)))
    return {key: [row[2:] for row in sorted(values, key=lambda row: row[:2])] for key, values in rows.items()}


class Posix:
    """One record."""

    def __init__(self):
        self.out, self.times = blank("POSIX"), Times()
        self.last, self.strides, self.sizes, self.kinds = {"READ": 0, "WRITE": 0}, [], [], []
        self.segments = {"READ": [], "WRITE": []}
        self.by_call = self.unseen = self.unplaced = False

    def data(self, kind, offset, moved, begin, end):
        out, other = self.out, "BYTES_READ" if kind == "READ" else "BYTES_WRITTEN"
        out[kind + "S"] += 1
        out[other] += moved
        out[f"SIZE_{kind}_{size_class(moved)}"] += 1
        self.sizes.append(moved)
        if self.kinds and self.kinds[-1] != kind:
            out["RW_SWITCHES"] += 1
        self.kinds.append(kind)
        if offset is None:
            self.unplaced = True
        else:
            last = self.last[kind]
            out[f"SEQ_{kind}S"] += offset > last
            out[f"CONSEC_{kind}S"] += offset == last + 1
            self.strides.append(offset - last - 1 if offset > last and last != 0 else 0)
            self.last[kind] = offset + moved - 1
            highest = "MAX_BYTE_READ" if kind == "READ" else "MAX_BYTE_WRITTEN"
            out[highest] = max(out[highest], offset + moved - 1)
        if end - begin > self.times.longest.get(kind, (0, 0))[0]:
            self.times.longest[kind] = (end - begin, moved)
        self.times.stamp(kind, begin, end)
        self.times.add(kind, begin, end)
        self.segments[kind].append((-1 if offset is None else offset, moved, begin / 1e9, end / 1e9))

    def add(self, name, layer, offset, moved, begin, end, mode, fidelity, origin):
        out = self.out
        self.by_call |= layer == "call"
        if name in ("read", "write"):
            self.data(name.upper(), offset, moved, begin, end)
            return
        if name in ("open", "create", "tmpfile", "dup"):
            out["OPENS"] += 1
            self.times.stamp("OPEN", begin, end)
        if name in ("open", "create", "tmpfile"):
            out["MODE"] = int(mode, 8) if mode is not None else out["MODE"]
            self.unseen |= fidelity == "open"
        if name in ("close", "flush"):
            self.times.stamp("CLOSE", begin, end)
        if name in ("open", "create", "tmpfile", "close", "flush"):
            self.last = {"READ": 0, "WRITE": 0}
        counter = {"dup": "DUPS", "lseek": "SEEKS", "getattr": "STATS", "mmap": "MMAPS", "fsync": "FSYNCS", "rename": "RENAME_SOURCES",
                   "renamed": "RENAME_TARGETS"}.get(name)
        if counter:
            out[counter] += 1
        if name == "renamed":
            out["RENAMED_FROM"] = out["RENAMED_FROM"] or origin
        elif name == "fsync":
            self.times.add("WRITE", begin, end)
        elif name != "mmap":
            self.times.add("META", begin, end)

    def end(self):
        out = self.out
        most_frequent(out, "STRIDE", "STRIDE", self.strides)
        most_frequent(out, "ACCESS", "ACCESS", self.sizes)
        self.times.write(out)
        for kind in "READ", "WRITE":
            longest, size = self.times.longest.get(kind, (0, 0))
            out[f"F_MAX_{kind}_TIME"], out[f"MAX_{kind}_TIME_SIZE"] = longest / 1e9, size
        unknown = ["FILENOS", "FDSYNCS", "MEM_NOT_ALIGNED", "MEM_ALIGNMENT", "FILE_NOT_ALIGNED", "FILE_ALIGNMENT"]
        places = [key for key in out if key.startswith(("MAX_BYTE", "CONSEC", "SEQ", "STRIDE"))]
        if not self.by_call:
            unknown += ["DUPS", "SEEKS", "STATS", "MMAPS"] + ["MODE"] * (out["MODE"] == 0)
        if self.unplaced:
            unknown += places
        if self.unseen:
            unknown += ["READS", "WRITES", "BYTES_READ", "BYTES_WRITTEN", "RW_SWITCHES", "MAX_READ_TIME_SIZE", "MAX_WRITE_TIME_SIZE",
                        "F_READ_TIME", "F_WRITE_TIME", "F_MAX_READ_TIME", "F_MAX_WRITE_TIME", *places]
            unknown += [key for key in out if key.startswith(("SIZE_", "ACCESS"))]
        out.update(dict.fromkeys(unknown, -1))
        return out


def posix(sql, start):
    """(path, process) -> (counters, writes, reads)."""
    records = {}
    for key, rows in operations(sql, start).items():
        one = Posix()
        for row in rows:
            one.add(*row)
        records[key] = one.end(), one.segments["WRITE"], one.segments["READ"]
    return records


CALLS = """SELECT c.process, coalesce(h.path, f.path, c.path), c.name, c.offset, coalesce(c.length, c.bytes), c.start_ns, c.end_ns, c.size,
    c.calls, c.latency_ns FROM call c LEFT JOIN handle h ON h.id = c.handle LEFT JOIN file f ON f.id = c.file
    WHERE c.layer = 'mpi' AND coalesce(c.result, 0) >= 0 ORDER BY coalesce(c.end_ns, c.start_ns), c.id"""


def kind_of(name):
    """The direction of a function of MPI-IO that moves data, and the word for how it does; None: it moves none."""
    rest = name.removeprefix("MPI_File_")
    kind = next((k for k in ("read", "write") if rest.startswith((k, "i" + k))), None)
    if kind is None or rest.endswith("_end"):
        return None
    how = ("NB" if rest.startswith("i") else "SPLIT" if rest.endswith("_begin") else
           "COLL" if rest.endswith(("_all", "_ordered")) else "INDEP")
    return kind.upper(), how


def mpiio(sql, start):
    """(path, process) -> (counters, writes, reads); of single calls, without sums."""
    rows = collections.defaultdict(list)
    for process, path, *row in sql(CALLS):
        if path is not None:
            rows[as_bytes(path), process].append(row)
    records = {}
    for key, calls in rows.items():
        out, times, sizes, kinds = blank("MPI-IO"), Times(), [], []
        segments = {"READ": [], "WRITE": []}
        for name, offset, length, begin, end, size, _, _ in calls:
            begin, end, what = begin - start, end - start, name.removeprefix("MPI_File_")
            moving = kind_of(name)
            if moving:
                kind, how = moving
                out[f"{how}_{kind}S"] += 1
                out["BYTES_READ" if kind == "READ" else "BYTES_WRITTEN"] += length
                out[f"SIZE_{kind}_AGG_{size_class(length)}"] += 1
                out["RW_SWITCHES"] += bool(kinds) and kinds[-1] != kind
                kinds.append(kind)
                sizes.append(length)
                if end - begin > times.longest.get(kind, (0, 0))[0]:
                    times.longest[kind] = (end - begin, length)
                times.stamp(kind, begin, end)
                times.add(kind, begin, end)
                segments[kind].append((-1 if offset is None else offset, length, begin / 1e9, end / 1e9))
            elif what == "open":
                out["INDEP_OPENS" if size == 1 else "COLL_OPENS"] += 1
                times.stamp("OPEN", begin, end)
                times.add("META", begin, end)
            elif what == "close":
                times.stamp("CLOSE", begin, end)
                times.add("META", begin, end)
            elif what == "set_view":
                out["VIEWS"] += 1
                times.add("META", begin, end)
            elif what == "sync":
                out["SYNCS"] += 1
                times.add("WRITE", begin, end)
        most_frequent(out, "ACCESS", "ACCESS", sizes)
        times.write(out)
        for kind in "READ", "WRITE":
            longest, size = times.longest.get(kind, (0, 0))
            out[f"F_MAX_{kind}_TIME"], out[f"MAX_{kind}_TIME_SIZE"] = longest / 1e9, size
        out["HINTS"] = out["MODE"] = -1
        records[key] = out, segments["WRITE"], segments["READ"]
    return records
