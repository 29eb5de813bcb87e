# SPDX-License-Identifier: MIT
"""Tools that read traces, and procmon, with one fault in each run; for the cases faults_*."""
import os
import shutil
import sqlite3
import subprocess

from dagtraces import exports
from faults import crashed, steps
from ftractest import Mount

PROCMON = os.environ.get("PROCMON", "build/procmon/procmon")
WFSTAT = os.environ.get("WFSTAT", "build/dag/wfstat")
WFDAG = os.environ.get("WFDAG", "build/dag/wfdag")
WFREPORT = os.environ.get("WFREPORT", "build/dag/wfreport")
SCRIPT = """set -e
echo one >a; cat a >b; sort b a >c; mkdir d; mv c d/c; cat no-such 2>/dev/null || true
cat d/c | tr o 0 >e; rm a
"""


def make_traces(base):
    """A small run, twice."""
    for name in "one", "two":
        work = base / name
        work.mkdir()
        with Mount("--job", name, db=base / f"{name}.db") as mount:
            subprocess.run(["sh", "-c", SCRIPT], cwd=mount(work), check=True)
            mount.unmount()
    shutil.copy(base / "one.db", base / "unfinished.db")
    with sqlite3.connect(base / "unfinished.db") as db:
        db.execute("UPDATE meta SET value = 0 WHERE key = 'complete'")


# Each with the trace behind it; OUT is a file.
TOOLS = [
    [WFSTAT], [WFSTAT, "io"], [WFSTAT, "--csv", "file"], [WFSTAT, "--json", "proc"],
    [WFSTAT, "hist", "--of", "latency"], [WFSTAT, "list"], [WFSTAT, "pattern", "--by", "file"],
    [WFSTAT, "phase", "--by", "command"], [WFDAG, "--dot"], [WFDAG, "--fold", "--reduce", "--dot"],
    *([WFDAG, f"--{name}", "-o", "OUT"] for name, drawn in exports().items() if not drawn),
    [WFDAG, "critical-path"], [WFDAG, "whatif", "--cores", "2"], [WFDAG, "clusters"],
    [WFDAG, "lifecycle", "--format", "json"], [WFDAG, "generate", "--make", "-o", "OUT"],
    [WFDAG, "generate", "--ninja", "-o", "OUT"], [WFDAG, "generate", "--snakemake", "-o", "OUT"],
    [WFDAG, "generate", "--wfformat", "-o", "OUT"], [WFDAG, "generate", "--pegasus", "-o", "OUT"],
    [WFDAG, "generate", "--dax", "-o", "OUT"], [WFDAG, "generate", "--cwl", "-o", "OUT"], [WFDAG, "generate", "--dask", "-o", "OUT"],
    *([[WFREPORT, "-o", "OUT"], [WFREPORT, "--perfetto", "-o", "OUT"]] if os.path.exists(WFREPORT) else []),
]
TWO = [[WFDAG, "diff"], [WFDAG, "diff", "--format", "json"], [WFSTAT, "io"], [WFDAG, "--dot"]]


class Tool:
    """One command, and what it says when nothing fails."""

    def __init__(self, base, command, traces):
        self.out = base / "out"
        self.command = [str(self.out) if word == "OUT" else word for word in command] + [
            str(base / f"{name}.db") for name in traces]
        self.name = " ".join([os.path.basename(command[0]), *command[1:], *traces])
        self.wanted = None

    def run(self, environment):
        shutil.rmtree(self.out, ignore_errors=True)
        self.out.unlink(missing_ok=True)
        done = subprocess.run(self.command, capture_output=True, timeout=60, env=environment,
                              stdin=subprocess.DEVNULL)
        return done.returncode, done.stdout, done.stderr, self.left()

    def left(self):
        if self.out.is_dir():
            return sorted((p.name, p.read_bytes()) for p in self.out.iterdir())
        return self.out.read_bytes() if self.out.exists() else None

    def judge(self, checks, what, got):
        status, out, said, left = got
        label = f"{self.name}, {what}"
        if crashed(status):
            checks.check(f"{label}: no crash", False, f"{status} {said[-300:]}")
        elif status in (0, self.wanted[0]):
            checks.check(f"{label}: the same", (out, left) == (self.wanted[1], self.wanted[3]),
                         f"status {status}, but another result: {said[-300:]!r}")
        else:
            errors = [line for line in said.splitlines() if b"warning: " not in line]
            # What is written as it comes is cut off then; where that happened a word may be missing.
            begun = len(out) < len(self.wanted[1]) and (
                self.wanted[1].startswith(out) or self.wanted[1].startswith(out[:len(out) * 3 // 4]))
            checks.check(f"{label}: one line, nothing else", len(errors) == 1 and not left
                         and (begun or not out) and status == (2 if "diff" in self.command else 1),
                         f"status {status}, {len(out)} bytes said, file "
                         f"{'none' if left is None else len(left)}, {said[-300:]!r}")


def tools(checks, faults, given, kind="alloc", **settings):
    """Reading fails, or the tool prints all that it read."""
    failed = 0
    with Mount() as own:
        own.unmount()
        make_traces(own.base)
        os.remove(own.db)
        for command, traces in [(c, ["one"]) for c in TOOLS] + [(c, ["one", "two"]) for c in TWO] + [
                ([WFSTAT], ["unfinished"])]:
            tool = Tool(own.base, command, traces)
            if given.parts and len(given.parts) > 1 and given.parts[1] not in tool.name:
                continue
            tool.wanted = tool.run(faults.environment(command[0]))
            total = faults.count(kind)
            checks.check(f"{tool.name}: without a fault", tool.wanted[0] in (0, 1) and total > 3,
                         tool.wanted)
            for n in steps(total, given):
                got = tool.run(faults.environment(command[0], **{kind: n}, **settings))
                if faults.failed():
                    failed += got[0] != tool.wanted[0]
                    tool.judge(checks, f"{kind} {n} of {total}", got)
    return f", {failed} runs ended by them"


def procmon(checks, faults, given, kind="alloc", **settings):
    """The command runs, and its output and status are its own, or it does not run at all."""
    ended = 0
    command = ["sh", "-c", "echo out; (exit 3) || cat /dev/null; exit 7"]
    db = faults.base / "procmon.db"

    def run(how, **fault):
        for name in faults.base.glob("procmon.db*"):
            name.unlink()
        return subprocess.run([PROCMON, "--processes", how, "--db", db, *command], timeout=60,
                              capture_output=True, env=faults.environment(PROCMON, **fault))

    for how in "ptrace", "connector":
        if run(how).returncode != 7:
            print(f"procmon --processes {how}: not here")
            continue
        total = faults.count(kind)
        for n in steps(total, given):
            label = f"procmon {how}, {kind} {n} of {total}"
            try:
                done = run(how, **{kind: n}, **settings)
            except subprocess.TimeoutExpired as late:
                checks.check(f"{label}: ends", False, f"{late.stdout} {late.stderr}")
                continue
            if not faults.failed():
                continue
            ran = done.stdout == b"out\n"
            ended += not ran
            checks.check(f"{label}: as it is, or not at all", not crashed(done.returncode) and (
                done.returncode == 7 if ran else done.returncode in (125, 126) and not done.stdout),
                f"{done.returncode} {done.stdout} {done.stderr}")
            checks.check(f"{label}: says so", ran or b"procmon: " in done.stderr, done.stderr)
            if db.exists():
                trace(checks, label, db, done.stderr, ran)
    return f", {ended} times the command was not run"


def trace(checks, label, db, said, ran):
    """It is sound, and complete, or does not say that it was."""
    with sqlite3.connect(f"file:{db}?mode=ro", uri=True) as trace_db:
        sound = trace_db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        tables = trace_db.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
        checks.check(f"{label}: a trace", tables, said)
        if not tables:
            return
        facts = dict(trace_db.execute("SELECT key, value FROM meta"))
        processes = trace_db.execute("SELECT count(*) FROM process").fetchone()[0]
    trace_db.close()
    checks.check(f"{label}: sound", sound)
    if facts.get("complete") and ran:
        checks.check(f"{label}: all processes, or what is lost is counted",
                     processes >= 3 or facts["process_events_lost"], f"{processes} {facts}")
    elif not facts.get("complete"):
        checks.check(f"{label}: incomplete, and says so", b"incomplete" in said, said)
