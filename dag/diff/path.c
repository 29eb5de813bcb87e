/* SPDX-License-Identifier: MIT */
#include "dag/diff/path.h"

#include <errno.h>
#include <stdlib.h>

#include "dag/graph/critical.h"

/* The row of a process on the path of one run, a new one where there is none yet. */
static struct path_step *step_of(const struct match *match, struct diff_path *paths,
	int32_t *const row[2], int run, int32_t process)
{
	int32_t of = match->side[run]->of[process], other;
	struct path_step *step;

	process = of == GRAPH_NONE ? process : of;
	other = match->pair[run][process];
	if (row[run][process] == 0 && other != GRAPH_NONE)
		row[run][process] = row[!run][other];
	if (row[run][process])
		return &paths->step[row[run][process] - 1];
	step = &paths->step[paths->n++];
	step->process[run] = process;
	step->process[!run] = other;
	row[run][process] = paths->n;
	return step;
}

static void add_steps(const struct match *match, struct diff_path *paths, int32_t *const row[2],
	int run, const struct critical *critical)
{
	for (int32_t i = 0; i < critical->n_steps; i++) {
		const struct critical_step *step = &critical->steps[i];
		int64_t on_ns = step->end_ns - step->begin_ns;

		step_of(match, paths, row, run, step->process)->on_ns[run] += on_ns;
		paths->length_ns[run] += on_ns;
	}
}

static void count(struct diff_path *paths)
{
	for (int32_t i = 0; i < paths->n; i++) {
		const struct path_step *step = &paths->step[i];

		if (step->on_ns[0] && step->on_ns[1])
			paths->both++;
		else
			paths->only[step->on_ns[0] == 0]++;
	}
}

int diff_path_create(const struct match *match, struct diff_path **ret_paths)
{
	struct diff_path *paths = calloc(1, sizeof(*paths));
	struct critical *critical[2] = { NULL, NULL };
	int32_t *row[2] = { NULL, NULL };
	size_t n = 1;
	int r = paths ? 0 : -ENOMEM;

	for (int run = 0; run < 2 && r == 0; run++) {
		row[run] = calloc((size_t)match->side[run]->n_processes + 1, sizeof(*row[run]));
		r = row[run] ? critical_create(match->side[run]->workflow, false, &critical[run])
			     : -ENOMEM;
		n += r == 0 ? (size_t)critical[run]->n_steps : 0;
	}
	if (r == 0 && !(paths->step = calloc(n, sizeof(*paths->step))))
		r = -ENOMEM;
	for (int run = 0; run < 2; run++) {
		if (r == 0)
			add_steps(match, paths, row, run, critical[run]);
		critical_destroy(critical[run]);
	}
	free(row[0]);
	free(row[1]);
	if (r < 0) {
		diff_path_destroy(paths);
		return r;
	}
	count(paths);
	*ret_paths = paths;
	return 0;
}

void diff_path_destroy(struct diff_path *paths)
{
	if (!paths)
		return;
	free(paths->step);
	free(paths);
}
