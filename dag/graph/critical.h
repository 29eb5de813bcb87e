/* SPDX-License-Identifier: MIT */
#ifndef DAG_GRAPH_CRITICAL_H
#define DAG_GRAPH_CRITICAL_H

/*
 * The critical path of a run: what its end has waited for, from measured times.
 *
 * It is found from the last exit backwards, always to what finished last of all that a process needed to be
 * where it is: the process that started it (fork), a child whose exit it saw (wait), a process that wrote
 * what it has read (data, if that was written after it had started; of a pipe, when the last of it was written).
 * So it has no gaps: its steps are as long as the run.
 *
 * Slack and gain come from the same run cut into pieces: each process at its forks, at the exits of its
 * children and where data passes between processes that live at the same time.  What lies before the exit of
 * a child counts as waiting for it, and the time of reads from a pipe as waiting for its writer.  The slack of a
 * process is how much later it could have ended without a later end of the run; the gain of a step is how much earlier the run would have ended if its process had
 * taken no time at all: the most that making it faster can bring, since all else is left as it was,
 * the order of jobs, too.
 *
 * One thread.
 */

#include <stdbool.h>
#include <stdint.h>

#include "dag/graph/workflow.h"

struct pieces;

enum critical_cause { CRITICAL_START, CRITICAL_FORK, CRITICAL_WAIT, CRITICAL_DATA };

struct critical_step {
	int32_t process;
	int64_t begin_ns, end_ns;  /* the part of its life that is on the path */
	enum critical_cause cause; /* how it comes from the step before */
	int32_t file;              /* index, by which the data came; GRAPH_NONE */
	int64_t gain_ns;           /* WORKFLOW_UNKNOWN: there are too many to work it out, or it talks in rounds (rounds.h) */
};

struct critical {
	struct critical_step *steps; /* in the order of time */
	int32_t n_steps;
	int64_t *slack_ns; /* of each process */
	bool *nodes,
		*edges; /* of the graph: is it on the path?  Data from one process of the path to a later one is, too */
	/* Of gains: */
	struct pieces *pieces;
	bool *talks;   /* of each process: in rounds (rounds.h) */
	bool *without; /* scratch */
};

/* gains: compute slack and gain, too; else they are 0, which means not known.  -ENOMEM. */
int critical_create(const struct workflow *workflow, bool gains, struct critical **ret_critical);
void critical_destroy(struct critical *critical);
/* How much earlier the run would have ended if these processes (a flag for each of the workflow) had taken no time;
 * WORKFLOW_UNKNOWN: one of them is on the path and talks in rounds.  Needs gains. */
int64_t critical_gain(const struct critical *critical, const bool *of);

extern const char *const critical_causes[]; /* by enum critical_cause */

/* Processes that were there before the run are no part of it, as a shell from which it was started, unless it recorded what
 * ran already: they begin with it.  What has not ended ends with the trace.  Starts that were read from /proc have the grain of
 * a clock tick. */
#define CRITICAL_TICK_NS 10000000
int64_t critical_begin(const struct workflow *workflow, int32_t process);
int64_t critical_end(const struct workflow *workflow, int32_t process);
static inline bool critical_is_outside(const struct workflow *workflow, int32_t process)
{
	return !workflow->is_attached && workflow->graph->processes[process].start_ns < workflow->begin_ns - CRITICAL_TICK_NS;
}

#endif
