/* SPDX-License-Identifier: MIT */
#ifndef DB_TOUCHES_H
#define DB_TOUCHES_H

/*
 * What processes did to files other than reading and writing them, summed: a row for each
 * process and version of a file.
 *
 * Memory holds the rows that changed last.  One that had to be let go, and comes back, is another
 * row of the database; the views sum them up.
 *
 * One thread.  Memory: what touches_create() is given; some 250 bytes a row.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct file;
struct process;
struct store;
struct touches;

struct touch {
	int64_t process, file, version; /* tell it from all others; process 0: not known */
	int64_t id, path;
	int64_t opens, nmeta, io_ns;
	int64_t first_ns, last_ns;
	/* When data came from the file, without a read, and went to it, without a write; 0: it did not. */
	int64_t first_in_ns, first_out_ns, last_out_ns;
	bool created, truncated, emptied, renamed, unlinked, executed, mapped;
	unsigned assumed; /* enum assumed */
};

#define TOUCH_KEY_BYTES (3 * sizeof(int64_t))

/* What is not known of a touch, but assumed; the codes are in traces. */
enum assumed {
	ASSUMED_READ = 1,    /* opened for reading, and no read was seen through that open */
	ASSUMED_WRITE = 2,   /* opened for writing where data passes unseen */
	ASSUMED_UNCOUNTED = 4 /* data passed unseen: numbers of reads and writes are not known */
};

/* kept: bytes of memory for rows; one is kept in any case.  0 or -ENOMEM. */
int touches_create(struct store *store, int64_t start_ns, size_t kept, struct touches **ret_touches);
void touches_destroy(struct touches *touches);

/* The row of process (NULL: not known) and a version of a file, to be changed by the caller before
 * the next call.  path 0: keep.  NULL when out of memory. */
struct touch *touches_get(struct touches *touches, const struct process *process,
	const struct file *file, int64_t version, int64_t path, int64_t time_ns);

/* That data came, or went: one was run, mapped, created, emptied, renamed, or that is assumed. */
void touch_in(struct touch *touch, int64_t time_ns);
void touch_out(struct touch *touch, int64_t time_ns);

/* Writes the rows that changed.  0 or -errno. */
int touches_flush(struct touches *touches);

#endif
