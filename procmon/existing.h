/* SPDX-License-Identifier: MIT */
#ifndef PROCMON_EXISTING_H
#define PROCMON_EXISTING_H

/*
 * Processes that run before they are recorded: reports them from /proc, as PROCESS, the older ones first.  A
 * process that is inside of an exec delays it.
 *
 * One thread.
 */

#include <stddef.h>
#include <sys/types.h>

struct kernel;
struct monitor_attach;
struct ring;

/*
 * Reports the processes that are wanted, without this one.  Those that were named are chosen in the kernel, with their descendants.
 * 0; -ESRCH: a process that was named, ret_missing, is not there, or is a thread of Linux; or another -errno.
 */
int existing_push(struct ring *ring, const char *const *env, const struct monitor_attach *wanted, struct kernel *kernel,
	pid_t *ret_missing);

#endif
