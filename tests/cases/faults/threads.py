#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 50
# long: --long
"""What threads share - queue, writer, inodes and their descriptors, the whole daemon - with what finds races."""
import subprocess
import sys

import sanitizers
from ftractest import Checks, Mount, need_fuse
from sample import LONG, one, some

# Before LLVM 15 ThreadSanitizer does not know that this joins a thread.
JOIN = "-Dc_args=['-Dpthread_clockjoin_np(thread,result,clock,end)=pthread_join(thread,result)']"
UNITS = ["inode", "locks", "monitor", "pins", "ring", "writer"]
MOUNTS = [[], ["--fidelity", "cached", "--locks", "native"], ["--no-record"]]
CLIENTS = "for i in 1 2 3 4 5 6 7 8; do (for k in $(seq 40); do echo $k > f$i.$k; cat f$i.$k > g$i; " \
          "mv f$i.$k h$i.$k; ls > /dev/null; rm h$i.$k; done) & done; wait"


def serve_clients(options):
    """In a process of its own: eight clients in a mount by the daemon that is looked at.  By the device, since
    ThreadSanitizer does not know that the kernel sends the requests of a file one after the other."""
    with Mount("--io-uring", "off", *options) as mount:
        work = mount.base / "work"
        work.mkdir()
        subprocess.run(["sh", "-c", CLIENTS], check=True, cwd=mount(work), timeout=500)
        mount.unmount()
        assert "--no-record" in options or mount.sql("SELECT count(*) FROM op")[0][0] > 1000


def main():
    need_fuse()
    checks = Checks()
    units, mounts = some(UNITS, 2), one(MOUNTS)
    build = sanitizers.build("threads-long" if LONG else "threads", f"-Doptimization={int(LONG)}", "-Db_sanitize=thread", JOIN,
                             targets=["ftrac/ftrac", *(f"tests/unit/test_{name}" for name in units)])
    for name in units:
        text, fine = sanitizers.run([build / f"tests/unit/test_{name}"], timeout=300)
        checks.check(f"the unit test of {name} has no race", fine, sanitizers.excerpt(text))
    for options in mounts:
        text, fine = sanitizers.run([sys.executable, __file__, "--clients", *options], timeout=600,
                                    env={"FTRAC": f"{build}/ftrac/ftrac"})
        checks.check(f"a mount {' '.join(options)} with eight clients has no race", fine, sanitizers.excerpt(text))
    print(f"{len(units)} unit tests, {len(mounts)} mounts")
    checks.end()


if sys.argv[1:2] == ["--clients"]:
    serve_clients(sys.argv[2:])
else:
    main()
