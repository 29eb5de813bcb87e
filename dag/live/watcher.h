/* SPDX-License-Identifier: MIT */
#ifndef DAG_LIVE_WATCHER_H
#define DAG_LIVE_WATCHER_H

/*
 * Threads that look at a trace now and then, so that the thread with the screen and the keys never waits for a query: one for
 * what is new, one for the phases.  Both have a low priority (nice), and the second one rests nine times as long as it has
 * worked.
 */

#include <stdbool.h>
#include <stdint.h>

#include "dag/live/live.h"

struct estimate;
struct failure;
struct live_one;
struct live_phases;
struct live_state;
struct watcher;

struct watcher_options {
	const char *path;
	unsigned how;	  /* see query_open() */
	struct estimate *like; /* an earlier run; NULL: none.  Not copied */
	int64_t delay_ns; /* from look to look */
	live_waits *waits;
	bool waits_for_phases; /* the first look is made when they are known, too */
};

/* Makes the first look before it returns, so that a trace that cannot be read is an error here.  The options are copied, their
 * path is not. */
int watcher_start(const struct watcher_options *options, struct watcher **ret_watcher, struct failure *failure);
/* Waits for a look that goes on.  NULL is fine. */
void watcher_stop(struct watcher *watcher);

/* The newest state, once; the caller frees it.  NULL: there is none since the last call. */
struct live_state *watcher_take(struct watcher *watcher);
/* The same, after waiting for one.  NULL: there will be none: the run has ended and its last state was taken. */
struct live_state *watcher_wait(struct watcher *watcher);
/* The newest phases, likewise. */
struct live_phases *watcher_take_phases(struct watcher *watcher);
/* After the last state: waits for the phases of that.  NULL: they were taken, or could not be read. */
struct live_phases *watcher_wait_phases(struct watcher *watcher);
/* Has a process looked up, now and after each look, also after the last one; 0: none. */
void watcher_choose(struct watcher *watcher, int64_t process);
/* What was looked up since the last call, once; the caller frees it.  NULL: nothing. */
struct live_one *watcher_take_one(struct watcher *watcher);
/* Why the last look failed, in words, which are copied; false: it did not. */
bool watcher_failure(struct watcher *watcher, char *ret_text, int size);

#endif
