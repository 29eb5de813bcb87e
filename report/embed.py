#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""embed.py PAGE: turns the page that build.mjs has made into a C string (dag/report/assets.h)."""
import pathlib
import sys

page = pathlib.Path(sys.argv[1]).read_bytes()
print('#include "dag/report/assets.h"')
print(f"const char report_frame[] = {{ {','.join(map(str, page))},0 }};")
