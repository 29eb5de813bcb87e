/* SPDX-License-Identifier: MIT */
#ifndef DB_CALLS_H
#define DB_CALLS_H

/*
 * Joins the requests of one read or write again: the kernel splits large calls.
 *
 * A FUSE request has at most max_pages pages (256), so a call of 1 MiB from a buffer that does not begin at a page is two
 * requests.  Sizes do not tell such pieces from separate calls, so with each large request the producer passes the length
 * of the thread's call (struct event_op, 'call').  During a call its thread makes no other request.  The next request of
 * the thread is therefore the next piece, or the call was interrupted.
 *
 * The joined operation has start, offset and file of the first piece, the length of the call, the sum of the results, and
 * the time from the start of the first piece to the end of the last.  If a later piece fails, the call returns what was
 * moved before; so does the joined operation.
 *
 * One thread.  Memory: 150 bytes for each incomplete call, at most CALLS_MOST.  If there is one more, the oldest one is
 * returned as far as it is known.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct calls;
struct event;

#define CALLS_MOST 256

int calls_create(struct calls **ret_calls); /* 0 or -ENOMEM */
void calls_destroy(struct calls *calls);    /* NULL is fine */

/* What calls_take() did with an event. */
enum calls_result {
	CALLS_PASS, /* the caller records it; a read or write now has the length of its call and its number of pieces */
	CALLS_KEPT  /* a piece; more will come */
};

/* Call it for each operation in order, after calls_take_interrupted().  Sets 'pieces' of a read or write (struct
 * event_op). */
enum calls_result calls_take(struct calls *calls, struct event *event);

/*
 * Takes out a call that this operation shows to be interrupted: an operation of the same thread that is not the next
 * piece, the release of its handle, an operation that began after the end of the thread; or a call for which there is no
 * room any more.  Page faults do not count: the buffer of the call may be a mapping.  False if there is none.  Call it
 * until it returns false.
 */
bool calls_take_interrupted(struct calls *calls, const struct event *event, struct event *ret_event);

/* The thread ended at that time.  Pieces that began before may still come. */
void calls_end(struct calls *calls, int32_t tid, int64_t time_ns);

/* At the end of the run: takes out one incomplete call.  False if there is none. */
bool calls_take_remaining(struct calls *calls, struct event *ret_event);

#endif
