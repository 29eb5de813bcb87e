/* SPDX-License-Identifier: MIT */
#ifndef PROCMON_COMMAND_H
#define PROCMON_COMMAND_H

/*
 * Runs a command. The command and all processes that it starts are in scope. Events come from
 * ptrace (follow.h) or from the process connector; or from neither, if the processes are recorded elsewhere (family.h).
 */

struct monitor_run;
struct spawn;
struct watch;

/* See monitor_run().  watch NULL: only runs and waits. */
int command_run(struct watch *watch, struct spawn *spawn, const struct monitor_run *run,
	int *ret_status);

#endif
