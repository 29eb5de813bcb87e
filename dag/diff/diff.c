/* SPDX-License-Identifier: MIT */
#include "dag/diff/diff.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/output.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/failure.h"
#include "dag/diff/figures.h"
#include "dag/diff/noise.h"
#include "dag/diff/options.h"
#include "dag/diff/pair.h"
#include "dag/diff/report.h"
#include "dag/trace/traces.h"
#include "db/query.h"

#define EXIT_DIFFERS 1
#define EXIT_CANNOT 2

/* ---- verdict and output ---- */

static const enum figure figure_of[FAIL_MAX] = { [FAIL_TIME] = FIGURE_TIME, [FAIL_CPU] = FIGURE_CPU, [FAIL_MEMORY] = FIGURE_MEMORY,
	[FAIL_BYTES] = FIGURE_BYTES, [FAIL_PROCESSES] = FIGURE_PROCESSES, [FAIL_OPERATIONS] = FIGURE_OPERATIONS,
	[FAIL_FILES] = FIGURE_FILES, [FAIL_EDGES] = FIGURE_EDGES };

/* Prints a violation of --fail-on to stderr, where a failing test shows it. */
static int judge_figure(const struct comparison *c, const struct diff_options *o, enum fail fail)
{
	enum figure figure = figure_of[fail];
	int64_t a = figures_most(c->figures[0], c->n_runs[0], figure), b = figures_least(c->figures[1], c->n_runs[1], figure);
	bool several = c->n_runs[0] > 1 || c->n_runs[1] > 1;

	if (a == WORKFLOW_UNKNOWN || b == WORKFLOW_UNKNOWN)
		return err_status(EXIT_CANNOT, "%s is unknown in '%s': leave it out of --fail-on", fails[fail],
			c->trace[a == WORKFLOW_UNKNOWN ? 0 : 1]);
	if (!figures_exceed(c->figures, c->n_runs, figure, o->percent[fail]))
		return 0;
	if (a == 0)
		return err_status(EXIT_DIFFERS, "%s: 0 %s, and more %s", fails[fail], several ? "on the first side" : "in the first run",
			several ? "on the second" : "in the second one");
	return err_status(EXIT_DIFFERS, "%s: %.*f %% more than %s, %g %% are allowed", fails[fail],
		measure_percent(a, b) < .1 ? 4 : 1, measure_percent(a, b), several ? "on the first side" : "in the first run", o->percent[fail]);
}

static int judge(const struct comparison *c, const struct diff_options *o)
{
	int status = 0;

	if (!o->fail_given)
		return c->found->n ? EXIT_DIFFERS : 0;
	if ((o->fail_on[FAIL_GRAPH] && c->found->n) || (o->fail_on[FAIL_EXIT] && c->found->n_ends))
		status = EXIT_DIFFERS;
	for (int fail = FAIL_TIME; fail < FAIL_MAX; fail++) {
		int one = o->fail_on[fail] ? judge_figure(c, o, fail) : 0;

		status = one > status ? one : status;
	}
	return status;
}

static int print(const struct comparison *c, const struct diff_options *o, const struct run *const runs[2])
{
	const struct table_style style = { .format = o->format,
		.raw = o->raw,
		.wide = o->wide,
		.begin_ns = runs[0]->workflow->begin_ns,
		.program = "ftrac.dag",
		.name = "diff",
		.complete = runs[0]->whole && runs[1]->whole };
	struct table *table;
	cleanup_free char *summary = NULL;
	int r;

	if (o->format == TABLE_TEXT)
		return report_print_text(c, &style, o->top, stdout);
	if (o->format == TABLE_MARKDOWN)
		return report_print_markdown(c, &style, o->top, stdout);
	table = table_create();
	summary = report_summary(c);
	r = table && summary ? report_fill(table, c) : -ENOMEM;
	if (r == 0) {
		table_note(table, "%s", summary);
		r = table_print(table, &style, stdout);
	}
	table_destroy(table);
	return r;
}

/* ---- several runs of a side ---- */

/* All runs: those of the first side, then those of the second. */
struct runs {
	struct run *run;
	struct figures *figures;
	const int *n; /* of each side */
	int reference[2]; /* of each side, the run that is shown */
	struct noise noise;
};

static int64_t time_of(const struct run *run)
{
	return run->workflow->end_ns - run->workflow->begin_ns;
}

/* The run that takes the median of the times. */
static int find_reference(const struct runs *runs, int first, int n)
{
	for (int i = first; i < first + n; i++) {
		int before = 0;

		for (int k = first; k < first + n; k++)
			before += time_of(&runs->run[k]) < time_of(&runs->run[i]) ||
				  (time_of(&runs->run[k]) == time_of(&runs->run[i]) && k < i);
		if (before == n / 2)
			return i;
	}
	return first;
}

static int load_all(struct runs *runs, const struct diff_options *o, struct failure *failure)
{
	int n = o->n[0] + o->n[1], r = 0;

	runs->run = calloc((size_t)n, sizeof(*runs->run));
	runs->figures = calloc((size_t)n, sizeof(*runs->figures));
	runs->n = o->n;
	if (!runs->run || !runs->figures)
		return failure_memory(failure);
	for (int i = 0; i < n && r == 0; i++)
		r = pair_load_run(&runs->run[i], o, o->traces[i], i >= o->n[0], failure);
	for (int side = 0; side < 2 && r == 0; side++)
		runs->reference[side] = find_reference(runs, side ? o->n[0] : 0, o->n[side]);
	return r;
}

/* Two runs of one side: how they differ is noise. */
static int compare_within(struct runs *runs, const struct diff_options *o, int side, int other, struct failure *failure)
{
	struct pair pair = { 0 };
	const struct run *const both[2] = { &runs->run[runs->reference[side]], &runs->run[other] };
	int r = pair_compare(&pair, both, o, failure);

	if (r == 0) {
		figures_of(pair.side[1], pair.comparison.found, pair.comparison.measurement, 1, &runs->figures[other]);
		r = failure_of_memory(failure, noise_add(&runs->noise, &pair.comparison, side));
	}
	pair_finish(&pair);
	return r;
}

static int compare_all_within(struct runs *runs, const struct diff_options *o, struct failure *failure)
{
	int r = 0;

	for (int i = 0; i < o->n[0] + o->n[1] && r == 0; i++)
		if (i != runs->reference[i >= o->n[0]])
			r = compare_within(runs, o, i >= o->n[0], i, failure);
	return r;
}

/* ---- the whole ---- */

static int show(const struct comparison *c, const struct diff_options *o, const struct run *const both[2], struct failure *failure)
{
	int r = print(c, o, both);

	if (r == 0 && fflush(stdout) != 0)
		r = -errno;
	if (r == -ENOMEM)
		return failure_memory(failure);
	return r < 0 ? failure_set(failure, r, "cannot write the output: %s", strerror(-r)) : 0;
}

static int compare_sides(struct runs *runs, const struct diff_options *o, struct failure *failure)
{
	struct pair pair = { 0 };
	struct comparison *c = &pair.comparison;
	const struct run *const both[2] = { &runs->run[runs->reference[0]], &runs->run[runs->reference[1]] };
	int status = EXIT_CANNOT, r = pair_compare(&pair, both, o, failure);

	if (r == 0) {
		for (int side = 0; side < 2; side++) {
			figures_of(pair.side[side], c->found, c->measurement, side, &runs->figures[runs->reference[side]]);
			c->n_runs[side] = o->n[side];
		}
		c->figures[0] = runs->figures;
		c->figures[1] = runs->figures + o->n[0];
		c->noise = &runs->noise;
		noise_take_out(&runs->noise, c);
		r = show(c, o, both, failure);
	}
	if (r == 0)
		status = judge(c, o);
	pair_finish(&pair);
	return status;
}

static void finish(struct runs *runs, int n)
{
	for (int i = 0; runs->run && i < n; i++)
		pair_finish_run(&runs->run[i]);
	free(runs->run);
	free(runs->figures);
	noise_finish(&runs->noise);
}

static int diff(const struct diff_options *o)
{
	struct runs runs = { 0 };
	struct failure failure = { 0 };
	int status = EXIT_CANNOT, r = load_all(&runs, o, &failure);

	if (r == 0)
		r = compare_all_within(&runs, o, &failure);
	if (r == 0)
		status = compare_sides(&runs, o, &failure);
	failure_status(&failure);
	for (int i = 0; r == 0 && i < o->n[0] + o->n[1]; i++)
		if (o->strict && status != EXIT_CANNOT && !runs.run[i].whole)
			status = TRACES_EXIT_STRICT;
	finish(&runs, o->n[0] + o->n[1]);
	return status;
}

int diff_main(int argc, char **argv)
{
	static char name[] = "wfdag diff"; /* messages and hints at --help are about this one */
	struct diff_options options;
	int status;

	program_invocation_short_name = name;
	if (diff_options_parse(argc, argv, &options, &status)) {
		status = output_replace_stdout(options.output) ? EXIT_CANNOT : diff(&options);
		status = output_finish_stdout(status, status == EXIT_CANNOT) == status ? status : EXIT_CANNOT;
	} else if (status) {
		status = EXIT_CANNOT;
	}
	diff_options_finish(&options);
	return status;
}
