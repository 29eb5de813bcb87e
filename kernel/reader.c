/* SPDX-License-Identifier: MIT */
#include "kernel/reader.h"

#include <errno.h>
#include <linux/bpf.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "kernel/queue.h"

/* The kernel wakes us when much has come; what is less waits for this long. */
#define LONGEST_MS 20

/*
 * The kernel's ring buffer, as it shows it to user space: a page with the position up to which we have read, a page with
 * that up to which records were reserved, and the data, twice in a row, so that no record is cut.  A record has a length,
 * with bits for "not written yet" and "given up", and another 32 bits in front of it.
 */
struct reader {
	struct queue *queue;
	size_t size, page;
	_Atomic unsigned long *consumed;
	const _Atomic unsigned long *produced;
	const char *data;
	int epoll, wake;
	pthread_t thread;
	bool running;
	_Atomic bool stop;
	struct chunk *chunk;
	_Atomic uint64_t received;
	pthread_mutex_t lock;
	pthread_cond_t answered;
	uint64_t asked, answers; /* of reader_sync() */
};

/* ---- the ring buffer ---- */

static int map_ring(struct reader *reader, int ring)
{
	void *ours, *kernels;

	reader->page = sysconf(_SC_PAGESIZE);
	ours = mmap(NULL, reader->page, PROT_READ | PROT_WRITE, MAP_SHARED, ring, 0);
	if (ours == MAP_FAILED)
		return -errno;
	reader->consumed = ours;
	kernels = mmap(NULL, reader->page + 2 * reader->size, PROT_READ, MAP_SHARED, ring, reader->page);
	if (kernels == MAP_FAILED)
		return -errno;
	reader->produced = kernels;
	reader->data = (const char *)kernels + reader->page;
	return 0;
}

static void unmap_ring(struct reader *reader)
{
	if (reader->consumed)
		munmap((void *)reader->consumed, reader->page);
	if (reader->produced)
		munmap((void *)reader->produced, reader->page + 2 * reader->size);
}

static void hand_over(struct reader *reader)
{
	if (reader->chunk && reader->chunk->len)
		queue_put(reader->queue, steal_ptr(&reader->chunk));
}

/* Room for a record in the chunk; NULL: no memory now. */
static char *room(struct reader *reader, size_t size)
{
	if (reader->chunk && reader->chunk->len + size > CHUNK_BYTES)
		hand_over(reader);
	if (!reader->chunk)
		reader->chunk = queue_chunk(reader->queue);
	return reader->chunk ? reader->chunk->bytes + reader->chunk->len : NULL;
}

/* The bytes of a record with what is in front of it and behind it. */
static size_t padded(size_t len)
{
	return (len + BPF_RINGBUF_HDR_SZ + 7) / 8 * 8;
}

static bool keep(struct reader *reader, const char *record, uint32_t len)
{
	size_t size = padded(len);
	char *to = room(reader, size);

	if (!to)
		return false;
	*(struct reader_record *)to = (struct reader_record){ .len = len };
	memcpy(to + sizeof(struct reader_record), record, len);
	reader->chunk->len += size;
	reader->chunk->records++;
	atomic_fetch_add_explicit(&reader->received, 1, memory_order_relaxed);
	return true;
}

/* Takes the record at a position; the next position, or the same: it is not written yet, or there is no memory. */
static unsigned long take(struct reader *reader, unsigned long at)
{
	const char *start = reader->data + (at & (reader->size - 1));
	uint32_t len = atomic_load_explicit((const _Atomic uint32_t *)start, memory_order_acquire);
	bool given_up = len & BPF_RINGBUF_DISCARD_BIT;

	if (len & BPF_RINGBUF_BUSY_BIT)
		return at;
	len &= ~BPF_RINGBUF_DISCARD_BIT;
	if (!given_up && !keep(reader, start + BPF_RINGBUF_HDR_SZ, len))
		return at;
	return at + padded(len);
}

static void empty(struct reader *reader)
{
	unsigned long at = atomic_load_explicit(reader->consumed, memory_order_relaxed), next;

	while (at < atomic_load_explicit(reader->produced, memory_order_acquire)) {
		next = take(reader, at);
		if (next == at)
			break;
		at = next;
		atomic_store_explicit(reader->consumed, at, memory_order_release);
	}
}

/* ---- the thread ---- */

static void want_priority(void)
{
	struct sched_param first = { .sched_priority = 1 };

	if (pthread_setschedparam(pthread_self(), SCHED_FIFO | SCHED_RESET_ON_FORK, &first) != 0)
		setpriority(PRIO_PROCESS, syscall(SYS_gettid), -20);
}

static void answer(struct reader *reader, uint64_t asked)
{
	pthread_mutex_lock(&reader->lock);
	reader->answers = asked;
	pthread_cond_broadcast(&reader->answered);
	pthread_mutex_unlock(&reader->lock);
}

static uint64_t questions(struct reader *reader)
{
	uint64_t asked;

	pthread_mutex_lock(&reader->lock);
	asked = reader->asked;
	pthread_mutex_unlock(&reader->lock);
	return asked;
}

/* A program in the kernel may be about to finish a record that was reserved before. */
static void empty_until(struct reader *reader, unsigned long position)
{
	for (int i = 0; i < 1000; i++) {
		empty(reader);
		if (atomic_load(reader->consumed) >= position)
			return;
		usleep(100);
	}
}

static void *read_ring(void *arg)
{
	struct reader *reader = arg;
	struct epoll_event events[2];
	bool stop = false;

	want_priority();
	while (!stop) {
		unsigned long produced;
		uint64_t asked, count;
		int64_t now;

		epoll_wait(reader->epoll, events, 2, LONGEST_MS);
		stop = atomic_load(&reader->stop);
		asked = questions(reader);
		now = clock_now_ns();
		produced = atomic_load(reader->produced);
		if (read(reader->wake, &count, sizeof(count)) > 0)
			empty_until(reader, produced);
		else
			empty(reader);
		hand_over(reader);
		/* a record is reserved before the time of its end is taken */
		if (atomic_load(reader->consumed) >= produced)
			queue_mark(reader->queue, now);
		if (asked)
			answer(reader, asked);
	}
	return NULL;
}

static int watch(int epoll, int fd, uint32_t how)
{
	struct epoll_event event = { .events = EPOLLIN | how, .data.fd = fd };

	return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

/* Edge-triggered: only a wake-up counts, not that there is something. */
static int open_events(struct reader *reader, int ring)
{
	int r;

	reader->epoll = epoll_create1(EPOLL_CLOEXEC);
	reader->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (reader->epoll < 0 || reader->wake < 0)
		return -errno;
	r = watch(reader->epoll, ring, EPOLLET);
	return r < 0 ? r : watch(reader->epoll, reader->wake, 0);
}

static int start_thread(struct reader *reader)
{
	sigset_t all, before;
	int r;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(&reader->thread, NULL, read_ring, reader);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	reader->running = r == 0;
	return -r;
}

int reader_start(int ring, size_t size_bytes, struct queue *queue, struct reader **ret_reader)
{
	struct reader *reader = calloc(1, sizeof(*reader));
	int r;

	if (!reader)
		return -ENOMEM;
	reader->queue = queue;
	reader->size = size_bytes;
	reader->epoll = reader->wake = -1;
	pthread_mutex_init(&reader->lock, NULL);
	pthread_cond_init(&reader->answered, NULL);
	r = map_ring(reader, ring);
	if (r == 0)
		r = open_events(reader, ring);
	if (r == 0)
		r = start_thread(reader);
	if (r < 0) {
		reader_destroy(reader);
		return r;
	}
	*ret_reader = reader;
	return 0;
}

void reader_wake(struct reader *reader)
{
	uint64_t one = 1;
	ssize_t n = write(reader->wake, &one, sizeof(one));

	(void)n;
}

void reader_sync(struct reader *reader)
{
	uint64_t mine;

	if (!reader->running)
		return;
	pthread_mutex_lock(&reader->lock);
	mine = ++reader->asked;
	reader_wake(reader);
	while (reader->answers < mine)
		pthread_cond_wait(&reader->answered, &reader->lock);
	pthread_mutex_unlock(&reader->lock);
}

void reader_stop(struct reader *reader)
{
	if (!reader->running)
		return;
	atomic_store(&reader->stop, true);
	reader_wake(reader);
	pthread_join(reader->thread, NULL);
	reader->running = false;
}

void reader_destroy(struct reader *reader)
{
	if (!reader)
		return;
	reader_stop(reader);
	unmap_ring(reader);
	if (reader->epoll >= 0)
		close(reader->epoll);
	if (reader->wake >= 0)
		close(reader->wake);
	if (reader->chunk) {
		free(reader->chunk->bytes);
		free(reader->chunk);
	}
	pthread_cond_destroy(&reader->answered);
	pthread_mutex_destroy(&reader->lock);
	free(reader);
}

uint64_t reader_received(const struct reader *reader)
{
	return atomic_load(&reader->received);
}
