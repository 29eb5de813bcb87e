/* SPDX-License-Identifier: MIT */
#include "dag/shape/pipes.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "dag/shape/shape.h"

/* The edges of a node; first: of those in a list of all. */
struct side {
	int32_t n, first;
	int64_t bytes; /* their sum; -1: not known */
};

struct pipe {
	struct side writers, readers;
	bool parts; /* it is one of several parts */
};

struct joining {
	struct shape *shape;
	struct pipe *pipes; /* of each node */
	int32_t *list;	    /* edges, by the pipe that they belong to */
};

static bool is_pipe(const struct shape *shape, int32_t node)
{
	const struct shape_node *n = &shape->nodes[node];
	const struct data *data = n->kind == NODE_FILE ? workflow_data(shape->workflow, n->of) : NULL;

	return data && data_is_pipe(data);
}

/* Not that a FIFO was made or removed. */
static bool moves_data(const struct shape_edge *edge)
{
	return edge->kinds & (EDGE_READ | EDGE_WRITE) && edge->bytes != 0;
}

static void count(struct side *side, const struct shape_edge *edge)
{
	if (side->bytes >= 0)
		side->bytes = edge->bytes < 0 ? -1 : saturate_add(side->bytes, edge->bytes);
	side->n++;
}

static void count_all(struct joining *j)
{
	for (int32_t i = 0; i < j->shape->n_edges; i++) {
		const struct shape_edge *e = &j->shape->edges[i];

		if (moves_data(e)) {
			count(&j->pipes[e->to].writers, e);
			count(&j->pipes[e->from].readers, e);
		} else if (e->kinds & EDGE_NEXT) {
			j->pipes[e->from].parts = j->pipes[e->to].parts = true;
		}
	}
}

static bool is_joined(const struct joining *j, int32_t node)
{
	const struct pipe *p = &j->pipes[node];

	return !p->parts && p->writers.n && p->readers.n && (p->writers.n == 1 || p->readers.n == 1) &&
	       is_pipe(j->shape, node);
}

/* A pipe without a name through which nothing went, as the one by which Python learns that an exec failed. */
static bool is_unused(const struct joining *j, int32_t node)
{
	const struct pipe *p = &j->pipes[node];

	return !p->parts && !p->writers.n && !p->readers.n && is_pipe(j->shape, node) &&
	       data_is_placeless(workflow_data(j->shape->workflow, j->shape->nodes[node].of));
}

/* Edges of the pipes that are joined, those to and from each of them one after the other. */
static void list_edges(struct joining *j, const bool *kept)
{
	struct shape *shape = j->shape;
	int32_t at = 0;

	for (int32_t i = 0; i < shape->n_nodes; i++) {
		if (kept[i])
			continue;
		j->pipes[i].writers.first = at;
		j->pipes[i].readers.first = at + j->pipes[i].writers.n;
		at += j->pipes[i].writers.n + j->pipes[i].readers.n;
		j->pipes[i].writers.n = j->pipes[i].readers.n = 0;
	}
	for (int32_t i = 0; i < shape->n_edges; i++) {
		struct pipe *to = &j->pipes[shape->edges[i].to], *from = &j->pipes[shape->edges[i].from];

		if (!moves_data(&shape->edges[i]))
			continue;
		if (!kept[shape->edges[i].to])
			j->list[to->writers.first + to->writers.n++] = i;
		else if (!kept[shape->edges[i].from])
			j->list[from->readers.first + from->readers.n++] = i;
	}
}

/* What was read is of the only writer, unless it is more than that one wrote. */
static int64_t bytes_of(const struct pipe *p, const struct shape_edge *in, const struct shape_edge *out)
{
	if (p->writers.n == 1)
		return in->bytes >= 0 && p->readers.bytes > in->bytes ? -1 : out->bytes;
	return p->writers.bytes == p->readers.bytes ? in->bytes : -1;
}

/* Whether the writer first wrote when the reader had read for the last time. */
static bool is_too_late(const struct shape *shape, const struct shape_edge *in, const struct shape_edge *out)
{
	const struct graph_access *accesses = shape->workflow->graph->accesses;

	return in->access != GRAPH_NONE && out->access != GRAPH_NONE &&
	       accesses[in->access].first_out_ns > accesses[out->access].last_ns;
}

static void add_edge(struct shape *shape, const struct pipe *p, int32_t writer, int32_t reader)
{
	const struct shape_edge in = shape->edges[writer], out = shape->edges[reader];

	if (in.from == out.to || is_too_late(shape, &in, &out)) /* it has read what it wrote, or what others wrote */
		return;
	shape->edges[shape->n_edges++] = (struct shape_edge){ .from = in.from,
		.to = out.to,
		.kinds = EDGE_PIPE,
		.assumed = in.assumed || out.assumed,
		.feedback = in.feedback || out.feedback,
		.critical = in.critical && out.critical,
		.bytes = bytes_of(p, &in, &out),
		.ops = p->writers.n == 1 ? out.ops : in.ops,
		.ns = -1,
		.time_ns = out.time_ns,
		.access = GRAPH_NONE,
		.members = 1 };
}

static void add_edges(struct joining *j, const bool *kept)
{
	int32_t n = j->shape->n_nodes;

	for (int32_t i = 0; i < n; i++) {
		const struct pipe *p = &j->pipes[i];

		for (int32_t k = 0; !kept[i] && k < p->writers.n * p->readers.n; k++)
			add_edge(j->shape, p, j->list[p->writers.first + k / p->readers.n],
				j->list[p->readers.first + k % p->readers.n]);
	}
}

/* One side has one edge, so that a pipe gets no more edges than it had. */
static int make_room(struct shape *shape)
{
	struct shape_edge *edges = realloc(shape->edges, (2 * (size_t)shape->n_edges + 1) * sizeof(*edges));

	if (!edges)
		return -ENOMEM;
	shape->edges = edges;
	return 0;
}

int pipes_join(struct shape *shape)
{
	cleanup_free struct pipe *pipes = calloc((size_t)shape->n_nodes + 1, sizeof(*pipes));
	cleanup_free int32_t *list = calloc((size_t)shape->n_edges + 1, sizeof(*list));
	cleanup_free bool *kept = calloc((size_t)shape->n_nodes + 1, sizeof(*kept));
	struct joining j = { shape, pipes, list };
	bool any = false;
	int r;

	if (!pipes || !list || !kept)
		return -ENOMEM;
	count_all(&j);
	for (int32_t i = 0; i < shape->n_nodes; i++) {
		kept[i] = !is_joined(&j, i) && !is_unused(&j, i);
		any |= !kept[i];
	}
	if (!any)
		return 0;
	r = make_room(shape);
	if (r < 0)
		return r;
	list_edges(&j, kept);
	add_edges(&j, kept);
	r = shape_keep(shape, kept);
	shape_join_edges(shape);
	return r;
}
