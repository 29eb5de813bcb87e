/* SPDX-License-Identifier: MIT */
#ifndef DB_STORE_H
#define DB_STORE_H

/*
 * The file trace.db and the statements that fill it.  On the writing side only this module and spill.h use SQLite.  It
 * does not interpret the rows.
 *
 * Errors are negative errno; store_error() has SQLite's text of the last one.  One thread.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

#include "base/trace_file.h"

struct store;

/* Statements, by the table that they fill.  The values are in the order of the columns in schema.sql. */
enum put {
	PUT_META,
	PUT_CLOCK,
	PUT_FLAG_TEXT,
	PUT_DIRECTORY,
	PUT_PATH_NAME,
	PUT_MOUNT,
	PUT_KIND,
	PUT_FILE,
	PUT_NAME,
	PUT_PROCESS,
	PUT_IMAGE,
	PUT_ENVIRON,
	PUT_THREAD,
	PUT_OP_HANDLE,
	PUT_OP_NAME,
	PUT_SECOND_OPERAND,
	PUT_PIECES,
	PUT_RANGE,
	PUT_WAY,
	PUT_HANDLE,
	PUT_MOVED,
	PUT_MOVED_OTHERWISE,
	PUT_USE,
	PUT_TOUCH,
	PUT_SOCKET,
	PUT_DEVICE,
	PUT_CALLER,
	PUT_CALL,
	PUT_MPI_CALL,
	PUT_CALL_SUM,
	PUT_MISSING_NAME,
	PUT_OP_TIME,
	PUT_METRIC_GRID,
	PUT_METRIC,
	PUT_FIGURES,
	PUT_FRESH_IMAGE,
	PUT_FRESH_HANDLE,
	PUT_SPENT,
	PUT_LOADED,
	PUT_SAMPLE,
	PUT_TARGET,
	PUT_PREREQUISITE,
	PUT_MAX
};

struct value {
	enum { VALUE_NULL, VALUE_INT, VALUE_TEXT, VALUE_BLOB } type;
	int64_t number; /* the number, or the length of data */
	const void *data;
};

#define V_NULL ((struct value){ .type = VALUE_NULL })
#define V_INT(n) ((struct value){ .type = VALUE_INT, .number = (n) })
/* The number if known, otherwise NULL */
#define V_OPT(known, n) ((struct value){ .type = (known) ? VALUE_INT : VALUE_NULL, .number = (n) })
/* An id; 0 becomes NULL */
#define V_ID(n) V_OPT((n) != 0, n)
#define V_BYTES(t, p, n) ((struct value){ .type = (t), .number = (n), .data = (p) })

/* A string; NULL becomes NULL */
static inline struct value value_str(const char *s)
{
	return s ? V_BYTES(VALUE_TEXT, s, strlen(s)) : V_NULL;
}
#define V_STR(s) value_str(s)

/*
 * Creates a new trace at path.  Errors:
 *   -EEXIST  there is a trace, and force is false
 *   -EBUSY   the trace there is still being written
 *   -EINVAL  the file there is not a trace; it is never replaced, even with force
 *   -EPERM   the file, or one of trace_file.h beside it, belongs to another user
 *   -ELOOP   a symbolic link of another user is on the way (base/place.h)
 *   -EREMOTE the file system does not support reading a database while it is written
 * or other -errno.  Files are created exclusively, with mode 0600.
 * The file is locked with flock(2) until store_destroy(), so a program that needs the finished trace can wait for that
 * lock.  The directory stays open, and all files are reached through it: later mounts over it have no effect.
 */
int store_create(const char *path, bool force, struct store **ret_store);

/* How many rows sum.sql has to take, about. */
size_t store_fresh_rows(const struct store *store);
/* Runs sum.sql, in an open transaction: no row of touches and no use of PUT_FRESH_HANDLE may be written again.  0 or -errno. */
int store_sum(struct store *store);
/* The same, computes the tables of finish.sql and creates the indexes, in an open transaction.  0 or -errno. */
int store_conclude(struct store *store);
/* Moves the log into the database file; only store_destroy() may follow.  0, also if readers prevent it; or -errno. */
int store_fold(struct store *store);
void store_destroy(struct store *store);
/* The trace is worth to be kept: removes the one that it replaces.  store_destroy() does so, too. */
void store_keep(struct store *store);
/* Like store_destroy(), and removes the files: for a trace whose recording never began.  The trace that it would have replaced is
 * there again. */
void store_discard(struct store *store);

int store_begin(struct store *store);
/* As store_begin(), for the transaction of store_conclude(): what SQLite needs in between is large, and in files.  Before, it is in memory,
 * because while programs run they may need all descriptors. */
int store_begin_conclusion(struct store *store);
/* Fails with the first error of the transaction if any call failed, even if the caller ignored it, or after store_fail().
 * So incomplete transactions are never committed. */
int store_commit(struct store *store);
/* Fails the transaction: a row that belongs to it could not be computed.  Returns the error (-ENOMEM). */
int store_fail(struct store *store, int error);
void store_rollback(struct store *store);

/* Inserts or replaces a row, or (PUT_USE, PUT_MISSING_NAME) adds to the existing one; one value for each column of the
 * table.  In a transaction rows are buffered, so an error may show only at the commit.  Texts are copied. */
int store_put(struct store *store, enum put put, const struct value *values);
int store_put_meta(struct store *store, const char *key, struct value value);
/* Fills the table call_name.  Once, in a transaction, and only where calls of layers are recorded: it takes 6 KB. */
int store_name_calls(struct store *store);
/* Stores the fact "bytes_kernel": the bytes that processes have read and written, as counted by the kernel; NULL if it is
 * not known of any process, or if there is no command. */
int store_put_bytes_kernel(struct store *store);
/* How long operations took is not known: what was worked out of that becomes NULL.  At the end of the run.  0 or -errno. */
int store_forget_latencies(struct store *store);
/* Sets end_t of an existing row of images. */
int store_end_image(struct store *store, int64_t image, int64_t end_t);
/* Makes the rows of PUT_SPENT of a process consistent with its row of PUT_FIGURES (fit_spent.sql). */
int store_fit_spent(struct store *store, int64_t process);

/*
 * Ids of paths that were dropped from memory, by the hash of their text.  store_find_path() finds the id of a path; 0: it
 * was not spilled.  In a transaction.
 */
int store_spill_path(struct store *store, uint32_t hash, int64_t id);
int store_find_path(struct store *store, uint32_t hash, const struct value *path, int64_t *ret_id);

/* Frees disk space that was reserved at the start, so that the facts about a full disk can be written.  Once. */
void store_release_reserve(struct store *store);

const char *store_error(const struct store *store);

/* Whether a program reads the trace again and again (base/watched.h). */
bool store_is_watched(const struct store *store);

/*
 * The files of the database (trace_file.h) at this moment, so that the mount can refuse to open them.  A file that does
 * not exist is 0, 0.
 */
struct store_file {
	dev_t dev;
	ino_t ino;
};
#define STORE_FILES TRACE_FILE_USED
void store_files(const struct store *store, struct store_file ret_files[STORE_FILES]);
/* Their directory, and the name of the database in it. */
struct store_file store_directory(const struct store *store);
const char *store_name(const struct store *store);
/* Its absolute path at this moment; allocated, NULL: not known. */
char *store_place(const struct store *store);

#endif
