/* SPDX-License-Identifier: MIT */
#ifndef DAG_DARSHAN_JOB_H
#define DAG_DARSHAN_JOB_H

/* The region of the job: its times and owner, its command line, its mounts. */

#include <stdint.h>

struct failure;
struct log;
struct query_db;
struct ranks;

/* sums: calls of MPI-IO that are in sums.  0 or -errno, with the failure. */
int job_read(struct query_db *db, const struct ranks *ranks, int64_t sums, struct log *log, struct failure *failure);

#endif
