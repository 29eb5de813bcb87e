/* SPDX-License-Identifier: MIT */
#ifndef DAG_STAT_TIME_CLASSES_H
#define DAG_STAT_TIME_CLASSES_H

#include <stdbool.h>

/* The table time with --of: operations, or bytes, of each interval by classes of sizes or latencies, and its picture. */

struct stat_options;
struct stat_run;

/* The values of --of, ended by NULL. */
extern const char *const stat_classes_values[];
/* The query of these options. */
const char *stat_classes_query(const struct stat_options *options);

/* Fills run->table, from sums of operations where these say the same, and draws the picture.  *ret_known: whether there are operations or
 * such sums.  0, or a negative errno with run->failure set. */
int stat_put_classes(struct stat_run *run, bool *ret_known);

#endif
