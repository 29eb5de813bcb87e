/* SPDX-License-Identifier: MIT */
#ifndef DB_QUERY_INTERNAL_H
#define DB_QUERY_INTERNAL_H

/* What query.c, which reads rows and facts, shares with query_open.c, which opens traces. */

#include <limits.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "db/query.h"

/*
 * The files of a trace.  To read a log that was left behind, SQLite creates an index beside it and leaves it there.
 * query_close() removes that index, but no other: another one may belong to a writer.
 */
struct trace_files {
	char *path; /* of the trace, without symbolic links */
	struct stat trace;
	int has_log;       /* 1, 0, or -ENOMEM: not known */
	struct stat index; /* created by SQLite for this reader; st_ino 0: none */
	bool had_index;
};

struct query_db {
	sqlite3 *sqlite;
	struct trace_files files;
	struct fact *facts;
	int failed; /* error of a text, which the next call returns */
	char error[2 * PATH_MAX];
};

/* A fact of the view "trace".  All are read when the trace is opened: later an error would look like an unknown fact. */
struct fact {
	struct fact *next;
	bool is_number;
	int64_t number;
	char *text; /* within bytes */
	char bytes[];
};

/* Sets the text of the error, of which path and why are the two "%s" of the format, and returns it. */
int query_fail(struct query_db *db, int error, const char *format, const char *path,
	const char *why);
/* Converts SQLite's codes to -errno, with SQLite's text; the only place. */
int query_fail_sqlite(struct query_db *db, int code);
/* Of an open trace: 0, or the -EINPROGRESS or -EAGAIN of QUERY_ENDED. */
int query_check_ended(struct query_db *db);

#endif
