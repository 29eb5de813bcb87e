/* SPDX-License-Identifier: MIT */

/* The table whatif: the run once more, on other resources. */

#include "dag/analyse/analyse.h"

#include <errno.h>
#include <math.h>

#include "dag/graph/workflow.h"
#include "dag/output/table.h"
#include "dag/replay/replay.h"

static const char *const causes[] = { "start", "own", "fork", "wait", "data", "slot" };
_Static_assert(sizeof(causes) / sizeof(causes[0]) == REPLAY_CAUSE_MAX, "a name for each cause");

static void put_run(struct table *table, const char *what, int64_t ns)
{
	table_string(table, what);
	table_int(table, 0), table_unit(table, "time_ns");
	table_int(table, ns), table_unit(table, "time_ns");
	table_int(table, ns);
	table_row(table);
}

static void put_step(struct table *table, const struct workflow *w, const struct replay_step *first,
	int64_t end_ns)
{
	const struct task *t = workflow_task(w, first->process);

	table_string(table, causes[first->cause]);
	table_int(table, first->begin_ns);
	table_int(table, end_ns);
	table_int(table, end_ns - first->begin_ns);
	table_int(table, w->graph->processes[first->process].id);
	table_string(table, t->label);
	table_string(table, t->step);
	table_string(table, t->program);
	table_string(table, t->job);
	table_string(table, t->phase);
	table_string(table, t->command);
	table_row(table);
}

/* Pieces of one process that follow each other are one step. */
static void put_path(struct table *table, const struct workflow *w, const struct replay *replay)
{
	for (int32_t i = 0, end; i < replay->n_path; i = end) {
		const struct replay_step *first = &replay->steps[replay->path[i]];

		for (end = i + 1; end < replay->n_path &&
				  replay->steps[replay->path[end]].process == first->process;
			end++)
			;
		if (replay->steps[replay->path[end - 1]].end_ns > first->begin_ns)
			put_step(table, w, first, replay->steps[replay->path[end - 1]].end_ns);
	}
}

int analyse_whatif(struct table *table, const struct workflow *w, const struct shape *shape,
	const struct analyse_options *options)
{
	struct replay *replay = NULL;
	int r = replay_run(w, &options->replay, &replay);

	(void)shape;
	if (r < 0)
		return r;
	table_columns(table, "via begin_at_ns end_at_ns time_ns process label step program job phase command");
	put_run(table, "measured", replay->measured_ns);
	put_run(table, "predicted", replay->makespan_ns);
	put_path(table, w, replay);
	if (isfinite(replay->cores))
		table_note(table,
			"The run replayed with %.3g cores, without those that other programs used.  Below measured "
			"and predicted: the predicted critical path.",
			replay->cores);
	else
		table_note(table, "The run replayed with as many cores as it can use, because the trace has no "
			"number of cores.  Below measured and predicted: the predicted critical path.");
	table_note(table, "via: what the step waited for: fork, its start; wait, a child; data, the process that "
		"wrote what it reads; slot, a free place among the jobs of a driver.");
	replay_destroy(replay);
	return 0;
}
