/* SPDX-License-Identifier: MIT */
#ifndef PRELOAD_LEFT_H
#define PRELOAD_LEFT_H

/*
 * The sums of calls that threads have left in the memory (wire.h): of those that have ended or go on with another block, and at the end of
 * the record of all.  Like drain.h it trusts nothing there.
 */

#include <stdbool.h>
#include <stdint.h>

struct left;
struct wire_header;
struct wire_record;

/* The caller keeps the memory.  0 or -ENOMEM. */
int left_create(struct wire_header *header, struct left **ret_left);
void left_destroy(struct left *left);

/* The sum of that place (struct layer_sum) was read as a record: it is not left any more. */
void left_note(struct left *left, uint64_t place, const struct wire_record *record);

/*
 * After the records of a pass.  last: of all threads, else of those that have ended.  A thread that has ended without saying so is
 * noticed when half of the blocks are used.  Calls put for each sum, and returns their number.
 */
int left_take(struct left *left, bool last, void (*put)(void *arg, const struct wire_record *record, const char *text), void *arg);

#endif
