#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""--fidelity open, and files that are not recorded: data goes by the kernel alone, is right, and the
trace says what it does not know."""
import mmap
import os
import pathlib
import subprocess
import sys
import tempfile

from ftractest import FTRAC, Checks, Mount, need_fuse, skip

need_fuse()
if os.geteuid() != 0:
    skip("passing data through is for root")
checks = Checks()
MIB = 1 << 20
UNPRIVILEGED = 65534


def can_pass():
    with tempfile.TemporaryDirectory() as base:
        mnt = pathlib.Path(base, "mnt")
        mnt.mkdir()
        status = subprocess.run([FTRAC, "--no-record", "--fidelity", "open", mnt],
                                stderr=subprocess.DEVNULL).returncode
        if status == 0:
            subprocess.run(["fusermount3", "-u", mnt], check=True)
        return status == 0


if not can_pass():
    skip("this kernel passes nothing through (Linux 6.9 does)")


def daemon_bytes(mount):
    """Bytes that the daemon has read and written, whatever they were."""
    io = dict(line.split(": ") for line in open(f"/proc/{mount.pid}/io").read().splitlines())
    return int(io["rchar"]) + int(io["wchar"])


def write_and_read(mount, path, size=16 * MIB):
    data = os.urandom(MIB) * (size // MIB)
    before = daemon_bytes(mount)
    with open(mount(path), "wb") as f:
        f.write(data)
    with open(mount(path), "rb") as f:
        through = f.read()
    return data == through == path.read_bytes(), daemon_bytes(mount) - before


def as_user(command, uid):
    return subprocess.run(["sh", "-c", command], user=uid, group=uid, extra_groups=[],
                          check=False).returncode


def open_fidelity():
    with Mount("--fidelity", "open") as mount:
        work = mount.base / "work"
        work.mkdir()
        os.chmod(mount.base, 0o755)
        os.chmod(work, 0o777)
        same, moved = write_and_read(mount, work / "big")
        checks.check("what was written is read, on both sides", same)
        checks.check("data does not pass the daemon", moved < 2 * MIB, f"{moved} bytes did")
        stores(mount, work)
        suid(mount, work)
        appends(mount, work)
        special = open(mount("/proc/sys/kernel/ostype")).read()
        checks.equal("a file of /proc", special, open("/proc/sys/kernel/ostype").read())
        program = mount(work / "program")
        subprocess.run(["cp", "/bin/true", program], check=True)
        checks.equal("a program runs", subprocess.run([program]).returncode, 0)
        subprocess.run(["cat", mount(work / "big")], stdout=subprocess.DEVNULL, check=True)
        files_in_use(mount, work)
        mount.unmount()
        what_the_trace_says(mount, work)


def stores(mount, work):
    """A store through a mapping, as it is seen by stat and by others at once."""
    path = work / "mapped"
    path.write_bytes(bytes(8192))
    os.utime(path, ns=(10**18, 10**18))
    os.stat(mount(path))
    with open(mount(path), "r+b") as f, mmap.mmap(f.fileno(), 8192) as m:
        m[4096:4101] = b"hello"
        checks.equal("a store is read by an open file",
                     os.pread(f.fileno(), 5, 4096), b"hello")
        checks.check("and has changed the time", os.stat(mount(path)).st_mtime_ns > 10**18)
    checks.equal("and is in the source", path.read_bytes()[4096:4101], b"hello")


def suid(mount, work):
    for user, uid, kept in ("root", 0, 0o6755), ("another", UNPRIVILEGED, 0o755):
        path = work / f"suid-{user}"
        path.write_bytes(b"x")
        os.chown(path, UNPRIVILEGED, UNPRIVILEGED)
        os.chmod(path, 0o6755)
        as_user(f"echo more >> {mount(path)}", uid)
        checks.equal(f"bits after a write by {user}", os.stat(path).st_mode & 0o7777, kept)


def appends(mount, work):
    """Writers on both sides lose nothing."""
    path = work / "appended"
    path.touch()
    writers = [subprocess.Popen(["sh", "-c", f"for i in $(seq 500); do echo line >> {where}; done"])
               for where in (path, mount(path), mount(path))]
    for w in writers:
        w.wait()
    checks.equal("lines appended from both sides", path.read_bytes().count(b"line\n"), 1500)


def files_in_use(mount, work):
    """An unlinked file stays what it is, a second open of any kind joins the first."""
    path = mount(work / "joined")
    with open(path, "w+b") as f:
        f.write(b"0123456789")
        f.flush()
        with open(path, "rb") as g, open(path, "ab") as h:
            os.unlink(path)
            h.write(b"abc")
            h.flush()
            checks.equal("through three opens", g.read(), b"0123456789abc")
            os.ftruncate(f.fileno(), 4)
            checks.equal("its size", os.fstat(g.fileno()).st_size, 4)


def what_the_trace_says(mount, work):
    checks.equal("the fidelity of the run", mount.fact("fidelity"), "open")
    checks.equal("operations lost", mount.fact("ops_lost"), 0)
    big = str(work / "big")
    checks.equal("no read and no write is known",
                 mount.sql("SELECT count(*) FROM op WHERE path = ? AND name IN ('read', 'write')",
                           big), [(0,)])
    checks.check("handles say so", mount.sql(
        "SELECT count(*) > 1 AND min(fidelity = 'open') AND max(nread IS NULL AND bwrite IS NULL "
        "AND nseek IS NULL) FROM handle WHERE path = ?", big)[0][0])
    checks.equal("the process that made it", mount.sql(
        "SELECT created, assumed_write, nwrite FROM access WHERE path = ? AND created", big),
        [(1, 0, None)])
    checks.equal("cat is assumed to have read it", mount.sql(
        "SELECT a.assumed_read, a.assumed_write, a.nread FROM access a JOIN process p "
        "ON p.id = a.process WHERE a.path = ? AND p.comm = 'cat' AND a.opens", big), [(1, 0, None)])
    checks.equal("a file of /proc is exact", mount.sql(
        "SELECT DISTINCT fidelity, nread > 0 FROM handle WHERE path = '/proc/sys/kernel/ostype'"),
        [("exact", 1)])
    checks.equal("so is one with suid bits", mount.sql(
        "SELECT fidelity, nwrite FROM handle WHERE path = ?", str(work / "suid-root")), [("exact", 1)])
    checks.equal("a program was run", mount.sql(
        "SELECT executed, assumed FROM access WHERE path = ? AND executed", str(work / "program")),
        [(1, 0)])


def left_out(fidelity):
    with tempfile.TemporaryDirectory(prefix="ftrac-case-") as base:
        work = pathlib.Path(base, "work")
        (work / "scratch").mkdir(parents=True)
        with Mount("--fidelity", fidelity, "--exclude", f"{work}/scratch/*") as mount:
            same, moved = write_and_read(mount, work / "scratch" / "big")
            checks.check(f"{fidelity}: excluded data is right", same)
            checks.check(f"{fidelity}: and passes by the daemon", moved < 2 * MIB, moved)
            same, moved = write_and_read(mount, work / "kept")
            checks.check(f"{fidelity}: recorded data is right", same)
            checks.check(f"{fidelity}: and does not", moved > 16 * MIB, moved)
            os.rename(mount(work / "scratch" / "big"), mount(work / "moved"))
            with open(mount(work / "moved"), "rb") as f:
                f.read(100)
            mount.unmount()
            checks.equal(f"{fidelity}: what was moved out is recorded", mount.sql(
                "SELECT count(*) > 0, max(nread) > 0 FROM handle WHERE path = ?",
                str(work / "moved")), [(1, 1)])
            checks.equal(f"{fidelity}: nothing of what is left out is", mount.sql(
                "SELECT count(*) FROM op WHERE path LIKE ? AND name != 'rename'", f"{work}/scratch/%"), [(0,)])


open_fidelity()
for fidelity in "exact", "cached":
    left_out(fidelity)
sys.stdout.flush()
checks.end()
