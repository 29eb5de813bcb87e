/* SPDX-License-Identifier: MIT */
#include "dag/shape/reach.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/heap.h"
#include "dag/shape/shape.h"
#include "dag/trace/choice.h"

/* ---- edges by their ends ---- */

struct ends {
	int *first; /* of each node, and one more: where its edges are in .edges */
	int *edges;
};

static void ends_finish(struct ends *ends)
{
	free(ends->first);
	free(ends->edges);
}

static int near_end(const struct shape *shape, int edge, bool back)
{
	return back ? shape->edges[edge].to : shape->edges[edge].from;
}

static int far_end(const struct shape *shape, int edge, bool back)
{
	return near_end(shape, edge, !back);
}

/* back: edges of a node are those that lead to it. */
static int ends_create(const struct shape *shape, bool back, struct ends *ends)
{
	int at = 0;

	ends->first = calloc((size_t)shape->n_nodes + 2, sizeof(*ends->first));
	ends->edges = malloc(((size_t)shape->n_edges + 1) * sizeof(*ends->edges));
	if (!ends->first || !ends->edges)
		return -ENOMEM;
	for (int i = 0; i < shape->n_edges; i++)
		ends->first[near_end(shape, i, back) + 1]++;
	for (int i = 0; i <= shape->n_nodes; i++) {
		int n = ends->first[i + 1];

		ends->first[i + 1] = at;
		at += n;
	}
	for (int i = 0; i < shape->n_edges; i++)
		ends->edges[ends->first[near_end(shape, i, back) + 1]++] = i;
	return 0;
}

/* ---- choosing ---- */

static bool fits(const struct shape *shape, int32_t i, const char *glob)
{
	const struct shape_node *node = &shape->nodes[i];
	const char *text;

	if (strcmp(node->id, glob) == 0)
		return true;
	if (node->kind == NODE_PROCESS) {
		text = workflow_task(shape->workflow, node->of)->program;
		return text && fnmatch(glob, text, 0) == 0;
	}
	text = shape_path(shape, i);
	return text && choice_fits_path(glob, text);
}

/* All that a glob's nodes lead to, or that leads to them; themselves, too. */
static int reach(const struct shape *shape, const char *glob, bool back, bool *reached)
{
	struct ends ends = { 0 };
	cleanup_free int *stack = malloc(((size_t)shape->n_nodes + 1) * sizeof(*stack));
	int r = ends_create(shape, back, &ends), n = 0;

	if (r < 0 || !stack) {
		ends_finish(&ends);
		return -ENOMEM;
	}
	memset(reached, 0, shape->n_nodes);
	for (int i = 0; i < shape->n_nodes; i++)
		if (fits(shape, i, glob)) {
			reached[i] = true;
			stack[n++] = i;
		}
	r = n ? 0 : -ENOENT;
	while (n) {
		int node = stack[--n];

		for (int i = ends.first[node]; i < ends.first[node + 1]; i++) {
			int other = far_end(shape, ends.edges[i], back);

			if (!reached[other])
				stack[n++] = other;
			reached[other] = true;
		}
	}
	ends_finish(&ends);
	return r;
}

int reach_select(struct shape *shape, const struct reach_options *o, const char **ret_missing)
{
	const struct {
		const char *glob;
		bool back;
	} asked[] = { { o->ancestors_of, true }, { o->descendants_of, false },
		{ o->between[0], false }, { o->between[1], true } };
	cleanup_free bool *kept = malloc((size_t)shape->n_nodes + 1),
			  *reached = malloc((size_t)shape->n_nodes + 1);
	bool any = false;
	int r = kept && reached ? 0 : -ENOMEM;

	for (int i = 0; r == 0 && i < shape->n_nodes; i++)
		kept[i] = true;
	for (size_t i = 0; r == 0 && i < sizeof(asked) / sizeof(asked[0]); i++) {
		if (!asked[i].glob)
			continue;
		any = true;
		r = reach(shape, asked[i].glob, asked[i].back, reached);
		if (r == -ENOENT)
			*ret_missing = asked[i].glob;
		for (int k = 0; r == 0 && k < shape->n_nodes; k++)
			kept[k] &= reached[k];
	}
	if (r == 0 && any)
		r = shape_keep(shape, kept);
	return r;
}

/* ---- order ---- */

/* By the times at which they began. */
static bool earlier(const void *arg, int32_t a, int32_t b)
{
	const struct shape *shape = arg;
	int64_t s = shape->nodes[a].begin_ns, t = shape->nodes[b].begin_ns;

	return s != t ? s < t : a < b;
}

static int sort(const struct shape *shape, const struct ends *out, int *count, int32_t *heap,
	int *order, int *level)
{
	int32_t n = 0, n_heap = 0;

	for (int i = 0; i < shape->n_edges; i++)
		count[shape->edges[i].to]++;
	for (int i = 0; i < shape->n_nodes; i++)
		if (count[i] == 0)
			heap_push(heap, &n_heap, i, earlier, shape);
	while (n_heap) {
		int node = order[n++] = heap_pop(heap, &n_heap, earlier, shape);

		for (int i = out->first[node]; i < out->first[node + 1]; i++) {
			int to = shape->edges[out->edges[i]].to;

			level[to] = level[node] + 1 > level[to] ? level[node] + 1 : level[to];
			if (--count[to] == 0)
				heap_push(heap, &n_heap, to, earlier, shape);
		}
	}
	return n;
}

int reach_order(const struct shape *shape, int **ret_order, int **ret_level, int *ret_n)
{
	size_t size = ((size_t)shape->n_nodes + 1) * sizeof(int);
	struct ends out = { 0 };
	cleanup_free int *count = calloc(1, size);
	int r = ends_create(shape, false, &out);
	cleanup_free int32_t *heap = malloc(size);

	*ret_order = malloc(size);
	*ret_level = calloc(1, size);
	if (r == 0 && count && heap && *ret_order && *ret_level)
		*ret_n = sort(shape, &out, count, heap, *ret_order, *ret_level);
	else
		r = -ENOMEM;
	ends_finish(&out);
	if (r < 0) {
		free(*ret_order);
		free(*ret_level);
		*ret_order = *ret_level = NULL;
	}
	return r;
}

/* ---- reduction ---- */

struct reducing {
	const struct shape *shape;
	const struct ends *out;
	const int *place; /* of each node in the order */
	int *seen, mark;  /* from where each node was reached last */
	int *stack;
	bool *dropped; /* edges */
};

static int compare_places(const void *x, const void *y, void *arg)
{
	const struct reducing *r = arg;
	int a = r->place[r->shape->edges[*(const int *)x].to],
	    b = r->place[r->shape->edges[*(const int *)y].to];

	return (a > b) - (a < b);
}

/* All that a node leads to, as far as the last that matters. */
static void see(struct reducing *r, int node, int last)
{
	int n = 0;

	r->stack[n++] = node;
	r->seen[node] = r->mark;
	while (n) {
		int at = r->stack[--n];

		for (int i = r->out->first[at]; i < r->out->first[at + 1]; i++) {
			int to = r->shape->edges[r->out->edges[i]].to;

			if (r->seen[to] != r->mark && r->place[to] <= last) {
				r->seen[to] = r->mark;
				r->stack[n++] = to;
			}
		}
	}
}

/* Nearer ends first: what they lead to needs no edge of its own. */
static void reduce_node(struct reducing *r, int node)
{
	int *edges = r->out->edges + r->out->first[node],
	    n = r->out->first[node + 1] - r->out->first[node];

	if (n < 2)
		return;
	qsort_r(edges, n, sizeof(*edges), compare_places, r);
	r->mark = node + 1;
	for (int i = 0; i < n; i++) {
		int to = r->shape->edges[edges[i]].to;

		if (r->seen[to] == r->mark)
			r->dropped[edges[i]] = true;
		else
			see(r, to, r->place[r->shape->edges[edges[n - 1]].to]);
	}
}

static void drop_edges(struct shape *shape, const bool *dropped)
{
	int n = 0;

	for (int i = 0; i < shape->n_edges; i++)
		if (!dropped[i])
			shape->edges[n++] = shape->edges[i];
	shape->n_edges = n;
}

int reach_reduce(struct shape *shape)
{
	size_t size = ((size_t)shape->n_nodes + 1) * sizeof(int);
	struct ends out = { 0 };
	cleanup_free int *order = NULL, *level = NULL;
	int n = 0, r = reach_order(shape, &order, &level, &n);
	struct reducing reducing = { .shape = shape,
		.out = &out,
		.place = level,
		.seen = calloc(1, size),
		.stack = malloc(size),
		.dropped = calloc((size_t)shape->n_edges + 1, 1) };

	if (r == 0 && n < shape->n_nodes)
		r = -ELOOP;
	if (r == 0 && (ends_create(shape, false, &out) < 0 || !reducing.seen || !reducing.stack ||
			      !reducing.dropped))
		r = -ENOMEM;
	for (int i = 0; r == 0 && i < n; i++)
		level[order[i]] = i;
	for (int i = 0; r == 0 && i < n; i++)
		reduce_node(&reducing, i);
	if (r == 0)
		drop_edges(shape, reducing.dropped);
	ends_finish(&out);
	free(reducing.seen);
	free(reducing.stack);
	free(reducing.dropped);
	return r;
}
