/* SPDX-License-Identifier: MIT */

/* The steps: boxes of run time, use of the processor, memory and bytes; tables of wfstat; bytes over time. */

#include <errno.h>
#include <math.h>

#include "base/cleanup.h"
#include "base/failure.h"
#include "dag/container/distribution.h"
#include "dag/container/groups.h"
#include "dag/report/report.h"
#include "dag/stat/stat.h"
#include "dag/trace/traces.h"
#include "db/query.h"

#define PHASES_MAX 60 /* the steps that began first are shown */

/* ---- boxes ---- */

enum measure { RUNTIME, UTILIZATION, MEMORY, READ, WRITTEN, MEASURE_MAX };

static const struct {
	const char *name, *unit;
	double scale; /* of the integers that a distribution keeps */
} measures[] = { { "run time", "x_ns", 1 }, { "utilization", "x_share", 1e-6 }, { "memory", "x_bytes", 1 },
	{ "read", "x_bytes", 1 }, { "written", "x_bytes", 1 } };
_Static_assert(sizeof(measures) / sizeof(measures[0]) == MEASURE_MAX, "a name for each measure");

struct boxes {
	struct distribution of[MEASURE_MAX];
	int64_t failed;
};

static int add_process(struct groups *groups, int keys, const struct query *query)
{
	struct boxes *boxes = groups_find(groups, query);

	if (!boxes)
		return -ENOMEM;
	for (int i = 0; i < MEASURE_MAX; i++)
		if (query_type(query, keys + i) != QUERY_NULL &&
			distribution_add(&boxes->of[i],
				llround(query_real(query, keys + i) / measures[i].scale), true) < 0)
			return -ENOMEM;
	boxes->failed += query_int(query, keys + MEASURE_MAX);
	return 0;
}

static void put_value(struct table *table, int measure, double value)
{
	if (measures[measure].scale == 1 && value == floor(value) && fabs(value) < 9e18)
		table_int(table, (int64_t)value);
	else
		table_real(table, value * measures[measure].scale);
	table_unit(table, measures[measure].unit);
}

static void put_box(struct table *table, struct distribution *d, int measure)
{
	static const double quantiles[] = { 0.25, 0.5, 0.75, 0.95, 0.99 };

	distribution_sort(d);
	put_value(table, measure, (double)d->min);
	for (size_t i = 0; i < sizeof(quantiles) / sizeof(quantiles[0]); i++)
		put_value(table, measure, (double)distribution_quantile(d, quantiles[i]));
	put_value(table, measure, (double)d->max);
	put_value(table, measure, distribution_mean(d));
	if (measure == UTILIZATION)
		table_null(table);
	else
		put_value(table, measure, (double)d->sum);
}

static void put_boxes(const struct groups *groups, int keys, struct table *table)
{
	size_t n = groups_count(groups), shown = n > PHASES_MAX ? PHASES_MAX : n;

	for (size_t g = 0; g < shown; g++) {
		struct boxes *boxes = groups_data(groups, g);

		for (int i = 0; i < MEASURE_MAX; i++) {
			if (!boxes->of[i].count)
				continue;
			groups_put(groups, g, 0, keys - 1, table);
			table_string(table, measures[i].name);
			table_int(table, (int64_t)boxes->of[i].count);
			table_int(table, boxes->failed);
			put_box(table, &boxes->of[i], i);
			table_row(table);
		}
	}
	if (shown < n)
		table_note(table, "%zu of %zu steps: those that began first.", shown, n);
}

static void finish_boxes(struct groups *groups)
{
	for (size_t g = 0; groups && g < groups_count(groups); g++)
		for (int i = 0; i < MEASURE_MAX; i++)
			distribution_finish(&((struct boxes *)groups_data(groups, g))->of[i]);
	groups_destroy(groups);
}

static int read_boxes(struct report *r, struct table *table)
{
	struct groups *groups = NULL;
	struct query *query;
	int keys = 0;
	int error = traces_query(r->db, "report.processes",
		"runtime_ns utilization rss_bytes read_bytes written_bytes failed", &r->choice,
		&query, &keys, r->failure);

	if (error == 0)
		error = failure_of_memory(r->failure,
			groups_create(keys, sizeof(struct boxes), &groups));
	if (error == 0)
		stat_columns(table, query, 0, keys - 1);
	table_columns(table, "of count failed min p25 p50 p75 p95 p99 max mean sum");
	while (error == 0 && (error = traces_next(r->db, query, r->failure)) > 0)
		error = failure_of_memory(r->failure, add_process(groups, keys, query));
	query_end(query);
	if (error == 0)
		put_boxes(groups, keys, table);
	finish_boxes(groups);
	return error;
}

static int put_all_boxes(struct report *r)
{
	static const struct exhibit e = { "phases", "Processes of each step",
		"Box: the middle half of the processes, with the median; whiskers: from the "
		"smallest to p95; the point is the largest.  Scales are logarithmic where values differ much; 0 stands at their left end.",
		"boxes", true };
	struct table *table = table_create();
	cleanup_free char *sql = exhibit_sql(r, "report.processes");
	int error = table ? read_boxes(r, table) : failure_memory(r->failure);

	if (error == 0) {
		table_note(table, "failed: processes of the step that were killed or ended with a status other "
				  "than 0.  Quantiles are values that did occur.");
		error = exhibit_put(r, &e, table, sql);
	}
	table_destroy(table);
	return error;
}

/* ---- bytes over time, step by step ---- */

#define HEAT_COLUMNS 100
#define HEAT_ROWS 30

struct heat {
	double bytes[2][HEAT_COLUMNS]; /* read, written */
};

/* Distributes bytes over the columns between first and last, as if they had been moved evenly. */
static void spread(double *to, double bytes, double first, double last, double width)
{
	int from = (int)fmin(fmax(first / width, 0), HEAT_COLUMNS - 1),
	    until = (int)fmin(fmax(last / width, 0), HEAT_COLUMNS - 1);

	for (int i = from; i <= until; i++) {
		double begin = fmax(first, i * width), end = fmin(last, (i + 1) * width);

		to[i] += last > first ? bytes * fmax(end - begin, 0) / (last - first)
				      : i == from ? bytes : 0;
	}
}

static int add_use(struct groups *groups, int keys, const struct query *query, int64_t begin_ns, double width)
{
	struct heat *heat = groups_find(groups, query);

	if (!heat)
		return -ENOMEM;
	for (int i = 0; i < 2; i++)
		if (query_type(query, keys + 3 * i) != QUERY_NULL)
			spread(heat->bytes[i], query_real(query, keys + 3 * i),
				(double)(query_int(query, keys + 3 * i + 1) - begin_ns),
				(double)(query_int(query, keys + 3 * i + 2) - begin_ns), width);
	return 0;
}

/* The last steps are folded into one row. */
static void put_heat(const struct groups *groups, struct table *table, double width)
{
	size_t n = groups_count(groups);
	struct heat others = { 0 };

	for (size_t g = 0; g < n; g++) {
		const struct heat *heat = groups_data(groups, g);
		bool apart = g < HEAT_ROWS - 1 || n <= HEAT_ROWS;

		for (int i = 0; i < HEAT_COLUMNS; i++) {
			if (!apart) {
				others.bytes[0][i] += heat->bytes[0][i];
				others.bytes[1][i] += heat->bytes[1][i];
			}
			if (!apart && g + 1 < n)
				continue;
			heat = apart ? heat : &others;
			if (heat->bytes[0][i] + heat->bytes[1][i] <= 0)
				continue;
			if (apart)
				groups_put(groups, g, 0, 0, table);
			else
				table_string(table, "(others)");
			table_real(table, i * width / 1e9);
			table_real(table, (i + 1) * width / 1e9);
			table_real(table, round(heat->bytes[0][i]));
			table_real(table, round(heat->bytes[1][i]));
			heat = groups_data(groups, g);
		}
	}
	if (n > HEAT_ROWS)
		table_note(table, "%zu steps are folded into (others).", n - HEAT_ROWS + 1);
}

static int read_heat(struct report *r, struct table *table)
{
	double width = fmax((double)r->span_ns / HEAT_COLUMNS, 1);
	struct groups *groups = NULL;
	struct query *query;
	int keys = 0;
	int error = traces_query(r->db, "report.heat",
		"read_bytes first_read_ns last_read_ns written_bytes first_write_ns "
		"last_write_ns",
		&r->choice, &query, &keys, r->failure);

	if (error == 0)
		error = failure_of_memory(r->failure,
			groups_create(keys, sizeof(struct heat), &groups));
	table_columns(table, "step from_s to_s read_bytes written_bytes");
	while (error == 0 && (error = traces_next(r->db, query, r->failure)) > 0)
		error = failure_of_memory(r->failure,
			add_use(groups, keys, query, r->begin_ns, width));
	query_end(query);
	if (error == 0)
		put_heat(groups, table, width);
	table_note(table, "Bytes of an open file are spread evenly from its first read or write to its last.");
	groups_destroy(groups);
	return error;
}

static int put_all_heat(struct report *r)
{
	static const struct exhibit e = { "heat", "Bytes by time and step",
		"The colour says how many bytes were moved in that time by that step: see the scale.", "heat", true };
	struct table *table = table_create();
	cleanup_free char *sql = exhibit_sql(r, "report.heat");
	int error = table ? read_heat(r, table) : failure_memory(r->failure);

	if (error == 0)
		error = exhibit_put(r, &e, table, sql);
	table_destroy(table);
	return error;
}

/* ---- waits ---- */

static int put_waits(struct report *r)
{
	static const struct exhibit e = { "waits", "What the processes waited for", NULL, NULL, false };
	static const struct exhibit_source source = { .table = "waits", .top = PHASES_MAX };

	return exhibit_wfstat(r, &e, &source);
}

/* ---- the section ---- */

int report_phases(struct report *r)
{
	static const struct {
		struct exhibit exhibit;
		struct exhibit_source source;
	} tables[] = {
		{ { "phase", "Jobs and files of each phase", NULL, NULL, false }, { .table = "phase", .top = PHASES_MAX } },
		{ { "run", "Run times", NULL, NULL, false }, { .table = "run", .top = PHASES_MAX } },
		{ { "util", "Use of the processor, and where the rest of the time went", NULL, NULL, false },
			{ .table = "util", .top = PHASES_MAX } },
		{ { "mem", "Peak resident memory", NULL, NULL, false }, { .table = "mem", .top = PHASES_MAX } },
		{ { "io", "Bytes and operations", NULL, NULL, true }, { .table = "io", .top = PHASES_MAX } },
	};
	int error = put_all_boxes(r);

	if (error == 0)
		error = put_all_heat(r);
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]) && error == 0; i++)
		error = exhibit_wfstat(r, &tables[i].exhibit, &tables[i].source);
	return error == 0 && report_has_calls(r) ? put_waits(r) : error;
}
