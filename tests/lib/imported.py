# SPDX-License-Identifier: MIT
"""Traces that ftrac import makes, and what the same records say when they are read a second time."""
import collections
import os
import pathlib
import re
import sqlite3
import subprocess

import straced
from straced_edges import Account, from_wfdag
from ftractest import FTRAC

WFDAG = os.environ.get("WFDAG", "build/dag/wfdag")
# What -y says of a descriptor: brackets of its own for devices, an arrow between the ends of a socket.
SHOWN = re.compile(r"(?<=[\dD])<(?![ <])(?:[^<>]|->|<[^<>]*>)*>")


def run_import(*words):
    return subprocess.run([FTRAC, "import", *map(str, words)], capture_output=True, text=True, errors="surrogateescape", timeout=300,
                          stdin=subprocess.DEVNULL, check=False)


def rows(db, sql, *values):
    base = sqlite3.connect(f"file:{db}?mode=ro", uri=True)
    base.text_factory = lambda text: text.decode(errors="surrogateescape")
    found = base.execute(sql, values).fetchall()
    base.close()
    return found


def fact(db, key):
    found = rows(db, "SELECT value FROM trace WHERE key = ?", key)
    return found[0][0] if found else None


def strace(command, cwd, out, *options, env=None):
    """Runs a command under strace."""
    subprocess.run(["strace", *options, "-o", out, *command], cwd=cwd, check=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, timeout=500, env={**os.environ, **(env or {})})


def edges_of_strace(prefix, cwd, before):
    """(pid, path, read or write), by the model of straced_edges, of files of strace -ff.  before: files that were there."""
    account = Account(str(cwd), str(cwd), False)
    account.files = {name: file for name, file in account.files.items() if name in before}
    processes = {}  # of threads
    for _, pid, call, text, result in straced.lines_of(pathlib.Path(prefix)):
        if "CLONE_THREAD" in text:
            processes[result] = processes.get(pid, pid)
        account.take(pid, call, SHOWN.sub("", text), result)
    last = {id(file): path for path, file in account.files.items()}  # names that links gave, too
    edges = {(processes.get(pid, pid), file, what) for pid, file, what in account.edges}
    return collections.Counter((pid, last.get(id(file), file.path), what) for pid, file, what in edges)


def edges_of_trace(db, cwd):
    return from_wfdag(WFDAG, db, cwd)[0]


def diff(one, root, other, other_root, *options):
    return subprocess.run([WFDAG, "diff", "--fail-on", "graph", "--root", root, "--root", other_root, *options, one, other], capture_output=True,
                          text=True, timeout=300, check=False)
