#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 60
"""ftrac top: what it shows of runs of each kind, on terminals of three sizes and as plain lines; keys; and the terminal afterwards."""
import contextlib
import os
import pathlib
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

from fullscreen import PATIENCE_S, SIZES, Screen
from ftractest import FTRAC, Checks, Mount, kernel_refuses, need, need_fuse
from workflows import traced

PROCMON = os.path.abspath(os.environ.get("PROCMON", "build/procmon/procmon"))
checks = Checks()
looked = {"screens": 0, "sums": 0}

WORK = """for i in 1 2 3; do seq 2000 | sort -r >a$i; cat a$i >b$i; done
mkdir a1 2>/dev/null; rmdir . 2>/dev/null; ls /no-such-place 2>/dev/null
/bin/sh -c 'kill -SEGV $$'
exit 3
"""

# 1,000 processes that run until the file is there.
MANY = """import os, sys, time
children = []
for _ in range(1000):
    pid = os.fork()
    if pid == 0:
        time.sleep(1000)
    children.append(pid)
while not os.path.exists(sys.argv[1]):
    time.sleep(0.1)
for pid in children:
    os.kill(pid, 9)
for pid in children:
    os.waitpid(pid, 0)
"""


def check(screen, what, *texts, without=()):
    came = screen.shows(*texts, without=without)
    looked["screens"] += 1
    name = f"{what}, {screen.width} x {screen.height}"
    checks.check(f"{name}: shows {texts}", came, f"\n{screen.seen}")
    lines = screen.seen.split("\n")
    checks.check(f"{name}: no line is wider", max(map(len, lines)) <= screen.width, screen.seen)
    checks.check(f"{name}: the keys are in the last line", lines[screen.height - 1].startswith("?:help"), screen.seen)


def top(width, height, *words, **variables):
    return Screen(width, height, FTRAC, "top", "--delay", "0.3", *words, **variables)


def finished(trace):
    for width, height in SIZES:
        with top(width, height, trace) as screen:
            check(screen, "a finished run", "finished, status 3", "sh work.sh", "0 running of", "[Processes]", "sort -r")
            if height >= 50:
                check(screen, "a finished run", "ended: SIGSEGV", "ended: 3", "PHASE", "READ/s", "p99")
            screen.keys("Tab")
            check(screen, "phases", "[Phases]", "JOBS DONE", "sort")
            screen.keys("Tab")
            check(screen, "files", "[Files]", "/work/a1")
            screen.keys("Tab")
            check(screen, "operations", "[Operations]", "write", "p50")
            screen.keys("Tab")
            check(screen, "slow", "[Slow]")
            screen.keys("Tab")
            check(screen, "errors", "[Errors]", "ended: 3", "ended: SIGSEGV")
            screen.keys("BTab")
            check(screen, "back", "[Slow]")
            screen.keys("q")
            checks.check("it leaves", screen.shows("LEFT 0", "SAME", without=["[Slow]"]), screen.seen)


def keys(trace):
    with top(80, 24, trace) as screen:
        check(screen, "keys", "finished, status 3")
        screen.keys("?")
        check(screen, "help", "Shift-Tab", "quit; the run goes on")
        screen.keys("?")
        check(screen, "no help", "[Processes]", without=["Shift-Tab"])
        screen.keys("/")
        screen.shows("filter: _")
        screen.keys("-l", "sort")
        screen.keys("Enter")
        checks.check("a filter", screen.shows("filter: sort", "sort -r", without=["seq 2000"]), screen.seen)
        screen.keys("Escape")
        check(screen, "all again", "seq 2000")
        screen.keys("/")
        screen.shows("filter: _")
        screen.keys("-l", "SEGV")
        screen.keys("Enter")
        checks.check("a program of a directory", screen.shows(" sh -c 'kill -SEGV", without=["/bin/sh"]), screen.seen)
        screen.resize(120, 24)
        checks.check("a program of a directory, with more room", screen.shows(" sh              /bin/sh -c 'kill -SEGV $$'"), screen.seen)
        screen.resize(80, 24)
        screen.keys("Escape")
        check(screen, "small again", "seq 2000", without=["PROGRAM "])
        screen.keys("End", "Enter")
        check(screen, "one process", "One process", "directory", "command", "OPEN FILE   (", "WHEN OPERATION")
        screen.keys("Enter")
        check(screen, "all processes", "[Processes]")
        screen.keys("Space")
        check(screen, "paused", "PAUSED: finished")
        screen.keys("Space")
        check(screen, "it goes on", "finished", without=["PAUSED"])
        screen.resize(160, 50)
        check(screen, "larger", "p99", "[Processes]")
        screen.resize(50, 10)
        checks.check("too small", screen.shows("too small: 60 x 15 is needed"), screen.seen)
        screen.resize(60, 15)
        check(screen, "smaller", "[Processes]")
        screen.keys("F10")
        checks.check("it leaves by F10", screen.shows("LEFT 0", "SAME"), screen.seen)


def signals(trace):
    """However it ends, the terminal is as it was."""
    for number in signal.SIGTERM, signal.SIGINT, signal.SIGSEGV:
        with top(80, 24, trace) as screen:
            check(screen, f"before {number.name}", "finished, status 3")
            os.kill(screen.pid(), number)
            checks.check(f"after {number.name}", screen.shows(f"LEFT {128 + number}", "SAME", without=["[Processes]"]), screen.seen)


def running(base):
    stop = base / "stop"
    with subprocess.Popen([FTRAC, "run", "-q", "--db", base / "many.db", "--", sys.executable, "-c", MANY, stop], cwd=base) as run:
        try:
            wait_for(lambda: is_there(base / "many.db") or run.poll() is not None)
            for width, height in SIZES:
                with top(width, height, base / "many.db") as screen:
                    check(screen, "1,000 processes", "1001 running of 1001", "import os, sys")
                    screen.keys("End")
                    screen.keys("Tab", "BTab")
                    check(screen, "their end", "[Processes]")
                    if height >= 50:
                        stop.touch()
                        check(screen, "it ends", "finished, status 0", "0 running of 1001")
        finally:
            stop.touch()
            checks.equal("the run ended in order", run.wait(PATIENCE_S), 0)


# A process with two open files, which has moved bytes and then waits for the end of its input.
ONE = """import os, sys
one = os.open("open-one", os.O_RDWR | os.O_CREAT)
os.write(one, b"x" * 3000)
os.pread(one, 500, 1000)
two = os.open("open-two", os.O_RDONLY | os.O_CREAT)
os.close(os.open("closed", os.O_WRONLY | os.O_CREAT))
os.makedirs("made/within")
try:
    os.rmdir("made")
except OSError:
    pass
sys.stdin.read()
"""


def one(base):
    """Its open files and its last operations, while it runs."""
    work = base / "one"
    work.mkdir()
    with subprocess.Popen([FTRAC, "run", "-q", "--db", base / "one.db", "--", sys.executable, "-c", ONE], cwd=work, stdin=subprocess.PIPE) as run:
        try:
            wait_for(lambda: run.poll() is not None or is_there(base / "one.db") and sql(base / "one.db", "SELECT 1 FROM op WHERE name = 'rmdir'"))
            for width, height in SIZES:
                with top(width, height, base / "one.db") as screen:
                    screen.shows("[Processes]", "import os")
                    screen.keys("Home", "Enter")
                    check(screen, "one process", "One process", "running", "OPEN FILE   (2)", "open-one", "WHEN OPERATION", without=["closed (", "looked up"])
                    if height >= 24:
                        check(screen, "one process: its files", "    500 B   3.00 kB   1.50 kB ", "      0 B       0 B         - ", "/one/open-two")
                    if height >= 50:
                        check(screen, "one process: its operations", "mkdir", "/one/made", "write", "3.00 kB       0 B ", "ENOTEMPTY", "/one/closed")
                        run.stdin.close()
                        check(screen, "it has ended", "finished, status 0", "/one/made")
        finally:
            run.stdin.close()
            checks.equal("that run ended in order", run.wait(PATIENCE_S), 0)


# A lock that another program has, a FIFO that is not opened, a pipe that is empty; all end with the file.
SLOW = """mkfifo fifo; touch lock
flock lock sh -c 'until [ -e "$0" ]; do sleep 0.1; done' "$1" & sleep 0.5
flock lock true & cat fifo & until [ -e "$1" ]; do sleep 0.1; done | cat
echo x >fifo; wait"""


def slow(base):
    """What lasts is shown while it lasts."""
    stop = base / "stop-slow"
    with subprocess.Popen([FTRAC, "run", "-q", "--db", base / "slow.db", "--", "sh", "-c", SLOW, "sh", stop], cwd=base / "work") as run:
        try:
            wait_for(lambda: is_there(base / "slow.db") or run.poll() is not None)
            for width, height in SIZES:
                with top(width, height, base / "slow.db") as screen:
                    screen.shows("[Processes]")
                    screen.keys("Tab", "Tab", "Tab", "Tab")
                    check(screen, "what lasts", "[Slow]", "lock", "/lock", "open ", "fifo", "read (pipe)", "pipe:[", "wait (child)")
                    if height >= 50:
                        stop.touch()
                        check(screen, "it is over", "finished, status 0", without=["read (pipe)"])
        finally:
            stop.touch()
            checks.equal("the slow run ended in order", run.wait(PATIENCE_S), 0)


def killed():
    with Mount() as mount:
        place = mount.base / "work"
        place.mkdir()
        for i in range(20):
            mount(place / f"f{i}").write_text("content")
        wait_for(lambda: mount.fact("ops_recorded") >= 60)
        os.kill(mount.pid, signal.SIGKILL)
        os.waitpid(mount.pid, 0)
        mount.pid = None
        for width, height in SIZES:
            with top(width, height, mount.db) as screen:
                check(screen, "a killed daemon", "its recorder was killed", "a mount")
        done = batch(mount.db)
        checks.check("in lines", done.returncode == 0 and "its recorder was killed" in done.stdout, done)
        subprocess.run(["umount", "-l", mount.mnt], check=False)


def foreign(trace):
    if os.geteuid() != 0:
        print("the trace of another user: not looked at, since that takes root")
        return
    os.chown(trace, 65534, 65534)
    try:
        done = batch(trace)
        checks.check("a trace of another user: one line", done.returncode == 1 and done.stderr.count("\n") == 1 and "--foreign" in done.stderr, done)
        for width, height in SIZES:
            with top(width, height, "--foreign", trace) as screen:
                check(screen, "a trace of another user", "finished, status 3")
        os.chmod(trace, 0o600)
    finally:
        os.chown(trace, 0, 0)


def batch(*words, **more):
    return subprocess.run([FTRAC, "top", "--batch", *map(str, words)], capture_output=True, text=True, timeout=PATIENCE_S, check=False, **more)


def wait_for(holds):
    until = time.monotonic() + PATIENCE_S
    while not holds():
        if time.monotonic() > until:
            raise AssertionError("waited too long")
        time.sleep(0.02)


def blocks(text):
    """Of each look: {kind: (count, so far)}."""
    for block in text.split("==== ")[1:]:
        rows = block.partition("\nOPERATION ")[2].partition("\n\n")[0].splitlines()[1:]
        # name, rate, p50 and its unit, p99 and its unit (or "-"), failed, count, so far
        found = {}
        for row in rows:
            words = re.sub(r"(?<=\d) (ns|us|ms|s|B|kB|MB|GB)\b", r"\1", row).split()
            found[words[0]] = (int(words[5]), int(words[6]))
        yield found


# Asks whether a descriptor is open, as programs do on purpose.
ASK = f"""{sys.executable} -c 'import fcntl
try: fcntl.fcntl(77, fcntl.F_GETFD)
except OSError: pass'
"""


def watched(base, db, options):
    """What top says of a run from its begin to its end, which comes after the third look; and its status."""
    script = ASK + "i=0; until [ -e over ]; do i=$((i+1)); seq 500 | sort -r >s$i; cat s$i >t$i; mv t$i u$i; ls >/dev/null; rm s$i; sleep 0.02; done; rm over"
    with subprocess.Popen([FTRAC, "run", "-q", *options, "--db", db, "--", "sh", "-c", script], cwd=base / "work") as run:
        wait_for(lambda: run.poll() is not None or is_there(db))
        with subprocess.Popen([FTRAC, "top", "--batch", "--delay", "0.2", db], stdout=subprocess.PIPE, text=True) as looks:
            text = ""
            for line in looks.stdout:
                text += line
                if line.startswith("==== ") and text.count("==== ") == 3:
                    (base / "work" / "over").touch()
        return text, looks.returncode, run.wait(PATIENCE_S)


def is_there(db):
    try:
        return sql(db, "SELECT 1 FROM trace WHERE key = 'start_ns'")
    except sqlite3.Error:
        return False


def sums(base, *options):
    """What was counted in all intervals is what the trace has."""
    what = " ".join(options) or "a mount"
    db = base / "sums.db"
    db.unlink(missing_ok=True)
    text, *statuses = watched(base, db, options)
    checks.equal(f"{what}: status", statuses, [0, 0])
    found = list(blocks(text))
    counted = {}
    for block in found:
        for name, (count, _) in block.items():
            counted[name] = counted.get(name, 0) + count
    wanted = dict(sql(db, "SELECT name, count(*) FROM op GROUP BY name"))
    checks.equal(f"{what}: operations in all intervals", {name: n for name, n in counted.items() if n}, wanted)
    checks.equal(f"{what}: so far, at the end", {name: n for name, (_, n) in found[-1].items()}, wanted)
    checks.check(f"{what}: several looks", len(found) > 3, len(found))
    last = text.split("==== ")[-1]
    checks.check(f"{what}: the end", "finished, status 0" in last and "0 running of" in last, last)
    processes = sql(db, "SELECT count(*) FROM process")[0][0]
    asked = sql(db, "SELECT count(*) FROM op WHERE name = 'fcntl' AND result < 0")[0][0]
    checks.check(f"{what}: what is asked on purpose is no error", "fcntl: EBADF" not in text and (asked or not options), (asked, text))
    checks.check(f"{what}: processes", f"0 running of {processes} " in last, last[:400])
    looked["sums"] += sum(wanted.values())


def sql(db, query):
    with contextlib.closing(sqlite3.connect(f"file:{db}?mode=ro", uri=True)) as connection:
        return connection.execute(query).fetchall()


def kinds(base):
    """Traces that do not have all."""
    traced(base / "none.db", ["sh", "work.sh"], base / "work", "--no-ops", status=3)
    with top(80, 24, base / "none.db") as screen:
        screen.shows("[Processes]")
        screen.keys("Home", "Enter")
        check(screen, "one process without single operations", "OPEN FILE", "not known: the trace has none of them (--no-ops)")
    said = batch(base / "none.db").stdout
    checks.check("--no-ops", "no single operations (--no-ops)" in said and "read -  written -" in said and "finished, status 3" in said, said)
    subprocess.run([PROCMON, "--force", "--db", base / "procmon.db", "--", "sh", "work.sh"], cwd=base / "work", capture_output=True, timeout=60, check=False)
    said = batch(base / "procmon.db").stdout
    checks.check("procmon", "the trace has no files" in said and "operations -, -/s" in said and "sort -r" in said, said)
    with Mount() as mount:
        said = batch("-n", "1", mount.db).stdout
        checks.check("a mount that is not used", "running" in said and "a mount" in said and "processes 0 running of 0" in said, said)


def like(base):
    """The same workflow twice; the second one waits in its third job until it was looked at."""
    work = base / "like"
    work.mkdir()
    (work / "Makefile").write_text("all: out\n%.txt:\n\tsh step.sh $@\nout: 1.txt 2.txt 3.txt 4.txt\n\tcat 1.txt 2.txt 3.txt 4.txt >out\n")
    (work / "step.sh").write_text("seq 1000 | sort -r >$1; while [ $1 = 3.txt ] && [ -e stay ]; do sleep 0.1; done\n")
    command = ["make", "-s"]
    traced(base / "old.db", command, work, status=0)
    for made in work.glob("*.txt"):
        made.unlink()
    (work / "out").unlink()
    (work / "stay").touch()
    with subprocess.Popen([FTRAC, "run", "-q", "--db", base / "new.db", "--", *command], cwd=work) as run:
        wait_for(lambda: run.poll() is not None or is_there(base / "new.db"))
        with Screen(80, 24, FTRAC, "top", "--delay", "0.3", "--like", base / "old.db", base / "new.db") as screen:
            check(screen, "--like", "2 to come", "ends in 0:0", "TO COME PHASE")
        said = batch("-n", "1", "--like", base / "old.db", base / "new.db").stdout
        checks.check("--like: the first look has all", re.search(r"  jobs \d+ running of \d+  2 to come  ends in 0:0", said) and "TO COME PHASE" in said
                     and said.count("==== ") == 1, said)
        (work / "stay").unlink()
        checks.equal("--like: status", run.wait(PATIENCE_S), 0)
    said = batch("--like", base / "old.db", base / "new.db").stdout
    checks.check("--like: at the end nothing is to come", "TO COME" in said and "to come" not in said and "ends in" not in said, said)
    for words, text in ((base / "work" / "work.sh", "no trace"), ("/no/such/trace", "cannot open")):
        done = batch("--like", words, base / "new.db")
        checks.check(f"--like {words}: one line, status 1", done.returncode == 1 and done.stderr.count("\n") == 1 and text in done.stderr
                     and not done.stdout, done)


def older(base, trace):
    """A trace of a build that had only opens and closes in rows of handles."""
    old = base / "older.db"
    shutil.copy(trace, old)
    with contextlib.closing(sqlite3.connect(old)) as db:
        db.executescript("DROP VIEW op; DROP VIEW handle_op; DROP VIEW stat_op; DROP VIEW data_op; "
                         "CREATE VIEW handle_op AS SELECT * FROM other_op UNION ALL SELECT * FROM open_op UNION ALL SELECT * FROM close_op; "
                         "CREATE VIEW op AS SELECT * FROM handle_op UNION ALL SELECT * FROM name_op")
    done = batch(old)
    counted = {name: n for block in blocks(done.stdout) for name, (n, _) in block.items()}
    checks.equal("an older trace: status, errors", (done.returncode, done.stderr), (0, ""))
    checks.equal("an older trace: operations", counted, dict(sql(old, "SELECT name, count(*) FROM op GROUP BY name")))
    checks.check("an older trace: it has operations", len(counted) > 5, counted)
    done = batch("--like", old, trace)
    checks.equal("--like an older trace: status, errors", (done.returncode, done.stderr), (0, ""))


def usage(base, trace):
    for words, status, text in ((["/no/such/trace"], 1, "cannot open"), ([], 1, "no trace.db here"), ([trace, trace], 2, "one trace"),
                                (["--delay", "0"], 2, "no delay"), (["--delay", "x"], 2, "no delay"), (["-n", "0"], 2, "no count"),
                                ([base / "work" / "work.sh"], 1, "no trace")):
        done = batch(*words, cwd=base)
        checks.check(f"top {words}: one line, status {status}", done.returncode == status and done.stderr.count("\n") == 1 and text in done.stderr
                     and not done.stdout, done)
    with Screen(80, 24, FTRAC, "top", trace, TERM="no-such-terminal") as screen:
        checks.check("a terminal that is not known", screen.shows("--batch", "LEFT 1", "SAME"), screen.seen)
    plain = batch(trace)
    checks.check("lines: no control characters", plain.returncode == 0 and not re.search(r"[^\n -~]", plain.stdout), plain)
    checks.equal("without a terminal", subprocess.run([FTRAC, "top", trace], capture_output=True, text=True, timeout=60, check=True).stdout.split("\n")[1:],
                 plain.stdout.split("\n")[1:])
    checks.check("nothing is left beside the trace", not list(base.glob("finished.db-*")), list(base.iterdir()))


def main():
    need_fuse()
    need("tmux", "flock", "mkfifo")
    with tempfile.TemporaryDirectory(prefix="ftrac-case-") as directory:
        base = pathlib.Path(directory).resolve()
        (base / "work").mkdir()
        (base / "work" / "work.sh").write_text(WORK)
        trace = base / "finished.db"
        traced(trace, ["sh", "work.sh"], base / "work", status=3)
        usage(base, trace)
        older(base, trace)
        finished(trace)
        keys(trace)
        signals(trace)
        foreign(trace)
        running(base)
        slow(base)
        one(base)
        killed()
        sums(base)
        if kernel_refuses():
            print(f"--files kernel: not looked at: {kernel_refuses()}")
        else:
            sums(base, "--files", "kernel")
        kinds(base)
        like(base)
    print(f"{looked['screens']} screens, {looked['sums']} operations")
    checks.check("there were screens and operations", looked["screens"] > 40 and looked["sums"] > 500, looked)
    checks.end()


main()
