# SPDX-License-Identifier: MIT
"""Builds with sanitizers, each in a directory of its own that the next run finds again; for fuzz.py, sanitized.py
and threads.py."""
import fcntl
import os
import pathlib
import subprocess
import tempfile

from ftractest import TOP, need

OPTIONS = {"ASAN_OPTIONS": "detect_leaks=1:allocator_may_return_null=1:exitcode=99",
           "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1:exitcode=98",
           "TSAN_OPTIONS": f"exitcode=97:suppressions={TOP}/tests/threads.supp"}
FOUND = ("runtime error:", "ERROR: AddressSanitizer", "ERROR: LeakSanitizer", "WARNING: ThreadSanitizer")
COUNTING = {"memory"} # counts what is allocated, which is other bytes here


def build(name, *options, targets=()):
    """The directory of a build by clang with these options of Meson; of these targets, or of all."""
    need("clang", "meson", "ninja")
    directory = TOP / f"build-{name}"
    environment = os.environ | {"CC": "clang"}
    report = "enabled" if (TOP / "report/node_modules/esbuild").is_dir() else "disabled"
    directory.mkdir(exist_ok=True)
    with open(directory / "turn.lock", "w") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)  # cases that run at the same time build the same
        if not (directory / "build.ninja").exists():
            subprocess.run(["meson", "setup", directory, "-Db_lundef=false", "-Doptimization=1", "-Dman=disabled",
                            "-Dwerror=true", f"-Dreport={report}", *options], cwd=TOP, env=environment, check=True,
                           stdout=subprocess.DEVNULL)
        subprocess.run(["ninja", "-C", directory, *targets], check=True, stdout=subprocess.DEVNULL, timeout=1200)
    return directory


def address():
    """Addresses and undefined behaviour, with the targets of libFuzzer."""
    return build("fuzz", "-Dfuzz=true", "-Db_sanitize=address,undefined")


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


def unit_tests(directory, names=None):
    tests = sorted(pathlib.Path(directory, "tests/unit").glob("test_*"))
    return [test for test in tests if test.is_file() and os.access(test, os.X_OK)
            and test.name.removeprefix("test_") not in COUNTING
            and (names is None or test.name.removeprefix("test_") in names)]


def places(directory):
    """Where cases find the programs of that build; what they observe is that of the usual one, which is faster, and
    which leaks may be looked for in though it is traced."""
    return {"FTRAC": f"{directory}/ftrac/ftrac", "PROCMON": f"{directory}/procmon/procmon",
            "WFDAG": f"{directory}/dag/wfdag", "WFSTAT": f"{directory}/dag/wfstat",
            "WFREPORT": f"{directory}/dag/wfreport"}
