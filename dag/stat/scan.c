/* SPDX-License-Identifier: MIT */
#include "dag/stat/scan.h"

#include <stdlib.h>
#include <string.h>

#include "base/saturate.h"
#include "dag/container/sparse.h"
#include "dag/stat/stat.h"
#include "dag/trace/compose.h"
#include "db/query.h"

/* Columns of the query "scan": what a table looks at stands together. */
enum column { ALL, OPERATION, LATENCY, FAILED, WRITES, HANDLE, OFFSET, BYTES, INTERVAL };

struct interval {
	int64_t operations, read_bytes, written_bytes;
};

struct stat_scan {
	struct groups *sys;
	struct pattern *pattern;
	struct values *latency, *reads, *writes;
	struct sparse *intervals;
	int64_t last; /* in which there was an operation */
};

/* ---- intervals ---- */

static int add_interval(struct stat_scan *scan, const struct query *query, bool data)
{
	int64_t n = query_int(query, INTERVAL);
	struct interval *interval = n < 0 ? NULL : sparse_at(scan->intervals, n);

	if (!interval)
		return n < 0 ? 0 : stat_out_of_memory();
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

/* data: it is a read or a write that did not fail. */
static int add_row(struct stat_scan *scan, const struct query *query)
{
	bool data = query_type(query, WRITES) != QUERY_NULL;
	int status = stat_sys_add(scan->sys, LATENCY, query);

	if (status == 0)
		status = stat_values_add(scan->latency, query);
	if (status == 0 && data)
		status = stat_pattern_add(scan->pattern, query);
	if (status == 0 && data)
		status = stat_values_add(query_int(query, WRITES) ? scan->writes : scan->reads,
			query);
	return status ? status : add_interval(scan, query, data);
}

static int create_parts(struct stat_scan *scan)
{
	int status = stat_sys_create(OPERATION, 1, &scan->sys);

	if (status == 0 && sparse_create(sizeof(struct interval), &scan->intervals) < 0)
		status = stat_out_of_memory();
	if (status == 0)
		status = stat_pattern_create(0, WRITES, false, &scan->pattern);
	if (status == 0)
		status = stat_values_create(LATENCY, "value_ns", &scan->latency);
	if (status == 0)
		status = stat_values_create(BYTES, "value_bytes", &scan->reads);
	return status ? status : stat_values_create(BYTES, "value_bytes", &scan->writes);
}

int stat_scan_create(struct query_db *db, const struct choice *choice, struct stat_scan **ret_scan)
{
	const struct stat_options options = { .choice = *choice };
	struct stat_run run = { .options = &options, .db = db };
	struct stat_scan *scan = calloc(1, sizeof(*scan));
	struct query *query = NULL;
	int status = scan ? create_parts(scan) : stat_out_of_memory(), r = 1;

	*ret_scan = scan;
	if (status == 0)
		status = stat_query(&run, "scan", "name latency_ns failed writes handle offset bytes n", choice,
			&query, NULL);
	while (status == 0 && (r = stat_next(&run, query)) > 0)
		status = add_row(scan, query);
	query_end(query);
	return r < 0 ? EXIT_FAILURE : status;
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

/* Processes and memory are those of the query, operations and bytes those of the pass. */
int stat_scan_time(struct stat_run *run, const struct stat_scan *scan)
{
	struct query *query;
	int status = stat_query(run, "scan.levels", "n from_s processes rss_bytes last", &run->options->choice, &query,
		    NULL),
	    r = 1;
	const struct interval *interval;

	if (status == 0)
		table_columns(run->table,
			"from_s operations read_bytes written_bytes processes rss_bytes");
	while (status == 0 && (r = stat_next(run, query)) > 0) {
		int64_t n = query_int(query, 0);

		if (n > query_int(query, 4) && n > scan->last)
			continue;
		stat_put(run->table, query, 1, 1);
		interval = sparse_at(scan->intervals, n);
		if (!interval)
			status = stat_out_of_memory();
		if (run->has_ops && interval) {
			table_int(run->table, interval->operations);
			table_int(run->table, interval->read_bytes);
			table_int(run->table, interval->written_bytes);
		} else {
			for (int i = 0; i < 3; i++)
				table_null(run->table);
		}
		stat_put(run->table, query, 2, 3);
	}
	query_end(query);
	table_note(run->table,
		"An operation belongs to the interval in which it began; processes and "
		"memory are the most at one moment of it.  Processes of which memory is not "
		"known count for nothing, pages that processes share for each.");
	if (!run->has_ops)
		stat_note_no_ops(run, "Operations and bytes are");
	stat_note_fidelity(run);
	return r < 0 ? EXIT_FAILURE : status;
}
