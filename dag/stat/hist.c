/* SPDX-License-Identifier: MIT */

/* Histogram of --of. */

#include "dag/container/groups.h"
#include "dag/output/chart.h"
#include "dag/stat/scan.h"
#include "dag/stat/values.h"

static void put_classes(struct stat_run *run, const struct values *values, size_t group,
	struct chart *chart)
{
	const struct group_values *of = groups_data(values->groups, group);
	const int64_t *classes = of->classes;
	int64_t count = (int64_t)of->all.count, sofar = 0, most = 0;
	int first = CLASSES_MAX, last = -1;
	char name[256];

	for (int i = 0; i < CLASSES_MAX; i++)
		if (classes[i]) {
			first = first < i ? first : i;
			last = i;
			most = classes[i] > most ? classes[i] : most;
		}
	if (chart)
		chart_curve(chart, groups_name(values->groups, group, name, sizeof(name)));
	for (int i = first; i <= last; i++) {
		sofar += classes[i];
		groups_put(values->groups, group, 0, values->keys - 1, run->table);
		table_int(run->table, classes_begin(i, values->is_tens)), table_unit(run->table, values->unit);
		table_int(run->table, classes_begin(i + 1, values->is_tens)), table_unit(run->table, values->unit);
		table_int(run->table, classes[i]);
		table_real(run->table, (double)classes[i] / (double)count);
		table_real(run->table, (double)sofar / (double)count);
		if (values_show_bars(run))
			values_put_bar(run, classes[i], most);
		if (chart && i)
			chart_point(chart, values_on_axis(values, (double)classes_begin(i, values->is_tens) * (values->is_tens ? 3 : 1.5)),
				(double)classes[i]);
	}
}

int stat_hist_put(struct stat_run *run, const struct values *values)
{
	struct chart *chart =
		values_chart(run, values, "Histogram", "count", CHART_LOG_X | CHART_BARS);

	table_columns(run->table, values_show_bars(run) ? "from to count part_share cumulative_share bar"
						  : "from to count part_share cumulative_share");
	for (size_t i = 0; i < groups_count(values->groups); i++)
		put_classes(run, values, i, chart);
	values_add_notes(run, values);
	return values_finish_chart(run, chart);
}

static int fill(struct stat_run *run)
{
	struct values values = { .is_tens = run->options->sizes == SIZES_TENS };
	int r = values_read(run, &values);

	if (r == 0)
		r = stat_hist_put(run, &values);
	values_finish(&values);
	return r;
}

const struct stat_table stat_hist_table = {
	.name = "hist",
	.fill = fill,
	.needs_ops = true,
	.options = STAT_BY | STAT_SIZES | STAT_OF | STAT_PICTURE | STAT_CHOICE | STAT_OPERATION,
	.of = stat_values,
	.queries = "values.",
	.help = "histogram of --of",
};
