/* SPDX-License-Identifier: MIT */
#ifndef BASE_PRIORITY_H
#define BASE_PRIORITY_H

/*
 * Threads that may wait: they run when a processor has nothing else to do (SCHED_IDLE), until they are told to hurry.  Such
 * a thread may hold a lock for long, so a thread that must not wait does not use the same locks.
 *
 * Without CAP_SYS_NICE a thread could not get its priority back, so it keeps it.
 */

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

struct priority {
	_Atomic bool may_wait; /* it can get its priority back */
	bool is_waiting;       /* it has given it up; of the thread itself */
	_Atomic bool hurry;
};

/* The thread itself, once, before priority_wait(). */
void priority_init(struct priority *priority);

/* The thread itself: whether it waits from now on.  Never again after priority_hurry(). */
void priority_wait(struct priority *priority, bool wait);

/* Any thread: gives the thread its priority back, for good. */
void priority_hurry(struct priority *priority, pthread_t thread);

#endif
