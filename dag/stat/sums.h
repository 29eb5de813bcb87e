/* SPDX-License-Identifier: MIT */
#ifndef DAG_STAT_SUMS_H
#define DAG_STAT_SUMS_H

/*
 * Whether the sums of operations that a trace has of each interval (the view process_metric) say the same as its single
 * operations would, for what a user asks.  Then a table takes the same time for traces of any size, and also knows what happened
 * in a run whose single operations were not recorded.
 */

#include <stdbool.h>

struct stat_run;

/*
 * The sums have all operations that the trace has; the intervals of --interval, --from and --to consist of whole ones of theirs;
 * and the query of this name can have the choice and the keys.  Without single operations (run->has_ops false) the first is not asked: a
 * run that was killed may have lost the sums of its last second.
 * 0, or a negative errno with run->failure set.
 */
int stat_sums_fit(struct stat_run *run, const char *query, bool *ret_fit);

#endif
