#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 110
# long: --long
"""A short run of each target of libFuzzer; tests/fuzz/run.py --seconds 600 build-fuzz is a long one."""
import subprocess
import sys

import sanitizers
from ftractest import TOP
from sample import LONG

SECONDS = 60 if LONG else 3
SEED = 1  # what random inputs find is looked for by hand, and is no change's fault
sys.exit(subprocess.run([sys.executable, TOP / "tests/fuzz/run.py", "--seconds", str(SECONDS),
                         "--seed", str(SEED),
                         sanitizers.address()]).returncode)
