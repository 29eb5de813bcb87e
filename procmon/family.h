/* SPDX-License-Identifier: MIT */
#ifndef PROCMON_FAMILY_H
#define PROCMON_FAMILY_H

/*
 * The descendants of this process, without any source of events.  A subreaper gets the children of descendants that end,
 * so that everything that a command leaves behind stays below us: that some are alive is the same as that we have
 * children.  Our own children are therefore the command and what it left.
 *
 * family_has() may be called in a signal handler; one thread calls the rest.
 */

#include <stdbool.h>
#include <sys/types.h>

/* Makes this process a subreaper.  0 or -errno. */
int family_begin(void);

/* Whether the process descends from us.  A process that is gone does not. */
bool family_has(pid_t pid);

/* Waits for those that have ended; whether there are others. */
bool family_is_alive(void);

/* Sends a signal to all of them. */
void family_kill(int signal);

#endif
