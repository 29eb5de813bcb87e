# SPDX-License-Identifier: MIT
"""Tables of wfstat, from the rows of a trace, by their definitions: io, mem, run, util: one row for each step."""
import itertools

from statmodel import FOREVER, Reference, heads, known_sum, mean_of, nearest
from stattables_parts import SIDE_NAMES, all_sum, io_uses, lower_rss, span, spent, upper_rss


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
