/* SPDX-License-Identifier: MIT */

/* Cumulative distribution of --of. */

#include "dag/container/groups.h"
#include "dag/output/chart.h"
#include "dag/stat/values.h"

#define POINT_MAX 1000

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
	if (values_show_bars(run))
		values_put_bar(run, (int64_t)rank, (int64_t)d->count);
	if (chart && d->values[rank - 1] > 0)
		chart_point(chart, values_on_axis(values, (double)d->values[rank - 1]), share);
}

/* A point for each value, with the number of values that are not larger; for many values, as many points as a curve needs. */
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
		chart_curve(chart, groups_name(values->groups, group, name, sizeof(name)));
	for (size_t rank = 1; rank <= d->count; rank++) {
		bool last = rank == d->count || d->values[rank] != d->values[rank - 1];

		if (last && (rank >= next || rank == d->count)) {
			put_point(run, values, group, rank, chart);
			next = step > 1 ? rank + step : rank;
		}
	}
}

static int fill(struct stat_run *run)
{
	struct values values = { .keep = true };
	int r = values_read(run, &values);
	struct chart *chart;

	if (r == 0) {
		chart = values_chart(run, &values, "Cumulative distribution", "part of all",
			CHART_LOG_X | CHART_STEPS);
		table_columns(run->table,
			values_show_bars(run) ? "value count part_share bar" : "value count part_share");
		for (size_t i = 0; i < groups_count(values.groups); i++)
			put_curve(run, &values, i, chart);
		r = values_finish_chart(run, chart);
	}
	values_add_notes(run, &values);
	values_finish(&values);
	return r;
}

const struct stat_table stat_cdf_table = {
	.name = "cdf",
	.fill = fill,
	.needs_ops = true,
	.options = STAT_BY | STAT_OF | STAT_PICTURE | STAT_CHOICE | STAT_OPERATION,
	.of = stat_values,
	.queries = "values.",
	.help = "cumulative distribution of --of",
};
