# SPDX-License-Identifier: MIT
"""Programs on a terminal of so many columns."""
import fcntl
import os
import pty
import re
import struct
import termios

# What a slow program is doing: lines that come after a second, and go away.
PASSING = re.compile("\033\\[K[^\r\n\033]*\r(?!\n)|\r?\033\\[K(?:ftrac: writing the trace[^\r\n\033]*)?")


def on_terminal(columns, *words, **variables):
    """The wait status, and what was printed; plain, unless variables say otherwise."""
    pid, fd = pty.fork()
    if pid == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        os.execve(words[0], [str(word) for word in words], {**os.environ, "TERM": "xterm", "PAGER": "", "NO_COLOR": "1", **variables})
    said = b""
    while True:
        try:
            more = os.read(fd, 65536)
        except OSError:
            break
        if not more:
            break
        said += more
    os.close(fd)
    text = PASSING.sub("", said.decode()).replace("\r\n", "\n")
    return os.waitpid(pid, 0)[1], text
