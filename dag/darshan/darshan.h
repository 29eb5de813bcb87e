/* SPDX-License-Identifier: MIT */
#ifndef DAG_DARSHAN_DARSHAN_H
#define DAG_DARSHAN_DARSHAN_H

/*
 * A trace as a log of Darshan, for its tools: the modules POSIX and DXT_POSIX out of operations (posix.h); STDIO, MPI-IO and DXT_MPIIO
 * out of calls of libraries (calls.h); format.h has the layout.  A record is of one process and one path: ranks.h says which rank a
 * process is.  Records of a file that all ranks share are not put together.
 *
 * The metadata of the job say what made the log (lib_ver), how ranks were numbered (ftrac_ranks), and the fidelity of the trace.
 */

#include <stdbool.h>
#include <stdio.h>

struct choice;
struct failure;
struct query_db;

/* whole: nothing is missing in the trace; else its modules are marked as partial.  say(), such as err_print(), gets a line for what had
 * to be left out.  0; -ENODATA: the trace has neither operations nor calls; other -errno.  With the failure. */
int darshan_write(struct query_db *db, const struct choice *choice, bool whole, void (*say)(const char *format, ...), FILE *out,
	struct failure *failure);

#endif
