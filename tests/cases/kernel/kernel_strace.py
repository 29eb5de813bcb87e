#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# serial: compares calls of threads that share descriptors with strace, whose clock orders them only on free processors
"""What is recorded in the kernel equals what strace saw of the same run, call for call."""
import collections
import os
import pathlib
import sys
import tempfile

import kernelleft
import kernelstrace
from ftractest import WORK, Checks, need, skip

need("strace", "make", "gcc", "git", "tar", "python3")
if not (WORK / "kernel_events").exists():
    skip("built without the record in the kernel")
checks = Checks()

HELLO = """
for i in 1 2 3 4; do printf 'int f%s(void) { return %s; }\\n' $i $i >f$i.c; done
printf 'int f1(void);\\nint main(void) { return f1(); }\\n' >main.c
printf 'prog: main.o f1.o f2.o f3.o f4.o\\n\\tgcc -o $@ $^\\n%%.o: %%.c\\n\\tgcc -c -o $@ $<\\n' >Makefile
"""
THREADS = """
import threading
def work(n):
    for i in range(50):
        with open(f"file{n}", "ab") as f:
            f.write(b"x" * (i + 1))
        with open(f"file{n}", "rb") as f:
            f.seek(i)
            f.read()
threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
[t.start() for t in threads]
[t.join() for t in threads]
"""

DEEP = """
import os
for i in range(300):
    os.mkdir("deep")
    os.chdir("deep")
with open("bottom", "w") as f:
    f.write("x")
with open("bottom") as f:
    f.read()
os.chdir("..")
with open("deep/bottom") as f:
    f.read()
os.unlink("deep/bottom")
"""

WORKLOADS = {
    "io": [WORK / "kernel_io"],
    "maps": [WORK / "kernel_maps"],
    "pipes": ["sh", "-c", "seq 1 3000 | sort -r | tee copy | head -n 5 >out 2>&1; wc -l <copy; ls /nonexistent || true; "
              "mkfifo $PWD/fifo; echo 5 >$PWD/fifo & cat $PWD/fifo"],
    "make": ["sh", "-c", HELLO + "make -j3 2>&1; ./prog; exit 0"],
    "git": ["sh", "-c", "git init -q . && for i in 1 2 3; do echo $i >f$i; done && git add . && "
            "git -c user.name=x -c user.email=x@y commit -qm one && git mv f1 f4 && git status && git log -p"],
    "tar": ["sh", "-c", "mkdir -p d/e && for i in $(seq 50); do echo $i >d/e/$i; done && tar cf t.tar d && "
            "mkdir out && tar xf t.tar -C out && cp -r d d2 && grep -r 7 d2 && rm -rf d out"],
    "places": ["sh", "-c", "mkdir -p a/b/c && echo x >a/b/c/f && exec 3<a/b/c/f && mv a/b a/z && cat a/z/c/f && cd a/z && "
               "cat c/f <&3 && rm c/f && cat /dev/fd/3; mkdir gone && cd gone && rmdir ../gone && ls; cat ../c/f; exit 0"],
    "mounts": ["unshare", "-m", "sh", "-c", "mkdir m n && mount -t tmpfs tmp m && echo 1 >m/f && mkdir m/d && "
               "mount --bind m/d n && echo 2 >n/g && cat m/d/g n/g m/f && mount -t tmpfs over m && echo 3 >m/h && "
               "cat m/h && umount m && cat m/f && mkdir m/etc && chroot m ls /; exit 0"],
    "deep": ["python3", "-c", DEEP],
    "python": ["python3", "-c", THREADS],
}


def check(name, scratch):
    work = scratch / f"{name}.work"
    work.mkdir()
    seen, events, _ = kernelstrace.run(name, WORKLOADS[name], work, scratch, checks)
    compared, equal = kernelstrace.compare(name, seen, events, checks)
    counts = events.counts
    print(f"{name}: {compared} calls compared one by one, {equal} equal; {len(seen)} threads; {counts}")
    checks.check(f"{name}: there was something to compare", compared > 100)
    checks.equal(f"{name}: calls that are equal", equal, compared)
    checks.equal(f"{name}: dropped", counts["dropped"] + counts["failed"] + counts["missed"], 0)
    checks.equal(f"{name}: submitted = received + dropped", counts["submitted"],
                 counts["received"] + counts["dropped"])


def mappings_end(scratch):
    """A handle ends with the last mapping of its file."""
    work = scratch / "ends.work"
    work.mkdir()
    _, events = kernelstrace.alone("ends", [WORK / "kernel_maps"], work, scratch)
    handles, opens, ends = {}, 0, {}
    for op, path, handle in events.order:
        if op == "create":
            opens += 1
            handles[handle] = path
        if op == "release":
            ends[handle] = opens
    begins = {handle: i + 1 for i, handle in enumerate(handles)}
    late = {handles[handle]: ends.get(handle) for handle, begin in begins.items()
            if not begin <= ends.get(handle, 999) <= begin + 1}
    print(f"ends: {len(handles)} files made and mapped")
    checks.check("ends: there was something to compare", len(handles) > 10)
    checks.equal("ends: handles that end later than with the next file but one", set(late), {"left", "moved"})


def asynchronous(scratch):
    """strace does not see the requests: the program says what it has asked for."""
    work = scratch / "async.work"
    work.mkdir()
    said, events = kernelstrace.alone("async", [WORK / "kernel_async"], work, scratch)
    wanted = [line.split("\t") for line in said.splitlines()]
    names = {path for *_, path in wanted}
    got = collections.Counter()
    for calls in events.calls.values():
        for call in calls:
            result, length = (0, 0) if call.op in ("create", "open") and call.result >= 0 else (call.result, call.length)
            for text in {call.text.decode().replace("\0", "\\x00")} if call.text else {
                    "" if path.startswith("socket:") else os.path.basename(path) for path in events.paths(call.path)}:
                if text in names:
                    got[call.op, str(length), str(call.offset), str(result), text] += 1
    missing = collections.Counter(map(tuple, wanted)) - got
    print(f"async: {len(wanted)} requests, {len(wanted) - missing.total()} recorded as they were asked for")
    checks.check("async: there was something to compare", len(wanted) > 20)
    checks.equal("async: requests that are not there", sorted(missing), [])


with tempfile.TemporaryDirectory() as top:
    for workload in sys.argv[1:] or WORKLOADS:
        check(workload, pathlib.Path(top).resolve())
    mappings_end(pathlib.Path(top).resolve())
    if (WORK / "kernel_async").exists():
        asynchronous(pathlib.Path(top).resolve())
kernelleft.end(checks)
