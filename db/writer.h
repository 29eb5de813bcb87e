/* SPDX-License-Identifier: MIT */
#ifndef DB_WRITER_H
#define DB_WRITER_H

/*
 * The thread that empties the ring into the database, a batch at a time: one transaction for what
 * came within some tenths of a second, or for as many events as fit.
 *
 *   ring ──drain──► intake ──process events──► record (procs)
 *                     │
 *                     └──nodes, operations──► queue ──up to the mark──► record ──► store
 *
 * An operation says which thread asked, not which program.  Before it takes operations in, the
 * writer lets the process monitor put into the ring what the kernel has told so far ('sync');
 * operations that were there before that have, then, all their execs and forks in front of them.
 *
 * If a batch cannot be stored (disk full), recording stops for good: the batch is rolled back,
 * what had been committed stays, everything else is counted in ops_lost, and the trace says so
 * (recording_stopped_ns, recording_error).  The observed programs go on.
 */

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
	/* Of the process monitor; each may be NULL. */
	void (*sync)(void *arg);
	uint64_t (*events_lost)(void *arg);
	uint64_t (*waited_ns)(void *arg); /* what requests have waited for it */
	void *arg;
};

/* Starts the thread.  0 or -errno. */
int writer_start(const struct writer_options *options, struct writer **ret_writer);

/* The command that is traced has ended, with that status as a shell says it. */
void writer_exit_status(struct writer *writer, int status);

/*
 * Empties the ring a last time, writes the end of the run, marks the trace complete (which
 * says that it ended in order, not that nothing was lost: ops_lost says that), and frees.  Nobody
 * may push any more.  0, or the -errno that made
 * recording stop (store_error() has its text).
 */
int writer_stop(struct writer *writer);

#endif
