#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 5
"""What a machine may run out of: disk, a disk that becomes read-only, descriptors, memory, size
of files.  The application goes on, the trace is sound and says what is missing.  (A full disk in all
details: disk_full.py.)"""
import errno
import os
import resource
import shutil
import signal
import subprocess
import tempfile
import threading

from ftractest import FTRAC, Checks, Mount, need_fuse, skip

PROCMON = os.path.abspath(os.environ.get("PROCMON", "build/procmon/procmon"))
WFDAG = os.path.abspath(os.environ.get("WFDAG", "build/dag/wfdag"))

FILE_BYTES = 300000  # more than a trace without rows, less than one with them
FILES = 300


def work(checks, label, mount, name="file"):
    """Enough operations for some batches; each byte is looked at."""
    top = mount(mount.base)
    wrong = 0
    for i in range(FILES):
        (top / f"{name}{i}").write_text(f"{i}\n" * 50)
        wrong += (top / f"{name}{i}").read_text() != f"{i}\n" * 50
    checks.equal(f"{label}: what was written is read", wrong, 0)
    checks.equal(f"{label}: natively, too", sum((mount.base / f"{name}{i}").read_text() != f"{i}\n" * 50
                                                for i in range(FILES)), 0)


def end(checks, label, mount, stops):
    """stops: recording must have stopped; None: it may."""
    mount.take_away()
    pid, mount.pid = mount.pid, None
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    checks.equal(f"{label}: sound", mount.sql("PRAGMA integrity_check"), [("ok",)])
    facts = dict(mount.sql("SELECT key, value FROM trace"))
    if stops is not None:
        checks.equal(f"{label}: complete", facts["complete"], 0 if stops else 1)
    checks.equal(f"{label}: status of the daemon", status, 0 if facts["complete"] else 1)
    checks.equal(f"{label}: the count of operations", mount.sql("SELECT count(*) FROM op")[0][0],
                 facts["ops_recorded"])
    print(f"{label}: {facts['ops_recorded']} operations recorded, {facts['ops_lost']} lost, "
          f"{facts.get('recording_error') or 'complete'}", flush=True)
    return facts


class Small:
    """A small file system of its own for the trace, ext4 in a file or tmpfs."""

    def __init__(self, kind):
        self.kind, self.top = kind, tempfile.mkdtemp(prefix="ftrac-case-")

    def __enter__(self):
        if self.kind == "tmpfs":
            command = ["mount", "-t", "tmpfs", "-o", "size=600k", "small", self.top]
        else:
            self.image = f"{self.top}.img"
            with open(self.image, "wb") as f:
                f.truncate(24 << 20)
            subprocess.run(["mkfs.ext4", "-q", self.image], check=True)
            command = ["mount", "-o", "loop", self.image, self.top]
        if subprocess.run(command, stderr=subprocess.DEVNULL, check=False).returncode:
            os.rmdir(self.top)
            return None
        return self.top

    def __exit__(self, *exception):
        if os.path.ismount(self.top):
            subprocess.run(["umount", self.top], check=True)
            os.rmdir(self.top)
        if self.kind != "tmpfs":
            os.unlink(self.image)


def full(checks):
    with Small("tmpfs") as top:
        with Mount(db=f"{top}/trace.db") as mount:
            work(checks, "full", mount)
            facts = end(checks, "full", mount, True)
            checks.check("full: why", "full" in facts["recording_error"], facts)


def read_only(checks):
    """As a kernel does with a file system that it finds damaged: nothing can be written any more.
    It is the one way in which not even the last words can be."""
    with Small("ext4") as top:
        if not top:
            print("read-only: no ext4 in a file can be mounted here")
            return
        with Mount(db=f"{top}/trace.db") as mount:
            work(checks, "read-only", mount)
            subprocess.run(["mount", "-o", "remount,abort", top], stderr=subprocess.DEVNULL,
                           check=False)
            work(checks, "read-only", mount)
            mount.take_away()
            pid, mount.pid = mount.pid, None
            status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            checks.equal("read-only: status of the daemon", status, 1)
        print("read-only: the application went on")


def figures(pid):
    """Of the daemon, in bytes: VmPeak, VmData ..."""
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        return {line.split(":")[0]: int(line.split()[1]) * 1024 for line in f if line.startswith("Vm")}


def limit_of(pid, name):
    """In force, as the kernel has it: a daemon with the right to it raises some of its limits."""
    with open(f"/proc/{pid}/limits", encoding="ascii") as f:
        word = next(line for line in f if line.startswith(name))[len(name):].split()[0]
    return float("inf") if word == "unlimited" else int(word)


def descriptors(checks):
    """Fewer than files that the kernel remembers, so those of inodes are let go and come back."""
    with Mount(prefix=["prlimit", "--nofile=192:192"]) as mount:
        limit = limit_of(mount.pid, "Max open files")
        most = 0
        for i in range(FILES):
            (mount(mount.base) / f"before{i}").write_text("x")
            most = max(most, len(os.listdir(f"/proc/{mount.pid}/fd")))
        print(f"descriptors: limit {limit}, at most {most} were open, of {FILES} files")
        checks.check("descriptors: the limit is in force, and less than there are files",
                     most <= limit == 192 < FILES, (limit, most))
        checks.check("descriptors: as many as are to serve inodes were open", most > limit / 3, most)
        work(checks, "descriptors", mount)
        end(checks, "descriptors", mount, False)


def sizes(checks):
    with Mount(prefix=["prlimit", f"--fsize={FILE_BYTES}:{FILE_BYTES}"]) as mount:
        limit = limit_of(mount.pid, "Max file size")
        work(checks, "size of files", mount)
        # With the right to it, the daemon has raised the limit: it is not that of the writers.
        facts = end(checks, "size of files", mount, limit == FILE_BYTES)
        print(f"size of files: limit {limit}, {facts['ops_lost']} operations not recorded")
        checks.check("size of files: why", limit > FILE_BYTES or "ulimit -f" in facts["recording_error"], facts)


def small_files(checks):
    """Files of the programs themselves grow beyond the limit: a word, no signal, and nothing is left."""
    with tempfile.TemporaryDirectory(prefix="ftrac-case-") as top:
        def run(limit, *command):
            done = subprocess.run(["prlimit", f"--fsize={limit}:{limit}", *command], cwd=top, text=True,
                                  capture_output=True, timeout=60, stdin=subprocess.DEVNULL)
            return done.returncode, done.stdout, done.stderr.splitlines()

        def refused(name, status, got):
            checks.check(f"{name}: one line that says why", got[0] == status and not got[1] and len(got[2]) == 1
                         and ("ulimit -f" in got[2][0] or "Input/output error" in got[2][0]
                              or "File too large" in got[2][0]), got)

        refused("procmon", 125, run(30000, PROCMON, "sh", "-c", "echo ran"))
        refused("ftrac run", 125, run(100000, os.path.abspath(FTRAC), "run", "sh", "-c", "echo ran"))
        checks.equal("nothing is left of them", os.listdir(top), [])
        # What is given to the command is its own: its signal, too.
        checks.equal("procmon: the command has the limit, and what it does",
                     run(4 << 20, PROCMON, "sh", "-c", "head -c 5000000 /dev/zero >big")[0], 128 + signal.SIGXFSZ)
        os.remove(f"{top}/big")
        got = run(20000, WFDAG, "--dot", "-o", "out.dot", "trace.db")
        print("small files: wfdag:", *got[2])
        checks.check("wfdag: it fits, or wfdag says why not", got[0] == 0 or "File too large" in got[2][-1], got)
        refused("wfdag", 1, run(100, WFDAG, "--dot", "-o", "other.dot", "trace.db"))
        checks.equal("no part of a file is left", [name for name in os.listdir(top) if "other" in name], [])


def address_space(checks):
    """Room for some threads only: these serve all, and no program notices."""
    peaks, limit = [], 420 << 20
    for words in [], ["prlimit", f"--as={limit}:{limit}"]:
        with Mount(prefix=words) as mount:
            many = [threading.Thread(target=work, args=(checks, "address space", mount, f"client{i}."))
                    for i in range(8)]
            for one in many:
                one.start()
            for one in many:
                one.join()
            peaks.append(figures(mount.pid)["VmPeak"])
            end(checks, "address space", mount, False)
    print(f"address space: {peaks[0] >> 20} MiB without a limit, {peaks[1] >> 20} MiB with one of 420")
    checks.check("address space: less than it takes otherwise", peaks[1] <= limit < peaks[0], peaks)


def make_until_refused(mount):
    """(made, refused, the errors): files of long names, each of which takes memory."""
    refused, errors, top = 0, set(), mount(mount.base)
    for i in range(12000):
        try:
            os.mknod(f"{top}/{'long' * 50}{i}")
        except OSError as e:
            refused, errors = refused + 1, errors | {e.errno}
            if refused == 20:
                break
    return i + 1 - refused, refused, errors


def memory(checks):
    """No memory any more, in the middle: ftrac refuses what it cannot do, and counts what it cannot record."""
    with Mount() as mount:
        work(checks, "memory", mount)
        room = figures(mount.pid)["VmData"] + (256 << 10)
        resource.prlimit(mount.pid, resource.RLIMIT_DATA, (room, resource.RLIM_INFINITY))
        made, refused, errors = make_until_refused(mount)
        left = room - figures(mount.pid)["VmData"]
        checks.check("memory: only that error", errors <= {errno.ENOMEM}, errors)
        there = sum(name.startswith("longlong") for name in os.listdir(mount.base))
        checks.equal("memory: those that were made are there, and no others", there, made)
        resource.prlimit(mount.pid, resource.RLIMIT_DATA, (resource.RLIM_INFINITY,) * 2)
        work(checks, "memory again", mount)
        facts = end(checks, "memory", mount, None)
        print(f"memory: {left >> 10} KiB of the limit were left; {made} files made, {refused} refused")
        checks.check("memory: there was none", left < 1 << 20 and (refused or not facts["complete"]),
                     (left, refused, facts))
        # Recording stopped, or single operations had no room and are counted.
        why = facts.get("recording_error", "") or ""
        checks.check("memory: why", facts["complete"] or facts["ops_lost"] or "out of memory" in why, facts)


def main():
    need_fuse()
    if os.geteuid() != 0:
        skip("small file systems can be mounted by root only")
    checks = Checks()
    full(checks)
    if shutil.which("mkfs.ext4"):
        read_only(checks)
    descriptors(checks)
    sizes(checks)
    small_files(checks)
    address_space(checks)
    memory(checks)
    checks.end()


if __name__ == "__main__":
    main()
