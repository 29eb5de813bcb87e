/* SPDX-License-Identifier: MIT */

/*
 * What becomes of the waits of a process if the one at the other end of a pipe takes less time: of cat big | sort, cat waits for sort.
 * Of its waits those for the pipe shrink as the time of the other process does, and so on through a pipeline.
 */

#include "dag/replay/replay_internal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "dag/graph/workflow.h"

#define ROUNDS_MAX 32 /* that many processes of a pipeline */

/* The other end of the pipe for which a process waited longest. */
struct partner {
	int32_t process; /* REPLAY_NONE: there is none */
	double wait_ns;  /* of the process; all of it, if that is not known */
	double weight;
};

/* Reads and writes of one process have one sum of times. */
static double wait_of(const struct graph_access *a)
{
	return a->io_ns >= 0 && !(a->nread > 0 && a->nwrite > 0) ? (double)a->io_ns : -1;
}

/* Of several ends that may be meant, it is the one that was longest waited for, or without times the one that computed most. */
static void take_partner(const struct plan *p, struct partner *partners, const struct graph_access *of, int32_t other)
{
	const struct part *part = &p->parts[of->process];
	struct partner *partner = &partners[of->process];
	double wait_ns = wait_of(of), weight = wait_ns >= 0 ? wait_ns : p->parts[other].cpu_ns;

	if (of->process == other || (partner->process != REPLAY_NONE && weight <= partner->weight))
		return;
	if (wait_ns < 0 && part->own_ns < part->end_ns - part->start_ns) /* what it waited may have been for children */
		return;
	*partner = (struct partner){ other, wait_ns >= 0 && wait_ns < part->wait_ns ? wait_ns : part->wait_ns, weight };
}

/* Each reader of a pipe with each of its writers. */
static void find_partners(const struct plan *p, const int32_t *writer_of, struct partner *partners)
{
	const struct graph *g = p->workflow->graph;

	for (int32_t e = 0; e < g->n_edges; e++) {
		const struct graph_edge *edge = &g->edges[e];
		const struct graph_access *in = edge->access == GRAPH_NONE ? NULL : &g->accesses[edge->access];

		if (!in || g->nodes[edge->from].kind != NODE_FILE || writer_of[edge->from] == GRAPH_NONE)
			continue;
		const struct graph_access *out = &g->accesses[writer_of[edge->from]];

		take_partner(p, partners, in, out->process);
		take_partner(p, partners, out, in->process);
	}
}

/* By the version of a pipe: the access that wrote most to it. */
static int32_t *list_writers(const struct plan *p)
{
	const struct graph *g = p->workflow->graph;
	int32_t *writer_of = malloc(((size_t)g->n_nodes + 1) * sizeof(*writer_of));

	for (int32_t i = 0; writer_of && i < g->n_nodes; i++)
		writer_of[i] = GRAPH_NONE;
	for (int32_t e = 0; writer_of && e < g->n_edges; e++) {
		const struct graph_edge *edge = &g->edges[e];
		const struct graph_access *out = edge->access == GRAPH_NONE ? NULL : &g->accesses[edge->access];
		int32_t *now = &writer_of[edge->to];

		if (!out || g->nodes[edge->to].kind != NODE_FILE || (edge->kinds & EDGE_META) ||
			!data_is_pipe(workflow_data(p->workflow, out->file)))
			continue;
		if (*now == GRAPH_NONE || out->bwrite > g->accesses[*now].bwrite)
			*now = edge->access;
	}
	return writer_of;
}

/* What remains of the time of each process, from that of the others in the round before. */
static void work_out(const struct plan *p, const struct partner *partners, const double *before, double *ret_rest)
{
	for (int32_t i = 0; i < p->n; i++) {
		const struct part *part = &p->parts[i];
		double all = part->cpu_ns + part->wait_ns, waits = partners[i].process == REPLAY_NONE ? 0 : partners[i].wait_ns;
		double rest = (all - waits) / part->faster + (waits > 0 ? waits * before[partners[i].process] : 0);

		ret_rest[i] = all > 0 ? rest / all : 1 / part->faster;
	}
}

/* What it waited for the other end, it did not wait for requests. */
static void set_waits(struct part *part, const struct partner *partner, double rest)
{
	double requests = part->wait_ns - partner->wait_ns;

	if (fabs(rest - 1) < 1e-9)
		return;
	part->pipe_ns = partner->wait_ns;
	part->pipe_rest = rest;
	part->request_ns = part->request_ns < requests ? part->request_ns : requests;
}

int plan_press(struct plan *p)
{
	cleanup_free struct partner *partners = malloc(((size_t)p->n + 1) * sizeof(*partners));
	cleanup_free double *rest = malloc(((size_t)p->n + 1) * sizeof(*rest));
	cleanup_free double *next = malloc(((size_t)p->n + 1) * sizeof(*next));
	cleanup_free int32_t *writer_of = list_writers(p);

	if (!partners || !rest || !next || !writer_of)
		return -ENOMEM;
	for (int32_t i = 0; i < p->n; i++) {
		partners[i] = (struct partner){ .process = REPLAY_NONE };
		rest[i] = 1 / p->parts[i].faster;
	}
	find_partners(p, writer_of, partners);
	for (int k = 0; k < ROUNDS_MAX; k++) {
		double *last = rest;

		work_out(p, partners, rest, next);
		rest = next;
		next = last;
	}
	for (int32_t i = 0; i < p->n; i++)
		if (partners[i].process != REPLAY_NONE)
			set_waits(&p->parts[i], &partners[i], rest[partners[i].process]);
	return 0;
}
