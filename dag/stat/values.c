/* SPDX-License-Identifier: MIT */

/* hist, cdf: distributions of one value, group by group (the paper's Figures 5 to 10 and 12). */

#include "dag/stat/stat.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dag/container/distribution.h"
#include "dag/container/groups.h"
#include "dag/output/chart.h"
#include "dag/stat/scan.h"
#include "db/query.h"

#define CLASS_MAX 65 /* 0, then from 2^(n-1) to below 2^n */
#define POINT_MAX 1000
#define BAR_WIDTH 40

struct group_values {
	struct distribution all;
	int64_t classes[CLASS_MAX];
};

struct values {
	struct groups *groups; /* of struct group_values */
	int keys;
	int column;
	char unit[32]; /* the name of the column, "value_ns" */
	uint64_t unknown;
	bool keep;
};

static int class_of(int64_t value)
{
	return value <= 0 ? 0 : 64 - __builtin_clzll((uint64_t)value);
}

int stat_values_add(struct values *values, const struct query *query)
{
	struct group_values *of = groups_find(values->groups, query);
	int64_t value = query_int(query, values->column);

	if (!of)
		return stat_out_of_memory();
	if (query_type(query, values->column) == QUERY_NULL) {
		values->unknown++;
		return 0;
	}
	of->classes[class_of(value)]++;
	return distribution_add(&of->all, value, values->keep) < 0 ? stat_out_of_memory() : 0;
}

static int read_values(struct stat_run *run, struct values *values)
{
	struct query *query;
	char name[64];
	int status, r = 1;

	snprintf(name, sizeof(name), "values.%s", run->options->of);
	status = stat_query(run, name, NULL, &run->options->choice, &query, &values->keys);
	if (status == 0 &&
		groups_create(values->keys, sizeof(struct group_values), &values->groups) < 0)
		status = stat_out_of_memory();
	values->column = values->keys;
	if (status == 0) {
		snprintf(values->unit, sizeof(values->unit), "%s", query_name(query, values->keys));
		stat_columns(run->table, query, 0, values->keys - 1);
	}
	while (status == 0 && (r = stat_next(run, query)) > 0)
		status = stat_values_add(values, query);
	query_end(query);
	return r < 0 ? EXIT_FAILURE : status;
}

int stat_values_create(int column, const char *unit, struct values **ret_values)
{
	struct values *values = calloc(1, sizeof(*values));

	*ret_values = values;
	if (!values || groups_create(1, sizeof(struct group_values), &values->groups) < 0)
		return stat_out_of_memory();
	groups_one(values->groups);
	values->keys = 1;
	values->column = column;
	snprintf(values->unit, sizeof(values->unit), "%s", unit);
	return 0;
}

static void values_finish(struct values *values)
{
	for (size_t i = 0; values->groups && i < groups_count(values->groups); i++)
		distribution_finish(&((struct group_values *)groups_data(values->groups, i))->all);
	groups_destroy(values->groups);
}

static void add_notes(struct stat_run *run, const struct values *values)
{
	if (values->unknown)
		table_note(run->table, "%llu values are not known and not counted.",
			(unsigned long long)values->unknown);
	if (stat_needs_ops(run->options) && !run->has_ops)
		stat_note_no_ops(run, "Single operations are");
	if (strstr(run->options->of, "read") || strstr(run->options->of, "write") ||
		strstr(run->options->of, "latency"))
		stat_note_fidelity(run);
}

/* All keys of a group as one name. */
static const char *curve_name(const struct values *values, size_t group, char *out, size_t size)
{
	char key[256];
	size_t used = 0;

	out[0] = '\0';
	for (int i = 0; i < values->keys && used < size; i++) {
		groups_text(values->groups, group, i, key, sizeof(key));
		used += snprintf(out + used, size - used, "%s%s", i ? " " : "", key);
	}
	return out;
}

/* ---- histogram ---- */

static void put_bar(struct stat_run *run, int64_t count, int64_t most)
{
	char bar[BAR_WIDTH + 1];
	int width = most ? (int)((double)count / (double)most * BAR_WIDTH + 0.5) : 0;

	memset(bar, '#', width);
	bar[width] = '\0';
	table_string(run->table, bar);
}

static bool shows_bars(const struct stat_run *run)
{
	return run->options->style.format == TABLE_TEXT && isatty(STDOUT_FILENO);
}

/* Pictures have seconds. */
static double on_axis(const struct values *values, double value)
{
	return strstr(values->unit, "_ns") ? value / 1e9 : value;
}

static void put_classes(struct stat_run *run, const struct values *values, size_t group,
	struct chart *chart)
{
	const struct group_values *of = groups_data(values->groups, group);
	const int64_t *classes = of->classes;
	int64_t count = (int64_t)of->all.count, sofar = 0, most = 0;
	int first = CLASS_MAX, last = -1;
	char name[256];

	for (int i = 0; i < CLASS_MAX; i++)
		if (classes[i]) {
			first = first < i ? first : i;
			last = i;
			most = classes[i] > most ? classes[i] : most;
		}
	if (chart)
		chart_curve(chart, curve_name(values, group, name, sizeof(name)));
	for (int i = first; i <= last; i++) {
		sofar += classes[i];
		groups_put(values->groups, group, 0, values->keys - 1, run->table);
		table_int(run->table, i ? (int64_t)1 << (i - 1) : 0),
			table_unit(run->table, values->unit);
		table_int(run->table, i < 64 ? (int64_t)1 << i : INT64_MAX),
			table_unit(run->table, values->unit);
		table_int(run->table, classes[i]);
		table_real(run->table, (double)classes[i] / (double)count);
		table_real(run->table, (double)sofar / (double)count);
		if (shows_bars(run))
			put_bar(run, classes[i], most);
		if (chart && i)
			chart_point(chart, on_axis(values, (double)((uint64_t)1 << (i - 1)) * 1.5),
				(double)classes[i]);
	}
}

static struct chart *make_chart(struct stat_run *run, const struct values *values, const char *what,
	const char *y, int flags)
{
	const struct stat_options *o = run->options;
	bool time = strstr(values->unit, "_ns");
	char title[128];

	if (!o->svg && !o->png && !o->gnuplot)
		return NULL;
	snprintf(title, sizeof(title), "%s of %s", what, o->of);
	return chart_create(title, o->of, time ? "s" : "B", y, flags);
}

static int finish_chart(struct stat_run *run, struct chart *chart)
{
	const struct stat_options *o = run->options;

	return chart || o->svg || o->png || o->gnuplot
		       ? chart_finish(chart, o->svg, o->png, o->gnuplot)
		       : 0;
}

int stat_hist_put(struct stat_run *run, const struct values *values)
{
	struct chart *chart =
		make_chart(run, values, "Histogram", "count", CHART_LOG_X | CHART_BARS);

	table_columns(run->table, shows_bars(run) ? "from to count part_share cumulative_share bar"
						  : "from to count part_share cumulative_share");
	for (size_t i = 0; i < groups_count(values->groups); i++)
		put_classes(run, values, i, chart);
	add_notes(run, values);
	return finish_chart(run, chart);
}

int stat_hist(struct stat_run *run)
{
	struct values values = { 0 };
	int status = read_values(run, &values);

	if (status == 0)
		status = stat_hist_put(run, &values);
	values_finish(&values);
	return status;
}

void stat_values_destroy(struct values *values)
{
	if (values)
		values_finish(values);
	free(values);
}

/* ---- cumulative distribution ---- */

static size_t count_distinct(const struct distribution *d)
{
	size_t n = 0;

	for (size_t i = 0; i < d->count; i++)
		n += i == 0 || d->values[i] != d->values[i - 1];
	return n;
}

static void put_point(struct stat_run *run, const struct values *values, size_t group, size_t rank,
	struct chart *chart)
{
	const struct distribution *d =
		&((struct group_values *)groups_data(values->groups, group))->all;
	double share = (double)rank / (double)d->count;

	groups_put(values->groups, group, 0, values->keys - 1, run->table);
	table_int(run->table, d->values[rank - 1]), table_unit(run->table, values->unit);
	table_int(run->table, (int64_t)rank);
	table_real(run->table, share);
	if (shows_bars(run))
		put_bar(run, (int64_t)rank, (int64_t)d->count);
	if (chart && d->values[rank - 1] > 0)
		chart_point(chart, on_axis(values, (double)d->values[rank - 1]), share);
}

/* Each value, with how many are not larger; of very many as many as a curve needs. */
static void put_curve(struct stat_run *run, const struct values *values, size_t group,
	struct chart *chart)
{
	struct distribution *d = &((struct group_values *)groups_data(values->groups, group))->all;
	size_t step = 1, next = 0;
	char name[256];

	distribution_sort(d);
	if (count_distinct(d) > POINT_MAX)
		step = (d->count + POINT_MAX - 1) / POINT_MAX;
	if (chart)
		chart_curve(chart, curve_name(values, group, name, sizeof(name)));
	for (size_t rank = 1; rank <= d->count; rank++) {
		bool last = rank == d->count || d->values[rank] != d->values[rank - 1];

		if (last && (rank >= next || rank == d->count)) {
			put_point(run, values, group, rank, chart);
			next = step > 1 ? rank + step : rank;
		}
	}
}

int stat_cdf(struct stat_run *run)
{
	struct values values = { .keep = true };
	int status = read_values(run, &values);
	struct chart *chart;

	if (status == 0) {
		chart = make_chart(run, &values, "Cumulative distribution", "part of all",
			CHART_LOG_X | CHART_STEPS);
		table_columns(run->table,
			shows_bars(run) ? "value count part_share bar" : "value count part_share");
		for (size_t i = 0; i < groups_count(values.groups); i++)
			put_curve(run, &values, i, chart);
		status = finish_chart(run, chart);
	}
	add_notes(run, &values);
	values_finish(&values);
	return status;
}
