#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# long: --runs 200
"""The N-th allocation fails, for N = 1, 2, 3 ...: of the tools that read traces, of procmon, of a mount
and of the thread that writes the trace.  None of them ever crashes, hangs or says what is not so.  Each
prints in one line what it could not do, and the application that is traced does not notice.

    faults_memory.py [--all] [--runs N] [--from N --to N] [tools|procmon|mount|handlers|begin|writer ...]
"""
from faults import Parts, arguments
from faults_mount import mount_runs, never_begins
from faults_tools import procmon, tools
from ftractest import need_fuse


def main():
    need_fuse()
    given = arguments(__doc__, 2)
    parts = Parts(given)
    parts.run("tools", tools)
    parts.run("procmon", procmon)
    parts.run("mount", mount_runs, "alloc", {})
    parts.run("handlers", mount_runs, "alloc", {"thread": "fuse_worker"})
    parts.run("begin", never_begins)
    parts.run("writer", mount_runs, "alloc", {"thread": "ftrac-writer"})
    parts.checks.end()


if __name__ == "__main__":
    main()
