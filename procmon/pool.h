/* SPDX-License-Identifier: MIT */
#ifndef PROCMON_POOL_H
#define PROCMON_POOL_H

/*
 * The threads of the monitor: one of them waits at the connector's socket, the others read /proc
 * or have nothing to do.  One that does not come back from /proc is replaced when somebody has
 * waited for it in vain.
 */

#include <stdbool.h>
#include <sys/types.h>

struct pool;
struct watch;

/* 0 or -errno. */
int pool_create(struct watch *watch, struct pool **ret_pool);

/*
 * Ends the threads when they have read what there is to be read.  Whether all came back: if
 * not, pool and watch are still in use and must be left as they are.
 */
bool pool_stop(struct pool *pool);

/* After pool_stop() was true. */
void pool_destroy(struct pool *pool);

/* With the watch's lock: there may be something to look at. */
void pool_wake(struct pool *pool);

/*
 * With the watch's lock, which is released on the way: has tid looked at, so that the writer
 * knows it, and waits until then - a moment at most, and not at all if somebody has waited for
 * the same in vain.
 */
void pool_discover(struct pool *pool, pid_t tid);

#endif
