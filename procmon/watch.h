/* SPDX-License-Identifier: MIT */
#ifndef PROCMON_WATCH_H
#define PROCMON_WATCH_H

/*
 * What all parts of the monitor share, and its one lock.  The lock covers the scope, the
 * connector and the pushes of both; what is done under it ends by itself.  Nobody reads /proc
 * with the lock held: the head of monitor.c says why.
 */

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct claim;
struct connector;
struct monitor_options;
struct scope;

struct watch {
	const char *const *env;
	int proc; /* opened before anything was mounted */
	char *unprivileged; /* see monitor_unprivileged(); of the thread that traces */
	bool command; /* of ours: nobody else is in scope */
	_Atomic bool begun; /* it is there */
	bool sees_zombies; /* /proc shows what they have read and written */
	bool traces; /* commands of ours are followed by ptrace */
	int tracer_error, connector_error, exits_error;
	_Atomic uint8_t *known; /* scope_known() */
	_Atomic uint64_t lost;

	pthread_mutex_t lock; /* of what follows; the pointers themselves do not change */
	struct connector *connector; /* NULL: in band */
	struct exits *exits;	     /* NULL: no figures of what has ended */
	struct scope *scope;
	bool repair;	       /* events were lost: what they told has to be seen */
	int64_t quiet_boot_ns; /* all that had happened by then has been heard, or is in repair */
	struct claim *claims;  /* of discover.c: processes that are being looked at */
	pthread_cond_t unclaimed; /* by CLOCK_MONOTONIC */
};

/* To be finished also if it failed.  0 or -errno. */
int watch_init(struct watch *watch, const struct monitor_options *options);
void watch_finish(struct watch *watch);

/* Takes the lock and puts everything into the ring that the kernel has reported before. */
void watch_lock(struct watch *watch);
void watch_unlock(struct watch *watch);

/* Whether who is in scope is told by others than those who touch: a command of ours, all of whose
 * processes are heard of. */
bool watch_is_closed(const struct watch *watch);

/* A condition whose time-outs are on the clock of base/clock.h. */
void watch_init_condition(pthread_cond_t *condition);

/* With the lock, which is released meanwhile.  False when that time has come. */
bool watch_wait(struct watch *watch, pthread_cond_t *condition, int64_t until_ns);

#endif
