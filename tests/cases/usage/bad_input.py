#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What cannot be done gives one line: what, why, what to do; with the right exit status."""
import os
import pathlib
import shutil
import sqlite3
import subprocess
import tempfile

from ftractest import FTRAC, Checks, Mount, need_fuse

need_fuse()
checks = Checks()
base = pathlib.Path(tempfile.mkdtemp(prefix="ftrac-case-"))
mnt = base / "mnt"
other_mnt = base / "other_mnt"
mnt.mkdir()
other_mnt.mkdir()
(base / "file").write_text("not a directory\n")
(base / "letter").write_text("dear reader\n" * 20)
(base / "empty").write_text("")
os.symlink(base / "elsewhere", base / "link")
with sqlite3.connect(base / "other.db") as other:
    other.execute("CREATE TABLE t (x)")
other.close()


def fails(fact, status, words, *arguments, **more):
    done = subprocess.run([FTRAC, *map(str, arguments)], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, cwd=base, timeout=60, **more)
    checks.equal(f"{fact}: exit status", done.returncode, status)
    checks.equal(f"{fact}: lines", done.stderr.count("\n"), 1)
    checks.equal(f"{fact}: nothing on stdout", done.stdout, "")
    for word in ["ftrac: ", *words]:
        checks.check(f"{fact}: says '{word}'", word in done.stderr, done.stderr)


def kept(name, content):
    checks.equal(f"{name} is left alone", (base / name).read_bytes(), content)


letter, empty, other = ((base / n).read_bytes() for n in ("letter", "empty", "other.db"))

fails("no mount point given", 2, ["no mount point", "--help"])
fails("two mount points", 2, ["unexpected argument", "other"], "/", mnt, "other")
fails("unknown long option", 2, ["--nonsense", "--help"], "--nonsense", mnt)
fails("unknown short option", 2, ["-q", "--help"], "-q", mnt)
fails("option without its value", 2, ["--db", "needs a value"], mnt, "--db")
fails("unknown mount option", 2, ["nonsense"], "-o", "nonsense", mnt)
fails("unknown fidelity", 2, ["'vague'", "exact"], "--fidelity", "vague", mnt)
fails("unknown tier", 2, ["'magic'", "inband"], "--processes", "magic", mnt)
fails("mount point missing", 1, ["mount point", "No such file", "make the directory"],
      base / "nowhere")
fails("mount point a file", 1, ["mount point", "not a directory"], base / "file")
fails("source missing", 1, ["source", "No such file"], "-o", f"source={base}/nowhere", mnt)
fails("directory of the database missing", 1, ["no such directory", "--db"], "--db", "no/trace.db", mnt)
fails("database is something else", 1, ["no trace", "--db"], "--db", "letter", mnt)
fails("even with --force", 1, ["no trace", "--db"], "--db", "letter", "--force", mnt)
fails("database of another program", 1, ["no trace", "--db"], "--db", "other.db", "--force", mnt)
fails("an empty file", 1, ["no trace", "--db"], "--db", "empty", "--force", mnt)
fails("a directory", 1, ["--db"], "--db", "mnt", mnt)
fails("through a dangling link", 1, ["--db"], "--db", "link", mnt)
kept("letter", letter)
kept("other.db", other)
kept("empty", empty)
checks.check("nothing was made through the link", not (base / "elsewhere").exists())
checks.check("nothing is mounted", not os.path.ismount(mnt))

shutil.rmtree(base / "ro", ignore_errors=True)
with Mount(base=base) as mount:
    fails("mount point busy", 1, ["mount point", str(mnt)], "--db", "second.db", mnt)
    fails("trace of a run that goes on", 1, ["trace.db", "--force"], "--db", "trace.db", other_mnt)
    fails("even with --force", 1, ["trace.db", "another ftrac"], "--db", "trace.db", "--force",
          other_mnt)
    mount.unmount()
trace = (base / "trace.db").read_bytes()
fails("a trace that is there", 1, ["trace.db", "--db", "--force"], mnt)
kept("trace.db", trace)

if os.geteuid() == 0:
    def as_ordinary_user(script):
        return ["unshare", "-m", "sh", "-c", script]

    # A private /dev, so that nothing of the machine's changes.
    private = "mount -t tmpfs none /dev && exec \"$0\" mnt"
    done = subprocess.run(as_ordinary_user(private) + [shutil.which(FTRAC) or os.path.abspath(FTRAC)],
                          capture_output=True, text=True, cwd=base)
    checks.equal("no /dev/fuse: exit status", done.returncode, 1)
    checks.check("no /dev/fuse: says so", "there is no '/dev/fuse'" in done.stderr, done.stderr)
    node = ("mount -t tmpfs none /dev && mknod -m 600 /dev/fuse c 10 229 && "
            "exec setpriv --reuid=65534 --regid=65534 --clear-groups \"$0\" mnt")
    program = base / "ftrac"  # where an ordinary user cannot reach it
    shutil.copy(os.path.abspath(FTRAC), program)
    os.chmod(base, 0o755)
    done = subprocess.run(as_ordinary_user(node) + [program], capture_output=True, text=True, cwd=base)
    checks.equal("no right to /dev/fuse: exit status", done.returncode, 1)
    checks.check("no right to /dev/fuse: says so",
                 "cannot open '/dev/fuse': Permission denied" in done.stderr, done.stderr)
    ro = ("mkdir ro && mount -t tmpfs -o ro none ro && exec \"$0\" --db ro/trace.db mnt")
    done = subprocess.run(as_ordinary_user(ro) + [program], capture_output=True, text=True, cwd=base)
    checks.equal("read-only database: exit status", done.returncode, 1)
    checks.check("read-only database: says so", "Read-only file system" in done.stderr,
                 done.stderr)
shutil.rmtree(base)
checks.end()
