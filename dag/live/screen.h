/* SPDX-License-Identifier: MIT */
#ifndef DAG_LIVE_SCREEN_H
#define DAG_LIVE_SCREEN_H

/*
 * The terminal: shows the panels, and takes keys, until the user quits.  However it ends, the terminal is as it was: also by a
 * signal, and after a crash.
 */

struct failure;
struct live_show;
struct watcher;

/* Until the user quits, or show->is_over(), or a signal: see live.h; the path and so on are those of the watcher.  0; the number of the
 * signal, which the caller may raise again; or -errno. */
int screen_run(struct watcher *watcher, const struct live_show *show, struct failure *failure);

#endif
