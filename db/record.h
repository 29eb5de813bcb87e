/* SPDX-License-Identifier: MIT */
#ifndef DB_RECORD_H
#define DB_RECORD_H

/*
 * From events to rows: what each operation means for files, names, versions, handles and processes.  No threads, no
 * queue; the writer calls it.
 *
 * Process events may come before operations that finished earlier (procs.h orders them by time).  Nodes and operations
 * come in their own order.
 *
 * Memory grows with the number of files seen, names that the kernel remembers, living processes and open handles.
 * Everything else that clients can make any number of is bounded by 'kept': missing and old names (paths.h), touches
 * (touches.h) and closed handles (handles.h) take up to that each, three tables of tuples (tuples.h) a quarter each,
 * sums of operations (metrics.h) a quarter, missing names (missing_names.h) an eighth: four and a half times 'kept' in all.  When a bound is reached, rows are written earlier;
 * the views show the same with any bound.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db/paths.h"
#include "db/walk.h"

struct event;
struct totals;
struct record;
struct store;

#define RECORD_KEPT (4 << 20) /* bytes */

struct record_options {
	struct paths_options paths;
	int64_t start_ns; /* of the run, monotonic */
	bool ops;	  /* store single operations, not only their sums */
	int64_t interval_ns; /* of metrics.h; 0: a second */
	struct totals *totals; /* of the operations whose intervals are written; NULL: they are not wanted */
	size_t kept;	  /* bytes; 0: RECORD_KEPT */
	walk_probe *probe; /* of system calls: what there is at a path now; NULL: none */
	void *probe_arg;
	const char *declared; /* directory of notes (declared.h) for record_finish(); NULL: none */
};

/* Figures of the run as a whole. */
struct record_counts {
	uint64_t ops;	 /* operations stored, or counted with ops off */
	uint64_t bytes;	 /* read and written */
	uint64_t mount_bytes; /* the part of it through the mount */
	uint64_t paged_bytes;  /* the part of that which mappings moved, or an exec: no call of a program */
	uint64_t mapped_bytes; /* in mappings that system calls made: accesses to them are not seen */
	uint64_t excluded; /* operations on excluded paths */
	uint64_t calls;	   /* of layers, stored */
	uint64_t processes; /* that began during the run */
	uint64_t living;    /* processes */
	/* How often a file was written both directly and from a mapping while it was open; each write may have undone the
	 * other in the same page.  mixed_file: the first such file. */
	uint64_t mixed;
	int64_t mixed_file;
};

int record_create(struct store *store, const struct record_options *options,
	struct record **ret_record);
void record_destroy(struct record *record);

/* Records one event with its whole text.  0, or -errno of the database: the batch has failed. */
int record_event(struct record *record, const struct event *event, const char *text, size_t len);

/* Writes the sums that changed.  Call it before every commit.  now_ns: the sums of intervals that ended before it are written, too;
 * INT64_MAX: all.  0 or -errno. */
int record_flush(struct record *record, int64_t now_ns);
/* Whether an interval has ended whose sums are not written. */
bool record_is_due(const struct record *record, int64_t now_ns);

/* Between a flush and its commit: if much has been recorded since, adds it to the tables that have results (sum.sql).  0 or -errno. */
int record_sum(struct record *record);

/* At the end of the run, before the last flush: assumes for open handles what a close would assume, and stores the
 * declared prerequisites.  0 or -errno. */
int record_finish(struct record *record);

/* Frees processes that ended before time_ns.  Call it after a flush. */
void record_prune(struct record *record, int64_t time_ns);

struct record_counts record_counts(const struct record *record);

#endif
