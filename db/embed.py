#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Turns SQL files into a C file: schema.sql becomes the string sql_schema."""
import pathlib
import sys

print('#include "db/sql.h"')
for name in sys.argv[1:]:
    path = pathlib.Path(name)
    # Bytes, not a string literal: compilers bound the length of literals.
    data = ", ".join(str(b) for b in path.read_bytes() + b"\0")
    print(f"const char sql_{path.stem}[] = {{ {data} }};")
