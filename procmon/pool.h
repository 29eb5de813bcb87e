/* SPDX-License-Identifier: MIT */
#ifndef PROCMON_POOL_H
#define PROCMON_POOL_H

/*
 * The threads of the monitor. One waits at the connector's socket; the others read /proc or are
 * idle. When a request times out because a thread is stuck in /proc, the pool starts another
 * thread.
 */

#include <stdbool.h>
#include <sys/types.h>

struct pool;
struct watch;

/* 0 or -errno. */
int pool_create(struct watch *watch, struct pool **ret_pool);

/*
 * Ends the threads after they have read what is still wanted. Returns whether all ended: if not, a
 * thread still uses pool and watch, and the caller must not free them.
 */
bool pool_stop(struct pool *pool);

/* Only after pool_stop() returned true. */
void pool_destroy(struct pool *pool);

/* Called with the watch's lock: wakes a thread if there is something to read. */
void pool_wake(struct pool *pool);

/*
 * Called with the watch's lock, which it releases meanwhile: has a pool thread discover tid, and
 * waits until the writer knows it. Waits for a tenth of a second at most, and not at all if an
 * earlier request for the same thread timed out.
 */
void pool_discover(struct pool *pool, pid_t tid);

#endif
