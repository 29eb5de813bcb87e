/* SPDX-License-Identifier: MIT */
#ifndef DB_RING_H
#define DB_RING_H

/*
 * The queue between the threads that observe and the thread that writes: bounded, many producers, one consumer.  A push
 * copies 128 bytes under a lock, which is held for the copy only.  If the ring is full, a producer waits; in a ring made
 * with drop, it drops and counts the event instead.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event;
struct ring;

/* slots: a power of two.  drop: a full ring drops events, and no producer waits.  0 or -ENOMEM. */
int ring_create(size_t slots, bool drop, struct ring **ret_ring);
void ring_destroy(struct ring *ring);

/*
 * Appends a copy of the event and of its text (NULL if text_len is 0).  Any thread.  Text that does not fit into the event
 * goes in pieces directly in front of it.
 */
void ring_push(struct ring *ring, const struct event *event, const void *text, size_t text_len);

/* Takes up to max events out, in the order of arrival; returns their number.  One thread only. */
size_t ring_drain(struct ring *ring, struct event *events, size_t max);

/* Whether the consumer should empty the ring soon; whether it should at once. */
bool ring_is_filling(const struct ring *ring);
bool ring_is_half_full(const struct ring *ring);

/* The number of events dropped because the ring was full. */
uint64_t ring_lost(const struct ring *ring);

/* Nanoseconds that producers have waited for room, the sum of all. */
uint64_t ring_waited_ns(const struct ring *ring);

#endif
