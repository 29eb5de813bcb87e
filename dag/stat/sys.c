/* SPDX-License-Identifier: MIT */

/* sys: number and latency of operations, and the total (the paper's Table 4). */

#include "dag/stat/stat.h"

#include <errno.h>
#include <string.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/failure.h"
#include "dag/container/distribution.h"
#include "dag/container/grouped.h"
#include "dag/output/chart.h"
#include "dag/container/groups.h"
#include "dag/stat/scan.h"
#include "dag/trace/traces.h"
#include "db/query.h"

struct call {
	struct distribution latency;
	int64_t failed, first;
};

/* Columns: latency, whether it failed, its place. */
int stat_sys_add(struct groups *groups, int column, const struct query *query)
{
	struct call *call = groups_find(groups, query);
	int64_t place = query_int(query, column + 2);

	if (call && (call->latency.count == 0 || place < call->first))
		call->first = place;
	if (!call || distribution_add(&call->latency, query_int(query, column), true) < 0)
		return -ENOMEM;
	call->failed += query_int(query, column + 1);
	return 0;
}

int stat_sys_create(int first, int keys, struct groups **ret_groups)
{
	int r = groups_create(keys, sizeof(struct call), ret_groups);

	if (r == 0)
		groups_begin_at(*ret_groups, first);
	return r;
}

void stat_sys_destroy(struct groups *groups)
{
	for (size_t i = 0; groups && i < groups_count(groups); i++)
		distribution_finish(&((struct call *)groups_data(groups, i))->latency);
	groups_destroy(groups);
}

static void put_numbers(struct table *table, const struct distribution *d, int64_t failed,
	uint64_t count, __int128 sum_ns)
{
	static const double quantiles[] = { 0.5, 0.95, 0.99 };

	table_int(table, (int64_t)d->count);
	table_real(table, (double)d->count / (double)count);
	table_int(table, failed);
	table_sum(table, d->sum);
	table_real(table, sum_ns ? (double)d->sum / (double)sum_ns : 0);
	table_real(table, distribution_mean(d));
	table_real(table, distribution_deviation(d));
	table_int(table, d->min);
	for (size_t i = 0; i < sizeof(quantiles) / sizeof(quantiles[0]); i++)
		table_int(table, distribution_quantile(d, quantiles[i]));
	table_int(table, d->max);
	table_row(table);
}

/* The values move from the parts to the total: memory may have no room for two copies. */
static int put_rows(struct stat_run *run, const struct groups *groups, int keys)
{
	size_t n = groups_count(groups);
	cleanup_free size_t *order = groups_by_time(groups, offsetof(struct call, first));
	cleanup_free struct distribution **parts = calloc(n + 1, sizeof(*parts));
	struct distribution total = { 0 };
	uint64_t count = 0;
	__int128 sum_ns = 0;
	int64_t failed = 0;

	if (!parts || !order)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		struct call *call = groups_data(groups, order[i]);

		parts[i] = &call->latency;
		count += parts[i]->count;
		sum_ns += parts[i]->sum;
		failed += call->failed;
	}
	for (size_t i = 0; i < n; i++) {
		distribution_sort(parts[i]);
		groups_put(groups, order[i], 0, keys - 1, run->table);
		put_numbers(run->table, parts[i], ((struct call *)groups_data(groups, order[i]))->failed,
			count, sum_ns);
	}
	if (distribution_join(&total, parts, n) < 0)
		return -ENOMEM;
	distribution_sort(&total);
	if (n) {
		table_string(run->table, "Total");
		for (int i = 1; i < keys; i++)
			table_null(run->table);
		put_numbers(run->table, &total, failed, count, sum_ns);
		table_total(run->table);
	}
	distribution_finish(&total);
	return 0;
}

int stat_sys_put(struct stat_run *run, const struct groups *groups, int keys)
{
	int r;

	table_columns(run->table,
		"count count_share failed sum_ns sum_share mean_ns sd_ns min_ns p50_ns "
		"p95_ns p99_ns max_ns");
	r = failure_of_memory(run->failure, put_rows(run, groups, keys));
	if (!run->has_ops)
		stat_note_no_ops(run, "Operations are");
	stat_note_fidelity(run);
	return r;
}

#define BARS_MAX 40

static void put_name(struct chart *chart, const struct table *table, size_t row, int keys)
{
	char name[128] = "";

	for (int i = 0; i < keys; i++) {
		const char *key = table_string_at(table, row, i);

		snprintf(name + strlen(name), sizeof(name) - strlen(name), "%s%s", i ? " " : "", key ? key : "-");
	}
	chart_name(chart, name);
}

/* How many operations of each kind, and how long they took: figure 5 of the ParaTrac paper. */
static int draw(struct stat_run *run, int keys)
{
	static const struct {
		const char *column, *name;
		double scale;
	} bars[] = { { "count", "operations", 1 }, { "mean_ns", "mean latency", 1e-9 } };
	const struct stat_options *o = run->options;
	struct table *table = run->table;
	size_t rows = table_rows(table), n = rows ? rows - 1 : 0; /* without the total */
	struct chart *chart;

	if (!o->svg && !o->png && !o->gnuplot)
		return 0;
	n = n < BARS_MAX ? n : BARS_MAX;
	chart = chart_create("Operations", "", "s", bars[0].name, CHART_NAMED);
	for (size_t row = 0; chart && row < n; row++)
		put_name(chart, table, row, keys);
	for (size_t i = 0; chart && i < sizeof(bars) / sizeof(bars[0]); i++) {
		chart_curve(chart, bars[i].name);
		for (size_t row = 0; row < n; row++)
			chart_point(chart, (double)row, bars[i].scale * table_number(table, row, table_find(table, bars[i].column), 0));
	}
	if (rows > n + 1)
		table_note(table, "The picture has the first %zu of %zu rows.", n, rows - 1);
	return chart_finish(chart, o->svg, o->png, o->gnuplot, run->failure);
}

static int fill(struct stat_run *run)
{
	struct grouped of;
	int r = grouped_start(run->db, "sys", "latency_ns failed place", &run->options->choice, sizeof(struct call), &of,
		run->failure);

	if (r == 0)
		grouped_name_keys(&of, run->table);
	while (r == 0 && (r = traces_next(run->db, of.query, run->failure)) > 0)
		r = failure_of_memory(run->failure, stat_sys_add(of.groups, of.column, of.query));
	grouped_end(&of);
	if (r == 0)
		r = stat_sys_put(run, of.groups, of.keys);
	stat_sys_destroy(of.groups);
	return r < 0 ? r : draw(run, of.keys);
}

const struct stat_table stat_sys_table = {
	.name = "sys",
	.fill = fill,
	.needs_ops = true,
	.options = STAT_BY | STAT_CHOICE | STAT_OPERATION | STAT_PICTURE,
	.queries = "sys",
	.help = "number and latency of operations",
};
