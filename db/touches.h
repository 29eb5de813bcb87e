/* SPDX-License-Identifier: MIT */
#ifndef DB_TOUCHES_H
#define DB_TOUCHES_H

/*
 * Touches: everything that processes did to files except reading and writing, summed.  A touch is one row for each
 * process and version of a file.
 *
 * Memory holds the touches that changed last.  If one that was dropped from memory comes again, it gets another row; the
 * views add the rows up.
 *
 * One thread.  Memory: the bytes given to touches_create(); some 250 bytes for each touch.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct file;
struct process;
struct store;
struct touches;

struct touch {
	int64_t process, file, version; /* the key; process 0: not known */
	int64_t id, path;
	int64_t opens, nmeta;
	int64_t first_ns, last_ns;
	/* When data came from the file without a read, and went to it without a write; 0: never. */
	int64_t first_in_ns, first_out_ns, last_out_ns;
	bool created, truncated, emptied, renamed, unlinked, executed, mapped;
	unsigned assumed; /* enum assumed */
};

#define TOUCH_KEY_BYTES (3 * sizeof(int64_t))

/* Facts of a touch that are assumed, not observed; traces have these codes. */
enum assumed {
	ASSUMED_READ = 1,    /* opened for reading, and no read was seen */
	ASSUMED_WRITE = 2,   /* opened for writing where writes are not seen */
	ASSUMED_UNCOUNTED = 4 /* reads and writes are not seen: their numbers are unknown */
};

/* kept: bytes of memory; there is always room for one touch.  0 or -ENOMEM. */
int touches_create(struct store *store, int64_t start_ns, size_t kept, struct touches **ret_touches);
void touches_destroy(struct touches *touches);

/* The touch of a process (NULL: not known) and a version of a file.  The caller may change it until the next call.
 * path 0: keep the last one.  NULL: out of memory; the transaction then fails. */
struct touch *touches_get(struct touches *touches, const struct process *process,
	const struct file *file, int64_t version, int64_t path, int64_t time_ns);

/* Set when data came from the file (execution, mapping, assumed read), or went to it (creation, truncation, rename,
 * assumed write). */
void touch_in(struct touch *touch, int64_t time_ns);
void touch_out(struct touch *touch, int64_t time_ns);

/* Writes the rows that changed.  0 or -errno. */
int touches_flush(struct touches *touches);
/* Also does not change them again: touches_get() makes others. */
int touches_complete(struct touches *touches);

#endif
