/* SPDX-License-Identifier: MIT */
#include "dag/graph/critical.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/vector.h"
#include "dag/graph/pieces.h"
#include "dag/graph/pressure.h"
#include "dag/graph/rounds.h"

const char *const critical_causes[] = { "start", "fork", "wait", "data" };

/* A run is walked through once for each gain. */
#define GAIN_COST_MAX 300000000LL

struct walk {
	const struct workflow *workflow;
	const struct graph *graph;
	struct critical *critical;
	struct arrival *arrivals; /* by reader, then .out_ns */
	int32_t n_arrivals;
	int32_t *parents;  /* of each process: index, or GRAPH_NONE */
	int32_t *children; /* processes, by parent, then end */
	int32_t n_children;
};

int64_t critical_begin(const struct workflow *w, int32_t process)
{
	int64_t start_ns = w->graph->processes[process].start_ns;

	return critical_is_outside(w, process) || (w->is_attached && start_ns < w->begin_ns) ? w->begin_ns : start_ns;
}

int64_t critical_end(const struct workflow *w, int32_t process)
{
	const struct graph_process *p = &w->graph->processes[process];
	int64_t end = p->end_ns == GRAPH_NEVER ? w->end_ns : p->end_ns,
		begin = critical_begin(w, process);

	return end < begin ? begin : end;
}

/* ---- what can be waited for ---- */

static int compare_arrivals(const void *x, const void *y)
{
	const struct arrival *a = x, *b = y;

	if (a->reader != b->reader)
		return a->reader < b->reader ? -1 : 1;
	if (a->out_ns != b->out_ns)
		return a->out_ns < b->out_ns ? -1 : 1;
	return (a->read > b->read) - (a->read < b->read);
}

static bool is_write(const struct graph *g, const struct graph_edge *e)
{
	return e->access != GRAPH_NONE && g->nodes[e->from].kind == NODE_PROCESS &&
	       !(e->kinds & EDGE_META);
}

static bool is_read(const struct graph *g, const struct graph_edge *e)
{
	return e->access != GRAPH_NONE && g->nodes[e->to].kind == NODE_PROCESS &&
	       e->kinds & (EDGE_READ | EDGE_EXECUTE | EDGE_MAP);
}

/* A reader of a pipe waits until the writer has written all, or no longer than it reads itself. */
static void take_pipe(const struct graph *g, struct arrival *arrival, int32_t write)
{
	const struct graph_access *in = &g->accesses[g->edges[arrival->read].access];
	const struct graph_access *out = &g->accesses[g->edges[write].access];
	int64_t out_ns = out->last_out_ns < in->last_ns ? out->last_out_ns : in->last_ns;

	if (out->process == in->process || out->first_out_ns > in->last_ns || (arrival->write != GRAPH_NONE && arrival->out_ns >= out_ns))
		return;
	arrival->write = write;
	arrival->writer = out->process;
	arrival->out_ns = out_ns;
	arrival->in_ns = in->first_in_ns > out_ns ? in->first_in_ns : out_ns;
	arrival->wait_ns = in->io_ns > 0 ? in->io_ns : 0;
}

/* The write that a read has waited for: the last that had begun. */
static void take_write(const struct graph *g, struct arrival *arrival, int32_t write)
{
	const struct graph_access *in = &g->accesses[g->edges[arrival->read].access];
	const struct graph_access *out = &g->accesses[g->edges[write].access];
	int64_t out_ns = out->last_out_ns < in->first_in_ns ? out->last_out_ns : in->first_in_ns;

	if (out->process == in->process || out->first_out_ns > in->first_in_ns)
		return;
	if (arrival->write != GRAPH_NONE && arrival->out_ns >= out_ns)
		return;
	arrival->write = write;
	arrival->writer = out->process;
	arrival->out_ns = out_ns;
}

static int list_arrivals(struct walk *w)
{
	const struct graph *g = w->graph;
	cleanup_free int32_t *head = malloc(((size_t)g->n_nodes + 1) * sizeof(*head));
	cleanup_free int32_t *next = malloc(((size_t)g->n_edges + 1) * sizeof(*next));

	w->arrivals = malloc(((size_t)g->n_edges + 1) * sizeof(*w->arrivals));
	for (int32_t i = 0; head && i < g->n_nodes; i++)
		head[i] = GRAPH_NONE;
	for (int32_t i = 0; head && next && i < g->n_edges; i++)
		if (is_write(g, &g->edges[i])) {
			next[i] = head[g->edges[i].to];
			head[g->edges[i].to] = i;
		}
	for (int32_t i = 0; head && next && w->arrivals && i < g->n_edges; i++) {
		const struct graph_edge *e = &g->edges[i];
		struct arrival arrival = { .read = i, .write = GRAPH_NONE, .version = e->from };
		bool is_pipe;

		if (!is_read(g, e))
			continue;
		arrival.reader = g->accesses[e->access].process;
		arrival.in_ns = g->accesses[e->access].first_in_ns;
		is_pipe = data_is_pipe(workflow_data(w->workflow, g->nodes[e->from].of));
		for (int32_t write = head[e->from]; write != GRAPH_NONE; write = next[write])
			(is_pipe ? take_pipe : take_write)(g, &arrival, write);
		if (arrival.write != GRAPH_NONE)
			w->arrivals[w->n_arrivals++] = arrival;
	}
	if (!head || !next || !w->arrivals)
		return -ENOMEM;
	qsort(w->arrivals, w->n_arrivals, sizeof(*w->arrivals), compare_arrivals);
	return pressure_find(w->workflow, w->arrivals, w->n_arrivals);
}

static int compare_children(const void *x, const void *y, void *arg)
{
	const struct workflow *w = arg;
	int32_t a = *(const int32_t *)x, b = *(const int32_t *)y;
	int64_t p = w->graph->processes[a].parent, q = w->graph->processes[b].parent;
	int64_t s = critical_end(w, a), t = critical_end(w, b);

	if (p != q)
		return p < q ? -1 : 1;
	if (s != t)
		return s < t ? -1 : 1;
	return (a > b) - (a < b);
}

static int list_children(struct walk *w)
{
	const struct graph *g = w->graph;

	w->children = malloc(((size_t)g->n_processes + 1) * sizeof(*w->children));
	w->parents = malloc(((size_t)g->n_processes + 1) * sizeof(*w->parents));
	if (!w->children || !w->parents)
		return -ENOMEM;
	for (int32_t i = 0; i < g->n_processes; i++)
		w->parents[i] = graph_parent(g, i);
	for (int32_t i = 0; i < g->n_processes; i++)
		if (g->processes[i].parent && g->processes[i].end_ns != GRAPH_NEVER)
			w->children[w->n_children++] = i;
	qsort_r(w->children, w->n_children, sizeof(*w->children), compare_children,
		(void *)(uintptr_t)w->workflow);
	return 0;
}

/* ---- backwards ---- */

struct cause {
	enum critical_cause kind;
	int32_t process;
	int64_t time_ns;
	const struct arrival *arrival;
};

/* Behind all exits of children of that parent before a time, or also at it. */
struct exit_key {
	const struct walk *walk;
	int64_t parent, time_ns;
	bool at;
};

static int compare_exit(const void *key, const void *element)
{
	const struct exit_key *k = key;
	int32_t child = *(const int32_t *)element;
	int64_t parent = k->walk->graph->processes[child].parent,
		end = critical_end(k->walk->workflow, child);

	if (parent != k->parent)
		return parent < k->parent ? 1 : -1;
	return end < k->time_ns || (k->at && end == k->time_ns) ? 1 : -1;
}

/* The child that ended last before a time; at it, too, if the process itself had ended then. */
static void find_exit(const struct walk *w, int32_t process, int64_t t, bool ended,
	struct cause *cause)
{
	const struct exit_key key = { w, w->graph->processes[process].id, t, ended };
	size_t behind = vector_lower_bound(&key, w->children, (size_t)w->n_children,
		sizeof(*w->children), compare_exit);
	int32_t child = behind ? w->children[behind - 1] : GRAPH_NONE;

	if (child == GRAPH_NONE || w->graph->processes[child].parent != key.parent)
		return;
	if (critical_end(w->workflow, child) >= cause->time_ns)
		*cause = (struct cause){ CRITICAL_WAIT, child, critical_end(w->workflow, child),
			NULL };
}

/* Behind all arrivals of that reader. */
static int compare_reader(const void *key, const void *element)
{
	return ((const struct arrival *)element)->reader <= *(const int32_t *)key ? 1 : -1;
}

static void find_arrival(const struct walk *w, int32_t process, int64_t t, struct cause *cause)
{
	size_t behind = vector_lower_bound(&process, w->arrivals, (size_t)w->n_arrivals,
		sizeof(*w->arrivals), compare_reader);

	for (int32_t i = (int32_t)behind - 1; i >= 0 && w->arrivals[i].reader == process; i--) {
		const struct arrival *a = &w->arrivals[i];

		if (a->out_ns <= cause->time_ns)
			return;
		if (a->in_ns <= t && a->out_ns < t && !a->press_ns) {
			*cause = (struct cause){ CRITICAL_DATA, a->writer, a->out_ns, a };
			return;
		}
	}
}

static struct cause find_cause(const struct walk *w, int32_t process, int64_t t, bool ended)
{
	int32_t parent = critical_is_outside(w->workflow, process) ? GRAPH_NONE : w->parents[process];
	struct cause cause = { parent == GRAPH_NONE ? CRITICAL_START : CRITICAL_FORK, parent,
		critical_begin(w->workflow, process), NULL };

	find_exit(w, process, t, ended, &cause);
	find_arrival(w, process, t, &cause);
	return cause;
}

static int32_t last_process(const struct workflow *w)
{
	int32_t last = GRAPH_NONE;

	/* Of those that end at the same time the first: it waits for the others. */
	for (int32_t i = 0; i < w->graph->n_processes; i++)
		if (!critical_is_outside(w, i) &&
			(last == GRAPH_NONE || critical_end(w, i) > critical_end(w, last)))
			last = i;
	return last;
}

static int add_step(struct walk *w, int32_t process, int64_t t, const struct cause *cause)
{
	struct critical *c = w->critical;

	if (vector_push(c->steps, c->n_steps,
		    (struct critical_step){ process, cause->time_ns, t, cause->kind,
			    cause->arrival ? w->graph->nodes[cause->arrival->version].of
					   : GRAPH_NONE,
			    WORKFLOW_UNKNOWN }) < 0)
		return -ENOMEM;
	if (cause->arrival) {
		c->edges[cause->arrival->read] = c->edges[cause->arrival->write] = true;
		c->nodes[cause->arrival->version] = true;
	}
	return 0;
}

/* Each step goes back in time, or from a process to its parent. */
static int walk_back(struct walk *w)
{
	struct critical *c = w->critical;
	int32_t process = last_process(w->workflow);
	int64_t t = process == GRAPH_NONE ? 0 : critical_end(w->workflow, process);
	bool ended = true;

	while (process != GRAPH_NONE) {
		struct cause cause = find_cause(w, process, t, ended);

		if (add_step(w, process, t, &cause) < 0)
			return -ENOMEM;
		process = cause.process;
		t = cause.time_ns;
		ended = cause.kind == CRITICAL_WAIT;
	}
	for (int32_t i = 0; i < c->n_steps / 2; i++) {
		struct critical_step step = c->steps[i];

		c->steps[i] = c->steps[c->n_steps - 1 - i];
		c->steps[c->n_steps - 1 - i] = step;
	}
	return 0;
}

/* ---- what of the graph is on it ---- */

static void mark_segments(struct walk *w, const struct critical_step *step)
{
	const struct graph *g = w->graph;

	for (int32_t i = g->processes[step->process].first; i != GRAPH_NONE; i = g->nodes[i].next)
		if (g->nodes[i].begin_ns <= step->end_ns && g->nodes[i].end_ns >= step->begin_ns)
			w->critical->nodes[i] = true;
}

/* How a process began, or went on, on the path; its parent only where no data leads to it. */
static void mark_joins(struct walk *w, const bool *forked, const bool *fed)
{
	const struct graph *g = w->graph;
	struct critical *c = w->critical;

	for (int32_t i = 0; i < g->n_edges; i++) {
		const struct graph_edge *e = &g->edges[i];

		if (!c->nodes[e->from] || !c->nodes[e->to] || e->access != GRAPH_NONE)
			continue;
		if (e->kinds & EDGE_FORK ? forked[g->nodes[e->to].of] && !fed[g->nodes[e->to].of]
					 : g->nodes[e->to].kind == NODE_PROCESS)
			c->edges[i] = true;
	}
}

/* The search ends at a process that is deeper below another one than that, or further behind it on the path. */
#define NEAR 64

static bool is_above(const struct walk *w, int32_t above, int32_t process)
{
	for (int i = 0; i < NEAR && process != GRAPH_NONE && process != above; i++)
		process = w->parents[process];
	return process == above;
}

/* The process of the step before, without those that started the one of this step. */
static int32_t before_step(const struct walk *w, int32_t step)
{
	const struct critical_step *steps = w->critical->steps;
	int32_t process = steps[step].process, last = step > NEAR ? step - NEAR : 0;

	while (--step >= last)
		if (!is_above(w, steps[step].process, process))
			return steps[step].process;
	return GRAPH_NONE;
}

/* Of what a process of the path has read, that which the one before it, or its children, left last. */
static void mark_data(struct walk *w, const int32_t *first_step, bool *fed)
{
	struct critical *c = w->critical;

	for (int32_t i = 0; i < w->n_arrivals;) {
		int32_t reader = w->arrivals[i].reader, best = GRAPH_NONE, before = GRAPH_NONE;

		if (first_step[reader] != GRAPH_NONE)
			before = before_step(w, first_step[reader]);
		for (; i < w->n_arrivals && w->arrivals[i].reader == reader; i++)
			if (before != GRAPH_NONE &&
				is_above(w, before, w->arrivals[i].writer))
				best = i; /* they are in the order of their writes */
		if (best == GRAPH_NONE)
			continue;
		c->edges[w->arrivals[best].read] = c->edges[w->arrivals[best].write] = true;
		c->nodes[w->arrivals[best].version] = true;
		fed[reader] = true;
	}
}

static int mark(struct walk *w)
{
	const struct critical *c = w->critical;
	size_t n = (size_t)w->graph->n_processes + 1;
	cleanup_free int32_t *first = malloc(n * sizeof(*first));
	cleanup_free bool *forked = calloc(n, sizeof(*forked)), *fed = calloc(n, sizeof(*fed));

	for (size_t i = 0; first && i < n; i++)
		first[i] = GRAPH_NONE;
	for (int32_t i = 0; first && forked && fed && i < c->n_steps; i++) {
		int32_t process = c->steps[i].process;

		mark_segments(w, &c->steps[i]);
		first[process] = first[process] == GRAPH_NONE ? i : first[process];
		forked[process] |= c->steps[i].cause == CRITICAL_FORK;
	}
	if (first && forked && fed) {
		mark_data(w, first, fed);
		mark_joins(w, forked, fed);
	}
	return first && forked && fed ? 0 : -ENOMEM;
}

/* ---- slack and gain ---- */

static int64_t gain_of_one(struct critical *c, int32_t process)
{
	int64_t gain;

	c->without[process] = true;
	gain = pieces_gain(c->pieces, c->without);
	c->without[process] = false;
	return gain;
}

static int add_gains(struct walk *w)
{
	struct critical *c = w->critical;
	size_t n = (size_t)w->graph->n_processes + 1;
	int r = pieces_create(w->workflow, w->arrivals, w->n_arrivals, &c->pieces);
	cleanup_free int64_t *gain = calloc(n, sizeof(*gain));
	bool cheap;

	c->talks = calloc(n, sizeof(*c->talks));
	c->without = calloc(n, sizeof(*c->without));
	if (r == 0)
		r = gain && c->talks && c->without ? rounds_find(w->workflow, c->talks) : -ENOMEM;
	if (r < 0)
		return r;
	cheap = (int64_t)c->n_steps * pieces_count(c->pieces) < GAIN_COST_MAX;
	pieces_slack(c->pieces, c->slack_ns);
	for (int32_t i = 0; i < c->n_steps && cheap; i++) {
		int32_t process = c->steps[i].process;

		if (gain[process] == 0) /* not yet, or cheap to do again */
			gain[process] = gain_of_one(c, process);
		c->steps[i].gain_ns = c->talks[process] ? WORKFLOW_UNKNOWN : gain[process];
	}
	return 0;
}

int64_t critical_gain(const struct critical *c, const bool *of)
{
	for (int32_t i = 0; i < c->n_steps; i++)
		if (of[c->steps[i].process] && c->talks[c->steps[i].process])
			return WORKFLOW_UNKNOWN;
	return pieces_gain(c->pieces, of);
}

/* ---- the whole ---- */

static int fill(struct walk *w, bool gains)
{
	int r = list_arrivals(w);

	if (r == 0)
		r = list_children(w);
	if (r == 0)
		r = walk_back(w);
	if (r == 0)
		r = mark(w);
	return r < 0 || !gains ? r : add_gains(w);
}

int critical_create(const struct workflow *workflow, bool gains, struct critical **ret_critical)
{
	const struct graph *g = workflow->graph;
	struct critical *c = calloc(1, sizeof(*c));
	struct walk w = { .workflow = workflow, .graph = g, .critical = c };
	int r = -ENOMEM;

	if (!c)
		return r;
	c->slack_ns = calloc((size_t)g->n_processes + 1, sizeof(*c->slack_ns));
	c->nodes = calloc((size_t)g->n_nodes + 1, sizeof(*c->nodes));
	c->edges = calloc((size_t)g->n_edges + 1, sizeof(*c->edges));
	if (c->slack_ns && c->nodes && c->edges)
		r = fill(&w, gains);
	free(w.arrivals);
	free(w.children);
	free(w.parents);
	if (r < 0)
		critical_destroy(c);
	else
		*ret_critical = c;
	return r;
}

void critical_destroy(struct critical *c)
{
	if (!c)
		return;
	free(c->steps);
	free(c->slack_ns);
	free(c->nodes);
	free(c->edges);
	free(c->talks);
	free(c->without);
	pieces_destroy(c->pieces);
	free(c);
}
