/* SPDX-License-Identifier: MIT */
#ifndef PRELOAD_DRAIN_H
#define PRELOAD_DRAIN_H

/*
 * Reads the calls out of the memory (wire.h) and pushes them into the ring.  It trusts nothing there: lengths, states and codes are
 * checked, and a chunk with a wrong record is given up, up to where it is filled.
 *
 * One thread at a time calls create, pass and destroy.
 */

#include <stdbool.h>
#include <stdint.h>

struct drain;
struct ring;
struct wire_header;

/* The caller keeps the memory.  0 or -ENOMEM. */
int drain_create(struct wire_header *header, struct drain **ret_drain);
void drain_destroy(struct drain *drain);

/*
 * Takes what is published; last: and tells the programs that the record is over.  The number of records; -EIO: the file has
 * been cut off, and no further pass is possible.
 */
int drain_pass(struct drain *drain, struct ring *ring, bool last);

/* After the last pass: operations that still wait for others become events.  Not after -EIO. */
void drain_end(struct drain *drain);

/* As of the last pass: calls that became events, records that did not, and how long threads have waited for room.  Any
 * thread. */
uint64_t drain_taken(const struct drain *drain);
uint64_t drain_operations(const struct drain *drain);
uint64_t drain_lost(const struct drain *drain);
uint64_t drain_waited_ns(const struct drain *drain);

#endif
