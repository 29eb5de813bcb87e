# SPDX-License-Identifier: MIT
"""Builds with sanitizers, each in a directory of its own that the next run finds again; for fuzz.py, sanitized.py
and threads.py."""
import os
import pathlib
import subprocess

from ftractest import TOP, need

ENVIRONMENT = {"ASAN_OPTIONS": "detect_leaks=1:allocator_may_return_null=1:exitcode=99",
               "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1:exitcode=98",
               "TSAN_OPTIONS": "halt_on_error=1:exitcode=97"}
FOUND = ("runtime error:", "ERROR: AddressSanitizer", "ERROR: LeakSanitizer", "WARNING: ThreadSanitizer")


def build(name, *options, targets=()):
    """The directory of a build by clang with these options of Meson; of these targets, or of all."""
    need("clang", "meson", "ninja")
    directory = TOP / f"build-{name}"
    environment = os.environ | {"CC": "clang"}
    if not (directory / "build.ninja").exists():
        subprocess.run(["meson", "setup", directory, "-Db_lundef=false", "-Doptimization=1", "-Dman=disabled",
                        *options], cwd=TOP, env=environment, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["ninja", "-C", directory, *targets], check=True, stdout=subprocess.DEVNULL, timeout=580)
    return directory


def address():
    """Addresses and undefined behaviour, with the targets of libFuzzer."""
    return build("fuzz", "-Dfuzz=true", "-Db_sanitize=address,undefined")


def run(command, **more):
    """(what it printed, whether it ended well and no sanitizer found anything)"""
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, errors="replace",
                          stdin=subprocess.DEVNULL, env=os.environ | ENVIRONMENT | more.pop("env", {}), **more)
    text = done.stdout + done.stderr
    return text, done.returncode == 0 and not any(found in text for found in FOUND)


def unit_tests(directory, names=None):
    tests = sorted(pathlib.Path(directory, "tests/unit").glob("test_*"))
    return [test for test in tests if test.is_file() and os.access(test, os.X_OK)
            and (names is None or test.name.removeprefix("test_") in names)]


def places(directory):
    """Where cases find the programs of that build."""
    return {"FTRAC": f"{directory}/ftrac/ftrac", "PROCMON": f"{directory}/procmon/procmon",
            "WFDAG": f"{directory}/dag/wfdag", "WFSTAT": f"{directory}/dag/wfstat",
            "WORK": f"{directory}/tests/work"}
