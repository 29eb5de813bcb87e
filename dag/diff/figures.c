/* SPDX-License-Identifier: MIT */
#include "dag/diff/figures.h"

#include "base/saturate.h"
#include "dag/diff/find.h"
#include "dag/diff/measure.h"

const char *const figure_names[] = { "processes", "files", "edges", "operations", "bytes", "time_ns", "cpu_ns", "memory_bytes", NULL };
_Static_assert(sizeof(figure_names) / sizeof(figure_names[0]) == FIGURE_MAX + 1, "a name for each figure");

/* Adds reads and writes; what is unknown of one of them is unknown of all. */
static void add(int64_t *sum, int64_t reads, int64_t writes)
{
	if (reads < 0 || writes < 0 || *sum == WORKFLOW_UNKNOWN)
		*sum = WORKFLOW_UNKNOWN;
	else
		*sum = saturate_add(*sum, saturate_add(reads, writes));
}

static void count_accesses(const struct side *side, struct figures *ret)
{
	const struct workflow *w = side->workflow;

	ret->of[FIGURE_OPERATIONS] = ret->of[FIGURE_BYTES] = 0;
	for (int32_t i = 0; i < w->graph->n_accesses; i++) {
		const struct graph_access *a = &w->graph->accesses[i];

		if (!w->chosen[i] || side->of[a->process] == GRAPH_NONE || (a->kinds & (EDGE_EXECUTE | EDGE_MAP)) ||
			data_is_placeless(workflow_data(w, a->file)))
			continue;
		add(&ret->of[FIGURE_OPERATIONS], a->nread, a->nwrite);
		add(&ret->of[FIGURE_BYTES], a->bread, a->bwrite);
	}
}

void figures_of(const struct side *side, const struct found *found, const struct measurement *measurement, int run,
	struct figures *ret)
{
	const struct measured *whole = &measurement->measured[0];

	count_accesses(side, ret);
	ret->of[FIGURE_PROCESSES] = found->processes[run];
	ret->of[FIGURE_FILES] = found->files[run];
	ret->of[FIGURE_EDGES] = found->edges[run];
	ret->of[FIGURE_TIME] = whole->of[MEASURE_TIME][run];
	ret->of[FIGURE_CPU] = whole->of[MEASURE_CPU][run];
	ret->of[FIGURE_MEMORY] = whole->of[MEASURE_MEMORY][run];
}

/* ---- several runs ---- */

static bool is_known(const struct figures *runs, int n, enum figure figure)
{
	for (int i = 0; i < n; i++)
		if (runs[i].of[figure] == WORKFLOW_UNKNOWN)
			return false;
	return n > 0;
}

/* The value that so many runs are below of; WORKFLOW_UNKNOWN. */
static int64_t in_order(const struct figures *runs, int n, enum figure figure, int place)
{
	if (!is_known(runs, n, figure))
		return WORKFLOW_UNKNOWN;
	for (int i = 0; i < n; i++) {
		int before = 0;

		for (int k = 0; k < n; k++)
			before += runs[k].of[figure] < runs[i].of[figure] || (runs[k].of[figure] == runs[i].of[figure] && k < i);
		if (before == place)
			return runs[i].of[figure];
	}
	return WORKFLOW_UNKNOWN;
}

int64_t figures_least(const struct figures *runs, int n, enum figure figure)
{
	return in_order(runs, n, figure, 0);
}

int64_t figures_most(const struct figures *runs, int n, enum figure figure)
{
	return in_order(runs, n, figure, n - 1);
}

int64_t figures_median(const struct figures *runs, int n, enum figure figure)
{
	return in_order(runs, n, figure, n / 2);
}

int64_t figures_noise(const struct figures *const sides[2], const int n[2], enum figure figure)
{
	int64_t most = 0;

	for (int side = 0; side < 2; side++) {
		int64_t least = figures_least(sides[side], n[side], figure);

		if (least == WORKFLOW_UNKNOWN)
			return WORKFLOW_UNKNOWN;
		if (figures_most(sides[side], n[side], figure) - least > most)
			most = figures_most(sides[side], n[side], figure) - least;
	}
	return most;
}

bool figures_exceed(const struct figures *const sides[2], const int n[2], enum figure figure, double percent)
{
	int64_t a = figures_most(sides[0], n[0], figure), b = figures_least(sides[1], n[1], figure);

	if (a == WORKFLOW_UNKNOWN || b == WORKFLOW_UNKNOWN || b <= a)
		return false;
	return b - a > figures_noise(sides, n, figure) && (a == 0 || measure_percent(a, b) > percent);
}
