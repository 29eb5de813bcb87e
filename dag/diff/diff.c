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
#include "dag/diff/options.h"
#include "dag/diff/pair.h"
#include "dag/diff/report.h"
#include "dag/diff/sides.h"
#include "dag/trace/traces.h"
#include "db/query.h"

#define EXIT_DIFFERS 1
#define EXIT_CANNOT 2

/* ---- verdict and output ---- */

static const enum figure figure_of[FAIL_MAX] = { [FAIL_TIME] = FIGURE_TIME, [FAIL_CPU] = FIGURE_CPU, [FAIL_MEMORY] = FIGURE_MEMORY,
	[FAIL_BYTES] = FIGURE_BYTES, [FAIL_PROCESSES] = FIGURE_PROCESSES, [FAIL_OPERATIONS] = FIGURE_OPERATIONS,
	[FAIL_FILES] = FIGURE_FILES, [FAIL_EDGES] = FIGURE_EDGES };

/* Two processes that read the same page at the same time are one request, or two. */
static bool depends_on_timing(const struct comparison *c, const struct diff_options *o, enum fail fail)
{
	return (c->cached[0] || c->cached[1]) && (fail == FAIL_OPERATIONS || fail == FAIL_BYTES) && o->percent[fail] <= 0 &&
		!report_has_several(c);
}

/* Prints a violation of --fail-on to stderr, where a failing test shows it. */
static int judge_figure(const struct comparison *c, const struct diff_options *o, enum fail fail)
{
	enum figure figure = figure_of[fail];
	int64_t a = figures_most(c->figures[0], c->n_runs[0], figure), b = figures_least(c->figures[1], c->n_runs[1], figure);
	bool several = c->n_runs[0] > 1 || c->n_runs[1] > 1;

	if (a == WORKFLOW_UNKNOWN || b == WORKFLOW_UNKNOWN)
		return err_status(EXIT_CANNOT, "%s is unknown in '%s': leave it out of --fail-on", fails[fail],
			c->trace[a == WORKFLOW_UNKNOWN ? 0 : 1]);
	if (depends_on_timing(c, o, fail))
		return err_status(EXIT_CANNOT, "'%s' was recorded with --fidelity cached, whose %s depend on timing: allow some more, as in "
			"%s:1%%, or record with --fidelity exact", c->trace[c->cached[0] ? 0 : 1], fails[fail], fails[fail]);
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

/* ---- the whole ---- */

struct showing {
	const struct diff_options *options;
	struct failure *failure;
	int status;
};

static int show(void *arg, const struct comparison *c, const struct run *const both[2])
{
	struct showing *s = arg;
	int r = print(c, s->options, both);

	if (r == 0 && fflush(stdout) != 0)
		r = -errno;
	if (r == 0)
		s->status = judge(c, s->options);
	if (r == -ENOMEM)
		return failure_memory(s->failure);
	return r < 0 ? failure_set(s->failure, r, "cannot write the output: %s", strerror(-r)) : 0;
}

static int diff(const struct diff_options *o)
{
	struct failure failure = { 0 };
	struct showing showing = { o, &failure, EXIT_CANNOT };
	bool whole = true;

	sides_compare(o, show, &showing, &whole, &failure);
	failure_status(&failure);
	return o->strict && showing.status != EXIT_CANNOT && !whole ? TRACES_EXIT_STRICT : showing.status;
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
