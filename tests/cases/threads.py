#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What threads share - queue, writer, inodes and their descriptors, the whole daemon - with what finds races."""
import pathlib
import subprocess
import tempfile

import sanitizers
from ftractest import Checks, Mount, need_fuse
import ftractest

UNITS = {"ring", "writer", "inode", "pins", "locks", "monitor"}
need_fuse()
checks = Checks()
build = sanitizers.build("threads", "-Db_sanitize=thread",
                         targets=["ftrac/ftrac", *(f"tests/unit/test_{name}" for name in sorted(UNITS))])
for test in sanitizers.unit_tests(build, UNITS):
    text, fine = sanitizers.run([test], timeout=300)
    checks.check(f"{test.name} has no race", fine, sanitizers.excerpt(text))
ftractest.FTRAC = f"{build}/ftrac/ftrac"
with tempfile.TemporaryDirectory(prefix="ftrac-case-") as base:
    logs = pathlib.Path(base) / "tsan"
    with Mount(base=base, prefix=["env", f"TSAN_OPTIONS=exitcode=97:log_path={logs}"]) as mount:
        work = pathlib.Path(base) / "work"
        work.mkdir()
        script = "for i in 1 2 3 4 5 6 7 8; do (for k in $(seq 40); do echo $k > f$i.$k; cat f$i.$k > g$i; " \
                 "mv f$i.$k h$i.$k; ls > /dev/null; rm h$i.$k; done) & done; wait"
        subprocess.run(["sh", "-c", script], check=True, cwd=mount(work), timeout=300)
    found = [path.read_text(errors="replace") for path in pathlib.Path(base).glob("tsan*")]
    checks.check("a mount with eight clients has no race", not found, "".join(found)[:6000])
    checks.check("operations were traced", mount.sql("SELECT count(*) FROM op")[0][0] > 1000)
checks.end()
