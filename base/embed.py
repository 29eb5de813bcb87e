#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""embed.py FILE...: a C file in which complete.bash is the string script_bash, and so on (base/complete_script.c)."""
import pathlib
import sys

for path in map(pathlib.Path, sys.argv[1:]):
    data = ", ".join(str(b) for b in path.read_bytes() + b"\0")
    print(f"extern const char script_{path.suffix[1:]}[];\nconst char script_{path.suffix[1:]}[] = {{ {data} }};")
