/* SPDX-License-Identifier: MIT */
#ifndef DAG_LIVE_SCREEN_H
#define DAG_LIVE_SCREEN_H

/*
 * The terminal: shows the panels, and takes keys, until the user quits.  However it ends, the terminal is as it was: also by a
 * signal that ends the program, and after a crash.
 */

struct watcher;

/* The exit status, after an error was printed. */
int screen_run(struct watcher *watcher);

#endif
