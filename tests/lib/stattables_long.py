# SPDX-License-Identifier: MIT
"""Tables of wfstat, from the rows of a trace, by their definitions: io, mem, run, util: the long form."""
from statmodel import Reference, heads, known_sum, nearest
from stattables_parts import NUMBERS, SIDE_NAMES, all_sum, by_step, io_uses, lower_rss, numbers, span, spent, upper_rss
from stattables_steps import io_steps, life_of, mem_steps, run_steps, util_steps


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


def run_units(r, names, per_job):
    return ((key, span(processes)) for key, processes in members(r, names, per_job))


def table_run(data, choice):
    if by_step(choice):
        return run_steps(data, choice)
    return grouped(data, choice, run_units, NUMBERS,
                   lambda values, *_: [("runtime_ns", *numbers(values))], True)


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
