/* SPDX-License-Identifier: MIT */
#ifndef DB_HANDLES_H
#define DB_HANDLES_H

/*
 * Handles and their uses.  A handle is one open of a file; a use is what one image read or wrote of one version through
 * it.  Graphs and tables are made from these rows, not from single operations, so they are kept up to date while the
 * trace is written.
 *
 * A handle may have any number of uses.  Memory holds some of them; the database adds to the rows of the others.
 *
 * One thread.  Memory: some 400 bytes for each open handle, 150 for each of its uses in memory.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <uthash.h>

#include "db/store.h"

struct file;
struct handles;
struct image;

struct io_counters {
	int64_t nread, bread, nwrite, bwrite, nseek, read_ns, write_ns;
};

struct use;

/* An operation that is a part of the handle's rows.  Of stat, the code is OP_GETATTR. */
struct end {
	int64_t op; /* its id; 0: none */
	int64_t code, time_ns, latency_ns, result;
};

struct handle {
	int64_t id;
	struct file *file;
	struct image *opener; /* NULL: not known */
	struct image *last;   /* the last user; taken for requests without a requester */
	int64_t path, version;
	int64_t thread; /* that opened it, a row of threads; 0: the first one of the opener */
	uint32_t flags, mode;
	bool created; /* by this open; then mode is set */
	bool recorded;
	bool by_call; /* opened by a system call that no mount saw */
	uint8_t fidelity;
	int8_t mapped; /* 1, 0; -1 not known */
	struct image *mapper; /* the last one that mapped it shared and writable, and its version then; NULL: none */
	int64_t mapped_version;
	int64_t open_ns, close_ns;
	struct end open, close, stat; /* close, stat: only after open, with the result 0 */
	struct end data;	      /* the first that moved data, if it is one of the opener */
	struct value data_offset, data_length; /* as in schema.sql */
	bool has_data_rows;	      /* operations that moved data have rows of their own */
	struct io_counters sum;
	int64_t sequential_reads, sequential_writes, consecutive_reads, consecutive_writes;
	int64_t position; /* where the last read or write ended; -1 not known */
	struct use *uses; /* uses in memory: at least those with sums that are not in the database */
	size_t n_uses;
	bool shared; /* has or had several uses; each use then has a row */
	bool dirty;
	STAILQ_ENTRY(handle) next_dirty;
	STAILQ_ENTRY(handle) next_ending; /* of those whose end waits for late calls */
	int64_t end_ns;
	UT_hash_handle hh;
};

struct data {
	int64_t time_ns, latency_ns;
	int64_t offset; /* -1: not known */
	int64_t bytes;
	int64_t version;
	bool is_write;
};

/* kept: bytes of memory for closed handles that are not written yet; a part of it bounds the uses of each handle.  There
 * is always room for one.  0 or -ENOMEM. */
int handles_create(struct store *store, int64_t start_ns, size_t kept, struct handles **ret_handles);
void handles_destroy(struct handles *handles);

/* A new handle, which the caller fills before the next flush; opener may be NULL.  NULL: out of memory. */
struct handle *handles_open(struct handles *handles, int64_t id, struct image *opener);
struct handle *handles_find(struct handles *handles, int64_t id);
/* Marks the handle closed; it is freed after its row is written.  0 or -errno. */
int handles_close(struct handles *handles, struct handle *handle, int64_t time_ns);

/* Counts a successful read or write by image (NULL: not known).  0 or -errno. */
int handles_data(struct handles *handles, struct handle *handle, struct image *image,
	const struct data *data);
/* The row of the handle has to be written. */
void handles_dirty(struct handles *handles, struct handle *handle);
/* Makes image the last user of the handle, to which a RELEASE is attributed. */
void handles_used_by(struct handle *handle, struct image *image);

/* Calls the function for each open handle. */
void handles_each(struct handles *handles, void (*call)(void *arg, struct handle *handle),
	void *arg);

/* No handle will be used again: with the next flush, the uses of open ones are complete, too. */
void handles_end(struct handles *handles);

/* Writes the rows that changed.  0 or -errno. */
int handles_flush(struct handles *handles);

#endif
