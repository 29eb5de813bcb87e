/* SPDX-License-Identifier: MIT */
#ifndef PROCMON_SPAWN_H
#define PROCMON_SPAWN_H

/*
 * Starts a command in two steps: between them the child waits, so that whoever wants to follow it
 * can make himself known first, and everything else that is to be there when it runs can be made.
 * The child is what we were when it was forked: limits, rights, handlers that are changed later are not
 * the command's.
 *
 * The exit status of a child that could not execute its command is SPAWN_NOT_FOUND or
 * SPAWN_NOT_EXECUTABLE, as shells have it.
 */

#include <sys/types.h>

enum { SPAWN_NOT_EXECUTABLE = 126, SPAWN_NOT_FOUND = 127 };

struct spawn {
	pid_t pid;
	int go, error; /* ends of pipes */
};

/*
 * The child calls first(arg), which may be NULL, and then waits: what that returns if not 0 is the
 * child's exit status.  0, and *ret_spawn is to be finished, or -errno.
 */
int spawn_begin(char *const *argv, int (*first)(void *arg), void *arg, struct spawn *ret_spawn);

/* Lets it go.  0, or -errno: it has ended, or does so now; -EPIPE: by itself. */
int spawn_go(struct spawn *spawn);

/* Waits until it runs its command: 0, or the -errno why it cannot. */
int spawn_result(const struct spawn *spawn);

/* A child that was not let go ends.  It is the caller's to be waited for. */
void spawn_finish(struct spawn *spawn);

#endif
