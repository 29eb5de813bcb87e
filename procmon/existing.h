/* SPDX-License-Identifier: MIT */
#ifndef PROCMON_EXISTING_H
#define PROCMON_EXISTING_H

/*
 * Processes that run before they are recorded: reports them from /proc, as PROCESS, parents before their children.  A
 * process that is inside of an exec delays it.
 *
 * One thread.
 */

#include <stddef.h>
#include <sys/types.h>

struct monitor_attach;
struct ring;

/*
 * Reports the processes that are wanted, without this one, and returns their numbers, which the caller frees.  0; -ESRCH: a
 * process that was named is not there; or another -errno.
 */
int existing_push(struct ring *ring, const char *const *env, const struct monitor_attach *wanted, pid_t **ret_pids,
	size_t *ret_n);

#endif
