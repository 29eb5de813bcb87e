#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 10
"""Which files of two machines ftrac merge takes for one: what their file systems say, or what the user says by --same; never the path alone.
Two steps of a workflow are recorded; then their traces are given to two machines, and to other file systems, by editing them."""
import contextlib
import os
import pathlib
import shutil
import sqlite3
import subprocess
import tempfile

from ftractest import FTRAC, Checks, need_fuse
from workflows import traced

FTRAC = os.path.abspath(FTRAC)
DOUBTS = "SELECT reason, count(*) FROM doubt WHERE path LIKE '%/data' GROUP BY reason"
EDGE = ("SELECT w.job, r.job FROM access a JOIN access b ON b.file = a.file AND b.version = a.version JOIN process w ON w.id = a.process"
        " JOIN process r ON r.id = b.process WHERE a.nwrite > 0 AND b.nread > 0 AND w.job <> r.job")
checks = Checks()


def rows(path, sql):
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
        return db.execute(sql).fetchall()


def given_to(path, out, host, *changes):
    """As if that machine had recorded it, whose device numbers are others."""
    shutil.copy(path, out)
    with contextlib.closing(sqlite3.connect(out)) as db, db:
        db.execute("UPDATE meta SET value = ? WHERE key = 'host'", (host,))
        db.execute("UPDATE meta SET value = 'boot of ' || ? WHERE key = 'boot_id'", (host,))
        db.execute("UPDATE kinds SET dev = dev + ?", (sum(host.encode()),))
        db.execute("UPDATE mounts SET source = 'nothing', fsid = NULL")
        for change in changes:
            db.execute(change)
    return out


def merge(out, *words):
    done = subprocess.run([FTRAC, "merge", "--force", "-o", out, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60,
                          check=False)
    checks.equal("merging: status", (done.returncode, "Error" in done.stderr), (0, False))
    return done.stderr


def is_one(base, what, wanted, doubts=(), same=(), one=(), other=()):
    """Whether the file that the first machine wrote is the one that the second one read."""
    traces = [given_to(base / "write.tr", base / "one.tr", "one", *one), given_to(base / "read.tr", base / "other.tr", "other", *other)]
    options = [word for text in same for word in ("--same", text)]
    for order in traces, traces[::-1]:
        said = merge(base / "all.db", *options, *order)
        edges = rows(base / "all.db", EDGE)
        checks.equal(f"{what}: there is an edge", edges, [("write", "read")] if wanted else [])
        checks.equal(f"{what}: doubts", rows(base / "all.db", DOUBTS), [(reason, 1) for reason in doubts])
        checks.equal(f"{what}: a warning", bool(said), bool(doubts))
    files, = rows(base / "all.db", "SELECT count(DISTINCT file) FROM name WHERE path LIKE '%/data'")[0]
    checks.equal(f"{what}: so many files", files, 1 if wanted else 2)
    merge(base / "again.db", *options, base / "all.db")
    checks.equal(f"{what}, merged again: the same edges", rows(base / "again.db", EDGE), edges)


def nfs(source="server:/export", fsid=None, path=None):
    text = f"'{fsid}'" if fsid else "NULL"
    place = f", path = '{path}'" if path else ""
    return f"UPDATE mounts SET fstype = 'nfs4', root = '/', source = '{source}', fsid = {text}{place}"


def moved(before, after):
    n = len(str(before))
    return (f"UPDATE path_names SET directory = NULL, name = '{after}' || substr(p.path, {n + 1}) FROM paths p "
            f"WHERE p.id = path_names.id AND substr(p.path, 1, {n}) = '{before}'")


NO_BIRTH = "UPDATE files SET birth = NULL"
OTHER_INODE = "UPDATE files SET ino = ino + 1000"
OTHER_BIRTH = "UPDATE files SET birth = birth + 5000000000"
LOCAL = "UPDATE mounts SET fstype = 'ext4'"
SSHFS = "UPDATE mounts SET fstype = 'fuse.sshfs'"


def by_file_systems(base, work):
    found = "UPDATE files SET state = state & ~1"
    is_one(base, "local file systems that both have found", False, one=[LOCAL, found], other=[LOCAL])
    is_one(base, "local file systems, another birth", False, one=[LOCAL], other=[LOCAL, OTHER_BIRTH])
    is_one(base, "local file systems, no birth times", False, one=[LOCAL, NO_BIRTH], other=[LOCAL, NO_BIRTH])
    is_one(base, "local file systems, born when one trace made it", True, one=[LOCAL], other=[LOCAL])
    is_one(base, "the server's own, and by NFS", True, one=[LOCAL], other=[nfs("a:/", "1/2")])
    is_one(base, "the server's own, and by NFS, another birth", False, one=[LOCAL], other=[nfs("a:/", "1/2"), OTHER_BIRTH])
    is_one(base, "NFS, the same source", True, one=[nfs()], other=[nfs()])
    is_one(base, "NFS, other exports of one file system", True, one=[nfs("a:/x", "1/2")], other=[nfs("b:/y", "1/2")])
    is_one(base, "NFS, the same export of two servers", False, one=[nfs("a:/x", "1/2")], other=[nfs("a:/x", "3/2")])
    is_one(base, "NFS, mounted elsewhere", True, one=[nfs(path=work)], other=[moved(work, "/mnt/there"), nfs(path="/mnt/there")])
    is_one(base, "NFS, mounted elsewhere, no birth times", True, one=[nfs(path=work), NO_BIRTH],
           other=[moved(work, "/mnt/there"), nfs(path="/mnt/there"), NO_BIRTH])
    is_one(base, "NFS, no birth times, another place", False, doubts=["files_not_known"], one=[nfs(path=work), NO_BIRTH],
           other=[moved(work, f"{work}/there"), nfs(path=work), NO_BIRTH])
    is_one(base, "NFS, a reused inode", False, doubts=["files_replaced"], one=[nfs()], other=[nfs(), OTHER_BIRTH])
    is_one(base, "NFS, a reused inode elsewhere", False, one=[nfs()], other=[nfs(), OTHER_BIRTH, moved(work, "/there")])
    ceph = "UPDATE mounts SET fstype = 'ceph', root = '/', source = '{}:/', fsid = '{}'"
    is_one(base, "Ceph by other monitors", True, one=[ceph.format("1.2.3.4", "77")], other=[ceph.format("1.2.3.5", "77")])
    is_one(base, "another Ceph", False, one=[ceph.format("1.2.3.4", "77")], other=[ceph.format("1.2.3.4", "78")])
    is_one(base, "a FUSE file system", False, doubts=["files_not_known"], one=[SSHFS, NO_BIRTH], other=[SSHFS, NO_BIRTH, OTHER_INODE])
    reboot = "UPDATE meta SET value = 'one' WHERE key = 'host'"
    is_one(base, "a local one after another boot", True, one=[LOCAL], other=[LOCAL, reboot])


def by_the_user(base, work):
    there = moved(work, "/mnt/there")
    for same in f"{work}=/mnt/there", f"one:{work}/=other:/mnt/there//", f"{work}=other:/mnt/there":
        is_one(base, f"--same {same}", True, same=[same], one=[LOCAL], other=[SSHFS, NO_BIRTH, OTHER_INODE, there])
    names = {path for path, in rows(base / "all.db", "SELECT path FROM name WHERE path LIKE '%/data'")}
    checks.equal("--same: its name in the new trace", names, {f"{work}/data"})
    is_one(base, "--same of one path", True, same=[f"{work}={work}"], one=[LOCAL], other=[SSHFS, NO_BIRTH, OTHER_INODE])
    is_one(base, "--same, another host", False, same=[f"{work}=third:/mnt/there"], one=[LOCAL], other=[LOCAL, there])
    is_one(base, "--same, a part of a name", False, same=[f"{work}=/mnt/the"], one=[LOCAL], other=[LOCAL, there])
    is_one(base, "--same, replaced meanwhile", False, doubts=["files_replaced"], same=[f"{work}=/mnt/there"], one=[LOCAL],
           other=[LOCAL, OTHER_BIRTH, there])
    is_one(base, "--same, another inode", False, same=[f"{work}=/mnt/there"], one=[LOCAL], other=[LOCAL, OTHER_INODE, NO_BIRTH, there])
    is_one(base, "--same twice", True, same=["/nowhere=/else", f"{work}=/mnt/there"], one=[LOCAL], other=[LOCAL, there])
    for wrong in "x", "/x", "x=/y", "/x=y", "=/y", ":/x=/y":
        done = subprocess.run([FTRAC, "merge", "-o", base / "no.db", "--same", wrong, base / "one.tr"], capture_output=True, text=True, check=False)
        checks.equal(f"--same {wrong}: status, lines", (done.returncode, done.stderr.count("\n"), "PREFIX=OTHER" in done.stderr), (2, 1, True))


def recorded(base):
    """What a trace has of its mounts."""
    found = rows(base / "write.tr", "SELECT m.fstype, m.path, m.root, m.source, f.path FROM file f JOIN mount m ON m.id = f.mount_id"
                                    " WHERE f.path LIKE '%/data'")
    checks.equal("the mount of the file: rows", len(found), 1)
    fstype, path, root, source, place = found[0]
    lines = [line.split() for line in open("/proc/self/mountinfo", encoding="utf-8")]
    known = [(line[line.index("-") + 1], line[4], line[3], line[line.index("-") + 2]) for line in lines]
    checks.check("it is in mountinfo", (fstype, path, root, source) in known, found)
    checks.check("the file is below it", place.startswith(path), found)


need_fuse()
with tempfile.TemporaryDirectory(prefix="ftrac-case-") as directory:
    top = pathlib.Path(directory).resolve()
    folder = top / "work"
    folder.mkdir()
    traced(top / "write.tr", ["sh", "-c", "echo text > data"], folder, "--job", "write")
    traced(top / "read.tr", ["cat", "data"], folder, "--job", "read")
    recorded(top)
    by_file_systems(top, folder)
    by_the_user(top, folder)
checks.end()
