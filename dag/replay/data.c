/* SPDX-License-Identifier: MIT */

/* Which children of drivers wait for which processes to end, for the sake of data. */

#include "dag/replay/replay_internal.h"

#include <errno.h>
#include <stdlib.h>

#include "base/vector.h"
#include "dag/graph/workflow.h"

#define DEPTH_MAX 64

/* Edges of versions, by version: writers and readers. */
struct flows {
	int32_t *head[2]; /* by node */
	int32_t *next;    /* by edge */
	int32_t *seen;    /* by process: the last version that it wrote */
};

enum { WRITERS, READERS };

static int flows_make(struct flows *f, const struct graph *g)
{
	for (int i = 0; i < 2; i++) {
		f->head[i] = malloc(((size_t)g->n_nodes + 1) * sizeof(int32_t));
		for (int32_t n = 0; f->head[i] && n < g->n_nodes; n++)
			f->head[i][n] = REPLAY_NONE;
	}
	f->next = malloc(((size_t)g->n_edges + 1) * sizeof(int32_t));
	f->seen = malloc(((size_t)g->n_processes + 1) * sizeof(int32_t));
	if (!f->head[0] || !f->head[1] || !f->next || !f->seen)
		return -ENOMEM;
	for (int32_t i = 0; i < g->n_processes; i++)
		f->seen[i] = REPLAY_NONE;
	for (int32_t e = g->n_edges - 1; e >= 0; e--) {
		const struct graph_edge *edge = &g->edges[e];
		int side = g->nodes[edge->from].kind == NODE_FILE ? READERS : WRITERS;
		int32_t version = side == READERS ? edge->from : edge->to;

		if (edge->access == GRAPH_NONE || (edge->kinds & EDGE_META))
			continue;
		f->next[e] = f->head[side][version];
		f->head[side][version] = e;
	}
	return 0;
}

static void flows_finish(struct flows *f)
{
	free(f->head[0]);
	free(f->head[1]);
	free(f->next);
	free(f->seen);
}

/* ---- ends that a start waits for ---- */

static int link_ends(struct plan *p, int32_t from, int32_t to)
{
	/* The one before: a reader of several versions of one writer. */
	if (p->first_link[from] != REPLAY_NONE && p->links[p->first_link[from]].to == to)
		return 0;
	if (vector_push(p->links, p->n_links, (struct link){ to, p->first_link[from] }) < 0)
		return -ENOMEM;
	p->first_link[from] = p->n_links - 1;
	p->n_before[to]++;
	return 0;
}

/* From below the one that both descend from, downwards. */
struct line {
	int32_t of[DEPTH_MAX];
	int n;
};

static void go_up(const struct plan *p, int32_t *at, struct line *line)
{
	if (line->n < DEPTH_MAX) {
		line->of[line->n++] = *at;
	} else { /* deep down there are no drivers */
		for (int i = 1; i < DEPTH_MAX; i++)
			line->of[i - 1] = line->of[i];
		line->of[DEPTH_MAX - 1] = *at;
	}
	*at = p->parts[*at].parent;
}

static void draw_lines(const struct plan *p, int32_t a, int32_t b, struct line *of_a,
	struct line *of_b)
{
	of_a->n = of_b->n = 0;
	while (a != b) {
		bool a_is_deeper = b == REPLAY_NONE ||
				   (a != REPLAY_NONE && p->parts[a].depth >= p->parts[b].depth);

		go_up(p, a_is_deeper ? &a : &b, a_is_deeper ? of_a : of_b);
	}
}

static bool ended_before(const struct part *x, const struct part *y)
{
	return x->end_ns < y->start_ns || (x->end_ns == y->start_ns && x < y);
}

/* Links the largest two trees of processes of which one had ended before a driver started the other. */
static int link_data(struct plan *p, int32_t writer, int32_t reader)
{
	struct line of_writer, of_reader;

	draw_lines(p, writer, reader, &of_writer, &of_reader);
	for (int r = of_reader.n - 1; r >= 0; r--) {
		int32_t y = of_reader.of[r], parent = p->parts[y].parent;

		for (int w = of_writer.n - 1; w >= 0; w--) {
			int32_t x = of_writer.of[w];

			if (!ended_before(&p->parts[x], &p->parts[y]))
				continue;
			/* Others go on in the order of their own life. */
			return parent != REPLAY_NONE && p->parts[parent].driver ? link_ends(p, x, y)
										: 0;
		}
	}
	return 0;
}

static int link_version(struct plan *p, struct flows *f, int32_t version)
{
	const struct graph *g = p->workflow->graph;

	for (int32_t w = f->head[WRITERS][version]; w != REPLAY_NONE; w = f->next[w]) {
		int32_t writer = g->nodes[g->edges[w].from].of;

		if (f->seen[writer] == version)
			continue;
		f->seen[writer] = version;
		for (int32_t r = f->head[READERS][version]; r != REPLAY_NONE; r = f->next[r]) {
			int32_t reader = g->nodes[g->edges[r].to].of;

			if (writer != reader && link_data(p, writer, reader) < 0)
				return -ENOMEM;
		}
	}
	return 0;
}

int plan_link_data(struct plan *p)
{
	const struct graph *g = p->workflow->graph;
	struct flows flows = { 0 };
	int r = flows_make(&flows, g);

	p->first_link = malloc(((size_t)p->n + 1) * sizeof(*p->first_link));
	p->n_before = calloc((size_t)p->n + 1, sizeof(*p->n_before));
	if (!p->first_link || !p->n_before)
		r = -ENOMEM;
	for (int32_t i = 0; i < p->n && r == 0; i++)
		p->first_link[i] = REPLAY_NONE;
	for (int32_t i = 0; i < g->n_nodes && r == 0; i++)
		if (g->nodes[i].kind == NODE_FILE)
			r = link_version(p, &flows, i);
	flows_finish(&flows);
	return r;
}
