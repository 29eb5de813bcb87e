#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# serial: lowers kernel.pid_max of the machine
# long: --long
"""Numbers come back: with kernel.pid_max lowered so that they wrap at least three times in a run, no
two processes become one, and none is put down to a stranger."""
import contextlib
import os
import pathlib
import signal
import sys

from ftractest import Checks, skip
from profiled import WAYS, Profile, available, whole
from sample import one

checks = Checks()
PID_MAX = pathlib.Path("/proc/sys/kernel/pid_max")
N = int(sys.argv[1]) if len(sys.argv) > 1 else 9000


@contextlib.contextmanager
def lowered():
    """The kernel takes no less than 301; numbers that are in use above it stay."""
    before = PID_MAX.read_text()
    room = max(600, 2 * sum(len(os.listdir(f"/proc/{p}/task")) for p in os.listdir("/proc")
                            if p.isdigit() and os.path.exists(f"/proc/{p}/task")))
    try:
        PID_MAX.write_text(str(room + 300))
    except OSError:
        skip("kernel.pid_max cannot be changed here")
    try:
        yield room
    finally:
        PID_MAX.write_text(before)


def wrap(way, room):
    # Each says its number and its order by what it is; those of one number never live together.
    with Profile(f"seq {N} | xargs -P3 -n1 sh -c 'exit $(($0 % 100))'", "--processes", way) as p:
        whole(checks, way, p)
        rows = p.sql("SELECT id, pid, start_ns, end_ns, exit_code, command FROM process "
                     "ORDER BY start_ns, id")
        checks.equal(f"{way}: processes", len(rows), N + 3)
        wraps = sum(b["pid"] < a["pid"] - room // 2 for a, b in zip(rows, rows[1:]))
        again = N + 3 - len({r["pid"] for r in rows})
        print(f"{way}: {N + 3} processes, numbers wrapped {wraps} times, {again} were had before")
        checks.check(f"{way}: numbers wrap three times", wraps >= 3, wraps)
        last = {}
        early = 0
        for row in rows:
            early += row["start_ns"] < last.get(row["pid"], 0)
            last[row["pid"]] = row["end_ns"]
        checks.equal(f"{way}: begun before the one of that number ended", early, 0)
        children = [r for r in rows if (r["command"] or "").startswith("sh -c 'exit ")]
        checks.equal(f"{way}: results of strangers", sum(
            int(r["command"].rsplit(" ", 1)[1]) % 100 != r["exit_code"] for r in children), 0)
        if way == "ptrace":
            checks.equal(f"{way}: each order once", sorted(
                int(r["command"].rsplit(" ", 1)[1]) for r in children), list(range(1, N + 1)))
        checks.equal(f"{way}: children of xargs", p.value(
            "SELECT count(*) FROM process WHERE parent = (SELECT process FROM image "
            "WHERE comm = 'xargs' AND seq > 0)"), N)


if os.geteuid() != 0:
    skip("root, which may change kernel.pid_max")
signal.signal(signal.SIGTERM, lambda *_: sys.exit("terminated"))  # the limit is put back
ways = [way for way in WAYS if available(way)]
with lowered() as room:
    for way in one(ways):
        wrap(way, room)
checks.end()
