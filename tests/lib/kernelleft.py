# SPDX-License-Identifier: MIT
"""What ftrac has in the kernel (programs, maps, links of eBPF), and that nothing of it is left at the end of a case.

All cases of tests/cases/kernel end by end(). It first records a command, and looks at what bpftool shows meanwhile, so that
nothing found at the end means something.

Objects that a process has open which this case did not start belong to another ftrac, and are not counted as left.
"""
import collections
import contextlib
import json
import os
import re
import subprocess
import time

from ftractest import WORK, need, skip

os.environ["PATH"] += ":/usr/sbin:/sbin"
# All processes that the case starts have this among their variables.
MARK = f"FTRAC_CASE={os.getpid()}-{time.monotonic_ns()}"
os.environ.update([MARK.split("=")])
KINDS = "prog", "map", "link"
Object = collections.namedtuple("Object", "kind id name")


def shown(kind):
    done = subprocess.run(["bpftool", "-j", kind, "show"], capture_output=True, text=True, timeout=60, check=False)
    # An object that goes away while bpftool lists them is an error of bpftool's.
    return json.loads(done.stdout) if done.returncode == 0 and done.stdout.strip() else None


def list_all(kind):
    for _ in range(50):
        found = shown(kind)
        if found is not None:
            return found
        time.sleep(0.1)
    raise AssertionError(f"'bpftool {kind} show' lists nothing")


def is_ours(name):
    """The names of programs and maps begin so; libbpf names maps of its own by the object."""
    return name.startswith(("kernel_", "kernel_b."))


def objects():
    """How many objects of any program bpftool shows, and those of ftrac."""
    all_of = {kind: list_all(kind) for kind in KINDS}
    found = {Object(kind, row["id"], row.get("name", "")) for kind in ("prog", "map") for row in all_of[kind]
             if is_ours(row.get("name", ""))}
    programs = {what.id: what.name for what in found if what.kind == "prog"}
    found |= {Object("link", row["id"], programs[row["prog_id"]]) for row in all_of["link"]
              if row.get("prog_id") in programs}
    return sum(map(len, all_of.values())), found


def holders():
    """(kind, id) -> processes that have it open."""
    held = collections.defaultdict(set)
    for pid in filter(str.isdecimal, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            for fd in os.listdir(f"/proc/{pid}/fd"):
                with contextlib.suppress(OSError):
                    if "bpf" in os.readlink(f"/proc/{pid}/fd/{fd}"):
                        with open(f"/proc/{pid}/fdinfo/{fd}", encoding="ascii", errors="replace") as f:
                            for kind, number in re.findall(r"^(prog|map|link)_id:\s+(\d+)", f.read(), re.MULTILINE):
                                held[kind, int(number)].add(int(pid))
    return held


def is_mine(pid):
    try:
        with open(f"/proc/{pid}/environ", "rb") as f:
            return MARK.encode() in f.read().split(b"\0")
    except OSError:
        return False


def of_this_case():
    """How many objects were looked at; those of ftrac that a process of this case has open, or none."""
    looked, found = objects()
    held = holders()
    return looked, sorted(what for what in found if all(map(is_mine, held[what.kind, what.id])))


def left(patience=100):
    """The same at the end: the kernel frees objects a moment after their last descriptor is closed."""
    for _ in range(patience):
        looked, found = of_this_case()
        if not found:
            break
        time.sleep(0.1)
    return looked, found


def nothing_left(checks, when):
    if os.geteuid() == 0:
        checks.equal(f"{when}: of ours in the kernel", left()[1], [])


def while_recording():
    """What there is of each kind while a command is recorded."""
    tracer = subprocess.Popen([WORK / "kernel_events", "-q", "sh", "-c", "echo; read line"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE)
    if not tracer.stdout.readline().strip() == b"" or tracer.poll() == 77:
        skip("nothing is recorded in the kernel here")
    found = of_this_case()[1]
    tracer.communicate(b"\n", timeout=60)
    return collections.Counter(what.kind for what in found)


def end(checks):
    """The end of a case."""
    if os.geteuid() == 0:
        need("bpftool")
        seen = while_recording()
        looked, found = left()
        print(f"in the kernel while a command was recorded: {dict(sorted(seen.items()))}; now: {len(found)} of ours, "
              f"of {looked} of all programs")
        checks.check("objects of each kind are seen while a command is recorded", all(seen[kind] for kind in KINDS), seen)
        checks.equal("left in the kernel", found, [])
    checks.end()
