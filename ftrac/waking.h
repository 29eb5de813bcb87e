/* SPDX-License-Identifier: MIT */
#ifndef FTRAC_WAKING_H
#define FTRAC_WAKING_H

/*
 * System calls that may wait for long, in threads of their own: each is left ten times a second (EINTR), so that
 * the thread can see whether its result is still wanted.  A single signal could come just before the call begins.
 */

#include <pthread.h>
#include <stdbool.h>
#include <time.h>

/* For the process, once or more. */
void waking_init(void);

/* Starts a detached thread that blocks all other signals.  0 or -errno. */
int waking_thread(void *(*function)(void *arg), void *arg);

/* By such a thread, around its calls.  False: there is no timer. */
bool waking_begin(timer_t *ret_timer);
void waking_end(timer_t timer);

#endif
