#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 6
# long: --long
"""Each operation is put down to the program that ran at that moment, as strace saw it: programs
inside and outside of the mount, exec chains, redirections, short lives, pipes, background jobs."""
import itertools
import os
import shutil
import subprocess

import straced
from sample import some
from ftractest import WORK, Checks, Mount, need, need_fuse

need_fuse()
need("strace", "xargs")
checks = Checks()
ROUNDS = 40
SCRIPT = """
round() {
    sh -c "exec ./inside a$1"
    sh -c "exec $OUTSIDE b$1"
    sh -c "./inside > c$1"
    sh -c "$OUTSIDE > d$1"
    sh -c "sh -c 'exec ./inside > e$1'; exec $OUTSIDE f$1"
    sh -c "./inside g$1 & $OUTSIDE h$1; wait"
    $OUTSIDE 3> i$1 >&3
    ./inside < ./input > j$1
    sh -c "echo text > k$1; exec env ./inside >> k$1"
    ./inside l$1 && ./inside - < l$1 > m$1
    ( $OUTSIDE > n$1 )
    ./script o$1
    cat ./input | $OUTSIDE > p$1
}
round $1
"""


def prepare(top):
    top.mkdir()
    shutil.copy(WORK / "say", top / "inside")
    (top / "input").write_text("input\n")
    (top / "round.sh").write_text(SCRIPT)
    (top / "script").write_text("#!/bin/sh\nexec ./inside $1\n")
    os.chmod(top / "script", 0o755)


def command(outside):
    return ["env", f"OUTSIDE={outside}", "sh", "-c",
            f"seq {ROUNDS} | xargs -P8 -n1 sh ./round.sh"]


def moved(ios):
    """(program, file, read or written, bytes), sorted; a program read for execve is not here."""
    return sorted((io.program, io.path, io.op, io.bytes) for io in ios if io.bytes)


def compare(fidelity, tier):
    with Mount("--fidelity", fidelity, "--processes", tier) as mount:
        outside = mount.base / "outside"
        shutil.copy(WORK / "say", outside)
        top, finished = mount.base / "work", mount.base / "finished"
        prepare(top)
        account = straced.run(command(outside), top)
        seen = moved(io._replace(path=os.path.relpath(io.path, top)) for io in account.io
                     if io.path.startswith(f"{top}/"))
        os.rename(top, finished)
        prepare(top)
        subprocess.run(command(outside), cwd=mount(top), check=True)
        mount.unmount()
        rows = mount.sql("""
            SELECT i.exe, op.path, op.name, op.bytes FROM op LEFT JOIN image i
                ON i.id = op.image LEFT JOIN handle h ON h.id = op.handle
            WHERE h.flags NOT LIKE '%EXEC%' AND op.name IN ('read', 'write')
                AND op.bytes > 0 AND op.path LIKE ? || '/%'""", str(top))
        recorded = sorted((os.path.basename(exe or "?"), os.path.relpath(path, top), *rest)
                          for exe, path, *rest in rows)
        if fidelity == "cached":  # what is read, and how, is the page cache's affair
            seen = sorted({row[:3] for row in seen})
            recorded = sorted({row[:3] for row in recorded})
        left = list(recorded)
        right = 0
        for row in seen:
            if row in left:
                left.remove(row)
                right += 1
        print(f"{fidelity}, {mount.fact('process_tier')}: {right} of {len(seen)} as strace saw "
              f"them, {100 * right / len(seen):.1f} %")
        whole = mount.sql("""SELECT count(*), sum(command IS NOT NULL) FROM image
                             WHERE seq > 0""")[0]
        print(f"  command lines: {whole[1]} of {whole[0]} images, "
              f"{100 * whole[1] / whole[0]:.1f} %")
        checks.check(f"{fidelity}, {tier}: there was something to compare",
                     len(seen) > 13 * ROUNDS)
        if tier == "auto":
            checks.equal(f"{fidelity}, {tier}: not as strace saw it", left[:10], [])
            checks.equal(f"{fidelity}, {tier}: none missing", right, len(seen))
        else:  # a write through a descriptor that was inherited may come from an exec unseen
            checks.check(f"{fidelity}, {tier}: most are right", right > 0.8 * len(seen))


for fidelity, tier in some(itertools.product(("exact", "cached"), ("auto", "inband")), 2):
    compare(fidelity, tier)
checks.end()
