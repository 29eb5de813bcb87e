/* SPDX-License-Identifier: MIT */

/* Tables that are the rows of their query: overview, proc, time, errors, list. */

#include "dag/stat/stat.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "dag/output/chart.h"
#include "db/query.h"

/* changes: of the rows something will be changed. */
static int add_all(struct stat_run *run, const char *name, bool changes)
{
	struct query *query;
	int status = stat_query(run, name, NULL, &run->options->choice, &query, NULL), r = 1, last;

	if (status)
		return status;
	last = query_columns(query) - 1;
	stat_columns(run->table, query, 0, last);
	if (!changes)
		stat_stream(run);
	while ((r = stat_next(run, query)) > 0)
		stat_put(run->table, query, 0, last);
	query_end(query);
	return r < 0 ? EXIT_FAILURE : 0;
}

/* One row on its side. */
int stat_overview(struct stat_run *run)
{
	struct query *query;
	int status = stat_query(run, "overview", NULL, &run->options->choice, &query, NULL), r;

	if (status)
		return status;
	table_columns(run->table, "fact value");
	r = stat_next(run, query);
	for (int i = 0; r > 0 && i < query_columns(query); i++) {
		const char *name = query_name(query, i);

		table_name(run->table, name);
		stat_put(run->table, query, i, i);
		table_unit(run->table, name);
	}
	query_end(query);
	table_note(run->table,
		"Tables to see next: io, mem, run, util, sys, phase, file; see wfstat --help.");
	return r < 0 ? EXIT_FAILURE : 0;
}

int stat_proc(struct stat_run *run)
{
	return add_all(run, "proc", false);
}

int stat_list(struct stat_run *run)
{
	int status = add_all(run, "list", false);

	if (!run->has_ops)
		stat_note_no_ops(run, "Operations are");
	return status;
}

/* ---- errors ---- */

/* Numbers of errno are not the same everywhere; names are. */
static void name_errors(struct table *table)
{
	int column = table_find(table, "errno");
	int64_t number;

	for (size_t row = 0; row < table_rows(table); row++)
		if (table_get_int(table, row, column, &number) && strerrorname_np((int)number))
			table_set_string(table, row, column, strerrorname_np((int)number));
}

int stat_errors(struct stat_run *run)
{
	int status = add_all(run, run->has_ops ? "errors" : "errors.ghosts", true);

	if (status == 0)
		name_errors(run->table);
	table_note(run->table,
		"search: a name was looked for that is not there, which is how programs search; "
		"probe: something was tried that the file or the file system need not have; error: "
		"all else.");
	table_note(run->table,
		"The path of a search is the first name on the way that is not there, which may be a directory of the "
		"path that the program has named.");
	if (run->has_files)
		table_note(run->table,
			"Most errors EACCES (Permission denied), EEXIST, EISDIR, ENOTDIR, ELOOP, EXDEV, EPERM and EROFS are "
			"not in the trace: the kernel finds them without a request to ftrac.  strace(1) shows them.");
	if (!run->has_ops)
		stat_note_no_ops(run, "Other errors are");
	return status;
}

/* ---- time ---- */

static int draw(struct stat_run *run)
{
	static const struct {
		const char *column, *label;
	} curves[] = { { "read_bytes", "read" }, { "written_bytes", "written" } };
	const struct stat_options *o = run->options;
	struct chart *chart =
		chart_create("Bytes per interval", "time of the run", "s", "bytes", 0);
	int from = table_find(run->table, "from_s");
	double x, y;

	for (size_t i = 0; chart && i < sizeof(curves) / sizeof(curves[0]); i++) {
		chart_curve(chart, curves[i].label);
		for (size_t row = 0; row < table_rows(run->table); row++)
			if (table_get_real(run->table, row, from, &x) &&
				table_get_real(run->table, row,
					table_find(run->table, curves[i].column), &y))
				chart_point(chart, x, y);
	}
	return chart_finish(chart, o->svg, o->png, o->gnuplot);
}

#define INTERVAL_MAX 1000000

/* Traces may be years apart. */
static int check_span(struct stat_run *run)
{
	const struct choice *c = &run->options->choice;
	struct query *query;
	int status = stat_query(run, "time.span", "span_ns", c, &query, NULL), r = 0;
	int64_t span_ns = 0;

	if (status == 0 && (r = stat_next(run, query)) > 0)
		span_ns = query_int(query, 0);
	query_end(query);
	if (r < 0)
		return EXIT_FAILURE;
	if (c->to_ns && c->to_ns < span_ns)
		span_ns = c->to_ns;
	if (status == 0 && span_ns / c->step_ns > INTERVAL_MAX)
		return err_status(EXIT_USAGE,
			"%.0f s would be %lld intervals: give a longer --interval, or a part "
			"by --from and --to",
			(double)span_ns / 1e9, (long long)(span_ns / c->step_ns));
	return status;
}

int stat_time(struct stat_run *run)
{
	int status = check_span(run);

	if (status)
		return status;
	status = add_all(run, run->options->files ? "time.files" : "time", !run->options->files);

	if (status == 0 && !run->options->files && !run->has_ops)
		stat_blank(run, "operations read_bytes written_bytes files");
	if (status == 0 && !run->options->files)
		status = draw(run);
	table_note(run->table, run->options->files
				       ? "An operation belongs to the interval in which it began."
				       : "An operation belongs to the interval in which it began; "
					 "processes and memory are the most "
					 "at one moment of it.  Memory: what the last look at a "
					 "process found (one a second; until then "
					 "the first one), or its peak if there was none; processes "
					 "of which it is not known count for nothing, pages "
					 "that processes share for each.");
	if (!run->has_ops)
		stat_note_no_ops(run, "Operations, bytes and files are");
	stat_note_fidelity(run);
	return status;
}
