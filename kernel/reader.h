/* SPDX-License-Identifier: MIT */
#ifndef KERNEL_READER_H
#define KERNEL_READER_H

/*
 * The thread that empties the kernel's ring buffer into a queue of chunks.  It has a high priority if that is allowed,
 * because what it does not take in time is dropped, and does nothing else.  A chunk has records one after the other, each
 * behind a struct reader_record.
 */

#include <stddef.h>
#include <stdint.h>

struct queue;
struct reader;

/* In front of each record, as the kernel has it; the bytes of the record are padded to a multiple of 8. */
struct reader_record {
	uint32_t len; /* with READER_DISCARDED, if the record is not to be used */
	uint32_t unused;
};

#define READER_DISCARDED (UINT32_C(1) << 30)

/* ring: descriptor of the BPF map, which the caller keeps open; size_bytes: its size.  0 or -errno. */
int reader_start(int ring, size_t size_bytes, struct queue *queue, struct reader **ret_reader);

/* Has the ring buffer emptied now, and does not wait for that.  Any thread. */
void reader_wake(struct reader *reader);

/* When it returns, all that was in the ring buffer before the call is in the queue.  Any thread. */
void reader_sync(struct reader *reader);

/* Empties the ring buffer once more and ends the thread.  Then all records are in the queue. */
void reader_stop(struct reader *reader);

/* Calls reader_stop() if needed, and frees.  NULL is fine. */
void reader_destroy(struct reader *reader);

uint64_t reader_received(const struct reader *reader);

#endif
