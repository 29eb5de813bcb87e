#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# serial: switches io_uring of FUSE on and off for the machine
# seconds: 6
"""Requests come by io_uring where that is safe, else by the device; with the same results and records.

Switches fuse.enable_uring, which is of the whole machine, as it needs it, and back at the end. In a mount
namespace of its own, where no other ftrac is mounted.
"""
import errno
import json
import mmap
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import ftractest
from ftractest import WORK, Checks, Mount, fidelities, need_fuse, skip, unmounted
from sides import compare, result, whole

SWITCH = pathlib.Path("/sys/module/fuse/parameters/enable_uring")
JOBS = 8


def alone():
    """Once more, without the mounts of others."""
    if os.environ.get("FTRAC_CASE_ALONE"):
        return
    os.environ["FTRAC_CASE_ALONE"] = "1"
    os.execvp("unshare", ["unshare", "-m", "--propagation", "private", sys.executable,
                          os.path.abspath(sys.argv[0])])


def hide_others():
    for line in pathlib.Path("/proc/self/mounts").read_text().splitlines():
        if line.split()[2] == "fuse.ftrac":
            subprocess.run(["umount", "-l", line.split()[1]], check=True)


def ftrac(*words):
    return subprocess.run([ftractest.FTRAC, *map(str, words)], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=60)


def refused(fact, words, *options):
    """--io-uring on is, in one line; and auto goes by the device."""
    # Not of /: should it not be refused, what is removed at the end must be of no use.
    for command in (["-o", f"source={base}", mnt], ["run", "--", "true"]):
        way = ["run"] if command[0] == "run" else []
        done = ftrac(*way, "--db", base / "refused.db", "--io-uring", "on", *options,
                     *command[len(way):])
        checks.equal(f"{fact}: status", done.returncode, 125 if way else 1)
        if not way and not done.returncode:
            unmounted(lambda: subprocess.run(["fusermount3", "-u", mnt]).returncode)
        checks.check(f"{fact}: one line", done.stderr.count("\n") == 1 and
                     "cannot use --io-uring on" in done.stderr and words in done.stderr, done.stderr)
        checks.check(f"{fact}: no trace", not (base / "refused.db").exists())
    checks.equal(f"{fact}: auto", [transport(*options), transport_of_run(*options)], ["device"] * 2)


def transport(*options):
    with Mount(*options) as mount:
        os.listdir(mount.mnt)
        mount.unmount()
        return mount.fact("transport")


def transport_of_run(*options):
    db = base / "run.db"
    done = ftrac("run", "--force", "--quiet", "--db", db, *options, "--", "ls", "/")
    checks.equal("a run", (done.returncode, done.stderr), (0, ""))
    query = "SELECT value FROM trace WHERE key = 'transport'"
    return subprocess.run(["sqlite3", db, query], check=True, stdout=subprocess.PIPE,
                          text=True).stdout.strip()


# ---- the same results ----

def seek(fd, offset, whence):
    return result(os.lseek, fd, offset, whence)


def mapped(path):
    """A store through a mapping, and where the data are then."""
    fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    os.truncate(fd, 1 << 20)
    with mmap.mmap(fd, 1 << 20) as m:
        m[512 << 10] = 1
        said = (seek(fd, 512 << 10, os.SEEK_DATA), seek(fd, 1 << 20, os.SEEK_DATA))
    os.close(fd)
    return said


def emptied(path):
    """A program that runs cannot be emptied, one that has run can."""
    shutil.copy(shutil.which("sleep"), path)
    program = subprocess.Popen([path, "100"])
    while os.readlink(f"/proc/{program.pid}/exe").endswith("python3"):
        pass
    said = [result(os.open, path, os.O_RDONLY | os.O_TRUNC)]
    program.kill()
    program.wait()
    fd = result(os.open, path, os.O_RDONLY | os.O_TRUNC)
    os.close(fd)
    return said + [fd >= 0, os.path.getsize(path)]


def copied(one, two):
    size = 40 << 20
    with open(one, "wb") as f:
        f.write(os.urandom(1 << 20) * (size >> 20))
    with open(one) as f, open(two, "w") as g:
        done = 0
        while done < size:
            done += os.copy_file_range(f.fileno(), g.fileno(), size - done)
    return done, whole(one) == whole(two)


def files(top):
    """What programs do, and what they are told."""
    said = {}
    for i in range(300):
        path = f"{top}/d{i % 3}/{i:03} {'x' * (i % 200)}"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            f.write(b"ab" * i * 10)
        with open(path, "ab") as f:
            f.write(b"cd")
        said[f"data {i}"] = whole(path)[-100:]
    for i in range(3):
        said[f"list {i}"] = sorted(os.listdir(f"{top}/d{i}"))
    said["missing"] = result(os.stat, f"{top}/none")
    said["large"] = (pathlib.Path(f"{top}/large").write_bytes(b"z" * 5_000_000),
                     len(whole(f"{top}/large")))
    os.rename(f"{top}/large", f"{top}/moved")
    os.link(f"{top}/moved", f"{top}/linked")
    os.symlink("moved", f"{top}/link")
    os.truncate(f"{top}/link", 100)
    said["links"] = (os.stat(f"{top}/linked").st_nlink, os.readlink(f"{top}/link"),
                     os.stat(f"{top}/moved").st_size)
    said["not empty"] = result(os.rmdir, f"{top}/d1")
    said["attributes"] = (result(os.setxattr, f"{top}/moved", "user.a", b"b" * 1000),
                          result(os.getxattr, f"{top}/moved", "user.a"),
                          result(os.listxattr, f"{top}/moved"))
    said["mapped"] = mapped(f"{top}/mapped")
    said["emptied"] = emptied(f"{top}/program")
    said["copied"] = copied(f"{top}/moved", f"{top}/copy")
    for name in "copy", "linked":
        os.unlink(f"{top}/{name}")
    said["at the end"] = sorted(os.listdir(top))
    return said


COUNTED = ("create", "mkdir", "unlink", "rename", "link", "symlink", "setxattr", "write", "open")


def counts(mount):
    marks = ",".join(f"'{name}'" for name in COUNTED)
    # Into how many writes the page cache cuts differs from run to run.
    return dict(mount.sql(f"SELECT name, iif(name = 'write', sum(bytes), count(*)) FROM op "
                          f"WHERE name IN ({marks}) AND result >= 0 GROUP BY name"))


def same_as_by_device():
    for fidelity in fidelities():
        recorded = {}
        wanted = files(tempfile.mkdtemp(dir=base))
        for wish in "on", "off":
            work = tempfile.mkdtemp(dir=base)
            with Mount("--fidelity", fidelity, "--io-uring", wish) as mount:
                compare(checks, f"{fidelity}, {wish}: results", files(str(mount(work))), wanted)
                mount.unmount()
                recorded[wish] = counts(mount)
                checks.equal(f"{fidelity}, {wish}: by", mount.fact("transport"),
                             "io_uring" if wish == "on" else "device")
                checks.equal(f"{fidelity}, {wish}: lost", mount.fact("ops_lost"), 0)
        checks.equal(f"{fidelity}: kinds", len(recorded["on"]), len(COUNTED) - (fidelity == "open"))
        compare(checks, f"{fidelity}: recorded", recorded["on"], recorded["off"])


# ---- no request waits for itself ----

def store_and_seek(path):
    for i in range(50):
        if mapped(f"{path} {i}")[1] != -errno.ENXIO:
            os._exit(1)
    os._exit(0)


def many_at_once():
    with Mount("--io-uring", "on") as mount:
        work = str(mount(tempfile.mkdtemp(dir=base)))
        pids = []
        for job in range(JOBS):
            pids.append(os.fork())
            if pids[-1] == 0:
                store_and_seek(f"{work}/{job}")
        ends = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids]
        checks.equal("stores and seeks of many", ends, [0] * JOBS)


def written_in_two_ways():
    with Mount("--io-uring", "on") as mount:
        said = subprocess.run([WORK / "mixed", mount(mount.base / "mixed"), "40"], capture_output=True, text=True, timeout=300,
                              check=True).stdout
        checks.check("no store and no write is lost", said.endswith(": 0 stores lost, 0 writes lost\n"), said)


def next_to_others():
    """A mount inside another goes by the device, and is hidden from the first."""
    with Mount() as first, Mount() as second:
        checks.check("the first shows files", os.listdir(first(base)) != [])
        checks.equal("the second is hidden from it", os.listdir(first(second.mnt)), [])
        checks.check("but sees the first", len(os.listdir(second(first.mnt))) > 3)
        checks.equal("and in there what that covers", os.listdir(f"{second(first.mnt)}{first.mnt}"), [])
        refused("another ftrac", "another ftrac")
        second.unmount()
        checks.equal("when it has gone it is a directory", os.listdir(first(second.mnt)), [])
        first.unmount()
        checks.equal("the first by", first.fact("transport"), "io_uring")
        checks.equal("the second by", second.fact("transport"), "device")
    checks.equal("alone again", transport(), "io_uring")


def switched_on():
    checks.equal("auto", [transport(), transport_of_run()], ["io_uring"] * 2)
    checks.equal("off", transport("--io-uring", "off"), "device")
    refused("locks that wait", "--locks native", "--locks", "native")
    same_as_by_device()
    many_at_once()
    written_in_two_ways()
    next_to_others()


def need_rings():
    """Switched on: whether nothing else is in the way."""
    found = json.loads(ftrac("doctor", "--json").stdout)["findings"]
    uring = next(f for f in found if f["name"] == "io_uring")
    if not uring["good"]:
        skip(f"FUSE over io_uring: {uring['text']}")


def switched_off():
    refused("switched off", str(SWITCH))


need_fuse()
if os.geteuid():
    skip("not root, which may switch io_uring on")
if not SWITCH.exists():
    skip("a kernel without FUSE over io_uring (Linux 6.14 has it)")
if not os.access(SWITCH, os.W_OK):
    skip(f"'{SWITCH}' cannot be written")
alone()
hide_others()
before = SWITCH.read_text()
base = pathlib.Path(tempfile.mkdtemp(prefix="ftrac-case-"))
mnt = base / "mnt"
mnt.mkdir()
checks = Checks()
try:
    for value, part in ("Y", need_rings), ("N", switched_off), ("Y", switched_on):
        SWITCH.write_text(value)
        part()
finally:
    SWITCH.write_text(before)
shutil.rmtree(base)
checks.end()
