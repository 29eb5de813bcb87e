/* SPDX-License-Identifier: MIT */
#ifndef DB_RECORDING_H
#define DB_RECORDING_H

/*
 * The record of one run: its trace, the queue of its events and the thread that writes them.  Whatever observes the run has
 * this in common; it pushes events into the ring.
 *
 *   open    makes trace.db and the ring
 *   start   stores what is known of the run and starts the writer
 *   stop    when no event is pushed any more: writes the rest and marks the trace complete
 *   abandon  nothing happened that is worth a trace; before stop
 *   close   frees, also after an error.  A trace that was never started, or was abandoned, is removed
 *
 * open, start and stop print their errors.  One thread calls them.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct facts;
struct metrics_file;
struct ring;
struct store;
struct totals;
struct writer;
struct writer_options;

struct recording {
	const char *db; /* the name of the trace; the caller keeps it */
	struct store *store;
	struct ring *ring;
	struct writer *writer; /* between start and stop */
	bool was_started;
	struct totals *totals; /* what the run has done so far; NULL: it is not wanted */
	struct metrics_file *metrics; /* NULL: none */
	int64_t interval_ns;
};

struct recording_options {
	const char *db;
	const char *option; /* that names it, for messages; NULL: "--db" */
	bool force;   /* replace a trace */
	size_t slots; /* of the ring: a power of two */
	bool drop;    /* a full ring drops events */
	bool totals; /* are wanted, also without a file */
	const char *metrics; /* a file that says what the run has done so far; NULL: none */
	int64_t interval_ns; /* after which it is written, and of metrics.h; 0: METRICS_FILE_NS, and that of metrics.h */
};

/* 0 or the exit status. */
int recording_open(struct recording *recording, const struct recording_options *options);

/* Sets the start of the run in facts, and store, ring and times in the options of the writer; a start that is not 0 is kept; that of a run which is past (writer.h) is
 * one of the epoch.  0 or -errno. */
int recording_start(struct recording *recording, struct facts *facts, struct writer_options *writer);

/* 0 or -errno, also if recording was never started. */
int recording_stop(struct recording *recording);

void recording_abandon(struct recording *recording);

void recording_close(struct recording *recording);

#endif
