#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""--version of each program: PROGRAM VERSION in the first line, then what it was built from, and what works here."""
import ctypes
import json
import os
import re
import subprocess

from ftractest import FTRAC, TOP, Checks, for_everybody

checks = Checks()
names = ["FTRAC", "PROCMON", "WFSTAT", "WFDAG"] + ["WFREPORT"] * ("WFREPORT" in os.environ)
version = re.search(r"version: '([0-9.]+)'", (TOP / "meson.build").read_text()).group(1)
verbs = ["summary", "diff", "check", "generate"]


def said(*words, **more):
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False, **more)
    checks.equal(f"{words[-2:]}: exit status, and nothing on stderr", (done.returncode, done.stderr), (0, ""))
    return done.stdout.splitlines()


def facts(lines):
    return dict(line.split(": ", 1) for line in lines[1:])


def check_facts(name, have):
    commit = subprocess.run([TOP / "db/commit.sh"], capture_output=True, text=True, check=True).stdout.strip()
    checks.equal(f"{name}: commit", have["commit"].removesuffix("-dirty"), commit.removesuffix("-dirty") or "-")
    library = ctypes.CDLL("libsqlite3.so.0")
    library.sqlite3_libversion.restype = ctypes.c_char_p
    runs, built = have["SQLite"].split(", compiled with ")
    checks.equal(f"{name}: SQLite that is loaded", runs, library.sqlite3_libversion().decode())
    checks.check(f"{name}: SQLite that it was compiled with", re.fullmatch(r"3(\.\d+)+", built), built)
    checks.equal(f"{name}: kernel", have["kernel"], os.uname().release)
    if have["record in the kernel"] != "not built in":
        there = os.access("/sys/kernel/btf/vmlinux", os.R_OK)
        checks.equal(f"{name}: types of the kernel", "(BTF) are there" in have["record in the kernel"], there)
    checks.equal(f"{name}: device", have["FUSE"].startswith("/dev/fuse is there, "), os.path.exists("/dev/fuse"))


first = None
for variable in names:
    program = FTRAC if variable == "FTRAC" else os.path.abspath(os.environ[variable])
    lines = said(program, "--version")
    checks.equal(f"{variable}: first line", lines[0], f"{variable.lower()} {version}")
    first = first or lines
    checks.equal(f"{variable}: the same facts as ftrac", lines[1:], first[1:])
    checks.equal(f"{variable}: -V", said(program, "-V"), lines)
check_facts("ftrac", facts(first))
doctor = json.loads(subprocess.run([FTRAC, "doctor", "--json"], capture_output=True, text=True, check=False).stdout)
checks.equal("libfuse, as ftrac doctor has it", facts(first)["libfuse"],
             next(f["text"] for f in doctor["findings"] if f["name"] == "libfuse"))
for verb in verbs:
    checks.equal(f"wfdag {verb}", said(os.path.abspath(os.environ["WFDAG"]), verb, "--version"),
                 [f"wfdag {verb} {version}", *first[1:]])
if os.geteuid() == 0:
    other = facts(said(for_everybody(FTRAC), "--version", user=65534, group=65534, extra_groups=[]))
    kernel = other.pop("record in the kernel")
    checks.check("without privileges: says what the record in the kernel needs",
                 kernel == "not built in" or kernel.endswith("needs root, or CAP_BPF and CAP_PERFMON"), kernel)
    checks.equal("without privileges: all else is the same", other,
                 {k: v for k, v in facts(first).items() if k != "record in the kernel"})
checks.end()
