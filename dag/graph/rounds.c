/* SPDX-License-Identifier: MIT */
#include "dag/graph/rounds.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"

/* A process writes into a pipe, or reads from it. */
struct arc {
	int32_t process, pipe; /* indexes; a pipe is a file */
	bool is_write, alive;
	int64_t time_ns; /* of the last write, of the first read */
};

struct rounds {
	const struct graph *graph;
	struct arc *arcs;
	int32_t n;
	/* Of the arcs that are alive: */
	int32_t *writers, *readers;	     /* of each pipe, how many */
	int64_t *first_in_ns, *last_out_ns; /* of each process */
};

static void add_arc(struct rounds *rounds, const struct graph_access *a, bool is_write, int64_t time_ns)
{
	if (time_ns != GRAPH_NEVER)
		rounds->arcs[rounds->n++] = (struct arc){ a->process, a->file, is_write, true, time_ns };
}

static void list_arcs(struct rounds *rounds, const struct workflow *w)
{
	for (int32_t i = 0; i < rounds->graph->n_accesses; i++) {
		const struct graph_access *a = &rounds->graph->accesses[i];

		if (!data_is_pipe(workflow_data(w, a->file)))
			continue;
		add_arc(rounds, a, true, a->last_out_ns);
		add_arc(rounds, a, false, a->first_in_ns);
	}
}

static void sum_up(struct rounds *rounds)
{
	for (int32_t i = 0; i < rounds->graph->n_files; i++)
		rounds->writers[i] = rounds->readers[i] = 0;
	for (int32_t i = 0; i < rounds->graph->n_processes; i++) {
		rounds->first_in_ns[i] = INT64_MAX;
		rounds->last_out_ns[i] = INT64_MIN;
	}
	for (int32_t i = 0; i < rounds->n; i++) {
		const struct arc *arc = &rounds->arcs[i];
		int64_t *first = &rounds->first_in_ns[arc->process], *last = &rounds->last_out_ns[arc->process];

		if (!arc->alive)
			continue;
		if (arc->is_write) {
			rounds->writers[arc->pipe]++;
			*last = arc->time_ns > *last ? arc->time_ns : *last;
		} else {
			rounds->readers[arc->pipe]++;
			*first = arc->time_ns < *first ? arc->time_ns : *first;
		}
	}
}

/* Whether the data have come from somewhere and go on to somewhere. */
static bool goes_on(const struct rounds *rounds, const struct arc *arc)
{
	if (arc->is_write)
		return rounds->readers[arc->pipe] > 0 && rounds->first_in_ns[arc->process] < arc->time_ns;
	return rounds->writers[arc->pipe] > 0 && rounds->last_out_ns[arc->process] > arc->time_ns;
}

/* What is left of the arcs leads in circles. */
static void trim(struct rounds *rounds)
{
	bool again = true;

	while (again) {
		again = false;
		sum_up(rounds);
		for (int32_t i = 0; i < rounds->n; i++)
			if (rounds->arcs[i].alive && !goes_on(rounds, &rounds->arcs[i])) {
				rounds->arcs[i].alive = false;
				again = true;
			}
	}
}

int rounds_find(const struct workflow *workflow, bool *ret_talks)
{
	const struct graph *g = workflow->graph;
	size_t n_files = (size_t)g->n_files + 1, n_processes = (size_t)g->n_processes + 1;
	cleanup_free struct arc *arcs = malloc((2 * (size_t)g->n_accesses + 1) * sizeof(*arcs));
	cleanup_free int32_t *counts = malloc(2 * n_files * sizeof(*counts));
	cleanup_free int64_t *times = malloc(2 * n_processes * sizeof(*times));
	struct rounds rounds = { .graph = g, .arcs = arcs };

	if (!arcs || !counts || !times)
		return -ENOMEM;
	rounds.writers = counts;
	rounds.readers = counts + n_files;
	rounds.first_in_ns = times;
	rounds.last_out_ns = times + n_processes;
	list_arcs(&rounds, workflow);
	trim(&rounds);
	for (int32_t i = 0; i < rounds.n; i++)
		ret_talks[arcs[i].process] |= arcs[i].alive;
	return 0;
}
