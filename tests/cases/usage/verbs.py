#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""ftrac umount, ftrac doctor, and ftrac as mount(8) calls it."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile

from ftractest import FTRAC, Checks, Mount, need_fuse, unmounted

need_fuse()
checks = Checks()
ROOT = os.geteuid() == 0


def ftrac(*words, **more):
    return subprocess.run([FTRAC, *words], capture_output=True, text=True, timeout=60, **more)


def mounted_on(path):
    with open("/proc/mounts") as f:
        return any(line.split()[1] == str(path) for line in f)


def fails(what, wanted, words, *arguments):
    done = ftrac(*arguments)
    checks.equal(f"{what}: status", done.returncode, wanted)
    checks.check(f"{what}: one line that says {words}", done.stderr.count("\n") == 1 and
                 all(word in done.stderr for word in words), repr(done.stderr))


def umount():
    with Mount() as mount:
        with open(mount("/etc/passwd")):
            fails("umount of what is used", 1, ["is in use", "fuser"], "umount", str(mount.mnt))
            checks.check("it is still there", mounted_on(mount.mnt))
        said = []
        checks.equal("umount", unmounted(lambda: (said.append(ftrac("umount", f"{mount.mnt}/")),
                                                  said[-1].returncode)[1]), 0)
        # On a busy machine it may take a second to complete the trace.
        others = [line for line in said[-1].stderr.splitlines() if "waiting until" not in line]
        checks.equal("umount says", (said[-1].stdout, others), ("", []))
        checks.check("it is gone", not mounted_on(mount.mnt))
        mount.wait()
        checks.equal("the trace is complete", mount.fact("complete"), 1)
        fails("umount once more", 1, ["no mount of ftrac"], "umount", str(mount.mnt))
    with Mount() as mount:
        os.kill(mount.pid, signal.SIGKILL)
        os.waitpid(mount.pid, 0)
        mount.pid = None
        try:
            os.stat(mount.mnt)
            checks.check("the daemon is gone", False)
        except OSError as e:
            checks.equal("the daemon is gone", e.strerror, "Transport endpoint is not connected")
        fails("a mount over that", 1, ["daemon is gone"], str(mount.mnt))
        done = ftrac("umount", mount.mnt.name, cwd=mount.base)
        checks.equal("umount of that", done.returncode, 0)
        checks.check("with a word", "was gone" in done.stderr and done.stderr.count("\n") == 1,
                     done.stderr)
        checks.check("it is gone, too", not mounted_on(mount.mnt))
    fails("umount of nothing", 2, ["one mount point"], "umount")
    fails("umount of what is not there", 1, ["no mount of ftrac"], "umount", "/tmp/no-such-place")
    fails("umount below what is not there", 1, ["cannot find"], "umount", "/no/such/place")
    fails("umount of others' mounts", 1, ["no mount of ftrac"], "umount", "/proc")


def umount_right_after():
    """What clients used is let go a moment after their end, or a moment later: `ftrac umount` tries again."""
    rules = "".join(f"o{i}:\n\tcat Makefile > o{i}; python3 -c 'import threading; "
                    "[threading.Thread(target=open, args=(\"Makefile\",)).start() for _ in range(5)]'\n" for i in range(12))
    for i in range(6):
        with Mount() as mount:
            native = mount.base / "native"
            native.mkdir()
            (native / "Makefile").write_text("all: " + " ".join(f"o{i}" for i in range(12)) + "\n" + rules)
            subprocess.run(["make", "-s", "-j8", "-C", mount(native)], check=True, timeout=60)
            user = subprocess.Popen(["sleep", "0.3"], cwd=mount(native)) if i == 0 else None
            done = ftrac("umount", str(mount.mnt))
            checks.equal("umount right after" + (", with a client that goes" if user else ""), done.returncode, 0)
            if user:
                user.wait()
            mount.wait()


def doctor():
    done = ftrac("doctor")
    lines = done.stdout.splitlines()
    checks.check("doctor: lines", len(lines) >= 12 and all(
        line.startswith(("yes ", "NO ")) for line in lines), done.stdout)
    checks.equal("doctor: errors", done.stderr, "")
    found = json.loads(ftrac("doctor", "--json").stdout)
    checks.equal("doctor: the same for programs", [
        ("yes" if f["good"] else "NO") + " " + f["what"] + ": " + f["text"] for f in found["findings"]],
        [" ".join(line.split(None, 1)) for line in lines])
    names = {f["name"]: f for f in found["findings"]}
    checks.equal("doctor: status", done.returncode, 0 if names["run"]["good"] else 1)
    for name in ("device", "fusermount3", "allow_other", "namespaces", "ptrace", "connector",
                 "taskstats", "delays", "ptrace_scope", "kernel", "libfuse", "exact", "open", "call", "io_uring"):
        checks.check(f"doctor: {name}", name in names)
    for f in found["findings"]:
        checks.check(f"doctor: what to do about {f['name']}", f["good"] or len(f["text"]) > 15, f)
    fails("doctor: unknown option", 2, ["--nix"], "doctor", "--nix")


def as_mount_calls():
    """SOURCE MOUNTPOINT -o OPTIONS; by mount(8) itself where we may put the link in its place."""
    base = pathlib.Path(tempfile.mkdtemp(prefix="ftrac-case-"))
    (base / "mnt").mkdir()
    (base / "source").mkdir()
    (base / "source" / "f").write_text("content")
    helper = base / "mount.fuse.ftrac"
    helper.symlink_to(os.path.abspath(FTRAC))
    options = f"rw,nosuid,nodev,x-systemd.automount,db={base}/a.db"
    subprocess.run([helper, base / "source", base / "mnt", "-o", options], check=True, timeout=60)
    checks.equal("as mount(8) calls it", (base / "mnt/f").read_text(), "content")
    checks.equal("and ends", unmounted(lambda: ftrac("umount", str(base / "mnt")).returncode), 0)
    checks.check("with a trace", (base / "a.db").exists())
    place = pathlib.Path("/sbin/mount.fuse.ftrac")
    if ROOT and not place.exists():
        place.symlink_to(os.path.abspath(FTRAC))
        try:
            subprocess.run(["mount", "-t", "fuse.ftrac", base / "source", base / "mnt", "-o",
                            f"ro,db={base}/b.db"], check=True, timeout=60)
            checks.equal("by mount(8)", (base / "mnt/f").read_text(), "content")
            try:
                (base / "mnt/g").write_text("x")
                checks.check("by mount(8): read-only", False)
            except OSError as e:
                checks.equal("by mount(8): read-only", e.strerror, "Read-only file system")
            checks.equal("by mount(8): the end", unmounted(lambda: subprocess.run(
                ["umount", base / "mnt"], timeout=60).returncode), 0)
        finally:
            place.unlink()
    subprocess.run(["flock", base / "a.db", "true"], check=True, timeout=60)
    shutil.rmtree(base)


umount()
umount_right_after()
doctor()
as_mount_calls()
checks.end()
