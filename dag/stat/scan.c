/* SPDX-License-Identifier: MIT */
#include "dag/stat/scan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/failure.h"
#include "base/saturate.h"
#include "dag/container/sparse.h"
#include "dag/stat/stat.h"
#include "dag/trace/compose.h"
#include "dag/trace/traces.h"
#include "db/query.h"

/* Columns of the query "scan".  Those that a table needs are neighbours. */
enum column { ALL, OPERATION, LATENCY, FAILED, WRITES, HANDLE, OFFSET, BYTES, INTERVAL };

struct interval {
	int64_t operations, read_bytes, written_bytes;
};

struct stat_scan {
	struct groups *sys;
	struct pattern *pattern;
	struct values *latency, *reads, *writes;
	struct sparse *intervals;
	int64_t last; /* the last interval with an operation */
};

/* ---- intervals ---- */

static int add_interval(struct stat_scan *scan, const struct query *query, bool data)
{
	int64_t n = query_int(query, INTERVAL);
	struct interval *interval = n < 0 ? NULL : sparse_at(scan->intervals, n);

	if (!interval)
		return n < 0 ? 0 : -ENOMEM;
	interval->operations++;
	scan->last = n > scan->last ? n : scan->last;
	if (data) {
		int64_t *sum =
			query_int(query, WRITES) ? &interval->written_bytes : &interval->read_bytes;

		*sum = saturate_add(*sum, query_int(query, BYTES));
	}
	return 0;
}

/* ---- the pass ---- */

/* An operation; reads and writes that did not fail have data. */
static int add_row(struct stat_scan *scan, const struct query *query)
{
	bool data = query_type(query, WRITES) != QUERY_NULL;
	int r = stat_sys_add(scan->sys, LATENCY, query);

	if (r == 0)
		r = stat_values_add(scan->latency, query);
	if (r == 0 && data)
		r = stat_pattern_add(scan->pattern, query);
	if (r == 0 && data)
		r = stat_values_add(query_int(query, WRITES) ? scan->writes : scan->reads, query);
	return r < 0 ? r : add_interval(scan, query, data);
}

static int create_parts(struct stat_scan *scan)
{
	int r = stat_sys_create(OPERATION, 1, &scan->sys);

	if (r == 0)
		r = sparse_create(sizeof(struct interval), &scan->intervals);
	if (r == 0)
		r = stat_pattern_create(0, WRITES, false, &scan->pattern);
	if (r == 0)
		r = stat_values_create(LATENCY, "value_ns", &scan->latency);
	if (r == 0)
		r = stat_values_create(BYTES, "value_bytes", &scan->reads);
	return r < 0 ? r : stat_values_create(BYTES, "value_bytes", &scan->writes);
}

int stat_scan_create(struct query_db *db, const struct choice *choice, struct stat_scan **ret_scan,
	struct failure *failure)
{
	struct stat_scan *scan = calloc(1, sizeof(*scan));
	struct query *query = NULL;
	int r = failure_of_memory(failure, scan ? create_parts(scan) : -ENOMEM);

	*ret_scan = scan;
	if (r == 0)
		r = traces_query(db, "scan", "name latency_ns failed writes handle offset bytes n",
			choice, &query, NULL, failure);
	while (r == 0 && (r = traces_next(db, query, failure)) > 0)
		r = failure_of_memory(failure, add_row(scan, query));
	query_end(query);
	return r;
}

void stat_scan_destroy(struct stat_scan *scan)
{
	if (!scan)
		return;
	stat_sys_destroy(scan->sys);
	stat_pattern_destroy(scan->pattern);
	stat_values_destroy(scan->latency);
	stat_values_destroy(scan->reads);
	stat_values_destroy(scan->writes);
	sparse_destroy(scan->intervals, NULL);
	free(scan);
}

/* ---- tables ---- */

int stat_scan_sys(struct stat_run *run, const struct stat_scan *scan)
{
	table_columns(run->table, "operation");
	return stat_sys_put(run, scan->sys, 1);
}

int stat_scan_pattern(struct stat_run *run, const struct stat_scan *scan)
{
	table_columns(run->table, "all");
	return stat_pattern_put(run, scan->pattern);
}

int stat_scan_hist(struct stat_run *run, const struct stat_scan *scan)
{
	const char *of = run->options->of;

	table_columns(run->table, "all");
	return stat_hist_put(run, strcmp(of, "latency") == 0     ? scan->latency
				  : strcmp(of, "read-size") == 0 ? scan->reads
								 : scan->writes);
}

/* Columns of the query "scan.levels". */
enum { N, FROM, PROCESSES, WORKING, RSS, LAST };

/* Processes and memory are those of the query, operations and bytes those of the pass. */
static void put_interval(struct stat_run *run, const struct interval *interval,
	const struct query *query)
{
	stat_put(run->table, query, FROM, FROM);
	if (run->has_ops) {
		table_int(run->table, interval->operations);
		table_int(run->table, interval->read_bytes);
		table_int(run->table, interval->written_bytes);
	} else {
		for (int i = 0; i < 3; i++)
			table_null(run->table);
	}
	stat_put(run->table, query, PROCESSES, RSS);
}

int stat_scan_time(struct stat_run *run, const struct stat_scan *scan)
{
	struct query *query;
	int r = traces_query(run->db, "scan.levels", "n from_s processes working rss_bytes last",
		&run->options->choice, &query, NULL, run->failure);

	table_columns(run->table, "from_s operations read_bytes written_bytes processes working rss_bytes");
	while (r == 0 && (r = traces_next(run->db, query, run->failure)) > 0) {
		int64_t n = query_int(query, N);
		bool shown = n <= query_int(query, LAST) || n <= scan->last;
		const struct interval *interval = shown ? sparse_at(scan->intervals, n) : NULL;

		if (interval)
			put_interval(run, interval, query);
		r = shown && !interval ? failure_memory(run->failure) : 0;
	}
	query_end(query);
	table_note(run->table,
		"An operation belongs to the interval in which it began; processes, working "
		"processes (those without a child that lives) and memory are the most at one moment of it.  Processes whose memory is "
		"unknown are left out; pages that processes share count for each of them.");
	if (!run->has_ops)
		stat_note_no_ops(run, "Operations and bytes are");
	stat_note_fidelity(run);
	return r;
}
