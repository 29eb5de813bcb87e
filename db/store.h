/* SPDX-License-Identifier: MIT */
#ifndef DB_STORE_H
#define DB_STORE_H

/*
 * The trace.db file and the statements that fill it.  Knows SQLite, and nothing else on the
 * writing side does, but for spill.h, which is a part of it; knows nothing of what the rows mean.
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

/* Statements, by the table they fill.  The values follow the columns of schema.sql. */
enum put {
	PUT_META,
	PUT_FLAG_TEXT,
	PUT_PATH,
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
	PUT_SECOND,
	PUT_PIECES,
	PUT_WAY,
	PUT_HANDLE,
	PUT_MOVED,
	PUT_USE,
	PUT_TOUCH,
	PUT_MISSING_NAME,
	PUT_OP_TIME,
	PUT_FIGURES,
	PUT_SPENT,
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
/* NULL unless known */
#define V_OPT(known, n) ((struct value){ .type = (known) ? VALUE_INT : VALUE_NULL, .number = (n) })
/* 0 means there is none */
#define V_ID(n) V_OPT((n) != 0, n)
#define V_BYTES(t, p, n) ((struct value){ .type = (t), .number = (n), .data = (p) })

/* NULL for NULL */
static inline struct value value_str(const char *s)
{
	return s ? V_BYTES(VALUE_TEXT, s, strlen(s)) : V_NULL;
}
#define V_STR(s) value_str(s)

/*
 * Creates a new trace at path.  -EEXIST if there is a trace and force is not given, -EBUSY if it
 * is still being written, -EINVAL if there is a file that is no trace of ours (never touched, force
 * or not), -EPERM if it or what lies beside it is somebody else's, -ELOOP if a symbolic link of somebody
 * else is on the way (base/place.h), -EREMOTE if the file system cannot hold a database that is read while it
 * is written, other -errno.  All its files are made exclusively, with the mode 0600.
 * The file is locked, by flock(2), until it is destroyed: who wants a finished trace waits for that.
 * The directory is held open and all files are reached through it: whatever is mounted over it
 * later is of no concern.
 */
int store_create(const char *path, bool force, struct store **ret_store);

/* Works out what readers would have to, and makes the indexes, in a transaction that is open. */
int store_conclude(struct store *store);
/* Last step: folds the log into the one file.  Only destroy may follow.  0, also if readers keep it where it is; or
 * -errno. */
int store_fold(struct store *store);
void store_destroy(struct store *store);
/* Instead of destroy, for a trace that never began: its files are removed. */
void store_discard(struct store *store);

int store_begin(struct store *store);
/* Also fails, with what the first of them was, if anything of the transaction failed, or store_fail() was
 * told so: half of what belongs together is never committed, whoever forgot to look. */
int store_commit(struct store *store);
/* Something that belongs into this transaction could not be worked out; error (which it ends with):
 * -ENOMEM. */
int store_fail(struct store *store, int error);
void store_rollback(struct store *store);

/* Inserts or replaces a row, or (PUT_USE, PUT_MISSING_NAME) adds to the one that is there; as many values as the table has
 * columns.  In a transaction rows wait for others of their table, and may fail when it is committed; texts need not
 * outlive the call. */
int store_put(struct store *store, enum put put, const struct value *values);
int store_put_meta(struct store *store, const char *key, struct value value);
/* Puts the bytes that processes have read and written by the kernel's count, as far as that is known, as
 * "bytes_kernel"; NULL if it is known of none. */
int store_put_bytes_kernel(struct store *store);
/* Sets end_t of a row of images that is there. */
int store_end_image(struct store *store, int64_t image, int64_t end_t);

/*
 * Paths that memory has no room for: their numbers by the hash of their text, and who has such a path; 0 if it was
 * not given to store_spill_path().  In a transaction.
 */
int store_spill_path(struct store *store, uint32_t hash, int64_t id);
int store_find_path(struct store *store, uint32_t hash, const struct value *path, int64_t *ret_id);

/* Gives back disk space that was set aside at the start, so that a full disk still has room for
 * the rows that say so.  Once. */
void store_release_reserve(struct store *store);

const char *store_error(const struct store *store);

/*
 * The files of the database as they are now: the database, its log, its shared memory.  For a
 * guard that keeps a traced program from opening them through the mount.  Those that do not
 * exist are 0, 0.
 */
struct store_file {
	dev_t dev;
	ino_t ino;
};
#define STORE_FILES TRACE_FILE_USED
void store_files(const struct store *store, struct store_file ret_files[STORE_FILES]);
/* The directory they are in, and the name of the first in it. */
struct store_file store_directory(const struct store *store);
const char *store_name(const struct store *store);

#endif
