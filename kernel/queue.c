/* SPDX-License-Identifier: MIT */
#include "kernel/queue.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/condition.h"
#include "base/vector.h"

#define SPARE_MOST 16 /* whose memory is kept */

struct queue {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	pthread_cond_t hurried; /* closed, or awaited */
	struct chunk *first, **last;
	struct chunk *spare; /* that are used again */
	int n_spare;
	bool closed;
	int awaited; /* threads in queue_wait() */
	size_t memory, memory_most;
	uint64_t put, done; /* chunks */
	uint64_t bytes, spooled;
	struct chunk *newest; /* that was put and is not done; NULL: all are */
	int64_t done_until_ns;
	const char *directory;
	int fd; /* of the file; -1: not made yet */
	int64_t *free_slots;
	size_t n_free;
	int64_t slots;
};

/* The thread that puts has a high priority: it must not wait behind others for the one that takes. */
static void init_lock(pthread_mutex_t *lock)
{
	pthread_mutexattr_t attributes;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(lock, &attributes);
	pthread_mutexattr_destroy(&attributes);
}

int queue_create(size_t memory_bytes, const char *directory, struct queue **ret_queue)
{
	struct queue *queue = calloc(1, sizeof(*queue));

	if (!queue)
		return -ENOMEM;
	init_lock(&queue->lock);
	pthread_cond_init(&queue->changed, NULL);
	condition_init(&queue->hurried);
	queue->last = &queue->first;
	queue->memory_most = memory_bytes;
	queue->directory = directory;
	queue->fd = -1;
	queue->done_until_ns = INT64_MIN;
	*ret_queue = queue;
	return 0;
}

/* ---- memory ---- */

/*
 * The memory of chunks is mapped, and stays mapped when it is given back: the locks of malloc(3) and of the memory map do
 * not know priorities, and the thread that takes may hold them while it waits for a processor.
 */
static int map(struct chunk *chunk)
{
	char *bytes = mmap(NULL, CHUNK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (bytes == MAP_FAILED)
		return -errno;
	chunk->bytes = bytes;
	return 0;
}

static void unmap(struct chunk *chunk)
{
	if (chunk->bytes)
		munmap(steal_ptr(&chunk->bytes), CHUNK_BYTES);
}

void queue_free(struct chunk *chunk)
{
	while (chunk) {
		struct chunk *next = chunk->next;

		unmap(chunk);
		free(chunk);
		chunk = next;
	}
}

void queue_destroy(struct queue *queue)
{
	if (!queue)
		return;
	queue_free(queue->first);
	queue_free(queue->spare);
	free(queue->free_slots);
	if (queue->fd >= 0)
		close(queue->fd);
	pthread_cond_destroy(&queue->changed);
	pthread_cond_destroy(&queue->hurried);
	pthread_mutex_destroy(&queue->lock);
	free(queue);
}

/* ---- chunks ---- */

static struct chunk *take_spare(struct queue *queue)
{
	struct chunk *chunk;

	pthread_mutex_lock(&queue->lock);
	chunk = queue->spare;
	if (chunk) {
		queue->spare = chunk->next;
		queue->n_spare--;
	}
	pthread_mutex_unlock(&queue->lock);
	return chunk;
}

static struct chunk *new_chunk(void)
{
	struct chunk *chunk = calloc(1, sizeof(*chunk));

	if (!chunk)
		return NULL;
	if (map(chunk) == 0)
		return chunk;
	free(chunk);
	return NULL;
}

struct chunk *queue_chunk(struct queue *queue)
{
	struct chunk *chunk = take_spare(queue);

	if (!chunk)
		chunk = new_chunk();
	if (chunk) {
		chunk->next = NULL;
		chunk->len = chunk->records = 0;
		chunk->is_lost = false;
		chunk->slot = -1;
		chunk->until_ns = INT64_MIN;
	}
	return chunk;
}

/* The memory of chunks beyond some; the address space is kept. */
static void give_back(struct queue *queue, struct chunk *chunk)
{
	bool enough;

	pthread_mutex_lock(&queue->lock);
	enough = queue->n_spare >= SPARE_MOST;
	pthread_mutex_unlock(&queue->lock);
	if (enough && chunk->bytes)
		madvise(chunk->bytes, CHUNK_BYTES, MADV_DONTNEED);
}

/* Called with the lock. */
static void put_back(struct queue *queue, struct chunk *chunk)
{
	if (!chunk->bytes) {
		free(chunk);
		return;
	}
	chunk->next = queue->spare;
	queue->spare = chunk;
	queue->n_spare++;
}

/* ---- the file ---- */

static int make_file(struct queue *queue)
{
	if (queue->fd < 0)
		queue->fd = open(queue->directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	return queue->fd < 0 ? -errno : 0;
}

/* Moves all of the bytes into the file, or out of it. */
static int move(int fd, char *bytes, size_t len, off_t at, bool out)
{
	while (len) {
		ssize_t n = out ? pread(fd, bytes, len, at) : pwrite(fd, bytes, len, at);

		if (n == 0)
			return -EIO;
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0) {
			bytes += n;
			len -= n;
			at += n;
		}
	}
	return 0;
}

/* Moves the bytes of a chunk into the file. */
static int spool(struct queue *queue, struct chunk *chunk)
{
	int64_t slot;
	int r = make_file(queue);

	if (r < 0)
		return r;
	slot = queue->n_free ? queue->free_slots[queue->n_free - 1] : queue->slots;
	r = move(queue->fd, chunk->bytes, chunk->len, slot * (off_t)CHUNK_BYTES, false);
	if (r < 0)
		return r;
	if (queue->n_free)
		queue->n_free--;
	else
		queue->slots++;
	chunk->slot = slot;
	unmap(chunk);
	queue->spooled += chunk->len;
	return 0;
}

/* Called without the lock: a chunk that was taken is not changed by others. */
static int fetch(struct queue *queue, struct chunk *chunk)
{
	if (map(chunk) < 0)
		return -ENOMEM;
	return move(queue->fd, chunk->bytes, chunk->len, chunk->slot * (off_t)CHUNK_BYTES, true);
}

/* ---- the queue ---- */

/* Called with the lock.  Memory of a chunk counts as whole, also if little of it is used. */
static void make_room(struct queue *queue, struct chunk *chunk)
{
	if (queue->memory + CHUNK_BYTES > queue->memory_most && spool(queue, chunk) == 0)
		return;
	while (queue->memory + CHUNK_BYTES > queue->memory_most && queue->memory)
		pthread_cond_wait(&queue->changed, &queue->lock);
	queue->memory += CHUNK_BYTES;
}

void queue_put(struct queue *queue, struct chunk *chunk)
{
	pthread_mutex_lock(&queue->lock);
	make_room(queue, chunk);
	chunk->next = NULL;
	*queue->last = chunk;
	queue->last = &chunk->next;
	queue->newest = chunk;
	queue->put++;
	queue->bytes += chunk->len;
	pthread_cond_broadcast(&queue->changed);
	pthread_mutex_unlock(&queue->lock);
}

bool queue_is_empty(struct queue *queue)
{
	bool is_empty;

	pthread_mutex_lock(&queue->lock);
	is_empty = !queue->first;
	pthread_mutex_unlock(&queue->lock);
	return is_empty;
}

void queue_close(struct queue *queue)
{
	pthread_mutex_lock(&queue->lock);
	queue->closed = true;
	pthread_cond_broadcast(&queue->changed);
	pthread_cond_broadcast(&queue->hurried);
	pthread_mutex_unlock(&queue->lock);
}

struct chunk *queue_take(struct queue *queue)
{
	struct chunk *chunk;

	pthread_mutex_lock(&queue->lock);
	while (!queue->first && !queue->closed)
		pthread_cond_wait(&queue->changed, &queue->lock);
	chunk = queue->first;
	if (chunk) {
		queue->first = chunk->next;
		if (!queue->first)
			queue->last = &queue->first;
	}
	pthread_mutex_unlock(&queue->lock);
	if (chunk && chunk->slot >= 0)
		chunk->is_lost = fetch(queue, chunk) < 0;
	return chunk;
}

void queue_done(struct queue *queue, struct chunk *chunk)
{
	give_back(queue, chunk);
	pthread_mutex_lock(&queue->lock);
	if (chunk->slot < 0)
		queue->memory -= CHUNK_BYTES;
	else
		vector_push(queue->free_slots, queue->n_free, chunk->slot);
	queue->bytes -= chunk->len;
	queue->done++;
	if (chunk->until_ns > queue->done_until_ns)
		queue->done_until_ns = chunk->until_ns;
	if (queue->newest == chunk)
		queue->newest = NULL;
	put_back(queue, chunk);
	pthread_cond_broadcast(&queue->changed);
	pthread_mutex_unlock(&queue->lock);
}

bool queue_pause(struct queue *queue, int ms)
{
	int64_t until_ns = clock_now_ns() + ms * INT64_C(1000000);
	bool is_over = false;

	pthread_mutex_lock(&queue->lock);
	while (!is_over && !queue->closed && !queue->awaited)
		is_over = !condition_wait(&queue->hurried, &queue->lock, until_ns);
	pthread_mutex_unlock(&queue->lock);
	return is_over;
}

void queue_wait(struct queue *queue)
{
	uint64_t put;

	pthread_mutex_lock(&queue->lock);
	queue->awaited++;
	pthread_cond_broadcast(&queue->hurried);
	put = queue->put;
	while (queue->done < put)
		pthread_cond_wait(&queue->changed, &queue->lock);
	queue->awaited--;
	pthread_mutex_unlock(&queue->lock);
}

void queue_mark(struct queue *queue, int64_t time_ns)
{
	pthread_mutex_lock(&queue->lock);
	if (queue->newest)
		queue->newest->until_ns = time_ns;
	else
		queue->done_until_ns = time_ns;
	pthread_mutex_unlock(&queue->lock);
}

int64_t queue_done_until(struct queue *queue)
{
	int64_t done_until_ns;

	pthread_mutex_lock(&queue->lock);
	done_until_ns = queue->done_until_ns;
	pthread_mutex_unlock(&queue->lock);
	return done_until_ns;
}

uint64_t queue_bytes(struct queue *queue)
{
	uint64_t bytes;

	pthread_mutex_lock(&queue->lock);
	bytes = queue->bytes;
	pthread_mutex_unlock(&queue->lock);
	return bytes;
}

uint64_t queue_spooled(struct queue *queue)
{
	uint64_t bytes;

	pthread_mutex_lock(&queue->lock);
	bytes = queue->spooled;
	pthread_mutex_unlock(&queue->lock);
	return bytes;
}
