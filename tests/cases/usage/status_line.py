#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 25
"""ftrac run on a terminal says in its last line how far the command is; the lines of the command scroll above it, a program that reads
single keys has all of the screen, and at the end the terminal is as before.  There is no such line elsewhere, and none with -q."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

from ftractest import FTRAC, Checks, need_fuse

ROWS, COLUMNS = 12, 80
STEPS = "go1", "go2", "go3", "go4"
LINE = re.compile(r"ftrac: 0:\d\d:\d\d, \d+ operations and \d+ processes recorded")
checks = Checks()


class Terminal:
    """A terminal of tmux, with a shell in it.  Steps of the command are released by names of files."""

    def __init__(self, base):
        self.base, self.tmux = base, ["tmux", "-f", "/dev/null", "-S", str(base / "socket")]
        subprocess.run([*self.tmux, "new-session", "-d", "-x", str(COLUMNS), "-y", str(ROWS), "env PS1='$ ' sh"], check=True, timeout=60)

    def type(self, text):
        subprocess.run([*self.tmux, "send-keys", text, "Enter"], check=True, timeout=60)

    def screen(self):
        said = subprocess.run([*self.tmux, "capture-pane", "-p"], capture_output=True, text=True, check=True, timeout=60).stdout
        return (said.splitlines() + [""] * ROWS)[:ROWS]

    def until(self, what):
        """The first screen for which it is true; after a minute any."""
        end = time.monotonic() + 60
        while not what(self.screen()) and time.monotonic() < end:
            time.sleep(.1)
        return self.screen()

    def go_on(self, step):
        (self.base / step).touch()

    def close(self):
        subprocess.run([*self.tmux, "kill-server"], check=False, timeout=60)


def has_line(screen):
    return bool(LINE.fullmatch(screen[-1]))


SCRIPT = """\
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14; do echo line $i; done
printf 'checking... '
until [ -e go1 ]; do sleep .1; done
echo yes
stty -icanon
until [ -e go2 ]; do sleep .1; done
stty icanon
until [ -e go3 ]; do sleep .1; done
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14; do echo more $i; done
until [ -e go4 ]; do sleep .1; done
"""


def run(terminal, *options):
    terminal.type(" ".join(["clear;", str(FTRAC), "run", "--force", "--db", "T.db", *options, "sh", "script; echo status $?"]))


def check_line(terminal, base):
    run(terminal)
    screen = terminal.until(has_line)
    checks.check("the last line says how far the command is", has_line(screen), screen)
    checks.equal("above it, what the command wrote", screen[-4:-1], ["line 13", "line 14", "checking..."])
    terminal.go_on("go1")
    screen = terminal.until(lambda s: "checking... yes" in s and not has_line(s))
    checks.check("the command goes on where it was in its line", "checking... yes" in screen, screen)
    checks.check("a program that reads single keys has the last line", not has_line(screen) and not LINE.search("".join(screen)), screen)
    terminal.go_on("go2")
    screen = terminal.until(has_line)
    checks.check("when it has ended, the line is there again", has_line(screen), screen)
    terminal.go_on("go3")
    screen = terminal.until(lambda s: "more 14" in s and has_line(s))
    checks.equal("lines scroll above it", screen[-4:-2], ["more 13", "more 14"])
    terminal.go_on("go4")
    screen = terminal.until(lambda s: "status 0" in s)
    checks.check("at the end the line goes away", not LINE.search("".join(screen)) and "status 0" in screen, screen)
    terminal.type("clear; seq 100")
    screen = terminal.until(lambda s: "100" in s)
    checks.equal("afterwards all lines scroll", screen[-3:], ["99", "100", "$"])


def check_none(terminal, base, what, *options, before=""):
    for step in STEPS:
        (base / step).unlink(missing_ok=True)
    terminal.type(before)
    run(terminal, *options)
    terminal.until(lambda s: "checking..." in s)
    time.sleep(3.5)  # it would be there after two
    screen = terminal.screen()
    checks.check(f"{what}: no line", "checking..." in screen and not LINE.search("".join(screen)), screen)
    for step in STEPS:
        terminal.go_on(step)
    terminal.until(lambda s: "status 0" in s)


def check_file(base):
    said = subprocess.run([FTRAC, "run", "--force", "--db", "T.db", "sh", "-c", "sleep 3"], cwd=base, capture_output=True, check=True, timeout=100)
    checks.check("in a pipe: no line, and no byte for a terminal", b"processes recorded" not in said.stderr and b"\033" not in said.stderr, said.stderr)


def main():
    need_fuse()
    if not shutil.which("tmux"):
        print("skipped: there is no tmux, the terminal of this test")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as name:
        base = pathlib.Path(name)
        (base / "script").write_text(SCRIPT)
        terminal = Terminal(base)
        try:
            terminal.type(f"cd {base}")
            check_line(terminal, base)
            check_none(terminal, base, "-q", "-q")
            check_none(terminal, base, "a dumb terminal", before="export TERM=dumb")
            check_file(base)
        finally:
            terminal.close()
    checks.end()


main()
