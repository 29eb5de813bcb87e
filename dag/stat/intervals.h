/* SPDX-License-Identifier: MIT */
#ifndef DAG_STAT_INTERVALS_H
#define DAG_STAT_INTERVALS_H

/* Operations, bytes and files in each interval of a run: the rows of the table time. */

#include <stdbool.h>
#include <stdint.h>

struct intervals;
struct stat_run;

int intervals_create(struct intervals **ret_intervals); /* 0 or -ENOMEM */
void intervals_destroy(struct intervals *intervals);   /* NULL is fine */

/* So many operations in the nth interval; n below 0: before the run, which is not counted.  -ENOMEM. */
int intervals_add(struct intervals *intervals, int64_t n, int64_t operations);
/* They also moved bytes, or used this file. */
int intervals_add_bytes(struct intervals *intervals, int64_t n, bool writes, int64_t bytes);
int intervals_add_file(struct intervals *intervals, int64_t n, int64_t file);

/* Of a run without single operations: adds the sums that the trace has, if they say what the options ask (sums.h), but no files.
 * *ret_known: whether they do.  0, or a negative errno with run->failure set. */
int intervals_add_sums(struct stat_run *run, struct intervals *intervals, bool *ret_known);

/* Fills run->table: a row for each interval, with its processes and memory, which a query knows.  files: with their number.
 * 0, or a negative errno with run->failure set. */
int intervals_put(struct stat_run *run, struct intervals *intervals, bool files);

#endif
