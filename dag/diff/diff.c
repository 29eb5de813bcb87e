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
#include "dag/diff/names.h"
#include "dag/diff/options.h"
#include "dag/diff/report.h"
#include "dag/trace/traces.h"
#include "db/query.h"

#define EXIT_DIFFERS 1
#define EXIT_CANNOT 2

/* One of the two. */
struct run {
	struct query_db *db;
	struct workflow *workflow;
	char *root;
	const char *mountpoint, *source; /* of db */
	bool whole;
};

/* ---- reading ---- */

/* Where the command was started; what ran through a mount may have been started anywhere, and begins where its first
 * program does. */
static int find_root(struct run *run, const char *given, struct failure *failure)
{
	struct query *query = NULL;
	const char *bytes;
	size_t len;
	int r;

	if (given || !run->mountpoint || !*run->mountpoint) {
		if (!given)
			given = query_fact_text(run->db, "cwd");
		run->root = given ? strdup(given) : NULL;
		return given && !run->root ? failure_memory(failure) : 0;
	}
	r = traces_query(run->db, "graph.root", NULL, &(struct choice){ .step_ns = 1 }, &query,
		NULL, failure);
	if (r == 0 && (r = traces_next(run->db, query, failure)) > 0) {
		bytes = query_bytes(query, 0, &len);
		run->root = strndup(bytes, len);
		r = run->root ? 0 : failure_memory(failure);
	}
	query_end(query);
	return r;
}

static int load(struct run *run, const struct diff_options *o, int n, struct failure *failure)
{
	const struct workflow_options options = { &o->choice, false, false };
	const char *word[] = { o->trace[n], NULL };
	int r = traces_open(&(struct words){ .word = word, .n = 1 }, o->foreign ? QUERY_FOREIGN : 0, err_print, &run->db,
		failure);

	if (r < 0)
		return r;
	run->whole = traces_are_whole(run->db, err_print);
	if (!run->whole)
		err_print("the warning above is about '%s'", o->trace[n]);
	run->mountpoint = query_fact_text(run->db, "mountpoint");
	run->source = query_fact_text(run->db, "source");
	r = find_root(run, o->root[n], failure);
	return r < 0 ? r : workflow_load(run->db, &options, &run->workflow, failure);
}

static void finish_run(struct run *run)
{
	workflow_destroy(run->workflow);
	query_close(run->db);
	free(run->root);
}

/* ---- verdict and output ---- */

static int64_t figure_of(const struct comparison *c, enum fail fail, int run)
{
	static const enum measure measure[FAIL_MAX] = {
		[FAIL_TIME] = MEASURE_TIME, [FAIL_CPU] = MEASURE_CPU, [FAIL_MEMORY] = MEASURE_MEMORY
	};
	const struct measured *whole = &c->measurement->measured[0];
	int64_t read = whole->of[MEASURE_READ][run], written = whole->of[MEASURE_WRITTEN][run];

	if (fail != FAIL_BYTES)
		return whole->of[measure[fail]][run];
	return read == WORKFLOW_UNKNOWN || written == WORKFLOW_UNKNOWN ? WORKFLOW_UNKNOWN
								       : read + written;
}

/* Prints a violation of --fail-on to stderr, where a failing test shows it. */
static int judge_figure(const struct comparison *c, const struct diff_options *o, enum fail fail)
{
	int64_t of[2] = { figure_of(c, fail, 0), figure_of(c, fail, 1) };
	double percent = measure_percent(of[0], of[1]);

	if (of[0] == WORKFLOW_UNKNOWN || of[1] == WORKFLOW_UNKNOWN)
		return err_status(EXIT_CANNOT,
			"%s is unknown in '%s': leave it out of --fail-on",
			fails[fail], c->trace[of[0] == WORKFLOW_UNKNOWN ? 0 : 1]);
	if (of[0] == 0 && of[1] > 0)
		return err_status(EXIT_DIFFERS, "%s: 0 in the first run, and more in the second one",
			fails[fail]);
	if (percent <= o->percent[fail])
		return 0;
	return err_status(EXIT_DIFFERS, "%s: %.1f %% more than in the first run, %g %% are allowed",
		fails[fail], percent, o->percent[fail]);
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

static int print(const struct comparison *c, const struct diff_options *o, const struct run runs[2])
{
	const struct table_style style = { .format = o->format,
		.raw = o->raw,
		.wide = o->wide,
		.begin_ns = runs[0].workflow->begin_ns,
		.program = "ftrac.dag",
		.name = "diff",
		.complete = runs[0].whole && runs[1].whole };
	struct table *table;
	cleanup_free char *summary = NULL;
	int r;

	if (o->format == TABLE_TEXT)
		return report_print_text(c, &style, o->top, stdout);
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

static int compare(struct comparison *c, const struct diff_options *o, const struct run runs[2],
	struct failure *failure)
{
	int r = find_differences(c->match, c->names, &c->found);

	if (r == 0)
		r = measure_create(c->match, &c->measurement);
	if (r == 0)
		r = diff_path_create(c->match, &c->paths);
	if (r == 0)
		r = print(c, o, runs);
	if (r == 0 && fflush(stdout) != 0)
		r = -errno;
	if (r == -ENOMEM)
		return failure_memory(failure);
	return r < 0 ? failure_set(failure, r, "cannot write the output: %s", strerror(-r)) : 0;
}

static int match_and_compare(const struct diff_options *o, const struct run runs[2],
	struct failure *failure)
{
	struct comparison c = { { o->trace[0], o->trace[1] }, { NULL }, NULL, NULL, NULL, NULL,
		NULL };
	struct names_run named[2];
	struct side *side[2] = { NULL, NULL };
	struct match *match = NULL;
	int r, status;

	for (int i = 0; i < 2; i++) {
		named[i] = (struct names_run){ runs[i].workflow, runs[i].root, runs[i].mountpoint,
			runs[i].source };
		c.command[i] = query_fact_text(runs[i].db, "command");
	}
	r = names_create(named, &c.names);
	for (int i = 0; i < 2 && r == 0; i++)
		r = side_create(runs[i].workflow, c.names, i,
			o->data ? SIDE_DATA : o->choice.include.n > 0 ? SIDE_USERS : SIDE_ALL,
			&side[i]);
	if (r == 0)
		r = match_create((const struct side *const[]){ side[0], side[1] }, c.names, &match);
	c.match = match;
	r = r < 0 ? failure_memory(failure) : compare(&c, o, runs, failure);
	status = r < 0 ? EXIT_CANNOT : judge(&c, o);
	diff_path_destroy(c.paths);
	measure_destroy(c.measurement);
	found_destroy(c.found);
	match_destroy(match);
	side_destroy(side[0]);
	side_destroy(side[1]);
	names_destroy(c.names);
	return status;
}

static int diff(const struct diff_options *o)
{
	struct run runs[2] = { { 0 } };
	struct failure failure = { 0 };
	int status = EXIT_CANNOT;

	if (load(&runs[0], o, 0, &failure) == 0 && load(&runs[1], o, 1, &failure) == 0)
		status = match_and_compare(o, runs, &failure);
	failure_status(&failure);
	if (o->strict && status != EXIT_CANNOT && !(runs[0].whole && runs[1].whole))
		status = TRACES_EXIT_STRICT;
	finish_run(&runs[0]);
	finish_run(&runs[1]);
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
