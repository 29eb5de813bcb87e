#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""figures.py A.db B.db C.db: tables and figures of the ParaTrac paper, beside those of these traces.

The paper (Dun, Taura, Yonezawa: ParaTrac, HPDC 2010) shows Tables 3, 4 and 5 and Figures 6 to 10 and
12 of Montage.  This makes the same by wfstat, pictures into figures/, tables into README.md between
the lines <!-- figures --> and <!-- end of figures -->.  $WFSTAT is the program, gnuplot draws.
"""
import csv
import io
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
WFSTAT = os.environ.get("WFSTAT", str(HERE.parent.parent / "build/dag/wfstat"))

# Table 3: bytes of logs; Table 4: calls of data B and C: count, ratio, seconds, ratio.
PAPER_TRACE = {"A": "930 kB", "B": "10 MB", "C": "97 MB"}
PAPER_CALLS = {
    "B": """lstat 4292 0.0254 8.19 0.026
        fstat 308 0.0018 0.000316 0.00000101
        access 21 0.000124 0.0000646 0.000000207
        truncate 1 0.0000059 0.0000458 0.000000147
        opendir 3 0.0000177 0.00006658 0.000000213
        readdir 86 0.000509 0.1347 0.00043
        closedir 3 0.0000177 0.000011 0.000011
        creat 308 0.0018 0.012 0.0000373
        open 2385 0.0141 90.86 0.2902
        close 2693 0.0159 1.97 0.0063
        read 15550 0.092 206.9 0.6611
        write 140613 0.832 2.562 0.0081
        flush 2819 0.0164 2.369 0.0076
        Total 169082 1.0 313.04 1.0""",
    "C": """lstat 57393 0.0255 360.37 0.0484
        fstat 3981 0.0018 0.0038 0.000000509
        access 21 0.00000934 0.0000749 0.00000001
        truncate 1 0.000000445 0.0000471 0.0000000063
        opendir 3 0.00000133 0.0000671 0.000000009
        readdir 662 0.00029 0.6982 0.0000937
        closedir 3 0.00000133 0.0000123 0.00000000165
        creat 3981 0.0018 0.2175 0.0000292
        open 31061 0.0138 2128.32 0.286
        close 35042 0.0156 79.27 0.0106
        read 222985 0.0992 4754.6 0.638
        write 1856039 0.826 37.99 0.005
        flush 36864 0.0164 90.37 0.012
        Total 2246286 1.0 7451.84 1.0""",
}
# Table 5: jobs, MB read and written, files and processes ro wo rw none.
PAPER_PHASES = {
    "A": """mProjectPP 28 57.77 221.07 30 0 56 0 1 0 28 0
        mDiffFit 63 1023.87 25.32 58 126 63 0 64 63 63 0
        mConcatFit 1 0.533 0.0127 61 1 0 0 1 0 1 0
        mBgModel 1 0.0672 0.0144 3 1 0 0 1 0 1 0
        mBackground 28 223.63 221.07 59 0 56 0 1 0 28 0
        mImgtbl 1 0.644 0.0156 30 0 1 0 1 0 1 0
        mAdd 1 133.93 75.81 59 2 0 0 1 0 1 0
        mShrink 1 37.95 4.22 2 1 0 0 1 0 1 0
        mJPEG 1 4.28 0.23 2 1 0 0 1 0 1 0
        Total 125 1481.93 547.75 33 65 243 0 64 63 125 0""",
    "B": """mProjectPP 308 637.87 2472.25 310 2 614 0 1 0 308 0
        mDiffFit 913 15114.33 675.64 618 1804 927 0 914 913 909 0
        mConcatFit 1 0.34 0.18 915 1 0 0 1 0 1 0
        mBgModel 1 0.314 0.015 3 1 0 0 1 0 1 0
        mBackground 308 2524.48 2472.25 619 2 614 0 1 0 308 0
        mAdd 4 248.14 1587.56 613 8 0 0 1 0 4 0
        mShrink 4 793.85 7.96 5 4 0 0 1 0 4 0
        mImgtbl 1 0.085 0.0315 6 0 1 0 1 0 1 0
        mAdd.2 1 8.02 12.27 7 2 0 0 1 0 1 0
        mJPEG 1 7.67 0.357 2 1 0 0 1 0 1 0
        Total 1542 21568.07 7231.48 322 897 3084 0 914 913 1538 0""",
}
# Our names of what the paper calls by those of system calls.
CALLS = {"lookup": "lstat", "getattr": "fstat", "create": "creat", "release": "close",
         "releasedir": "closedir"}
FIGURES = (
    ("latency", "6", "latency", ("--by", "operation"), ("lookup", "create", "read", "write")),
    ("read-size", "7", "read-size", ("--by", "phase"), ()),
    ("write-size", "8", "write-size", ("--by", "phase"), ()),
    ("bytes-read", "9", "bytes-read", ("--by", "phase"), ()),
    ("bytes-written", "10", "bytes-written", ("--by", "phase"), ()),
    ("lifetime", "12", "lifetime", ("--by", "phase"), ()),
)


def wfstat(*args):
    done = subprocess.run([WFSTAT, *args], capture_output=True, check=False)
    if done.returncode:
        sys.exit(f"figures.py: wfstat {' '.join(args)}: {done.stderr.decode().strip()}")
    return done.stdout.decode()


def rows(table, trace, *args):
    return list(csv.DictReader(io.StringIO(wfstat(table, "--csv", *args, trace), newline="")))


def markdown(head, lines):
    width = [max(len(str(line[i])) for line in [head, *lines]) for i in range(len(head))]

    def put(cells):
        return "| " + " | ".join(str(c).ljust(w) if i == 0 else str(c).rjust(w)
                                 for i, (c, w) in enumerate(zip(cells, width))) + " |"
    rule = "|" + "|".join("-" * (w + 2) if i == 0 else "-" * (w + 1) + ":"
                          for i, w in enumerate(width)) + "|"
    return "\n".join([put(head), rule, *map(put, lines)])


def number(text, digits=3):
    """As short as it can be with so many digits that say something."""
    return f"{float(text):.{digits}g}" if float(text) < 1000 else f"{float(text):.0f}"


def megabytes(text):
    return number(float(text) / 1e6) if text else "-"


def table_3(traces):
    lines = []
    for size, trace in traces.items():
        facts = {row["fact"]: row["value"] for row in rows("overview", trace)}
        bytes_ = os.path.getsize(trace)
        lines.append((size, PAPER_TRACE[size], facts["operations"], facts["processes"],
                      f"{bytes_ / 1e6:.1f} MB", f"{bytes_ / int(facts['operations']):.1f}"))
    return markdown(("data", "paper's trace.db", "operations", "processes", "trace.db",
                     "bytes per operation"), lines)


def paper_lines(text):
    return {line.split()[0]: line.split()[1:] for line in text.splitlines()}


def table_4(size, trace):
    theirs = paper_lines(PAPER_CALLS.get(size, ""))
    ours = {}
    for row in rows("sys", trace):
        ours[CALLS.get(row["operation"], row["operation"])] = row
    lines = []
    for call in [*[c for c in theirs if c != "Total"],
                 *sorted(c for c in ours if c not in theirs and c != "Total"), "Total"]:
        there, here = theirs.get(call, ["-"] * 4), ours.get(call)
        lines.append((call, there[0], *[number(x) if x != "-" else x for x in there[1:]],
                      *((here["count"], number(here["count_share"]), number(int(here["sum_ns"]) / 1e9),
                         number(here["sum_share"])) if here else ("-",) * 4)))
    return markdown(("call", "paper: count", "ratio", "seconds", "ratio", "here: count", "ratio",
                     "seconds", "ratio"), lines)


FILES = ("files_ro", "files_wo", "files_rw", "files_none")
PROCESSES = ("processes_ro", "processes_wo", "processes_rw", "processes_none")


def table_5(size, trace):
    theirs = paper_lines(PAPER_PHASES.get(size, ""))
    lines = []
    for row in rows("phase", trace):
        there = theirs.get({"mViewer": "mJPEG"}.get(row["phase"], row["phase"]), ["-"] * 11)
        lines.append((row["phase"] or "-", there[0], number(there[1]) if there[1] != "-" else "-",
                      number(there[2]) if there[2] != "-" else "-", " ".join(there[3:7]),
                      " ".join(there[7:]), row["jobs"], megabytes(row["read_bytes"]),
                      megabytes(row["written_bytes"]), " ".join(row[f] for f in FILES),
                      " ".join(row[p] for p in PROCESSES)))
    return markdown(("phase", "paper: jobs", "MB read", "written", "files", "processes", "here: jobs",
                     "MB read", "written", "files", "processes"), lines)


def figures(traces):
    parts = []
    for name, figure, value, by, only in FIGURES:
        for size, trace in traces.items():
            out = f"figures/{name}-{size}.png"
            choose = [word for call in only for word in ("--operation", call)]
            wfstat("cdf", "--of", value, *by, *choose, "--png", "-o", str(HERE / out), trace)
        shown = " ".join(f"![{name} of {size}](figures/{name}-{size}.png)" for size in traces)
        parts.append(f"Figure {figure} ({value}), {', '.join(traces)}:\n\n{shown}\n")
    return "\n".join(parts)


def main():
    if len(sys.argv) != 4:
        sys.exit("usage: figures.py A.db B.db C.db")
    traces = dict(zip("ABC", sys.argv[1:]))
    text = ["<!-- figures -->", "### Table 3: size of the trace\n", table_3(traces)]
    for size in "BC":
        text += [f"\n### Table 4: calls, data {size}\n", table_4(size, traces[size])]
    for size in "ABC":
        text += [f"\n### Table 5: what each phase read and wrote, data {size}\n",
                 table_5(size, traces[size])]
    text += ["\n### Figures\n", figures(traces), "<!-- end of figures -->"]
    readme = HERE / "README.md"
    old = readme.read_text()
    head, rest = old.split("<!-- figures -->", 1)
    tail = rest.split("<!-- end of figures -->", 1)[1]
    readme.write_text(head + "\n".join(text) + tail)


if __name__ == "__main__":
    main()
