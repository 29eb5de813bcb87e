/* SPDX-License-Identifier: MIT */
#ifndef DAG_LOAD_WALK_H
#define DAG_LOAD_WALK_H

/*
 * Does what a plan says: a process for each one of the plan, which its parent forks, and in it a thread for each of its threads.  Each
 * goes through its steps: it waits for steps of others, thinks, and acts.  How many steps each thread has done is in memory that
 * all share; waits are futexes there, which no trace of operations shows.
 *
 * The program that calls it is process 0 and has one thread.  Its working directory is that of the replay.
 */

#include <stdbool.h>
#include <stdint.h>

#include "dag/load/plan.h"

struct failure;

/* What was done, in all processes.  Filled while they run. */
struct walk_counts {
	uint64_t done[OP_MAX];	  /* operations */
	uint64_t changed[OP_MAX]; /* those that ended in another way than in the trace: another error, or other bytes */
	uint64_t skips[SKIP_MAX]; /* found while they ran, beside those of the plan */
	uint64_t read_bytes, written_bytes;
	int64_t io_ns, plan_io_ns; /* the time in these operations, and that of the same ones in the trace */
	uint64_t processes, threads;
	uint64_t late_opens;  /* of descriptors that were open before, or that came in a message */
	uint64_t closed_ends; /* of pipes: what programs had closed by executing others */
	uint64_t pieces;      /* further reads and writes of pipes, for what one call did not move */
	uint64_t given_up;    /* waits */
	uint64_t failed;      /* processes and threads that could not be started */
	int64_t begin_ns, end_ns;
};

struct walk_options {
	double speed; /* by which think times are divided; 0: there are none */
};

/* Waits for the end of all processes.  0, also if operations failed; -EINTR after SIGINT or SIGTERM; -ETIMEDOUT: nothing went on any
 * more, and all were ended; other -errno.  *ret_counts lives as long as the program. */
int load_walk(const struct plan *plan, const struct walk_options *options, struct walk_counts **ret_counts, struct failure *failure);

#endif
