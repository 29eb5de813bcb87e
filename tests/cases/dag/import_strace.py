#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 20
"""ftrac import --strace: the trace has the edges that a second reader of strace's lines finds, whichever options strace had; names of any bytes;
and every line that is not understood is named.
"""
import os
import pathlib
import random
import re
import subprocess
import tempfile

from graphworkflows import DATES, KNOWN, WORKFLOWS
from hostile import NAMES
from ftractest import Checks, need
from imported import diff, edges_of_strace, edges_of_trace, fact, rows, run_import, strace

FULL = ["-ttt", "-T", "-yy", "-s", "4096"]
# With what else strace may have been run, and what is not known then.
FORMS = {"-f": ["-f", *FULL], "-f -ttt": ["-f", "-ttt", "-s", "4096"], "-f -tt -T -y": ["-f", "-tt", "-T", "-y", "-s", "4096"],
         "-f -t": ["-f", "-t", "-s", "4096"]}
checks = Checks()


def workflow(base, name):
    work = base / name / "ff"
    work.mkdir(parents=True)
    strace(WORKFLOWS[name], work, base / name / "ff.txt", "-ff", *FULL, env=DATES)
    files, db = sorted((base / name).glob("ff.txt.*")), base / f"{name}.db"
    done = run_import("--strace", "-o", db, *files)
    checks.equal(f"{name}: exit status", done.returncode, 0)
    checks.equal(f"{name}: it prints one line", len(done.stderr.splitlines()), 1)
    checks.equal(f"{name}: facts", [fact(db, key) for key in ("complete", "ops_lost", "imported", "imported_lost", "cwd", "exit_status", "host")],
                 [1, 0, "strace", 0, str(work), 0, None])
    seen, known = edges_of_strace(base / name / "ff.txt", work, set()), edges_of_trace(db, work)
    checks.equal(f"{name}: edges that the lines have not", sorted((known - seen).items()), [])
    checks.equal(f"{name}: edges that the trace has not", sorted((seen - known).items()), [])
    checks.check(f"{name}: there was something to compare", sum(seen.values()) > 8, seen)
    unknown = rows(db, "SELECT count(*), count(uid), count(cpu_ns), count(rsspeak_bytes), count(read_char) FROM process")[0]
    checks.equal(f"{name}: what strace does not say is not known", unknown[1:], (0, 0, 0, 0))
    print(f"{name}: {sum(seen.values())} edges of {len(files)} threads compared, {unknown[0]} processes")
    other_forms(base, name, work, db)


def other_forms(base, name, work, db):
    """The same graph by any options."""
    for i, (label, options) in enumerate(FORMS.items()):
        there, out = base / name / f"form{i}", base / f"{name}.{i}.db"
        there.mkdir()
        strace(WORKFLOWS[name], there, base / name / f"{i}.txt", *options, env=DATES)
        done = run_import("--strace", "-o", out, "--cwd", there, base / name / f"{i}.txt")
        checks.equal(f"{name}, {label}: exit status", done.returncode, 0)
        checks.equal(f"{name}, {label}: lost", fact(out, "imported_lost"), 0)
        checks.equal(f"{name}, {label}: says that durations are not known", "-T" in done.stderr, "-T" not in options)
        timed = [sum(row) for row in zip(*rows(out, "SELECT count(*), count(latency_ns), count(start_ns) FROM op UNION ALL "
                                               "SELECT count(*), count(io_ns), count(first_ns) FROM access WHERE nread + nwrite > 0 UNION ALL "
                                               "SELECT count(*), count(read_ns), count(open_ns) FROM handle WHERE nread > 0"))]
        checks.equal(f"{name}, {label}: rows with a duration, with a time", timed[1:], [timed[0] if "-T" in options else 0, timed[0]])
        checks.check(f"{name}, {label}: rows", timed[0] > 100, timed)
        found = diff(db, work, out, there, *(KNOWN if name == "git" else []))
        checks.equal(f"{name}, {label}: wfdag diff", (found.returncode, found.stdout if found.returncode else ""), (0, ""))


def names(base):
    """Files with names of any bytes: the trace has them as they are."""
    work = base / "names"
    work.mkdir()
    program = ("import os, sys\n"
               "for i, name in enumerate(sys.stdin.buffer.read().split(b'\\0')):\n"
               "    fd = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL)\n    os.write(fd, b'x'); os.close(fd)\n"
               "    os.rename(name, name[:200] + b'.moved') if i % 3 == 0 else os.unlink(name) if i % 3 == 1 else None\n")
    some = [name for name in NAMES if name not in (b".", b"..")]
    with open(base / "list", "wb") as file:
        file.write(b"\0".join(some))
    with open(base / "list", "rb") as file:
        subprocess.run(["strace", "-f", *FULL, "-o", base / "names.txt", "/usr/bin/python3", "-c", program], cwd=work, stdin=file, check=True)
    done = run_import("--strace", "-o", base / "names.db", base / "names.txt")
    checks.equal("names: exit status, lost", (done.returncode, fact(base / "names.db", "imported_lost")), (0, 0))
    wanted = sorted(os.fsencode(work) + b"/" + (name[:200] + b".moved" if i % 3 == 0 else name) for i, name in enumerate(some))
    got = sorted(os.fsencode(path) for path, in rows(base / "names.db", "SELECT path FROM file WHERE created AND kind = 'file'")
                 if os.fsencode(path).startswith(os.fsencode(work)))
    checks.equal("names: files", got, wanted)
    print(f"names: {len(wanted)} compared")


WRONG = ["1 1700000001.5 openat(AT_FDCWD, \"/x", "garbage", "1 1700000001.6 <... read resumed>\"x\", 1) = 1", "1 openat(AT_FDCWD, \"/x\", O_RDONLY) = 3",
         "1 1700000001.7 openat(AT_FDCWD, O_RDONLY) = 3", "1 1700000001.8 +++ gone +++", "1 1700000001.9 read(3) = 5",
         "1 1700000002.0 execve(NULL, NULL, NULL) = 0", "99999999999 1700000002.1 close(3) = 0", "1 1700000002.2 rename(\"/a\") = 0"]
RIGHT = ["1 1700000000.0 execve(\"/bin/x\", [\"x\"], 0x7 /* 3 vars */) = 0", "1 1700000000.1 --- SIGCHLD {si_signo=SIGCHLD} ---", "",
         "1 1700000003.0 write(1, \"\\\"a) = 1\\\\\", 9 <unfinished ...>", "1 1700000003.1 <... write resumed>) = 9", "[pid 1] 1700000003.2 close(1) = 0",
         "1 1700000003.3 unknown_call(1, {a=[1, 2]}, \"x\"...) = -1 ENOSYS (Function not implemented)", "1 1700000004.0 exit_group(0) = ?",
         "1 1700000004.1 +++ exited with 3 +++"]


def wrong_lines(base):
    """Each is named by file and line, and counted."""
    rng = random.Random(7)
    lines = RIGHT[:3] + [line for pair in zip(WRONG, RIGHT[2:3] * len(WRONG)) for line in pair] + RIGHT[3:]
    text = base / "wrong.txt"
    text.write_text("\n".join(lines))
    done = run_import("--strace", "-o", base / "wrong.db", text)
    said = re.findall(r"wrong\.txt:(\d+): ", done.stderr)
    checks.equal("wrong lines: exit status", done.returncode, 0)
    checks.equal("wrong lines: numbers", said, [str(i + 1) for i, line in enumerate(lines) if line in WRONG])
    checks.equal("wrong lines: facts", [fact(base / "wrong.db", key) for key in ("imported_lost", "ops_lost", "exit_status", "command")],
                 [len(WRONG), len(WRONG), 3, "x"])
    good = (base / "pipes" / "0.txt").read_bytes()
    for i in range(12):
        damaged = bytearray(good)
        for _ in range(rng.choice([3, 300, 3000])):
            damaged[rng.randrange(len(damaged))] = rng.choice(b"<>\"\\()[]{},= \n\0\xff0a")
        text.write_bytes(damaged)
        done = run_import("--strace", "--force", "-o", base / "wrong.db", text)
        checks.check(f"damaged record {i}: exit status", done.returncode in (0, 1), done)
        if done.returncode == 0:
            checks.equal(f"damaged record {i}: lines that were said", len(re.findall(r"wrong\.txt:\d+: ", done.stderr)),
                         min(fact(base / "wrong.db", "imported_lost"), 20))
            checks.equal(f"damaged record {i}: integrity", rows(base / "wrong.db", "PRAGMA integrity_check"), [("ok",)])
    print(f"{len(WRONG)} wrong lines, 12 damaged records")


def usage(base):
    text = base / "pipes" / "0.txt"
    (base / "empty").write_text("")
    (base / "no trace").write_text("x")
    for label, words, status, said in (
            ("no format", ["-o", "x", text], 2, "no format"), ("no file", ["--strace", "-o", "x"], 2, "no file"), ("no output", ["--strace", text], 2, "-o"),
            ("a relative directory", ["--strace", "--cwd", "x", "-o", "x", text], 2, "--cwd"),
            ("no such file", ["--strace", "-o", base / "x", base / "none"], 1, "none"), ("an empty file", ["--strace", "-o", base / "x", base / "empty"], 1, "-ttt"),
            ("a pipe", ["--strace", "-o", base / "x", "/dev/stdin"], 1, "regular"),
            ("a trace is there", ["--strace", "-o", base / "pipes.db", text], 1, "--force"),
            ("another file is there", ["--strace", "--force", "-o", base / "no trace", text], 1, "no trace of ftrac")):
        done = run_import(*words)
        checks.equal(f"{label}: exit status, lines", (done.returncode, len(done.stderr.splitlines())), (status, 1))
        checks.check(f"{label}: says why", said in done.stderr and done.stderr.startswith("ftrac"), done.stderr)
    checks.check("nothing is left of failures", not (base / "x").exists())


need("strace", "make", "gcc", "git")
with tempfile.TemporaryDirectory(prefix="ftrac-case-") as directory:
    top = pathlib.Path(directory).resolve()
    for each in WORKFLOWS:
        workflow(top, each)
    names(top)
    wrong_lines(top)
    usage(top)
checks.end()
