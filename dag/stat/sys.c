/* SPDX-License-Identifier: MIT */

/* sys: number and latency of operations, and the total (the paper's Table 4). */

#include "dag/stat/stat.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/failure.h"
#include "dag/container/distribution.h"
#include "dag/container/groups.h"
#include "dag/stat/scan.h"
#include "dag/trace/traces.h"
#include "db/query.h"

struct call {
	struct distribution latency;
	int64_t failed;
};

/* Columns: latency, whether it failed. */
int stat_sys_add(struct groups *groups, int column, const struct query *query)
{
	struct call *call = groups_find(groups, query);

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
	cleanup_free struct distribution **parts = calloc(n + 1, sizeof(*parts));
	struct distribution total = { 0 };
	uint64_t count = 0;
	__int128 sum_ns = 0;
	int64_t failed = 0;

	if (!parts)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		struct call *call = groups_data(groups, i);

		parts[i] = &call->latency;
		count += parts[i]->count;
		sum_ns += parts[i]->sum;
		failed += call->failed;
	}
	for (size_t i = 0; i < n; i++) {
		distribution_sort(parts[i]);
		groups_put(groups, i, 0, keys - 1, run->table);
		put_numbers(run->table, parts[i], ((struct call *)groups_data(groups, i))->failed,
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

static int fill(struct stat_run *run)
{
	struct groups *groups = NULL;
	struct query *query;
	int keys = 0;
	int r = traces_query(run->db, "sys", "latency_ns failed", &run->options->choice, &query,
		&keys, run->failure);

	if (r == 0)
		r = failure_of_memory(run->failure, stat_sys_create(0, keys, &groups));
	if (r == 0)
		stat_columns(run->table, query, 0, keys - 1);
	while (r == 0 && (r = traces_next(run->db, query, run->failure)) > 0)
		r = failure_of_memory(run->failure, stat_sys_add(groups, keys, query));
	query_end(query);
	if (r == 0)
		r = stat_sys_put(run, groups, keys);
	stat_sys_destroy(groups);
	return r;
}

const struct stat_table stat_sys_table = {
	.name = "sys",
	.fill = fill,
	.needs_ops = true,
	.options = STAT_BY | STAT_CHOICE | STAT_OPERATION,
	.queries = "sys",
	.help = "number and latency of operations",
};
