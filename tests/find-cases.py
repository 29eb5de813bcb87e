#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""find-cases.py: what Meson has to know of each program tests/cases/FOLDER/NAME.py, one line for each:

    FOLDER <tab> NAME <tab> parallel or serial <tab> SECONDS <tab> words of a long run, or -

from lines of the program's head, before its first line of code:

    # serial: REASON      no other case may run at the same time
    # seconds: N          what it takes on two cores; the cases that take longest begin first
    # long: WORD...       the words with which tests/all.sh --long runs it

find-cases.py --known FILE: fails if FILE holds something else, since Meson then runs other cases than there are.
"""
import pathlib
import re
import sys

CASES = pathlib.Path(__file__).resolve().parent / "cases"
KEYS = {"serial", "seconds", "long"}
HEAD = re.compile(r"# (\w+): (.+)")


def head_of(path):
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            break
        match = HEAD.fullmatch(line)
        if not match or match[1].startswith("SPDX"):
            continue
        if match[1] not in KEYS:
            sys.exit(f"find-cases.py: '{path}': unknown line '{line}'; known are {', '.join(sorted(KEYS))}")
        found[match[1]] = match[2]
    return found


def check_names(paths):
    names = [path.stem for path in paths]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice or not names:
        sys.exit(f"find-cases.py: in '{CASES}': {'no cases' if not names else 'twice: ' + ', '.join(twice)}")


def line_of(path):
    head = head_of(path)
    return "\t".join([path.parent.name, path.stem, "serial" if "serial" in head else "parallel",
                      str(int(head.get("seconds", 1))), head.get("long", "-")])


def main():
    paths = sorted(CASES.glob("*/*.py"))
    check_names(paths)
    found = "\n".join(map(line_of, paths))
    if sys.argv[1:2] != ["--known"]:
        print(found)
    elif found != pathlib.Path(sys.argv[2]).read_text(encoding="utf-8").strip():
        sys.exit("find-cases.py: cases are new, gone or have another head; run: meson setup --reconfigure build")
    else:
        print(f"{len(paths)} cases, all known to Meson")


main()
