/* SPDX-License-Identifier: MIT */
#include "dag/graph/graph.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/vector.h"

struct graph *graph_create(void)
{
	return calloc(1, sizeof(struct graph));
}

void graph_destroy(struct graph *graph)
{
	if (!graph)
		return;
	free(graph->processes);
	free(graph->files);
	free(graph->accesses);
	free(graph->nodes);
	free(graph->edges);
	free(graph->order);
	free(graph);
}

int32_t graph_add_process(struct graph *graph, const struct graph_process *process)
{
	if (vector_reserve(graph->processes, graph->n_processes) < 0)
		return -ENOMEM;
	graph->processes[graph->n_processes] = *process;
	graph->processes[graph->n_processes].first = GRAPH_NONE;
	graph->processes[graph->n_processes].last = GRAPH_NONE;
	return graph->n_processes++;
}

int32_t graph_add_file(struct graph *graph, int64_t id, void *data)
{
	if (vector_reserve(graph->files, graph->n_files) < 0)
		return -ENOMEM;
	graph->files[graph->n_files] = (struct graph_file){
		.id = id, .data = data, .first = GRAPH_NONE, .last = GRAPH_NONE
	};
	return graph->n_files++;
}

int graph_add_access(struct graph *graph, const struct graph_access *access)
{
	if (vector_reserve(graph->accesses, graph->n_accesses) < 0)
		return -ENOMEM;
	graph->accesses[graph->n_accesses++] = *access;
	return 0;
}

/* Both begin with their id, and are in its order. */
_Static_assert(offsetof(struct graph_process, id) == 0 && offsetof(struct graph_file, id) == 0,
	"ids come first");

static int compare_ids(const void *key, const void *element)
{
	int64_t a = *(const int64_t *)key, b = *(const int64_t *)element;

	return (a > b) - (a < b);
}

int32_t graph_find_process(const struct graph *graph, int64_t id)
{
	const struct graph_process *p = vector_find(&id, graph->processes,
		(size_t)graph->n_processes, sizeof(*p), compare_ids);

	return p ? (int32_t)(p - graph->processes) : GRAPH_NONE;
}

int32_t graph_find_file(const struct graph *graph, int64_t id)
{
	const struct graph_file *f =
		vector_find(&id, graph->files, (size_t)graph->n_files, sizeof(*f), compare_ids);

	return f ? (int32_t)(f - graph->files) : GRAPH_NONE;
}

int32_t graph_parent(const struct graph *graph, int32_t process)
{
	int64_t id = graph->processes[process].parent;

	return id ? graph_find_process(graph, id) : GRAPH_NONE;
}

/* ---- while it is built ---- */

#define MANY (-2)

/* A version of a file, as the trace tells them apart. */
struct version {
	int32_t file;
	int32_t node;   /* the last part of it; GRAPH_NONE: no access yet */
	int32_t writer; /* process; GRAPH_NONE, or MANY */
	int32_t edge;   /* the last by which it was written */
	int32_t reader; /* process; GRAPH_NONE, or MANY: since its last part began */
	int32_t before; /* the version of the file that was the last one when this one began; GRAPH_NONE */
	bool strange; /* there was something in it before that its writer had neither written nor read */
};

struct event {
	int64_t time_ns;
	int32_t index;
	uint8_t kind;
};

/* The order of events of the same time: a write comes before a read. */
enum { EVENT_START, EVENT_OUT, EVENT_IN, EVENT_LAST, EVENT_REST };

/* A node while the graph is built. */
struct place {
	int32_t before, after; /* in the order of all nodes, which is a list; GRAPH_NONE */
	int32_t head[2];       /* its edges, out and in: the first ones */
	uint32_t seen[2];      /* the last search that reached it from each end */
};

struct build {
	struct graph *graph;
	struct version *versions;
	int32_t *version_of; /* of each access */
	int32_t *latest;     /* of each file: the version that began last, or GRAPH_NONE */
	int32_t *edge_of[2]; /* of each access: the edge by which it wrote, read */
	int32_t *segment_of; /* of each access that moves no data: where it belongs */
	struct place *places; /* of each node */
	int32_t *next[2];     /* of each edge: the next one of the same node, out and in */
	int32_t first, last;  /* of all nodes in their order, which have labels with room between them */
	/* Of a search from either end: its number; the nodes that each end has reached, in which order (with room for
	 * all nodes); the next edge. */
	uint32_t mark;
	int32_t *found[2], n_found[2], at[2], edge[2];
};

static void build_finish(struct build *b)
{
	free(b->versions);
	free(b->version_of);
	free(b->latest);
	free(b->edge_of[0]);
	free(b->edge_of[1]);
	free(b->segment_of);
	for (int i = 0; i < 2; i++) {
		free(b->next[i]);
		free(b->found[i]);
	}
	free(b->places);
}

static int32_t *filled(int32_t n, int32_t value)
{
	int32_t *array = malloc(((size_t)n + 1) * sizeof(*array));

	for (int32_t i = 0; array && i < n; i++)
		array[i] = value;
	return array;
}

/* Room for one more node. */
static int reserve_node(struct build *b)
{
	struct graph *g = b->graph;

	if (vector_reserve(g->nodes, g->n_nodes) < 0 || vector_reserve(g->order, g->n_nodes) < 0 ||
		vector_reserve(b->places, g->n_nodes) < 0 ||
		vector_reserve(b->found[0], g->n_nodes) < 0 ||
		vector_reserve(b->found[1], g->n_nodes) < 0)
		return -ENOMEM;
	return 0;
}

/* ---- the order as a list with labels (Dietz and Sleator, Two algorithms for maintaining order in a list,
 * STOC 1987: the simpler one) ---- */

#define LABEL_GAP (1 << 20)

static void unlink_node(struct build *b, int32_t node)
{
	struct place *places = b->places;
	int32_t before = places[node].before, after = places[node].after;

	*(before == GRAPH_NONE ? &b->first : &places[before].after) = after;
	*(after == GRAPH_NONE ? &b->last : &places[after].before) = before;
}

/* Makes room behind a node: those that follow too closely are moved apart. */
static void spread_labels(struct build *b, int32_t node)
{
	int64_t *label = b->graph->order, start = label[node], distance = 0;
	const struct place *places = b->places;
	int32_t n = 1, end = places[node].after;

	for (; end != GRAPH_NONE && label[end] - start <= (int64_t)n * n; end = places[end].after)
		n++;
	distance = end == GRAPH_NONE ? (int64_t)n * LABEL_GAP : label[end] - start;
	for (int32_t i = 1, at = places[node].after; at != end; at = places[at].after, i++)
		label[at] = start + distance / n * i;
}

/* GRAPH_NONE: in front of all. */
static void link_node(struct build *b, int32_t node, int32_t before)
{
	int64_t *label = b->graph->order;
	struct place *places = b->places;
	int32_t after = before == GRAPH_NONE ? b->first : places[before].after;

	if (before != GRAPH_NONE && after != GRAPH_NONE && label[after] - label[before] < 2)
		spread_labels(b, before);
	if (before == GRAPH_NONE)
		label[node] = after == GRAPH_NONE ? 0 : label[after] - LABEL_GAP;
	else
		label[node] = after == GRAPH_NONE
				      ? label[before] + LABEL_GAP
				      : label[before] + (label[after] - label[before]) / 2;
	places[node].before = before;
	places[node].after = after;
	*(before == GRAPH_NONE ? &b->first : &places[before].after) = node;
	*(after == GRAPH_NONE ? &b->last : &places[after].before) = node;
}

/* source: nothing leads to it, so that it may stand before all others. */
static int32_t add_node(struct build *b, enum node_kind kind, int32_t of, int32_t part,
	int64_t time_ns, bool source)
{
	struct graph *g = b->graph;
	int32_t node = g->n_nodes;

	if (reserve_node(b) < 0)
		return -ENOMEM;
	g->nodes[node] = (struct graph_node){ .kind = kind,
		.of = of,
		.part = part,
		.next = GRAPH_NONE,
		.begin_ns = time_ns,
		.end_ns = time_ns };
	b->places[node] = (struct place){ .head = { GRAPH_NONE, GRAPH_NONE } };
	link_node(b, node, source ? GRAPH_NONE : b->last);
	g->n_nodes++;
	return node;
}

/* ---- edges against the order ---- */

enum { FORWARD, BACKWARD };

static void reach(struct build *b, int side, int32_t node)
{
	b->places[node].seen[side] = b->mark;
	b->found[side][b->n_found[side]++] = node;
}

/* One edge further from one end.  1: there is more, 0: that was all, -1: the ends have met. */
static int step(struct build *b, int side, int64_t bound)
{
	const struct graph *g = b->graph;
	int32_t e = b->edge[side], other;

	while (e == GRAPH_NONE) {
		if (b->at[side] == b->n_found[side])
			return 0;
		e = b->places[b->found[side][b->at[side]++]].head[side];
	}
	other = side == FORWARD ? g->edges[e].to : g->edges[e].from;
	b->edge[side] = b->next[side][e];
	if (b->places[other].seen[!side] == b->mark)
		return -1;
	if (b->places[other].seen[side] != b->mark &&
		(side == FORWARD ? g->order[other] < bound : g->order[other] > bound))
		reach(b, side, other);
	return 1;
}

static int compare_order(const void *x, const void *y, void *order)
{
	int64_t a = ((int64_t *)order)[*(const int32_t *)x],
		b = ((int64_t *)order)[*(const int32_t *)y];

	return (a > b) - (a < b);
}

/* All that was found from one end goes to the other side of the other end. */
static void move_found(struct build *b, int side, int32_t from, int32_t to)
{
	int32_t *found = b->found[side], n = b->n_found[side], at;

	qsort_r(found, n, sizeof(*found), compare_order, b->graph->order);
	for (int32_t i = 0; i < n; i++)
		unlink_node(b, found[i]);
	at = side == FORWARD ? from : b->places[to].before;
	for (int32_t i = 0; i < n; at = found[i++])
		link_node(b, found[i], at);
}

/*
 * Makes the order one in which `from` is before `to`.  False: `to` leads to `from`.  It is looked for from
 * both ends in turn, so that the cost is that of the one where there is less.
 */
static bool order_edge(struct build *b, int32_t from, int32_t to)
{
	const int64_t *order = b->graph->order;
	int r = 1, side = FORWARD;

	if (from == to)
		return false;
	if (order[from] < order[to])
		return true;
	b->mark++;
	for (int i = 0; i < 2; i++) {
		b->n_found[i] = b->at[i] = 0;
		b->edge[i] = GRAPH_NONE;
	}
	reach(b, FORWARD, to);
	reach(b, BACKWARD, from);
	for (; r > 0; side = !side)
		r = step(b, side, side == FORWARD ? order[from] : order[to]);
	if (r == 0)
		move_found(b, !side, from, to);
	return r == 0;
}

/* Its index, or -ENOMEM.  The order has been made. */
static int32_t add_edge(struct build *b, int32_t from, int32_t to, int kinds, int64_t time_ns,
	int32_t access)
{
	struct graph *g = b->graph;
	int32_t e = g->n_edges, ends[2] = { from, to };

	if (vector_reserve(g->edges, e) < 0 || vector_reserve(b->next[0], e) < 0 ||
		vector_reserve(b->next[1], e) < 0)
		return -ENOMEM;
	g->edges[e] = (struct graph_edge){ .from = from,
		.to = to,
		.kinds = kinds,
		.time_ns = time_ns,
		.bytes = -1,
		.ops = -1,
		.ns = -1,
		.access = access };
	for (int i = 0; i < 2; i++) {
		b->next[i][e] = b->places[ends[i]].head[i];
		b->places[ends[i]].head[i] = e;
	}
	g->n_edges++;
	return e;
}

/* ---- parts ---- */

static int32_t add_segment(struct build *b, int32_t process, int64_t time_ns)
{
	struct graph_process *p = &b->graph->processes[process];
	int32_t last = p->last,
		node = add_node(b, NODE_PROCESS, process,
			last == GRAPH_NONE ? 1 : b->graph->nodes[last].part + 1, time_ns, false);

	if (node < 0)
		return node;
	if (last == GRAPH_NONE) {
		p->first = node;
	} else {
		b->graph->nodes[last].next = node;
		b->graph->nodes[last].end_ns = time_ns;
		if (add_edge(b, last, node, EDGE_NEXT, time_ns, GRAPH_NONE) < 0)
			return -ENOMEM;
	}
	p->last = node;
	return node;
}

/* continues: it is made of the part before. */
static int32_t add_part(struct build *b, int32_t file, int64_t time_ns, bool continues, bool source)
{
	struct graph_file *f = &b->graph->files[file];
	int32_t last = f->last, node = add_node(b, NODE_FILE, file,
					last == GRAPH_NONE ? 1 : b->graph->nodes[last].part + 1,
					time_ns, source && last == GRAPH_NONE);

	if (node < 0)
		return node;
	if (last == GRAPH_NONE)
		f->first = node;
	else
		b->graph->nodes[last].next = node;
	f->last = node;
	if (last != GRAPH_NONE && continues &&
		(!order_edge(b, last, node) ||
			add_edge(b, last, node, EDGE_NEXT, time_ns, GRAPH_NONE) < 0))
		return -ENOMEM;
	return node;
}

/* source: if it is not there yet it was there before all that is traced. */
static int32_t version_node(struct build *b, int32_t access, int64_t time_ns, bool source)
{
	const struct graph_access *a = &b->graph->accesses[access];
	struct version *v = &b->versions[b->version_of[access]];

	if (v->node == GRAPH_NONE) {
		v->node = add_part(b, a->file, time_ns, !a->emptied, source);
		v->before = b->latest[a->file];
		b->latest[a->file] = b->version_of[access];
	}
	return v->node;
}

/* ---- events ---- */

static int start(struct build *b, int32_t process, int64_t time_ns)
{
	struct graph *g = b->graph;
	const struct graph_process *p = &g->processes[process];
	int32_t parent = graph_parent(g, process);
	int32_t from = parent == GRAPH_NONE ? GRAPH_NONE : g->processes[parent].last;
	int32_t node;

	if (p->first != GRAPH_NONE)
		return 0;
	node = add_segment(b, process, time_ns);
	if (node < 0 || from == GRAPH_NONE)
		return node < 0 ? node : 0;
	return add_edge(b, from, node, EDGE_FORK, time_ns, GRAPH_NONE) < 0 ? -ENOMEM : 0;
}

#define OUT_KINDS (EDGE_WRITE | EDGE_CREATE | EDGE_RENAME | EDGE_DELETE | EDGE_TRUNCATE)
#define IN_KINDS (EDGE_READ | EDGE_EXECUTE | EDGE_MAP | EDGE_DELETE)

/* Does a process begin to write a version without knowing what it continues? */
static bool is_strange(const struct build *b, int32_t access)
{
	const struct graph *g = b->graph;
	const struct graph_access *a = &g->accesses[access];
	const struct version *before;
	int32_t i = b->versions[b->version_of[access]].before;

	if (a->kinds & EDGE_CREATE || a->emptied)
		return false;
	if (i == GRAPH_NONE)
		return true; /* it was there before all that is traced */
	before = &b->versions[i];
	if (before->writer == a->process && !before->strange)
		return false;
	for (int32_t e = b->places[before->node].head[0]; e != GRAPH_NONE; e = b->next[0][e])
		if (g->nodes[g->edges[e].to].kind == NODE_PROCESS &&
			g->nodes[g->edges[e].to].of == a->process)
			return false;
	return true;
}

/* A version goes on as another node. */
static int32_t new_part(struct build *b, int32_t file, struct version *v, int64_t time_ns)
{
	int32_t node = add_part(b, file, time_ns, true, false);

	if (node >= 0) {
		v->node = node;
		v->reader = GRAPH_NONE;
	}
	return node;
}

/* The writer's segment -> the version. */
static int out(struct build *b, int32_t access, int64_t time_ns)
{
	struct graph *g = b->graph;
	const struct graph_access *a = &g->accesses[access];
	struct version *v = &b->versions[b->version_of[access]];
	int32_t segment = g->processes[a->process].last,
		node = version_node(b, access, time_ns, false), e;
	bool feedback = false;

	if (node < 0)
		return node;
	if (a->kinds & EDGE_RENAME && v->reader != GRAPH_NONE && v->reader != a->process) {
		node = new_part(b, a->file, v,
			time_ns); /* a reader does not depend on the new name */
		if (node < 0)
			return node;
	} else if (b->edge_of[0][access] != GRAPH_NONE &&
		   g->edges[b->edge_of[0][access]].from == segment) {
		return 0; /* it goes on */
	}
	if (!order_edge(b, segment, node)) {
		feedback = true;
		node = new_part(b, a->file, v, time_ns);
		if (node < 0 || !order_edge(b, segment, node))
			return -ENOMEM;
	}
	e = add_edge(b, segment, node, a->kinds & OUT_KINDS, time_ns, access);
	if (e < 0)
		return e;
	g->edges[e].feedback = feedback;
	g->edges[e].assumed = a->assumed_out;
	if (b->edge_of[0][access] == GRAPH_NONE) { /* what moved is counted once */
		g->edges[e].bytes = a->bwrite;
		g->edges[e].ops = a->nwrite;
		g->edges[e].ns = a->io_ns;
	}
	b->edge_of[0][access] = v->edge = e;
	if (v->writer == GRAPH_NONE)
		v->strange = is_strange(b, access);
	v->writer = v->writer == GRAPH_NONE || v->writer == a->process ? a->process : MANY;
	return 0;
}

/* The version -> the reader's segment. */
static int in(struct build *b, int32_t access, int64_t time_ns)
{
	struct graph *g = b->graph;
	const struct graph_access *a = &g->accesses[access];
	struct version *v = &b->versions[b->version_of[access]];
	int32_t segment = g->processes[a->process].last,
		node = version_node(b, access, time_ns, true), e;
	bool feedback = false;

	if (node < 0)
		return node;
	if (v->writer == a->process && !v->strange) { /* it learns nothing that it did not know */
		e = v->edge;
		g->edges[e].kinds |= a->kinds & IN_KINDS;
		g->edges[e].read_back = true;
		b->edge_of[1][access] = e;
		return 0;
	}
	if (!order_edge(b, node, segment)) {
		feedback = true;
		segment = add_segment(b, a->process, time_ns);
		if (segment < 0 || !order_edge(b, node, segment))
			return -ENOMEM;
	}
	v->reader = v->reader == GRAPH_NONE || v->reader == a->process ? a->process : MANY;
	e = add_edge(b, node, segment, a->kinds & IN_KINDS, time_ns, access);
	if (e < 0)
		return e;
	g->edges[e].feedback = feedback;
	g->edges[e].assumed = a->assumed_in;
	g->edges[e].bytes = a->bread;
	g->edges[e].ops = a->nread;
	g->edges[e].ns = b->edge_of[0][access] == GRAPH_NONE ? a->io_ns : -1;
	b->edge_of[1][access] = e;
	return 0;
}

static int happen(struct build *b, const struct event *event)
{
	const struct graph_access *a =
		event->kind == EVENT_START ? NULL : &b->graph->accesses[event->index];

	if (a && b->graph->processes[a->process].last == GRAPH_NONE &&
		start(b, a->process, event->time_ns) < 0)
		return -ENOMEM; /* seen at work before its start, by the grain of a clock */
	switch (event->kind) {
	case EVENT_START:
		return start(b, event->index, event->time_ns);
	case EVENT_OUT:
	case EVENT_LAST:
		return out(b, event->index, event->time_ns);
	case EVENT_IN:
		return in(b, event->index, event->time_ns);
	default:
		b->segment_of[event->index] = b->graph->processes[a->process].last;
		return 0;
	}
}

/* Accesses that moved no data: where that does not disturb the others. */
static int add_rest(struct build *b)
{
	struct graph *g = b->graph;

	for (int32_t i = 0; i < g->n_accesses; i++) {
		const struct graph_access *a = &g->accesses[i];
		int32_t segment = b->segment_of[i], node, e;
		int kinds = a->kinds & EDGE_DELETE ? EDGE_DELETE : EDGE_META;

		if (segment == GRAPH_NONE)
			continue;
		node = version_node(b, i, a->last_ns, true);
		if (node < 0)
			return node;
		if (order_edge(b, node, segment))
			e = add_edge(b, node, segment, kinds, a->last_ns, i);
		else
			e = order_edge(b, segment, node)
				    ? add_edge(b, segment, node, kinds, a->last_ns, i)
				    : -ENOMEM;
		if (e < 0)
			return e;
		g->edges[e].ns = a->io_ns;
	}
	return 0;
}

/* ---- the whole ---- */

static int compare_events(const void *x, const void *y)
{
	const struct event *a = x, *b = y;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	return (a->index > b->index) - (a->index < b->index);
}

static int compare_versions(const void *x, const void *y, void *arg)
{
	const struct graph_access *a = &((struct graph *)arg)->accesses[*(const int32_t *)x];
	const struct graph_access *b = &((struct graph *)arg)->accesses[*(const int32_t *)y];

	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	return (a->version > b->version) - (a->version < b->version);
}

/* Numbers the versions that there are. */
static int number_versions(struct build *b)
{
	struct graph *g = b->graph;
	cleanup_free int32_t *sorted = filled(g->n_accesses, 0);
	int32_t n = -1;

	b->versions = malloc(((size_t)g->n_accesses + 1) * sizeof(*b->versions));
	b->version_of = filled(g->n_accesses, 0);
	b->latest = filled(g->n_files, GRAPH_NONE);
	if (!sorted || !b->versions || !b->version_of || !b->latest)
		return -ENOMEM;
	for (int32_t i = 0; i < g->n_accesses; i++)
		sorted[i] = i;
	qsort_r(sorted, g->n_accesses, sizeof(*sorted), compare_versions, g);
	for (int32_t i = 0; i < g->n_accesses; i++) {
		if (i == 0 || compare_versions(&sorted[i - 1], &sorted[i], g) != 0)
			b->versions[++n] = (struct version){ .file = g->accesses[sorted[i]].file,
				.node = GRAPH_NONE,
				.before = GRAPH_NONE,
				.writer = GRAPH_NONE,
				.edge = GRAPH_NONE,
				.reader = GRAPH_NONE };
		b->version_of[sorted[i]] = n;
	}
	return 0;
}

static size_t add_access_events(const struct graph_access *a, int32_t index, bool meta,
	struct event *events)
{
	size_t n = 0;

	if (a->first_out_ns != GRAPH_NEVER)
		events[n++] = (struct event){ a->first_out_ns, index, EVENT_OUT };
	if (a->first_in_ns != GRAPH_NEVER)
		events[n++] = (struct event){ a->first_in_ns, index, EVENT_IN };
	if (a->first_out_ns != GRAPH_NEVER && a->last_out_ns > a->first_out_ns)
		events[n++] = (struct event){ a->last_out_ns, index, EVENT_LAST };
	if (n == 0 && (meta || (a->kinds & EDGE_DELETE)))
		events[n++] = (struct event){ a->last_ns, index, EVENT_REST };
	return n;
}

static struct event *list_events(const struct graph *g, bool meta, size_t *ret_n)
{
	struct event *events =
		malloc(((size_t)g->n_processes + 3 * (size_t)g->n_accesses + 1) * sizeof(*events));
	size_t n = 0;

	if (!events)
		return NULL;
	for (int32_t i = 0; i < g->n_processes; i++)
		events[n++] = (struct event){ g->processes[i].start_ns, i, EVENT_START };
	for (int32_t i = 0; i < g->n_accesses; i++)
		n += add_access_events(&g->accesses[i], i, meta, events + n);
	qsort(events, n, sizeof(*events), compare_events);
	*ret_n = n;
	return events;
}

/* The last segment of a process ends with it; a version when it was last written. */
static void set_ends(struct graph *g)
{
	for (int32_t i = 0; i < g->n_processes; i++)
		if (g->processes[i].last != GRAPH_NONE)
			g->nodes[g->processes[i].last].end_ns = g->processes[i].end_ns;
	for (int32_t i = 0; i < g->n_edges; i++) {
		const struct graph_edge *e = &g->edges[i];
		struct graph_node *to = &g->nodes[e->to];
		int64_t last =
			e->access == GRAPH_NONE ? e->time_ns : g->accesses[e->access].last_out_ns;

		if (to->kind == NODE_FILE && last != GRAPH_NEVER && last > to->end_ns)
			to->end_ns = last;
	}
}

int graph_build(struct graph *graph, bool meta)
{
	struct build b = { .graph = graph, .first = GRAPH_NONE, .last = GRAPH_NONE };
	size_t n = 0;
	cleanup_free struct event *events = list_events(graph, meta, &n);
	int r = events ? number_versions(&b) : -ENOMEM;

	b.edge_of[0] = filled(graph->n_accesses, GRAPH_NONE);
	b.edge_of[1] = filled(graph->n_accesses, GRAPH_NONE);
	b.segment_of = filled(graph->n_accesses, GRAPH_NONE);
	if (!b.edge_of[0] || !b.edge_of[1] || !b.segment_of)
		r = -ENOMEM;
	for (size_t i = 0; i < n && r == 0; i++)
		r = happen(&b, &events[i]);
	if (r == 0)
		r = add_rest(&b);
	if (r == 0)
		set_ends(graph);
	build_finish(&b);
	return r;
}
