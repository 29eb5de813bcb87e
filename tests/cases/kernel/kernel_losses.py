#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# serial: programs in the kernel slow all system calls of the machine
"""The record in the kernel is complete or says what is missing, and leaves nothing behind."""
import os
import pathlib
import re
import subprocess
import tempfile
import time

import kernelleft
from ftractest import WORK, Checks, need, skip

need("setpriv")
if not (WORK / "kernel_events").exists():
    skip("built without the record in the kernel")
checks = Checks()
READS = 200000


def record(*words, out=None, before=()):
    done = subprocess.run([*before, WORK / "kernel_events", *(["-o", out] if out else ["-q"]), *words],
                          capture_output=True, text=True, stdin=subprocess.DEVNULL)
    text = pathlib.Path(out).read_text(errors="surrogateescape") if out else done.stdout
    counts = re.findall(r"(\w+)=(\d+)", text[text.rfind("counts\t"):]) if "counts\t" in text else []
    per_cpu = re.findall(r" \d+=(\d+)-(\d+)", text[text.rfind("counts\t"):])
    return done, {k: int(v) for k, v in counts}, [tuple(map(int, pair)) for pair in per_cpu], text


def complete():
    done, counts, per_cpu, text = record(WORK / "kernel_reads", str(READS), "2", out="events")
    if done.returncode == 77:
        skip(done.stderr.strip())
    reads = text.count("op\tread\t0\t")
    print(f"complete: {reads} reads, {counts}")
    checks.equal("each read is there", reads - text.count("\t832\t0\t0\t") >= 2 * READS and reads < 2 * READS + 20, True)
    checks.equal("nothing is dropped", counts["dropped"], 0)
    checks.equal("a sync leaves nothing behind", counts["unsynced"], 0)
    checks.equal("processors add up", (sum(a for a, _ in per_cpu), sum(b for _, b in per_cpu)),
                 (counts["submitted"], counts["dropped"]))


def spooled():
    _, counts, _, text = record("-m", "1", WORK / "kernel_reads", str(READS), "2", out="events")
    print(f"spooled: {counts}")
    checks.check("records went through the file", counts["spooled"] > 0)
    checks.equal("nothing is dropped, with a file", counts["dropped"] + counts["failed"], 0)
    checks.check("each read is there, with a file", text.count("op\tread\t0\t") >= 2 * READS)


def dropped():
    _, counts, per_cpu, _ = record("-b", "65536", WORK / "kernel_reads", str(READS), "2")
    print(f"dropped: {counts}")
    checks.check("a small buffer loses records", counts["dropped"] > 0)
    checks.equal("what is lost is counted", counts["submitted"], counts["received"] + counts["dropped"])
    checks.equal("on the processor where it is lost", sum(b for _, b in per_cpu), counts["dropped"])


def killed():
    for after in (0.02, 0.3, None):
        tracer = subprocess.Popen([WORK / "kernel_events", "-q", "sh", "-c", "echo >started; sleep 2; echo >after"],
                                  stdout=subprocess.DEVNULL)
        while after is None and not os.path.exists("started"):
            time.sleep(0.01)
        time.sleep(after or 0)
        tracer.kill()
        tracer.wait()
        kernelleft.nothing_left(checks, f"killed after {after} s")
    for _ in range(100):
        if not os.path.exists("after"):
            time.sleep(0.1)
    checks.check("the command went on", os.path.exists("after"))


def two_at_once():
    other = subprocess.Popen([WORK / "kernel_events", "-q", WORK / "kernel_reads", "30000", "1"], text=True,
                             stdout=subprocess.PIPE)
    _, counts, _, _ = record(WORK / "kernel_reads", "20000", "1")
    seen = int(re.search(r"submitted=(\d+)", other.communicate()[0])[1])
    print(f"two at once: {counts['submitted']} and {seen} records")
    checks.check("each records its own command", 20000 <= counts["submitted"] < 20200 and 30000 <= seen < 30200)


def rights():
    unprivileged = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    for names in (["bpf", "perfmon"], ["bpf"], ["perfmon"], []):
        caps = ",".join(f"+{name}" for name in names)
        done, counts, _, _ = record("true", before=unprivileged + ([f"--inh-caps={caps}", f"--ambient-caps={caps}"] if caps
                                                             else []))
        if len(names) == 2:
            checks.check("a user with both capabilities records", done.returncode == 0 and counts["received"] > 10)
            continue
        missing = [name for name in ("CAP_BPF", "CAP_PERFMON") if name[4:].lower() not in names]
        checks.equal(f"a user with {names} is told what is missing",
                     (done.returncode, [name for name in missing if name in done.stderr], done.stderr.count("\n")),
                     (77, missing, 1))


def processes():
    done, counts, _, text = record(WORK / "kernel_many", "300", out="events")
    argv, figures, status = {}, {}, {}
    for line in text.splitlines():
        kind, *fields = line.split("\t")
        if kind == "exec":
            argv[fields[0]] = fields[11].split("\\x00")
        elif kind == "figures":
            figures[fields[0]] = {k: int(v) for k, v in re.findall(r"(\w+)=(\d+)", fields[8])}
        elif kind == "exit" and fields[0] == fields[1]:
            status[fields[0]] = int(fields[3])
    wrong = exact = 0
    for line in done.stdout.splitlines():
        pid, n, ended, utime, stime, rss, *rest = line.split()
        f = figures.get(pid, {})
        # A process may be switched once more after its parent has waited for it.
        later = f["nvcsw"] - int(rest[2])
        more = f["cpu_ns"] / 1000 - int(utime) - int(stime)
        same = argv.get(pid, [""] * 6)[4] == n and status.get(pid) == int(ended) and \
            later in (0, 1) and -20 < more < (20 if later == 0 else 500) and f["rsspeak_bytes"] == int(rss) * 1024 and \
            [f["minflt"], f["majflt"]] == list(map(int, rest[:2])) and 0 <= f["nivcsw"] - int(rest[3]) <= 1
        exact += later == 0
        if not same and wrong < 3:
            print(f"    {line}  {f}  {argv.get(pid)}")
        wrong += not same
    print(f"processes: {len(done.stdout.splitlines())} compared with wait4, {wrong} differ, {exact} without a later switch; {counts}")
    checks.equal("processes that wait4 tells of", len(done.stdout.splitlines()), 300)
    checks.check("arguments, status and figures are wait4's", wrong == 0 and exact > 250)


with tempfile.TemporaryDirectory() as top:
    os.chdir(top)
    for part in (complete, spooled, dropped, processes, two_at_once, rights, killed):
        part()
    os.chdir("/")
kernelleft.end(checks)
