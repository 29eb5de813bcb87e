#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# seconds: 8
# long: --all
"""The N-th system call fails, for N = 1, 2, 3 ...: of a daemon from its start to its end, of the thread
that writes the trace (SQLite's reads, writes, syncs and locks are such calls), of handlers, and of
procmon.  No crash, nothing hangs, nothing wrong is shown or recorded; the program prints what it could not do.

    faults_calls.py [--all] [--runs N] [--from N --to N] [start|writer|handlers|procmon ...]
"""
import errno

from faults import Parts, arguments
from faults_mount import mount_runs
from faults_tools import procmon
from ftractest import need_fuse

# Of handlers: not what they talk to the kernel with; without that there is no mount.
OF_FILES = ("open,openat,pread,pread64,pwrite,pwrite64,fsync,fdatasync,ftruncate,ftruncate64,fallocate,"
            "posix_fallocate,posix_fallocate64,fstat,fstat64,fstatat,fstatat64,statx,fstatvfs,"
            "fstatvfs64,readlinkat,unlinkat,mkdirat,mknodat,symlinkat,linkat,renameat2,fchmod,fchmodat,"
            "fchownat,utimensat,futimens,fdopendir,fcntl,fcntl64,lseek,lseek64,copy_file_range,dup,"
            "name_to_handle_at,open_by_handle_at")


def main():
    need_fuse()
    given = arguments(__doc__, 4)
    parts = Parts(given)
    parts.run("start", mount_runs, "call", {"errno": errno.EIO, "thread": "ftrac"})
    for error in errno.EIO, errno.ENOSPC:
        parts.run(f"writer {errno.errorcode[error]}", mount_runs, "call",
                  {"thread": "ftrac-writer", "errno": error})
    # A disk that is full stays so.
    parts.run("writer full", mount_runs, "call", {"thread": "ftrac-writer", "errno": errno.ENOSPC,
                                                  "only": "pwrite,pwrite64,ftruncate,ftruncate64",
                                                  "for": 0})
    parts.run("handlers", mount_runs, "call", {"thread": "fuse_worker", "errno": errno.EIO,
                                               "only": OF_FILES})
    parts.run("procmon", procmon, "call")
    parts.checks.end()


if __name__ == "__main__":
    main()
