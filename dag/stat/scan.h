/* SPDX-License-Identifier: MIT */
#ifndef DAG_STAT_SCAN_H
#define DAG_STAT_SCAN_H

/*
 * Tables of single operations that one pass over all operations fills: sys, pattern --by all, hist --by all and time,
 * as wfstat prints them.  With ten million operations a pass takes longer than the rest of a report.
 *
 * Functions that take a stat_run return 0, or a negative errno with run->failure set.  The others return 0 or -ENOMEM,
 * except stat_scan_create().
 */

#include <stdbool.h>
#include <stdint.h>

struct choice;
struct failure;
struct groups;
struct pattern;
struct query;
struct query_db;
struct stat_run;
struct values;

/* ---- the pass ---- */

struct stat_scan;

/* The choice has the length of an interval.  0, or a negative errno with the failure set; the caller destroys *ret_scan
 * also after an error.  Any thread that has a query_db of its own. */
int stat_scan_create(struct query_db *db, const struct choice *choice, struct stat_scan **ret_scan,
	struct failure *failure);
void stat_scan_destroy(struct stat_scan *scan);

int stat_scan_sys(struct stat_run *run, const struct stat_scan *scan);
int stat_scan_pattern(struct stat_run *run, const struct stat_scan *scan);
/* run->options->of is latency, read-size or write-size. */
int stat_scan_hist(struct stat_run *run, const struct stat_scan *scan);
int stat_scan_time(struct stat_run *run, const struct stat_scan *scan);

/* ---- the tables row by row.  column: the first of the columns that the table needs ---- */

int stat_sys_create(int first_key, int keys, struct groups **ret_groups);
int stat_sys_add(struct groups *groups, int column, const struct query *query);
int stat_sys_put(struct stat_run *run, const struct groups *groups, int keys);
void stat_sys_destroy(struct groups *groups);

/* All rows are of one group, whose name is in the first column. */
int stat_pattern_create(int column, struct pattern **ret_pattern);
int stat_pattern_add(struct pattern *pattern, const struct query *query);
int stat_pattern_put(struct stat_run *run, const struct pattern *pattern);
void stat_pattern_destroy(struct pattern *pattern);

/* All rows are of one group.  unit: the name of a column, such as "value_ns". */
int stat_values_create(int column, const char *unit, struct values **ret_values);
int stat_values_add(struct values *values, const struct query *query);
int stat_hist_put(struct stat_run *run, const struct values *values);
void stat_values_destroy(struct values *values);

#endif
