/* SPDX-License-Identifier: MIT */

/* Jobs that wait for each other. */

#include "dag/jobs/jobs_internal.h"

#include <errno.h>
#include <stdlib.h>

/* Strongly connected components: R. Tarjan, Depth-first search and linear graph algorithms, 1972; with a
 * stack of its own. */
struct component {
	int32_t index, low,
		next; /* index 0: not visited yet; next: of the edges that are still to be followed */
	bool open;
};

struct search {
	const struct jobs *jobs;
	struct component *of;
	int32_t *stack, *path,
		*into; /* stack: open ones; path: from the first to the one that is looked at */
	int32_t n_stack, n_path, visited;
	bool merged;
};

static void visit(struct search *s, int32_t job)
{
	s->of[job] = (struct component){ .index = ++s->visited, .low = s->visited, .open = true };
	s->stack[s->n_stack++] = job;
	s->path[s->n_path++] = job;
}

static void leave(struct search *s, int32_t job)
{
	int32_t from = s->n_stack, least = job;

	s->n_path--;
	if (s->n_path && s->of[job].low < s->of[s->path[s->n_path - 1]].low)
		s->of[s->path[s->n_path - 1]].low = s->of[job].low;
	if (s->of[job].low != s->of[job].index)
		return;
	do {
		from--;
		s->of[s->stack[from]].open = false;
		least = s->stack[from] < least ? s->stack[from] : least;
	} while (s->stack[from] != job);
	for (int32_t i = from; i < s->n_stack; i++) {
		s->into[s->stack[i]] = least;
		s->merged |= s->stack[i] != least;
	}
	s->n_stack = from;
}

static void search_from(struct search *s, int32_t job)
{
	visit(s, job);
	while (s->n_path) {
		int32_t at = s->path[s->n_path - 1];
		struct component *c = &s->of[at];

		if (c->next == s->jobs->jobs[at].n_deps) {
			leave(s, at);
			continue;
		}
		job = s->jobs->jobs[at].deps[c->next++];
		if (!s->of[job].index)
			visit(s, job);
		else if (s->of[job].open && s->of[job].index < c->low)
			c->low = s->of[job].index;
	}
}

int jobs_find_circles(const struct jobs *jobs, int32_t **ret_into)
{
	size_t n = (size_t)jobs->n_jobs + 1;
	struct search s = { .jobs = jobs,
		.of = calloc(n, sizeof(*s.of)),
		.stack = malloc(n * sizeof(int32_t)),
		.path = malloc(n * sizeof(int32_t)),
		.into = malloc(n * sizeof(int32_t)) };
	bool failed = !s.of || !s.stack || !s.path || !s.into;

	for (int32_t i = 0; i < jobs->n_jobs && !failed; i++)
		if (!s.of[i].index)
			search_from(&s, i);
	free(s.of);
	free(s.stack);
	free(s.path);
	*ret_into = s.merged ? s.into : NULL;
	if (!s.merged)
		free(s.into);
	return failed ? -ENOMEM : 0;
}
