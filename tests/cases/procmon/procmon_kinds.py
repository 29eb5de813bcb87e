#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 10
"""All ways for processes to come, change and go, in both ways to follow a command: threads, vfork,
daemons, execs, signals, what goes on after the command, and other tracers inside."""
import collections
import os
import shutil
import signal
import time

from ftractest import WORK, Checks
from profiled import WAYS, Profile, available, whole

checks = Checks()
KINDS = ("chain clones core daemons killed killed-threads spawns stopped thread-exec threads unwaited "
         "vforks").split()


class Run:
    """Of tests/work/kinds.c: the rows of the processes that have printed their ids."""

    def __init__(self, way, p, kind):
        self.way, self.p, self.kind = way, p, kind
        self.pids = {line.split()[1]: int(line.split()[2]) for line in p.out.splitlines()}
        self.rows = {name: p.processes(f"pid = {pid}") for name, pid in self.pids.items()}

    def __getitem__(self, name):
        return self.rows[name][0]

    def equal(self, what, got, wanted):
        checks.equal(f"{self.way}, {self.kind}: {what}", got, wanted)

    def text(self, what, found, wanted):
        """By the connector, what ran for a moment may be without its text (procmon(1)); it never has
        a wrong one.  By ptrace it has it."""
        self.equal(what, wanted if found is None and self.way == "connector" else found, wanted)

    def images(self, name):
        return [row[0] for row in self.p.sql(
            "SELECT command FROM image WHERE process = ? AND seq > 0 ORDER BY seq",
            self[name]["id"])]


def chain(run):
    wanted = [
        "sh -c 'exec env LEFT=2 sh -c '\\''exec env LEFT=1 sh -c \"exec true end\"'\\'''",
        "env LEFT=2 sh -c 'exec env LEFT=1 sh -c \"exec true end\"'",
        "sh -c 'exec env LEFT=1 sh -c \"exec true end\"'", "env LEFT=1 sh -c 'exec true end'",
        "sh -c 'exec true end'", "true end"]
    found = run.images("self")
    run.equal("number of programs", len(found), len(wanted))
    for program, line in zip(found, wanted):
        run.text("program", program, line)
    run.equal("one after the other", run.p.value(
        "SELECT count(*) FROM image a JOIN image b USING (process) WHERE process = ? AND "
        "b.seq = a.seq + 1 AND a.end_ns <> b.start_ns", run["self"]["id"]), 0)


def clones(run):
    run.equal("result", run["child"]["exit_code"], 4)


def core(run):
    run.equal("signal", run["child"]["exit_signal"], signal.SIGABRT)


def daemons(run):
    run.equal("the real parent", run["daemon"]["parent"], run["middle"]["id"])
    run.equal("parent's number", run["daemon"]["ppid"], run.pids["middle"])
    run.equal("program", run["daemon"]["comm"], "sleep")
    run.equal("its end is seen after the command's", run["daemon"]["end_ns"] > run.p.value(
        "SELECT end_ns FROM process WHERE parent IS NULL"), True)


def killed(run):
    run.equal("result", (run["child"]["exit_code"], run["child"]["exit_signal"],
                         run["child"]["state"]), (None, signal.SIGKILL, "killed"))


killed_threads = killed


def spawns(run):
    found, wanted = run.images("child"), f"true by-{run.kind.rstrip('s')}"
    run.equal("number of programs", len(found), 1)
    run.text("program", found[0], wanted)
    run.equal("parent", run["child"]["parent"], run["self"]["id"])


vforks = spawns


def stopped(run):
    run.equal("result", run["child"]["exit_code"], 8)


def thread_exec(run):
    run.equal("programs", len(run.images("self")), 1)
    run.equal("result", run["self"]["exit_code"], 0)
    run.text("program", run["self"]["exe"], os.path.realpath("/bin/true"))


def threads(run):
    run.equal("are no processes", len(run.p.processes()), 2)
    run.equal("result", run["self"]["exit_code"], 5)


def unwaited(run):
    run.equal("result", run["child"]["exit_code"], 3)


def all_kinds(way):
    for kind in KINDS:
        with Profile([WORK / "kinds", kind], "--processes", way) as p:
            whole(checks, way, p)
            checks.equal(f"{way}, {kind}: exit status", (p.status, p.err), (0, ""))
            run = Run(way, p, kind)
            for name, rows in run.rows.items():
                run.equal(f"rows of {name}", len(rows), 1)
            run.equal("processes that have not ended", [r["pid"] for r in p.processes("end_ns IS NULL")], [])
            globals()[kind.replace("-", "_")](run)


def goes_on(way):
    """After the command and the time that is given to it."""
    with Profile("sleep 30 >/dev/null 2>&1 & echo $!", "--processes", way, "--wait", "0.5") as p:
        left = int(p.out)
        row = p.processes(f"pid = {left}")[0]
        checks.equal(f"{way}: what goes on", (row["end_ns"], row["exit_code"], row["exit_signal"],
                                              row["state"]), (None, None, None, "running"))
        checks.equal(f"{way}: its image goes on, too", p.value(
            "SELECT count(*) FROM image WHERE process = ? AND end_ns IS NULL", row["id"]), 1)
        checks.equal(f"{way}: what has ended has", p.processes("parent IS NULL")[0]["state"], "exited")
        with open(f"/proc/{left}/status") as f:
            status = dict(line.split(":", 1) for line in f)
        checks.equal(f"{way}: it is not disturbed", (status["TracerPid"].strip(),
                                                     status["State"].split()[0]), ("0", "S"))
        os.kill(left, signal.SIGKILL)
    begun = time.monotonic()
    with Profile("sleep 1.5 & exit 3", "--processes", way, "--wait", "inf") as p:
        checks.check(f"{way}: waits for it", time.monotonic() - begun > 1.4)
        checks.equal(f"{way}: with the status of the command", (p.status, p.fact("exit_status")), (3, 3))
        checks.equal(f"{way}: and sees its end", len(p.processes("state = 'exited'")), 2)


def tracers_inside(way):
    """They work, and what they start is in the tree."""
    if shutil.which("strace"):
        with Profile("strace -f -o out -e trace=execve sh -c '/bin/true; /bin/false'; "
                     "grep -c 'exited with' out", "--processes", way) as p:
            checks.equal(f"{way}: strace inside", (p.out.split(), p.status), (["3"], 0))
            counted = collections.Counter(r["comm"] for r in p.processes())
            # The connector reports them; without exit records, it may not have their names.
            unnamed = 0 if "taskstats" in p.processes()[0]["tier"] else counted[None]
            checks.check(f"{way}: what strace started", max(counted["true"], counted["false"]) == 1
                         and counted["true"] + counted["false"] + unnamed >= 2
                         and len(p.processes()) >= 6, counted)
            checks.equal(f"{way}: all have ended", len(p.processes("end_ns IS NULL")), 0)
            if way == "ptrace":
                checks.equal("what was let go is the connector's", {
                    r["tier"].split("+")[0] for r in p.processes("comm IN ('true', 'false')")},
                    {"connector"})
            checks.equal(f"{way}: strace has begun once", len([exe for exe, _ in p.images()
                         if exe and exe.endswith("/strace")]), 1)
        with Profile(["strace", "-f", "-o", "/dev/null", "-e", "trace=none", WORK / "kinds", "crowd"],
                     "--processes", way) as p:
            whole(checks, way, p)
            rows = p.processes("exit_code = 3")
            checks.equal(f"{way}: processes of threads below strace", len(rows), 200)
            checks.equal(f"{way}: processes that have not ended below strace", len(p.processes("state = 'running'")), 0)
            if "taskstats" in p.fact("process_tier"):
                checks.equal(f"{way}: figures of those", sum(row["minflt"] is not None for row in rows), 200)
        with Profile(["strace", "-f", "-o", "/dev/null", "sh", "-c", "exit 3"], "--processes", way) as p:
            checks.equal(f"{way}: exit status of a command that is let go",
                         (p.status, p.fact("exit_status")), (3, 3))
    if shutil.which("gdb"):
        with Profile(["gdb", "-q", "-batch", "-ex", "run", "-ex", "info program", "--args",
                      "/bin/sh", "-c", "exit 7"], "--processes", way) as p:
            checks.check(f"{way}: gdb inside", "exited with code 07" in p.out, p.out + p.err)
            checks.equal(f"{way}: what gdb ran", len(p.processes("exit_code = 7")), 1)


for way in WAYS:
    if not available(way):
        print(f"no {way} here: not looked at")
        continue
    all_kinds(way)
    goes_on(way)
    tracers_inside(way)
for program in "strace", "gdb":
    if not shutil.which(program):
        print(f"no {program} here: not looked at")
checks.end()
