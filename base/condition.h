/* SPDX-License-Identifier: MIT */
#ifndef BASE_CONDITION_H
#define BASE_CONDITION_H

/*
 * Conditions of threads whose timeouts use the clock of base/clock.h, so that steps of the wall clock do not change them.
 * pthread_cond_destroy() frees one.
 */

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

static inline void condition_init(pthread_cond_t *condition)
{
	pthread_condattr_t attributes;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(condition, &attributes);
	pthread_condattr_destroy(&attributes);
}

/* Called with the lock, which is released meanwhile.  False after the timeout; true may come without a signal, too. */
static inline bool condition_wait(pthread_cond_t *condition, pthread_mutex_t *lock, int64_t until_ns)
{
	struct timespec until = { .tv_sec = until_ns / 1000000000, .tv_nsec = until_ns % 1000000000 };

	return pthread_cond_timedwait(condition, lock, &until) == 0;
}

#endif
