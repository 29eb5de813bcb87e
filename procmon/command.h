/* SPDX-License-Identifier: MIT */
#ifndef PROCMON_COMMAND_H
#define PROCMON_COMMAND_H

/*
 * Runs a command with all that it starts in scope: by ptrace (follow.h), or as the connector hears
 * of it.
 */

struct monitor_run;
struct spawn;
struct watch;

/* See monitor_run(). */
int command_run(struct watch *watch, struct spawn *spawn, const struct monitor_run *run,
	int *ret_status);

#endif
