/* SPDX-License-Identifier: MIT */
#ifndef DB_QUERY_INTERNAL_H
#define DB_QUERY_INTERNAL_H

/* What query.c, which reads rows and facts, shares with query_open.c and query_several.c, which open traces. */

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
	const struct query_into *into; /* where several traces are put together; NULL: in a temporary file */
	bool relayed; /* opened by the VFS of relay.h, if it has no log */
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
/* The first number that the statement finds; -1: an error, or nothing. */
int64_t query_number(sqlite3 *sqlite, const char *sql);
/* Views that every trace has.  The view process works out all jobs while a trace grows, so it is only compiled, which tells whether it may be
 * read. */
#define QUERY_IS_TRACE                                                                         \
	"SELECT (SELECT count(*) FROM (SELECT 1 FROM trace LIMIT 1)) + (SELECT count(*) FROM " \
	"(SELECT 1 FROM image LIMIT 1)) + (SELECT count(*) FROM (SELECT 1 FROM handle LIMIT 1)) + " \
	"CASE WHEN (SELECT 0) THEN (SELECT count(*) FROM process) ELSE 0 END"

/* Before the trace is opened; and after its first read. */
void query_files_init(struct trace_files *files, const char *trace);
void query_files_made(struct trace_files *files);
void query_files_finish(struct trace_files *files);
/* relayed: by relay.h. */
char *query_uri(const struct trace_files *files, bool relayed);

/* Checks before the trace is opened. */
int query_check_files(struct query_db *db, const char *path, struct trace_files *files, unsigned how);
/* SQLite opens the name again: checks that it still leads to the file that was checked. */
int query_check_same(struct query_db *db, const char *path, const struct trace_files *files);

/* What an untrusted schema may do.  SQLite's codes. */
int query_harden(sqlite3 *sqlite);
/* One trace, and begins the snapshot. */
int query_open_trace(struct query_db *db, const char *path, unsigned how);
/* Without the snapshot. */
int query_open_several(struct query_db *db, const char *const *paths, int n, unsigned how);
/* Again: those of the trace that is open now. */
int query_read_facts(struct query_db *db);
/* Of an open trace: 0, or the -EINPROGRESS or -EAGAIN of QUERY_ENDED. */
int query_check_ended(struct query_db *db);

#endif
