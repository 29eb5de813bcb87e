/* SPDX-License-Identifier: MIT */
#ifndef DB_SYNCER_H
#define DB_SYNCER_H

/*
 * A thread that calls a function each time it is asked to.  The function may wait for room in the ring, for example
 * because it needs a lock whose owner pushes an event.  So the writer, which makes that room, never calls it itself.
 *
 * Threads: one thread calls ask, wait and destroy.
 */

#include <stdbool.h>
#include <stdint.h>

struct syncer;

/* 0 or -errno. */
int syncer_start(void (*sync)(void *arg), void *arg, struct syncer **ret_syncer);

/* A call that begins after this one is due; a call that is going on does not count. */
void syncer_ask(struct syncer *syncer);

/* Whether all that was asked for has returned, by this time of base/clock.h at the latest. */
bool syncer_wait(struct syncer *syncer, int64_t until_ns);

/* Waits for the end of a call that is going on.  NULL is fine. */
void syncer_destroy(struct syncer *syncer);

#endif
