#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Turns SQL files into a C file.

embed.py FILE...              schema.sql becomes the string sql_schema (db/sql.h)
embed.py --queries FILE...    all become the string sql_queries (dag/trace/queries.h), each from its first query on
"""
import pathlib
import re
import sys


def put(name, text):
    # Bytes, not a string literal: compilers bound the length of literals.
    data = ", ".join(str(b) for b in text + b"\0")
    print(f"const char sql_{name}[] = {{ {data} }};")


def queries(path):
    text = path.read_bytes()
    first = re.search(rb"^--[-+] ", text, re.MULTILINE)
    assert first, f"{path}: there is no query in it"
    return b"\n" + text[first.start():]


names = [pathlib.Path(name) for name in sys.argv[1:]]
if names[0].name == "--queries":
    print('#include "dag/trace/queries.h"')
    put("queries", b"".join(map(queries, names[1:])))
else:
    print('#include "db/sql.h"')
    for path in names:
        put(path.stem, path.read_bytes())
