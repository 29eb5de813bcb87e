#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 5
"""A client that looks for names that are not there, each another one, makes the daemon grow by a bounded amount,
and all of them are in the trace.

    missing_names.py [--names N] [--clients N]     (of 200 bytes; N names by each)
"""
import argparse
import subprocess
import time

from ftractest import WORK, Checks, Mount, need_fuse, resident

# What the queue, batches, the record (four times RECORD_KEPT) and SQLite take.
MOST_GROWTH = 32 << 20
BYTES = 200


def look_for(mount, names, clients):
    """The largest resident set meanwhile."""
    top = mount.base / "work"
    top.mkdir()
    # Names of another length are other names.
    running = [subprocess.Popen([WORK / "missing", mount(top), str(names), str(BYTES + i)]) for i in range(clients)]
    most = 0
    while any(client.poll() is None for client in running):
        most = max(most, resident(mount.pid))
        time.sleep(.05)
    return most, [client.returncode for client in running]


def main():
    need_fuse()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--names", type=int, default=60000)
    parser.add_argument("--clients", type=int, default=2)
    given = parser.parse_args()
    checks = Checks()
    with Mount("--fidelity", "cached") as mount:
        start, begin = resident(mount.pid), time.monotonic()
        most, statuses = look_for(mount, given.names, given.clients)
        seconds = time.monotonic() - begin
        checks.equal("clients found nothing", statuses, [0] * given.clients)
        checks.check("growth is bounded", most - start < MOST_GROWTH, (start, most))
        time.sleep(2)
        after = resident(mount.pid)
        mount.unmount()
        wanted = given.names * given.clients
        checks.equal("each name is there, once", mount.sql(
            "SELECT count(*), count(DISTINCT path), sum(count) FROM ghost WHERE path LIKE '%/missing-%'")[0],
            (wanted, wanted, wanted))
        checks.equal("nothing is lost", mount.fact("ops_lost"), 0)
        print(f"{wanted} names in {seconds:.1f} s: {start / 2**20:.1f} MiB before, {most / 2**20:.1f} at most, "
              f"{after / 2**20:.1f} afterwards")
    checks.end()


if __name__ == "__main__":
    main()
