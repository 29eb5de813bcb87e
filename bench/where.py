#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Where the time of the daemon goes: samples of its CPU, put down to what was done.

    sudo bench/where.py [--fidelity exact|cached|open] [--uring] [WORKLOAD...]

Runs each workload of the gate once under perf and prints a row of a table for it.  Needs root,
./setup bench, and perf (linux-perf).
"""
import argparse
import collections
import re
import signal
import subprocess
import sys

import machine
import measure
import systems
import workloads

# Threads with one purpose.
THREADS = {"ftrac-writer": "writer", "monitor": "monitor", "sampler": "monitor"}
COPY = re.compile(r"copy_(page_)?(to|from)|_copy_|fuse_copy|memcpy|rep_movs|gup_|pin_user_pages|"
                  r"copy_user|iov_iter")
SWITCH = re.compile(r"^(finish_task_switch|__schedule|schedule$|_raw_spin_unlock_irqrestore|"
                    r"try_to_wake_up|pv_native_safe_halt)")
RECORD = re.compile(r"^(trace_|ring_|event_)")
PARTS = ["FUSE in the kernel", "copying", "waking up", "mirrored call", "handlers, libfuse, libc",
         "trace_end, ring", "locks", "writer", "monitor"]


class Sampled(systems.Ftrac):
    """ftrac, with perf looking at it."""

    def start(self, directory, scratch):
        where = super().start(directory, scratch)
        self.data = scratch / "perf.data"
        self.perf = subprocess.Popen(
            ["perf", "record", "-q", "-e", "cpu-clock", "-F", "1999", "-g", "-p",
             str(self.process.pid), "-o", self.data],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while not self.data.exists():
            if self.perf.poll() is not None:
                sys.exit("where: perf did not start: is linux-perf installed, and are we root?")
        return where

    def stop(self):
        facts = super().stop()
        self.perf.send_signal(signal.SIGINT)
        self.perf.wait()
        facts["parts"] = parts_of(self.data)
        return facts


def part_of(thread, frames):
    """frames: the innermost first; those of the kernel reach to the system call."""
    if thread in THREADS:
        return THREADS[thread]
    kernel = [name for name, place in frames if "kernel" in place or place == "[fuse]"]
    if any(name.startswith(("fuse_dev_", "fuse_uring", "io_uring", "__do_sys_io_uring",
                            "__x64_sys_io_uring")) for name in kernel):
        if any(COPY.search(name) for name in kernel[:4]):
            return "copying"
        return "waking up" if any(SWITCH.match(name) for name in kernel[:4]) else PARTS[0]
    if any("futex" in name for name in kernel):
        return "locks"
    if kernel:
        return "mirrored call"
    name = frames[0][0] if frames else ""
    if RECORD.match(name) or name.startswith("pthread_mutex"):
        return "trace_end, ring"
    return "handlers, libfuse, libc"


def samples_of(text):
    """(thread, frames) of what perf script prints."""
    for block in text.split("\n\n"):
        lines = block.strip("\n").split("\n")
        head = re.match(r"\s*(.+?)\s+\d+\s", lines[0])
        if head:
            found = (re.match(r"\s+[0-9a-f]+ (.+?)(?:\+0x[0-9a-f]+)? \((.+)\)$", line)
                     for line in lines[1:])
            yield head[1], [(frame[1], frame[2]) for frame in found if frame]


def parts_of(data):
    text = subprocess.run(["perf", "script", "-i", data], capture_output=True, text=True,
                          errors="replace").stdout
    return collections.Counter(part_of(*sample) for sample in samples_of(text))


def row(workload, figures):
    counted = figures["parts"]
    total = sum(counted.values())
    cells = [workload.name, str(figures["ops"]),
             f"{figures['cpu_s'] * 1e6 / max(1, figures['ops']):.1f}", str(total)]
    return cells + [f"{100 * counted[part] / total:.0f}" if total else "-" for part in PARTS]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--fidelity", default="exact", choices=["exact", "cached", "open"])
    parser.add_argument("--uring", action="store_true", help="by io_uring, not by the device")
    parser.add_argument("workloads", nargs="*", help="some of the gate (default: all)")
    options = parser.parse_args()
    machine.be_alone()
    print(f"{options.fidelity}, {'io_uring' if options.uring else 'by device'}\n")
    head = ["workload", "operations", "CPU us/op", "samples", *(f"% {part}" for part in PARTS)]
    print("| " + " | ".join(head) + " |\n|" + "---|" * len(head), flush=True)
    with measure.memory() as top, machine.uring_as_it_was():
        for workload in workloads.gate():
            if not options.workloads or workload.name in options.workloads:
                with measure.place_of(workload, top) as directory:
                    system = Sampled(options.fidelity, "ftrac", uring=options.uring)
                    figures = measure.measure(system, workload, directory)
                    print("| " + " | ".join(row(workload, figures)) + " |", flush=True)


main()
