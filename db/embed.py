#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Turns SQL files into a C file.

embed.py FILE...              schema.sql becomes the string sql_schema (db/sql.h)
embed.py --queries FILE...    all become the string sql_queries (dag/trace/queries.h), each from its first query on

@DRIVERS@ in a file stands for the names of the drivers in drivers.c, @DATA@ for the condition that the operation n.name
moves data, @BY_CALL@ for the condition that programs in the kernel reported it, of a file of a mount.  Tests that make a trace take its SQL from text().
"""
import pathlib
import re
import sys

# (For IN with so many names SQLite would build an index and search it for each operation.)
DATA = " OR ".join(f"n.name = '{name}'" for name in
                   ["read", "write", "copy", "sendfile", "splice", "send", "recv"])

# What enter_mount.bpf.h of kernel/ takes; the mount is asked the rest.
CALLS = ["read", "write", "copy", "sendfile", "splice", "lseek", "close", "dup", "mmap", "munmap", "msync", "mprotect"]
BY_CALL = ("w.fidelity = (SELECT code FROM fidelity_name WHERE name = 'call') AND n.name IN (" +
           ", ".join(f"'{name}'" for name in CALLS) + ")")


def drivers():
    source = (pathlib.Path(__file__).parent / "drivers.c").read_text()
    names = re.findall(r'^\t\{ "([\w-]+)", ', source, re.MULTILINE)
    assert names, "drivers.c: there is no driver in it"
    return ", ".join(f"'{name}'" for name in names)


def text(path):
    return path.read_text().replace("@DRIVERS@", drivers()).replace("@DATA@", DATA).replace("@BY_CALL@", BY_CALL)


def put(name, sql):
    # Bytes, not a string literal: compilers bound the length of literals.
    data = ", ".join(str(b) for b in sql.encode() + b"\0")
    print(f"const char sql_{name}[] = {{ {data} }};")


def queries(path):
    sql = text(path)
    first = re.search("^--[-+] ", sql, re.MULTILINE)
    assert first, f"{path}: there is no query in it"
    return "\n" + sql[first.start():]


def main(names):
    if names[0].name == "--queries":
        print('#include "dag/trace/queries.h"')
        put("queries", "".join(map(queries, names[1:])))
    else:
        print('#include "db/sql.h"')
        for path in names:
            put(path.stem, text(path))


if __name__ == "__main__":
    main([pathlib.Path(name) for name in sys.argv[1:]])
