/* SPDX-License-Identifier: MIT */

/* The work of a traced workflow, free of what waiting for cores has added to it. */

#include "dag/replay/replay_internal.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/saturate.h"
#include "dag/graph/workflow.h"

static double least(double a, double b)
{
	return a < b ? a : b;
}

static double most(double a, double b)
{
	return a > b ? a : b;
}

/* ---- what is measured ---- */

/* Its own time is what it computed, and waited for a core; the rest is waiting for something else. */
static void measure(struct plan *p, int32_t process)
{
	struct part *part = &p->parts[process];

	plan_measure_own(p, process);
	if (part->cpu_ns < 0)
		part->cpu_ns = part->own_ns;
	part->wait_ns = most(0, part->own_ns - part->cpu_ns - part->delay_ns);
}

struct cost {
	double per_request_ns;
	int64_t requests;
};

static int compare_costs(const void *x, const void *y)
{
	const struct cost *a = x, *b = y;

	if (a->per_request_ns != b->per_request_ns)
		return a->per_request_ns < b->per_request_ns ? -1 : 1;
	return (a->requests > b->requests) - (a->requests < b->requests);
}

/* Half of all requests are of processes that waited no longer for each: the others sleep, too. */
static double usual_cost(struct cost *costs, int32_t n, int64_t all)
{
	int64_t seen = 0;

	qsort(costs, n, sizeof(*costs), compare_costs);
	for (int32_t i = 0; i < n; i++) {
		seen = saturate_add(seen, costs[i].requests);
		if (seen >= saturate_subtract(all, seen))
			return costs[i].per_request_ns;
	}
	return 0;
}

/* How much of the waiting was for requests to ftrac. */
static int measure_requests(struct plan *p)
{
	cleanup_free struct cost *costs = malloc(((size_t)p->n + 1) * sizeof(*costs));
	int64_t all = 0;
	int32_t n = 0;
	double usual;

	if (!costs)
		return -ENOMEM;
	for (int32_t i = 0; i < p->n; i++) {
		const struct part *part = &p->parts[i];

		if (part->requests)
			costs[n++] =
				(struct cost){ part->wait_ns / part->requests, part->requests };
		all = saturate_add(all, part->requests);
	}
	usual = usual_cost(costs, n, all);
	for (int32_t i = 0; i < p->n; i++)
		p->parts[i].request_ns = least(p->parts[i].wait_ns, usual * p->parts[i].requests);
	return 0;
}

/* ---- when there were too few cores ---- */

/* At a moment of the trace: what all wanted and had, on an average of their lives. */
struct moment {
	int64_t time_ns;
	int32_t part;
	bool ends;
	double stretch; /* from here on; 1: there were enough */
	double stretched,
		few; /* since the begin: sum of stretch x time, time in which there were too few */
};

static int compare_moments(const void *x, const void *y)
{
	const struct moment *a = x, *b = y;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	if (a->ends != b->ends)
		return a->ends - b->ends;
	return (a->part > b->part) - (a->part < b->part);
}

static struct moment *list_moments(const struct plan *p, int32_t *ret_n)
{
	struct moment *moments = malloc((2 * (size_t)p->n + 1) * sizeof(*moments));
	int32_t n = 0;

	for (int32_t i = 0; moments && i < p->n; i++) {
		if (part_life(&p->parts[i]) <= 0)
			continue;
		moments[n++] = (struct moment){ .time_ns = p->parts[i].start_ns, .part = i };
		moments[n++] =
			(struct moment){ .time_ns = p->parts[i].end_ns, .part = i, .ends = true };
	}
	if (moments)
		qsort(moments, n, sizeof(*moments), compare_moments);
	*ret_n = n;
	return moments;
}

/* More was wanted than there was: then all took longer by what they waited for cores. */
static void stretch_moments(struct plan *p, struct moment *moments, int32_t n)
{
	double ran = 0, ready = 0, stretched = 0, few = 0;

	for (int32_t i = 0; i < n; i++) {
		const struct part *part = &p->parts[moments[i].part];
		double by = (moments[i].ends ? -1 : 1) / part_life(part);

		if (i) {
			double time = (double)(moments[i].time_ns - moments[i - 1].time_ns);

			stretched += moments[i - 1].stretch * time;
			few += moments[i - 1].stretch > 1 ? time : 0;
		}
		ran += part->cpu_ns * by;
		ready += (part->cpu_ns + part->delay_ns) * by;
		moments[i].stretch =
			ready > p->workflow->cpus && ran > 0 ? most(1, ready / ran) : 1;
		moments[i].stretched = stretched;
		moments[i].few = few;
	}
}

static void stretch_parts(struct plan *p, const struct moment *moments, int32_t n)
{
	for (int32_t i = 0; i < n; i++) {
		struct part *part = &p->parts[moments[i].part];

		if (moments[i].ends) {
			part->stretch =
				most(1, (moments[i].stretched - part->stretch) / part_life(part));
			part->few = (moments[i].few - part->few) / part_life(part);
		} else {
			part->stretch = moments[i].stretched; /* until the end is met */
			part->few = moments[i].few;
		}
	}
}

/* Of all delays: those while there were too few cores. */
static double share_of_few(const struct plan *p)
{
	double few = 0, all = 0;

	for (int32_t i = 0; i < p->n; i++) {
		few += p->parts[i].delay_ns * p->parts[i].few;
		all += p->parts[i].delay_ns;
	}
	return all > 0 ? few / all : 0;
}

/* How many cores the workflow had, on average, while it needed more. */
static double cores_had(const struct plan *p, const struct moment *moments, int32_t n)
{
	double had = 0, sum = 0, time = 0;

	for (int32_t i = 0; i < n; i++) {
		const struct part *part = &p->parts[moments[i].part];
		double work = part->cpu_ns + part->request_ns / part->stretch;

		if (i && moments[i - 1].stretch > 1) {
			sum += had * (double)(moments[i].time_ns - moments[i - 1].time_ns);
			time += (double)(moments[i].time_ns - moments[i - 1].time_ns);
		}
		had += (moments[i].ends ? -1 : 1) * work / part_life(part);
	}
	return time > 0 && sum > 0 ? least(sum / time, p->workflow->cpus) : p->workflow->cpus;
}

/*
 * A process that waits for a core also waits for others that wait for one: the tracer, the reader of a pipe.  What
 * it waited longer than for cores is taken for waiting for something else.
 */
static void find_waits_for_others(struct plan *p)
{
	for (int32_t i = 0; i < p->n; i++) {
		struct part *part = &p->parts[i];

		part->request_ns =
			least(part->wait_ns, most(part->request_ns, part->delay_ns * part->few));
	}
}

/* The delays are those of the machine, and remain. */
static void forget_stretches(struct plan *p)
{
	for (int32_t i = 0; i < p->n; i++) {
		p->parts[i].few = 0;
		p->parts[i].stretch = 1;
	}
}

static int measure_cores(struct plan *p)
{
	int32_t n;
	cleanup_free struct moment *moments = NULL;

	p->cores = p->workflow->cpus;
	if (p->cores <= 0)
		return 0;
	moments = list_moments(p, &n);
	if (!moments)
		return -ENOMEM;
	stretch_moments(p, moments, n);
	stretch_parts(p, moments, n);
	/* All delays are taken for what most of them are: else some would count twice, as waiting and as
	 * cores that others had. */
	if (share_of_few(p) > 0.5) {
		find_waits_for_others(p);
		p->cores = cores_had(p, moments, n);
	} else {
		forget_stretches(p);
	}
	return 0;
}

/* ---- work ---- */

/* Of a process, shared out to its pieces by their lengths. */
struct shares {
	double own_cpu, own_wait, width; /* in its own time */
	double covered_cpu, covered_ns, covered_width;
};

static struct shares share_out(const struct part *part)
{
	double own = part->own_ns, covered = part_life(part) - own, cpu = part->cpu_ns;
	/* Threads that waited for a core at once: their delays are more than the time there was. */
	double width = covered <= 0 && own > 0 ? most(1, (cpu + part->delay_ns) / own) : 1;
	struct shares s = { .width = width, .covered_width = 1, .covered_ns = covered };
	double kept = width > 1 ? 0 : least(part->delay_ns * (1 - part->few), own - cpu);

	s.own_cpu = covered > 0 ? least(cpu, own) : cpu;
	s.covered_cpu = cpu - s.own_cpu;
	if (s.covered_cpu > covered && covered > 0)
		s.covered_width = s.covered_cpu / covered;
	s.own_wait = part->wait_ns - part->request_ns + most(0, kept);
	/* The caller divides by .faster: for the other end of a pipe it waits as long as that takes. */
	s.own_wait -= least(s.own_wait, part->pipe_ns) * (1 - part->pipe_rest * part->faster);
	/* In its name, by ftrac. */
	s.own_cpu += part->request_ns / part->stretch;
	return s;
}

/* Takes the length of a piece as its work. */
static void note_length(struct part *part, struct piece *piece, int64_t length_ns, bool covered)
{
	(void)part;
	*piece = (struct piece){ .cpu_ns = (double)length_ns, .width = covered ? 0 : 1 };
}

static double faster_by(const struct replay_faster *faster, const struct task *task)
{
	static const char of_command[] = "command:";
	const char *glob = faster->glob;
	bool whole = strncmp(glob, of_command, sizeof(of_command) - 1) == 0;

	glob += whole ? sizeof(of_command) - 1 : 0;
	whole |= strchr(glob, ' ') != NULL;
	if ((task->program && fnmatch(glob, task->program, FNM_NOESCAPE) == 0) ||
		(whole && task->command && fnmatch(glob, task->command, FNM_NOESCAPE) == 0))
		return faster->factor;
	return 1;
}

static void find_faster(struct plan *p, int32_t process, const struct replay_options *o)
{
	struct part *part = &p->parts[process];

	part->faster = part->pipe_rest = 1;
	part->pipe_ns = 0;
	for (int i = 0; i < o->n_faster; i++)
		part->faster *= faster_by(&o->faster[i], workflow_task(p->workflow, process));
}

static void set_work(struct plan *p, int32_t process)
{
	const struct part *part = &p->parts[process];
	struct shares s = share_out(part);

	plan_each_piece(p, process, note_length);
	for (int32_t i = 0; i <= part->n_events; i++) {
		struct piece *piece = plan_piece(p, process, i);
		bool own = piece->width > 0;
		double of = own ? part->own_ns : s.covered_ns,
		       share = of > 0 ? piece->cpu_ns / of / part->faster : 0;

		*piece = (struct piece){ .cpu_ns = share * (own ? s.own_cpu : s.covered_cpu),
			.wait_ns = own ? share * s.own_wait : 0,
			.width = own ? s.width : s.covered_width };
	}
}

/* ---- the whole ---- */

static int measure_all(struct plan *p)
{
	int r;

	for (int32_t i = 0; i < p->n; i++)
		measure(p, i);
	r = measure_requests(p);
	return r < 0 ? r : measure_cores(p);
}

int plan_work(struct plan *p, const struct replay_options *options)
{
	int r = measure_all(p);

	for (int32_t i = 0; i < p->n && r == 0; i++)
		find_faster(p, i, options);
	if (r == 0 && options->n_faster)
		r = plan_press(p);
	for (int32_t i = 0; i < p->n && r == 0; i++)
		set_work(p, i);
	return r;
}
