#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 16
# long: --long
"""A storm of short processes: nothing is missed by ptrace, no end by the connector, also while all
processors are busy; what is outside of the command writes nothing.

procmon_storm.py [NUMBER]   of processes, default 800, 2000 with --long
"""
import os
import subprocess
import sys

from ftractest import Checks
from profiled import WAYS, Profile, available, whole
from sample import LONG

checks = Checks()
N = int(sys.argv[1]) if len(sys.argv) > 1 else 2000 if LONG else 400
STORM = f"seq {N} | xargs -P4 -n1 /bin/true"


def storm(way, how):
    with Profile(STORM, "--processes", way) as p:
        whole(checks, way, p)
        records = p.fact("process_tier").endswith("+taskstats")
        ended, figures, cpu = p.sql("SELECT count(end_ns), count(minflt), count(cpu_ns) FROM process")[0]
        lines = sum(exe == os.path.realpath("/bin/true") and argv[0] == "/bin/true"
                    for exe, argv in p.images() if argv)
        print(f"{way}, {how}: {ended} ends, {figures} with figures, {cpu} with CPU time, "
              f"{lines} command lines ({100 * lines / N:.1f} %)")
        checks.equal(f"{way}, {how}: processes", len(p.processes("state = 'exited'")), N + 3)
        checks.equal(f"{way}, {how}: programs", p.value(
            "SELECT count(*) FROM image WHERE seq > 0"), N + 3)
        if records or way == "ptrace":
            checks.equal(f"{way}, {how}: figures", figures, N + 3)
            checks.equal(f"{way}, {how}: names", p.value(
                "SELECT count(*) FROM process WHERE comm = 'true'"), N)
        if way == "ptrace":
            checks.equal(f"{way}, {how}: command lines", lines, N)
            checks.equal(f"{way}, {how}: arguments", sorted(
                int(argv[1]) for exe, argv in p.images() if argv[0] == "/bin/true"),
                list(range(1, N + 1)))
            checks.equal(f"{way}, {how}: CPU time", cpu, N + 3)
            checks.equal(f"{way}, {how}: tier", p.value("SELECT count(DISTINCT tier) FROM process"), 1)
        checks.equal(f"{way}, {how}: children of xargs", p.value(
            "SELECT count(*) FROM process WHERE parent = (SELECT id FROM process "
            "WHERE comm = 'xargs')"), N)


def outside(way):
    """The trace has nothing of a storm that another process makes."""
    other = subprocess.Popen(["sh", "-c", f"while :; do seq {N} | xargs -P4 -n1 /bin/true; done"],
                             start_new_session=True)
    try:
        with Profile("sleep 2; true", "--processes", way) as p:
            checks.equal(f"{way}: complete beside a storm", p.fact("complete"), 1)
            checks.equal(f"{way}: processes beside a storm", [r["comm"] for r in p.processes()],
                         ["sh", "sleep"])
            checks.equal(f"{way}: programs beside a storm", p.value(
                "SELECT count(*) FROM image WHERE comm = 'true'"), 0)
    finally:
        os.killpg(other.pid, 9)
        other.wait()


ways = [way for way in WAYS if available(way)]
for way in ways:
    storm(way, "alone")
    outside(way)
busy = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(2 * os.cpu_count())]
try:
    for way in ways:
        storm(way, "all processors busy")
finally:
    for process in busy:
        process.kill()
        process.wait()
checks.end()
