/* SPDX-License-Identifier: MIT */
#ifndef DB_HANDLES_H
#define DB_HANDLES_H

/*
 * Opens of files and who used them: one row for each open, one for each image that read or wrote
 * a version of the file through it.  These, not the single operations, are what graphs and tables
 * are made from, so they are kept up while the trace is written.
 *
 * A handle may be used by any number of images, and of any number of versions: memory holds some, and adds to the
 * rows of the others.
 *
 * One thread.  Memory: some 300 bytes for each open handle, 150 for each use of it that is kept.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <uthash.h>

struct file;
struct handles;
struct image;
struct store;

struct io_counters {
	int64_t nread, bread, nwrite, bwrite, nseek, read_ns, write_ns;
};

struct use;

struct handle {
	int64_t id;
	struct file *file;
	struct image *opener; /* NULL: not known */
	struct image *last;   /* who used it last; stands for requests that do not say who */
	int64_t path, version;
	uint32_t flags, mode;
	bool created; /* here: mode means something */
	bool recorded;
	uint8_t fidelity;
	int8_t mapped; /* 1, 0; -1 not known */
	int64_t open_ns, close_ns;
	struct io_counters sum;
	int64_t sequential_reads, sequential_writes, consecutive_reads, consecutive_writes;
	int64_t position; /* where the last read or write ended; -1 not known */
	struct use *uses; /* those of which memory knows something that the database does not, and some more */
	size_t n_uses;
	bool shared; /* has, or had, several uses: each has a row of its own */
	bool dirty;
	STAILQ_ENTRY(handle) next_dirty;
	UT_hash_handle hh;
};

struct data {
	int64_t time_ns, latency_ns;
	int64_t offset; /* -1: not known */
	int64_t bytes;
	int64_t version;
	bool is_write;
};

/* kept: bytes of memory for handles that are closed and not written yet; a part of it for the uses of each.  One is
 * kept in any case.  0 or -ENOMEM. */
int handles_create(struct store *store, int64_t start_ns, size_t kept, struct handles **ret_handles);
void handles_destroy(struct handles *handles);

/* A new handle, to be filled in by the caller before the next flush; opener may be NULL. */
struct handle *handles_open(struct handles *handles, int64_t id, struct image *opener);
struct handle *handles_find(struct handles *handles, int64_t id);
/* To be written, and forgotten then.  0 or -errno. */
int handles_close(struct handles *handles, struct handle *handle, int64_t time_ns);

/* Counts a successful read or write by image (NULL: not known). */
int handles_data(struct handles *handles, struct handle *handle, struct image *image,
	const struct data *data);
void handles_dirty(struct handles *handles, struct handle *handle);
/* image used the handle: RELEASE and the like will be put down to it. */
void handles_used_by(struct handle *handle, struct image *image);

/* Calls with each open handle. */
void handles_each(struct handles *handles, void (*call)(void *arg, struct handle *handle),
	void *arg);

/* Writes the rows that changed.  0 or -errno. */
int handles_flush(struct handles *handles);

#endif
