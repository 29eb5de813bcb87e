/* SPDX-License-Identifier: MIT */
#ifndef PROCMON_OPTIONS_H
#define PROCMON_OPTIONS_H

/* The command line of procmon, as one struct. */

#include <stdbool.h>

#include "base/cli.h"
#include "procmon/monitor.h"

struct options {
	const char *db, *job, *xform;
	bool force, check;
	enum monitor_processes processes;
	int wait_ms; /* -1: for ever */
	struct words env;
	char *const *command;
	char *text; /* all of them, for the trace */
};

/*
 * Parses; prints what is wrong, or what was asked for (help, version).  True: go on, otherwise the
 * process is to exit with *ret_status.
 */
bool options_parse(int argc, char **argv, struct options *ret_options, int *ret_status);
void options_finish(struct options *options);

#endif
