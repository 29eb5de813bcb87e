#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""ftrac wait: ends when its condition is true of a run, and says by its exit status if that is so, if the run has ended, or if the time
is over. It keeps no lock while it does not look."""
# seconds: 10
import os
import pathlib
import signal
import subprocess
import tempfile

from ftractest import Checks, FTRAC, need_fuse

checks = Checks()
LONG = ["--timeout", "120"]


class Run:
    """A command that does the next line when it is told to."""
    def __init__(self, base, name, *lines):
        self.db = base / name
        work = base / f"{name}.work"
        work.mkdir()
        self.process = subprocess.Popen([FTRAC, "run", "-q", "--db", self.db, "--scope", "dir", "sh", "-c",
                                         "echo; " + "".join(f"read x; {line}; echo; " for line in lines) + "read x"], cwd=work,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.process.stdout.readline()

    def go_on(self):
        self.process.stdin.write(b"\n")
        self.process.stdin.flush()
        self.process.stdout.readline()

    def end(self):
        self.process.communicate(b"\n", timeout=60)


def wait(db, condition, *options):
    return subprocess.Popen([FTRAC, "wait", "--until", condition, *options, db], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def ends(what, waiting, status, *words):
    out, err = waiting.communicate(timeout=150)
    checks.equal(f"{what}: status ({err.strip()})", waiting.returncode, status)
    checks.equal(f"{what}: prints nothing on stdout", out, "")
    checks.check(f"{what}: says {words}", all(word in err for word in words) and err.count("\n") == (status != 0), err)


def while_it_runs(base):
    run = Run(base, "a.db", "cat nothing", "head -c 300000 /dev/zero > zeros")
    ends("at once", wait(run.db, "1"), 0)
    ends("a subquery", wait(run.db, "SELECT count(*) > 0 FROM process", *LONG), 0)
    ends("never, for no time", wait(run.db, "0", "--timeout", "0"), 124, "--timeout", "a.db")
    ends("NULL is not true", wait(run.db, "NULL", "--timeout", "0"), 124, "--timeout")
    ends("no error yet", wait(run.db, "EXISTS (SELECT 1 FROM op WHERE path GLOB '*/nothing')", "--timeout", "0"), 124)
    waiting = {"an error": wait(run.db, "errors > 0", *LONG), "a path": wait(run.db, "EXISTS (SELECT 1 FROM op WHERE path GLOB '*/nothing')", *LONG),
               "a size": wait(run.db, "bytes >= 300000", *LONG), "never": wait(run.db, "operations < 0"), "a program": wait(
                   run.db, "EXISTS (SELECT 1 FROM process WHERE program = 'head') -- and a comment", *LONG)}
    run.go_on()
    for what in "an error", "a path":
        ends(what, waiting.pop(what), 0)
    checks.check("the others still wait", all(one.poll() is None for one in waiting.values()))
    run.go_on()
    for what in "a size", "a program":
        ends(what, waiting.pop(what), 0)
    ends("an idle run", wait(run.db, "idle_s >= 1 AND elapsed_s >= 1", *LONG), 0)
    run.end()
    ends("the run ends", waiting.pop("never"), 4, "ended", "a.db")
    checks.equal("the log is gone: nothing kept it", sorted(path.name for path in base.glob("a.db-*")), [])
    return run.db


def of_killed(base):
    run = Run(base, "k.db")
    waiting = wait(run.db, "0")
    run.process.send_signal(signal.SIGKILL)
    run.process.communicate(timeout=60)
    ends("the recorder is killed", waiting, 4, "ended")


def of_ended(base, db):
    ends("true of a complete trace", wait(db, "operations > 0"), 0)
    ends("false of it", wait(db, "operations < 0"), 4)
    for condition in "no such thing", "1, 2", "nothing > 0", "", "1; SELECT 1", "SELECT * FROM nowhere":
        ends(f"bad condition '{condition}'", wait(db, condition), 2, "no condition")
    ends("a second statement", wait(db, "1) FROM (SELECT 1); DELETE FROM meta; --"), 2, "no condition")
    ends("nothing was deleted", wait(db, "EXISTS (SELECT 1 FROM trace)"), 0)
    ends("no trace", wait(base / "nothing.db", "1"), 1, "nothing.db")
    (base / "text").write_text("text\n")
    ends("no trace at all", wait(base / "text", "1"), 1, "text")
    for words in ["wait", db], ["wait", "--until", "1", db, db], ["wait", "--until", "1", "--timeout", "x", db]:
        done = subprocess.run([FTRAC, *words], capture_output=True, text=True, check=False, timeout=60)
        checks.check(f"{words[:4]}: wrong usage", done.returncode == 2 and done.stderr.count("\n") == 1, done.stderr)


def main():
    need_fuse()
    with tempfile.TemporaryDirectory(prefix="ftrac-case-") as directory:
        base = pathlib.Path(os.path.realpath(directory))
        db = while_it_runs(base)
        of_ended(base, db)
        of_killed(base)
    checks.end()


main()
