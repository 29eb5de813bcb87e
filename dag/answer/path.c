/* SPDX-License-Identifier: MIT */

/* What the steps on the critical path would gain. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/units.h"
#include "dag/answer/answer_internal.h"

#define STEPS_SHOWN 3
#define STEPS_TRIED 12

struct step {
	const char *title;
	int32_t tasks;
	int64_t path_ns;
	int64_t gain_ns; /* WORKFLOW_UNKNOWN: they talk in rounds */
};

struct steps {
	struct answer *answer;
	const char **titles; /* of each process: its step, then its task */
	struct step *steps;
	int32_t n;
	int64_t run_ns; /* the length of the path */
};

static bool same(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static int compare_texts(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

static int compare_titles(const void *x, const void *y, void *arg)
{
	const struct steps *s = arg;
	const struct workflow *w = s->answer->workflow;
	int32_t a = *(const int32_t *)x, b = *(const int32_t *)y;
	int order = compare_texts(s->titles[a], s->titles[b]);

	if (order == 0)
		order = (workflow_task(w, a)->part > workflow_task(w, b)->part) - (workflow_task(w, a)->part < workflow_task(w, b)->part);
	return order ? order : (a > b) - (a < b);
}

/* Processes of the same step, and of the same task in it, one after the other. */
static void group(struct steps *s, int32_t *sorted, const int64_t *path_ns)
{
	const struct workflow *w = s->answer->workflow;
	int64_t before = WORKFLOW_UNKNOWN;
	int32_t n = w->graph->n_processes;

	s->n = 0;
	s->run_ns = 0;
	for (int32_t i = 0; i < n; i++)
		sorted[i] = i;
	qsort_r(sorted, (size_t)n, sizeof(*sorted), compare_titles, s);
	for (int32_t i = 0; i < n; i++) {
		const char *title = s->titles[sorted[i]];
		int64_t part = workflow_task(w, sorted[i])->part;

		if (!title)
			continue;
		if (s->n == 0 || !same(s->steps[s->n - 1].title, title)) {
			s->steps[s->n++] = (struct step){ .title = title };
			before = WORKFLOW_UNKNOWN;
		}
		s->steps[s->n - 1].tasks += part != before && part != WORKFLOW_UNKNOWN;
		s->steps[s->n - 1].path_ns += path_ns[sorted[i]];
		s->run_ns += path_ns[sorted[i]];
		before = part;
	}
}

static int compare_paths(const void *x, const void *y)
{
	const struct step *a = x, *b = y;

	return (a->path_ns < b->path_ns) - (a->path_ns > b->path_ns);
}

static int compare_gains(const void *x, const void *y)
{
	const struct step *a = x, *b = y;

	return (a->gain_ns < b->gain_ns) - (a->gain_ns > b->gain_ns);
}

static int find_gains(struct steps *s)
{
	const struct workflow *w = s->answer->workflow;
	cleanup_free bool *members = calloc((size_t)w->graph->n_processes + 1, sizeof(*members));

	if (!members)
		return -ENOMEM;
	for (int32_t k = 0; k < s->n; k++) {
		for (int32_t i = 0; i < w->graph->n_processes; i++)
			members[i] = same(s->titles[i], s->steps[k].title);
		s->steps[k].gain_ns = critical_gain(s->answer->critical, members);
	}
	return 0;
}

static void say_line(const struct answer *a, const char *label, int64_t ns, const char *indent, const struct step *step)
{
	char text[ANSWER_TEXT], time[32], several[32];

	units_time((double)ns, time, sizeof(time));
	snprintf(several, sizeof(several), " (%d tasks)", step->tasks);
	answer_say(a, label, "%9s  %s%s%s", time, indent, answer_text(step->title, 26, text), step->tasks > 1 ? several : "");
}

static void say_step(const struct steps *s, const struct step *step, const char *indent, int32_t *said)
{
	if (*said == STEPS_SHOWN || step->gain_ns == WORKFLOW_UNKNOWN || step->gain_ns * 100 < s->run_ns)
		return;
	say_line(s->answer, *said ? NULL : "worth speeding up", step->gain_ns, indent, step);
	++*said;
}

static int choose(struct steps *s, int32_t *sorted, const int64_t *path_ns)
{
	int r;

	group(s, sorted, path_ns);
	qsort(s->steps, (size_t)s->n, sizeof(*s->steps), compare_paths);
	s->n = s->n < STEPS_TRIED ? s->n : STEPS_TRIED;
	r = find_gains(s);
	qsort(s->steps, (size_t)s->n, sizeof(*s->steps), compare_gains);
	return r;
}

/* Most of the run is one step that was done for several things. */
static bool is_most(const struct steps *s, const struct step *step)
{
	return step->tasks > 1 && step->gain_ns != WORKFLOW_UNKNOWN && step->gain_ns * 2 >= s->run_ns;
}

#define TASK_SHARE 10 /* a task is worth a line from a tenth of the path on */

/* Then the task of it that would gain most follows. */
static int say_best_task(struct steps *s, const char *step, int32_t *sorted, const int64_t *path_ns, int32_t *said)
{
	const struct workflow *w = s->answer->workflow;
	int64_t run_ns = s->run_ns;
	int r;

	for (int32_t i = 0; i < w->graph->n_processes; i++)
		s->titles[i] = same(s->titles[i], step) ? workflow_task(w, i)->task : NULL;
	r = choose(s, sorted, path_ns);
	s->run_ns = run_ns;
	if (r == 0 && s->n > 1 && s->steps[0].gain_ns * TASK_SHARE >= run_ns)
		say_step(s, &s->steps[0], "  ", said);
	return r;
}

/* Where the gain of a step is not known, or none of them would gain anything: how long it was on the path. */
static void say_longest(const struct answer *a, struct step *steps, int32_t n, int64_t run_ns, int32_t said)
{
	bool any = said == 0, first = true, talk = false;

	qsort(steps, (size_t)n, sizeof(*steps), compare_paths);
	for (int32_t i = 0; i < n && said < STEPS_SHOWN; i++) {
		bool unknown = steps[i].gain_ns == WORKFLOW_UNKNOWN;

		if (steps[i].path_ns * 100 < run_ns || (!any && !unknown))
			continue;
		say_line(a, first ? "spent on the path" : NULL, steps[i].path_ns, "", &steps[i]);
		talk |= unknown;
		first = false;
		said++;
	}
	if (talk)
		answer_say(a, NULL, "(they talk with each other: gains are not known)");
}

static int say_steps(struct steps *s, int32_t *sorted, const int64_t *path_ns)
{
	struct step steps[STEPS_TRIED];
	int32_t n = s->n, said = 0;
	int r = 0;

	memcpy(steps, s->steps, (size_t)n * sizeof(*steps));
	for (int32_t i = 0; i < n && r == 0; i++) {
		say_step(s, &steps[i], "", &said);
		if (i == 0 && is_most(s, &steps[i]))
			r = say_best_task(s, steps[i].title, sorted, path_ns, &said);
	}
	if (r == 0)
		say_longest(s->answer, steps, n, s->run_ns, said);
	return r;
}

int answer_steps(struct answer *a)
{
	size_t n = (size_t)a->workflow->graph->n_processes + 1;
	cleanup_free int64_t *path_ns = answer_time_on_path(a);
	cleanup_free int32_t *sorted = malloc(n * sizeof(*sorted));
	cleanup_free const char **titles = calloc(n, sizeof(*titles));
	cleanup_free struct step *steps = calloc(n, sizeof(*steps));
	struct steps s = { .answer = a, .titles = titles, .steps = steps };
	int r;

	if (!path_ns || !sorted || !titles || !steps)
		return failure_memory(a->failure);
	for (int32_t i = 0; i < a->workflow->graph->n_processes; i++)
		titles[i] = workflow_task(a->workflow, i)->step;
	r = choose(&s, sorted, path_ns);
	if (r == 0)
		r = say_steps(&s, sorted, path_ns);
	return failure_of_memory(a->failure, r);
}
