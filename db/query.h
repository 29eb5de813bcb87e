/* SPDX-License-Identifier: MIT */
#ifndef DB_QUERY_H
#define DB_QUERY_H

/*
 * The read side of traces: opens one trace, or several that are read as one workflow, and runs SQL queries on them.  All
 * queries of one struct query_db see the same snapshot, also while ftrac writes the trace.  Nothing is written.
 *
 * Without traces the result is one without rows.  Several traces are copied into a temporary database (in $SQLITE_TMPDIR, $TMPDIR or
 * /var/tmp) with new ids; query_merge() copies them into a file.  Operations are copied only with QUERY_OPS.  A directory stands
 * for the traces in it and below it (query_paths.h).
 *
 * A trace is not trusted: views in it may call only functions without side effects, it has no virtual tables and no
 * triggers, and nothing in it is larger than in a trace of ftrac.  Its contents may still be false.  A trace of another
 * user is refused without QUERY_FOREIGN, and so is a log beside the trace whose owner is not that of the trace.
 *
 * Errors are negative errno; query_error() has the message, one line.  One thread, but for query_interrupt().
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct query_db;
struct query;
struct stat;

/* How a trace is opened; a set. */
enum query_how {
	QUERY_OPS = 1,	   /* copy also the operations of several traces */
	QUERY_FOREIGN = 2, /* read also traces of other users; under sudo, the invoking user counts as the owner */
	QUERY_ENDED = 4,   /* no trace whose run has ended, but that is not complete yet: see query_open() */
};

/*
 * 0; -ENOENT: there is no such file; -EINVAL: it is no trace; -EPROTO: it has a newer format; -EPERM: it belongs to another
 * user; -ESTALE: its name has changed to another file in between; other -errno.  *ret_db is set also on errors, for
 * query_error() and query_close(); NULL: out of memory.
 *
 * With QUERY_ENDED also -EINPROGRESS: the writer of a trace completes it, so the caller had better try again; -EAGAIN: the mount of
 * a trace is gone and its writer has not begun that yet, or the mount was removed lazily and is still used.
 */
int query_open(const char *const *paths, int n, unsigned how, struct query_db **ret_db);

/*
 * The same, also for one trace, and the result is a complete trace in the file fd, which is empty and was opened for reading and
 * writing; close the database before the file.  After an error the file is of no use.  Traces are merged in the order of their
 * start, whatever that of the paths.  Memory grows with processes and files, not with operations.
 */
struct query_into {
	int fd;
	const char *const *same; /* which directories are the same, see db/same.h; query_same_wrong() is NULL for each */
	int n_same;
	const struct stat *old; /* the file that the result will replace, which is no trace to be merged; NULL: there is none */
};
/* What is wrong with the text "PREFIX=OTHER"; NULL: nothing. */
const char *query_same_wrong(const char *text);
int query_merge(const char *const *paths, int n, unsigned how, const struct query_into *into, struct query_db **ret_db);

/*
 * One complete trace, in which texts become others (redact.h), into the file fd as above.  The texts are those of the trace, of all kinds;
 * put() says what stands for one, until its next call.  0 or -ENOMEM.  shift_ns is added to points in time.
 */
enum query_text_kind {
	QUERY_TEXT_PATH,
	QUERY_TEXT_OWNER,  /* a user or a host */
	QUERY_TEXT_NUMBER, /* of a process, a job that is called by one, or a rank: digits */
	QUERY_TEXT_OTHER,
};
struct query_texts {
	void *arg;
	int (*see)(void *arg, enum query_text_kind kind, const char *text, size_t len);
	int (*put)(void *arg, const char *text, size_t len, const char **ret_text, size_t *ret_len);
	int64_t shift_ns;
};
int query_redact(const char *path, unsigned how, const struct query_texts *texts, int fd, struct query_db **ret_db);

void query_close(struct query_db *db);
const char *query_error(const struct query_db *db);
/* The trace, without symbolic links; NULL: there are several, or none. */
const char *query_path(const struct query_db *db);
/* Whether a writer holds the trace: it is still being written.  Of one trace. */
bool query_is_written(const struct query_db *db);
/* Any thread, until query_close(): a query that goes on ends with an error. */
void query_interrupt(struct query_db *db);

/* Starts a statement; several are refused.  query_next() goes to the next row: 1 there is one, 0 there are no more, or -errno. */
int query_start(struct query_db *db, const char *sql, struct query **ret_query);
int query_next(struct query *query);
void query_end(struct query *query); /* NULL is fine */
/*
 * Ends the snapshot, and goes back before the first row: the next query_next() sees the trace as it is then.  In between nothing
 * keeps the writer from emptying its log.  The facts stay those of the open.
 */
void query_rest(struct query *query);

enum query_type { QUERY_NULL, QUERY_INT, QUERY_REAL, QUERY_TEXT, QUERY_BLOB };

/*
 * Reads columns by their names: from now on column first + i is the i-th of names, which are separated by blanks.  Columns
 * before first keep their positions.  0; -EPROTO: the query has no such column, query_error() has its name; -ENOMEM.
 */
int query_bind(struct query *query, int first, const char *names);

int query_columns(const struct query *query);
const char *query_name(const struct query *query, int column);
/* Values of the current row.  Texts and BLOBs are valid until query_next() and do not end with NUL. */
enum query_type query_type(const struct query *query, int column);
/*
 * query_int() limits numbers to +-QUERY_MOST: no time is later (in ns, the year 2096), no size larger.  So the difference
 * of any two numbers cannot overflow, even if the trace is forged.
 */
#define QUERY_MOST INT64_C(4000000000000000000)
int64_t query_int(const struct query *query, int column);
double query_real(const struct query *query, int column);
const char *query_bytes(const struct query *query, int column, size_t *ret_len);

/* A fact of the view "trace"; fallback if it is absent or not a number. */
int64_t query_fact(const struct query_db *db, const char *key, int64_t fallback);
/* The same as text, valid as long as db; NULL if it is absent. */
const char *query_fact_text(const struct query_db *db, const char *key);

#endif
