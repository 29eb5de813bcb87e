/* SPDX-License-Identifier: MIT */
#include "dag/diff/measure.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/saturate.h"
#include "dag/graph/critical.h"

const char *const measures[] = { "time_ns", "cpu_ns", "memory_bytes", "read_bytes", "written_bytes",
	NULL };
_Static_assert(sizeof(measures) / sizeof(measures[0]) == MEASURE_MAX + 1,
	"a name for each measure");

/* A process that counts, and what for. */
struct life {
	const char *phase;
	int64_t begin_ns, end_ns;
	int32_t run, process, row;
};

struct measuring {
	const struct match *match;
	struct measurement *measurement;
	struct life *lives;
	int32_t n;
};

double measure_percent(int64_t a, int64_t b)
{
	if (a == WORKFLOW_UNKNOWN || b == WORKFLOW_UNKNOWN || (a == 0 && b != 0))
		return NAN;
	return a == b ? 0 : 100 * ((double)b - (double)a) / (double)a;
}

static void add(int64_t *sum, int64_t number)
{
	if (number != WORKFLOW_UNKNOWN && number >= 0)
		*sum = *sum == WORKFLOW_UNKNOWN ? number : saturate_add(*sum, number);
}

static void raise_to(int64_t *most, int64_t number)
{
	if (number != WORKFLOW_UNKNOWN && (*most == WORKFLOW_UNKNOWN || number > *most))
		*most = number;
}

/* ---- which process counts for which phase ---- */

const char *measure_phase(const struct match *match, int run, int32_t process)
{
	int32_t of = match->side[run]->of[process];
	int32_t first = run == 0 ? process : match->pair[1][of];

	return first == GRAPH_NONE ? workflow_task(match->side[1]->workflow, process)->phase
				   : workflow_task(match->side[0]->workflow, first)->phase;
}

static void list_lives(struct measuring *m)
{
	for (int run = 0; run < 2; run++) {
		const struct side *side = m->match->side[run];

		for (int32_t i = 0; i < side->n_processes; i++)
			if (side->of[i] != GRAPH_NONE)
				m->lives[m->n++] = (struct life){ measure_phase(m->match, run, i),
					critical_begin(side->workflow, i),
					critical_end(side->workflow, i), run, i, 0 };
	}
}

static int compare_phases(const char *a, const char *b)
{
	if (!a || !b)
		return (a != NULL) - (b != NULL);
	return strcmp(a, b);
}

static int compare_lives(const void *x, const void *y)
{
	const struct life *a = x, *b = y;
	int order = compare_phases(a->phase, b->phase);

	if (order || a->run != b->run)
		return order ? order : a->run - b->run;
	if (a->begin_ns != b->begin_ns)
		return a->begin_ns < b->begin_ns ? -1 : 1;
	return (a->process > b->process) - (a->process < b->process);
}

/* ---- what they took ---- */

static void add_process(const struct measuring *m, const struct life *life, struct measured *to)
{
	const struct task *task = workflow_task(m->match->side[life->run]->workflow, life->process);

	to->processes[life->run]++;
	add(&to->of[MEASURE_CPU][life->run], task->cpu_ns);
	raise_to(&to->of[MEASURE_MEMORY][life->run], task->rss_bytes);
}

/* Of one phase and run, in the order of their begins: how long any of them lived. */
static int64_t add_times(const struct life *life, int32_t n)
{
	int64_t sum = 0, end = INT64_MIN;

	for (int32_t i = 0; i < n; i++) {
		if (life[i].end_ns <= end)
			continue;
		sum += life[i].end_ns - (life[i].begin_ns > end ? life[i].begin_ns : end);
		end = life[i].end_ns;
	}
	return sum;
}

static void add_phases(struct measuring *m)
{
	struct measured *whole = &m->measurement->measured[0], *to = whole;

	for (int32_t i = 0, n; i < m->n; i += n) {
		const struct life *life = &m->lives[i];

		if (i == 0 || compare_phases(life->phase, life[-1].phase) != 0) {
			to = &m->measurement->measured[m->measurement->n++];
			*to = *whole;
			to->whole = false;
			to->phase = life->phase;
			memset(to->processes, 0, sizeof(to->processes));
			for (int k = 0; k < MEASURE_MAX; k++)
				to->of[k][0] = to->of[k][1] = WORKFLOW_UNKNOWN;
		}
		for (n = 0; i + n < m->n && life[n].run == life->run &&
			    compare_phases(life[n].phase, life->phase) == 0;
			n++) {
			m->lives[i + n].row = (int32_t)(to - whole);
			add_process(m, &life[n], to);
		}
		to->of[MEASURE_TIME][life->run] = add_times(life, n);
	}
}

/* The row of a process, by its run. */
static int add_bytes(struct measuring *m, int run)
{
	const struct side *side = m->match->side[run];
	const struct graph *g = side->workflow->graph;
	cleanup_free int32_t *row = calloc((size_t)side->n_processes + 1, sizeof(*row));

	if (!row)
		return -ENOMEM;
	for (int32_t i = 0; i < m->n; i++)
		if (m->lives[i].run == run)
			row[m->lives[i].process] = m->lives[i].row;
	for (int32_t i = 0; i < g->n_accesses; i++) {
		const struct graph_access *access = &g->accesses[i];
		struct measured *to = &m->measurement->measured[row[access->process]];

		if (!side->workflow->chosen[i] || side->of[access->process] == GRAPH_NONE)
			continue;
		add(&to->of[MEASURE_READ][run], access->bread);
		add(&to->of[MEASURE_WRITTEN][run], access->bwrite);
	}
	return 0;
}

static void add_whole(struct measuring *m)
{
	struct measured *whole = &m->measurement->measured[0];
	int64_t begin[2] = { INT64_MAX, INT64_MAX }, end[2] = { INT64_MIN, INT64_MIN };

	for (int32_t i = 0; i < m->n; i++) {
		const struct life *life = &m->lives[i];

		begin[life->run] =
			life->begin_ns < begin[life->run] ? life->begin_ns : begin[life->run];
		end[life->run] = life->end_ns > end[life->run] ? life->end_ns : end[life->run];
		add_process(m, life, whole);
	}
	for (int run = 0; run < 2; run++) {
		if (whole->processes[run])
			whole->of[MEASURE_TIME][run] = end[run] - begin[run];
		for (int32_t i = 1; i < m->measurement->n; i++) {
			add(&whole->of[MEASURE_READ][run],
				m->measurement->measured[i].of[MEASURE_READ][run]);
			add(&whole->of[MEASURE_WRITTEN][run],
				m->measurement->measured[i].of[MEASURE_WRITTEN][run]);
		}
	}
}

int measure_create(const struct match *match, struct measurement **ret_measurement)
{
	size_t n = (size_t)match->side[0]->n_processes + (size_t)match->side[1]->n_processes;
	struct measuring m = { .match = match };
	int r = -ENOMEM;

	m.measurement = calloc(1, sizeof(*m.measurement));
	m.lives = calloc(n + 1, sizeof(*m.lives));
	if (m.measurement)
		m.measurement->measured = calloc(n + 1, sizeof(*m.measurement->measured));
	if (m.lives && m.measurement && m.measurement->measured) {
		m.measurement->measured[0].whole = true;
		m.measurement->n = 1;
		for (int k = 0; k < MEASURE_MAX; k++)
			m.measurement->measured[0].of[k][0] = m.measurement->measured[0].of[k][1] =
				WORKFLOW_UNKNOWN;
		list_lives(&m);
		if (m.n)
			qsort(m.lives, (size_t)m.n, sizeof(*m.lives), compare_lives);
		add_phases(&m);
		r = add_bytes(&m, 0);
		if (r == 0)
			r = add_bytes(&m, 1);
		add_whole(&m);
	}
	free(m.lives);
	if (r < 0) {
		measure_destroy(m.measurement);
		return r;
	}
	*ret_measurement = m.measurement;
	return 0;
}

void measure_destroy(struct measurement *measurement)
{
	if (!measurement)
		return;
	free(measurement->measured);
	free(measurement);
}
