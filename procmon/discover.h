/* SPDX-License-Identifier: MIT */
#ifndef PROCMON_DISCOVER_H
#define PROCMON_DISCOVER_H

/*
 * Discovers processes by reading /proc, and reports them with their ancestors to the writer.
 * Reading may block without limit. So only threads of the pool call these functions, without the
 * lock.
 */

#include <stdint.h>
#include <sys/types.h>

struct watch;

/*
 * Reports the thread, its process, and the ancestors of the process up to the session leader. Skips
 * what the writer knows already.
 */
void discover_thread(struct watch *watch, pid_t tid);

/*
 * Reports living children, and their children, of processes in scope that started after that time
 * and whose fork was not reported.
 */
void discover_missed(struct watch *watch, int64_t since_boot_ns);

#endif
