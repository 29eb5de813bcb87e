# SPDX-License-Identifier: MIT
"""Ways to run a workload: natively, through a mount, or under another tracer.

start(directory, scratch) gives the place where the work is to be done, wrap() what has to stand
before its command; stop() ends it all and gives what is known of the run: seconds of CPU of the
tracer, its peak memory, how long the trace took to be complete, what is in it.
"""
import os
import pathlib
import re
import resource
import shutil
import sqlite3
import subprocess
import sys
import time

import machine

# What ftrac takes down, as system calls.
TRACED_CALLS = ("%file,%process,read,write,pread64,pwrite64,readv,writev,preadv,pwritev,preadv2,"
                "pwritev2,close,fstat,fsync,fdatasync,ftruncate,fallocate,getdents64,sendfile,"
                "copy_file_range,flock,fchmod,fchown,mmap")


class System:
    """Nothing in between."""
    role = "native"
    limit_s = 600  # what takes longer is stuck
    foreign = False  # may be unable to do the work, which the command then prints

    def __init__(self, name, role=None, uring=False):
        self.name, self.uring = name, uring
        self.role = role or self.role

    def start(self, directory, scratch):
        return directory

    def wrap(self, command):
        return command

    def stop(self):
        return {}

    def times(self, begin, end):
        """What is known of the times of a run that we started and that ended then."""
        return {"seconds": round(end - begin, 6)}

    def abandon(self):
        """After a failure: nothing may be mounted later on."""


class Daemon(System):
    """A file system that serves in the foreground, as a child of ours."""
    process = None

    def abandon(self):
        if self.process and self.process.returncode is None:
            self.process.kill()
            self.process.wait()

    def arguments(self, directory, scratch):
        raise NotImplementedError

    def place(self, directory):
        return pathlib.Path(f"{self.mount}{directory}")

    def start(self, directory, scratch):
        machine.uring(self.uring)
        self.mount = scratch / "mnt"
        self.mount.mkdir()
        self.spawn(directory, scratch)
        return self.place(directory)

    def spawn(self, directory, scratch):
        self.log = scratch / "daemon.log"
        before = os.stat(self.mount).st_dev
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(self.arguments(directory, scratch),
                                            stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        while os.stat(self.mount).st_dev == before:
            if self.process.poll() is not None:
                sys.exit(f"bench: {self.name} did not start: {self.log.read_text().strip()}")
            time.sleep(0.005)

    def peak(self):
        """MB so far."""
        try:
            text = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        except OSError:
            return 0
        found = re.search(r"^VmHWM:\s+(\d+)", text, re.M)
        return int(found[1]) / 1e3 if found else 0

    def unmount(self):
        for _ in range(400):
            if subprocess.run(["umount", self.mount], stderr=subprocess.DEVNULL).returncode == 0:
                return time.monotonic()
            time.sleep(0.01)
        sys.exit(f"bench: the mount of {self.name} stays busy")

    def stop(self):
        peak = self.peak()
        since = self.unmount()
        while True:
            pid, status, usage = os.wait4(self.process.pid, os.WNOHANG)
            if pid:
                break
            peak = max(peak, self.peak())
            time.sleep(0.002)
        complete = time.monotonic() - since
        self.process.returncode = os.waitstatus_to_exitcode(status)
        return {"cpu_s": round(usage.ru_utime + usage.ru_stime, 4), "peak_MB": peak,
                "complete_s": round(complete, 4), **self.facts()}

    def facts(self):
        return {}


class Raw(Daemon):
    """passthrough_ll with the caches of a fidelity: the cost of FUSE itself."""
    role = "raw"
    foreign = True

    def __init__(self, program, fidelity, uring=False):
        super().__init__("passthrough_ll", uring=uring)
        self.program, self.cache = program, "auto" if fidelity == "cached" else "never"

    def arguments(self, directory, scratch):
        # A descriptor for each inode that the kernel knows, and it does not raise the limit itself.
        most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        return ["prlimit", f"--nofile={most}", self.program, "-f", "-o", f"source=/,cache={self.cache},timeout=1,xattr,clone_fd,"
                "max_threads=512,allow_other,default_permissions,dev,suid"
                + (",io_uring" if self.uring else ""), self.mount]


class Ftrac(Daemon):
    def __init__(self, fidelity, role, *options, uring=False):
        super().__init__(" ".join(["ftrac", fidelity, *options]), role, uring)
        self.options = ["--fidelity", fidelity, *options]
        if knows_uring():
            self.options += ["--io-uring", "on" if uring else "off"]

    def arguments(self, directory, scratch):
        self.db = scratch / "trace.db"
        return [machine.FTRAC, "-f", "--db", self.db, *self.options, self.mount]

    def facts(self):
        if self.process.returncode:
            sys.exit(f"bench: {self.name} ended with {self.process.returncode}: "
                     + self.log.read_text().strip()[-300:])
        if not self.db.exists():
            return {}
        facts = trace_facts(self.db)
        if facts["transport"] == "device" and self.uring:
            sys.exit(f"bench: {self.name} did not get io_uring: the log says "
                     + self.log.read_text().strip()[-300:])
        return facts


def knows_uring():
    return b"--io-uring" in subprocess.run([machine.FTRAC, "--help"], capture_output=True).stdout


def trace_facts(path):
    """What a trace says of its own making."""
    db = sqlite3.connect(path)
    said = dict(db.execute("SELECT key, value FROM trace"))
    sizes = dict(db.execute("SELECT name, sum(pgsize) FROM dbstat GROUP BY name"))
    indexes = {name for name, in db.execute("SELECT name FROM sqlite_schema WHERE type = 'index'")}
    rows, = db.execute("SELECT (SELECT count(*) FROM ops_handle) + (SELECT count(*) FROM ops_name)"
                       ).fetchone()
    db.close()
    if not said["complete"]:
        sys.exit(f"bench: '{path}' is not complete")
    return {"ops": said["ops_recorded"], "rows": rows,
            "lost": said["ops_lost"] + said["process_events_lost"],
            "transport": said.get("transport"), "files": said.get("files"),
            "dropped": said.get("kernel_dropped"), "tracer_cpu_s": round(said["tracer_cpu_ns"] / 1e9, 4),
            "db_bytes": os.path.getsize(path),
            "op_table_bytes": sizes.get("ops_handle", 0) + sizes.get("ops_name", 0),
            "index_bytes": sum(size for name, size in sizes.items() if name in indexes)}


class FtracRun(System):
    """ftrac run: what a user types; processes are followed by ptrace."""

    def __init__(self, fidelity):
        super().__init__(f"ftrac run, {fidelity}", f"run {fidelity}")
        self.fidelity = fidelity

    def start(self, directory, scratch):
        machine.uring(False)
        self.db = scratch / "trace.db"
        return directory

    def wrap(self, command):
        return [machine.FTRAC, "run", "-q", "--db", self.db, "--fidelity", self.fidelity, "--",
                *command]

    def stop(self):
        return trace_facts(self.db)


class Strace(System):
    role = "strace"
    foreign = True

    def __init__(self, *options):
        super().__init__(" ".join(["strace -f", *options]), " ".join(["strace", *options]))
        self.options = options

    def start(self, directory, scratch):
        self.log = scratch / "strace.log"
        return directory

    def wrap(self, command):
        return ["strace", "-f", *self.options, "-qq", "-ttt", "-T", "-o", self.log,
                "-e", "trace=" + TRACED_CALLS, "-e", "signal=none", *command]

    def stop(self):
        with open(self.log, "rb") as log:
            return {"ops": sum(1 for _ in log), "db_bytes": os.path.getsize(self.log)}


class Loggedfs(Daemon):
    """Mounts over the directory itself."""
    role = "loggedfs"
    foreign = True

    def __init__(self):
        super().__init__("LoggedFS")

    def start(self, directory, scratch):
        machine.uring(False)
        self.mount, self.lines = directory, scratch / "loggedfs.log"
        self.spawn(directory, scratch)
        return directory

    def arguments(self, directory, scratch):
        return ["loggedfs", "-f", "-p", "-l", self.lines, directory]

    def facts(self):
        with open(self.lines, "rb") as log:
            return {"ops": sum(1 for _ in log), "db_bytes": os.path.getsize(self.lines)}


class Reprozip(System):
    role = "reprozip"
    foreign = True
    limit_s = 40  # GNU make stays stopped under its ptrace on some kernels

    def __init__(self):
        super().__init__("ReproZip")

    def start(self, directory, scratch):
        self.trace = scratch / "reprozip"
        os.environ["REPROZIP_USAGE_STATS"] = "off"
        return directory

    def wrap(self, command):
        return ["reprozip", "trace", "-w", "-d", self.trace, "--dont-identify-packages",
                "--dont-find-inputs-outputs", *command]

    def stop(self):
        return {"db_bytes": os.path.getsize(self.trace / "trace.sqlite3")}


class Group:
    """Systems that are compared with each other, so they run right after each other."""

    def __init__(self, fidelity, uring, members):
        self.fidelity, self.uring = fidelity, uring
        self.members = [System("native"), *members]
        self.name = f"{fidelity}{' io_uring' if uring else ''}"


def group_of(fidelity, uring, raw_program, no_ops=True):
    raw = [Raw(raw_program, fidelity, uring)] if fidelity != "open" else []
    plain = [Ftrac(fidelity, "no-record", "--no-record", uring=uring)]
    if no_ops:
        plain.append(Ftrac(fidelity, "no-ops", "--no-ops", uring=uring))
    return Group(fidelity, uring, [*raw, *plain, Ftrac(fidelity, "ftrac", uring=uring)])


def others():
    """What a user would take instead; those that are here."""
    members = []
    for uring in [False, True] if machine.has_uring() and knows_uring() else [False]:
        for fidelity in "exact", "cached":
            members.append(Ftrac(fidelity, f"ftrac {fidelity}{' io_uring' if uring else ''}", uring=uring))
            members[-1].name = members[-1].role
    members.append(FtracRun("exact"))
    if shutil.which("strace"):
        members += [Strace(), Strace("--seccomp-bpf")]
    if shutil.which("loggedfs"):
        members.append(Loggedfs())
    if shutil.which("reprozip"):
        members.append(Reprozip())
    return Group("others", False, members)
