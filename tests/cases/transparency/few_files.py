#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Few descriptors (ulimit -n): the soft limit is raised to the hard one; what is mounted works, and what would not
work is refused, with the reason; if a user may have fewer files open
in the mount than one program may have, ftrac warns."""
import resource
import subprocess
import tempfile

from ftractest import FTRAC, Checks, need_fuse, unmounted

ENOUGH = {80: 20, 96: 35, 128: 60, 256: 150}
MORE = 4096


def open_all(top):
    """How many files can be made and be open at once; at most 1000."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (MORE, MORE))
    files = []
    try:
        for i in range(1000):
            files.append(open(f"{top}/f{i}", "w"))
    except OSError:
        pass
    count = len(files)
    for file in files:
        file.close()
    return count


def mounted(checks, base, limit, hard):
    """What ftrac said, and how many files a client could open; None: it was not mounted."""
    with tempfile.TemporaryDirectory(dir=base) as mnt, tempfile.TemporaryDirectory(dir=base) as source:
        done = subprocess.run(["prlimit", f"--nofile={limit}:{hard}", FTRAC, "--no-record", "-o",
                               f"source={source}", mnt], stderr=subprocess.PIPE, text=True, timeout=60, check=False)
        if done.returncode:
            return done.stderr, None
        count = open_all(mnt)
        checks.equal(f"{limit}:{hard}: umount", unmounted(lambda: subprocess.run(
            [FTRAC, "umount", mnt], stderr=subprocess.DEVNULL, timeout=60, check=False).returncode), 0)
        return done.stderr, count


def main():
    need_fuse()
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="ftrac-case-") as base:
        for limit in (32, 48, 64, *ENOUGH):
            said, count = mounted(checks, base, limit, limit)
            if count is None:
                checks.check(f"{limit}: a mount that would not work is refused, and why",
                             said.count("\n") == 1 and "too few" in said and "raise the hard limit" in said, said)
            else:
                checks.check(f"{limit}: files that can be open", count >= ENOUGH.get(limit, 12), count)
                checks.check(f"{limit}: a program that has more is told of", "EMFILE" in said, said)
            checks.check(f"{limit}: enough or not", (count is not None) or limit not in (128, 256), said)
            said, count = mounted(checks, base, limit, MORE)
            checks.equal(f"{limit}, {MORE} at most: files that can be open", count, 1000)
            checks.equal(f"{limit}, {MORE} at most: no warning", said, "")
    checks.end()


if __name__ == "__main__":
    main()
