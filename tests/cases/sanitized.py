#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Unit tests, and cases that use all programs, with what finds wrong addresses, leaks and undefined
behaviour."""
import sys

import sanitizers
from ftractest import TOP, Checks, need_fuse

CASES = ["run", "meaning", "wfdag_golden", "sources"]
need_fuse()
checks = Checks()
build = sanitizers.address()
for test in sanitizers.unit_tests(build):
    text, fine = sanitizers.run([test], timeout=300)
    checks.check(f"{test.name} is fine", fine, text[-3000:])
for case in CASES:
    text, fine = sanitizers.run([sys.executable, TOP / "tests/cases" / f"{case}.py"], timeout=500,
                                env=sanitizers.places(build))
    checks.check(f"{case} is fine", fine, text[-3000:])
checks.end()
