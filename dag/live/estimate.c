/* SPDX-License-Identifier: MIT */
#include "dag/live/estimate.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "base/vector.h"

/* Jobs of one phase, or of one step and task. */
struct namesakes {
	int64_t n;
	double sum_ns;
	UT_hash_handle hh;
	char name[];
};

/* From this time on so many more jobs ran, or less. */
struct change {
	int64_t t_ns;
	int more;
};

struct estimate {
	struct namesakes *phases, *tasks;
	struct change *changes; /* of the earlier run */
	int32_t n_changes;
	int64_t run_ns;
	/* Of this run: jobs that have ended, there and here; and those that run. */
	double ended_then_ns, ended_now_ns;
	struct running {
		double age_ns, then_ns;
	} *running;
	int32_t n_running;
	bool failed; /* out of memory */
};

int estimate_create(struct estimate **ret_estimate)
{
	*ret_estimate = calloc(1, sizeof(**ret_estimate));
	return *ret_estimate ? 0 : -ENOMEM;
}

static void free_namesakes(struct namesakes *all)
{
	struct namesakes *one, *next;

	HASH_ITER(hh, all, one, next) {
		HASH_DEL(all, one);
		free(one);
	}
}

void estimate_destroy(struct estimate *estimate)
{
	if (!estimate)
		return;
	free_namesakes(estimate->phases);
	free_namesakes(estimate->tasks);
	free(estimate->changes);
	free(estimate->running);
	free(estimate);
}

/* ---- the earlier run ---- */

static struct namesakes *find(struct namesakes *all, const char *name)
{
	struct namesakes *found;

	HASH_FIND(hh, all, name, strlen(name), found);
	return found;
}

static int count(struct namesakes **all, const char *name, int64_t ns)
{
	struct namesakes *one = find(*all, name);
	size_t len = strlen(name);

	if (!one) {
		one = calloc(1, sizeof(*one) + len + 1);
		if (!one)
			return -ENOMEM;
		memcpy(one->name, name, len);
		HASH_ADD_KEYPTR(hh, *all, one->name, len, one);
	}
	one->n++;
	one->sum_ns += (double)ns;
	return 0;
}

/* The caller frees it.  NULL: there is none, or no memory. */
static char *name_of(const struct estimate_job *job)
{
	char *name;

	if (!job->step || !job->task || asprintf(&name, "%s\n%s", job->step, job->task) < 0)
		return NULL;
	return name;
}

int estimate_learn(struct estimate *estimate, const struct estimate_job *job)
{
	int64_t ns = job->end_ns - job->start_ns;
	char *name;
	int r;

	if (job->end_ns < 0 || ns < 0)
		return 0;
	name = name_of(job);
	r = name ? count(&estimate->tasks, name, ns) : 0;
	free(name);
	if (r == 0 && job->phase)
		r = count(&estimate->phases, job->phase, ns);
	if (r == 0)
		r = vector_push(estimate->changes, estimate->n_changes, (struct change){ job->start_ns, 1 });
	return r < 0 ? r : vector_push(estimate->changes, estimate->n_changes, (struct change){ job->end_ns, -1 });
}

static int compare(const void *a, const void *b)
{
	const struct change *x = a, *y = b;

	return (x->t_ns > y->t_ns) - (x->t_ns < y->t_ns);
}

void estimate_learned(struct estimate *estimate, int64_t run_ns)
{
	estimate->run_ns = run_ns;
	if (estimate->n_changes)
		qsort(estimate->changes, (size_t)estimate->n_changes, sizeof(*estimate->changes), compare);
}

int estimate_each_phase(const struct estimate *estimate, estimate_phase *each, void *arg)
{
	int r = 0;

	for (const struct namesakes *one = estimate->phases; one && r == 0; one = one->hh.next)
		r = each(arg, one->name, one->n);
	return r;
}

/* When its jobs had lived for so long, all together. */
static double time_of(const struct estimate *estimate, double lived_ns)
{
	int64_t t_ns = 0, n = 0;
	double sum_ns = 0;

	for (int32_t i = 0; i < estimate->n_changes; i++) {
		const struct change *c = &estimate->changes[i];
		double more_ns = (double)n * (double)(c->t_ns - t_ns);

		if (n && sum_ns + more_ns >= lived_ns)
			return (double)t_ns + (lived_ns - sum_ns) / (double)n;
		sum_ns += more_ns;
		t_ns = c->t_ns;
		n += c->more;
	}
	return (double)t_ns;
}

/* ---- this run ---- */

void estimate_begin(struct estimate *estimate)
{
	estimate->ended_then_ns = estimate->ended_now_ns = 0;
	estimate->n_running = 0;
	estimate->failed = false;
}

static const struct namesakes *namesakes_of(const struct estimate *estimate, const struct estimate_job *job)
{
	char *name = name_of(job);
	const struct namesakes *jobs = name ? find(estimate->tasks, name) : NULL;

	free(name);
	return !jobs && job->phase ? find(estimate->phases, job->phase) : jobs;
}

void estimate_add(struct estimate *estimate, const struct estimate_job *job, int64_t now_ns)
{
	const struct namesakes *jobs = namesakes_of(estimate, job);
	double then_ns = jobs ? jobs->sum_ns / (double)jobs->n : 0, now = (double)(job->end_ns < 0 ? now_ns : job->end_ns) - (double)job->start_ns;

	if (!jobs || now < 0)
		return;
	if (job->end_ns < 0) {
		estimate->failed |= vector_push(estimate->running, estimate->n_running, (struct running){ now, then_ns }) < 0;
		return;
	}
	estimate->ended_then_ns += then_ns;
	estimate->ended_now_ns += now;
}

int64_t estimate_left_ns(const struct estimate *estimate, int64_t elapsed_ns)
{
	double speed = estimate->ended_now_ns > 0 ? estimate->ended_then_ns / estimate->ended_now_ns : 1;
	double lived_ns = estimate->ended_then_ns, t_ns;

	for (int32_t i = 0; i < estimate->n_running; i++) {
		double then_ns = estimate->running[i].age_ns * speed;

		lived_ns += then_ns < estimate->running[i].then_ns ? then_ns : estimate->running[i].then_ns;
	}
	t_ns = time_of(estimate, lived_ns);
	if (estimate->failed || lived_ns <= 0 || t_ns <= 0)
		return -1;
	return t_ns >= (double)estimate->run_ns ? 0 : (int64_t)(((double)estimate->run_ns - t_ns) * (double)elapsed_ns / t_ns);
}
