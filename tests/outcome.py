#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""outcome.py --failed LOG: the names of the tests that failed, if they are so few that a rerun is worth it.

outcome.py MESON_STATUS MUST_MOUNT LOG AGAIN: what Meson's log of all tests says, and that of those
that were run a second time; ends with the line "N passed, N failed, N skipped". A test that failed
and passed the second time has passed, and is named.
"""
import json
import sys

# More failures than that are a fault of the code.
FEW = 8


def read(path):
    """name -> result, without the suites that the log puts before some names"""
    try:
        with open(path, encoding="utf-8") as file:
            return {test["name"].split(" / ")[-1]: test["result"] for test in map(json.loads, file)}
    except OSError:
        return {}


def is_failed(result):
    return result not in ("OK", "EXPECTEDFAIL", "SKIP")


def fuse_tests():
    with open("build/meson-info/intro-tests.json", encoding="utf-8") as file:
        return {test["name"] for test in json.load(file)
                if any(suite.split(":")[-1] in ("fuse", "long") for suite in test["suite"])}


def count(first, again, meson_status, must_mount):
    passed_later = sorted(name for name, result in again.items() if not is_failed(result))
    results = {**first, **{name: again[name] for name in passed_later}}
    failed = sorted(name for name, result in results.items() if is_failed(result))
    skipped = sorted(name for name, result in results.items() if result == "SKIP")
    fuse = fuse_tests()

    errors = []
    if not first:
        errors.append("no test ran")
    if must_mount and fuse & set(skipped):
        errors.append(f"{len(fuse & set(skipped))} tests of suite fuse were skipped, which must not be here")
    if must_mount and not fuse & set(results):
        errors.append("no test of suite fuse ran")
    if meson_status and not any(map(is_failed, first.values())):
        errors.append(f"meson test ended with status {meson_status}")

    for name in passed_later:
        print(f"all.sh: {name} failed, and passed when it was run alone: its first output is above")
    for name in failed:
        print(f"all.sh: {name} failed", file=sys.stderr)
    for error in errors:
        print("all.sh:", error, file=sys.stderr)
    long = sum(name.endswith("_long") for name in results)
    if long:
        print(f"{long} cases ran long")
    print(f"{len(results) - len(failed) - len(skipped)} passed, {len(failed)} failed, {len(skipped)} skipped",
          flush=True)
    return 1 if failed or errors else 0


if sys.argv[1] == "--failed":
    names = [name for name, result in read(sys.argv[2]).items() if is_failed(result)]
    print(" ".join(names) if len(names) <= FEW else "")
else:
    sys.exit(count(read(sys.argv[3]), read(sys.argv[4]), int(sys.argv[1]), int(sys.argv[2])))
