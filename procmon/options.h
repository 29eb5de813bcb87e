/* SPDX-License-Identifier: MIT */
#ifndef PROCMON_OPTIONS_H
#define PROCMON_OPTIONS_H

/* The command line of procmon, as one struct. */

#include <stdbool.h>

#include "base/cli.h"
#include "procmon/monitor.h"

struct options {
	const char *db, *job, *xform;
	const char *metrics; /* a file; NULL: none */
	const char *listen;  /* an address for metrics; NULL: none */
	int64_t interval_ns; /* of metrics; 0: not given */
	bool force, check;
	bool in_kernel;	       /* system calls, too, recorded in the kernel */
	bool by_preload;       /* operations on files, too, by an object in the programs */
	bool kernel_processes; /* --processes kernel */
	enum monitor_processes processes;
	int wait_ms; /* -1: without limit */
	unsigned layers; /* for preload/preload.h; 0: none */
	const char *layers_text;
	int64_t detail_above_ns; /* 0: all calls have rows of their own */
	struct words env;
	char *const *command;
	char *text; /* all arguments, for the trace */
};

/*
 * Parses the command line. Prints an error, the help or the version. Returns true to go on;
 * otherwise the process exits with *ret_status.
 */
bool options_parse(int argc, char **argv, struct options *ret_options, int *ret_status);
void options_finish(struct options *options);

#endif
