# SPDX-License-Identifier: MIT
"""Figures 3 and 4 of the ParaTrac paper (Dun, Taura, Yonezawa: ParaTrac, HPDC 2010) made anew.

Figure 3 compares the execution time of one job at a time, Figure 4 shows how it scales with the number of
jobs: Montage on disk, natively, on a mount by each fidelity, and recorded in the kernel. gnuplot draws.
"""
import statistics
import subprocess

import machine
import natively
from results import Runs, disturbed_text, machine_text, number, quiet, table
from systems import Ftrac, knows_uring

ROLES = {"native": "native", "kernel": "--files kernel", "open": "mount, open", "cached": "mount, cached",
         "exact": "mount, exact"}
FIDELITIES = ("open", "cached", "exact")
JOBS = (1, 2, 4, 8)
SIZES = "AC"

TEXT = """# The paper's Figures 3 and 4

Written by `bench/bench.py figures`: Montage on disk, sizes A and C, with 1, 2, 4 and 8 jobs; the whole time of
`make`, medians of the rounds; ratios are of runs of one round. The mount takes {transport}.

{machine}

{disturbed}

![Execution time of one job at a time](figure-3.png)

![Execution time by the number of jobs](figure-4.png)

{tables}"""


def group(within):
    uring = machine.has_uring() and knows_uring()
    mounts = [Ftrac(fidelity, fidelity, uring=uring) for fidelity in FIDELITIES]
    return natively.of_natives("figures", within,
                               [natively.InKernel(within, "kernel", machine.FTRAC, "run", "-q"), *mounts])


def costs(part, role):
    return [turn[role]["cost"] for turn in part.values() if role in turn and quiet(turn[role])]


class Measured:
    """What was measured of one size: rows[jobs][role] is (median seconds, median ratio, pairs)."""

    def __init__(self, runs, size):
        self.size, self.rows = size, {}
        for jobs in JOBS:
            part = runs.groups.get((f"montage-{size}-j{jobs}", "figures", False))
            row = {role: (statistics.median(seconds), ratios and statistics.median(ratios), len(ratios))
                   for role in ROLES if part and (seconds := costs(part, role))
                   for ratios in [Runs.ratios(part, role, "native")]}
            if row:
                self.rows[jobs] = row

    def table(self):
        body = [[str(jobs), number(row["native"][0] if "native" in row else None, "{:.1f}"),
                 *(f"{row[role][0]:.1f} ({number(row[role][1] or None)})" if role in row else "-"
                   for role in ROLES if role != "native"),
                 str(min(pairs for _, _, pairs in row.values()))] for jobs, row in self.rows.items()]
        head = ["jobs", "native, s", *(f"{name}, s (ratio)" for role, name in ROLES.items() if role != "native"),
                "pairs, at least"]
        return f"## Size {self.size}\n\n{table(head, body)}"


def block(name, lines):
    return f"${name} << EOD\n" + "\n".join(lines) + "\nEOD\n"


def gnuplot(script, path):
    done = subprocess.run(["gnuplot"], input=f"set terminal pngcairo size 960,420 font ',11'\nset output '{path}'\n"
                          + script, capture_output=True, text=True, errors="replace")
    if done.returncode or done.stderr.strip():
        raise SystemExit(f"bench: gnuplot cannot draw '{path}': {done.stderr.strip()[-300:]}")


def two_panels(sizes, style, panel):
    return (style + f"set multiplot layout 1,{len(sizes)}\n"
            + "".join(f"set title 'Montage {of.size}'\n" + panel(of) for of in sizes))


def figure_3(sizes, path):
    """Bars: one job at a time."""
    style = """set style fill solid 0.8 border -1
set boxwidth 0.7
set yrange [0:*]
set offsets 0, 0, graph 0.12, 0
set ylabel 'seconds, one job at a time; above: ratio'
set xtics rotate by -20
set grid ytics
unset key
"""
    def panel(of):
        row = of.rows[1]
        lines = [f'{i} "{name}" {row[role][0]} "{row[role][0] / row["native"][0]:.2f}"'
                 for i, (role, name) in enumerate(ROLES.items()) if role in row]
        return block(f"bars_{of.size}", lines) + (
            f"plot $bars_{of.size} using 1:3:1:xtic(2) with boxes lc variable, "
            f"$bars_{of.size} using 1:3:4 with labels offset 0,0.7\n")
    gnuplot(two_panels([of for of in sizes if 1 in of.rows and "native" in of.rows[1]], style, panel), path)


def figure_4(sizes, path):
    """Curves: time by the number of jobs."""
    style = f"""set logscale x 2
set xtics ({", ".join(map(str, JOBS))})
set xrange [0.9:9]
set yrange [0:*]
set xlabel 'jobs'
set ylabel 'seconds'
set grid
set key top right
"""
    def panel(of):
        blocks, plots = "", []
        for colour, (role, name) in enumerate(ROLES.items()):
            lines = [f"{jobs} {row[role][0]}" for jobs, row in of.rows.items() if role in row]
            if lines:
                blocks += block(f"line_{of.size}_{role}", lines)
                plots.append(f"$line_{of.size}_{role} with linespoints lc {colour} lw 2 title '{name}'")
        return blocks + "plot " + ", ".join(plots) + "\n"
    gnuplot(two_panels(sizes, style, panel), path)


def write(lines, path):
    runs = Runs(lines)
    sizes = [of for of in (Measured(runs, size) for size in SIZES) if of.rows]
    if not sizes:
        raise SystemExit("bench: no runs to draw; measure first")
    figure_3(sizes, path.with_name("figure-3.png"))
    figure_4(sizes, path.with_name("figure-4.png"))
    transport = sorted({run["transport"] for run in runs.all if run["role"] in FIDELITIES})
    path.write_text(TEXT.format(transport=" and ".join(transport) or "-", tables="\n".join(of.table() for of in sizes),
                                machine=machine_text(runs.machines), disturbed=disturbed_text(runs)))
