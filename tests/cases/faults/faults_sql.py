#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 6
# long: --all
"""The N-th call of SQLite fails, for N = 1, 2, 3 ...: of the tools that read traces, of procmon, of a mount
and of the thread that writes the trace.  Each prints in one line what it could not do, nothing that is not so
is printed or recorded, and the application that is traced does not notice.

    faults_sql.py [--all] [--runs N] [--from N --to N] [tools|procmon|mount|writer ...]
"""
from faults import Parts, arguments
from faults_mount import mount_runs
from faults_tools import procmon, tools
from ftractest import need_fuse

# What SQLite says, by its number: no memory, an error of the disk, a damaged file, a full disk.
NOMEM, IOERR, CORRUPT, FULL = 7, 10, 11, 13


def with_code(run, code):
    return lambda checks, faults, given: run(checks, faults, given, "sql", errno=code)


def main():
    need_fuse()
    given = arguments(__doc__, 2)
    parts = Parts(given)
    for name, code in ("I/O error", IOERR), ("damaged", CORRUPT):
        parts.run(f"tools, {name}", with_code(tools, code))
    for name, code in ("no memory", NOMEM), ("full", FULL):
        parts.run(f"procmon, {name}", with_code(procmon, code))
        parts.run(f"mount, {name}", mount_runs, "sql", {"errno": code})
        parts.run(f"writer, {name}", mount_runs, "sql", {"errno": code, "thread": "ftrac-writer"})
    parts.checks.end()


if __name__ == "__main__":
    main()
