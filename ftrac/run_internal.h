/* SPDX-License-Identifier: MIT */
#ifndef FTRAC_RUN_INTERNAL_H
#define FTRAC_RUN_INTERNAL_H

/*
 * The ways in which ftrac run records a command: a mount (run_mount.c), programs in the kernel (run_kernel.c), or an object in the
 * traced programs (run_preload.c).  run.c chooses, and has what both share.
 */

#include <stdbool.h>
#include <stdint.h>

#include "db/origin.h"
#include "ftrac/daemon.h"
#include "ftrac/notes.h"

struct failure;
struct spawn;

struct run {
	struct daemon daemon; /* of one without a mount: the record alone */
	struct notes notes;
	struct origin origin;
	struct spawn *command;
	char *own; /* the path of the trace; NULL: not known */
	int64_t began_ns; /* the command */
	int top_fd; /* for run_top_ready() */
	bool was_run;
};

/* They print errors, and return the exit status of ftrac. */
int run_by_mount(struct run *run);
int run_by_preload(struct run *run);
/* If the programs cannot be loaded, the command is not run, and *refused says why instead of a line on stderr. */
int run_by_kernel(struct run *run, struct failure *refused);

/* Runs the command, which waits, to its end.  The exit status. */
int run_it(struct run *run);

/* Of a command that runs natively, in our namespaces: */
/* makes the child, which waits, and runs as the user of the options.  0 or the exit status. */
int run_spawn_natively(struct run *run);
/* opens the trace, in which paths are those of the machine.  0 or the exit status. */
int run_open_trace(struct run *run);
/* runs it if it was started (status 0), and ends its trace.  The exit status. */
int run_natively(struct run *run, int status);

#endif
