/* SPDX-License-Identifier: MIT */

/*
 * Events one after the other: the next piece that ends, and what it lets go on.
 *
 *   process:  piece -> fork -> piece -> ... -> end of a child? waits if it has not come -> ... -> end
 *   driver:   (picks a child that is ready -> piece -> fork)* -> all children have ended -> piece -> end
 */

#include "dag/replay/replay_internal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/heap.h"
#include "base/saturate.h"
#include "base/vector.h"
#include "dag/graph/workflow.h"

enum state { WAITING, STARTED, ENDED };

struct actor {
	enum state state;
	bool busy;     /* with a piece */
	bool queued;   /* may go on */
	int32_t event; /* the next */
	int32_t step;  /* the last */
	int32_t mark;  /* the one that came to its mark */
	/* What the start of a child, or a driver without a slot, waited for last. */
	int32_t data, slot;
	/* Of a driver: */
	int32_t *ready; /* heap of children, the first in the trace on top */
	int32_t n_ready, n_left, n_running;
	int32_t picked;          /* the child that the piece is for */
	int32_t used;            /* of its slots, by all drivers that take theirs from here */
	bool blocked;            /* a child is ready, and no slot is free */
	int32_t ended;           /* the last step of the child that ended last */
	enum replay_cause cause; /* of its next step */
	int32_t next_in_pool;
};

/* A piece that goes on. */
struct running {
	int32_t process, step;
	double left_ns; /* of the time it takes if there is a core */
	double busy;    /* part of that in which it wants a core */
	double width;   /* or that many */
	double speed;
};

struct sim {
	struct plan plan;
	struct actor *actors;
	int32_t *heaps;
	struct running *running;
	int32_t n_running;
	double now_ns;
	struct replay *replay;
	int32_t *queue, first, n_queue; /* drivers that may go on; a ring of n */
	int32_t *roots, n_roots, root; /* processes without a parent, in the order of their times */
};

/* In the replay of a trace that was made up, time may go beyond what fits. */
static int64_t whole_ns(double ns)
{
	return ns >= (double)INT64_MAX ? INT64_MAX : llround(ns);
}

static void add_ns(int64_t *sum, double ns)
{
	*sum = saturate_add(*sum, whole_ns(ns));
}

/* ---- heaps ---- */

static bool is_earlier(const void *arg, int32_t a, int32_t b)
{
	(void)arg;
	return a < b;
}

static void push_ready(struct actor *a, int32_t child)
{
	heap_push(a->ready, &a->n_ready, child, is_earlier, NULL);
}

static int32_t pop_ready(struct actor *a)
{
	return heap_pop(a->ready, &a->n_ready, is_earlier, NULL);
}

/* ---- pieces ---- */

static int add_step(struct sim *s, int32_t process, int32_t after, enum replay_cause cause,
	const struct piece *piece)
{
	struct replay *r = s->replay;

	if (vector_reserve(r->steps, r->n_steps) < 0)
		return -ENOMEM;
	r->steps[r->n_steps] = (struct replay_step){ .process = process,
		.after = after,
		.cause = cause,
		.begin_ns = whole_ns(s->now_ns),
		.end_ns = whole_ns(s->now_ns),
		.work_ns = whole_ns(piece->cpu_ns / piece->width + piece->wait_ns) };
	add_ns(&r->processes[process].cpu_ns, piece->cpu_ns);
	add_ns(&r->processes[process].wait_ns, piece->wait_ns);
	s->actors[process].step = r->n_steps;
	return r->n_steps++;
}

static void may_go_on(struct sim *s, int32_t process)
{
	if (s->actors[process].queued)
		return;
	s->actors[process].queued = true;
	s->queue[(s->first + s->n_queue++) % s->plan.n] = process;
}

/* The later of two steps; the first if both ended at once. */
static int32_t later(const struct sim *s, int32_t a, int32_t b)
{
	if (a == REPLAY_NONE || b == REPLAY_NONE)
		return a == REPLAY_NONE ? b : a;
	return s->replay->steps[b].end_ns > s->replay->steps[a].end_ns ? b : a;
}

static int run_piece(struct sim *s, int32_t process, const struct piece *piece, int32_t after,
	enum replay_cause cause)
{
	double time = piece->cpu_ns / piece->width + piece->wait_ns;
	int32_t step = add_step(s, process, after, cause, piece);

	if (step < 0)
		return step;
	if (time <= 0) {
		may_go_on(s, process);
		return 0;
	}
	s->actors[process].busy = true;
	s->running[s->n_running++] = (struct running){ .process = process,
		.step = step,
		.left_ns = time,
		.busy = piece->cpu_ns / piece->width / time,
		.width = piece->width };
	return 0;
}

static int begin(struct sim *s, int32_t process, int32_t after, enum replay_cause cause)
{
	const struct part *part = &s->plan.parts[process];
	struct actor *a = &s->actors[process];

	a->state = STARTED;
	s->replay->processes[process].begin_ns = whole_ns(s->now_ns);
	if (part->driver) {
		a->step = after; /* its first piece comes with its first child */
		a->cause = cause;
		may_go_on(s, process);
		return 0;
	}
	return run_piece(s, process, plan_piece(&s->plan, process, 0), after, cause);
}

/* ---- drivers ---- */

/* The first child of a make in a make costs nothing: the slot is the one that it has itself. */
static bool costs_slot(const struct sim *s, int32_t driver)
{
	return s->plan.parts[driver].slots_of == driver || s->actors[driver].n_running > 0;
}

static bool has_slot(const struct sim *s, int32_t driver)
{
	int32_t of = s->plan.parts[driver].slots_of;

	return !costs_slot(s, driver) || s->actors[of].used < s->plan.parts[of].slots;
}

/* A slot has become free. */
static void wake_pool(struct sim *s, int32_t driver, int32_t step)
{
	for (int32_t d = s->plan.parts[driver].slots_of; d != REPLAY_NONE;
		d = s->actors[d].next_in_pool) {
		struct actor *a = &s->actors[d];

		if (a->state != STARTED || a->busy || !a->n_ready)
			continue;
		a->slot = a->blocked ? step : a->slot;
		may_go_on(s, d);
	}
}

/* Of the drivers that want the same slot, is this the one whose child comes first in the trace? */
static bool is_first_in_pool(const struct sim *s, int32_t driver)
{
	for (int32_t d = s->plan.parts[driver].slots_of; d != REPLAY_NONE;
		d = s->actors[d].next_in_pool) {
		const struct actor *a = &s->actors[d];

		if (a->queued && !a->busy && a->n_ready && costs_slot(s, d) &&
			a->ready[0] < s->actors[driver].ready[0])
			return false;
	}
	return true;
}

/* The sum of the pieces between the last fork and this one. */
static struct piece work_before(const struct sim *s, int32_t driver, bool last)
{
	const struct part *part = &s->plan.parts[driver];
	struct actor *a = &s->actors[driver];
	struct piece sum = { .width = 1 };

	for (bool found = false; !found && a->event <= part->n_events; a->event++) {
		const struct piece *piece = plan_piece(&s->plan, driver, a->event);
		const struct event *e = &s->plan.events[part->first_event + a->event];

		sum.cpu_ns += piece->cpu_ns;
		sum.wait_ns += piece->wait_ns;
		sum.width = piece->width > sum.width ? piece->width : sum.width;
		found = !last && a->event < part->n_events && e->kind == EVENT_FORK;
	}
	return sum;
}

static int pick_child(struct sim *s, int32_t driver)
{
	struct actor *a = &s->actors[driver];
	int32_t child = pop_ready(a), data = s->actors[child].data;
	int32_t after = later(s, a->step, later(s, data, a->slot));
	struct piece piece = work_before(s, driver, false);
	enum replay_cause cause = after == a->step ? a->cause
				  : after == data  ? REPLAY_DATA
						   : REPLAY_SLOT;

	if (s->plan.parts[child].waited) {
		s->actors[s->plan.parts[driver].slots_of].used += costs_slot(s, driver);
		a->n_running++;
	}
	a->picked = child;
	a->cause = REPLAY_OWN;
	a->slot = REPLAY_NONE;
	return run_piece(s, driver, &piece, after, cause);
}

static int end_process(struct sim *s, int32_t process);

static int end_driver(struct sim *s, int32_t driver)
{
	struct actor *a = &s->actors[driver];
	int32_t after = later(s, a->step, a->ended);
	struct piece rest;

	if (a->event > s->plan.parts[driver].n_events)
		return end_process(s, driver);
	rest = work_before(s, driver, true);
	return run_piece(s, driver, &rest, after, after == a->step ? a->cause : REPLAY_CHILD);
}

static int go_on_driver(struct sim *s, int32_t driver)
{
	struct actor *a = &s->actors[driver];
	int32_t child = a->picked;

	if (child != REPLAY_NONE) {
		a->picked = REPLAY_NONE;
		a->n_left--;
		may_go_on(s, driver);
		return begin(s, child, a->step, REPLAY_FORK);
	}
	if (a->n_left == 0 && a->n_running == 0)
		return end_driver(s, driver);
	a->blocked = a->n_ready && !has_slot(s, driver);
	if (!a->n_ready || a->blocked)
		return 0;
	if (!costs_slot(s, driver) || is_first_in_pool(s, driver))
		return pick_child(s, driver);
	may_go_on(s, driver); /* behind it */
	return 0;
}

static void end_child_of_driver(struct sim *s, int32_t driver, int32_t child)
{
	struct actor *a = &s->actors[driver];

	if (!s->plan.parts[child].waited)
		return;
	a->n_running--;
	s->actors[s->plan.parts[driver].slots_of].used -= costs_slot(s, driver);
	a->ended = s->actors[child].step;
	if (!a->busy)
		may_go_on(s, driver);
	wake_pool(s, driver, a->ended);
}

/* ---- processes ---- */

/* Has what was to come first? */
static bool has_come(const struct sim *s, const struct event *e)
{
	const struct actor *child = &s->actors[e->child];

	switch (e->kind) {
	case EVENT_FORK:
	case EVENT_MARK:
		return true;
	case EVENT_AWAIT:
		return child->mark != REPLAY_NONE;
	default:
		return child->state == ENDED;
	}
}

static void pass_mark(struct sim *s, int32_t process)
{
	int32_t parent = s->plan.parts[process].parent;

	s->actors[process].mark = s->actors[process].step;
	if (s->actors[parent].state == STARTED && !s->actors[parent].busy)
		may_go_on(s, parent);
}

static int go_on_process(struct sim *s, int32_t process)
{
	const struct part *part = &s->plan.parts[process];
	struct actor *a = &s->actors[process];
	const struct event *e = &s->plan.events[part->first_event + a->event];
	int32_t after = a->step;
	int r = 0;

	if (a->event == part->n_events)
		return end_process(s, process);
	if (!has_come(s, e))
		return 0;
	if (e->kind == EVENT_FORK)
		r = begin(s, e->child, after, REPLAY_FORK);
	else if (e->kind == EVENT_MARK)
		pass_mark(s, process);
	else
		after = later(s, after,
			e->kind == EVENT_AWAIT ? s->actors[e->child].mark
					       : s->actors[e->child].step);
	a->event++;
	return r < 0 ? r
		     : run_piece(s, process, plan_piece(&s->plan, process, a->event), after,
			       after == a->step ? REPLAY_OWN : REPLAY_CHILD);
}

/* All has ended that it waited for. */
static void let_start(struct sim *s, int32_t process)
{
	int32_t driver = s->plan.parts[process].parent;

	push_ready(&s->actors[driver], process);
	if (s->actors[driver].state == STARTED && !s->actors[driver].busy)
		may_go_on(s, driver);
}

static int end_process(struct sim *s, int32_t process)
{
	int32_t parent = s->plan.parts[process].parent;

	s->actors[process].state = ENDED;
	s->replay->processes[process].end_ns = whole_ns(s->now_ns);
	for (int32_t l = s->plan.first_link[process]; l != REPLAY_NONE; l = s->plan.links[l].next) {
		int32_t to = s->plan.links[l].to;

		s->actors[to].data = s->actors[process].step;
		if (s->plan.n_before[to] > 0 && --s->plan.n_before[to] == 0)
			let_start(s, to);
	}
	if (parent == REPLAY_NONE || s->actors[parent].state != STARTED)
		return 0;
	if (s->plan.parts[parent].driver)
		end_child_of_driver(s, parent, process);
	else if (!s->actors[parent].busy)
		may_go_on(s, parent);
	return 0;
}

/* ---- time ---- */

/* What the running pieces want of the cores if each that computes gets that part of one. */
static double wanted(const struct sim *s, double part, double *ret_slope)
{
	double sum = 0;

	*ret_slope = 0;
	for (int32_t i = 0; i < s->n_running; i++) {
		const struct running *r = &s->running[i];
		double below = r->busy + (1 - r->busy) * part;

		if (r->busy <= 0)
			continue;
		sum += r->width * r->busy * part / below;
		*ret_slope += r->width * r->busy * r->busy / (below * below);
	}
	return sum;
}

/*
 * The part of a core that each computing piece gets: all of it, or so much that nothing is left.  What is wanted
 * grows with the part, less and less: Newton's method comes to it from below.
 */
static double part_of_core(const struct sim *s)
{
	double part, slope, width = 0, cores = s->replay->cores;

	if (wanted(s, 1, &slope) <= cores)
		return 1;
	for (int32_t i = 0; i < s->n_running; i++)
		width += s->running[i].busy > 0 ? s->running[i].width : 0;
	part = cores / width;
	for (int i = 0; i < 50; i++) {
		double missing = cores - wanted(s, part, &slope);

		part += missing / slope;
		if (missing <= cores * 1e-12)
			break;
	}
	return part;
}

static double root_time(const struct sim *s)
{
	return s->root < s->n_roots
		       ? (double)(s->plan.parts[s->roots[s->root]].start_ns - s->plan.begin_ns)
		       : INFINITY;
}

/* Until the next piece ends, or the next process without a parent starts. */
static int pass_time(struct sim *s)
{
	double part = part_of_core(s), root = root_time(s) - s->now_ns, time = root;
	int32_t n = 0;

	for (int32_t i = 0; i < s->n_running; i++) {
		struct running *r = &s->running[i];

		r->speed = 1 / (r->busy / part + 1 - r->busy);
		time = r->left_ns / r->speed < time ? r->left_ns / r->speed : time;
	}
	time = time > 0 ? time : 0;
	s->now_ns += time;
	for (int32_t i = 0; i < s->n_running; i++) {
		struct running *r = &s->running[i];

		r->left_ns -= time * r->speed;
		if (r->left_ns > 1e-3) {
			s->running[n++] = *r;
			continue;
		}
		s->replay->steps[r->step].end_ns = whole_ns(s->now_ns);
		s->actors[r->process].busy = false;
		may_go_on(s, r->process);
	}
	s->n_running = n;
	return root <= time ? begin(s, s->roots[s->root++], REPLAY_NONE, REPLAY_BEGIN) : 0;
}

static int let_go_on(struct sim *s)
{
	int r = 0;

	while (s->n_queue && r >= 0) {
		int32_t process = s->queue[s->first];
		struct actor *a = &s->actors[process];

		s->first = (s->first + 1) % s->plan.n;
		s->n_queue--;
		a->queued = false;
		if (a->busy || a->state != STARTED)
			continue;
		r = s->plan.parts[process].driver ? go_on_driver(s, process)
						  : go_on_process(s, process);
	}
	return r;
}

/* Times that contradict each other, by the grain of a clock: the first child that waits for data has it. */
static bool give_way(struct sim *s)
{
	for (int32_t i = 0; i < s->plan.n; i++) {
		int32_t parent = s->plan.parts[i].parent;

		if (s->plan.n_before[i] == 0 || s->actors[parent].state != STARTED)
			continue;
		s->plan.n_before[i] = 0;
		let_start(s, i);
		return true;
	}
	return false;
}

static int simulate(struct sim *s)
{
	int r = 0;

	do {
		while (r >= 0 && (s->n_queue || s->n_running || s->root < s->n_roots)) {
			r = let_go_on(s);
			if (r >= 0 && (s->n_running || s->root < s->n_roots))
				r = pass_time(s);
		}
	} while (r >= 0 && give_way(s));
	return r < 0 ? r : 0;
}

/* ---- before ---- */

static void list_roots(struct sim *s)
{
	const struct part *parts = s->plan.parts;

	for (int32_t i = 0; i < s->plan.n; i++) {
		int32_t at = s->n_roots;

		if (parts[i].parent != REPLAY_NONE)
			continue;
		for (; at > 0 && parts[s->roots[at - 1]].start_ns > parts[i].start_ns; at--)
			s->roots[at] = s->roots[at - 1];
		s->roots[at] = i;
		s->n_roots++;
	}
}

static void list_children(struct sim *s)
{
	int32_t *heap = s->heaps;

	for (int32_t i = 0; i < s->plan.n; i++)
		if (s->plan.parts[i].parent != REPLAY_NONE)
			s->actors[s->plan.parts[i].parent].n_left++;
	for (int32_t i = 0; i < s->plan.n; i++) {
		struct actor *a = &s->actors[i];
		int32_t of = s->plan.parts[i].slots_of;

		a->ready = heap;
		heap += a->n_left;
		a->step = a->mark = a->data = a->slot = a->ended = a->picked = REPLAY_NONE;
		a->next_in_pool = REPLAY_NONE;
		if (of != i) {
			a->next_in_pool = s->actors[of].next_in_pool;
			s->actors[of].next_in_pool = i;
		}
	}
	for (int32_t i = 0; i < s->plan.n; i++) {
		int32_t parent = s->plan.parts[i].parent;

		if (parent != REPLAY_NONE && s->plan.parts[parent].driver &&
			s->plan.n_before[i] == 0)
			push_ready(&s->actors[parent], i);
	}
}

/* The cores of the replay.  Other programs use as many cores as during the run: with more cores than the run had,
 * the workflow gets the additional ones; with fewer, at most as many as it had. */
static double cores_for(const struct plan *p, double asked)
{
	double all = p->workflow->cpus;

	if (asked <= 0 || all <= 0)
		return asked > 0 ? asked : all > 0 ? p->cores : INFINITY;
	return asked > all ? asked - all + p->cores : fmin(asked, p->cores);
}

static int sim_make(struct sim *s, const struct workflow *w, const struct replay_options *o)
{
	int r = plan_make(&s->plan, w, o);
	size_t n = (size_t)s->plan.n + 1;

	if (r == 0)
		r = plan_link_data(&s->plan);
	s->actors = calloc(n, sizeof(*s->actors));
	s->heaps = malloc(n * sizeof(*s->heaps));
	s->queue = malloc(n * sizeof(*s->queue));
	s->roots = malloc(n * sizeof(*s->roots));
	s->running = malloc(n * sizeof(*s->running));
	s->replay->processes = calloc(n, sizeof(*s->replay->processes));
	if (r < 0 || !s->actors || !s->heaps || !s->queue || !s->roots || !s->running ||
		!s->replay->processes)
		return -ENOMEM;
	s->replay->cores = cores_for(&s->plan, o->cores);
	s->replay->measured_ns = s->plan.n ? s->plan.end_ns - s->plan.begin_ns : 0;
	list_roots(s);
	list_children(s);
	return 0;
}

static void sim_finish(struct sim *s)
{
	plan_finish(&s->plan);
	free(s->actors);
	free(s->heaps);
	free(s->queue);
	free(s->roots);
	free(s->running);
}

/* ---- after ---- */

static int find_path(struct replay *r)
{
	int32_t last = REPLAY_NONE, n = 0;

	for (int32_t i = 0; i < r->n_steps; i++)
		if (last == REPLAY_NONE || r->steps[i].end_ns > r->steps[last].end_ns)
			last = i;
	for (int32_t i = last; i != REPLAY_NONE; i = r->steps[i].after)
		n++;
	r->path = malloc(((size_t)n + 1) * sizeof(*r->path));
	if (!r->path)
		return -ENOMEM;
	r->n_path = n;
	for (int32_t i = last; i != REPLAY_NONE; i = r->steps[i].after)
		r->path[--n] = i;
	r->makespan_ns = last == REPLAY_NONE ? 0 : r->steps[last].end_ns;
	return 0;
}

int replay_run(const struct workflow *workflow, const struct replay_options *options,
	struct replay **ret_replay)
{
	struct sim s = { .replay = calloc(1, sizeof(*s.replay)) };
	int r = s.replay ? sim_make(&s, workflow, options) : -ENOMEM;

	if (r == 0)
		r = simulate(&s);
	for (int32_t i = 0; r == 0 && i < s.plan.n; i++)
		s.replay->processes[i].slots =
			s.plan.parts[i].driver && s.plan.parts[i].slots_of == i
				? s.plan.parts[i].slots
				: 0;
	if (r == 0)
		r = find_path(s.replay);
	sim_finish(&s);
	if (r < 0) {
		replay_destroy(s.replay);
		s.replay = NULL;
	}
	*ret_replay = s.replay;
	return r;
}

void replay_destroy(struct replay *replay)
{
	if (!replay)
		return;
	free(replay->processes);
	free(replay->steps);
	free(replay->path);
	free(replay);
}
