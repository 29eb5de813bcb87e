#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 8
# long: --minutes 3
"""Many clients at once that verify every byte, some of them killed in the middle, in each fidelity:
nothing is wrong, nothing is lost, and memory does not grow without end.

    load.py [--minutes N] [--clients N] [FIDELITY...]     (N minutes for each; else 8 s)
"""
import argparse
import subprocess
import time

from ftractest import WORK, Checks, Mount, fidelities, need_fuse, resident
from sample import one

# What a daemon may have at most, with what 64 clients have open and the queue (8 MB).
MOST_BYTES = 400 << 20


def load(checks, fidelity, given):
    seconds = int(given.minutes * 60) or 8
    with Mount("--fidelity", fidelity) as mount:
        top = mount.base / "work"
        top.mkdir()
        client = subprocess.Popen([WORK / "load", "--clients", str(given.clients), "--seconds",
                                   str(seconds), mount(top)], stdout=subprocess.PIPE, text=True)
        sizes = []
        while client.poll() is None:
            sizes.append(resident(mount.pid))
            time.sleep(seconds / 40)
        said = client.stdout.read()
        facts = dict(zip(said.split()[-10::2], map(int, said.split()[-9::2])))
        checks.check(f"{fidelity}: every byte", client.returncode == 0 and facts["wrong"] == 0, said)
        checks.check(f"{fidelity}: there was something to do",
                     facts["operations"] > 1000 and facts["kills"] > 10, said)
        mount.unmount()
        checks.equal(f"{fidelity}: complete, lost",
                     (mount.fact("complete"), mount.fact("ops_lost")), (1, 0))
        checks.equal(f"{fidelity}: all operations are there",
                     mount.sql("SELECT count(*) FROM op")[0][0], mount.fact("ops_recorded"))
        checks.equal(f"{fidelity}: errors that are the mirror's own", mount.sql(
            "SELECT name, result, count(*) FROM op WHERE result < 0 AND result NOT IN (-2, -61) "
            "AND NOT (result = -4) GROUP BY 1, 2"), [])
        checks.check(f"{fidelity}: memory is bounded", max(sizes) < MOST_BYTES, max(sizes))
        print(f"{fidelity}: {seconds} s, {said.split(chr(10))[-2]}; "
              f"{mount.fact('ops_recorded')} requests recorded, {mount.fact('ops_lost')} lost; memory "
              f"{sizes[len(sizes) // 4] >> 20} MB after a quarter, {max(sizes) >> 20} at most, "
              f"{sizes[-1] >> 20} at the end", flush=True)


def main():
    need_fuse()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=0)
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("fidelities", nargs="*")
    given = parser.parse_args()
    checks = Checks()
    found = fidelities()
    for fidelity in given.fidelities or (found if given.minutes else one(found)):
        load(checks, fidelity, given)
    checks.end()


if __name__ == "__main__":
    main()
