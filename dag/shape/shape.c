/* SPDX-License-Identifier: MIT */
#include "dag/shape/shape.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/vector.h"
#include "dag/graph/critical.h"
#include "dag/shape/pipes.h"

struct making {
	const struct workflow *workflow;
	const struct graph *graph;
	const struct shape_options *options;
	struct shape *shape;
	bool *shown;   /* nodes of the graph */
	int32_t *node; /* of the shape, for each node of the graph */
	int32_t *
		above; /* of each process: what is shown of it or, if nothing, of its parent; NOT_ASKED */
};

#define NOT_ASKED (-2)

/* ---- choosing ---- */

static bool is_wanted(const struct making *m, const struct graph_edge *e)
{
	if (e->access == GRAPH_NONE || m->options->what == SHAPE_TREE)
		return false;
	if (e->kinds & EDGE_META && !m->options->metadata)
		return false;
	return m->workflow->chosen[e->access] &&
	       workflow_task(m->workflow, m->graph->accesses[e->access].process)->chosen;
}

/* Shows the ends of chosen edges, and the chosen processes, with or without files; processes that were there before the
 * run only in the tree. */
static void choose(struct making *m)
{
	const struct graph *g = m->graph;

	for (int32_t i = 0; i < g->n_edges; i++)
		if (is_wanted(m, &g->edges[i]))
			m->shown[g->edges[i].from] = m->shown[g->edges[i].to] = true;
	for (int32_t i = 0; i < g->n_nodes; i++)
		if (g->nodes[i].kind == NODE_PROCESS && !m->options->choosy &&
			(m->options->what == SHAPE_TREE ||
				!critical_is_outside(m->workflow, g->nodes[i].of)))
			m->shown[i] |= workflow_task(m->workflow, g->nodes[i].of)->chosen;
}

/* ---- nodes ---- */

static void name_node(struct shape_node *node, int64_t id)
{
	char letter = node->kind == NODE_PROCESS ? 'p' : 'f';

	if (node->parts > 1)
		snprintf(node->id, sizeof(node->id), "%c%lld.%d", letter, (long long)id,
			node->part);
	else
		snprintf(node->id, sizeof(node->id), "%c%lld", letter, (long long)id);
}

static int64_t known(int64_t number)
{
	return number == WORKFLOW_UNKNOWN ? -1 : number;
}

static void describe(const struct making *m, struct shape_node *node)
{
	const struct task *task =
		node->kind == NODE_PROCESS ? workflow_task(m->workflow, node->of) : NULL;

	node->members = 1;
	node->life_ns = node->cpu_ns = node->rss_bytes = node->size_bytes = -1;
	if (task) {
		node->cpu_ns = known(task->cpu_ns);
		node->rss_bytes = known(task->rss_bytes);
		node->failed = (task->exit_code != WORKFLOW_UNKNOWN && task->exit_code != 0) ||
			       task->exit_signal != WORKFLOW_UNKNOWN;
		node->running = node->end_ns == GRAPH_NEVER;
		node->life_ns = node->running ? -1 : node->end_ns - node->begin_ns;
	} else if (node->kind == NODE_FILE) {
		node->size_bytes = known(workflow_data(m->workflow, node->of)->size_bytes);
	}
}

/* The parts of one process or file, which begin with a node. */
static void add_parts(struct making *m, enum node_kind kind, int32_t of, int64_t id, int32_t first)
{
	const struct graph *g = m->graph;
	const struct critical *critical = m->options->critical;
	int32_t parts = 0, begin = m->shape->n_nodes;

	for (int32_t i = first; i != GRAPH_NONE; i = g->nodes[i].next) {
		struct shape_node *node;

		if (!m->shown[i])
			continue;
		if ((m->options->fold || m->options->precedence ||
			    m->options->what == SHAPE_TREE) &&
			parts) {
			m->shape->nodes[begin].end_ns = g->nodes[i].end_ns;
			m->shape->nodes[begin].critical |= critical && critical->nodes[i];
			m->node[i] = begin;
			continue;
		}
		node = &m->shape->nodes[m->shape->n_nodes];
		*node = (struct shape_node){ .kind = kind,
			.of = of,
			.part = g->nodes[i].part,
			.begin_ns = g->nodes[i].begin_ns,
			.end_ns = g->nodes[i].end_ns,
			.critical = critical && critical->nodes[i] };
		m->node[i] = m->shape->n_nodes++;
		parts++;
	}
	for (int32_t i = begin; i < m->shape->n_nodes; i++) {
		m->shape->nodes[i].parts = parts;
		describe(m, &m->shape->nodes[i]);
		if (kind == NODE_FILE && i + 1 < m->shape->n_nodes) /* the size is that of the last version */
			m->shape->nodes[i].size_bytes = -1;
		name_node(&m->shape->nodes[i], id);
	}
}

static void add_nodes(struct making *m)
{
	const struct graph *g = m->graph;

	for (int32_t i = 0; i < g->n_processes; i++)
		add_parts(m, NODE_PROCESS, i, g->processes[i].id, g->processes[i].first);
	for (int32_t i = 0; i < g->n_files; i++)
		add_parts(m, NODE_FILE, i, g->files[i].id, g->files[i].first);
}

/* ---- missing names ---- */

/* The segment of a process that is shown and in which something happened. */
static int32_t segment_at(const struct making *m, int32_t process, int64_t time_ns)
{
	const struct graph *g = m->graph;
	int32_t found = GRAPH_NONE;

	for (int32_t i = g->processes[process].first; i != GRAPH_NONE; i = g->nodes[i].next)
		if (m->shown[i] && (found == GRAPH_NONE || g->nodes[i].begin_ns <= time_ns))
			found = i;
	return found;
}

/* They stand in the order of their names, so that one name follows itself. */
static void add_missing_names(struct making *m)
{
	const struct workflow *w = m->workflow;
	struct shape *shape = m->shape;
	int32_t node = GRAPH_NONE;

	for (int32_t i = 0, number = 0; i < w->n_missing_names; i++) {
		const struct missing_name *name = &w->missing_names[i];
		int32_t segment = segment_at(m, name->process, name->first_ns);
		bool same = i && strcmp(name->path, w->missing_names[i - 1].path) == 0;

		number += !same;
		node = same ? node : GRAPH_NONE;
		if (!name->chosen || segment == GRAPH_NONE ||
			!workflow_task(w, name->process)->chosen)
			continue;
		if (node == GRAPH_NONE) {
			node = shape->n_nodes++;
			shape->nodes[node] = (struct shape_node){ .kind = NODE_MISSING_NAME,
				.of = i,
				.part = 1,
				.parts = 1,
				.begin_ns = name->first_ns,
				.end_ns = name->first_ns };
			describe(m, &shape->nodes[node]);
			snprintf(shape->nodes[node].id, sizeof(shape->nodes[node].id), "g%d",
				number);
		}
		shape->edges[shape->n_edges++] = (struct shape_edge){ .from = node,
			.access = GRAPH_NONE,
			.to = m->node[segment],
			.kinds = EDGE_SEARCH,
			.bytes = -1,
			.ops = name->count,
			.ns = -1,
			.time_ns = name->first_ns,
			.members = 1 };
	}
}

/* ---- edges ---- */

/* The last of those segments of a process that began at once. */
static int32_t first_segment(const struct graph *g, int32_t process)
{
	int32_t node = g->processes[process].first;

	while (node != GRAPH_NONE && g->nodes[node].next != GRAPH_NONE &&
		g->nodes[g->nodes[node].next].begin_ns <= g->nodes[node].begin_ns)
		node = g->nodes[node].next;
	return node;
}

/* The part that is shown of the parent of a process. If the parent is not shown: that of the nearest
 * shown ancestor.  What was found is kept for all on the way: there may be a million of them. */
static int32_t shown_above(struct making *m, int32_t node)
{
	const struct graph *g = m->graph;
	int32_t process, last, found = node;

	if (m->shown[node])
		return node;
	for (last = process = graph_parent(g, g->nodes[node].of); last != GRAPH_NONE;
		last = graph_parent(g, last)) {
		found = m->above[last] == NOT_ASKED ? first_segment(g, last) : m->above[last];
		if (found == GRAPH_NONE || m->shown[found])
			break;
	}
	found = last == GRAPH_NONE ? GRAPH_NONE : found;
	for (; process != last; process = graph_parent(g, process))
		m->above[process] = found;
	if (last != GRAPH_NONE)
		m->above[last] = found;
	return found;
}

static void put_edge(struct making *m, int32_t from, int32_t to, const struct graph_edge *e)
{
	struct shape_edge *edge = &m->shape->edges[m->shape->n_edges];

	if (m->node[from] == m->node[to]) /* parts that were folded */
		return;
	*edge = (struct shape_edge){ .from = m->node[from],
		.to = m->node[to],
		.kinds = e->kinds,
		.assumed = e->assumed,
		.feedback = e->feedback,
		.read_back = e->read_back,
		.critical =
			m->options->critical && m->options->critical->edges[e - m->graph->edges],
		.bytes = e->bytes,
		.ops = e->ops,
		.ns = e->ns,
		.time_ns = e->time_ns,
		.access = e->access,
		.members = 1 };
	m->shape->n_edges++;
}

static void add_edges(struct making *m)
{
	const struct graph *g = m->graph;

	for (int32_t i = 0; i < g->n_edges; i++) {
		const struct graph_edge *e = &g->edges[i];
		int32_t from = e->from;

		if (e->kinds & EDGE_FORK && m->shown[e->to])
			from = shown_above(m, from);
		if (from == GRAPH_NONE || !m->shown[from] || !m->shown[e->to])
			continue;
		if (e->kinds & (EDGE_FORK | EDGE_NEXT) || is_wanted(m, e))
			put_edge(m, from, e->to, e);
	}
}

static int compare_edges(const void *x, const void *y)
{
	const struct shape_edge *a = x, *b = y;

	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	if (a->to != b->to)
		return a->to < b->to ? -1 : 1;
	if (a->kinds != b->kinds)
		return a->kinds < b->kinds ? -1 : 1;
	return (a->time_ns > b->time_ns) - (a->time_ns < b->time_ns);
}

static void join(struct shape_edge *edge, const struct shape_edge *other)
{
	edge->kinds |= other->kinds;
	if (edge->kinds & ~EDGE_META) /* a process that moves data may look, too */
		edge->kinds &= ~EDGE_META;
	edge->assumed |= other->assumed;
	edge->feedback |= other->feedback;
	edge->read_back |= other->read_back;
	edge->critical |= other->critical;
	edge->bytes = shape_sum(edge->bytes, other->bytes);
	edge->ops = shape_sum(edge->ops, other->ops);
	edge->ns = shape_sum(edge->ns, other->ns);
	edge->access = edge->access == other->access ? edge->access : GRAPH_NONE;
	edge->members += other->members;
}

/* Slower than the average of all that moved data, and enough to matter. */
#define SLOW_BYTES 1000000
#define SLOW_NS 10000000

static void find_slow(struct shape *shape)
{
	double bytes = 0, ns = 0;

	for (int32_t i = 0; i < shape->n_edges; i++)
		if (shape->edges[i].bytes > 0 && shape->edges[i].ns > 0) {
			bytes += (double)shape->edges[i].bytes;
			ns += (double)shape->edges[i].ns;
		}
	for (int32_t i = 0; i < shape->n_edges; i++) {
		struct shape_edge *e = &shape->edges[i];

		e->slow = e->bytes >= SLOW_BYTES && e->ns >= SLOW_NS && (double)e->bytes * ns < bytes * (double)e->ns;
	}
}

void shape_join_edges(struct shape *shape)
{
	int32_t n = 0;

	qsort(shape->edges, shape->n_edges, sizeof(*shape->edges), compare_edges);
	for (int32_t i = 0; i < shape->n_edges; i++) {
		struct shape_edge *last = n ? &shape->edges[n - 1] : NULL, *e = &shape->edges[i];

		if (last && last->from == e->from && last->to == e->to)
			join(last, e);
		else
			shape->edges[n++] = *e;
	}
	shape->n_edges = n;
	find_slow(shape);
}

int shape_keep(struct shape *shape, const bool *kept)
{
	cleanup_free int32_t *now = malloc(((size_t)shape->n_nodes + 1) * sizeof(*now));
	int32_t n = 0;

	if (!now)
		return -ENOMEM;
	for (int32_t i = 0; i < shape->n_nodes; i++) {
		now[i] = n;
		if (kept[i])
			shape->nodes[n++] = shape->nodes[i];
	}
	shape->n_nodes = n;
	n = 0;
	for (int32_t i = 0; i < shape->n_edges; i++) {
		struct shape_edge e = shape->edges[i];

		if (!kept[e.from] || !kept[e.to])
			continue;
		e.from = now[e.from];
		e.to = now[e.to];
		shape->edges[n++] = e;
	}
	shape->n_edges = n;
	find_slow(shape);
	return 0;
}

static int compare_ends(const void *x, const void *y)
{
	const struct shape_edge *a = x, *b = y;

	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return (a->to > b->to) - (a->to < b->to);
}

static const struct shape_edge *find_edge(const struct shape *shape, int32_t from, int32_t to)
{
	const struct shape_edge key = { .from = from, .to = to };

	return vector_find(&key, shape->edges, (size_t)shape->n_edges, sizeof(key), compare_ends);
}

/* A writer of a file comes before it, even if it has read from it (the ParaTrac paper, equation 5). */
static int keep_precedence(struct shape *shape)
{
	cleanup_free bool *dropped = calloc((size_t)shape->n_edges + 1, sizeof(*dropped));
	int32_t n = 0;

	if (!dropped)
		return -ENOMEM;
	for (int32_t i = 0; i < shape->n_edges; i++) {
		const struct shape_edge *e = &shape->edges[i];

		dropped[i] = shape->nodes[e->from].kind == NODE_FILE &&
			     find_edge(shape, e->to, e->from) != NULL;
	}
	for (int32_t i = 0; i < shape->n_edges; i++)
		if (!dropped[i])
			shape->edges[n++] = shape->edges[i];
	shape->n_edges = n;
	return 0;
}

/* ---- the whole ---- */

const char *shape_label(struct shape *shape, const char *text)
{
	return arena_text(&shape->labels, text, strlen(text));
}

const char *shape_path(const struct shape *shape, int32_t node)
{
	const struct shape_node *n = &shape->nodes[node];

	return n->kind == NODE_MISSING_NAME ? shape->workflow->missing_names[n->of].path
				     : workflow_data(shape->workflow, n->of)->path;
}

const char *shape_base_name(const struct shape *shape, int32_t node)
{
	const char *path = shape_path(shape, node), *slash = path ? strrchr(path, '/') : NULL;

	return slash && slash[1] ? slash + 1 : path ? path : "";
}

/* The begin of the name with one directory more; the path itself if there is none. */
static const char *lengthen(const char *path, const char *name)
{
	if (name > path)
		name--;
	while (name > path && name[-1] != '/')
		name--;
	return name;
}

static int compare_ids_of(const struct shape *shape, int32_t a, int32_t b)
{
	int32_t x = shape->nodes[a].of, y = shape->nodes[b].of;

	return (x > y) - (x < y);
}

struct naming {
	const struct shape *shape;
	const char **names;
};

static int compare_names(const void *x, const void *y, void *arg)
{
	const struct naming *n = arg;
	int32_t a = *(const int32_t *)x, b = *(const int32_t *)y;
	int order = strcmp(n->names[a], n->names[b]);

	return order ? order : compare_ids_of(n->shape, a, b);
}

/* Lengthens the names that several files have.  Returns whether that changed any. */
static bool lengthen_same(const struct naming *n, const int32_t *sorted, int32_t count)
{
	const struct shape *shape = n->shape;
	bool changed = false;

	for (int32_t i = 0, end; i < count; i = end) {
		const char *name = n->names[sorted[i]];
		bool differ = false;

		for (end = i + 1; end < count && strcmp(n->names[sorted[end]], name) == 0; end++)
			differ |= compare_ids_of(shape, sorted[i], sorted[end]) != 0;
		for (int32_t k = i; differ && k < end; k++) {
			const char *path = shape_path(shape, sorted[k]), *longer = lengthen(path, n->names[sorted[k]]);

			changed |= longer != n->names[sorted[k]];
			n->names[sorted[k]] = longer;
		}
	}
	return changed;
}

int shape_short_names(const struct shape *shape, const char **names)
{
	cleanup_free int32_t *sorted = malloc(((size_t)shape->n_nodes + 1) * sizeof(*sorted));
	struct naming naming = { shape, names };
	int32_t n = 0;

	if (!sorted)
		return -ENOMEM;
	for (int32_t i = 0; i < shape->n_nodes; i++) {
		names[i] = shape->nodes[i].kind == NODE_PROCESS ? NULL : shape_base_name(shape, i);
		if (names[i] && *names[i] && !shape->nodes[i].label)
			sorted[n++] = i;
	}
	do
		qsort_r(sorted, (size_t)n, sizeof(*sorted), compare_names, &naming);
	while (lengthen_same(&naming, sorted, n));
	return 0;
}

void shape_destroy(struct shape *shape)
{
	if (!shape)
		return;
	free(shape->nodes);
	free(shape->edges);
	free(shape->spans);
	arena_free(&shape->labels);
	free(shape);
}

static int list_spans(struct shape *shape)
{
	shape->n_spans = shape->n_nodes;
	shape->spans = malloc(((size_t)shape->n_nodes + 1) * sizeof(*shape->spans));
	for (int32_t i = 0; shape->spans && i < shape->n_nodes; i++) {
		struct shape_node *node = &shape->nodes[i];

		shape->spans[i] = (struct shape_span){ node->begin_ns, node->end_ns, SHAPE_NONE };
		node->first_span = node->last_span = node->life_ns >= 0 ? i : SHAPE_NONE;
	}
	return shape->spans ? 0 : -ENOMEM;
}

int shape_create(const struct workflow *workflow, const struct shape_options *options,
	struct shape **ret_shape)
{
	const struct graph *g = workflow->graph;
	struct making m = { .workflow = workflow,
		.graph = g,
		.options = options,
		.shape = calloc(1, sizeof(*m.shape)),
		.shown = calloc(g->n_nodes + 1, sizeof(*m.shown)),
		.node = calloc(g->n_nodes + 1, sizeof(*m.node)),
		.above = malloc(((size_t)g->n_processes + 1) * sizeof(*m.above)) };
	int r = -ENOMEM;

	if (m.shape) {
		m.shape->workflow = workflow;
		m.shape->nodes = malloc(((size_t)g->n_nodes + workflow->n_missing_names + 1) *
					sizeof(*m.shape->nodes));
		m.shape->edges = malloc(((size_t)g->n_edges + workflow->n_missing_names + 1) *
					sizeof(*m.shape->edges));
	}
	if (m.shape && m.shown && m.node && m.above && m.shape->nodes && m.shape->edges) {
		for (int32_t i = 0; i < g->n_processes; i++)
			m.above[i] = NOT_ASKED;
		choose(&m);
		add_nodes(&m);
		add_edges(&m);
		if (options->what != SHAPE_TREE)
			add_missing_names(&m);
		shape_join_edges(m.shape);
		r = options->pipes_are_nodes ? 0 : pipes_join(m.shape);
		if (r == 0 && options->precedence)
			r = keep_precedence(m.shape);
		if (r == 0)
			r = list_spans(m.shape);
	}
	if (r < 0)
		shape_destroy(m.shape);
	else
		*ret_shape = m.shape;
	free(m.shown);
	free(m.node);
	free(m.above);
	return r;
}
