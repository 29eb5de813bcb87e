#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# serial: another run removes the memory that a killed one left
# seconds: 25
"""Calls of libc that --layer lib records, against another preloaded object that counts the same calls of the same run.

Each thread's calls must be the same ones in the same order, with the same results: of threads, forks, vforks, signal handlers,
programs that call by address, Python, Perl and a shell.  That other object is in LD_PRELOAD before ftrac adds its own.
"""
import collections
import contextlib
import os
import pathlib
import re
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import tempfile
import time

from ftractest import FTRAC, TOP, WORK, Checks, kernel_refuses, need, skip
from librarycalls import LAYERS, PROCMON, numbers, start_forever
from librarycalls import below as pid_below

COUNTER = str(WORK.resolve() / "count_calls.so")
COUNTED = set(re.findall(r', "(\w+)", ', (TOP / "tests/work/count_calls.c").read_text()))

PYTHON = """
import os, subprocess, threading
def work(n):
    for i in range(10):
        with open(f"py{n}", "w") as f:
            f.write("x" * 10000)
        with open(f"py{n}", "rb") as f:
            assert len(f.read()) == 10000
for t in [threading.Thread(target=work, args=(n,)) for n in range(3)]:
    t.start()
    t.join()
subprocess.run(["cat", "py0"], stdout=subprocess.DEVNULL, check=True)
if os.fork() == 0:
    work(4)
    os._exit(0)
os.wait()
"""
PERL = 'for my $i (1..20) { open(my $f, ">", "pl$i") or die; print $f "x" x 9000; close $f; open($f, "<", "pl$i"); my @a = <$f>; close $f }'
R = 'for (i in 1:20) { writeLines(as.character(1:500), "r"); x <- readLines("r"); stopifnot(length(x) == 500) }; invisible(file.copy("r", "r2"))'
GO = 'package main\n\nimport "os"\n\nfunc main() { os.WriteFile("go", []byte("words\\n"), 0600) }\n'
SHELL = "for i in 1 2 3; do cat pl >sh$i; echo $i >>sh$i; done; wc -c sh1 sh2 | sort >sorted"

checks = Checks()


class Run:
    """A command below procmon, in a directory of its own."""

    def __init__(self, place, command, counted=True, tracer=(PROCMON,), check=True, **more):
        place.mkdir(exist_ok=True)
        self.place, self.log = place, place / "counted"
        (place / "pl").write_text("some text\n" * 100)
        self.log.write_text("")
        env = {**os.environ, "LD_PRELOAD": COUNTER} if counted else dict(os.environ)
        words = ["env", f"COUNT_CALLS={self.log}", *command] if counted else command
        self.done = subprocess.run([*tracer, "--force", "--output", "trace.db", "--layer", "lib", *words], cwd=place, env=env,
                                   stdin=subprocess.DEVNULL, capture_output=True, timeout=300, **more)
        if check and self.done.returncode:
            sys.exit(f"{command}: {self.done.returncode}: {self.done.stderr.decode()}")

    def sql(self, query, *values):
        with sqlite3.connect(f"file:{self.place}/trace.db?mode=ro", uri=True) as db:
            return db.execute(query, values).fetchall()

    def fact(self, key):
        return (self.sql("SELECT value FROM trace WHERE key = ?", key) or [(None,)])[0][0]

    def of_trace(self):
        """For each thread, its calls in the order of their ends: name, result."""
        threads = collections.defaultdict(list)
        for tid, name, result in self.sql(
                "SELECT c.tid, c.name, c.result FROM call c JOIN image i ON i.id = c.image WHERE c.layer = 'lib' "
                "AND i.exe NOT GLOB '*/env' ORDER BY c.start_ns + c.latency_ns, c.id"):
            if name in COUNTED:
                threads[tid].append((name, max(result, -1)))
        return threads

    def of_counter(self):
        threads = collections.defaultdict(list)
        for line in self.log.read_text().splitlines():
            tid, name, result = line.split()
            threads[int(tid)].append((name, None if result == "-" else int(result)))
        return threads


def same(ours, others):
    return len(ours) == len(others) and all(
        a[0] == b[0] and (b[1] is None or a[1] == b[1]) for a, b in zip(ours, others))


def without(threads, call):
    return {tid: [other for other in calls if other != call] for tid, calls in threads.items()}


def compare(run, what, least, apart=None):
    """apart: a call of a signal handler, which may come between the two ends of another one: only their number is compared."""
    ours, others = run.of_trace(), run.of_counter()
    if apart:
        counts = [sum(calls.count(apart) for calls in threads.values()) for threads in (ours, others)]
        checks.check(f"{what}: {counts[1]} calls of signal handlers", counts[0] == counts[1] > 0, counts)
        ours, others = without(ours, apart), without(others, apart)
    calls = sum(map(len, others.values()))
    checks.equal(f"{what}: threads that made calls", sorted(ours), sorted(others))
    wrong = [tid for tid in others if not same(ours.get(tid, []), others[tid])]
    first = next((f"thread {t}: {len(ours.get(t, []))} and {len(others[t])} calls; " + str(next(
        ((i, a, b) for i, (a, b) in enumerate(zip(ours.get(t, []), others[t])) if not same([a], [b])), "the rest")) for t in wrong), "")
    checks.check(f"{what}: {calls} calls of {len(others)} threads are the same, one by one", not wrong and calls >= least, first)
    checks.equal(f"{what}: lost", run.fact("ops_lost"), 0)
    unknown = run.sql("SELECT count(*) FROM call WHERE layer = 'lib' AND (image IS NULL OR process IS NULL OR tid IS NULL)")
    checks.equal(f"{what}: calls of unknown programs", unknown[0][0], 0)


def one_by_one(base):
    for way, least in [("threads", 9000), ("forks", 300), ("vforks", 30), ("loads", 3)]:
        compare(Run(base / way, [LAYERS, way]), way, least)
    compare(Run(base / "signals", [LAYERS, "signals"]), "signals", 6000, apart=("lseek", -1))
    compare(Run(base / "python", [sys.executable, "-S", "-c", PYTHON]), "Python", 200)
    compare(Run(base / "perl", ["perl", "-e", PERL]), "Perl", 100)
    compare(Run(base / "shell", ["sh", "-c", SHELL]), "a shell", 30)
    if shutil.which("Rscript"):
        compare(Run(base / "r", ["Rscript", "--vanilla", "-e", R]), "R", 100)
    else:
        print("no Rscript here: no program in R")


def added_up(base):
    """With --detail-above: the same numbers of calls of each thread and function, whatever interrupts the sums."""
    for way, command in [*((way, [LAYERS, way]) for way in ("threads", "forks", "vforks", "signals", "loads")),
                         ("python", [sys.executable, "-S", "-c", PYTHON]), ("perl", ["perl", "-e", PERL]), ("shell", ["sh", "-c", SHELL])]:
        run = Run(base / f"{way}-sums", command, tracer=(PROCMON, "--detail-above", "1s"))
        theirs = collections.Counter((tid, name) for tid, calls in run.of_counter().items() for name, _ in calls)
        rows = run.sql("SELECT c.tid, c.name, sum(c.calls), count(*) FROM call c JOIN image i ON i.id = c.image WHERE c.layer = 'lib' AND "
                       "i.exe NOT GLOB '*/env' GROUP BY 1, 2")
        ours = {(tid, name): calls for tid, name, calls, _ in rows if name in COUNTED}
        wrong = [(key, ours.get(key), theirs.get(key)) for key in ours.keys() | theirs.keys() if ours.get(key) != theirs.get(key)]
        checks.check(f"{way}, added up: {sum(theirs.values())} calls in {sum(row[3] for row in rows)} rows", ours and not wrong, wrong[:5])
        checks.equal(f"{way}, added up: lost", run.fact("ops_lost"), 0)


def bytes_and_fields(base):
    run = Run(base / "streams", [LAYERS, "streams"], counted=False)
    rows = run.sql("SELECT name, count(*), sum(bytes), sum(length) FROM call WHERE layer = 'lib' AND class IN ('read', 'write') "
                   "AND image = (SELECT max(id) FROM image) GROUP BY name ORDER BY name")
    checks.equal("bytes of streams", rows, [
        ("fgetc", 1, 1, 1), ("fgets", 1, 17, 63), ("fprintf", 1, 9, 9), ("fputc", 1, 1, 1), ("fputs", 100, 1700, 1700),
        ("fread", 1, 70, 70), ("fwrite", 1, 10, 10)])
    run = Run(base / "descriptors", [LAYERS, "descriptors"], counted=False)
    rows = run.sql("SELECT name, class, fd, path, offset, length, bytes, result FROM call WHERE layer = 'lib' AND "
                   "image = (SELECT max(id) FROM image) ORDER BY id")
    checks.equal("fields of calls on descriptors", rows, [
        ("open", "administration", 3, "executed", None, None, None, 3),
        ("write", "write", 3, None, None, 10, 10, 10),
        ("pread", "read", 3, None, 2, 5, 5, 5),
        ("lseek", "position", 3, None, 0, None, None, 0),
        ("dup", "administration", 3, None, None, None, None, 4),
        ("read", "read", 4, None, None, 100, 10, 10),
        ("read", "read", None, None, None, 1, 0, -9),
        ("open", "administration", None, "/no/such/file", None, None, None, -2),
        ("close", "administration", 4, None, None, None, None, 0),
        ("close", "administration", 3, None, None, None, None, 0)])


def below(base, files):
    """The layer below: with the same bytes, inside of the calls."""
    run = Run(base / f"below-{files}", [LAYERS, "streams"], counted=False, tracer=(FTRAC, "run", "--files", files))
    lower = "syscall" if files == "kernel" else "fs"
    rows = run.sql("SELECT o.name, sum(o.bytes), count(*), count(c.id), count(c.start_ns <= o.start_ns AND "
                   "c.start_ns + c.latency_ns >= o.start_ns + o.latency_ns OR NULL) FROM call o JOIN file f ON f.id = o.file "
                   "LEFT JOIN call c ON c.id = o.parent WHERE o.layer = ? AND o.name = 'write' AND f.path GLOB '*/streams'", lower)
    name, moved, writes, parents, inside = rows[0]
    checks.equal(f"{files}: bytes below fputs, fwrite, fputc and fprintf", moved, 1700 + 10 + 1 + 9)
    checks.check(f"{files}: {writes} writes, all inside of a call", 0 < writes == parents == inside, rows)
    rows = run.sql("SELECT c.name, f.path FROM call c JOIN file f ON f.id = c.file WHERE c.layer = 'lib' AND c.name IN "
                   "('fopen', 'fflush', 'fseek') AND f.path GLOB '*/streams'")
    checks.check(f"{files}: calls have the file of what is below them", len(rows) >= 2, rows)
    ours = run.sql("SELECT count(*) FROM op o JOIN file f ON f.id = o.file WHERE f.path GLOB '*/ftrac-preload.so' OR f.path GLOB "
                   "'*/ftrac-calls-*/*'")
    checks.equal(f"{files}: operations on files of ours", ours[0][0], 0)


def unseen(base):
    place = base / "unseen"
    place.mkdir()
    (place / "s.c").write_text('#include <stdio.h>\nint main(void) { puts("static"); return 0; }\n')
    compiler = shutil.which("cc") or shutil.which("gcc") or "cc"
    subprocess.run([compiler, "-static", "-o", "linked-statically", "s.c"], cwd=place, check=True)
    shutil.copy(shutil.which("cat"), place / "is-setuid")
    go = shutil.which("go") is not None
    if go:
        (place / "in-go.go").write_text(GO)
        subprocess.run(["go", "build", "-o", "in-go", "in-go.go"], cwd=place, check=True,
                       env={**os.environ, "CGO_ENABLED": "0", "HOME": str(place), "GO111MODULE": "off"})
    else:
        print("no compiler of Go here: no program in Go")
    setuid = os.geteuid() == 0
    if setuid:
        os.chown(place / "is-setuid", 65534, 65534)
        os.chmod(place / "is-setuid", 0o755 | stat.S_ISUID)
    words = f"./linked-statically; {'./in-go; ' if go else ''}./is-setuid </dev/null; env -u LD_PRELOAD cat </dev/null; cat </dev/null"
    run = Run(place, ["sh", "-c", words], counted=False, tracer=(FTRAC, "run"))
    wanted = sorted(["linked-statically", *(["in-go"] if go else []), *(["is-setuid"] if setuid else []), "cat"])
    rows = sorted(row[0] for row in run.sql("SELECT program FROM unseen_image"))
    checks.equal("programs that are not seen", rows, wanted)
    said = run.done.stderr.decode()
    checks.check("the summary names them", f"library calls of {len(wanted)} programs" in said and "linked-statically" in said, said)
    if not setuid:
        print("not root: no setuid program of another user")


def undisturbed(base):
    """A program sees nothing of it but the two variables."""
    outputs = []
    for way in "native", "traced":
        place = base / way
        place.mkdir()
        command = [LAYERS, "surroundings"]
        if way == "traced":
            command = [PROCMON, "--output", str(base / "surroundings.db"), "--layer", "lib", *command]
        done = subprocess.run(command, cwd=place, capture_output=True, timeout=60, stdin=subprocess.DEVNULL,
                              env={**os.environ, "PWD": "same"})
        outputs.append((done.returncode, done.stdout, done.stderr, sorted(os.listdir(place))))
    checks.equal("status, output, descriptors, environment and files", outputs[1], outputs[0])
    checks.check("there was output", len(outputs[0][1].splitlines()) > 5, outputs[0])


def await_calls(trace, least):
    """So many writes of the program, which runs, are in the trace; how many."""
    for _ in range(2000):
        try:
            with contextlib.closing(sqlite3.connect(f"file:{trace}?mode=ro", uri=True, timeout=60)) as db:
                n = db.execute("SELECT count(*) FROM call WHERE layer = 'lib' AND name = 'write'").fetchone()[0]
        except sqlite3.OperationalError: # nothing is stored yet
            n = -1
        if n >= least:
            return n
        time.sleep(0.05)
    sys.exit(f"{trace} has {n} calls, not {least}")


def kills(base):
    tracer = start_forever(base / "killed")
    last = numbers(tracer.stdout, 5000)
    os.kill(pid_below(tracer), signal.SIGKILL)
    rest = tracer.stdout.read()
    last += len(rest) // 4
    checks.equal("the program was killed", tracer.wait(60), 137)
    with sqlite3.connect(f"file:{base}/killed/trace.db?mode=ro", uri=True) as db:
        n = db.execute("SELECT count(*) FROM call WHERE layer = 'lib' AND name = 'write' AND fd <> 1 AND result = 1").fetchone()[0]
    checks.check(f"a program that was killed after {last} writes: {n} are there", last <= n <= last + 1, n)

    tracer = start_forever(base / "alone")
    numbers(tracer.stdout, 1000)
    stored = await_calls(base / "alone/trace.db", 1000)
    pid = pid_below(tracer)
    variables = pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    memory = pathlib.Path(next(v for v in variables if v.startswith(b"FTRAC_CALLS=")).partition(b"=")[2].decode())
    tracer.kill()
    tracer.wait()
    checks.check(f"{stored} calls were stored when procmon was killed, and are there", await_calls(base / "alone/trace.db", 0) >= stored >= 1000)
    first = numbers(tracer.stdout, 1)
    checks.equal("a program goes on without ftrac, when the memory is full, too", numbers(tracer.stdout, 400000), first + 400000)
    os.kill(pid, signal.SIGKILL)
    checks.check("its memory is left", memory.exists(), memory)
    Run(base / "next", ["true"], counted=False)
    checks.check("the next run removes it", not memory.parent.exists(), memory)


def hostile(base):
    """Programs that write into the memory, or cut it off: they may fail, ftrac does not."""
    for what, command in [("random bytes", "dd if=/dev/urandom of=$FTRAC_CALLS bs=1M count=32 conv=notrunc 2>/dev/null; cat </dev/null"),
                          ("a file cut off", ": >$FTRAC_CALLS; true")]:
        run = Run(base / what.replace(" ", "-"), ["sh", "-c", f"cat pl >copy; {command}"], counted=False, check=False)
        checks.check(f"{what}: the program's end is that of procmon", run.done.returncode in (0, 135), run.done)
        checks.equal(f"{what}: the trace is complete", run.fact("complete"), 1)


def command_lines(base):
    for words, status, said in [(["--layer", "disk"], 2, "invalid value 'disk' for --layer"), (["--layer", ""], 2, "invalid value ''"),
                                (["--layer", "lib", "--no-ops"], 2, "leave --no-ops out")]:
        done = subprocess.run([FTRAC, "run", *words, "true"], cwd=base, capture_output=True, text=True, timeout=60)
        checks.check(f"{words}: {said}", done.returncode in (status, 125) and said in done.stderr and done.stderr.count("\n") == 1, done)
    run = Run(base / "without", ["true"], counted=False, tracer=(FTRAC, "run"))
    checks.equal("the fact 'layers'", run.fact("layers"), "lib")
    done = subprocess.run([FTRAC, "run", "--force", "sh", "-c", "echo ${FTRAC_CALLS-none}"], cwd=base / "without", text=True,
                          capture_output=True, timeout=60)
    checks.equal("without --layer nothing is preloaded", done.stdout, "none\n")


if not os.path.exists(COUNTER):
    skip("there is no preloaded object for this processor")
need("perl")
with tempfile.TemporaryDirectory(dir="/var/tmp") as top:
    os.chmod(top, 0o755)
    one_by_one(pathlib.Path(top))
    added_up(pathlib.Path(top))
    bytes_and_fields(pathlib.Path(top))
    below(pathlib.Path(top), "mount")
    if kernel_refuses():
        print(f"not in the kernel: {kernel_refuses()}")
    else:
        below(pathlib.Path(top), "kernel")
    unseen(pathlib.Path(top))
    undisturbed(pathlib.Path(top))
    kills(pathlib.Path(top))
    hostile(pathlib.Path(top))
    command_lines(pathlib.Path(top))
checks.end()
