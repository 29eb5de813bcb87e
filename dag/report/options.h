/* SPDX-License-Identifier: MIT */
#ifndef DAG_REPORT_OPTIONS_H
#define DAG_REPORT_OPTIONS_H

/* The command line of wfreport. */

#include <stdbool.h>
#include <stdint.h>

#include "base/cli.h"
#include "dag/trace/compose.h"

#define REPORT_NODES 150 /* that the picture of the graph shows */
#define REPORT_ABOVE_NS 1000000

struct report_options {
	struct words traces;
	struct choice choice;
	const char *output, *perfetto, *title; /* NULL: not asked for */
	int64_t max_nodes;
	int64_t above_ns; /* operations that took as long are in the time line for others */
	bool strict;
	unsigned how; /* traces are opened: see query_open() */
};

/* false: there is nothing more to do, and *ret_status is the exit status. */
bool report_options_parse(int argc, char **argv, struct report_options *options, int *ret_status);
void report_options_finish(struct report_options *options);

#endif
