/* SPDX-License-Identifier: MIT */
#ifndef DAG_REPORT_OPTIONS_H
#define DAG_REPORT_OPTIONS_H

/* The command line of wfreport. */

#include <stdbool.h>
#include <stdint.h>

#include "base/cli.h"
#include "dag/trace/compose.h"

#define REPORT_NODES 150 /* in the picture of the graph, at most */
#define REPORT_ABOVE_NS 1000000

struct report_options {
	struct words traces;
	struct choice choice;
	const char *output, *perfetto, *title;
	bool is_perfetto; /* NULL: not given */
	int64_t max_nodes;
	bool max_given; /* max_nodes */
	bool above_given;
	int64_t above_ns; /* shorter operations are left out of --perfetto */
	bool is_diff, strict;
	int behind; /* diff_options_behind() */
	unsigned how; /* of query_open() */
};

/* false: the program ends with the exit status *ret_status. */
bool report_options_parse(int argc, char **argv, struct report_options *options, int *ret_status);
void report_options_finish(struct report_options *options);

#endif
