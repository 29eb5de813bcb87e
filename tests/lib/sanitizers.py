# SPDX-License-Identifier: MIT
"""Builds with sanitizers, each in a directory of its own that the next run finds again; for fuzz.py, sanitized.py
and threads.py."""
import fcntl
import os
import pathlib
import subprocess
import tempfile

from ftractest import TOP, need
from sample import LONG

OPTIONS = {"ASAN_OPTIONS": "detect_leaks=1:allocator_may_return_null=1:exitcode=99",
           "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1:exitcode=98",
           "TSAN_OPTIONS": f"exitcode=97:suppressions={TOP}/tests/threads.supp"}
FOUND = ("runtime error:", "ERROR: AddressSanitizer", "ERROR: LeakSanitizer", "WARNING: ThreadSanitizer")
PROGRAMS = {"FTRAC": "ftrac/ftrac", "PROCMON": "procmon/procmon", "WFDAG": "dag/wfdag", "WFSTAT": "dag/wfstat",
            "WFREPORT": "dag/wfreport"}
COUNTING = {"memory"} # counts what is allocated, which is other bytes here


def has_report():
    return (TOP / "report/node_modules/esbuild").is_dir()


def build(name, *options, targets=()):
    """The directory of a build by clang with these options of Meson; of these targets, or of all."""
    need("clang", "meson", "ninja")
    directory = TOP / f"build-{name}"
    environment = os.environ | {"CC": "clang"}
    report = "enabled" if has_report() else "disabled"
    directory.mkdir(exist_ok=True)
    with open(directory / "turn.lock", "w") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)  # cases that run at the same time build the same
        if not (directory / "build.ninja").exists():
            subprocess.run(["meson", "setup", directory, "-Db_lundef=false", "-Dman=disabled", "-Dwerror=true",
                            f"-Dreport={report}", *options], cwd=TOP, env=environment, check=True,
                           stdout=subprocess.DEVNULL)
        done = subprocess.run(["ninja", "-C", directory, *targets], capture_output=True, text=True, timeout=1200,
                              check=False)
        if done.returncode:
            raise AssertionError(f"build-{name} cannot be built\n{done.stdout[-4000:]}{done.stderr}")
    return directory


def address(targets):
    """Addresses and undefined behaviour. For a short run the optimizer would take longer than it saves."""
    return build("fuzz-long" if LONG else "fuzz", f"-Doptimization={int(LONG)}", "-Dfuzz=true",
                 "-Db_sanitize=address,undefined", targets=targets)


def run(command, **more):
    """(what it printed, and what was found; whether it ended well and nothing was found). Of all that it starts:
    also daemons, which have no terminal, and processes of other users."""
    with tempfile.TemporaryDirectory(prefix="ftrac-found-") as directory:
        os.chmod(directory, 0o1777)
        environment = {name: f"{options}:log_path={directory}/found" for name, options in OPTIONS.items()}
        try:
            done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                  errors="replace", stdin=subprocess.DEVNULL,
                                  env=os.environ | environment | more.pop("env", {}), **more)
            text, well = done.stdout, done.returncode == 0
        except subprocess.TimeoutExpired as e:
            text, well = f"{(e.stdout or b'').decode(errors='replace')}\nit does not end", False
        found = [path.read_text(errors="replace") for path in sorted(pathlib.Path(directory).iterdir())]
    return text + "".join(found), well and not any(word in report for word in FOUND for report in found + [text])


def excerpt(text):
    """Where something was found, and else the end."""
    begin = min((text.find(word) for word in FOUND if word in text), default=max(0, len(text) - 4000))
    return text[begin:begin + 4000]


def programs():
    return [program for name, program in PROGRAMS.items() if name != "WFREPORT" or has_report()]


def unit_tests():
    """The names of those that make sense here."""
    names = (path.stem.removeprefix("test_") for path in TOP.glob("tests/unit/test_*.c"))
    return sorted(set(names) - COUNTING)


def places(directory):
    """Where cases find the programs of that build; what they observe is that of the usual one, which is faster, and
    which leaks may be looked for in though it is traced."""
    return {name: f"{directory}/{program}" for name, program in PROGRAMS.items()}
