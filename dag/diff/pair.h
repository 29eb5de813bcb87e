/* SPDX-License-Identifier: MIT */
#ifndef DAG_DIFF_PAIR_H
#define DAG_DIFF_PAIR_H

/* Two runs that are compared: their traces, and all that comes of it. */

#include <stdbool.h>

#include "dag/diff/names.h"
#include "dag/diff/report.h"

struct diff_options;
struct failure;
struct query_db;

struct run {
	struct query_db *db;
	struct workflow *workflow;
	char *root;
	const char *mountpoint, *source; /* of db */
	const char *trace;
	bool whole;
};

struct pair {
	struct comparison comparison;
	struct side *side[2];
	struct match *match;
};

/* Each returns 0 or -errno, with the failure set, and is to be finished in any case.  side: 0 or 1, whose options count. */
int pair_load_run(struct run *run, const struct diff_options *options, const char *trace, int side, struct failure *failure);
void pair_finish_run(struct run *run);
int pair_compare(struct pair *pair, const struct run *const runs[2], const struct diff_options *options, struct failure *failure);
void pair_finish(struct pair *pair);

#endif
