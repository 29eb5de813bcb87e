#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Pictures of wfstat, drawn by gnuplot, and the scripts with which gnuplot draws them elsewhere."""
import collections
import json
import os
import pathlib
import shutil
import subprocess
import xml.etree.ElementTree

from stattraces import base, checks, column, csv_rows, fails, make, odd, run, run_case, synthetic, text, works


def is_png(path):
    return path.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")


def is_svg(path):
    return xml.etree.ElementTree.parse(path).getroot().tag.endswith("svg")


def check_pictures(trace, names):
    if not shutil.which("gnuplot"):
        print("skipped: pictures: no 'gnuplot' here")
        return
    for table in (["hist", "--of", "read-size"], ["cdf", "--of", "latency"], ["time"], ["time", "--by", "operation"], ["time", "--by", "process,operation"],
                  ["time", "--of", "size"], ["time", "--of", "bytes", "--sizes", "tens", "--by", "all"], ["time", "--of", "latency", "--by", "path"],
                  ["cdf", "--of", "lifetime", "--by", "command"], ["sys"], ["sys", "--by", "path"], ["sys", "--by", "command,operation"]):
        for trace_ in trace, names:
            draw(table, trace_)
    fails("a picture of nothing", 1, ["cannot draw", "nothing"], "cdf", "--of", "write-size",
          "--svg", "-o", "x.svg", names)
    done = run("cdf", "--of", "latency", "--svg", "-o", "/nowhere/x.svg", trace)
    checks.equal("a picture that cannot be written: exit status", done.returncode, 1)
    checks.check("a picture that cannot be written: says so", "'/nowhere/x.svg'" in text(done))
    check_curves(trace)
    check_maps(trace)
    check_bars(trace)
    check_picture_names(trace)


def draw(table, trace):
    svg, png, name = base / "p.svg", base / "p.png", base / "p'ro\"of"
    done = run(*table, "--svg", "-o", svg, "--png", "-o", png, "--gnuplot", name, "--csv", trace)
    checks.equal(f"pictures of {table}: exit status", done.returncode, 0)
    checks.check(f"{table}: SVG", is_svg(svg))
    checks.check(f"{table}: PNG", is_png(png))
    checks.check(f"{table}: the table comes, too", len(csv_rows(done.stdout)) > 1)
    done = subprocess.run(["gnuplot"], input=b"set terminal pngcairo\nset output 'out.png'\nload "
                          + json.dumps(f"{name}.gp").encode() + b"\n", cwd=base,
                          capture_output=True, timeout=60)
    checks.equal(f"{table}: gnuplot takes the script", done.returncode, 0)
    for path in svg, png, pathlib.Path(f"{name}.gp"), pathlib.Path(f"{name}.dat"), base / "out.png":
        path.unlink(missing_ok=True)


def check_bars(trace):
    """The bars of sys are the counts and mean latencies of its table."""
    rows = csv_rows(works("bars", "sys", "--gnuplot", base / "b", "--csv", trace))
    names, rows = rows[0], rows[1:-1]
    blocks = [[line.split() for line in block.splitlines() if line and line[0] != "#"]
              for block in (base / "b.dat").read_text().split("\n\n\n")]
    for block, name, scale in zip(blocks, (b"count", b"mean_ns"), (1, 1e-9), strict=True):
        wanted = [float(row[names.index(name)]) * scale for row in rows]
        checks.check(f"bars of {name}", len(block) == len(wanted) > 0 and all(
            abs(float(y) - value) <= 1e-9 * abs(value) and int(x) == n for n, ((x, y), value) in enumerate(zip(block, wanted))), block[:3])
    script = (base / "b.gp").read_bytes()
    checks.equal("names of bars", [row[0] for row in rows if b'"' + row[0] + b'"' not in script], [])


def check_maps(trace):
    """The boxes of time --of are the rows of its table, of the four groups with the most operations."""
    rows = csv_rows(works("maps", "time", "--of", "size", "--by", "process", "--gnuplot", base / "m", "--csv", trace))
    at = [rows[0].index(name) for name in (b"from_s", b"least_bytes", b"below_bytes", b"operations")]
    rows = [(tuple(row[1:at[1]]), *(float(row[i]) for i in at)) for row in rows[1:]]
    operations = {group: sum(row[4] for row in rows if row[0] == group) for group in {row[0] for row in rows}}
    blocks = [[tuple(map(float, line.split())) for line in block.splitlines() if line and line[0] != "#"]
              for block in (base / "m.dat").read_text().split("\n\n\n")]
    most = sorted(operations.values(), reverse=True)[:4]
    checks.check("maps: there are more groups than maps", len(operations) > len(blocks) == 4, (len(operations), len(blocks)))
    checks.equal("maps: of the groups with the most operations", [sum(box[4] for box in block) for block in blocks], most)
    drawn = collections.Counter(box for block in blocks for box in block)
    wanted = collections.Counter((x, x + 1, least or below / 10, below, n) for _, x, least, below, n in rows)
    checks.check("maps: each box is a row", drawn and not drawn - wanted, list((drawn - wanted).items())[:3])


def check_curves(trace):
    """Each curve has the name of its group."""
    works("curves", "cdf", "--of", "lifetime", "--by", "pid", "--gnuplot", base / "c", trace)
    pids = set(column(csv_rows(works("pids", "proc", "--csv", trace)), b"pid"))
    script = (base / "c.gp").read_bytes()
    missing = {pid for pid in pids if b'title "' + pid + b'"' not in script}
    checks.equal("curves by pid have it as their names", missing, set())


def check_picture_names(trace):
    """A file is a file, whatever gnuplot makes of such names."""
    here = base / "odd pictures"
    here.mkdir()
    for name in "|touch done", "it's.svg", "a\\nb.svg", "~x.svg", "x\ny.svg":
        done = run("cdf", "--of", "latency", "--svg", "-o", name, trace, cwd=here)
        made = os.listdir(here)
        checks.check(f"picture {name!r} is that file, or refused", made == [name] or
                     done.returncode in (1, 2) and not made, f"{done.returncode} {made}")
        for file in here.iterdir():
            file.unlink()
    done = run("cdf", "--of", "latency", "--svg", "-o", "", "--csv", trace, cwd=here)
    checks.check("a picture without a name is refused", done.returncode in (1, 2) and
                 not done.stdout, done.returncode)


def check_no_gnuplot(trace):
    nothing = {"env": {"PATH": "/nowhere"}}
    for option in "--svg", "--png":
        fails(f"{option} without gnuplot", 1, ["no gnuplot", "install", "--gnuplot"], "cdf", "--of",
              "latency", option, "-o", "x", trace, **nothing)
    works("--gnuplot needs none", "cdf", "--of", "latency", "--gnuplot", base / "n", trace,
          **nothing)
    data = [line.split() for line in (base / "n.dat").read_text().splitlines()
            if line and line[0] != "#"]
    checks.check("its data are numbers", data and all(float(x) > 0 and 0 <= float(y) <= 1
                                                      for x, y in data), data[:3])
    fails("--gnuplot where nothing can be", 1, ["cannot write", "no such directory"], "cdf", "--of",
          "latency", "--gnuplot", "/nowhere/x", trace)


def main():
    names, flow = make("names.db", odd), synthetic("flow.db")
    check_pictures(flow, names)
    check_no_gnuplot(flow)


run_case(main)
