/* SPDX-License-Identifier: MIT */
#include "dag/stat/intervals.h"

#include <errno.h>
#include <stdlib.h>

#include "base/failure.h"
#include "base/saturate.h"
#include "base/vector.h"
#include "dag/container/sparse.h"
#include "dag/stat/stat.h"
#include "dag/stat/sums.h"
#include "dag/trace/traces.h"
#include "db/query.h"

struct interval {
	int64_t operations, read_bytes, written_bytes;
	int64_t *files; /* the first .distinct ones are sorted and occur once */
	size_t n, distinct;
};

struct intervals {
	struct sparse *all;
	struct sparse *seen; /* of each file the interval behind the last one that has it */
	int64_t last;	     /* the last one with an operation */
	bool has_sums;	     /* instead of single operations */
};

int intervals_create(struct intervals **ret_intervals)
{
	struct intervals *intervals = *ret_intervals = calloc(1, sizeof(*intervals));
	int r = intervals ? sparse_create(sizeof(struct interval), &intervals->all) : -ENOMEM;

	return r < 0 ? r : sparse_create(sizeof(int64_t), &intervals->seen);
}

static void free_files(void *interval)
{
	free(((struct interval *)interval)->files);
}

void intervals_destroy(struct intervals *intervals)
{
	if (!intervals)
		return;
	sparse_destroy(intervals->all, free_files);
	sparse_destroy(intervals->seen, NULL);
	free(intervals);
}

int intervals_add(struct intervals *intervals, int64_t n, int64_t operations)
{
	struct interval *interval = n < 0 ? NULL : sparse_at(intervals->all, n);

	if (!interval)
		return n < 0 ? 0 : -ENOMEM;
	interval->operations = saturate_add(interval->operations, operations);
	intervals->last = n > intervals->last ? n : intervals->last;
	return 0;
}

int intervals_add_bytes(struct intervals *intervals, int64_t n, bool writes, int64_t bytes)
{
	struct interval *interval = n < 0 ? NULL : sparse_at(intervals->all, n);
	int64_t *sum;

	if (!interval)
		return n < 0 ? 0 : -ENOMEM;
	sum = writes ? &interval->written_bytes : &interval->read_bytes;
	*sum = saturate_add(*sum, bytes);
	return 0;
}

static int compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static void make_distinct(struct interval *interval)
{
	size_t n = 0;

	if (interval->n)
		qsort(interval->files, interval->n, sizeof(*interval->files), compare);
	for (size_t i = 0; i < interval->n; i++)
		if (n == 0 || interval->files[i] != interval->files[n - 1])
			interval->files[n++] = interval->files[i];
	interval->n = interval->distinct = n;
}

#define FEW 1024

/* Operations come nearly in the order of their time: most files that were seen in an interval were last seen in it. */
int intervals_add_file(struct intervals *intervals, int64_t n, int64_t file)
{
	int64_t *seen = n < 0 ? NULL : sparse_at(intervals->seen, file);
	struct interval *interval = seen ? sparse_at(intervals->all, n) : NULL;

	if (!interval)
		return n < 0 ? 0 : -ENOMEM;
	if (*seen == n + 1)
		return 0;
	*seen = n + 1;
	if (interval->n > 2 * interval->distinct + FEW)
		make_distinct(interval);
	return vector_push(interval->files, interval->n, file);
}

/* ---- sums ---- */

static int add_sum(void *arg, const struct query *query)
{
	enum { N, OPERATIONS, WRITES, BYTES };
	int64_t n = query_int(query, N);
	int r = intervals_add(arg, n, query_int(query, OPERATIONS));

	if (r == 0 && query_type(query, WRITES) != QUERY_NULL && query_type(query, BYTES) != QUERY_NULL)
		r = intervals_add_bytes(arg, n, query_int(query, WRITES), query_int(query, BYTES));
	return r;
}

int intervals_add_sums(struct stat_run *run, struct intervals *intervals, bool *ret_known)
{
	int r = stat_sums_fit(run, "intervals.sums", &intervals->has_sums);

	*ret_known = intervals->has_sums;
	if (r < 0 || !intervals->has_sums)
		return r;
	return traces_each(run->db, "intervals.sums", "n operations writes bytes", &run->options->choice, add_sum, intervals, run->failure);
}

/* ---- rows ---- */

/* Columns of the query "intervals.levels". */
enum { N, FROM, PROCESSES, WORKING, RSS };

static void put_known(struct table *table, bool known, int64_t number)
{
	if (known)
		table_int(table, number);
	else
		table_null(table);
}

static void put_interval(struct stat_run *run, struct interval *interval, const struct query *query, bool known, bool files)
{
	stat_put(run->table, query, FROM, FROM);
	make_distinct(interval);
	put_known(run->table, known, interval->operations);
	put_known(run->table, known, interval->read_bytes);
	put_known(run->table, known, interval->written_bytes);
	if (files)
		put_known(run->table, run->has_ops, (int64_t)interval->distinct);
	stat_put(run->table, query, PROCESSES, RSS);
}

int intervals_put(struct stat_run *run, struct intervals *intervals, bool files)
{
	struct choice choice = run->options->choice;
	struct query *query;
	int r;

	choice.last_step = intervals->last;
	r = traces_query(run->db, "intervals.levels", "n from_s processes working rss_bytes", &choice, &query, NULL, run->failure);
	table_columns(run->table, files ? "from_s operations read_bytes written_bytes files processes working rss_bytes"
					: "from_s operations read_bytes written_bytes processes working rss_bytes");
	while (r == 0 && (r = traces_next(run->db, query, run->failure)) > 0) {
		struct interval *interval = sparse_at(intervals->all, query_int(query, N));

		if (interval)
			put_interval(run, interval, query, run->has_ops || intervals->has_sums, files);
		r = interval ? 0 : failure_memory(run->failure);
	}
	query_end(query);
	return r;
}
