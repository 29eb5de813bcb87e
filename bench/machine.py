# SPDX-License-Identifier: MIT
"""What was measured where, and what has to be so while it is measured."""
import contextlib
import datetime
import os
import pathlib
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent
FTRAC = pathlib.Path(os.environ.get("FTRAC", TOP / "build/ftrac/ftrac")).resolve()
BUILD = FTRAC.parent.parent
URING = pathlib.Path("/sys/module/fuse/parameters/enable_uring")


def run(command, **more):
    """Quietly; its output only when it fails."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace", **more)
    if done.returncode:
        sys.exit(f"bench: '{' '.join(map(str, command))}' failed ({done.returncode}): "
                 + done.stdout.strip()[-400:])
    return done.stdout


def first_line(*command):
    try:
        text = subprocess.run(command, capture_output=True, text=True, timeout=20).stdout.strip()
    except OSError:
        return None
    return text.split("\n")[0] or None


def line_of(path, start, separator):
    """What stands behind the separator in the first line that begins so; None where there is none."""
    try:
        lines = pathlib.Path(path).read_text().splitlines()
    except OSError:
        return None
    return next((line.split(separator, 1)[1].strip(' \t"') for line in lines
                 if line.startswith(start)), None)


def commit():
    text = first_line("git", "-C", str(TOP), "describe", "--always", "--dirty", "--abbrev=10")
    return text


def describe():
    """What a reader must know to compare the figures with others."""
    libfuse = sorted(TOP.glob("subprojects/fuse-3.*"))
    return {
        "date": datetime.datetime.now().astimezone().isoformat(timespec="minutes"),
        "cpu": line_of("/proc/cpuinfo", "model name", ":"), "cpus": os.cpu_count(),
        "memory_GiB": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "kernel": os.uname().release,
        "system": line_of("/usr/lib/os-release", "PRETTY_NAME=", "="),
        "ftrac": first_line(str(FTRAC), "--version"), "commit": commit(),
        "libfuse": libfuse[-1].name[5:] if libfuse else None,
        "gcc": first_line("gcc", "-dumpfullversion"), "fio": first_line("fio", "--version"),
        "strace": first_line("strace", "-V"),
    }


def be_alone():
    """Begins anew in a mount namespace of its own: what is mounted here vanishes with us, however
    that comes, and no other tracing file system is in the way."""
    if os.geteuid() != 0:
        sys.exit("bench: mounts file systems, so run it as root: sudo bench/bench.py ...")
    os.environ["LC_ALL"] = "C"  # a locale may add a hundred calls to each program
    if os.environ.get("FTRAC_BENCH_ALONE") != str(os.getpid()):
        os.environ["FTRAC_BENCH_ALONE"] = str(os.getpid())
        os.execvp("unshare", ["unshare", "--mount", "--propagation", "private", sys.executable,
                              *sys.argv])
    for line in reversed(pathlib.Path("/proc/self/mountinfo").read_text().splitlines()):
        place, kind = line.split()[4], line.split(" - ")[1].split()[0]
        if kind.startswith("fuse."):
            subprocess.run(["umount", "-l", place], stderr=subprocess.DEVNULL)


def has_uring():
    """Does the kernel have FUSE over io_uring, wanted or not?"""
    return URING.exists()


@contextlib.contextmanager
def uring_as_it_was():
    """What uring() changes is put back at the end."""
    before = URING.read_text().strip() if has_uring() else None
    try:
        yield
    finally:
        if before is not None and URING.read_text().strip() != before:
            URING.write_text(before)


def uring(on):
    """Whether new mounts may have it; touched only when it is not so already."""
    wanted = "Y" if on else "N"
    if has_uring() and URING.read_text().strip() != wanted:
        URING.write_text(wanted)
