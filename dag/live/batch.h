/* SPDX-License-Identifier: MIT */
#ifndef DAG_LIVE_BATCH_H
#define DAG_LIVE_BATCH_H

/* Plain lines: all panels after each look, until the run ends. */

struct watcher;

/* count: of looks; 0: without limit.  The exit status, after an error was printed. */
int batch_run(struct watcher *watcher, int count);

#endif
