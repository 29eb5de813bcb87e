/* SPDX-License-Identifier: MIT */

/* The differences of two runs for programs: one table for everything. */

#include "dag/diff/report.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "dag/diff/figures.h"
#include "dag/diff/names.h"
#include "dag/diff/noise.h"

static const char *command_of(const struct comparison *c, int run, int32_t process)
{
	const struct task *task = workflow_task(c->match->side[run]->workflow, process);

	return task->command ? task->command : task->program;
}

static void put_id(struct table *table, const struct comparison *c, int run, int32_t process)
{
	if (process == GRAPH_NONE)
		table_null(table);
	else
		table_int(table, c->match->side[run]->workflow->graph->processes[process].id);
}

/* Which process it is, and what it is called in the first run that has it. */
static void put_process(struct table *table, const struct comparison *c, const int32_t process[2])
{
	put_id(table, c, 0, process[0]);
	put_id(table, c, 1, process[1]);
	if (process[0] != GRAPH_NONE)
		table_string(table, command_of(c, 0, process[0]));
	else if (process[1] != GRAPH_NONE)
		table_string(table, command_of(c, 1, process[1]));
	else
		table_null(table);
}

static void put_known(struct table *table, int64_t number)
{
	if (number == WORKFLOW_UNKNOWN)
		table_null(table);
	else
		table_int(table, number);
}

static void put_numbers(struct table *table, int64_t a, int64_t b)
{
	bool known = a != WORKFLOW_UNKNOWN && b != WORKFLOW_UNKNOWN;

	put_known(table, a);
	put_known(table, b);
	put_known(table, known ? b - a : WORKFLOW_UNKNOWN);
	table_real(table, measure_percent(a, b) / 100);
	table_row(table);
}

static void put_path(struct table *table, const struct comparison *c, const struct difference *d)
{
	int run = d->other[0] == GRAPH_NONE;

	if (d->what == FIND_PROCESS || d->what == FIND_FORK)
		table_null(table);
	else
		table_string(table,
			names_path(c->names, run, side_file(c->match->side[run], d->other[run])));
}

static int put_detail(struct table *table, const struct comparison *c, const struct difference *d)
{
	int run = d->other[0] == GRAPH_NONE;

	if (d->change == CHANGE_CHANGED && d->what == FIND_FILE) {
		table_string(table,
			names_path(c->names, 1, side_file(c->match->side[1], d->other[1])));
	} else if (d->change == CHANGE_CHANGED) {
		cleanup_free char *words = find_words(c->names, d->process[0], d->process[1]);

		if (!words)
			return -ENOMEM;
		table_string(table, words);
	} else if (d->what == FIND_FORK) {
		table_string(table, command_of(c, run, d->other[run]));
	} else {
		table_null(table);
	}
	return 0;
}

static int put_difference(struct table *table, const struct comparison *c,
	const struct difference *d)
{
	int r;

	table_string(table, "difference");
	table_string(table, changes[d->change]);
	table_string(table, find_name(d->what));
	table_null(table);
	put_process(table, c, d->process);
	put_path(table, c, d);
	r = put_detail(table, c, d);
	table_row(table);
	return r;
}

static void put_exits(struct table *table, const struct comparison *c)
{
	for (int32_t i = 0; i < c->found->n_ends; i++) {
		int32_t process[2] = { c->found->ends[i], c->match->pair[0][c->found->ends[i]] };

		table_string(table, "exit");
		table_string(table, changes[CHANGE_CHANGED]);
		table_string(table, "status");
		table_null(table);
		put_process(table, c, process);
		table_null(table);
		table_null(table);
		put_numbers(table,
			found_status(workflow_task(c->match->side[0]->workflow, process[0])),
			found_status(workflow_task(c->match->side[1]->workflow, process[1])));
	}
}

/* The columns from the first to the numbers; what is not given is not known. */
static void begin_row(struct table *table, const char *part, const char *what, const char *phase)
{
	table_string(table, part);
	table_null(table);
	table_string(table, what);
	table_string(table, phase);
	for (int i = 0; i < 5; i++)
		table_null(table);
}

static void put_counts(struct table *table, const struct found *found)
{
	begin_row(table, "count", "processes", NULL);
	put_numbers(table, found->processes[0], found->processes[1]);
	begin_row(table, "count", "files", NULL);
	put_numbers(table, found->files[0], found->files[1]);
	begin_row(table, "count", "edges", NULL);
	put_numbers(table, found->edges[0], found->edges[1]);
}

static void put_figures(struct table *table, const struct comparison *c)
{
	for (int i = FIGURE_OPERATIONS; i <= FIGURE_BYTES; i++) {
		begin_row(table, "count", figure_names[i], NULL);
		put_numbers(table, figures_median(c->figures[0], c->n_runs[0], (enum figure)i),
			figures_median(c->figures[1], c->n_runs[1], (enum figure)i));
	}
	for (int i = 0; i < FIGURE_MAX && report_has_several(c); i++) {
		begin_row(table, "noise", figure_names[i], NULL);
		for (int side = 0; side < 2; side++) {
			const struct figures *const both[2] = { c->figures[side], c->figures[side] };

			put_known(table, figures_noise(both, (const int[2]){ c->n_runs[side], c->n_runs[side] }, (enum figure)i));
		}
		table_row(table);
	}
}

static void put_noise(struct table *table, const struct noise *noise)
{
	for (int32_t i = 0; i < noise->n; i++) {
		const struct noisy *one = &noise->noisy[i];

		table_string(table, "noise");
		table_null(table);
		table_string(table, one->what == FIND_WHAT_MAX ? "status" : find_name(one->what));
		for (int k = 0; k < 3; k++)
			table_null(table);
		table_string(table, one->process);
		table_string(table, one->path);
		table_string(table, one->side ? "B" : "A");
		table_row(table);
	}
}

static void put_measures(struct table *table, const struct measurement *measurement)
{
	for (int32_t i = 0; i < measurement->n; i++) {
		const struct measured *m = &measurement->measured[i];

		for (int k = 0; k < MEASURE_MAX; k++) {
			begin_row(table, m->whole ? "run" : "phase", measures[k], m->phase);
			put_numbers(table, m->of[k][0], m->of[k][1]);
		}
	}
}

static void put_paths(struct table *table, const struct comparison *c)
{
	const struct diff_path *paths = c->paths;

	begin_row(table, "run", "critical_path_ns", NULL);
	put_numbers(table, paths->length_ns[0], paths->length_ns[1]);
	for (int32_t i = 0; i < paths->n; i++) {
		const struct path_step *step = &paths->step[i];

		table_string(table, "critical-path");
		table_null(table);
		table_string(table, "time_ns");
		table_null(table);
		put_process(table, c, step->process);
		table_null(table);
		table_null(table);
		put_numbers(table, step->on_ns[0], step->on_ns[1]);
	}
}

int report_fill(struct table *table, const struct comparison *c)
{
	int r = 0;

	table_columns(table, "part change what phase process_a process_b command path detail a b "
			     "difference difference_share");
	for (int32_t i = 0; i < c->found->n && r == 0; i++)
		r = put_difference(table, c, &c->found->difference[i]);
	put_exits(table, c);
	put_counts(table, c->found);
	put_figures(table, c);
	put_noise(table, c->noise);
	put_measures(table, c->measurement);
	put_paths(table, c);
	return r;
}
