#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the manuals say is not in a trace, or is there in another form, is so; and users are told where they look."""
import errno
import os
import subprocess
import sys

from ftractest import TOP, Checks, Mount, need_fuse, skip

WFSTAT = os.environ.get("WFSTAT", "build/dag/wfstat")
ANSWERED = "EACCES", "EEXIST", "EISDIR", "ENOTDIR", "ELOOP", "EXDEV", "EPERM"  # by the kernel itself
UNPRIVILEGED = 65534


def error(call, *args):
    try:
        return str(call(*args))
    except OSError as failure:
        return os.strerror(failure.errno)


def acts():
    """In the current directory; prints what each act gives."""
    os.mkfifo("fifo")
    if os.fork() == 0:
        os.write(os.open("fifo", os.O_WRONLY), b"x" * 100)
        os._exit(0)
    print("fifo", len(os.read(os.open("fifo", os.O_RDONLY), 1000)))
    os.wait()
    big, out = os.open("big", os.O_RDONLY), os.open("out", os.O_WRONLY | os.O_CREAT)
    print("sendfile", os.sendfile(out, big, 0, 70000))
    fd = os.open("old", os.O_RDWR | os.O_CREAT)
    print("nothing", os.write(fd, b""), len(os.pread(fd, 0, 0)))
    os.rename("old", "new")
    print("renamed", os.write(fd, b"x"))
    print("ENOENT", error(os.open, "no/such/file", os.O_RDONLY))
    os.symlink("loop", "loop")
    os.setgroups([])
    os.setgid(UNPRIVILEGED)
    os.setuid(UNPRIVILEGED)
    print("EACCES", error(os.open, "secret", os.O_RDONLY))
    print("EEXIST", error(os.mkdir, "directory"))
    print("EISDIR", error(os.open, "directory", os.O_WRONLY))
    print("ENOTDIR", error(os.open, "big/x", os.O_RDONLY))
    print("ELOOP", error(os.open, "loop", os.O_RDONLY))
    print("EXDEV", error(os.rename, "big", "/tmp/other-device"))
    print("EPERM", error(os.chmod, "secret", 0o666))


def prepare(directory):
    directory.mkdir()
    directory.chmod(0o777)
    (directory / "directory").mkdir()
    (directory / "big").write_bytes(b"x" * 1000000)
    (directory / "secret").write_text("secret")
    (directory / "secret").chmod(0o600)
    return directory


def record(mount):
    work = prepare(mount.base / "work")
    mount.base.chmod(0o755)
    done = subprocess.run(["env", "-C", str(mount(work)), sys.executable, os.path.abspath(__file__), "--acts"],
                          capture_output=True, text=True, timeout=60)
    mount.unmount()
    checks.equal("the program ends well", (done.returncode, done.stderr), (0, ""))
    return work, dict(line.split(" ", 1) for line in done.stdout.splitlines())


def said(name, text, *words):
    text = " ".join(text.replace("*", "").replace("_", "").split())
    for word in words:
        checks.check(f"{name} says: {word}", word.replace("_", "") in text, text[-1500:])


need_fuse()
if "--acts" in sys.argv:
    acts()
    sys.exit()
checks = Checks()
if os.geteuid() != 0:
    skip("root, to become another user")
with Mount("--fidelity", "exact") as mount:
    work, results = record(mount)

    def ops(name, columns="name"):
        return mount.sql(f"SELECT {columns} FROM op WHERE path = ? ORDER BY id", f"{work}/{name}")

    def names(name):
        return {row[0] for row in ops(name)}

    checks.equal("fifo: bytes", results["fifo"], "100")
    checks.check("fifo: made and looked up", {"mknod", "lookup"} <= names("fifo"), names("fifo"))
    checks.equal("fifo: no open, read or write", names("fifo") & {"open", "read", "write", "release"}, set())
    read, = mount.sql("SELECT sum(bytes), min(via), max(via) FROM op WHERE name = 'read' AND path = ?", f"{work}/big")
    checks.check("sendfile: at least what was sent, as the page cache read it",
                 results["sendfile"] == "70000" and read[0] > 70000 and set(read[1:]) == {"pagecache"}, read)
    checks.equal("sendfile: what was written", mount.sql(
        "SELECT sum(bytes) FROM op WHERE name = 'write' AND path = ?", f"{work}/out")[0][0], 70000)
    checks.equal("length 0: succeeds, without a row; the name is that at the open", (results["nothing"], [
        row for row in ops("old", "name, length") if row[0] in ("read", "write")]), ("0 0", [("write", 1)]))
    checks.equal("missing name: the first one", mount.sql(
        "SELECT path FROM ghost WHERE path LIKE ?", f"{work}/no%"), [(f"{work}/no",)])
    for name in ANSWERED:
        number = getattr(errno, name)
        checks.equal(f"{name}: the program gets it", results[name], os.strerror(number))
        checks.equal(f"{name}: is not in the trace", mount.sql(
            "SELECT name, path FROM op WHERE result = ? AND path LIKE ?", -number, f"{work}/%"), [])
    said("wfstat errors", subprocess.run([WFSTAT, "errors", mount.db], capture_output=True, text=True).stdout,
         *ANSWERED, "Permission denied", "EROFS", "strace(1)", "the first missing name on the way")
for page in "ftrac.1", "ftrac-db.5", "wfstat.1":
    said(page, (TOP / f"man/{page}.scd").read_text(), *ANSWERED, "Permission denied", "EROFS")
said("ftrac.1", (TOP / "man/ftrac.1.scd").read_text(), "FIFOs, sockets and devices", "length 0", "reads ahead")
said("ftrac-db.5", (TOP / "man/ftrac-db.5.scd").read_text(), "FIFOs, sockets", "length 0", "read ahead",
     "the name that the file had when it was opened", "stops at the first one that is not there")
said("the report", (TOP / "dag/report/findings.c").read_text(), *ANSWERED, "Permission denied")
checks.end()
