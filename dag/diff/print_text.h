/* SPDX-License-Identifier: MIT */
#ifndef DAG_DIFF_PRINT_TEXT_H
#define DAG_DIFF_PRINT_TEXT_H

/* What print_text.c, print_sides.c, numbers.c and markdown.c share.  Results are 0 or -errno. */

#include "dag/diff/report.h"

struct text_output {
	const struct comparison *comparison;
	const struct table_style *style;
	int64_t top;
	FILE *out;
	/* Gets the tables instead of out, if it is there; 0 or -errno. */
	int (*put)(void *arg, struct table *table);
	void *arg;
};

/* Rows of each part. */
static inline size_t print_text_limit(const struct text_output *t)
{
	return t->top ? (size_t)t->top : SIZE_MAX - 1;
}

/* The table is gone then; one without rows is not worth a line. */
int print_text_table(const struct text_output *t, struct table *table, size_t left_out,
	const char *what);
int print_text_put_process(struct table *table, const struct comparison *c,
	const int32_t process[2]);

int print_text_differences(const struct text_output *t);
int print_text_figures(const struct text_output *t);
int print_text_noise(const struct text_output *t);
int print_text_measures(const struct text_output *t);
int print_text_paths(const struct text_output *t);

#endif
