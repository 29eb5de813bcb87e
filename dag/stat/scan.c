/* SPDX-License-Identifier: MIT */
#include "dag/stat/scan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/failure.h"
#include "dag/stat/intervals.h"
#include "dag/stat/stat.h"
#include "dag/trace/compose.h"
#include "dag/trace/traces.h"
#include "db/query.h"

/* Columns of the query "scan".  Those that a table needs are neighbours. */
enum column { ALL, OPERATION, LATENCY, FAILED, PLACE, WRITES, HANDLE, OFFSET, BYTES, INTERVAL };

struct stat_scan {
	struct groups *sys;
	struct pattern *pattern;
	struct values *latency, *reads, *writes;
	struct intervals *intervals;
};

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
	if (r == 0)
		r = intervals_add(scan->intervals, query_int(query, INTERVAL), 1);
	if (r == 0 && data)
		r = intervals_add_bytes(scan->intervals, query_int(query, INTERVAL), query_int(query, WRITES), query_int(query, BYTES));
	return r;
}

static int create_parts(struct stat_scan *scan)
{
	int r = stat_sys_create(OPERATION, 1, &scan->sys);

	if (r == 0)
		r = intervals_create(&scan->intervals);
	if (r == 0)
		r = stat_pattern_create(WRITES, &scan->pattern);
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
		r = traces_query(db, "scan", "name latency_ns failed place writes handle offset bytes n",
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
	intervals_destroy(scan->intervals);
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

int stat_scan_time(struct stat_run *run, const struct stat_scan *scan)
{
	bool known = run->has_ops;
	int r = known ? 0 : intervals_add_sums(run, scan->intervals, &known);

	if (r == 0)
		r = intervals_put(run, scan->intervals, false);

	table_note(run->table,
		"An operation belongs to the interval in which it began; processes, working "
		"processes (those without a child that lives) and memory are the most at one moment of it.  Processes whose memory is "
		"unknown are left out; pages that processes share count for each of them.");
	if (!known)
		stat_note_no_ops(run, "Operations and bytes are");
	stat_note_fidelity(run);
	return r;
}
