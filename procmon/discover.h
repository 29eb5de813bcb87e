/* SPDX-License-Identifier: MIT */
#ifndef PROCMON_DISCOVER_H
#define PROCMON_DISCOVER_H

/*
 * Makes processes known to the writer by reading /proc, with those above them.  Can block for as
 * long as others please: for the threads of the pool, without the lock.
 */

#include <stdint.h>
#include <sys/types.h>

struct watch;

/* Tells of the thread, of its process and of the latter's ancestors up to the leader of the
 * session; what is known already is left out. */
void discover_thread(struct watch *watch, pid_t tid);

/* Tells of living children of processes in scope that began since then and were not heard of,
 * and of their children. */
void discover_missed(struct watch *watch, int64_t since_boot_ns);

#endif
