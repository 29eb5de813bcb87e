#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How long wfstat takes for a trace of 10 million operations.

    bench/synthetic.py big.db && bench/tables.py big.db

Each table once after a first run that fills the caches: seconds, and the most memory. Tables of single
operations are compared with what SQLite needs to group as many rows, which is measured in between. The
build is build/dag/wfstat, unless $WFSTAT says otherwise.
"""
import os
import resource
import statistics
import subprocess
import sys
import time

WFSTAT = os.environ.get("WFSTAT", "build/dag/wfstat")
GROUP = "SELECT code, count(*), sum(latency) FROM ops_handle GROUP BY code"
RUNS = 3

OF_GROUPS = ("overview", "io", "io --by file", "io --by directory", "mem", "run", "util", "phase", "proc",
             "handle", "hist --of lifetime", "cdf --of bytes-read", "cdf --of file-size")
OF_OPERATIONS = ("sys", "sys --by phase,operation", "file", "pattern", "pattern --by file",
                 "hist --of latency", "cdf --of read-size", "time", "time --files", "errors")


def timed(*command):
    """Median of the seconds of a few runs, and the most memory of any child so far, in MiB."""
    seconds = []
    for _ in range(RUNS):
        begin = time.monotonic()
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        seconds.append(time.monotonic() - begin)
    return statistics.median(seconds)


def memory(*command):
    """In a process of its own: what is known of children is the most of all of them."""
    pid = os.fork()
    if pid == 0:
        status = subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode
        print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024, flush=True)
        os._exit(status)
    os.waitpid(pid, 0)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    trace = sys.argv[1]
    print("| table | seconds | times the GROUP BY | MiB |\n|---|---|---|---|")
    for tables in OF_GROUPS, OF_OPERATIONS:
        for table in tables:
            command = [WFSTAT, *table.split(), "--csv", trace]
            group = timed("sqlite3", trace, GROUP) if tables is OF_OPERATIONS else 0
            seconds = timed(*command)
            ratio = f"{seconds / group:.1f}" if group else "-"
            print(f"| {table} | {seconds:.2f} | {ratio} | ", end="", flush=True)
            memory(*command)


if __name__ == "__main__":
    main()
