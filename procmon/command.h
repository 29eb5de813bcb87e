/* SPDX-License-Identifier: MIT */
#ifndef PROCMON_COMMAND_H
#define PROCMON_COMMAND_H

/*
 * Runs a command with all that it starts in scope: by ptrace (follow.h), or as the connector hears
 * of it.
 */

struct monitor_command;
struct watch;

/* See monitor_run(). */
int command_run(struct watch *watch, const struct monitor_command *command, int *ret_status);

#endif
