#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""--metrics: a file that says what a run has done so far, whole at any moment, for OpenMetrics and for Prometheus' node exporter, as other
parsers read it; its last text has what the trace and wfstat hist have. Each way of recording writes it, and nothing else in its place."""
# seconds: 15
import collections
import csv
import os
import pathlib
import sqlite3
import subprocess
import tempfile
import threading
import time

from ftractest import Checks, FTRAC, kernel_refuses, need_fuse, need_module
from workflows import traced

need_module("prometheus_client", "python3-prometheus-client")
from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics
from prometheus_client.parser import text_string_to_metric_families as prometheus

checks = Checks()
PROCMON = os.environ.get("PROCMON", "build/procmon/procmon")
WFSTAT = os.environ.get("WFSTAT", "build/dag/wfstat")
JOB = "for i in 1 2 3 4; do seq 5000 > in.$i; sort in.$i > out.$i; cat nothing; done; head -c 70000 /dev/zero > zeros; "
SEEN = "until grep -q '^ftrac_processes_running [1-9]' {0} && grep -q '^ftrac_operations_total.*sort' {0}; do sleep 0.1; done; "


class Watcher(threading.Thread):
    """Reads the file again and again; each text has to be whole."""
    def __init__(self, path, read):
        super().__init__()
        self.path, self.read, self.texts, self.ended = path, read, [], threading.Event()

    def run(self):
        while not self.ended.wait(0.01):
            try:
                text = self.path.read_text()
            except FileNotFoundError:
                continue
            if not self.texts or text != self.texts[-1]:
                self.texts.append(text)

    def end(self):
        self.ended.set()
        self.join()
        return [self.samples(text) for text in [*self.texts, self.path.read_text()]]

    def samples(self, text):
        """(name, labels) -> value"""
        return {(one.name, tuple(sorted(one.labels.items()))): one.value for family in self.read(text) for one in family.samples}


def sums(samples, name, *labels):
    found = collections.Counter()
    for (sample, of), value in samples.items():
        if sample == name:
            found[tuple(dict(of)[label] for label in labels)] += value
    return {key: value for key, value in found.items() if value}


def of_trace(db, what):
    with sqlite3.connect(db) as trace:
        return {row[:-1]: row[-1] for row in trace.execute(what) if row[-1]}


def compare(way, samples, db):
    """The last text, with single operations."""
    for name, value in (("operations", "count(*)"), ("operation_errors", "sum(result < 0)"), ("bytes", "sum(bytes)")):
        there = of_trace(db, f"""SELECT coalesce(f.fstype, ''), coalesce(f.mount, ''), o.name, {value} FROM op o
            LEFT JOIN file f ON f.id = o.file GROUP BY 1, 2, 3""")
        checks.equal(f"{way}: {name}", sums(samples, f"ftrac_{name}_total", "fstype", "mount", "operation"), there)
        checks.check(f"{way}: there are {name}", len(there) > 0, there)
    hist = subprocess.run([WFSTAT, "hist", "--of", "latency", "--by", "operation", "--csv", str(db)], check=True, capture_output=True, text=True)
    rows = list(csv.DictReader(hist.stdout.splitlines()))
    buckets = sums(samples, "ftrac_operation_latency_seconds_bucket", "operation", "le")
    checked = 0
    for operation in {row["operation"] for row in rows}:
        below = 0
        for row in (row for row in rows if row["operation"] == operation):
            below += int(row["count"])
            for (other, le), count in buckets.items():
                if other == operation and le != "+Inf" and round(float(le) * 1e9) == int(row["to"]) - 1:
                    checks.equal(f"{way}: {operation} below {row['to']} ns", count, below)
                    checked += 1
        checks.equal(f"{way}: {operation} in all", buckets[operation, "+Inf"], below)
    checks.check(f"{way}: classes of wfstat hist", checked > 20, checked)


def watch(way, base, options, name, read):
    work, path, db = base / way, base / name, base / f"{way}.db"
    work.mkdir()
    watcher = Watcher(path, read)
    watcher.start()
    # The record of the kernel may be written when the command has ended.
    job = JOB + ("" if way == "kernel" else SEEN.format(path)) + "cat in.1 > copy"
    traced(db, ["sh", "-c", job], work, "--metrics", path, "--metrics-interval", "0.2", *options)
    samples = watcher.end()
    counts = [sum(sums(one, "ftrac_operations_total", "operation").values()) for one in samples]
    checks.check(f"{way}: counters grow, in whole texts", counts == sorted(counts) and len(counts) > 1 and counts[-1] > 100, counts)
    checks.equal(f"{way}: nothing is lost", samples[-1]["ftrac_operations_lost_total", ()], 0)
    programs = sums(samples[-1], "ftrac_operations_total", "program")
    checks.check(f"{way}: programs", {("sort",), ("seq",)} <= set(programs), programs)
    checks.equal(f"{way}: all may read it", path.stat().st_mode & 0o777, 0o644)
    checks.equal(f"{way}: nothing else is left there", sorted(file.name for file in base.iterdir() if ".part" in file.name), [])
    compare(way, samples[-1], db)


def refused(base):
    """Files that it must not replace; each says why, and nothing runs."""
    (base / "other").write_text("precious\n")
    os.mkfifo(base / "pipe")
    os.symlink("/nowhere/at/all", base / "link")
    for name, words in (("missing/x", "no such directory"), ("mount.db", "trace"), ("other", "other"), ("pipe", "no regular file"), ("", "")):
        done = subprocess.run([FTRAC, "run", "-q", "--force", "--db", base / "x.db", "--metrics", base / name, "--", "touch", base / "ran"],
                              capture_output=True, text=True, check=False, timeout=60)
        checks.check(f"refused '{name}': {done.stderr}", done.returncode != 0 and words in done.stderr and done.stderr.count("\n") == 1, done.stderr)
        checks.check(f"refused '{name}': the command did not run", not (base / "ran").exists())
    checks.equal("other files stay", (base / "other").read_text(), "precious\n")
    for value in ("0", "x", "-1", "1e9", "nan"):
        done = subprocess.run([FTRAC, "run", "--metrics-interval", value, "--", "true"], capture_output=True, text=True, check=False)
        checks.check(f"--metrics-interval {value}: {done.stderr}", done.returncode == 125 and "--metrics-interval" in done.stderr)


def by_procmon(base):
    path = base / "procmon.txt"
    subprocess.run([PROCMON, "--force", "--db", base / "p.db", "--metrics", path, "--", "true"], check=True, timeout=60)
    found = {one.name: one.value for family in openmetrics(path.read_text()) for one in family.samples}
    checks.check("procmon writes it, too", "ftrac_processes_running" in found, found)


def main():
    need_fuse()
    with tempfile.TemporaryDirectory(prefix="ftrac-metrics-") as directory:
        base = pathlib.Path(directory)
        watch("mount", base, [], "m.txt", openmetrics)
        watch("no-rows", base, ["--scope", "dir"], "m.prom", prometheus)
        if not kernel_refuses():
            watch("kernel", base, ["--files", "kernel", "--scope", "dir"], "k.txt", openmetrics)
        refused(base)
        by_procmon(base)
    checks.end()


main()
