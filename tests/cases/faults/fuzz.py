#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 30
# long: --long
"""A short run of targets of libFuzzer; tests/fuzz/run.py --seconds 600 build-fuzz-long is a long one."""
import subprocess
import sys

import sanitizers
from ftractest import TOP
from sample import LONG, some

SECONDS = 60 if LONG else 3
SEED = 1  # what random inputs find is looked for by hand, and is no change's fault
targets = some(sorted(path.stem for path in TOP.glob("tests/fuzz/fuzz_*.c")), 3)
build = sanitizers.address([f"tests/fuzz/{name}" for name in targets])
sys.exit(subprocess.run([sys.executable, TOP / "tests/fuzz/run.py", "--seconds", str(SECONDS), "--seed", str(SEED), build,
                         *(name.removeprefix("fuzz_") for name in targets)]).returncode)
