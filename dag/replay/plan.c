/* SPDX-License-Identifier: MIT */

/* Processes of a traced workflow, what happens in their lives, and the slots of drivers. */

#include "dag/replay/replay_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/saturate.h"
#include "dag/graph/workflow.h"
#include "db/drivers.h"

/* ---- processes ---- */

/* Ancestors may be older than the run, and what goes on ends with it. */
static void take_times(struct plan *p)
{
	const struct workflow *w = p->workflow;

	p->begin_ns = INT64_MAX;
	p->end_ns = INT64_MIN;
	for (int32_t i = 0; i < p->n; i++) {
		const struct graph_process *process = &w->graph->processes[i];
		struct part *part = &p->parts[i];

		part->start_ns = process->start_ns > w->begin_ns ? process->start_ns : w->begin_ns;
		part->end_ns = process->end_ns < w->end_ns ? process->end_ns : w->end_ns;
		if (part->end_ns < part->start_ns)
			part->end_ns = part->start_ns;
		p->begin_ns = part->start_ns < p->begin_ns ? part->start_ns : p->begin_ns;
		p->end_ns = part->end_ns > p->end_ns ? part->end_ns : p->end_ns;
	}
}

/* Which process started which.  A parent comes before its children, so that no chain of them is a circle. */
static void take_parents(struct plan *p)
{
	const struct graph *g = p->workflow->graph;

	for (int32_t i = 0; i < p->n; i++) {
		struct part *part = &p->parts[i];

		part->parent = graph_parent(g, i);
		if (part->parent >= i)
			part->parent = REPLAY_NONE;
		if (part->parent == REPLAY_NONE)
			continue;
		part->depth = p->parts[part->parent].depth + 1;
		if (part->start_ns < p->parts[part->parent].start_ns)
			part->start_ns = p->parts[part->parent].start_ns;
		if (part->end_ns < part->start_ns)
			part->end_ns = part->start_ns;
	}
}

static void take_figures(struct plan *p)
{
	const struct graph *g = p->workflow->graph;

	for (int32_t i = 0; i < p->n; i++) {
		const struct task *task = workflow_task(p->workflow, i);
		struct part *part = &p->parts[i];

		part->driver = task->driver;
		part->cpu_ns = task->cpu_ns == WORKFLOW_UNKNOWN ? -1 : task->cpu_ns;
		part->delay_ns = task->cpu_delay_ns == WORKFLOW_UNKNOWN ? 0 : task->cpu_delay_ns;
		part->stretch = 1;
	}
	for (int32_t i = 0; i < g->n_accesses && !p->workflow->is_native; i++) {
		const struct graph_access *a = &g->accesses[i];
		int64_t *requests = &p->parts[a->process].requests;

		*requests = saturate_add(*requests, a->nmeta);
		*requests = saturate_add(*requests, a->nread > 0 ? a->nread : 0);
		*requests = saturate_add(*requests, a->nwrite > 0 ? a->nwrite : 0);
	}
}

/* ---- events ---- */

static int compare_events(const void *x, const void *y)
{
	const struct event *a = x, *b = y;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	return (a->child > b->child) - (a->child < b->child);
}

static void add_event(struct plan *p, int32_t process, const struct event *event)
{
	struct part *part = &p->parts[process];

	p->events[part->first_event + part->n_events++] = *event;
}

static void add_events(struct plan *p, int32_t child)
{
	const struct part *part = &p->parts[child];
	bool at_once = part->end_ns == part->start_ns;

	add_event(p, part->parent, &(struct event){ part->start_ns, child, EVENT_FORK });
	if (part->waited)
		add_event(p, part->parent,
			&(struct event){
				part->end_ns, child, at_once ? EVENT_END_AT_ONCE : EVENT_END });
}

void plan_each_piece(struct plan *p, int32_t process,
	void (*call)(struct part *, struct piece *, int64_t, bool))
{
	struct part *part = &p->parts[process];
	int64_t from = part->start_ns;
	int32_t living = 0;

	for (int32_t i = 0; i <= part->n_events; i++) {
		const struct event *e =
			i < part->n_events ? &p->events[part->first_event + i] : NULL;
		int64_t to = !e || e->time_ns > part->end_ns ? part->end_ns : e->time_ns;

		call(part, plan_piece(p, process, i), to > from ? to - from : 0, living > 0);
		from = to > from ? to : from;
		living += e && e->kind == EVENT_FORK;
		living -= e && (e->kind == EVENT_END || e->kind == EVENT_END_AT_ONCE);
	}
}

static void add_own(struct part *part, struct piece *piece, int64_t length_ns, bool covered)
{
	(void)piece;
	part->own_ns += covered ? 0 : length_ns;
}

void plan_measure_own(struct plan *p, int32_t process)
{
	p->parts[process].own_ns = 0;
	plan_each_piece(p, process, add_own);
}

/* Did the process compute most of the time while its children lived? */
static bool computes_meanwhile(struct plan *p, int32_t process)
{
	const struct part *part = &p->parts[process];

	plan_measure_own(p, process);
	return part->cpu_ns - part->own_ns > (part_life(part) - part->own_ns) / 2;
}

/* Room for all: at most a fork, an end, a mark and the wait for it for each process. */
static int make_room(struct plan *p)
{
	p->events = malloc((4 * (size_t)p->n + 1) * sizeof(*p->events));
	p->pieces = calloc(5 * (size_t)p->n + 1, sizeof(*p->pieces));
	if (!p->events || !p->pieces)
		return -ENOMEM;
	for (int32_t i = 0; i < p->n; i++) {
		struct part *part = &p->parts[i];

		if (part->parent != REPLAY_NONE) {
			/* A parent does not wait for the end of a child that outlives it. */
			part->waited = part->end_ns <= p->parts[part->parent].end_ns;
			p->parts[part->parent].n_children++;
		}
	}
	for (int32_t i = 0; i < p->n; i++) {
		p->parts[i].first_event = p->room;
		p->room += 3 * p->parts[i].n_children + 1;
	}
	return 0;
}

static void sort_events(struct plan *p, int32_t process)
{
	qsort(&p->events[p->parts[process].first_event], p->parts[process].n_events,
		sizeof(*p->events), compare_events);
}

/* The process waits at a time until its child, which lives, has come as far as it had then. */
static void add_mark(struct plan *p, int32_t process, int32_t child, int64_t time_ns)
{
	if (p->parts[child].driver || p->parts[child].start_ns >= time_ns)
		return;
	p->parts[child].marked = true;
	add_event(p, child, &(struct event){ time_ns, child, EVENT_MARK });
	add_event(p, process, &(struct event){ time_ns, child, EVENT_AWAIT });
}

/*
 * A process that forks some time after the last fork, or ends while the last child lives, and computed little, has
 * waited for what that child did: for the end of its output, say.
 */
static void add_marks(struct plan *p, int32_t process)
{
	struct part *part = &p->parts[process];
	int32_t n = part->n_events, last = REPLAY_NONE;

	for (int32_t i = 0; i < n; i++) {
		const struct event *e = &p->events[part->first_event + i];

		if (e->kind != EVENT_FORK)
			continue;
		if (i && e[-1].kind == EVENT_FORK && p->parts[last].end_ns >= e->time_ns)
			add_mark(p, process, last, e->time_ns);
		last = e->child;
	}
	if (last != REPLAY_NONE && !p->parts[last].waited)
		add_mark(p, process, last, part->end_ns);
}

/* The mark that a process has from its parent is its last event so far: that comes behind it. */
static void complete_events(struct plan *p, int32_t process)
{
	struct part *part = &p->parts[process];
	struct event mark = { 0 };

	if (part->marked)
		mark = p->events[part->first_event + --part->n_events];
	sort_events(p, process);
	if (!part->driver && !computes_meanwhile(p, process))
		add_marks(p, process);
	if (part->marked)
		add_event(p, process, &mark);
	sort_events(p, process);
}

static int list_events(struct plan *p)
{
	if (make_room(p) < 0)
		return -ENOMEM;
	for (int32_t i = 0; i < p->n; i++) {
		p->parts[i].driver &= p->parts[i].n_children > 0;
		if (p->parts[i].parent != REPLAY_NONE)
			add_events(p, i);
	}
	for (int32_t i = 0; i < p->n; i++)
		complete_events(p, i);
	return 0;
}

/* ---- slots ---- */

/* They tell each other how many jobs there may be. */
static bool is_make(const struct task *task)
{
	const struct driver *driver =
		task->program ? driver_find(task->program, strlen(task->program)) : NULL;

	return driver && driver->jobserver;
}

static int32_t driver_above(const struct plan *p, int32_t process)
{
	int32_t at = p->parts[process].parent;

	while (at != REPLAY_NONE && !p->parts[at].driver)
		at = p->parts[at].parent;
	return at;
}

/* Their starts and ends, in the order of time. */
static int32_t list_children_of_drivers(const struct plan *p, struct event *all)
{
	int32_t n = 0;

	for (int32_t i = 0; i < p->n; i++)
		for (int32_t e = 0; p->parts[i].driver && e < p->parts[i].n_events; e++) {
			const struct event *event = &p->events[p->parts[i].first_event + e];

			if (event->kind != EVENT_MARK && p->parts[event->child].waited)
				all[n++] = *event;
		}
	qsort(all, n, sizeof(*all), compare_events);
	return n;
}

/* How many children each had at once; a make in a make has one that costs no slot. */
static int count_slots(struct plan *p)
{
	cleanup_free struct event *all = malloc(((size_t)p->room + 1) * sizeof(*all));
	cleanup_free int32_t *running = calloc((size_t)p->n + 1, sizeof(*running));
	cleanup_free int32_t *used = calloc((size_t)p->n + 1, sizeof(*used));

	int32_t n = 0;

	if (all && running && used)
		n = list_children_of_drivers(p, all);
	for (int32_t i = 0; i < n; i++) {
		int32_t driver = p->parts[all[i].child].parent, of = p->parts[driver].slots_of;
		bool fork = all[i].kind == EVENT_FORK;

		running[driver] += fork ? 0 : -1;
		if (of == driver || running[driver] > 0)
			used[of] += fork ? 1 : -1;
		running[driver] += fork ? 1 : 0;
		if (used[of] > p->parts[of].slots)
			p->parts[of].slots = used[of];
	}
	return all && running && used ? 0 : -ENOMEM;
}

static int set_slots(struct plan *p, int64_t jobs)
{
	int r;

	for (int32_t i = 0; i < p->n; i++) {
		struct part *part = &p->parts[i];
		int32_t above = part->driver ? driver_above(p, i) : REPLAY_NONE;
		bool lends = above != REPLAY_NONE && is_make(workflow_task(p->workflow, i)) &&
			     is_make(workflow_task(p->workflow, above));

		part->slots_of = lends ? p->parts[above].slots_of : i;
		part->slots = part->driver && part->slots_of == i;
	}
	r = count_slots(p);
	for (int32_t i = 0; i < p->n && r == 0 && jobs > 0; i++)
		if (p->parts[i].slots && driver_above(p, i) == REPLAY_NONE)
			p->parts[i].slots = jobs < INT32_MAX ? (int32_t)jobs : INT32_MAX;
	return r;
}

/* ---- the whole ---- */

int plan_make(struct plan *p, const struct workflow *workflow, const struct replay_options *options)
{
	int r;

	*p = (struct plan){ .workflow = workflow, .n = workflow->graph->n_processes };
	p->parts = calloc((size_t)p->n + 1, sizeof(*p->parts));
	if (!p->parts)
		return -ENOMEM;
	take_times(p);
	take_parents(p);
	take_figures(p);
	if (list_events(p) < 0)
		return -ENOMEM;
	r = plan_work(p, options);
	return r < 0 ? r : set_slots(p, options->jobs);
}

void plan_finish(struct plan *p)
{
	free(p->parts);
	free(p->events);
	free(p->pieces);
	free(p->links);
	free(p->first_link);
	free(p->n_before);
}
