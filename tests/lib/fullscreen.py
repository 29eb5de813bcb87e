# SPDX-License-Identifier: MIT
"""Programs with a full screen, in tmux: what they show, and keys for them."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

PATIENCE_S = 180
SIZES = (60, 15), (80, 24), (160, 50)


class Screen:
    """A command on a terminal of its own; used by 'with'.  When it has ended, the screen says 'LEFT status', and 'SAME' if the modes of
    the terminal are as before."""

    def __init__(self, width, height, *command, **variables):
        self.place = pathlib.Path(tempfile.mkdtemp(prefix="ftrac-case-"))
        self.width, self.height, self.seen = width, height, ""
        script = self.place / "run.sh"
        script.write_text('trap : INT\nbefore=$(stty -g)\nsh -c \'echo $$ >"$0"; exec "$@"\' "$PLACE/pid" "$@"\necho "LEFT $?"\n'
                          '[ "$(stty -g)" = "$before" ] && echo SAME\nexec sleep 1000\n')
        self.environment = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "TERM": "screen-256color", "PLACE": str(self.place), **variables}
        self.words = ["env", "-i", *(f"{name}={value}" for name, value in self.environment.items()), "sh", str(script), *map(str, command)]

    def tmux(self, *words):
        return subprocess.run(["tmux", "-u", "-S", str(self.place / "tmux"), "-f", "/dev/null", *words], capture_output=True, text=True,
                              timeout=60, check=True, env={**os.environ, "LC_ALL": "C.UTF-8", "TERM": "screen"}).stdout

    def __enter__(self):
        self.tmux("new-session", "-d", "-x", str(self.width), "-y", str(self.height), *self.words)
        return self

    def __exit__(self, *_):
        subprocess.run(["tmux", "-S", str(self.place / "tmux"), "kill-server"], stderr=subprocess.DEVNULL, timeout=60, check=False)
        shutil.rmtree(self.place, ignore_errors=True)

    def show(self):
        self.seen = self.tmux("capture-pane", "-p")
        return self.seen

    def shows(self, *texts, without=()):
        """Waits until all of the texts are on the screen, and none of the others; whether that came."""
        until = time.monotonic() + PATIENCE_S
        while time.monotonic() < until:
            seen = self.show()
            if all(text in seen for text in texts) and not any(text in seen for text in without):
                return True
            time.sleep(0.1)
        return False

    def keys(self, *names):
        self.tmux("send-keys", *names)

    def resize(self, width, height):
        self.width, self.height = width, height
        self.tmux("resize-window", "-x", str(width), "-y", str(height))

    def pid(self):
        return int((self.place / "pid").read_text())
