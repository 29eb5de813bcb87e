/* SPDX-License-Identifier: MIT */
#ifndef DAG_DIFF_REPORT_H
#define DAG_DIFF_REPORT_H

/*
 * The comparison as output: text has a sentence and some short tables, in which what is alike is one row; the other
 * formats have one table with all there is.
 *
 * Results are 0 or -errno.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "dag/diff/find.h"
#include "dag/diff/measure.h"
#include "dag/diff/path.h"
#include "dag/output/table.h"

struct figures;
struct noise;

struct comparison {
	const char *trace[2]; /* their names */
	const char *command[2];     /* that was traced; NULL: not known */
	bool cached[2]; /* operations are those of the page cache, whose number depends on timing */
	const struct match *match;
	struct names *names;
	struct found *found;
	struct measurement *measurement;
	struct diff_path *paths;
	const struct figures *figures[2]; /* of the runs of each side */
	int n_runs[2];
	const struct noise *noise; /* NULL: none was looked for */
};

/* Has one of the sides several runs? */
bool report_has_several(const struct comparison *comparison);
/* One line, to be freed; NULL: out of memory. */
char *report_summary(const struct comparison *comparison);

/* top: so many rows of each part; 0: all. */
int report_print_text(const struct comparison *comparison, const struct table_style *style,
	int64_t top, FILE *out);
/* The same as Markdown, for a page: what differs first, the tables to be unfolded. */
int report_print_markdown(const struct comparison *comparison, const struct table_style *style,
	int64_t top, FILE *out);
/* Columns and rows of all there is. */
int report_fill(struct table *table, const struct comparison *comparison);

/* What a process is called in one run, in some 60 characters: its program and the files among its words, if the
 * command is longer; to be freed.  NULL: out of memory. */
char *report_process(const struct comparison *comparison, int run, int32_t process);

/* A command in one line: what is cut is cut between characters. */
void report_put_short(FILE *out, const char *command, size_t most);

#endif
