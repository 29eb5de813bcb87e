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
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "kernel/queue.h"

/* The kernel wakes us when much has come; what is less waits for this long. */
#define LONGEST_MS 20
/* More than any record has. */
#define RECORD_MOST 16384

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

/* The room that the chunk has, which any record fits into; 0: no memory now. */
static size_t room(struct reader *reader)
{
	if (reader->chunk && CHUNK_BYTES - reader->chunk->len < RECORD_MOST)
		hand_over(reader);
	if (!reader->chunk)
		reader->chunk = queue_chunk(reader->queue);
	return reader->chunk ? CHUNK_BYTES - reader->chunk->len : 0;
}

/* The bytes of a record with what is in front of it and behind it. */
static size_t padded(size_t len)
{
	return (len + BPF_RINGBUF_HDR_SZ + 7) / 8 * 8;
}

/* The bytes of the records that are written and stand one behind the other, at most so many; and their number. */
static size_t written(const struct reader *reader, unsigned long at, size_t most, size_t *ret_records)
{
	const char *start = reader->data + (at & (reader->size - 1));
	size_t size = 0, n = 0;

	most = most < reader->size ? most : reader->size;
	while (size < most) {
		uint32_t len = atomic_load_explicit((const _Atomic uint32_t *)(start + size), memory_order_acquire);
		size_t next = size + padded(len & ~BPF_RINGBUF_DISCARD_BIT);

		if (len & BPF_RINGBUF_BUSY_BIT || next > most)
			break;
		n += !(len & BPF_RINGBUF_DISCARD_BIT);
		size = next;
	}
	*ret_records = n;
	return size;
}

/* Takes what the chunk has room for; the number of bytes. */
static size_t take(struct reader *reader, unsigned long at, size_t available)
{
	size_t free_bytes = room(reader), n, size;

	size = written(reader, at, available < free_bytes ? available : free_bytes, &n);
	if (!size)
		return 0;
	memcpy(reader->chunk->bytes + reader->chunk->len, reader->data + (at & (reader->size - 1)), size);
	reader->chunk->len += size;
	reader->chunk->records += n;
	atomic_fetch_add_explicit(&reader->received, n, memory_order_relaxed);
	return size;
}

static void empty(struct reader *reader)
{
	unsigned long at = atomic_load_explicit(reader->consumed, memory_order_relaxed), end;
	size_t size;

	while (at < (end = atomic_load_explicit(reader->produced, memory_order_acquire))) {
		size = take(reader, at, end - at);
		if (!size)
			return; /* the next record is not written yet, or there is no memory */
		at += size;
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
	bool stop = false, is_woken;

	prctl(PR_SET_NAME, "ftrac-reader");
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
		is_woken = read(reader->wake, &count, sizeof(count)) > 0;
		if (is_woken)
			empty_until(reader, produced);
		else
			empty(reader);
		/* many small chunks would take more memory, and wake the other thread more often */
		if (asked || stop || is_woken || queue_is_empty(reader->queue))
			hand_over(reader);
		/* a record is reserved before the time of its end is taken */
		if (!reader->chunk && atomic_load(reader->consumed) >= produced)
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
	queue_free(reader->chunk);
	pthread_cond_destroy(&reader->answered);
	pthread_mutex_destroy(&reader->lock);
	free(reader);
}

uint64_t reader_received(const struct reader *reader)
{
	return atomic_load(&reader->received);
}
