#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# serial: switches io_uring of FUSE off for the machine
# long: --long
"""The measurements of bench/ can be made: each workload of the gate once, some recorded in the kernel, and what is written
about it has a ratio for each system and says that nothing was lost."""
import csv
import pathlib
import subprocess
import sys
import tempfile

from ftractest import FTRAC, TOP, Checks, fidelities, need, need_fuse, skip
from sample import one

WORKLOADS = ["montage-j2", "compile-j2", "small", "read-4k", "write-4k", "storm"]

need_fuse()
need("fio", "gcc", "make", "mProjectPP", "unshare", "xargs")
if not list(TOP.glob("subprojects/fuse-3.*/example/passthrough_ll.c")):
    skip("no source of libfuse in subprojects/")
found = fidelities(but=["open", "call"])
if "exact" not in found:
    skip("no fidelity exact")
found = one(found)

checks = Checks()


def rows_of(part):
    """The rows of a table by their first cell, each by the heads of the columns."""
    cells = [[cell.strip() for cell in row.split("|")[1:-1]] for row in part.splitlines() if row.startswith("| ")]
    return {row[0]: dict(zip(cells[0], row)) for row in cells}


def check_record(what, row):
    checks.check(f"{what}: operations were recorded", row.get("operations", "-").isdigit()
                 and int(row["operations"]) > 0, row)
    checks.equal(f"{what}: none was lost", row.get("lost"), "0")


def in_kernel(where):
    """The same of commands that are recorded in the kernel, where that is possible."""
    if subprocess.run([FTRAC, "run", "-q", "--files", "kernel", "--db", where / "trace.db", "--", "true"],
                      capture_output=True).returncode:
        print("nothing can be recorded in the kernel here: not measured")
        return
    report = where / "KERNEL.md"
    done = subprocess.run(
        [sys.executable, TOP / "bench/bench.py", "kernel", "--tiny", "--rounds", "1", "--role", "kernel", "--only", "storm",
         "--only", "reads", "--only", "call-read", "--out", where / "kernel.jsonl", "--report", report],
        capture_output=True, text=True, timeout=300)
    checks.equal("the kernel's part runs", (done.returncode, done.stderr), (0, ""))
    parts = report.read_text().split("### ")[1:] if report.exists() else []
    checks.equal("the kernel's part has a table for each workload", len(parts), 3)
    for part in parts:
        row = rows_of(part).get("ftrac run -q --files kernel", {})
        check_record(part.split(",")[0], row)
        checks.equal(f"{part.split(',')[0]}: none was dropped", row.get("dropped"), "0")


with tempfile.TemporaryDirectory(prefix="ftrac-case-") as where:
    where = pathlib.Path(where)
    report, raw = where / "RESULTS.md", where / "runs.jsonl"
    done = subprocess.run(
        [sys.executable, TOP / "bench/bench.py", "gate", "--tiny", "--rounds", "1", "--uring", "off",
         *(word for fidelity in found for word in ("--fidelity", fidelity)),
         "--out", raw, "--report", report], capture_output=True, text=True, timeout=300)
    if done.returncode and "unshare" in done.stderr:
        skip(f"no mount namespace: {done.stderr.strip()}")
    checks.equal("the gate runs", (done.returncode, done.stderr), (0, ""))

    text = report.read_text() if report.exists() else ""
    runs = list(csv.DictReader(open(report.with_suffix(".csv")))) if text else []
    for workload in WORKLOADS:
        for fidelity in found:
            title = f"### {workload}, {fidelity} "
            part = text.split(title, 1)[-1].split("###", 1)[0] if title in text else ""
            rows = rows_of(part)
            for system in ("native", "passthrough_ll", f"ftrac {fidelity} --no-record",
                           f"ftrac {fidelity}"):
                ratio = rows.get(system, {}).get("ratio", "-")
                checks.check(f"{workload}, {fidelity}: {system} has a ratio",
                             ratio.replace(".", "", 1).isdigit() and float(ratio) > 0, ratio)
            check_record(f"{workload}, {fidelity}", rows.get(f"ftrac {fidelity}", {}))
    checks.equal("the CSV has all runs", len(runs), len(WORKLOADS) * len(found) * 4)
    checks.check("targets that nothing was measured for say so", "not measured" in text)

    again = subprocess.run([sys.executable, TOP / "bench/bench.py", "results", "--out", raw,
                            "--report", where / "again.md"], capture_output=True, text=True,
                           timeout=60)
    checks.equal("results makes the same of the raw runs",
                 (again.returncode, (where / "again.md").read_text() if not again.returncode
                  else again.stderr), (0, text))
    in_kernel(where)
checks.end()
