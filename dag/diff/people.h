/* SPDX-License-Identifier: MIT */
#ifndef DAG_DIFF_PEOPLE_H
#define DAG_DIFF_PEOPLE_H

/* What diff_people.c and diff_numbers.c share.  Results are 0 or -errno. */

#include "dag/diff/report.h"

struct telling {
	const struct comparison *comparison;
	const struct table_style *style;
	int64_t top;
	FILE *out;
};

/* Rows of each part. */
static inline size_t people_limit(const struct telling *t)
{
	return t->top ? (size_t)t->top : SIZE_MAX - 1;
}

/* The table is gone then; one without rows is not worth a line. */
int people_print(const struct telling *t, struct table *table, size_t left_out, const char *what);
int people_put_process(struct table *table, const struct comparison *c, const int32_t process[2]);

int people_tell_measures(const struct telling *t);
int people_tell_paths(const struct telling *t);

#endif
