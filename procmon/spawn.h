/* SPDX-License-Identifier: MIT */
#ifndef PROCMON_SPAWN_H
#define PROCMON_SPAWN_H

/*
 * Starts a command in two steps. Between them the child waits, so that a tracer can attach first
 * and the caller can set up everything that the command needs. The child inherits limits, rights
 * and signal handlers as they are at the fork; what the caller changes later does not affect the
 * command.
 *
 * A child that could not execute its command exits with SPAWN_NOT_FOUND or SPAWN_NOT_EXECUTABLE, as
 * shells do.
 */

#include <sys/types.h>

enum { SPAWN_NOT_EXECUTABLE = 126, SPAWN_NOT_FOUND = 127 };

struct spawn {
	pid_t pid;
	int go, error; /* ends of pipes */
};

/*
 * The child calls first(arg), if it is not NULL, and then waits; a result other than 0 becomes its
 * exit status. 0, and the caller finishes *ret_spawn; or -errno.
 */
int spawn_begin(char *const *argv, int (*first)(void *arg), void *arg, struct spawn *ret_spawn);

/* Lets the child run. 0; or -errno: the child has ended or ends now. -EPIPE: it ended by itself. */
int spawn_go(struct spawn *spawn);

/* Waits until the child has executed its command: 0, or the -errno of the exec. */
int spawn_result(const struct spawn *spawn);

/* Ends a child that was not let run. The caller waits for it. */
void spawn_finish(struct spawn *spawn);

#endif
