# SPDX-License-Identifier: MIT
"""Tables of wfstat, from the rows of a trace, by their definitions: phase, proc, handle, file, list."""
import collections

from statmodel import Reference, heads, known_sum, nearest
from stattables_parts import all_sum, chosen_ops, in_order, minus, placed

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
