/* SPDX-License-Identifier: MIT */
#ifndef DB_QUERY_H
#define DB_QUERY_H

/*
 * The read side of traces: opens one, or several that are taken for one workflow, and reads what SQL
 * finds there.  All that is read through one struct query_db is of one moment, also while the trace
 * grows.  Nothing is written.
 *
 * Several traces are put together in a temporary database (of $SQLITE_TMPDIR, $TMPDIR or /var/tmp),
 * with new ids: a file is the same if path, device and inode number are.  Without their operations if
 * those are not asked for.
 *
 * A trace is a file that somebody wrote, so it is not trusted: its own views may call no function that does
 * anything but work something out, it has no virtual tables and no triggers, and nothing in it is larger than
 * ours would be.  What it says may be a lie all the same.  That of another user is not read unless asked for,
 * nor a log beside a trace that is not its owner's.
 *
 * Errors are negative errno; query_error() says more, in one line.  One thread.
 */

#include <stddef.h>
#include <stdint.h>

struct query_db;
struct query;

/* How a trace is opened; 0: neither. */
enum query_how {
	QUERY_OPS = 1,	   /* several traces: with their operations */
	QUERY_FOREIGN = 2, /* also those of somebody else; by sudo, who is behind it is no somebody else */
};

/*
 * -ENOENT: there is no such file; -EINVAL: it is no trace; -EPROTO: it is of a newer format than we
 * know; -EPERM: it is of somebody else; -ESTALE: another file has got its name meanwhile; other -errno.  *ret_db is there in any case, for query_error() and query_close(), unless it
 * is NULL: out of memory.
 */
int query_open(const char *const *paths, int n, unsigned how, struct query_db **ret_db);
void query_close(struct query_db *db);
const char *query_error(const struct query_db *db);

/* A statement; rows come by query_next(): 1 there is one, 0 there are no more, or -errno. */
int query_start(struct query_db *db, const char *sql, struct query **ret_query);
int query_next(struct query *query);
void query_end(struct query *query); /* NULL is fine */

enum query_type { QUERY_NULL, QUERY_INT, QUERY_REAL, QUERY_TEXT, QUERY_BLOB };

/*
 * Reads columns by their names: the column with number first + i is the i-th of names from now on (names have blanks
 * between them); those before first are as they stand.  0; -EPROTO: the query has no column of such a name, and
 * query_error() tells which; -ENOMEM.
 */
int query_bind(struct query *query, int first, const char *names);

int query_columns(const struct query *query);
const char *query_name(const struct query *query, int column);
/* Of the row that query_next() found.  Texts and BLOBs live until the next; not ended by NUL. */
enum query_type query_type(const struct query *query, int column);
/*
 * Numbers farther from 0 are cut to this, wherever they are read: no time is later (in ns, the year 2096), no
 * size larger.  So who reads a trace that was made up can take the difference of any two.
 */
#define QUERY_MOST INT64_C(4000000000000000000)
int64_t query_int(const struct query *query, int column);
double query_real(const struct query *query, int column);
const char *query_bytes(const struct query *query, int column, size_t *ret_len);

/* A fact of the view "trace"; fallback if it is not there, or is no number. */
int64_t query_fact(const struct query_db *db, const char *key, int64_t fallback);
/* As text, as long as db lives; NULL if it is not there. */
const char *query_fact_text(const struct query_db *db, const char *key);

#endif
