/* SPDX-License-Identifier: MIT */
#ifndef DAG_LIVE_SCREEN_H
#define DAG_LIVE_SCREEN_H

/*
 * The terminal: shows the panels, and takes keys, until the user quits.  However it ends, the terminal is as it was: also by a
 * signal, and after a crash.
 */

#include <stdbool.h>

struct watcher;

struct failure;

/* Until the user quits, or is_over(arg), which may be NULL.  0; the number of a signal that ended it, which the caller may raise again;
 * or -errno. */
int screen_run(struct watcher *watcher, bool (*is_over)(void *arg), void *arg, struct failure *failure);

#endif
