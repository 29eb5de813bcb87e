#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 16
# long: --long --rounds 1000
"""While a crowd works in the same mount, the trace says of each client exactly what it did: every
call, every byte, every failure.

counted.py [--rounds N] [SEED...]
"""
import argparse
import os
import subprocess

from ftractest import WORK, Checks, Mount, modes, need_fuse
from sample import some

need_fuse()
parser = argparse.ArgumentParser()
parser.add_argument("--rounds", type=int, default=150)
parser.add_argument("seeds", type=int, nargs="*", default=[1])
arguments = parser.parse_args()
checks = Checks()
CLIENTS, SHORT = 4, 24  # the latter live for a few rounds only
# With call, system calls are recorded; what they are is compared with strace (kernel_both).
MODES = some([options for _, options in modes(but=["call"])], 4)
# The failures are the kernel's own: it asks for ACLs and capabilities that are not there.
OF_KERNEL = {"getxattr"}


class Client:
    def __init__(self, top, rounds, seed, whole):
        top.mkdir()
        command = [WORK / "counted", *(["--whole"] if whole else []), top, str(rounds), str(seed)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.pid, self.said = self.process.pid, {}

    def wait(self, label):
        said = self.process.communicate(timeout=250)[0]
        checks.equal(f"{label}: it ended well", self.process.returncode, 0)
        for name, *numbers in map(str.split, said.splitlines()):
            self.said[name] = tuple(map(int, numbers))
        return self


def run_clients(label, mount, seed, whole):
    """Some that take their time, and beside them many that come and go."""
    def start(number, rounds):
        return Client(mount(mount.base / f"client{number}"), rounds, seed * 1000 + number, whole)

    clients = [start(i, arguments.rounds) for i in range(CLIENTS)]
    ended = []
    for number in range(SHORT):
        ended.append(start(CLIENTS + number, 3).wait(f"{label}, client {CLIENTS + number}"))
    return [client.wait(f"{label}, client {i}") for i, client in enumerate(clients)] + ended


def recorded_of(mount, pid):
    rows = mount.sql("""
        SELECT o.name, sum(o.result >= 0), sum(o.result < 0), coalesce(sum(o.bytes), 0)
        FROM op o JOIN image i ON i.id = o.image JOIN process p ON p.id = i.process
        WHERE p.pid = ? AND i.exe LIKE '%/counted' GROUP BY 1""", pid)
    return {name: (done, failed, moved) for name, done, failed, moved in rows}


def compare(label, fidelity, said, recorded):
    """Ends with how many calls were compared."""
    calls = 0
    for name, (done, failed, moved) in said.items():
        got = recorded.get(name, (0, 0, 0))
        if name in ("read", "write") and fidelity == "open":
            continue  # they do not come by
        if name in ("read", "write") and fidelity == "cached":
            checks.equal(f"{label}: bytes of {name}", got[2], moved)
            continue
        calls += done + failed
        checks.equal(f"{label}: {name} done", got[0], done)
        checks.equal(f"{label}: bytes of {name}", got[2], moved)
        if name not in OF_KERNEL:
            checks.equal(f"{label}: {name} failed", got[1], failed)
    own = {"lookup", "getattr"} | OF_KERNEL
    checks.equal(f"{label}: what it did not do", set(recorded) - set(said) - own, set())
    return calls


def run(mode, seed):
    label, fidelity = " ".join((*mode, f"seed {seed}")), mode[1]
    with Mount(*mode) as mount:
        crowd = mount.base / "crowd"
        crowd.mkdir()
        crowd.chmod(0o777)
        load = subprocess.Popen([WORK / "stress", "--clients", "4", "--operations", "100000000",
                                 "--seed", str(seed), mount(crowd)], stdout=subprocess.DEVNULL)
        try:
            clients = run_clients(label, mount, seed, fidelity != "exact")
            checks.equal(f"{label}: the crowd was there all the time", load.poll(), None)
        finally:
            load.kill()  # and with it, its clients
            load.wait()
        mount.unmount()
        for at, directories, _ in os.walk(crowd):  # so that they can be removed
            for name in directories:
                if not os.path.islink(os.path.join(at, name)):
                    os.chmod(os.path.join(at, name), 0o700)
        calls = 0
        for i, client in enumerate(clients):
            calls += compare(f"{label}, client {i}", fidelity, client.said,
                             recorded_of(mount, client.pid))
        for key, wanted in ("ops_lost", 0), ("complete", 1), ("fidelity", fidelity):
            checks.equal(f"{label}: {key}", mount.fact(key), wanted)
        total = mount.sql("SELECT count(*) FROM op")[0][0]
        checks.equal(f"{label}: operations recorded", mount.fact("ops_recorded"), total)
        checks.check(f"{label}: there was a crowd", total > calls * 1.1, f"{total}, {calls}")
        moved = sum(bytes for client in clients for _, _, bytes in client.said.values())
        print(f"{label}: {calls} calls of {len(clients)} clients counted, {moved} bytes, among "
              f"{total} operations", flush=True)


for seed in arguments.seeds:
    for mode in MODES:
        run(mode, seed)
checks.end()
