/* SPDX-License-Identifier: MIT */

/* Figures and critical paths of two runs as text. */

#include "dag/diff/print_text.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/cleanup.h"

#define PART_OF_WHOLE .02 /* of the run: less is not worth a row */
#define PART_OF_ITSELF .05

/* A row of a table: the value of the first run, of the second, and the change.  Larger changes come first. */
struct change_row {
	double weight;
	int32_t of, measure;
};

static int compare_rows(const void *x, const void *y)
{
	const struct change_row *a = x, *b = y;

	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	return a->of != b->of ? a->of - b->of : a->measure - b->measure;
}

static void put_number(struct table *table, int64_t number, const char *unit)
{
	if (number == WORKFLOW_UNKNOWN)
		table_null(table);
	else
		table_int(table, number);
	table_unit(table, unit);
}

static void put_numbers(struct table *table, int64_t a, int64_t b, const char *unit)
{
	bool known = a != WORKFLOW_UNKNOWN && b != WORKFLOW_UNKNOWN;
	double part = measure_percent(a, b) / 100;

	put_number(table, a, unit);
	put_number(table, b, unit);
	put_number(table, known ? b - a : WORKFLOW_UNKNOWN, unit);
	table_real(table, fabs(part) < .0005 ? 0 : part); /* there is no -0.0 */
	table_row(table);
}

static void put_measure(struct table *table, const struct measured *m, int measure)
{
	table_string(table, m->whole ? "whole run" : m->phase);
	table_name(table, measures[measure]);
	put_numbers(table, m->of[measure][0], m->of[measure][1], measures[measure]);
}

/* How much of the change of the run it makes; 0: it is not worth a row. */
static double weight_of(const struct measurement *m, int32_t i, int measure)
{
	static const double least[MEASURE_MAX] = {
		[MEASURE_TIME] = 1e7, [MEASURE_CPU] = 1e7, [MEASURE_MEMORY] = 1e6
	}; /* as much comes and goes by itself */
	const int64_t *of = m->measured[i].of[measure], *whole = m->measured[0].of[measure];
	double a = of[0] == WORKFLOW_UNKNOWN ? 0 : (double)of[0];
	double b = of[1] == WORKFLOW_UNKNOWN ? 0 : (double)of[1];
	double part = whole[0] > 0 ? fabs(b - a) / (double)whole[0] : fabs(b - a) > 0;

	return part >= PART_OF_WHOLE && fabs(b - a) >= PART_OF_ITSELF * a &&
			       fabs(b - a) >= least[measure]
		       ? part
		       : 0;
}

static size_t list_phases(const struct text_output *t, struct change_row *rows)
{
	const struct measurement *m = t->comparison->measurement;
	size_t n = 0;

	for (int32_t i = 1; i < m->n; i++)
		for (int k = 0; k < MEASURE_MAX; k++) {
			bool both = m->measured[i].processes[0] && m->measured[i].processes[1];
			/* Of a phase that one run has not got, that is enough. */
			double weight = both || k == MEASURE_TIME ? weight_of(m, i, k) : 0;

			if ((weight > 0 && m->measured[i].phase) || !t->top)
				rows[n++] = (struct change_row){ weight, i, k };
		}
	if (n && t->top)
		qsort(rows, n, sizeof(*rows), compare_rows);
	return n;
}

int print_text_measures(const struct text_output *t)
{
	const struct measurement *m = t->comparison->measurement;
	cleanup_free struct change_row *rows =
		calloc((size_t)m->n * MEASURE_MAX + 1, sizeof(*rows));
	struct table *table = table_create();
	size_t n = rows ? list_phases(t, rows) : 0,
	       shown = n < print_text_limit(t) ? n : print_text_limit(t);

	if (!rows || !table) {
		table_destroy(table);
		return -ENOMEM;
	}
	table_columns(table, "phase what A B difference difference_share");
	for (int k = 0; k < MEASURE_MAX; k++)
		put_measure(table, &m->measured[0], k);
	for (size_t i = 0; i < shown; i++)
		put_measure(table, &m->measured[rows[i].of], rows[i].measure);
	return print_text_table(t, table, n - shown, "changes of phases");
}

/* ---- critical paths ---- */

static size_t list_steps(const struct text_output *t, struct change_row *rows)
{
	const struct diff_path *paths = t->comparison->paths;
	size_t n = 0;

	for (int32_t i = 0; i < paths->n; i++) {
		const int64_t *on = paths->step[i].on_ns;
		double part = fabs((double)(on[1] - on[0])) / fmax((double)paths->length_ns[0], 1);

		if (part >= PART_OF_WHOLE || !t->top)
			rows[n++] = (struct change_row){ part, i, 0 };
	}
	if (n && t->top)
		qsort(rows, n, sizeof(*rows), compare_rows);
	return n;
}

static int put_steps(const struct text_output *t, struct table *table,
	const struct change_row *rows, size_t n)
{
	const struct diff_path *paths = t->comparison->paths;
	int r = 0;

	table_columns(table, "critical_path A B difference difference_share");
	table_string(table, "all");
	put_numbers(table, paths->length_ns[0], paths->length_ns[1], "time_ns");
	for (size_t i = 0; i < n && r == 0; i++) {
		const struct path_step *step = &paths->step[rows[i].of];

		r = print_text_put_process(table, t->comparison, step->process);
		put_numbers(table, step->on_ns[0], step->on_ns[1], "time_ns");
	}
	table_note(table, "On the critical path of both: %d; of A alone: %d; of B alone: %d.",
		paths->both, paths->only[0], paths->only[1]);
	return r;
}

int print_text_paths(const struct text_output *t)
{
	const struct diff_path *paths = t->comparison->paths;
	cleanup_free struct change_row *rows = calloc((size_t)paths->n + 1, sizeof(*rows));
	struct table *table = table_create();
	size_t most = t->top ? (print_text_limit(t) + 1) / 2 : SIZE_MAX,
	       n = rows ? list_steps(t, rows) : 0;
	int r = rows && table ? put_steps(t, table, rows, n < most ? n : most) : -ENOMEM;

	if (r == 0)
		return print_text_table(t, table, n < most ? 0 : n - most, "processes");
	table_destroy(table);
	return r;
}
