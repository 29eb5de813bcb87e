/* SPDX-License-Identifier: MIT */
#ifndef DAG_DARSHAN_CALLS_H
#define DAG_DARSHAN_CALLS_H

/*
 * The modules STDIO, MPI-IO and DXT_MPIIO, out of calls of libraries: a record for each process and name.
 *
 * A stream has the name of the file that its descriptor was opened with; those that no recorded call has opened are <STDIN>, <STDOUT>
 * and <STDERR> on descriptors 0 to 2, and left out on others.
 *
 * Not known are the position of a stream, how much fscanf(3) has read, hints and the mode of MPI_File_open.  Without each single call of
 * MPI-IO (ftrac run --detail-above) there is no DXT_MPIIO, and of sums only what can be added up; they also count calls that found the
 * end of a file.
 */

#include <stdint.h>

struct choice;
struct failure;
struct log;
struct query_db;
struct ranks;

/* *ret_sums: so many calls of MPI-IO are in sums.  0 or -errno, with the failure. */
int calls_read(struct query_db *db, const struct choice *choice, const struct ranks *ranks, struct log *log, int64_t *ret_sums,
	struct failure *failure);

#endif
