/* SPDX-License-Identifier: MIT */
#ifndef PROCMON_WATCH_H
#define PROCMON_WATCH_H

/*
 * The state that all parts of the monitor share, and its only lock. The lock covers the scope, the
 * connector and the pushes of both; nothing under it blocks without limit. No thread reads /proc
 * with the lock held: see the head of monitor.c.
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
	char *unprivileged; /* see monitor_unprivileged(); only the tracing thread writes it */
	bool command; /* we run a command: only its processes are in scope */
	_Atomic bool begun; /* the command is in scope */
	bool sees_zombies; /* /proc shows the I/O of zombies */
	bool traces; /* ptrace follows the command */
	int tracer_error, connector_error, exits_error;
	_Atomic uint8_t *known; /* scope_known() */
	_Atomic uint64_t lost;

	pthread_mutex_t lock; /* guards the fields below; the pointers themselves do not change */
	struct connector *connector; /* NULL: in band */
	struct exits *exits;	     /* NULL: no exit records */
	struct scope *scope;
	bool repair;	       /* events were lost: /proc has to be searched */
	int64_t quiet_boot_ns; /* everything until then was received, or is in repair */
	struct claim *claims;  /* of discover.c: processes that a thread is reading */
	pthread_cond_t unclaimed; /* uses CLOCK_MONOTONIC */
};

/* The caller calls watch_finish() also after an error. 0 or -errno. */
int watch_init(struct watch *watch, const struct monitor_options *options);
void watch_finish(struct watch *watch);

/* Takes the lock, and pushes everything that the kernel has reported into the ring. */
void watch_lock(struct watch *watch);
void watch_unlock(struct watch *watch);

/*
 * Whether events alone decide what is in scope, not requests: we run a command, and all of its
 * processes are reported.
 */
bool watch_is_closed(const struct watch *watch);

/* Waits for a condition of base/condition.h.  Called with the lock, which is released meanwhile. False after the timeout. */
bool watch_wait(struct watch *watch, pthread_cond_t *condition, int64_t until_ns);

#endif
