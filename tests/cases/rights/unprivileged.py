#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""An ordinary user mounts, works and unmounts, by the setuid fusermount3; no other user enters."""
import contextlib
import ctypes
import errno
import os
import pathlib
import platform
import shutil
import sqlite3
import stat
import subprocess
import tempfile

import ftractest
from ftractest import WORK, Checks, Mount, children, comm, need, need_fuse, skip

need_fuse()
need("unshare", "setpriv", "make", "gcc", "mount")
if os.geteuid() != 0:
    skip("only root can become another user; for an ordinary user every case is this one")
if not os.path.exists("/etc/mtab"):
    skip("no /etc/mtab, by which fusermount3 knows whose a mount is")
if not os.stat(shutil.which("fusermount3")).st_mode & stat.S_ISUID:
    skip("fusermount3 is not setuid")
checks = Checks()

# In a mount namespace of our own there is a /dev/fuse for all, whatever the machine's is like.
CLONE_NEWNS = 0x20000
base = pathlib.Path(tempfile.mkdtemp(prefix="ftrac-case-"))
base.chmod(0o755)
if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNS) != 0:
    skip(f"no mount namespace of one's own: {os.strerror(ctypes.get_errno())}")
(base / "dev").mkdir()
for command in (["mount", "--make-rprivate", "/"], ["mount", "-t", "tmpfs", "none", base / "dev"],
                ["mknod", "-m", "666", base / "dev" / "fuse", "c", "10", "229"],
                ["mount", "--bind", base / "dev" / "fuse", "/dev/fuse"]):
    if subprocess.run(command).returncode != 0:
        skip("no right to mount in a namespace of one's own")

USER, OTHER = 65534, 65533
home = base / "home"
home.mkdir()
shutil.copy(ftractest.FTRAC, base / "ftrac")  # where everybody can reach it
shutil.copy(WORK / "ids", home / "ids")
shutil.copy(WORK / "ids", home / "suid")
shutil.copy(WORK / "say", home / "say")
(home / "secret").write_text("of root\n")
(home / "Makefile").write_text("""all: program
\t./program > out
%.o: %.c
\t$(CC) -c $<
program: main.o other.o
\t$(CC) -o $@ $^
""")
(home / "main.c").write_text("""#include <stdio.h>
int other(void);
int main(void) { printf("%d\\n", other()); return 0; }
""")
(home / "other.c").write_text("int other(void) { return 42; }\n")
for path in (home, *home.iterdir()):
    os.chown(path, USER, USER)
os.chown(home / "secret", 0, 0)
(home / "secret").chmod(0o600)
os.chown(home / "suid", 0, 0)
(home / "suid").chmod(0o4755)
ftractest.FTRAC = str(base / "ftrac")


def become(uid):
    return ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", "env",
            f"HOME={home}", f"TMPDIR={home}"]


def run(uid, *command, cwd="/"):
    """In cwd, which the user enters, not root."""
    return subprocess.run([*become(uid), "sh", "-c", 'cd "$0" && exec "$@"', str(cwd),
                           *map(str, command)], capture_output=True, text=True, timeout=100,
                          stdin=subprocess.DEVNULL)


def succeeds(what, *command, cwd="/", says=None):
    done = run(USER, *command, cwd=cwd)
    checks.equal(f"{what}: succeeds, in silence", (done.returncode, done.stderr), (0, ""))
    if says is not None:
        checks.equal(f"{what}: says", done.stdout, says)


def fails(what, uid, words, *command):
    done = run(uid, *command)
    checks.check(f"{what}: fails", done.returncode != 0)
    checks.check(f"{what}: says '{words}'", words in done.stderr, done.stderr)


def refused(what, call, *arguments):
    try:
        call(*arguments)
        checks.check(f"{what} is refused", False)
    except OSError as e:
        checks.equal(f"{what} is refused", e.errno, errno.EACCES)


MAP = """
import mmap, os, sys
with open(sys.argv[1], "w+b") as f:
    f.truncate(10000)
    with mmap.mmap(f.fileno(), 10000) as m:
        m[5000:5004] = b"here"
        m.flush()
        assert os.pread(f.fileno(), 4, 5000) == b"here"
        os.pwrite(f.fileno(), b"there", 100)
        assert m[100:105] == b"there"
"""

kernel = tuple(int(n) for n in platform.release().split("-")[0].split(".")[:2])


class UserMount(Mount):
    def unmount(self):
        checks.equal("the user unmounts", ftractest.unmounted(
            lambda: run(USER, "fusermount3", "-u", self.mnt).returncode), 0)
        self.wait()


def work_in(mount):
    inside = mount(home)
    succeeds("a program in the mount", inside / "ids", says=f"{USER} {USER} {USER} {USER}\n")
    succeeds("a suid program of root, as such", home / "suid", says=f"{USER} 0 {USER} {USER}\n")
    succeeds("a suid program of root, in the mount", inside / "suid",
             says=f"{USER} {USER} {USER} {USER}\n")
    succeeds("writing", inside / "say", inside / "said")
    checks.equal("what was written", (home / "said").read_bytes(), b"a few bytes\na")
    succeeds("a shared mapping", "python3", "-c", MAP, inside / "mapped")
    mapped = (home / "mapped").read_bytes()
    checks.equal("what was mapped", (mapped[100:105], mapped[5000:5004], len(mapped)),
                 (b"there", b"here", 10000))
    done = run(USER, "make", "-s", "-j4", cwd=inside)
    checks.equal("make: succeeds, in silence", (done.returncode, done.stderr), (0, ""))
    checks.equal("what was made", (home / "out").read_text(), "42\n")
    done = run(USER, "sh", "-c", 'umask 027; mkdir d; echo 1 >d/f; ln -s f d/s; ln d/f d/h; '
               'mkfifo d/p; mv d/h d/g; chmod 700 d/g; stat -c "%n %a %u %g %h" d d/*', cwd=inside)
    checks.equal("names and modes", done.stdout, "".join(
        f"{name} {mode} {USER} {USER} {links}\n" for name, mode, links in (
            ("d", 750, 2), ("d/f", 700, 2), ("d/g", 700, 2), ("d/p", 640, 1), ("d/s", 777, 1))))
    checks.equal("of the user in the source", {(os.lstat(path).st_uid, os.lstat(path).st_gid)
                                               for path in (home / "d").iterdir()}, {(USER, USER)})
    fails("a file of root", USER, "Permission denied", "cat", inside / "secret")
    fails("a directory of root", USER, "Permission denied", "ls", mount("/root"))
    fails("giving a file away", USER, "Operation not permitted", "chown", "0", inside / "said")
    succeeds("a tree removed", "rm", "-r", inside / "d")
    checks.check("it is gone", not (home / "d").exists())


(base / "mnt").mkdir()
for path in base, base / "mnt":
    os.chown(path, USER, USER)
with UserMount(base=base, prefix=become(USER)) as mount:
    work_in(mount)
    refused("root", os.listdir, mount.mnt)
    refused("root by a name", os.stat, mount(home / "said"))
    fails("another user", OTHER, "Permission denied", "ls", mount.mnt)
    fails("another user that reads", OTHER, "Permission denied", "cat", mount(home / "said"))

    # Second ones: of the same user beside the first one, and what must not be.
    (base / "second").mkdir()
    (base / "foreign").mkdir()
    os.chown(base / "second", USER, USER)
    fails("a second one with the same trace", USER, "trace.db", base / "ftrac", "--db", mount.db,
          "--force", base / "second")
    fails("a mount on a directory of root", USER, "no write access", base / "ftrac", "--db",
          base / "second.db", base / "foreign")
    checks.check("which left no trace behind", not (base / "second.db").exists())
    fails("other users let in without leave", USER, "allow_other", base / "ftrac", "--db",
          base / "second.db", "-o", "allow_other", base / "second")
    before = children()
    succeeds("a second one", base / "ftrac", "--db", base / "second.db", base / "second")
    second = [pid for pid in children() - before if comm(pid) == "ftrac"]
    checks.equal("one more daemon", len(second), 1)
    succeeds("reading by way of the second", "cat", f"{base}/second{home}/said",
             says="a few bytes\na")
    fails("unmounting by another user", OTHER, "", "fusermount3", "-u", base / "second")
    fails("nor by ftrac umount", OTHER, "", base / "ftrac", "umount", base / "second")
    checks.equal("unmounting the second, by root", ftractest.unmounted(
        lambda: subprocess.run([base / "ftrac", "umount", base / "second"], check=False, timeout=100).returncode), 0)
    with contextlib.closing(sqlite3.connect(f"file:{base}/second.db?mode=ro", uri=True)) as db:
        checks.equal("root has waited for the trace of the user",
                     db.execute("SELECT value FROM trace WHERE key = 'complete'").fetchall(), [(1,)])
    checks.equal("the second ends in order",
                 [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in second], [0])
    mount.unmount()
    for fact, wanted in {"complete": 1, "ops_lost": 0, "process_events_lost": 0,
                         "fidelity": "exact" if kernel >= (6, 6) else "cached",
                         "process_tier": "connector" if kernel >= (6, 6) else "inband"}.items():
        checks.equal(fact, mount.fact(fact), wanted)
    checks.equal("it is sound", mount.sql("PRAGMA integrity_check"), [("ok",)])
    checks.equal("all that was recorded is there", mount.sql("SELECT count(*) FROM op")[0][0],
                 mount.fact("ops_recorded"))
    checks.equal("the trace is the user's", (mount.db.stat().st_uid, mount.db.stat().st_gid),
                 (USER, USER))
    programs = {row[0] for row in mount.sql("SELECT DISTINCT comm FROM process")}
    checks.equal("programs that are not in the trace",
                 {"say", "make", "cc1", "as", "ld", "program"} - programs, set())
    # Gone so soon that the monitor may not have seen their names; but that they ran is known.
    checks.equal("programs that did nothing but run", mount.sql(
        "SELECT path, executed FROM access WHERE path IN (?, ?) ORDER BY path",
        str(home / "ids"), str(home / "suid")), [(str(home / "ids"), 1), (str(home / "suid"), 1)])
    checks.equal("the user of all processes that did something", mount.sql(
        "SELECT DISTINCT p.uid FROM op JOIN process p ON p.id = op.process "
        "WHERE op.name IN ('read', 'write', 'create')"), [(USER,)])
    said = mount.sql("SELECT p.comm, sum(a.bwrite) FROM access a JOIN process p ON p.id = a.process"
                     " WHERE a.path = ? AND a.nwrite > 0", str(home / "said"))
    checks.equal("the writers", said, [("say", 13)])
    checks.equal("what the program printed", mount.sql(
        "SELECT p.comm, a.bwrite FROM access a JOIN process p ON p.id = a.process"
        " WHERE a.path = ? AND a.nwrite > 0", str(home / "out")), [("program", 3)])
    if mount.fact("process_tier").startswith("connector"):
        checks.equal("ends of processes that are not known", mount.sql(
            "SELECT count(*) FROM process WHERE end_ns IS NULL AND comm IN ('say', 'cc1', 'ids')"),
            [(0,)])
print(f"{mount.fact('ops_recorded')} operations of an ordinary user")
(home / "second").mkdir()
os.chown(home / "second", USER, USER)
fails("data passed through by the kernel", USER, "--fidelity cached", ftractest.FTRAC,
      "--db", home / "second.db", "--fidelity", "open", home / "second")
for place in "/dev/fuse", base / "dev":
    subprocess.run(["umount", place], check=True)
shutil.rmtree(base)
checks.end()
