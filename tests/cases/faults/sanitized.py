#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# long: --long
# seconds: 90
"""Unit tests, and cases that use all programs, with what finds wrong addresses, leaks and undefined behaviour.

    sanitized.py [--all] [CASE...]     (--all: all cases, by hand; it takes hours)
"""
import argparse
import json
import subprocess
import sys
import time

import sanitizers
from ftractest import TOP, Checks, need_fuse
from sample import one, some

CASES = ["fidelity_operations", "hostile_names", "meaning", "rights", "unprivileged", "wfdag_golden"]
SLOW = {"compose"} # a thousand queries, whose work is SQLite's
WITHOUT = {"fuzz", "sanitized", "threads", "valgrind", # have what finds faults themselves
           "bench_smoke", # times
           "faults_limits", # has no room for what they map
           "faults_memory"} # allocates in their place
SKIPPED = 77
SECONDS = 3000 # that a case may take


def all_cases(build):
    tests = json.loads(subprocess.run(["meson", "introspect", "--tests", build], check=True, capture_output=True,
                                      text=True).stdout)
    return sorted(test["name"] for test in tests if "ftrac:fuse" in test["suite"] and test["name"] not in WITHOUT)


def place_of(case):
    return next((TOP / "tests/cases").glob(f"*/{case}.py"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("cases", nargs="*")
    given = parser.parse_args()
    need_fuse()
    checks = Checks()
    units = [] if given.cases else sanitizers.unit_tests() if given.all else some(
        [name for name in sanitizers.unit_tests() if name not in SLOW], 10)
    build = sanitizers.address([*sanitizers.programs(), *(f"tests/unit/test_{name}" for name in units)])
    for name in units:
        text, fine = sanitizers.run([build / f"tests/unit/test_{name}"], timeout=SECONDS)
        checks.check(f"the unit test of {name} is fine", fine, sanitizers.excerpt(text))
    cases = given.cases or (all_cases(build) if given.all else one(CASES))
    for case in cases:
        begin = time.monotonic()
        text, fine = sanitizers.run([sys.executable, place_of(case)], timeout=SECONDS,
                                    env=sanitizers.places(build))
        checks.check(f"{case} is fine", fine, sanitizers.excerpt(text))
        print(f"{case}: {'fine' if fine else 'NOT FINE'}, {time.monotonic() - begin:.0f} s;",
              "; ".join(text.splitlines()[-2:] if fine else ()), flush=True)
    print(f"{len(units)} unit tests, {len(cases)} cases")
    checks.end()


main()
