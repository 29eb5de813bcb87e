#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 8
# long: --count 60
"""The view flow, and wfdag's edges of pipes and sockets: of random workflows, against what strace saw of the same run.

kernel_flows.py [--count N] [--seed N]
"""
import argparse
import collections
import contextlib
import csv
import json
import math
import os
import pathlib
import random
import re
import shutil
import socket
import sqlite3
import subprocess
import tempfile

import kernelleft
from ftractest import Checks, InKernel, need, need_kernel

WFDAG = os.environ.get("WFDAG", "build/dag/wfdag")
WFSTAT = os.environ.get("WFSTAT", "build/dag/wfstat")
READS = {"read", "readv", "preadv2", "recvfrom", "recvmsg"}
WRITES = {"write", "writev", "pwritev2", "sendto", "sendmsg"}
CALLS = ",".join(sorted(READS | WRITES | {"splice", "sendfile", "tee", "vmsplice", "clone", "clone3", "fork", "vfork"}))
DESCRIPTOR = r"\d+<(?:[^<>]|->)*>"
MOVED = re.compile(rf"([\d.]+) (\w+)\(({DESCRIPTOR})?(.*) = (\d+) <([\d.]+)>$")
UNSURE = 0.002  # seconds; strace and the trace may see two calls of two processes in another order
SOCKET = re.compile(r"(TCP|TCPv6|UDP|UDPv6|UNIX-\w+):\[(.*)->(.*?)(?:,.*)?\]$")
TALKERS = pathlib.Path(__file__).resolve().parents[2] / "lib" / "talkers.py"
FIXED = [
    "seq 100000 | tr 0-4 5-9 | sort >out",
    "mkfifo ff; seq 5000 >ff & sort <ff | tail -n 3 >out; wait; rm ff",
    "printf 'all: a b\\na b:;@seq 9 | sort >$@.o; $(MAKE) -s sub$@\\nsuba subb: s1 s2 s3;@:\\ns1 s2 s3:;@sleep 0.05\\n' >Makefile; make -s -j3",
    "socat -u UNIX-LISTEN:to,unlink-close=1 CREATE:out & socat UNIX-LISTEN:from UNIX-CONNECT:to,retry=50,interval=0.05 & "
    "seq 9000 | socat -u - UNIX-CONNECT:from,retry=50,interval=0.05; wait; rm -f to from",
    "seq 20000 | parallel -j2 --pipe -N 7000 sort | sort -n >out",
    "python3 -c 'import multiprocessing as m\nwith m.Pool(2) as p: print(sum(p.map(abs, range(3000), 500)))' >out",
]

# Of servers and workflow systems, where they are installed.
SYSTEMS = {
    "snakemake": r"""printf 'rule all:\n  input: "out"\nrule half:\n  output: "{n}.half"\n  shell: "seq 3000 | tr 1 {wildcards.n} | sort >{output}"\n'\
'rule sum:\n  input: "1.half", "2.half"\n  output: "out"\n  shell: "cat {input} | sort -n | tail -n 9 >{output}"\n' >Snakefile
HOME=$PWD snakemake -j2 -q >log 2>&1""",
    "psql": """export PATH=$(ls -d /usr/lib/postgresql/*/bin | tail -n 1):$PATH PGHOST=$PWD PGDATA=$PWD/data
as=; if [ $(id -u) = 0 ]; then chown postgres .; as='setpriv --reuid=postgres --regid=postgres --clear-groups'; fi
$as initdb -D data -A trust >init.log; $as pg_ctl start -w -l log -o "-c listen_addresses='' -c unix_socket_directories=$PWD" >start.log
$as psql -q -c "COPY (SELECT generate_series(1, 20000)) TO PROGRAM 'sort >out'" postgres
$as psql -q -c "COPY (SELECT generate_series(1, 20000)) TO STDOUT" postgres | sort -n | tail -n 2 >last
$as pg_ctl stop -w -m fast >stop.log""",
}


class Random:
    """Shell text of pipelines.  Each stage copies, cuts or makes data."""

    def __init__(self, seed):
        self.rng, self.n = random.Random(seed), 0

    def source(self):
        return self.rng.choice([f"head -c {self.rng.randrange(1, 200000)} /dev/zero", f"seq {self.rng.randrange(1, 20000)}",
                                f"printf {'x' * self.rng.randrange(1, 9)}"])

    def sources(self):
        """One writer, some in turn, or some at the same time."""
        several = [self.source() for _ in range(self.rng.randrange(2, 4))]
        return self.rng.choice([self.source(), f"( {'; '.join(several)} )", f"( {' & '.join(several)} & wait )"])

    def file(self):
        self.n += 1
        return f"o{self.n}"

    def filter(self):
        return self.rng.choice(["cat", "sort", f"tee {self.file()}", f"head -c {self.rng.randrange(1, 5000)}", "od -v", "wc -c",
                                "sh -c 'cat'", "( cat )", "dd bs=700 2>/dev/null"])

    def sink(self):
        either = [f"cat >{self.file()}", f"( head -c 100 >{self.file()}; cat >{self.file()} )",
                  f"( cat >{self.file()} & cat >{self.file()} & wait )", f"tail -n 2 >{self.file()}"]
        return self.rng.choice(either)

    def pipeline(self):
        stages = [self.sources(), *(self.filter() for _ in range(self.rng.randrange(3))), self.sink()]
        return " | ".join(stages)

    def text(self):
        return "\n".join(self.pipeline() + self.rng.choice(["", " &"]) for _ in range(self.rng.randrange(1, 5))) + "\nwait\n"


# ---- what strace saw ----

def logs(prefix):
    return {int(path.name.rpartition(".")[2]): path.read_text(errors="replace").splitlines()
            for path in prefix.parent.glob(f"{prefix.name}.*")}


def processes_of(lines):
    """Thread -> process."""
    made = {tid: [re.search(r" = (\d+) <", line) for line in of_thread if "CLONE_THREAD" in line] for tid, of_thread in lines.items()}
    parent = {int(match[1]): tid for tid, matches in made.items() for match in matches if match}

    def process(tid):
        while tid in parent:
            tid = parent[tid]
        return tid
    return {tid: process(tid) for tid in lines}


def moves(line):
    """(the descriptor, whether data came from it, bytes), for each one of the call, and when that began and ended."""
    match = MOVED.match(line)
    if not match or not int(match[5]):
        return
    begin = float(match[1])
    end = begin + float(match[6])
    for descriptor, is_read, n in moved(match[2], match[3] or "", match[4], int(match[5])):
        yield descriptor, is_read, n, begin, end


def moved(call, first, rest, n):
    if call in READS | WRITES:
        yield first, call in READS, n
    elif call in ("splice", "tee"):
        yield first, call == "splice", n
        yield re.findall(DESCRIPTOR, rest)[0], False, n
    elif call == "sendfile":  # to, from
        yield first, False, n
        yield re.findall(DESCRIPTOR, rest)[0], True, n
    elif call == "vmsplice":
        yield first, False, n


def place_of(descriptor, is_read):
    """The pipe; of a socket, the one where the data arrive: its address and that of the other end, or two inodes."""
    place = re.sub(r"^\d+<|>$", "", descriptor)
    match = SOCKET.match(place)
    if match:
        kind, here, there = match.groups()
        return f"{kind[:4]} {here} {there}" if is_read else f"{kind[:4]} {there} {here}"
    return place if place.startswith("pipe:[") or place.endswith("/ff") else None


def ends_of(prefix):
    """(pipe) -> (process) -> [bytes read, reads, bytes written, writes, first write, end of the last read]"""
    lines = logs(prefix)
    process = processes_of(lines)
    found = collections.defaultdict(lambda: collections.defaultdict(lambda: [0, 0, 0, 0, math.inf, 0]))
    for tid, of_thread in lines.items():
        for line in of_thread:
            for descriptor, is_read, n, begin, end in moves(line):
                place = place_of(descriptor, is_read)
                if place:
                    sums = found[place][process[tid]]
                    sums[0 if is_read else 2] += n
                    sums[1 if is_read else 3] += 1
                    if is_read:
                        sums[5] = max(sums[5], end)
                    else:
                        sums[4] = min(sums[4], begin)
    return found


def flows_of(ends):
    """Those that there are, and those of which it is not sure: the reader may have ended before the writer wrote."""
    wanted, unsure = collections.Counter(), collections.Counter()
    for place, of_pipe in ends.items():
        writers = {pid: end[2] for pid, end in of_pipe.items() if end[2]}
        readers = {pid: end[0] for pid, end in of_pipe.items() if end[0]}
        single = all(end[0] == end[1] and end[2] == end[3] for end in of_pipe.values())
        if single and writers.keys() & readers.keys():
            continue
        for writer, written in writers.items():
            for reader, read in readers.items():
                early = of_pipe[writer][4] - of_pipe[reader][5]  # the reader's end before the writer's begin
                if writer != reader and early < UNSURE:
                    known = read if len(writers) == 1 else written if len(readers) == 1 and \
                        sum(writers.values()) == read else None
                    (wanted if early < -UNSURE else unsure)[writer, reader, place, known] += 1
    return wanted, unsure


# ---- what was recorded ----

def recorded(run):
    rows = run.sql("SELECT w.pid, r.pid, f.path, l.bytes, l.via FROM flow l JOIN process w ON w.id = l.writer "
                   "JOIN process r ON r.id = l.reader JOIN file f ON f.id = l.via")
    places = places_of_sockets(run)
    return collections.Counter((writer, reader, places.get(via, path), n) for writer, reader, path, n, via in rows)


def places_of_sockets(run):
    """As strace writes them."""
    rows = run.sql("SELECT s.file, s.domain, s.type, s.local, s.remote, f.ino, (SELECT o.ino FROM socket_peer p JOIN file o "
                   "ON o.id = p.peer WHERE p.file = s.file) FROM socket s JOIN file f ON f.id = s.file ORDER BY s.time_ns")
    kinds = {"stream": "TCP", "dgram": "UDP"}
    return {file: f"UNIX {ino} {peer}" if domain == "unix" else f"{(kinds.get(kind, '') + 'v6' * (domain == 'inet6'))[:4]} {local} {remote}"
            for file, domain, kind, local, remote, ino, peer in rows}


def edges_of_pipes(run):
    done = subprocess.run([WFDAG, "--json", "--fold", run.db], capture_output=True, text=True, timeout=100, check=True)
    graph = json.loads(done.stdout)
    pid = {node["id"]: node.get("pid") for node in graph["nodes"]}
    edges = collections.defaultdict(list)
    for edge in graph["edges"]:
        if "pipe" in edge["kind"].split("|"):
            edges[pid[edge["source"]], pid[edge["target"]]].append(edge.get("bytes"))
    return edges


def check_edges(checks, name, run, flows):
    """Of pipes with one writer or one reader, each pair of processes has an edge, with the sum of the known bytes."""
    sides = collections.defaultdict(lambda: (set(), set()))
    for writer, reader, place, _ in flows:
        sides[place][0].add(writer)
        sides[place][1].add(reader)
    wanted = collections.defaultdict(list)
    for writer, reader, place, n in flows:
        if min(map(len, sides[place])) == 1:
            wanted[writer, reader].append(n)
    got = edges_of_pipes(run)
    checks.equal(f"{name}: edges of pipes", sorted(got), sorted(wanted))
    for pair in wanted.keys() & got.keys():
        known = [n for n in wanted[pair] if n is not None]
        checks.equal(f"{name}: bytes of the edge {pair}", got[pair], [sum(known) if known else None])


def check(checks, name, text):
    with tempfile.TemporaryDirectory(prefix="ftrac-case-") as directory:
        base = pathlib.Path(directory).resolve()
        base.chmod(0o755)  # a server may be another user's
        (base / "work").mkdir()
        run = InKernel(base)
        strace = ["strace", "-ff", "-yy", "-ttt", "-T", "-s", "0", "-e", f"trace={CALLS}", "-e", "signal=none", "-o", base / "log"]
        done = subprocess.run([*run.command("-q", "--strict"), *strace, "sh", "-c", text], cwd=base / "work", check=False,
                              capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL)
        checks.equal(f"{name}: exit status", (done.returncode, done.stderr), (0, ""))
        ends = ends_of(base / "log")
        (wanted, unsure), got = flows_of(ends), recorded(run)
        # Of the tracer itself and of what reads its output, strace says nothing.
        ours = {(w, r, place, n): count for (w, r, place, n), count in got.items() if place in ends}
        checks.equal(f"{name}: flows that only strace saw", sorted(map(str, wanted - collections.Counter(ours))), [])
        checks.equal(f"{name}: flows that only the trace has", sorted(map(str, collections.Counter(ours) - wanted - unsure)), [])
        if checks.failed:
            print(text)
        check_edges(checks, name, run, got)
        return len(wanted), sum(n is None for *_, n in wanted), sum(n or 0 for *_, n in wanted)


def check_replay(checks):
    """Waiting for a pipe is no work: the same run again takes as long as it took."""
    text = "(for i in 1 2 3 4 5 6; do echo $i; sleep 0.05; done) | (while read x; do sleep 0.01; echo $x; done) | cat >out"
    with tempfile.TemporaryDirectory(prefix="ftrac-case-") as directory:
        run = InKernel(directory)
        subprocess.run([*run.command("-q"), "sh", "-c", text], cwd=directory, check=True, timeout=100, stdin=subprocess.DEVNULL)
        done = subprocess.run([WFDAG, "whatif", "--format", "csv", "--cores", "2", run.db], capture_output=True, text=True, timeout=100, check=True)
        times = {row[0]: float(row[3]) for row in csv.reader(done.stdout.splitlines()[1:]) if row[0] in ("measured", "predicted")}
        checks.check("whatif: as long as it took", abs(times["predicted"] - times["measured"]) <= 0.05 * times["measured"], times)


# A connection and a datagram between ports that are the same in each run.
LOOPBACK = """
import os, socket, sys
ports = [int(word) for word in sys.argv[1:]]
here = [("127.0.0.1", port) for port in ports]
a = socket.socket(); a.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1); a.bind(here[0]); a.listen()
d = socket.socket(type=socket.SOCK_DGRAM); d.bind(("0.0.0.0", ports[2]))
if os.fork() == 0:
    c = socket.socket(); c.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1); c.bind(here[1]); c.connect(here[0])
    c.sendall(bytes(1000)); c.close()
    socket.socket(type=socket.SOCK_DGRAM).sendto(bytes(70), here[2])
    os._exit(0)
s, _ = a.accept()
while s.recv(100): pass
d.recv(100)
os.wait()
"""


def check_hosts(checks):
    """Traces of two hosts with the same loopback addresses: nothing flows from one to the other."""
    def free(kind):
        with socket.socket(type=kind) as one:
            one.bind(("127.0.0.1", 0))
            return str(one.getsockname()[1])
    ports = [free(socket.SOCK_STREAM), free(socket.SOCK_STREAM), free(socket.SOCK_DGRAM)]
    with tempfile.TemporaryDirectory(prefix="ftrac-case-") as base:
        runs = [InKernel(base, name) for name in ("a.db", "b.db")]
        for number, run in enumerate(runs):
            subprocess.run([*run.command("-q"), "python3", "-S", "-c", LOOPBACK, *ports], check=True, timeout=60)
            with contextlib.closing(sqlite3.connect(run.db)) as db, db:
                db.execute("UPDATE meta SET value = ? WHERE key = 'host'", (f"host{number}",))
        single, both = ([row.split(",") for row in subprocess.run([WFSTAT, "flow", "--csv", *paths], check=True, capture_output=True, text=True)
                         .stdout.splitlines()[1:]] for paths in ([runs[0].db], [run.db for run in runs]))
        processes = runs[0].sql("SELECT count(*) FROM process")[0][0]
        checks.equal("one host: flows", sorted(row[5] for row in single), ["1000", "70"])
        checks.equal("two hosts: flows", sorted(row[5] for row in both), ["1000", "1000", "70", "70"])
        checks.equal("two hosts: none from one to the other", [row for row in both if (int(row[0]) <= processes) != (int(row[2]) <= processes)], [])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=4)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10 ** 6))
    given = parser.parse_args()
    need_kernel()
    need("strace", "make", "socat", "parallel")
    checks = Checks()
    print(f"seed {given.seed}")
    texts = {f"fixed {i}": text for i, text in enumerate(FIXED)}
    texts |= {name: text for name, text in SYSTEMS.items() if shutil.which(name)}
    texts |= {f"random {given.seed + i}": Random(given.seed + i).text() for i in range(given.count)}
    texts |= {f"talkers {given.seed + i}": f"python3 -S {TALKERS} {given.seed + i}" for i in range(given.count)}
    sums = [check(checks, name, text) for name, text in texts.items()]
    flows, unknown, moved = map(sum, zip(*sums))
    print(f"{len(texts)} workflows, {flows} flows of {moved} bytes, {unknown} of unknown bytes")
    check_replay(checks)
    check_hosts(checks)
    checks.check("there was something to compare", flows > len(texts), flows)
    kernelleft.end(checks)


main()
