#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 30
"""ftrac run --top: the screen while the command runs, then what the command printed, on a terminal that is as before; q, signals, a stop, --like and
its end, a command that cannot be run, streams that are no terminal."""
import os
import pathlib
import signal
import subprocess
import tempfile
import time

from fullscreen import PATIENCE_S, SIZES, Screen
from ftractest import FTRAC, Checks, need, need_fuse

checks = Checks()
screens = 0
# Prints, waits until the file is there, prints.
JOB = "echo first line; echo to stderr >&2; read line || echo no input; until [ -e {0}/over ]; do sleep 0.05; done; rm {0}/over; echo last line; exit 7"


def check(screen, what, *texts, without=()):
    global screens
    screens += 1
    checks.check(f"{what}, {screen.width} x {screen.height}: shows {texts} without {without}", screen.shows(*texts, without=without), f"\n{screen.seen}")


def run(base, width, height, *command, options=(), **variables):
    return Screen(width, height, FTRAC, "run", "--top", "--force", "--db", base / "t.db", *options, "--", *command, **variables)


def job(base):
    (base / "job.sh").write_text(JOB.format(base))
    return "sh", base / "job.sh"


def wait_for(what, holds):
    until = time.monotonic() + PATIENCE_S
    while not holds():
        if time.monotonic() > until:
            raise AssertionError(what)
        time.sleep(0.02)


def to_the_end(base, width, height):
    """The screen hides what the command prints; its end shows that, and the summary."""
    with run(base, width, height, *job(base)) as screen:
        check(screen, "while it runs", "?:help", "running", without=("first line",))
        (base / "over").touch()
        check(screen, "at the end", "LEFT 7", "SAME", without=("?:help",))
    with run(base, 80, 50, *job(base)) as screen:
        check(screen, "the next run has the same trace", "?:help")
        (base / "over").touch()
        check(screen, "what it printed", "first line", "to stderr", "no input", "last line", "LEFT 7", "SAME")
        lines = screen.seen.split("\n")
        order = [next(i for i, line in enumerate(lines) if text in line) for text in ("first line", "to stderr", "no input", "last line", "LEFT 7")]
        checks.equal("in order", order, sorted(order))
        checks.check("the summary comes after it", any("ftrac:" in line or "t.db" in line for line in lines[order[3]:]), screen.seen)


def left_early(base):
    """After q the run goes on, and its output follows."""
    with run(base, 80, 40, *job(base), options=["-q"]) as screen:
        check(screen, "before q", "?:help")
        screen.keys("q")
        check(screen, "after q", "first line", without=("?:help", "LEFT"))
        (base / "over").touch()
        check(screen, "after q, at the end", "last line", "LEFT 7", "SAME")


def ended(base):
    """By the terminal, whose signal reaches all, and by signals that are sent to the process with the screen alone."""
    for what, end in (("Ctrl-C", lambda screen: screen.keys("C-c")), ("SIGTERM", lambda screen: os.kill(screen.pid(), signal.SIGTERM)),
                      ("SIGINT", lambda screen: os.kill(screen.pid(), signal.SIGINT))):
        (base / "trap.sh").write_text("trap 'echo caught; exit 5' INT TERM; while :; do sleep 0.05; done")
        with run(base, 80, 40, "sh", base / "trap.sh", options=["-q"]) as screen:
            check(screen, f"before {what}", "?:help")
            end(screen)
            check(screen, f"after {what}", "caught", "LEFT 5", "SAME")
    with run(base, 80, 40, "sh", base / "trap.sh", options=["-q"]) as screen:
        check(screen, "before q and SIGINT", "?:help")
        screen.keys("q")
        screen.shows(without=("?:help",))
        os.kill(screen.pid(), signal.SIGINT)
        check(screen, "after q and SIGINT", "caught", "LEFT 5", "SAME")


def to_the_group(base):
    """A signal that the command sends to its process group reaches it once."""
    (base / "group.sh").write_text(f"trap 'echo caught >>{base}/caught' INT; sleep 0.5; kill -INT 0; until [ -e {base}/caught ]; do sleep 0.05; done; "
                                   "sleep 0.5; exit 6")
    with run(base, 80, 40, "sh", base / "group.sh", options=["-q"]) as screen:
        check(screen, "a signal to the process group", "LEFT 6", "SAME")
    checks.equal("a signal to the process group: how often the command got it", (base / "caught").read_text(), "caught\n")


def like(base):
    """By an earlier run the screen tells what is to come."""
    work = base / "like"
    work.mkdir()
    (work / "Makefile").write_text("all: out\n%.txt:\n\tsh step.sh $@\nout: 1.txt 2.txt 3.txt 4.txt\n\tcat 1.txt 2.txt 3.txt 4.txt >out\n")
    (work / "step.sh").write_text("seq 1000 | sort -r >$1; while [ $1 = 3.txt ] && [ -e stay ]; do sleep 0.1; done\n")
    command = ["make", "-s", "-C", work]
    subprocess.run([FTRAC, "run", "-q", "--db", base / "old.db", "--", *command], check=True, timeout=60)
    for made in (*work.glob("*.txt"), work / "out"):
        made.unlink()
    (work / "stay").touch()
    with run(base, 80, 24, *command, options=["-q", "--like", base / "old.db"]) as screen:
        check(screen, "--like", "2 to come", "ends in 0:0", "TO COME PHASE")
        (work / "stay").unlink()
        check(screen, "--like, at the end", "LEFT 0", "SAME")
    with run(base, 80, 24, "touch", base / "ran", options=["--like", base / "job.sh"]) as screen:
        check(screen, "--like of no trace", "no trace", "LEFT 125", "SAME", without=("?:help",))
    done = subprocess.run([FTRAC, "run", "--like", base / "old.db", "--db", base / "x.db", "--", "touch", base / "ran"], capture_output=True, text=True,
                          timeout=60, check=False)
    checks.check("--like without --top: one line", done.returncode == 125 and done.stderr.count("\n") == 1 and "--top" in done.stderr, done)
    checks.check("--like that is refused: nothing ran", not (base / "ran").exists() and not (base / "x.db").exists())


def stopped(base):
    """Ctrl-Z gives the terminal back to the shell; when the job goes on, so does the screen."""
    script = base / "shell.sh"
    script.write_text('set -m; before=$(stty -g); "$@"; echo "STOPPED $?"; [ "$(stty -g)" = "$before" ] && echo AS BEFORE; '
                      f'until [ -e {base}/fg ]; do sleep 0.05; done; rm {base}/fg; fg >/dev/null')
    for what, program in (("run --top", [FTRAC, "run", "-q", "--top", "--force", "--db", base / "t.db", "--", *job(base)]),
                          ("top", [FTRAC, "top", "--delay", "0.3", base / "t.db"])):
        with Screen(80, 24, "bash", script, *program) as screen:
            check(screen, f"{what}: before Ctrl-Z", "?:help")
            screen.keys("C-z")
            check(screen, f"{what}: while it is stopped", "STOPPED 148", "AS BEFORE", without=("?:help",))
            (base / "fg").touch()
            check(screen, f"{what}: when it goes on", "?:help", without=("STOPPED",))
            (base / "over").touch()
            screen.keys(*("q" if what == "top" else ()))
            check(screen, f"{what}: stopped, at the end", "LEFT 0" if what == "top" else "LEFT 7", "SAME")


def refused(base):
    with run(base, 80, 24, "/no/such/program") as screen:
        check(screen, "a program that is not there", "cannot run '/no/such/program'", "LEFT 127", "SAME")
    with run(base, 80, 40, *job(base), options=["-q"], TERM="no-such-terminal") as screen:
        wait_for("the job waits", (base / "t.db").exists)
        (base / "over").touch()
        check(screen, "a terminal that is not known", "first line", "$TERM", "LEFT 7", "SAME")
    done = subprocess.run([FTRAC, "run", "--top", "--db", base / "x.db", "--", "touch", base / "ran"], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=60, check=False)
    checks.check("without a terminal: one line", done.returncode == 125 and done.stderr.count("\n") == 1 and "terminal" in done.stderr, done)
    checks.check("without a terminal: nothing ran", not (base / "ran").exists() and not (base / "x.db").exists())


def main():
    need_fuse()
    need("tmux", "bash", "make")
    with tempfile.TemporaryDirectory(prefix="ftrac-case-") as directory:
        base = pathlib.Path(directory).resolve()
        for size in SIZES:
            to_the_end(base, *size)
        left_early(base)
        ended(base)
        to_the_group(base)
        like(base)
        stopped(base)
        refused(base)
    checks.check("there were screens", screens > 20, screens)
    checks.end()


main()
