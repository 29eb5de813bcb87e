#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The same seeded random work on a plain directory and through the mount: the same results, the
same errors, the same tree."""
import hashlib
import os
import shutil
import stat
import sys

import sides
from ftractest import Checks, Mount, need_fuse

need_fuse()
checks = Checks()
STEPS = 6000


class Work(sides.Work):
    """More operations, with larger files and more modes.  Without reads of whole files: in the fidelity cached, holes that
    were read count as data (see ftrac(1))."""
    op_read_all = op_again = None
    NAMES = ["a", "b", "c", "a long name with spaces", "ünï", b"not\xffutf8".decode("utf-8", "surrogateescape")]

    def data(self):
        return bytes([self.random.randrange(256)]) * self.random.choice([0, 1, 100, 4095, 4096, 4097, 70000])

    def op_write(self):
        return os.pwrite(self.fd(), self.data(), self.random.randrange(100000))

    def op_append(self):
        return os.write(self.fd(), self.data())

    def op_read(self):
        return os.pread(self.fd(), self.random.choice([1, 5000, 100000]), self.random.randrange(100000))

    def op_ftruncate(self):
        os.ftruncate(self.fd(), self.random.randrange(100000))

    def op_fallocate(self):
        os.posix_fallocate(self.fd(), self.random.randrange(1000), 5000)

    def op_lseek(self):
        fd, at = self.fd(), self.random.randrange(5000)
        whence = self.random.choice([os.SEEK_DATA, os.SEEK_HOLE, os.SEEK_END])
        if stat.S_ISREG(os.fstat(fd).st_mode):  # in a directory positions are cookies
            return os.lseek(fd, at, whence)

    def op_copy(self):
        return os.copy_file_range(self.fd(), self.fd(), 3000, 0, 50000)

    def op_mkdir(self):
        os.mkdir(self.path(), self.random.choice([0o755, 0o700, 0o2775]))

    def op_chmod(self):
        os.chmod(self.path(), self.random.choice([0o600, 0o644, 0o755, 0o6755, 0o1777]))

    def op_truncate(self):
        path, size = self.path(), self.random.randrange(100000)
        if not stat.S_ISFIFO(os.lstat(path).st_mode):
            os.truncate(path, size)

    def op_utime(self):
        os.utime(self.path(), ns=(10**18 + 5, 10**18 + self.random.randrange(10**9)), follow_symlinks=False)

    def op_setxattr(self):
        os.setxattr(self.path(), f"user.{self.random.randrange(3)}", self.data()[:100], follow_symlinks=False)

    def op_getxattr(self):
        return os.getxattr(self.path(), f"user.{self.random.randrange(3)}", follow_symlinks=False)

    def op_listxattr(self):
        return sorted(os.listxattr(self.path(), follow_symlinks=False))


def tree(top):
    """Everything that can be known of a tree, but for inode numbers and the present time."""
    found, inodes = {}, {}
    for directory, dirs, files in os.walk(top):
        for name in sorted(dirs + files):
            path = os.path.join(directory, name)
            st = os.lstat(path)
            relative = os.path.relpath(path, top)
            first = inodes.setdefault((st.st_dev, st.st_ino), relative)
            content = None
            if stat.S_ISREG(st.st_mode):
                with open(path, "rb") as f:
                    content = f.read()
            elif stat.S_ISLNK(st.st_mode):
                content = os.readlink(path)
            # Times of now differ; those of a FIFO are kept by the kernel, which does not tell.
            mtime = st.st_mtime_ns if st.st_mtime < 1.1e9 and not stat.S_ISFIFO(st.st_mode) else 0
            attributes = {n: os.getxattr(path, n, follow_symlinks=False)
                          for n in os.listxattr(path, follow_symlinks=False)}
            found[relative] = (st.st_mode, st.st_nlink, st.st_uid, st.st_gid,
                               0 if stat.S_ISDIR(st.st_mode) else st.st_size, mtime, first,
                               content, attributes)
    return found


def brief(entry):
    """Content by its hash: a difference is to be read."""
    if entry is None:
        return None
    return [hashlib.sha1(v).hexdigest()[:8] if isinstance(v, bytes) and len(v) > 20 else v
            for v in [*entry[:-1], *(x for item in sorted(entry[-1].items()) for x in item)]]


def compare(fidelity, seed):
    with Mount("--fidelity", fidelity) as mount:
        plain, mirrored = mount.base / "plain", mount.base / "mirrored"
        plain.mkdir()
        mirrored.mkdir()
        native, through = Work(plain, seed), Work(mount(mirrored), seed)
        native.run(STEPS)
        through.run(STEPS)
        sides.same_log(checks, f"{fidelity}, seed {seed}: the same results", through.log, native.log)
        trees = tree(plain), tree(mirrored), tree(mount(mirrored))
        for name in sorted(trees[0].keys() | trees[1].keys()):
            checks.equal(f"{fidelity}, seed {seed}: {name!r} is the same",
                         brief(trees[1].get(name)), brief(trees[0].get(name)))
            checks.equal(f"{fidelity}, seed {seed}: {name!r} as the mount shows it",
                         brief(trees[2].get(name)), brief(trees[0].get(name)))
        checks.check("which is not empty", len(trees[0]) > 5)
        for top in plain, mirrored:
            shutil.rmtree(top)


seeds = [int(s) for s in sys.argv[1:]] or [1, 2, 3]
for fidelity in "exact", "cached":
    for seed in seeds:
        compare(fidelity, seed)
checks.end()
