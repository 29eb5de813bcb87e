/* SPDX-License-Identifier: MIT */
#ifndef FTRAC_OPTIONS_H
#define FTRAC_OPTIONS_H

/* The command line of ftrac, as one struct. */

#include <fuse_lowlevel.h>
#include <stdbool.h>

#include "base/cli.h"
#include "db/event.h"
#include "ftrac/transport.h"
#include "procmon/monitor.h"

struct options {
	char *mountpoint; /* absolute; NULL: ftrac run makes its own */
	char *source;	  /* absolute, without links */
	const char *db;
	bool force, foreground, debug, no_ops, no_record, drop, stat;
	enum monitor_processes processes;
	bool native_locks;
	enum transport_wish io_uring;
	enum fidelity fidelity;
	bool fidelity_given;
	struct words include, exclude, env;
	const char *job, *xform;
	/* Of ftrac run: */
	struct words scope; /* paths, absolute, to be freed */
	const char *user;
	int wait_ms; /* -1: for ever */
	bool quiet;
	bool make; /* has make note what it knows of targets */
	char *const *command;
	struct fuse_args fuse; /* what is left is for libfuse */
	char *text;	       /* all of them, for the trace */
	char *mount_db;	       /* db of -o db=FILE, to be freed */
};

/*
 * Parses; prints what is wrong, or what was asked for (help, version).  0: go on with *options,
 * otherwise the process is to exit with *ret_status.
 */
int options_parse(int argc, char **argv, struct options *options, int *ret_status);
/* The same for ftrac run; argv[0] is "run". */
int options_parse_run(int argc, char **argv, struct options *options, int *ret_status);
void options_finish(struct options *options);

#endif
