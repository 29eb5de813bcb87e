/* SPDX-License-Identifier: MIT */
#ifndef DAG_DIFF_PATH_H
#define DAG_DIFF_PATH_H

/* The critical paths of two runs side by side: how long each process was on either.  -ENOMEM is the only error. */

#include <stdint.h>

#include "dag/diff/match.h"

struct path_step {
	int32_t process[2]; /* GRAPH_NONE: that run has not got it */
	int64_t on_ns[2];   /* 0: it was not on the path */
};

struct diff_path {
	struct path_step *
		step; /* in the order of the first run's path, then what is on the second's alone */
	int32_t n;
	int64_t length_ns[2];
	int32_t both, only[2]; /* processes */
};

int diff_path_create(const struct match *match, struct diff_path **ret_paths);
void diff_path_destroy(struct diff_path *paths);

#endif
