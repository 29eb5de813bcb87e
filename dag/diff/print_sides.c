/* SPDX-License-Identifier: MIT */

/* What is counted of all runs of both sides, and what is noise. */

#include "dag/diff/print_text.h"

#include <errno.h>
#include <math.h>

#include "dag/diff/figures.h"
#include "dag/diff/noise.h"

#define SAME_PERCENT 1 /* what is measured and differs by less is the same */

bool report_has_several(const struct comparison *c)
{
	return c->n_runs[0] > 1 || c->n_runs[1] > 1;
}

static void put_number(struct table *table, int64_t number, const char *unit)
{
	if (number == WORKFLOW_UNKNOWN)
		table_null(table);
	else
		table_int(table, number);
	table_unit(table, unit);
}

static bool is_measured(enum figure figure)
{
	return figure >= FIGURE_TIME;
}

static const char *verdict_of(const struct comparison *c, enum figure figure)
{
	const struct figures *const turned[2] = { c->figures[1], c->figures[0] };
	const int n[2] = { c->n_runs[1], c->n_runs[0] };
	double percent = is_measured(figure) ? SAME_PERCENT : 0;

	if (figures_noise(c->figures, c->n_runs, figure) == WORKFLOW_UNKNOWN)
		return NULL;
	if (figures_exceed(c->figures, c->n_runs, figure, percent))
		return "more";
	if (figures_exceed(turned, n, figure, percent))
		return "less";
	return figures_median(c->figures[0], c->n_runs[0], figure) == figures_median(c->figures[1], c->n_runs[1], figure) ? "same" : "noise";
}

int print_text_figures(const struct text_output *t)
{
	const struct comparison *c = t->comparison;
	bool several = report_has_several(c);
	struct table *table = table_create();

	if (!table)
		return -ENOMEM;
	table_columns(table, several ? "figure A B difference difference_share noise verdict" : "figure A B difference difference_share");
	for (int i = 0; i < FIGURE_MAX; i++) {
		const char *unit = i == FIGURE_BYTES ? "size_bytes" : is_measured((enum figure)i) ? figure_names[i] : "n";
		int64_t a = figures_median(c->figures[0], c->n_runs[0], (enum figure)i);
		int64_t b = figures_median(c->figures[1], c->n_runs[1], (enum figure)i);
		bool known = a != WORKFLOW_UNKNOWN && b != WORKFLOW_UNKNOWN;
		double part = measure_percent(a, b) / 100;

		table_name(table, figure_names[i]);
		put_number(table, a, unit);
		put_number(table, b, unit);
		put_number(table, known ? b - a : WORKFLOW_UNKNOWN, unit);
		table_real(table, fabs(part) < .0005 ? 0 : part);
		if (several) {
			put_number(table, figures_noise(c->figures, c->n_runs, (enum figure)i), unit);
			table_string(table, verdict_of(c, (enum figure)i));
		}
		table_row(table);
	}
	if (several)
		table_note(table, "Medians of %d and %d runs. Noise: by how much runs of one side differ; a difference is one if all runs of one "
			"side are beyond all of the other, and by more than that.", c->n_runs[0], c->n_runs[1]);
	return print_text_table(t, table, 0, "figures");
}

int print_text_noise(const struct text_output *t)
{
	const struct noise *noise = t->comparison->noise;
	struct table *table = table_create();
	size_t most = (print_text_limit(t) + 1) / 2, n = noise ? (size_t)noise->n : 0;

	if (!table)
		return -ENOMEM;
	table_columns(table, "noise what process path");
	for (size_t i = 0; i < n && i < most; i++) {
		const struct noisy *one = &noise->noisy[i];

		table_string(table, one->side ? "within B" : "within A");
		table_string(table, one->what == FIND_WHAT_MAX ? "exit status" : find_name(one->what));
		table_string(table, one->process);
		table_string(table, one->path);
		table_row(table);
	}
	return print_text_table(t, table, n > most ? n - most : 0, "things that are noise");
}
