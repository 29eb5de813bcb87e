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

/* Where ftrac run has the operations from; auto: from the kernel where that is possible; both: a mount with fidelity call. */
enum run_files { RUN_FILES_MOUNT, RUN_FILES_KERNEL, RUN_FILES_AUTO, RUN_FILES_BOTH, RUN_FILES_PRELOAD };

struct options {
	char *mountpoint; /* absolute; NULL: ftrac run makes one */
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
	const char *metrics; /* a file; NULL: none */
	const char *listen;  /* an address for metrics; NULL: none */
	int64_t interval_ns; /* of metrics; 0: not given */
	/* For ftrac record: */
	bool all;
	pid_t *pids; /* allocated */
	size_t n_pids;
	char *cgroup; /* absolute, allocated; NULL: none */
	int for_ms;   /* -1: without limit */
	/* For ftrac run: */
	struct words scope; /* absolute paths, allocated; none: not given */
	const char *user;
	int wait_ms; /* -1: without limit */
	bool top;
	const char *like; /* the trace of an earlier run; NULL: none */
	bool quiet;
	bool changes;	     /* ftrac run prints them at its end */
	const char *in_toto; /* the file of its statement; NULL: none */
	bool takes_fuse_options; /* by -o, as mount(8) does; else -o is the trace */
	bool strict; /* the exit status says if anything was lost */
	enum run_files files;
	unsigned layers; /* for preload/preload.h; 0: none */
	const char *layers_text;
	int64_t detail_above_ns; /* 0: all calls have rows of their own */
	bool kernel_processes; /* --processes kernel */
	const char *mount_only; /* the last option that was given and means something with a mount only; NULL: none */
	enum { MAKE_AUTO, MAKE_YES, MAKE_NO } make; /* have make record its targets; auto: if the command is make */
	char *const *command;
	struct fuse_args fuse; /* the remaining options, for libfuse */
	char *text;	       /* all arguments, for the trace */
	char *mount_db;	       /* from -o db=FILE, allocated */
};

/*
 * Parses the command line. Prints an error, the help or the version. 0: go on with *options;
 * otherwise the process exits with *ret_status.
 */
int options_parse(int argc, char **argv, struct options *options, int *ret_status);
/* The same for ftrac run; argv[0] is "run". */
int options_parse_run(int argc, char **argv, struct options *options, int *ret_status);
/* The same for ftrac record. */
int options_parse_record(int argc, char **argv, struct options *options, int *ret_status);
/* Of ftrac run, before a mount: without --scope it is the current directory; refuses what no mount shows.  Prints an error; 0 or
 * the exit status. */
int options_scope_of_mount(struct options *options);
void options_finish(struct options *options);

#endif
