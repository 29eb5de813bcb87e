#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prometheus and its node exporter, as Debian has them, scrape a run of Montage: the last sample of --metrics is what wfstat hist and the trace
say, that of --metrics-listen is no more; promtool finds nothing to complain of in the texts. `./setup tests` does not install them, because
Debian's packages start servers that other machines reach: apt-get install prometheus prometheus-node-exporter."""
# seconds: 40
import collections
import csv
import json
import os
import pathlib
import socket
import sqlite3
import subprocess
import tempfile
import time
import urllib.parse
import urllib.request

from ftractest import Checks, FTRAC, need, need_fuse

checks = Checks()
WFSTAT = os.environ.get("WFSTAT", "build/dag/wfstat")
CONFIG = """
global: {{ scrape_interval: 1s }}
scrape_configs:
  - job_name: file
    static_configs: [{{ targets: ["127.0.0.1:{file}"] }}]
  - job_name: listen
    static_configs: [{{ targets: ["127.0.0.1:{listen}"] }}]
"""


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def ask(port, query):
    """(operation, le) -> the sum of its values"""
    found = collections.Counter()
    url = f"http://127.0.0.1:{port}/api/v1/query?query={urllib.parse.quote(query)}"
    try:
        with urllib.request.urlopen(url, timeout=60) as answer:
            for one in json.load(answer)["data"]["result"]:
                found[one["metric"].get("operation", ""), one["metric"].get("le", "")] += float(one["value"][1])
    except OSError:  # it does not answer yet
        pass
    return dict(found)


def start(base, ports):
    (base / "config.yml").write_text(CONFIG.format(**ports))
    (base / "texts").mkdir()
    quiet = {"stdout": subprocess.DEVNULL, "stderr": open(base / "servers.log", "w", encoding="utf-8"), "cwd": base}
    return [subprocess.Popen(["prometheus-node-exporter", f"--web.listen-address=127.0.0.1:{ports['file']}", "--collector.disable-defaults",
                              "--collector.textfile", f"--collector.textfile.directory={base / 'texts'}"], **quiet),
            subprocess.Popen(["prometheus", f"--config.file={base / 'config.yml'}", f"--storage.tsdb.path={base / 'data'}",
                              f"--web.listen-address=127.0.0.1:{ports['prometheus']}"], **quiet)]


def until(what, read):
    for _ in range(300):
        found = read()
        if found:
            return found
        time.sleep(0.2)
    raise AssertionError(f"not within a minute: {what}")


def of_trace(db, value):
    with sqlite3.connect(db) as trace:
        return {(row[0], ""): row[1] for row in trace.execute(f"SELECT name, {value} FROM op GROUP BY name") if row[1]}


def without_zeros(found):
    return {key: value for key, value in found.items() if value}


def compare_hist(port, db):
    buckets = ask(port, 'ftrac_operation_latency_seconds_bucket{job="file"}')
    hist = subprocess.run([WFSTAT, "hist", "--of", "latency", "--by", "operation", "--csv", db], check=True, capture_output=True, text=True)
    below, compared = collections.Counter(), 0
    bounds = {(operation, round(float(le) * 1e9)): count for (operation, le), count in buckets.items() if le != "+Inf"}
    for row in csv.DictReader(hist.stdout.splitlines()):
        below[row["operation"]] += int(row["count"])
        bound = row["operation"], int(row["to"]) - 1
        if bound in bounds:
            checks.equal(f"{row['operation']} below {row['to']} ns", bounds[bound], below[row["operation"]])
            compared += 1
    for operation, count in below.items():
        checks.equal(f"{operation} in all", buckets[operation, "+Inf"], count)
    checks.check("classes of wfstat hist", compared > 50, compared)
    print(f"classes compared: {compared} of {len(below)} operations, which are {sum(below.values())}")


def check_text(what, text):
    done = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True, check=False, timeout=60)
    checks.check(f"promtool, {what}: {done.stdout}{done.stderr}", done.returncode == 0 and not done.stdout + done.stderr and len(text) > 1000, done)


def run(base, ports):
    db, text = base / "trace.db", base / "texts" / "ftrac.prom"
    scraped = []

    done = subprocess.Popen([pathlib.Path(__file__).resolve().parents[3] / "examples/montage/run.sh", "A", "--metrics", text, "--metrics-interval", "1", "--metrics-listen",
                             f"127.0.0.1:{ports['listen']}", "--force"], cwd=base, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                            env={**os.environ, "DB": str(db), "FTRAC": str(pathlib.Path(FTRAC).resolve()), "JOBS": "2"})
    while done.poll() is None:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{ports['listen']}/metrics", timeout=60) as answer:
                scraped.append(answer.read().decode())
        except OSError:  # the mount is not there yet, or not any more
            pass
        time.sleep(0.2)
    checks.check(f"Montage ran: {done.stderr.read()}", done.returncode == 0)
    check_text("--metrics", text.read_text())
    check_text("--metrics-listen", scraped[-1])
    return db


def main():
    need_fuse()
    need("prometheus", "promtool", "prometheus-node-exporter", "mProjectPP", "make")
    ports = {name: free_port() for name in ("file", "listen", "prometheus")}
    with tempfile.TemporaryDirectory(prefix="ftrac-prometheus-") as directory:
        base = pathlib.Path(directory)
        servers = start(base, ports)
        try:
            until("Prometheus scrapes", lambda: ask(ports["prometheus"], 'up{job="file"} == 1'))
            db = run(base, ports)
            there = of_trace(db, "count(*)")
            until("the last sample", lambda: sum(ask(ports["prometheus"], 'ftrac_operations_total{job="file"}').values()) == sum(there.values()))
            for name, value in (("operations", "count(*)"), ("operation_errors", "sum(result < 0)"), ("bytes", "sum(bytes)")):
                checks.equal(f"the last sample: {name}", without_zeros(ask(ports["prometheus"], f'ftrac_{name}_total{{job="file"}}')), of_trace(db, value))
            compare_hist(ports["prometheus"], db)
            listened = ask(ports["prometheus"], 'last_over_time(ftrac_operations_total{job="listen"}[1h])')
            checks.check("scraped without node exporter", listened and all(count <= there[operation] for operation, count in listened.items()), listened)
            print(f"of {sum(there.values())} operations, Prometheus had {sum(listened.values()):.0f} by --metrics-listen")
        finally:
            for server in servers:
                server.kill()
                server.wait()
    checks.end()


main()
