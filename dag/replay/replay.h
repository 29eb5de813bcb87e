/* SPDX-License-Identifier: MIT */
#ifndef DAG_REPLAY_REPLAY_H
#define DAG_REPLAY_REPLAY_H

/*
 * A traced workflow once more, on other resources: how long would it take?  No prophecy: each process does
 * what it did in the trace, in the same order, and only waits differ.
 *
 * A process is cut at its forks and at the ends of its children.  Each piece is work for a core, and waiting
 * that needs none; time in which a child lived is waiting for that, and counts only as far as the process
 * computed.  What the pieces wait for:
 *
 *   - a process goes on behind the end of a child where it did so in the trace; if it waited, but not for an
 *     end, before it started the next or ended itself, it waits until the last one has come as far as it
 *     had then;
 *   - a driver (make, ninja, xargs ...) starts a child as soon as a slot is free, and all has ended that
 *     wrote what that child, or any below it, is going to read, if that had ended before it began in the
 *     trace, too.  Of several, the first in the trace.  The make of a make has no slots of its own;
 *   - a core.  If more are wanted than there are, all that compute are slowed down alike.
 *
 * What is work is worked out from the trace alone.  If most of the time that processes waited for a core
 * (cpu_delay_ns) was spent while more were wanted than there are, that time is left out.  Requests to ftrac,
 * and as much other waiting as there was waiting for cores, took longer by as much, and are made shorter by
 * it.  Where system calls were recorded, nothing was a request to ftrac.  What the workflow then had of the cores is what it gets again: others had the rest, ftrac and whatever
 * else was there.  If not, it had to wait although there were cores, and does so again.  Requests are work of
 * a core, because ftrac works meanwhile.
 *
 * What a trace does not tell is not known here: memory shared, pipes (but those of a faster program, see pipes.c), files that were only looked at,
 * orders that were given without a file; that programs compute more slowly with others at their side.  A
 * process without figures computed all the time.
 *
 * The same trace and options give the same numbers.  Times are in ns.  One thread.
 */

#include <stdbool.h>
#include <stdint.h>

struct workflow;

#define REPLAY_NONE (-1)

struct replay_faster {
	const char *
		glob; /* matches programs; if it has a blank or begins with command:, also whole
			   * command lines; '*' crosses '/' */
	double factor; /* > 0; 2: takes half as long */
};

struct replay_options {
	double cores; /* 0: as in the trace */
	int64_t jobs; /* slots of each driver that no other started; 0: as many children as it had at once */
	const struct replay_faster *faster; /* all that fit count, multiplied */
	int n_faster;
};

/* What a step waited for last. */
enum replay_cause {
	REPLAY_BEGIN,
	REPLAY_OWN,
	REPLAY_FORK,
	REPLAY_CHILD,
	REPLAY_DATA,
	REPLAY_SLOT,
	REPLAY_CAUSE_MAX
};

/* A piece of a process.  Processes are indexes into the graph. */
struct replay_step {
	int32_t process;
	int32_t after;            /* the step that it waited for; REPLAY_NONE: the begin */
	enum replay_cause cause;  /* own: the piece before; fork: by its parent; child: its end, or
				  * how far it has come, data: of the writer of
				  * what is read, slot: of the process that had the slot */
	int64_t begin_ns, end_ns; /* since the begin of the replay */
	int64_t work_ns;          /* on a core of its own; waiting included */
};

struct replay_process {
	int64_t begin_ns, end_ns; /* in the replay, since its begin */
	int64_t cpu_ns, wait_ns;  /* the work that it has there */
	int32_t slots;            /* of a driver that no other lends them; 0: it is none */
};

struct replay {
	int64_t measured_ns; /* from the first begin of a process to the last end, in the trace */
	int64_t makespan_ns; /* the same in the replay */
	double cores; /* of the replay: those of the option, less what other programs used; INFINITY:
			      * no limit, because the cores of the trace are not known */
	struct replay_process *processes; /* as in the graph */
	struct replay_step *steps;        /* in the order in which they began */
	int32_t n_steps;
	int32_t *
		path; /* steps: the chain of causes that ends with the last of all, in the order of time */
	int32_t n_path;
};

/* -ENOMEM is the only error.  The workflow is not changed. */
int replay_run(const struct workflow *workflow, const struct replay_options *options,
	struct replay **ret_replay);
void replay_destroy(struct replay *replay);

#endif
