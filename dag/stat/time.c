/* SPDX-License-Identifier: MIT */

/* Operations, bytes, processes and memory in each interval. */

#include <string.h>

#include "base/failure.h"
#include "dag/output/chart.h"
#include "dag/stat/intervals.h"
#include "dag/stat/stat.h"
#include "dag/stat/sums.h"
#include "dag/stat/time_classes.h"
#include "dag/stat/time_curves.h"
#include "dag/trace/traces.h"
#include "db/query.h"

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
	return chart_finish(chart, o->svg, o->png, o->gnuplot, run->failure);
}

#define INTERVAL_MAX 1000000

/* Traces may be years apart. */
static int check_span(struct stat_run *run)
{
	const struct choice *c = &run->options->choice;
	struct choice whole = *c;
	struct query *query;
	int r;
	int64_t span_ns = 0;

	memset(whole.by, 0, sizeof(whole.by));
	r = traces_query(run->db, "time.span", "span_ns", &whole, &query, NULL, run->failure);
	if (r == 0 && (r = traces_next(run->db, query, run->failure)) > 0)
		span_ns = query_int(query, 0);
	query_end(query);
	if (r < 0)
		return r;
	if (c->to_ns && c->to_ns < span_ns)
		span_ns = c->to_ns;
	if (span_ns / c->step_ns > INTERVAL_MAX)
		return failure_set(run->failure, FAILURE_USAGE,
			"%.0f s would be %lld intervals: give a longer --interval, or a part "
			"by --from and --to",
			(double)span_ns / 1e9, (long long)(span_ns / c->step_ns));
	return 0;
}

const char *stat_time_query(const struct stat_options *options)
{
	return options->of ? stat_classes_query(options) : options->files ? "time.files" : options->by.n ? "time.groups" : "time";
}

enum column { N, WRITES, BYTES, FILE_ID };

static int add_row(void *arg, const struct query *query)
{
	int64_t n = query_int(query, N);
	int r = intervals_add(arg, n, 1);

	if (r == 0 && query_type(query, WRITES) != QUERY_NULL && query_type(query, BYTES) != QUERY_NULL)
		r = intervals_add_bytes(arg, n, query_int(query, WRITES), query_int(query, BYTES));
	if (r == 0 && query_type(query, FILE_ID) != QUERY_NULL)
		r = intervals_add_file(arg, n, query_int(query, FILE_ID));
	return r;
}

/* The rows of the query "time".  SQLite would sort all operations for them. */
static int put_intervals(struct stat_run *run, bool *ret_known)
{
	struct intervals *intervals;
	int r = failure_of_memory(run->failure, intervals_create(&intervals));

	*ret_known = run->has_ops;
	if (r == 0 && !run->has_ops)
		r = intervals_add_sums(run, intervals, ret_known);
	else if (r == 0)
		r = traces_each(run->db, "intervals", "n writes bytes file", &run->options->choice, add_row, intervals, run->failure);
	if (r == 0)
		r = intervals_put(run, intervals, true);
	intervals_destroy(intervals);
	return r;
}

/* The rows of "time.groups", from sums of operations where these say the same. */
static int put_groups(struct stat_run *run, bool *ret_known)
{
	bool sums;
	int r = stat_sums_fit(run, "time.sums", &sums);

	*ret_known = sums || run->has_ops;
	if (r == 0)
		r = stat_rows(run, sums ? "time.sums" : "time.groups", stat_wants_picture(run));
	return r == 0 && stat_wants_picture(run) ? stat_draw_time(run) : r;
}

/* known: from sums, or from single operations. */
static void note_unknown(struct stat_run *run, bool known)
{
	const struct stat_options *o = run->options;

	if (!known)
		stat_note_no_ops(run, o->of ? "These are" : "Operations, bytes and files are");
	else if (!run->has_ops && !o->of && !o->by.n)
		stat_note_no_ops(run, "Files are");
	if (!known && run->has_files)
		table_note(run->table, "What the trace has of each second fits other choices: --interval, --from and --to in whole seconds, classes that "
				       "are powers of two, and parts of the run by processes, mounts and operations, not by files.");
}

static int fill(struct stat_run *run)
{
	const struct stat_options *o = run->options;
	bool is_whole = !o->of && !o->files && !o->by.n, known = run->has_ops;
	int r = check_span(run);

	if (r < 0)
		return r;
	if (is_whole)
		r = put_intervals(run, &known);
	else
		r = o->of ? stat_put_classes(run, &known) : o->files ? stat_rows(run, "time.files", false) : put_groups(run, &known);
	if (r == 0 && is_whole)
		r = draw(run);
	table_note(run->table, !is_whole
				       ? "An operation belongs to the interval in which it began."
				       : "An operation belongs to the interval in which it began; processes, working "
				         "processes (those without a child that lives) and memory are the most at one moment of it.  Memory of a process: its last "
				         "sample (one a second; before the first sample that one), or its peak if it "
				         "has no sample.  Processes whose memory is unknown are left out; pages that "
				         "processes share count for each of them.");
	note_unknown(run, known);
	stat_note_fidelity(run);
	return r;
}

const struct stat_table stat_time_table = {
	.name = "time",
	.fill = fill,
	.needs_ops = true,
	.options = STAT_BY | STAT_PICTURE | STAT_CHOICE | STAT_TIME | STAT_OPERATION | STAT_SIZES,
	.of = stat_classes_values,
	.queries = "time",
	.help = "operations, bytes, processes and memory in each interval",
};
