/* SPDX-License-Identifier: MIT */
#ifndef FTRAC_WAKING_H
#define FTRAC_WAKING_H

/*
 * System calls that may block for long, each in a separate thread, and how another thread ends
 * them. To stop one, its thread is interrupted a hundred times a second (EINTR) until it has
 * finished: a single signal could arrive just before the call begins.
 */

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

struct waking {
	pthread_mutex_t lock;
	_Atomic bool is_stopped;
	bool is_waiting; /* its timer exists */
	timer_t timer;
};

/* Called before the thread starts. */
void waking_init(struct waking *waking);

/* Starts a detached thread that blocks all other signals.  0 or -errno. */
int waking_thread(void *(*function)(void *arg), void *arg);

/* Called by that thread, around its system calls. False: no timer can be made. */
bool waking_begin(struct waking *waking);
void waking_end(struct waking *waking);

/* By any thread, while *waking exists. */
void waking_stop(struct waking *waking);

#endif
