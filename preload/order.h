/* SPDX-License-Identifier: MIT */
#ifndef PRELOAD_ORDER_H
#define PRELOAD_ORDER_H

/*
 * Brings the records of operations of all threads into the order of their ends.  Each thread hands them over in its own memory, so those
 * of one pass (drain.h) come in no order.  A record waits until all that ended before it must have come: a thread publishes a record
 * right after the call, unless the scheduler takes its processor away in between.
 *
 * A close counts from its beginning (WIRE_AT_START), and what fclose(3) writes before: another thread may get the descriptor before the call
 * has returned.
 *
 * One thread.
 */

#include <stdint.h>

struct order;
struct wire_record;

/* 0 or -ENOMEM. */
int order_create(struct order **ret_order);
void order_destroy(struct order *order); /* NULL is fine */

/* Keeps copies of both.  text has record->text_len bytes.  0 or -ENOMEM. */
int order_add(struct order *order, const struct wire_record *record, const char *text);

/* Calls put for each record that ended until then, in their order. */
void order_take(struct order *order, int64_t until_ns, void (*put)(void *arg, const struct wire_record *record, char *text), void *arg);

#endif
