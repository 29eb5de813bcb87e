/* SPDX-License-Identifier: MIT */
#ifndef DAG_DIFF_OPTIONS_H
#define DAG_DIFF_OPTIONS_H

/* The command line of wfdag diff. */

#include <stdbool.h>

#include "base/cli.h"
#include "dag/output/table.h"
#include "dag/trace/compose.h"

/* What a run can fail by.  The thresholds are parts of what the first run took. */
enum fail { FAIL_GRAPH, FAIL_EXIT, FAIL_TIME, FAIL_CPU, FAIL_MEMORY, FAIL_BYTES, FAIL_PROCESSES, FAIL_OPERATIONS, FAIL_FILES, FAIL_EDGES, FAIL_MAX };
extern const char *const fails[];

struct diff_options {
	const char **traces; /* those of the first side, then those of the second */
	int n[2];
	int behind; /* words behind the first "--" of the command line, or -1 */
	const char *root[2]; /* NULL: what the trace says */
	struct choice choice;
	enum table_format format;
	const char *output; /* NULL: stdout */
	bool fail_given, fail_on[FAIL_MAX];
	double percent[FAIL_MAX]; /* more than that */
	int64_t top;              /* 0: all */
	bool all, data, raw, wide, strict, foreign;
};

/* false: there is nothing more to do, and *ret_status is the exit status. */
bool diff_options_parse(int argc, char **argv, struct diff_options *options, int *ret_status);
/* For other programs: the words behind the first "--" of the command line, or -1; then the traces, ended by NULL, which that divides into
 * two sides.  0 or the exit status. */
int diff_options_behind(int argc, char **argv);
int diff_options_sides(struct diff_options *options, const char **traces, const char *program);
void diff_options_finish(struct diff_options *options);

#endif
