/* SPDX-License-Identifier: MIT */
#ifndef DB_RECORD_H
#define DB_RECORD_H

/*
 * From events to rows: what each operation means for files, names, versions, handles, processes.
 * Knows no thread and no queue; the writer feeds it.
 *
 * Process events may be taken in ahead of operations that finished earlier (procs.h sorts that
 * out by time); nodes and operations must come in their order.
 *
 * Memory grows with files that were seen, names of those that the kernel remembers, living processes and open
 * handles.  Whatever else clients can make as much of as they like is bounded by 'kept': names that lead nowhere
 * (paths.h), what was done to files (touches.h) and closed handles (handles.h) may take as much each, three tables of
 * combinations (tuples.h) a quarter each, searches (missing_names.h) an eighth: four times as much in all.  Beyond that,
 * facts go to the database earlier; what the views show is the same with any bound.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db/paths.h"

struct event;
struct record;
struct store;

#define RECORD_KEPT (4 << 20) /* bytes */

struct record_options {
	struct paths_options paths;
	int64_t start_ns; /* of the run, monotonic */
	bool ops;	  /* single operations are stored, not only their sums */
	size_t kept;	  /* bytes; 0: RECORD_KEPT */
	const char *declared; /* directory of notes (declared.h) that record_finish() takes in; NULL: none */
};

/* Figures of the run as a whole. */
struct record_counts {
	uint64_t ops;	 /* operations stored, or counted with ops off */
	uint64_t bytes;	 /* read and written */
	uint64_t excluded; /* operations on what is not to be recorded */
	/* Times that a file was written directly and from a mapping while it was open: each may have undone what the other
	 * had written to the same page.  The first such file. */
	uint64_t mixed;
	int64_t mixed_file;
};

int record_create(struct store *store, const struct record_options *options,
	struct record **ret_record);
void record_destroy(struct record *record);

/* Takes in one event with its whole text.  0, or -errno of the database: the batch has failed. */
int record_event(struct record *record, const struct event *event, const char *text, size_t len);

/* Writes the sums that changed; before every commit. */
int record_flush(struct record *record);

/* The run is over: says of handles that are still open what is said at a close, and takes in what the build
 * has said of itself.  Before the last flush; 0 or -errno. */
int record_finish(struct record *record);

/* Lets go of processes that ended before time_ns; after a flush. */
void record_prune(struct record *record, int64_t time_ns);

struct record_counts record_counts(const struct record *record);

#endif
