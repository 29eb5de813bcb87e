/* SPDX-License-Identifier: MIT */
#ifndef DB_WRITER_H
#define DB_WRITER_H

/*
 * The thread that moves events from the ring into the database, in batches.  A batch is one transaction: the events of some
 * tenths of a second, or as many as fit.
 *
 *   ring ──drain──► intake ──process events──► record (procs)
 *                     │
 *                     ├──nodes, operations──► queue ──up to the mark──┬──► record ──► store
 *                     └──calls on a mount's files──► calls ───────────┘
 *
 * An operation names the requesting thread, not its program.  Before the writer records operations, it lets the process
 * monitor push all events that the kernel has sent so far ('sync').  All execs and forks that precede the operations are
 * then in front of them.  A thread of its own waits for the monitor, because the monitor may wait for room in the ring, or
 * for a lock whose owner does; the writer goes on emptying the ring meanwhile.
 *
 * Calls on the files of a mount that the kernel reports (FORM_CALL) come later than the requests of the same programs.  So
 * both wait until all calls of a time have come ('seen_until'), and are recorded in the order of their ends.
 *
 * If a batch cannot be stored (disk full), recording stops for good: the batch is rolled back, earlier batches stay,
 * all other operations are counted in ops_lost, and the trace has recording_stopped_ns and recording_error.  The traced
 * programs are unaffected.
 */

#include <stdbool.h>
#include <stdint.h>

#include "db/record.h"

struct ring;
struct store;
struct writer;

struct writer_options {
	struct store *store;
	struct ring *ring;
	struct record_options record;
	int64_t epoch_offset_ns; /* monotonic to epoch */
	/* The run is over, and was seen by others: times of events are not those of our clocks, and what programs waited for is not known. */
	bool is_past;
	/* Of the process monitor; each may be NULL.  sync() may push any number of events. */
	void (*sync)(void *arg);
	uint64_t (*events_lost)(void *arg);
	uint64_t (*waited_ns)(void *arg); /* how long requests have waited for the monitor */
	uint64_t (*ops_lost)(void *arg);  /* operations that were lost before they came into the ring */
	/*
	 * Whether the thread may leave the processors to others for now: then it runs when they are idle.  The events must wait
	 * elsewhere when the ring is full.  NULL: it only has a lower priority, while the ring is less than half full.
	 */
	bool (*may_wait)(void *arg);
	/* Where may_wait is there: whether a program watches the trace (base/watched.h), from now on. */
	void (*set_watched)(void *arg, bool is_watched);
	/* All calls of FORM_CALL that ended before this time are in the ring; INT64_MAX: none will come.  NULL: they come in
	 * the order of the others. */
	int64_t (*seen_until)(void *arg);
	/* Stores facts that are known at the end, in the last transaction.  0 or -errno. */
	int (*put_facts)(void *arg, struct store *store);
	/* Called each publish_ns and at the end, when record.totals has what the run has done so far; NULL: it is not wanted. */
	void (*publish)(void *arg);
	void *publish_arg;
	int64_t publish_ns;
	void *arg;
};

/* Starts the thread.  0 or -errno. */
int writer_start(const struct writer_options *options, struct writer **ret_writer);

/* How far the run is, as of the last batch. */
struct writer_now {
	uint64_t ops;
	uint64_t processes; /* that began during the run */
	uint64_t lost; /* operations */
};
/* Any thread. */
struct writer_now writer_now(struct writer *writer);

/* Stores the exit status of the traced command, as a shell has it. */
void writer_exit_status(struct writer *writer, int status);

/* The run has ended: the trace has the fact "ending" soon, so that readers wait for the rest, and the writer does not leave the
 * processors to others any more.  Call it before what is left of the run is gathered.  NULL is fine. */
void writer_begin_end(struct writer *writer);

/*
 * Empties the ring a last time, stores the facts of the end of the run, marks the trace complete, and frees the writer.
 * A complete trace has ended in order; ops_lost has what was lost.  No thread may push any more.  0, or the -errno that
 * stopped recording (store_error() has its text).
 */
int writer_stop(struct writer *writer);

#endif
