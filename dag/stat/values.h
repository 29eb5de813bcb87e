/* SPDX-License-Identifier: MIT */
#ifndef DAG_STAT_VALUES_H
#define DAG_STAT_VALUES_H

/*
 * Distributions of one value (--of), group by group: what hist and cdf share (the paper's Figures 5 to 10 and 12).
 *
 * Functions return 0, or a negative errno with run->failure set.
 */

#include "dag/container/classes.h"
#include "dag/container/distribution.h"
#include "dag/stat/stat.h"

struct chart;
struct groups;

struct group_values {
	struct distribution all;
	int64_t classes[CLASSES_MAX];
};

struct values {
	struct groups *groups; /* of struct group_values */
	int keys;
	int column;
	char unit[32];    /* the name of the column, "value_ns" */
	uint64_t unknown; /* how many values are */
	bool keep;        /* keep the values themselves */
	bool is_tens;     /* classes are powers of ten */
};

/* Reads all values of a run.  The struct begins as zeroes, except .keep and .is_tens; the caller finishes it also after an error. */
int values_read(struct stat_run *run, struct values *values);
void values_finish(struct values *values);
void values_add_notes(struct stat_run *run, const struct values *values);

/* Bars of characters, on a terminal. */
bool values_show_bars(const struct stat_run *run);
void values_put_bar(struct stat_run *run, int64_t count, int64_t most);

/* NULL: no option wants a picture, or out of memory; values_finish_chart() distinguishes the two. */
struct chart *values_chart(struct stat_run *run, const struct values *values, const char *what, const char *y, int flags);
int values_finish_chart(struct stat_run *run, struct chart *chart);
double values_on_axis(const struct values *values, double value); /* ns become seconds */

#endif
