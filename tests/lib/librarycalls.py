# SPDX-License-Identifier: MIT
"""Programs whose calls of libc are recorded, and that are killed."""
import os
import pathlib
import struct
import subprocess
import sys

from ftractest import WORK

PROCMON = os.path.abspath(os.environ.get("PROCMON", "build/procmon/procmon"))
LAYERS = str(WORK.resolve() / "layers")


def numbers(pipe, n):
    """The n-th number from now on that the program writes."""
    data = b""
    while len(data) < 4 * n:
        more = os.read(pipe.fileno(), 4 * n - len(data))
        if not more:
            sys.exit("the program ended")
        data += more
    return struct.unpack("=I", data[-4:])[0]


def start_forever(place, *options):
    """procmon with a program that writes numbers until it is killed."""
    place.mkdir()
    tracer = subprocess.Popen([PROCMON, "--output", "trace.db", "--layer", "lib", *options, LAYERS, "forever"], cwd=place,
                              stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
    return tracer


def below(tracer):
    """Of the program, which runs."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            parent = int(pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
            if parent == tracer.pid:
                return int(pid)
        except OSError:
            continue
    sys.exit("there is no program below procmon")
