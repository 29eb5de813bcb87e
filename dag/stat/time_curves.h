/* SPDX-License-Identifier: MIT */
#ifndef DAG_STAT_TIME_CURVES_H
#define DAG_STAT_TIME_CURVES_H

#include <stdbool.h>

/* The picture of the table time with --by: a curve for each group, of its operations in each interval. */

struct stat_run;

/* Does an option want a picture?  Then the rows of the table must stay (stat_rows(): changes). */
bool stat_wants_picture(const struct stat_run *run);

/* Of the rows that run->table has.  0, or a negative errno with run->failure set. */
int stat_draw_time(struct stat_run *run);

#endif
