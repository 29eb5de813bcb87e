/* SPDX-License-Identifier: MIT */
#ifndef FTRAC_WAKING_H
#define FTRAC_WAKING_H

/*
 * System calls that may wait for long, each in a thread of its own, and how another thread ends them.  Stopped, the
 * call is interrupted a hundred times a second (EINTR) until the thread is through: a single signal could come just
 * before the call begins.
 */

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

struct waking {
	pthread_mutex_t lock;
	_Atomic bool is_stopped;
	bool is_waiting; /* there is a timer */
	timer_t timer;
};

/* Before the thread is started. */
void waking_init(struct waking *waking);

/* Starts a detached thread that blocks all other signals.  0 or -errno. */
int waking_thread(void *(*function)(void *arg), void *arg);

/* By that thread, around its calls.  False: there is no timer to be had. */
bool waking_begin(struct waking *waking);
void waking_end(struct waking *waking);

/* By any thread, while *waking is there. */
void waking_stop(struct waking *waking);

#endif
