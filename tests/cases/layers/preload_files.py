#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# serial: how often git reads its files again depends on the speed of the machine
# seconds: 15
# long: --large
"""--files preload against the other ways of recording: operations and sums as the kernel saw them, graphs as those of a mount.

Without rights for the one or the other, that comparison is left out; the graphs of an ordinary user are recorded by root's suite, too.
--large [NAME...]: also the builds of Lua and hello, archives and copies of a tree, and Montage, of what ./setup bench has fetched.
"""
import collections
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile

from ftractest import FTRAC, Checks, kernel_refuses, need, skip
from graphworkflows import DATES, KNOWN, WORKFLOWS

WFDAG = os.environ.get("WFDAG", "build/dag/wfdag")
PROCMON = os.environ.get("PROCMON", "build/procmon/procmon")
ORDINARY = 65534

# Each call of a name, a descriptor, a mapping, in processes and threads.
ACTOR = r"""
import fcntl, mmap, os, shutil, subprocess, threading
os.mkdir("d"); os.makedirs("d/e/f")
fd = os.open("a", os.O_RDWR | os.O_CREAT, 0o644)
os.write(fd, b"x" * 1000); os.pwrite(fd, b"y" * 10, 500); os.lseek(fd, 0, 0); os.read(fd, 100); os.pread(fd, 50, 900)
os.readv(fd, [bytearray(10), bytearray(20)]); os.writev(fd, [b"1", b"22"]); os.fsync(fd); os.fdatasync(fd)
os.ftruncate(fd, 2000); os.fstat(fd); os.fchmod(fd, 0o600); os.utime(fd); os.posix_fallocate(fd, 0, 3000)
for one in os.dup(fd), os.dup2(fd, 20), fcntl.fcntl(fd, fcntl.F_DUPFD, 30):
    os.write(one, b"z"); os.close(one)
m = mmap.mmap(fd, 100, mmap.MAP_PRIVATE, mmap.PROT_READ); m.close()
m = mmap.mmap(fd, 100, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE); m[0] = 1; m.close()
os.close(fd)
for fails in (lambda: os.open("nope", os.O_RDONLY), lambda: os.stat("nope"), lambda: os.unlink("nope"), lambda: os.mkdir("d"),
              lambda: os.open("a/b", os.O_RDONLY), lambda: os.open("a", os.O_CREAT | os.O_EXCL | os.O_WRONLY)):
    try:
        fails()
    except OSError:
        continue
    raise SystemExit("a call succeeded that cannot")
os.symlink("a", "l"); os.readlink("l"); os.stat("l"); os.lstat("l"); os.rename("a", "d/h"); os.rename("d/h", "a")
os.access("a", os.R_OK); os.chmod("a", 0o644); os.utime("a", (1, 1)); os.truncate("a", 100); os.mkfifo("p"); os.unlink("p")
open("l").read()
d = os.open("d", os.O_RDONLY)
os.close(os.open("new", os.O_CREAT | os.O_WRONLY, dir_fd=d)); os.rename("new", "new2", src_dir_fd=d, dst_dir_fd=d)
os.stat("new2", dir_fd=d); os.unlink("new2", dir_fd=d); os.rmdir("e/f", dir_fd=d)
os.chdir("d"); open("in_d", "w").write("w" * 5000); os.chdir(".."); os.fchdir(d); open("in_d").read(); os.chdir("..")
if os.fork() == 0:
    open("child", "w").write("c"); os.chdir("d"); open("child2", "w").write("c"); os._exit(0)
os.wait()
r, w = os.pipe()
if os.fork() == 0:
    os.close(r); os.write(w, b"hello"); os._exit(0)
os.close(w); os.read(r, 100); os.wait()
subprocess.run("cat a >b; (cat b; echo x) >c; cat <c >/dev/null; rm b", shell=True, check=True)
with open("big", "wb") as f:
    f.write(b"b" * 300000)
src, dst = os.open("big", os.O_RDONLY), os.open("copy", os.O_WRONLY | os.O_CREAT)
os.sendfile(dst, src, 0, 1000); os.close(src); os.close(dst)
def work(n):
    with open(f"t{n}", "w") as f:
        f.write("t" * n)
for t in [threading.Thread(target=work, args=(n,)) for n in range(1, 5)]:
    t.start(); t.join()
os.remove("a"); open("a", "w").write("again"); os.link("a", "a2"); os.rename("a", "big")
"""
# What is not recorded by way of libc (ftrac(1)).  A directory is read when it is opened there.
NOT_RECORDED = "'readdir', 'munmap', 'msync', 'mprotect', 'mremap', 'statfs', 'getxattr', 'setxattr', 'listxattr', 'lock', 'ioctl'"
STREAMS = ("seq 1 20000 >s; sort -rn s >r; awk '{print $1*2}' <s >aw; sed s/1/2/ s >se; grep 7 s >g; cut -c1 s >cu; head -c 3000 s >hd; "
           "tail -n 3 s >ta; diff s r >di; paste s s >pa; uniq s >un; od -c s >od; tr 1 2 <s >tr; printf 'x\\n' >>s; wc s >wc; "
           "perl -e 'open(F, q(s)); open(G, q(>pe)); while (<F>) { print G $_ }'; tar cf t s r; gzip -c s >z; gunzip -c <z >s2; dd if=s of=dd bs=100 count=7 2>/dev/null; cp s cp; "
           "exit 0")
# What libc writes to stderr by itself: into a file, into one that stdout shares, into a pipe.
MESSAGES = "for i in 0 1 2; do ./messages $i >out$i 2>err$i; ./messages $i >both$i 2>&1; ./messages $i 2>&1 | cat >pipe$i; done; cat err? both? >all"
TOP = pathlib.Path(__file__).resolve().parents[3]
ARCHIVES = TOP / "subprojects/packagecache"
# Directory: what is unpacked or generated there, and what is done.
LARGE = {"lua": ("lua-*.tar.gz", "make -j2 generic"), "hello": ("hello-*.tar.gz", "./configure -q && make -s"),
         "tree": ("lua-*.tar.gz", "tar -cf tree.tar src doc && mkdir tree && tar -xf tree.tar -C tree && cp -r tree copy && "
                  "grep -r lua copy >found; rm -rf tree copy"),
         "montage": (None, "make -j2")}
# A mount has a read of no bytes where bash opens a file for a program: hello is compared with the kernel alone.
ONLY_WITH_KERNEL = {"hello"}
# Names with the number of a process, or of mkdtemp(3).
GENERATED = re.compile(r"^(removed|added|changed) .*\bconf[0-9a-zA-Z]+")


class Run:
    def __init__(self, base, files, command, options=(), prepare=None, **more):
        self.db, work = base / f"{files}.db", base / files / "work"
        work.mkdir(parents=True)
        if prepare:
            prepare(work)
        for place in (base, work.parent, work) if more.get("user") else ():
            os.chown(place, more["user"], more["user"])
        self.work = str(work)
        self.done = subprocess.run([FTRAC, "run", "--files", files, "--force", "--db", self.db, "--scope", work, "--strict",
                                    *(["--stat"] if files == "mount" else []), *options, "--", *command],
                                   cwd=work, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600,
                                   check=False, env={**os.environ, **DATES, "HOME": str(work.parent)}, **more)

    def rows(self, sql, *values):
        db = sqlite3.connect(self.db)
        rows = db.execute(sql, values).fetchall()
        db.close()
        return rows

    def operations(self):
        """Each with its paths and outcome, how often."""
        return collections.Counter(self.rows(
            "SELECT name, replace(path, ?1, '.'), replace(path2, ?1, '.'), iif(result < 0 OR name IN ('read', 'write', 'copy', 'sendfile'), "
            f"result, 0) FROM op WHERE path LIKE ?1 || '/%' AND name NOT IN ({NOT_RECORDED})", self.work))

    def sums(self):
        return {row[0]: row[1:] for row in self.rows(
            "SELECT replace(path, ?1, '.'), sum(bread), sum(bwrite), max(version), sum(reads), sum(writes) FROM access "
            "WHERE path LIKE ?1 || '%' GROUP BY 1", self.work)}


def check_run(checks, name, run):
    checks.equal(f"{name}: exit status", run.done.returncode, 0)
    if run.done.returncode:
        print(run.done.stderr)
    facts = dict(run.rows("SELECT key, value FROM trace"))
    checks.equal(f"{name}: facts", [facts[key] for key in ("complete", "ops_lost", "fidelity" if "preload" in name else "complete")],
                 [1, 0, "call" if "preload" in name else 1])


def compare_with_kernel(checks, name, base, command, operations, prepare=None):
    runs = [Run(base, files, command, prepare=prepare) for files in ("kernel", "preload")]
    for files, run in zip(("kernel", "preload"), runs):
        check_run(checks, f"{name}, {files}", run)
    kernel, preload = runs
    if operations:
        want, got = kernel.operations(), preload.operations()
        checks.equal(f"{name}: operations", {key: (want[key], got[key]) for key in want | got if want[key] != got[key]}, {})
        checks.check(f"{name}: there were operations", sum(want.values()) > 100, want)
        print(f"{name}: {sum(got.values())} operations")
    want, got = kernel.sums(), preload.sums()
    checks.equal(f"{name}: bytes and versions", {key: (want.get(key), got.get(key)) for key in {**want, **got} if want.get(key) != got.get(key)}, {})
    checks.check(f"{name}: there were files", len(want) > 10, want)
    print(f"{name}: {len(got)} files, {sum(row[1] or 0 for row in got.values())} bytes written")


def compare_graphs(checks, name, base, others, **more):
    preload = Run(base, "preload", WORKFLOWS[name], **more)
    check_run(checks, f"{name}, preload", preload)
    files = preload.rows("SELECT count(DISTINCT file) FROM access WHERE path LIKE ? || '%'", preload.work)[0][0]
    checks.check(f"{name}: there was something to compare", files > 4, files)
    for other in others:
        run = Run(base, other, WORKFLOWS[name])
        check_run(checks, f"{name}, {other}", run)
        diff = subprocess.run([WFDAG, "diff", "--data", "--fail-on", "graph", "--foreign", *KNOWN, run.db, preload.db], capture_output=True,
                              text=True, timeout=300, check=False)
        checks.equal(f"{name}: wfdag diff with {other}", diff.returncode, 0)
        if diff.returncode:
            print(diff.stdout, diff.stderr)
        print(f"{name}: {other}: {diff.stdout.splitlines()[:1]}")


def make_messages(work):
    subprocess.run(["gcc", "-O2", "-o", work / "messages", TOP / "tests/work/messages.c"], check=True)


def fill(work, archive):
    if not archive:
        subprocess.run([TOP / "examples/montage/generate.sh", "A", work], check=True, stdout=subprocess.DEVNULL)
        return
    subprocess.run(["tar", "-xf", sorted(ARCHIVES.glob(archive))[-1], "-C", work, "--strip-components", "1"], check=True)


def compare_large(checks, name, base, others):
    archive, script = LARGE[name]
    if not any(ARCHIVES.glob(archive)) if archive else not shutil.which("mProject"):
        print(f"{name}: left out: ./setup bench has not been run here")
        return
    others = [files for files in others if files == "kernel" or name not in ONLY_WITH_KERNEL]
    runs = {files: Run(base, files, ["sh", "-c", script], prepare=lambda work: fill(work, archive)) for files in ("preload", *others)}
    for other in others:
        diff = subprocess.run([WFDAG, "diff", "--data", "--fail-on", "graph", "--foreign", "--top", "0", runs[other].db, runs["preload"].db],
                              capture_output=True, text=True, timeout=600, check=False)
        found = [line for line in diff.stdout.splitlines() if re.match("(removed|added|changed) ", line) and not GENERATED.match(line)]
        checks.check(f"{name}: wfdag diff with {other} said something", "graph" in diff.stdout or diff.returncode == 1, diff.stderr)
        checks.equal(f"{name}: differences from {other}", found, [])
        print(f"{name}: {other}: {diff.stdout.splitlines()[:1]}")


def can_run_as_user():
    """Whether another user may execute the program where it is."""
    try:
        return os.geteuid() == 0 and subprocess.run([FTRAC, "--version"], user=ORDINARY, group=ORDINARY, extra_groups=[],
                                                    stdout=subprocess.DEVNULL, check=False).returncode == 0
    except PermissionError:
        print(f"another user may not execute {FTRAC}: its graphs are left out")
        return False


def check_unseen(checks, base):
    """A static program is named, and what it has done is not made up."""
    source, program = base / "static.c", base / "static"
    source.write_text('#include <fcntl.h>\n#include <unistd.h>\nint main(void) { return write(open("out", O_CREAT | O_WRONLY, 0600), "x", 1) != 1; }\n')
    subprocess.run(["gcc", "-static", "-o", program, source], check=True)
    run = Run(base, "preload", [str(program)])
    said = re.search(r"not seen: files and library calls of 1 program .*: static", run.done.stderr.replace("\nftrac:", "").replace("  ", ""))
    checks.check("a static program is named", said, run.done.stderr)
    checks.equal("its operations", run.rows("SELECT count(*) FROM op WHERE path LIKE ? || '%'", run.work), [(0,)])


def check_procmon(checks, base):
    """The same by procmon, with calls of the layer lib above the operations."""
    (base / "work").mkdir()
    done = subprocess.run([PROCMON, "--files", "preload", "--layer", "lib", "--db", base / "procmon.db", "--", "sh", "-c",
                           "seq 1 2000 >a; sort -r a >b"], cwd=base / "work", capture_output=True, text=True, timeout=60, check=False)
    checks.equal("procmon: exit status", (done.returncode, done.stderr), (0, ""))
    db = sqlite3.connect(base / "procmon.db")
    size = (base / "work/a").stat().st_size
    checks.equal("procmon: bytes", db.execute("SELECT sum(bread), sum(bwrite) FROM access WHERE path LIKE ? || '/%'", (str(base / "work"),)).fetchone(),
                 (size, 2 * size))
    calls = db.execute("SELECT layer, count(*) FROM call GROUP BY 1 ORDER BY 1").fetchall()
    checks.equal("procmon: layers", [layer for layer, _ in calls], ["lib", "syscall"])
    print(f"procmon: {calls}")
    db.close()


def main():
    need("make", "gcc", "git", "perl", "awk")
    others = [files for files, is_here in (("mount", os.access("/dev/fuse", os.W_OK) and shutil.which("fusermount3")),
                                           ("kernel", not kernel_refuses())) if is_here]
    if not others:
        skip("neither a mount nor the kernel can record here")
    checks, as_user = Checks(), can_run_as_user()
    with tempfile.TemporaryDirectory(prefix="ftrac-case-") as directory:
        base = pathlib.Path(directory).resolve()
        os.chmod(base, 0o755)
        if "kernel" in others:
            (base / "a").mkdir()
            compare_with_kernel(checks, "calls", base / "a", [sys.executable, "-c", ACTOR], True)
            (base / "s").mkdir()
            compare_with_kernel(checks, "streams", base / "s", ["sh", "-c", STREAMS], False)
            (base / "m").mkdir()
            compare_with_kernel(checks, "messages", base / "m", ["sh", "-c", MESSAGES], False, make_messages)
        for name in WORKFLOWS:
            (base / name).mkdir()
            compare_graphs(checks, name, base / name, others)
            if as_user:
                (base / f"{name}-user").mkdir()
                compare_graphs(checks, name, base / f"{name}-user", others, user=ORDINARY, group=ORDINARY, extra_groups=[])
        for name in (set(sys.argv) & set(LARGE) or LARGE) if "--large" in sys.argv[1:] else ():
            (base / f"{name}-large").mkdir()
            compare_large(checks, name, base / f"{name}-large", others)
        (base / "u").mkdir()
        check_unseen(checks, base / "u")
        (base / "p").mkdir()
        check_procmon(checks, base / "p")
    print(f"compared with {', '.join(others)}")
    checks.end()


main()
