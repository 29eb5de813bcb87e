/* SPDX-License-Identifier: MIT */
#ifndef KERNEL_QUEUE_H
#define KERNEL_QUEUE_H

/*
 * Records on their way from the thread that empties the kernel's ring buffer to the one that makes events of them, in
 * chunks, first in first out.  Chunks beyond the bound are written to a file that has no name.
 *
 * One thread puts, one takes.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CHUNK_BYTES (1 << 20)

struct chunk {
	struct chunk *next;
	size_t len;
	size_t records;
	bool is_lost; /* it could not be read from the file: bytes is NULL */
	int64_t slot; /* place in the file, in chunks; -1: in memory */
	char *bytes;  /* room for CHUNK_BYTES; NULL while in the file */
	int64_t until_ns; /* see queue_mark() */
};

struct queue;

/* 0 or -errno. */
int queue_create(size_t memory_bytes, const char *directory, struct queue **ret_queue);
void queue_destroy(struct queue *queue);

/* An empty chunk, or NULL: no memory. */
struct chunk *queue_chunk(struct queue *queue);
/* Frees a chunk that was not put. */
void queue_free(struct chunk *chunk);

/* Takes the chunk over.  If the file cannot be written, waits until there is room in memory. */
void queue_put(struct queue *queue, struct chunk *chunk);

/* Whether the thread that takes has taken all chunks. */
bool queue_is_empty(struct queue *queue);

/* No chunk will be put any more. */
void queue_close(struct queue *queue);

/* Waits for the next chunk, which queue_done() takes back; NULL: the queue is closed and empty. */
struct chunk *queue_take(struct queue *queue);
void queue_done(struct queue *queue, struct chunk *chunk);

/*
 * The thread that takes: waits for so long.  Returns at once when the queue is closed, or another thread waits in
 * queue_wait().  Whether the time is over.
 */
bool queue_pause(struct queue *queue, int ms);

/* Waits until all chunks that were put before the call are done. */
void queue_wait(struct queue *queue);

/*
 * All that happened until a time has been put.  The time until which all is done, INT64_MIN at the beginning.
 */
void queue_mark(struct queue *queue, int64_t time_ns);
int64_t queue_done_until(struct queue *queue);

uint64_t queue_bytes(struct queue *queue);   /* that are not done */
uint64_t queue_spooled(struct queue *queue); /* that went through the file */

#endif
