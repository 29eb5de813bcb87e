/* SPDX-License-Identifier: MIT */
#ifndef BASE_TRACE_FILE_H
#define BASE_TRACE_FILE_H

/*
 * The files of a trace: the database, and those that SQLite keeps beside it while the database is written.  Here are
 * their names, and how to recognise a trace; base/output.h and db/ use both.
 */

#include <stdbool.h>

/* PRAGMA application_id of a trace ("ftrc"). */
#define TRACE_FILE_ID 1718907491

enum trace_file {
	TRACE_FILE_DATABASE,
	TRACE_FILE_LOG,	  /* write-ahead log: the newest part of the trace */
	TRACE_FILE_INDEX, /* of the log, in shared memory */
	TRACE_FILE_USED,  /* ftrac uses the files before this one */
	/* Rollback journal.  ftrac has none, but SQLite applies one that it finds. */
	TRACE_FILE_JOURNAL = TRACE_FILE_USED,
	TRACE_FILE_MAX
};

/* What follows the name of the database in the names of its files. */
extern const char *const trace_file_suffix[TRACE_FILE_MAX];

/* Whether the file begins with the header of a trace; false also if it cannot be read. */
bool trace_file_is(int fd);

#endif
