#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 15
"""One workflow on two machines that wait for each other's files in a directory of a third one, which both have mounted by sshfs: namespaces of
the network, of host names, of mounts and of the monotonic clock, and boot ids of their own.  What follows from what is found over both."""
import contextlib
import os
import pathlib
import shutil
import sqlite3
import subprocess
import tempfile

import sshserver
from ftractest import FTRAC, Checks, kernel_refuses, need, need_fuse, skip

FTRAC = os.path.abspath(FTRAC)
BOOT_ID = "/proc/sys/kernel/random/boot_id"
NODES = {"node1": 100_000, "node2": 7_000_000}  # seconds that the monotonic clock is ahead
OPTIONS = ",".join(["dcache_timeout=0", "dir_cache=no", "attr_timeout=0", "entry_timeout=0", "negative_timeout=0"])
WAIT = "wait_for() { until [ -e $1 ]; do sleep 0.05; done; }; "
# A file appears with all its content.
STEPS = {
    "node1": WAIT + "seq 1000 >raw.part; mv raw.part raw; wait_for sorted; wc -l <sorted >count.part; mv count.part count; wait_for end; cat end",
    "node2": WAIT + "wait_for raw; sort -r raw >sorted.part; mv sorted.part sorted; wait_for count; cat count sorted >end.part; mv end.part end"}
FLOW = {("raw", "seq", "sort"), ("sorted", "sort", "wc"), ("count", "wc", "cat"), ("end", "cat", "cat")}
MACHINE = """
set -e
hostname {node}
echo "{boot}" >{base}/boot.{node}
mount --bind {base}/boot.{node} {boot_id}
mkdir {base}/{node}
sshfs -F /dev/null {ssh} -o {options} -p {port} {address}:{base}/shared {base}/{node}
cd {base}/{node}
status=0
{ftrac} run -q --scope dir {record} --job {node} --db {base}/{node}.tr -- sh -c '{steps}' >{base}/{node}.out || status=$?
cd /
fusermount3 -u {base}/{node} || umount -l {base}/{node}
exit $status
"""
checks = Checks()


def call(*words):
    subprocess.run(list(map(str, words)), check=True, stdin=subprocess.DEVNULL, capture_output=True)


@contextlib.contextmanager
def networks():
    """For each machine, the name of its network and our address in it."""
    names = {}
    try:
        for i, node in enumerate(NODES, 1):
            names[node] = f"ftrac-{os.getpid()}-{i}", f"10.213.{i}.1"
            space, cable = names[node][0], f"ft{os.getpid()}-{i}"
            call("ip", "netns", "add", space)
            call("ip", "link", "add", cable, "type", "veth", "peer", "name", "eth0", "netns", space)
            call("ip", "address", "add", f"10.213.{i}.1/30", "dev", cable)
            call("ip", "link", "set", cable, "up")
            call("ip", "-n", space, "address", "add", f"10.213.{i}.2/30", "dev", "eth0")
            call("ip", "-n", space, "link", "set", "eth0", "up")
        yield names
    except (OSError, subprocess.CalledProcessError) as e:
        skip(f"no network namespaces here: {getattr(e, 'stderr', b'') or e}")
    finally:
        for space, _ in names.values():
            subprocess.run(["ip", "netns", "del", space], stderr=subprocess.DEVNULL, check=False)


def start(base, server, node, space, address, record):
    script = MACHINE.format(node=node, boot=f"{list(NODES).index(node):08x}-0000-4000-8000-000000000000", base=base, boot_id=BOOT_ID,
                            ssh=" ".join(server.options), options=OPTIONS, port=server.port, address=address, ftrac=FTRAC, record=record,
                            steps=STEPS[node])
    return subprocess.Popen(["ip", "netns", "exec", space, "unshare", "--uts", "--mount", "--time", f"--monotonic={NODES[node]}", "--fork",
                             "sh", "-c", script], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def record_on_both(base, record):
    (base / "shared").mkdir()
    with networks() as names, sshserver.Server(base, "0.0.0.0") as server:
        if server.refused:
            skip(f"no SSH server of our own: {server.refused}")
        running = {node: start(base, server, node, *names[node], record) for node in NODES}
        for node, process in running.items():
            out, _ = process.communicate(timeout=120)
            checks.equal(f"{node}: status, messages", (process.returncode, out), (0, ""))
    checks.equal("what came out", (base / "node1.out").read_text().split()[:3], ["1000", "999", "998"])


def rows(path, sql):
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
        return db.execute(sql).fetchall()


def flow(path):
    """name, program that wrote it, program on the other machine that read it."""
    return set(rows(path, "SELECT DISTINCT replace(f.path, rtrim(f.path, replace(f.path, '/', '')), ''), w.program, r.program FROM access a"
                          " JOIN access b ON b.file = a.file AND b.version = a.version JOIN process w ON w.id = a.process"
                          " JOIN process r ON r.id = b.process JOIN file f ON f.id = a.file"
                          " WHERE a.bwrite > 0 AND b.bread > 0 AND w.job <> r.job"))


def merge(base, *words):
    done = subprocess.run([FTRAC, "merge", "--force", "-o", base / "all.db", *words], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=60, check=False)
    checks.equal("merging: status", done.returncode, 0)
    return done.stderr


def shift(path, seconds):
    """As if the clock of the machine were wrong."""
    with contextlib.closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE meta SET value = value + ? WHERE key IN ('start_ns', 'end_ns')", (seconds * 10**9,))


def check_merged(base, wrong):
    traces = [base / f"{node}.tr" for node in NODES]
    said = merge(base, *traces)
    checks.equal("mounted at two places: nothing says that files are one", (flow(base / "all.db"), said), (set(), ""))
    for order in traces, traces[::-1]:
        merge(base, "--same", f"node1:{base}/node1=node2:{base}/node2", *order)
        checks.equal("what follows from what", flow(base / "all.db"), FLOW)
        hosts = {name: (offset, uncertainty) for name, offset, uncertainty in rows(base / "all.db", "SELECT name, offset_ns, uncertainty_ns FROM host")}
        checks.equal("machines", set(hosts), set(NODES))
        between = hosts["node2"][0] - hosts["node1"][0] + wrong * 10**9
        known = max(uncertainty or 0 for _, uncertainty in hosts.values())
        print(f"clock wrong by {wrong} s: {between / 1e6:.1f} ms from the truth, known within {known / 1e6:.1f} ms")
        checks.check("the clocks are right, as far as it is known", abs(between) <= known, (hosts, wrong))
        late, = rows(base / "all.db", "SELECT count(*) FROM access a JOIN access b ON b.file = a.file AND b.version = a.version"
                                      " WHERE a.bwrite > 0 AND b.bread > 0 AND b.first_in_ns < a.first_out_ns")[0]
        checks.equal("reads before the writes that they follow", late, 0)


def check_records(record):
    base = pathlib.Path(tempfile.mkdtemp(prefix="ftrac-case-", dir="/var/tmp"))
    print(f"recorded {record}", flush=True)
    try:
        record_on_both(base, record)
        checks.equal("hosts", [rows(base / f"{node}.tr", "SELECT value FROM trace WHERE key = 'host'") for node in NODES], [[(node,)] for node in NODES])
        check_merged(base, 0)
        shift(base / "node2.tr", 10)
        check_merged(base, 10)
    finally:
        shutil.rmtree(base)


need_fuse()
need("sshfs", "ip", "unshare", "ssh", sshserver.SSHD)
if os.geteuid() != 0:
    skip("not root: no namespaces")
check_records("--files mount")
if kernel_refuses():
    print(f"not recorded in the kernel: {kernel_refuses()}")
else:
    check_records("--files kernel")
checks.end()
