/* SPDX-License-Identifier: MIT */
#ifndef DB_RING_H
#define DB_RING_H

/*
 * The queue between the threads that observe and the one that writes: bounded, many producers,
 * one consumer.  A push is a copy of 128 bytes under a lock that is held for no more than that;
 * only a full ring makes a producer wait - or, if the ring was made to drop, lose the event, which
 * is counted.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event;
struct ring;

/* slots: a power of two.  drop: lose rather than wait.  0 or -ENOMEM. */
int ring_create(size_t slots, bool drop, struct ring **ret_ring);
void ring_destroy(struct ring *ring);

/*
 * Appends event with its text (copied; may be NULL with text_len 0).  Any thread.  Text that does
 * not fit in the event travels in pieces right in front of it.
 */
void ring_push(struct ring *ring, const struct event *event, const void *text, size_t text_len);

/* Takes up to max events out, in order of their arrival; the number taken.  One thread only. */
size_t ring_drain(struct ring *ring, struct event *events, size_t max);

/* Whether it is time to empty it; whether it is high time. */
bool ring_is_filling(const struct ring *ring);
bool ring_is_half_full(const struct ring *ring);

/* Events that were lost because the ring was full. */
uint64_t ring_lost(const struct ring *ring);

/* Nanoseconds that producers have waited for room, all together. */
uint64_t ring_waited_ns(const struct ring *ring);

#endif
