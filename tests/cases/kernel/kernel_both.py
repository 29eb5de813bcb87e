#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# serial: compares calls of threads that share descriptors with strace, whose clock orders them only on free processors
# seconds: 30
"""A mount with fidelity call (ftrac run --files both): the calls on its files equal what strace saw of the same run, one by
one; bytes, too; nothing is dropped or recorded twice, and no program remains in the kernel."""
import collections
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

import kernelleft
import kernelstrace
from ftractest import FTRAC, WORK, Checks, InKernel, Mount, for_everybody, has_fidelity, need, need_fuse, need_kernel, skip

# What the programs in the kernel record; the rest are requests.  Of munmap(2) and msync(2) strace does not show the file.
RECORDED = {"read", "write", "copy", "sendfile", "splice", "lseek", "close", "dup", "fcntl", "mmap"}
DATA = {"read", "write"}
UNPRIVILEGED = 65534

HELLO = """
for i in 1 2 3; do printf 'int f%s(void) { return %s; }\\n' $i $i >f$i.c; done
printf 'int f1(void);\\nint main(void) { return f1() - 1; }\\n' >main.c
printf 'prog: main.o f1.o f2.o f3.o\\n\\tgcc -o $@ $^\\n%%.o: %%.c\\n\\tgcc -c -o $@ $<\\n' >Makefile
make -j3 2>&1; ./prog
"""
THREADS = """
import mmap, threading
def work(n):
    for i in range(40):
        with open(f"file{n}", "ab") as f:
            f.write(b"x" * (i + 1))
        with open(f"file{n}", "rb") as f:
            f.seek(i)
            f.read()
            mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ)[0]
threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
[t.start() for t in threads]
[t.join() for t in threads]
"""
WORKLOADS = {
    "io": [WORK / "kernel_io"],
    "pipes": ["sh", "-c", "seq 1 3000 | sort -r | tee copy | head -n 5 >out 2>&1; wc -l <copy; cat copy out >all; tail -n 3 all"],
    "make": ["sh", "-c", HELLO],
    "git": ["sh", "-c", "git init -q . && for i in 1 2 3; do echo $i >f$i; done && git add . && "
            "git -c user.name=x -c user.email=x@y commit -qm one && git mv f1 f4 && git status && git log -p"],
    "tar": ["sh", "-c", "mkdir -p d/e && for i in $(seq 40); do echo $i >d/e/$i; done && tar cf t.tar d && "
            "mkdir out && tar xf t.tar -C out && cp -r d d2 && grep -r 7 d2 && rm -rf d out"],
    "python": ["python3", "-c", THREADS],
}


class Recorded:
    """The rows of a trace, by thread."""

    def __init__(self, mount):
        self.calls = collections.defaultdict(list)
        self.names = collections.defaultdict(set)
        for file, path in mount.sql("SELECT file, path FROM name"):
            self.names[file].add(path)
        for tid, name, path, file, offset, length, result, latency in mount.sql(
                "SELECT tid, name, path, file, offset, length, result, latency_ns FROM op ORDER BY id"):
            if name in RECORDED and not (name == "close" and not latency):  # one of those of close_range(2)
                paths = {path} | self.names[file]
                self.calls[tid].append((name, paths, length, offset, result))


def wanted(seen, mnt):
    """Of strace's calls those on files of the mount, with paths as in the source."""
    calls = {tid: [] for tid in seen}
    for tid, all_of_it in seen.items():
        names_only = set()
        for call in all_of_it:
            if call.op == "open" and (call.flags or 0) & kernelstrace.FLAGS["O_PATH"]:
                names_only.add(call.result)
            if call.op == "close" and (fd := kernelstrace.number(call.line.split("(", 1)[1])) in names_only:
                names_only.discard(fd)  # such a descriptor is none of an open file
                continue
            path = next((path[len(mnt):] for path in (call.path, call.source) if path and path.startswith(f"{mnt}/")), None)
            if call.op in RECORDED and path:
                calls[tid].append((call, path))
    return calls


def is_same(call, path, row):
    op, paths, length, offset, result = row
    if (call.op, call.result) != (op, result):
        return False
    names = {os.path.basename(path) for path in paths}
    if path not in paths and os.path.basename(path) not in names and not (
            path.endswith("//") and any(name.startswith("#") for name in names)):  # O_TMPFILE
        return False
    return call.op not in DATA or (call.length == length and call.offset in (None, offset))


def compare(checks, name, seen, recorded):
    compared = equal = 0
    for tid in sorted(seen):
        a, b = seen[tid], recorded.calls.get(tid, [])
        same = sum(is_same(*x, y) for x, y in zip(a, b))
        compared, equal = compared + max(len(a), len(b)), equal + same
        if same == len(a) == len(b):
            continue
        wrong = next((i for i, (x, y) in enumerate(zip(a, b)) if not is_same(*x, y)), min(len(a), len(b)))
        print(f"{name}: thread {tid}, {len(a)} calls seen, {len(b)} recorded; the first that differs is {wrong}:")
        for i in range(max(0, wrong - 1), wrong + 3):
            print(f"    seen      {a[i][0].line if i < len(a) else '-'}")
            print(f"    recorded  {b[i] if i < len(b) else '-'}")
    print(f"{name}: {compared} calls compared one by one, {equal} equal; {len(seen)} threads")
    checks.check(f"{name}: there was something to compare", compared > 20)
    checks.equal(f"{name}: calls that are equal", equal, compared)
    return compared


def nothing_lost(checks, name, mount):
    checks.equal(f"{name}: facts", [mount.fact(key) for key in ("files", "fidelity", "complete", "ops_lost")],
                 ["both", "call", 1, 0])
    checks.equal(f"{name}: submitted = received", mount.fact("kernel_submitted"), mount.fact("kernel_received"))
    checks.equal(f"{name}: other fidelities", mount.sql("SELECT fidelity, count(*) FROM handle WHERE fidelity <> 'call' GROUP BY 1"), [])


def bytes_of(checks, name, seen, mount):
    """The totals of handles."""
    sums = collections.Counter()
    for calls in seen.values():
        for call, _ in calls:
            if call.op in DATA and call.result > 0:
                sums[call.op] += call.result
    rows = mount.sql("SELECT coalesce(sum(CASE WHEN name = 'read' THEN bytes END), 0), "
                     "coalesce(sum(CASE WHEN name = 'write' THEN bytes END), 0) FROM op WHERE tid IN "
                     f"({','.join(map(str, seen))})")[0]
    checks.equal(f"{name}: bytes of reads and writes", rows, (sums["read"], sums["write"]))
    totals = mount.sql("SELECT sum(bread), sum(bwrite) FROM handle")[0]
    moved = mount.sql("SELECT coalesce(sum(bytes), 0) FROM op WHERE name IN ('copy', 'sendfile', 'splice')")[0][0]
    checks.check(f"{name}: bytes of handles", rows[0] <= totals[0] and rows[1] <= totals[1] <= rows[1] + moved, (totals, rows, moved))


def straced(checks, name):
    with tempfile.TemporaryDirectory() as scratch, Mount("--fidelity", "call") as mount:
        work = mount.base / "work"
        work.mkdir()
        prefix = pathlib.Path(scratch) / "strace"
        here = mount(work)
        subprocess.run(kernelstrace.strace(prefix, WORKLOADS[name]), cwd=here, stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False, timeout=300)
        seen = wanted(kernelstrace.read_strace(prefix, here), str(mount.mnt))  # looks into scripts
        mount.unmount()
        nothing_lost(checks, name, mount)
        compare(checks, name, seen, Recorded(mount))
        bytes_of(checks, name, seen, mount)


def asynchronous(checks):
    """strace does not see the requests: the program says what it has asked for."""
    with Mount("--fidelity", "call") as mount:
        work = mount.base / "work"
        work.mkdir()
        said = subprocess.run([WORK / "kernel_async"], cwd=mount(work), capture_output=True, text=True, check=True).stdout
        mount.unmount()
        asked = [line.split("\t") for line in said.splitlines()]
        asked = collections.Counter((op, int(length), int(offset), int(result), path) for op, length, offset, result, path in asked
                                    if op in DATA and path.endswith(".dat"))
        got = collections.Counter((op, length, offset, result, os.path.basename(path)) for op, length, offset, result, path in
                                  mount.sql("SELECT name, length, offset, result, path FROM op WHERE name IN ('read', 'write')"))
        print(f"async: {asked.total()} requests that move data, {(asked & got).total()} recorded as they were asked for")
        checks.check("async: there was something to compare", asked.total() > 10, asked)
        checks.equal("async: requests that are not there", sorted(asked - got), [])
        pids = mount.sql("SELECT count(DISTINCT process), count(*) - count(process) FROM op WHERE name IN ('read', 'write')")[0]
        checks.equal("async: processes of the requests", pids, (1, 0))
        nothing_lost(checks, "async", mount)


def shared(checks):
    """Descriptors that are closed while other threads read by them: each read has its file and its handle."""
    with Mount("--fidelity", "call") as mount:
        (mount.base / "file").write_text("x")
        done = int(subprocess.run([WORK / "kernel_shared", mount(mount.base / "file")], capture_output=True, text=True,
                                  check=True).stdout)
        mount.unmount()
        rows, named, handles = mount.sql("SELECT count(*), count(path), count(handle) FROM op WHERE name = 'read' AND result >= 0")[0]
        checks.equal("reads by shared descriptors", (rows, named, handles), (done, done, done))
        checks.equal("sum of their handles", mount.sql("SELECT sum(nread) FROM handle")[0][0], done)
        checks.check("there was something to read", done > 1000, done)
        nothing_lost(checks, "shared", mount)
        print(f"shared: {done} reads by descriptors that were closed meanwhile")


MAPPED = """
import mmap, os, sys
f = os.open("mapped", os.O_RDWR)
m = mmap.mmap(f, 8192)
os.close(f)
m[0] = 65
m.flush()
m.close()
os.write(1, b"done")
"""


def others(checks):
    """Whatever process uses the mount: a descriptor that was inherited, a mapping behind its descriptor."""
    with Mount("--fidelity", "call") as mount:
        work = mount.base / "work"
        work.mkdir()
        (work / "mapped").write_bytes(bytes(8192))
        here = mount(work)
        with open(here / "inherited", "w", encoding="ascii") as out:
            subprocess.run(["sh", "-c", "echo one; (echo two)"], cwd="/", stdout=out, check=True)
        subprocess.run(["python3", "-c", MAPPED], cwd=here, check=True, stdout=subprocess.DEVNULL)
        mount.unmount()
        rows = mount.sql("SELECT p.command, o.offset, o.bytes FROM op o JOIN process p ON p.id = o.process "
                         "WHERE o.name = 'write' AND o.path GLOB '*/inherited' ORDER BY o.id")
        checks.equal("writes to a descriptor that was inherited", [row[1:] for row in rows], [(0, 4), (4, 4)])
        checks.check("and their process", all("echo one" in row[0] for row in rows), rows)
        rows = mount.sql("SELECT name, path FROM op WHERE name IN ('mmap', 'msync', 'munmap') AND path GLOB '*/mapped' ORDER BY id")
        checks.equal("calls about a mapping", [row[0] for row in rows], ["mmap", "msync", "munmap"])
        touch = mount.sql("SELECT mapped, assumed FROM access WHERE path GLOB '*/mapped'")
        checks.check("the mapping is known", touch and touch[0][0] == 1, touch)


def runs(checks):
    """ftrac run: options, the summary, the trace."""
    with tempfile.TemporaryDirectory(prefix="ftrac-case-") as base:
        place = InKernel(base)
        work = ["sh", "-c", "echo abc >file; cat file; exit 4"]
        for options, files in (((), "both"), (("--fidelity", "call"), "mount")):
            done = subprocess.run([*place.command(*options, files=files), *work], cwd=base, capture_output=True, text=True, check=False)
            last = done.stderr.splitlines()[-1]
            checks.equal(f"{files}: status and output", (done.returncode, done.stdout), (4, "abc\n"))
            checks.check("the summary names the sources", "files by the mount and the kernel (call)" in last, last)
            nothing_lost(checks, "run", place)
            checks.equal("reads and writes", place.sql("SELECT name, offset, bytes FROM op WHERE name IN ('read', 'write') ORDER BY id"),
                         [("write", 0, 4), ("read", 0, 4), ("read", 4, 0)])
            layers = dict(place.sql("SELECT layer, group_concat(DISTINCT name) FROM (SELECT layer, name FROM op ORDER BY name) GROUP BY layer"))
            checks.check("what the kernel reports is a call", {"read", "write", "close"} <= set(layers["call"].split(",")), layers)
            checks.check("what the mount was asked is a request", {"lookup", "open", "release"} <= set(layers["request"].split(",")) and
                         not {"read", "write", "close", "dup", "lseek", "mmap"} & set(layers["request"].split(",")), layers)
            checks.equal("nothing twice", place.sql("SELECT count(*) FROM op WHERE name = 'flush'")[0][0], 0)
        for options, why in ((("--fidelity", "exact"), "--files both records with --fidelity call"),
                             (("--processes", "kernel"), "--processes kernel goes with --files kernel")):
            done = subprocess.run([*place.command(*options, files="both"), "true"], cwd=base, capture_output=True, text=True, check=False)
            checks.check(f"{options} is refused", done.returncode == 125 and why in done.stderr and done.stderr.count("\n") == 1,
                         (done.returncode, done.stderr))


def refused(checks):
    """Without the capabilities: one line, and no trace."""
    user = {"user": UNPRIVILEGED, "group": UNPRIVILEGED, "extra_groups": []}
    with tempfile.TemporaryDirectory(prefix="ftrac-case-", dir="/var/tmp") as base:
        os.chmod(base, 0o777)
        os.mkdir(f"{base}/mnt")
        os.chown(f"{base}/mnt", UNPRIVILEGED, UNPRIVILEGED)
        db = pathlib.Path(base) / "t.db"
        drop = ["setpriv", "--bounding-set", "-bpf,-perfmon,-sys_admin"]
        ftrac = for_everybody(FTRAC)
        mount = [ftrac, "--fidelity", "call", "--db", db, f"{base}/mnt"]
        run = [ftrac, "run", "--files", "both", "--db", db, "--", "true"]
        why = "CAP_BPF and CAP_PERFMON are missing"
        cases = [("root without them", [*drop, *mount], {}, why), ("root without them, a view", [*drop, *run], {}, why),
                 ("root without CAP_SYS_ADMIN, a view", ["setpriv", "--bounding-set", "-sys_admin", *run], {},
                  "cannot make a mount namespace")]
        for command in (mount, run):  # a user that may not open the device is told that
            cases.append(("a user", command, user, why if os.stat("/dev/fuse").st_mode & 0o6 == 0o6 else "/dev/fuse"))
        for name, command, options, reason in cases:
            done = subprocess.run(command, cwd=base, capture_output=True, text=True, check=False, timeout=60, **options)
            checks.check(f"{name}: one line, and no trace", done.returncode != 0 and not db.exists() and
                         len(done.stderr.splitlines()) == 1 and reason in done.stderr, (done.returncode, done.stderr))


def ends(checks):
    """Programs are in the kernel while there is the mount, and not longer, however it ends."""
    if os.geteuid() != 0:
        return
    for kill in (False, True):
        with Mount("--fidelity", "call") as mount:
            (mount(mount.base) / "file").write_text("x")
            checks.check("programs in the kernel with a mount", kernelleft.of_this_case()[1])
            if kill:
                os.kill(mount.pid, signal.SIGKILL)
                os.waitpid(mount.pid, 0)
                mount.pid = None
                subprocess.run(["umount", "-l", str(mount.mnt)], check=True)
            else:
                mount.unmount()
        kernelleft.nothing_left(checks, "after a kill" if kill else "after an unmount")


def need_passthrough():
    """Without it the case is skipped, and says by which line ftrac refuses."""
    if has_fidelity("open"):
        return
    with tempfile.TemporaryDirectory(prefix="ftrac-case-") as base:
        done = subprocess.run([*InKernel(base).command(files="both"), "true"], capture_output=True, text=True, check=False,
                              timeout=60)
        lines = done.stderr.splitlines()
        assert done.returncode == 125 and len(lines) == 1 and "6.9 is needed" in lines[0], done
        assert not os.listdir(base), os.listdir(base)
        skip(lines[0])


PARTS = {part.__name__: part for part in (asynchronous, shared, others, runs, refused, ends)}


def main():
    need_fuse()
    need_kernel()
    need_passthrough()
    need("strace", "make", "gcc", "git", "tar", "python3")
    checks = Checks()
    for name in sys.argv[1:] or [*WORKLOADS, *PARTS]:
        if name in WORKLOADS:
            straced(checks, name)
        elif name != "asynchronous" or (WORK / "kernel_async").exists():
            PARTS[name](checks)
    kernelleft.end(checks)


if __name__ == "__main__":
    main()
