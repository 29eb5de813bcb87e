#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 12
"""The summary at the end of ftrac run: what it says of steps that sleep, one after the other and at the same time, against the times
that follow from the sleeps alone; what failed; what was not seen; and no line but the last, which has the path of the trace, is longer than a terminal is wide.
"""
import os
import pathlib
import random
import re
import subprocess
import tempfile

from ftractest import FTRAC, Checks, need_fuse, need_kernel
from stattraces import WFSTAT

SURE = 0.06  # seconds: what the start of processes takes


class Sleep:
    def __init__(self, rng):
        self.name, self.seconds = f"step{rng.randrange(5)}", rng.randrange(5, 40) / 100

    def text(self):
        return f"./{self.name} {self.seconds}"

    def wall(self, without):
        return 0 if without in (self.name, f"{self.name} {self.seconds}") else self.seconds

    def names(self):
        return {self.name}


class Several:
    """One after the other, or at the same time."""

    def __init__(self, rng, depth):
        self.parts = [Several(rng, depth - 1) if depth and rng.randrange(2) else Sleep(rng) for _ in range(rng.randrange(2, 4))]
        self.at_once = rng.randrange(2)

    def text(self):
        texts = [part.text() for part in self.parts]
        return f"( {' & '.join(texts)} & wait )" if self.at_once else f"( {'; '.join(texts)} )"

    def wall(self, without=None):
        return (max if self.at_once else sum)(part.wall(without) for part in self.parts)

    def names(self):
        return set().union(*(part.names() for part in self.parts))


def summary(base, files, *command):
    done = subprocess.run([FTRAC, "run", "--force", "--files", files, "--db", "trace.db", "--", *command], cwd=base, capture_output=True,
                          text=True, timeout=100, stdin=subprocess.DEVNULL, check=False)
    return done.returncode, [line.removeprefix("ftrac: ") for line in done.stderr.splitlines() if line.startswith("ftrac: ")]


def seconds_of(text):
    number, unit = text.split()
    return float(number) * {"us": 1e-6, "ms": 1e-3, "s": 1}[unit]


def line_of(lines, label):
    return next((line.partition(": ")[2] for line in lines if line.startswith(f"{label}: ")), None)


def shares(lines):
    """Of the critical path, in percent; the list may go on in the next line."""
    first = next(n for n, line in enumerate(lines) if line.startswith("critical path: "))
    text = lines[first].partition(": ")[2] + (" " + lines[first + 1].strip() if lines[first].endswith(",") else "")
    return {name: int(n) for name, n in re.findall(r"([a-z][a-z ]*) (\d+) %", text)}


def overview(checks, what, base, lines):
    """wfstat says the same of the run."""
    done = subprocess.run([WFSTAT, "overview", "--csv", base / "trace.db"], capture_output=True, text=True, check=True)
    said = dict(line.split(",", 1) for line in done.stdout.splitlines() if "," in line)
    wall = seconds_of(re.search(r"exit status 0, (.*)", lines[0])[1])
    checks.check(f"{what}: wall time of wfstat", abs(int(said["wall_ns"]) / 1e9 - wall) <= wall / 100, (said, lines[0]))
    checks.equal(f"{what}: files opened", said["files_opened"], re.search(r"(\d+) files? opened", lines[2])[1])


def check_lines(checks, what, lines):
    checks.equal(f"{what}: lines that are too long", [line for line in lines[:-1] if len(line) + len("ftrac: ") > 80], [])
    checks.check(f"{what}: at most 20 lines", 5 < len(lines) <= 20, lines)


def gains(checks, base, files, seed):
    run = Several(random.Random(seed), 2)
    status, lines = summary(base, files, "sh", "-c", run.text())
    what = f"{files}, {run.text()}"
    checks.equal(f"{what}: exit status", status, 0)
    check_lines(checks, what, lines)
    overview(checks, what, base, lines)
    wall = seconds_of(re.search(r"exit status 0, (.*)", lines[0])[1])
    checks.check(f"{what}: wall time", wall >= run.wall() - 0.05, (wall, run.wall()))
    sure = SURE + max(0, wall - run.wall())  # what a busy machine delays, it delays somewhere
    lines = lines[:next((n for n, line in enumerate(lines) if line.startswith("spent on the path")), len(lines))]
    # Behind a step that is most of the run come its tasks, which have its arguments.
    said = {name: seconds_of(time) for time, name in re.findall(r"([\d.]+ m?s) {2,4}(step\d(?: [\d.]+)?)(?: \(|$)", "\n".join(lines), re.M)}
    wanted = {name: run.wall() - run.wall(name) for name in run.names()}
    for name, seconds in said.items():
        gain = run.wall() - run.wall(name)
        checks.check(f"{what}: gain of {name}", abs(seconds - gain) < sure, (seconds, gain, wanted))
    divided = {name.split()[0] for name in said if " " in name}
    checks.check(f"{what}: what is divided", len(divided) <= 1 and all(wanted[name] > run.wall() / 2 - sure for name in divided), (said, wanted))
    clear = {name for name in wanted if not divided and sum(other > wanted[name] - sure for other in wanted.values()) <= 3 and wanted[name] > sure}
    checks.equal(f"{what}: steps that are missing", sorted(clear - said.keys()), [])
    checks.equal(f"{what}: parts of the critical path", sum(shares(lines).values()), 100)
    return len(said)


FULL = "head -c 20000000 /dev/zero | python3 -S slow.py; true"
# Much more work than that of the writer, of which a busy machine delays each part.
SLOW = "import sys\nwhile block := sys.stdin.buffer.read(65536):\n    for _ in range(20): sum(block)\n"
ROUNDS = """\
import subprocess
cat = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
for n in range(50):
    cat.stdin.write(b"question")
    cat.stdin.flush()
    cat.stdout.read(8)
"""


def pipes(checks, base):
    """The reader of a full pipe is what the run waits for, although the writer ends before it; and programs that talk have no gain."""
    (base / "slow.py").write_text(SLOW)
    for files in "mount", "kernel":
        _, lines = summary(base, files, "sh", "-c", FULL)
        checks.check(f"{files}: {FULL}", (line_of(lines, "worth speeding up") or "").endswith("  slow.py"), lines)
    _, lines = summary(base, "kernel", "python3", "-S", "-c", ROUNDS)
    checks.check("rounds: no gains", line_of(lines, "worth speeding up") is None, lines)
    checks.check("rounds: time on the path", (line_of(lines, "spent on the path") or "").endswith("  python3"), lines)
    check_lines(checks, "rounds", lines)


THREADS = """\
import threading, time
for n in range(6):
    threading.Thread(target=time.sleep, args=(%s,), daemon=True).start()
end = time.process_time() + 0.5
while time.process_time() < end: pass
"""


def threads(checks, base):
    """What threads wait for is not what the process waits for, as long as another one works."""
    for seconds in 0.01, 20:
        said = shares(summary(base, "kernel", "python3", "-S", "-c", THREADS % seconds)[1])
        checks.check(f"threads sleep {seconds} s: what the process did", sum(said.get(name, 0) for name in ("sleep", "locks", "events")) <= 10, said)


def megabytes_read(lines):
    return float(re.search(r"([\d.]+) MB read", lines[2])[1])


MAPS = """\
import mmap
with open("large", "rb") as file:
    mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ).find(b"x")
"""


def pipes_beside_maps(checks, base):
    """The summary says what a mount does not see of pipes, however much it sees of mapped files."""
    (base / "large").write_bytes(bytes(20_000_000))
    (base / "maps.py").write_text(MAPS)
    _, lines = summary(base, "mount", "sh", "-c", "python3 -S maps.py; head -c 3000000 /dev/zero | cat > copy; true")
    checks.check("mapped: the trace has them", megabytes_read(lines) >= 20, lines)
    said = re.match(r"([\d.]+) MB of ([\d.]+) MB moved", line_of(lines, "not seen") or "")
    checks.check("pipes beside mapped files: what was not seen", said and 9 <= float(said[1]) < float(said[2]) < 16, lines)


FAILURES = [
    ("sh -c 'true; exit 7'", "exit status 7: sh -c", None),
    ("sh -c 'cat /nonexistent; exit 1'", "exit status 1: cat /nonexistent", None),
    ("python3 -S -c 'import os; os.abort()'", None, "SIGABRT: python3"),
    ("seq 1000000 | head -n 1", None, None),
    ("sleep 9 & kill $!; wait; true", None, None),
    ("timeout 0.1 sleep 9; true", None, None),
]


def failures(checks, base):
    for command, failed, signal in FAILURES:
        status, lines = summary(base, "auto", "sh", "-c", f"{command} 2>/dev/null" if failed else f"{command}; true")
        for label, wanted in ("failed", failed), ("ended by a signal", signal):
            said = line_of(lines, label)
            checks.check(f"{command}: {label}", (said is None) == (wanted is None) and (said or "").replace(os.path.realpath("/"), "/").startswith(
                (wanted or "").split(":", maxsplit=1)[0]), (status, said, wanted))


def main():
    need_fuse()
    need_kernel()
    checks = Checks()
    seed, looked = random.SystemRandom().randrange(10**6), 0
    with tempfile.TemporaryDirectory(prefix="ftrac-case-") as directory:
        base = pathlib.Path(directory).resolve()
        for n in range(5):
            (base / f"step{n}").write_text('#!/bin/sh\nsleep "$1"\n:\n')
            (base / f"step{n}").chmod(0o755)
        print(f"seed {seed}")
        for n in range(6):
            looked += gains(checks, base, ("mount", "kernel")[n % 2], seed + n)
        failures(checks, base)
        pipes(checks, base)
        threads(checks, base)
        pipes_beside_maps(checks, base)
        status, lines = summary(base, "mount", "true")
        checks.equal("a run that used no file: what would see more", ["--scope full or --files kernel" in line for line in lines].count(True), 1)
    print(f"{looked} gains")
    checks.check("there was something to compare", looked > 3, looked)
    checks.end()


main()
