/* SPDX-License-Identifier: MIT */
#ifndef DAG_DARSHAN_POSIX_H
#define DAG_DARSHAN_POSIX_H

/*
 * The modules POSIX and DXT_POSIX, out of operations: a record for each process and path.
 *
 * Not known are what a mount does not see (dup, lseek, stat, mmap), alignments, fileno(3), whether fsync(2) or fdatasync(2) was called
 * (FSYNCS has both), and data if files were opened with fidelity open.
 */

struct choice;
struct failure;
struct log;
struct query_db;
struct ranks;

/* 0 or -errno, with the failure. */
int posix_read(struct query_db *db, const struct choice *choice, const struct ranks *ranks, struct log *log, struct failure *failure);

#endif
