/* SPDX-License-Identifier: MIT */
#ifndef DB_CALLS_H
#define DB_CALLS_H

/*
 * Reads and writes whose call the kernel has cut into several requests become one operation again.
 *
 * FUSE sends at most max_pages pages (256) in one request, so a call of 1 MiB from a buffer that does not begin at
 * a page is two requests.  The sizes do not tell such pieces from calls of their own: the producer says with each
 * large request how many bytes the call of the thread asks for (struct event_op, 'other').  While a call goes on, its
 * thread can make no other request of its own, so the next request of the thread is the next piece, or the call
 * was broken off.
 *
 * The whole has the start, the offset and the file of the first piece, the length of the call, the sum of the results,
 * and the time from the start of the first piece to the end of the last one.  If a later piece fails, the call has
 * returned what was moved before, and so does the whole.
 *
 * One thread.  Memory: 150 bytes for each of at most CALLS_MOST calls that are not complete; one more, and the one that
 * began first is given back as far as it is known.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct calls;
struct event;

#define CALLS_MOST 256

int calls_create(struct calls **ret_calls); /* 0 or -ENOMEM */
void calls_destroy(struct calls *calls);    /* NULL is fine */

/* What became of an event that was given to calls_take(). */
enum calls_result {
	CALLS_PASS, /* the caller handles it as it is now; a read or write has its call's length and its pieces */
	CALLS_KEPT  /* a piece: the rest will come */
};

/* To be asked for each operation, in their order, after calls_take_interrupted().  Changes a read or write: struct event_op,
 * 'pieces'. */
enum calls_result calls_take(struct calls *calls, struct event *event);

/*
 * Takes out a call that was broken off, as that operation shows: another one of the same thread that is not the next
 * piece, the release of its handle, one that began after the thread had ended; or that has no room any more.  A page
 * fault says nothing: the buffer of the call may be a mapping.  False if there is none; several may come, one after
 * the other.
 */
bool calls_take_interrupted(struct calls *calls, const struct event *event, struct event *ret_event);

/* That thread has ended at that time; pieces from before may still come. */
void calls_end(struct calls *calls, int32_t tid, int64_t time_ns);

/* Nothing will come any more: takes out one call that is left.  False if there is none. */
bool calls_take_remaining(struct calls *calls, struct event *ret_event);

#endif
