/* SPDX-License-Identifier: MIT */
#include "kernel/kernel.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/sysmacros.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/failure.h"
#include "base/idle.h"
#include "base/priority.h"
#include "kernel/explain.h"
#include "kernel/load.h"
#include "kernel/queue.h"
#include "kernel/reader.h"
#include "kernel/translate.h"
#include "kernel/wire.h"

#define BUFFER_BYTES (32 << 20)
#define MEMORY_BYTES (256 << 20)

struct kernel {
	struct programs *programs;
	struct queue *queue;
	struct reader *reader;
	struct translate *translate;
	size_t memory_bytes;
	bool is_of_mount;
	struct priority priority; /* of the thread that makes events */
	pthread_t thread;
	bool running;
	_Atomic uint64_t lost; /* records of chunks that could not be read again */
	_Atomic uint64_t failed;
	_Atomic uint64_t counted; /* what kernel_lost() returned last */
	_Atomic bool is_over;
	_Atomic bool is_watched;
};

/* ---- the thread that makes events ---- */

static void translate_chunk(struct kernel *kernel, const struct chunk *chunk)
{
	for (size_t at = 0; at < chunk->len;) {
		const struct reader_record *record = (const void *)(chunk->bytes + at);

		uint32_t len = record->len & ~READER_DISCARDED;

		if (len == record->len)
			translate_record(kernel->translate, record + 1, len);
		at += (sizeof(*record) + len + 7) / 8 * 8;
	}
}

static int translate_device_record(void *arg, const struct wire_device_record *record)
{
	const struct kernel *kernel = arg;

	translate_record(kernel->translate, record, sizeof(*record));
	return 0;
}

/* While all processors are busy, the record waits, as long as it may. */
static void wait_for_processor(struct kernel *kernel, struct idle *idle)
{
	bool goes_on = true;

	while (goes_on && kernel_may_wait(kernel) && !idle_is_free(idle))
		goes_on = queue_pause(kernel->queue, IDLE_WINDOW_MS);
	priority_wait(&kernel->priority, kernel_may_wait(kernel));
}

static void *make_events(void *arg)
{
	struct kernel *kernel = arg;
	struct chunk *chunk;
	struct idle idle;

	prctl(PR_SET_NAME, "ftrac-events");
	priority_init(&kernel->priority);
	priority_wait(&kernel->priority, true);
	idle_init(&idle, kernel->priority.may_wait);
	while ((chunk = queue_take(kernel->queue))) {
		wait_for_processor(kernel, &idle);
		if (chunk->is_lost)
			atomic_fetch_add(&kernel->lost, chunk->records);
		else
			translate_chunk(kernel, chunk);
		atomic_store(&kernel->failed, translate_failed(kernel->translate));
		queue_done(kernel->queue, chunk);
	}
	if (programs_have_devices(kernel->programs))
		programs_each_device(kernel->programs, translate_device_record, kernel);
	atomic_store(&kernel->failed, translate_failed(kernel->translate));
	translate_end(kernel->translate);
	atomic_store(&kernel->is_over, true);
	return NULL;
}

static int start_thread(struct kernel *kernel)
{
	sigset_t all, before;
	int r;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(&kernel->thread, NULL, make_events, kernel);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	kernel->running = r == 0;
	return -r;
}

/* ---- start ---- */

static int prepare(struct kernel *kernel, const struct translate_options *how, size_t memory_bytes, const char *directory)
{
	int r;

	kernel->memory_bytes = memory_bytes ? memory_bytes : MEMORY_BYTES;
	r = queue_create(kernel->memory_bytes, directory ? directory : "/tmp", &kernel->queue);
	return r == 0 ? translate_create(how, &kernel->translate) : r;
}

static int run(struct kernel *kernel)
{
	int r = reader_start(programs_ring(kernel->programs), programs_ring_bytes(kernel->programs), kernel->queue,
		&kernel->reader);

	return r == 0 ? start_thread(kernel) : r;
}

/* The first process, as if the kernel had reported its fork. */
static int introduce(struct kernel *kernel, const struct kernel_options *options)
{
	struct wire_fork first = { .head = { .type = WIRE_FORK, .tid = options->pid, .time_ns = clock_now_ns() },
		.pid = options->pid, .parent = options->parent };

	return translate_record(kernel->translate, &first, sizeof(first));
}

static int run_command(struct kernel *kernel, const struct kernel_options *options)
{
	struct translate_options how = { .ring = options->ring, .each_mount = mountinfo_each, .keep_environ = options->keep_environ,
		.arg = options->arg };
	int r = prepare(kernel, &how, options->memory_bytes, options->directory);

	if (r == 0 && options->pid)
		r = introduce(kernel, options);
	return r == 0 ? run(kernel) : r;
}

static int start(struct kernel *kernel, const struct kernel_options *options, struct failure *failure)
{
	int r = programs_load(options->buffer_bytes ? options->buffer_bytes : BUFFER_BYTES, 0, &kernel->programs, failure);

	if (r == 0 && options->pid)
		r = programs_add(kernel->programs, options->pid, failure);
	if (r < 0)
		return r;
	r = programs_attach(kernel->programs, failure);
	if (r < 0)
		return r;
	if (options->attached)
		r = options->attached(options->arg);
	if (r == 0)
		r = run_command(kernel, options);
	return r < 0 ? failure_set(failure, r, "cannot record in the kernel: %s", strerror(-r)) : 0;
}

int kernel_start(const struct kernel_options *options, struct kernel **ret_kernel, struct failure *failure)
{
	struct kernel *kernel = calloc(1, sizeof(*kernel));
	int r;

	if (!kernel)
		return failure_memory(failure);
	r = start(kernel, options, failure);
	if (r < 0) {
		kernel_destroy(kernel);
		return r;
	}
	*ret_kernel = kernel;
	return 0;
}

void kernel_set_watched(struct kernel *kernel, bool is_watched)
{
	atomic_store(&kernel->is_watched, is_watched);
}

bool kernel_may_wait(const struct kernel *kernel)
{
	return !kernel->is_of_mount && !atomic_load(&kernel->is_watched) && queue_bytes(kernel->queue) < kernel->memory_bytes / 2;
}

/* ---- a mount ---- */

int kernel_load_for_mount(size_t most_files, struct kernel **ret_kernel, struct failure *failure)
{
	struct kernel *kernel = calloc(1, sizeof(*kernel));
	int r;

	if (!kernel)
		return failure_memory(failure);
	kernel->is_of_mount = true;
	atomic_store(&kernel->is_over, true);
	r = programs_load(BUFFER_BYTES, most_files, &kernel->programs, failure);
	if (r == 0)
		r = programs_attach(kernel->programs, failure);
	if (r < 0) {
		kernel_destroy(kernel);
		return r;
	}
	*ret_kernel = kernel;
	return 0;
}

int kernel_run_for_mount(struct kernel *kernel, struct ring *ring)
{
	int r = prepare(kernel, &(struct translate_options){ .ring = ring, .is_of_mount = true }, 0, NULL);

	if (r < 0)
		return r;
	atomic_store(&kernel->is_over, false);
	r = run(kernel);
	if (r < 0)
		atomic_store(&kernel->is_over, true);
	return r;
}

void kernel_watch_mount(struct kernel *kernel, dev_t device)
{
	programs_set_device(kernel->programs, major(device), minor(device));
}

int kernel_add_file(struct kernel *kernel, uint64_t fh, uint64_t handle, uint64_t node)
{
	return programs_add_file(kernel->programs, fh, &(struct wire_opened){ handle, node });
}

void kernel_remove_file(struct kernel *kernel, uint64_t fh)
{
	programs_remove_file(kernel->programs, fh);
}

int64_t kernel_seen_until_ns(struct kernel *kernel)
{
	if (atomic_load(&kernel->is_over))
		return INT64_MAX;
	reader_wake(kernel->reader);
	return queue_done_until(kernel->queue);
}

/* ---- processes that run already ---- */

int kernel_choose(struct kernel *kernel, pid_t pid)
{
	return explain_may_trace_others() ? programs_choose(kernel->programs, pid) : -EPERM;
}

void kernel_reject(struct kernel *kernel, pid_t pid)
{
	programs_reject(kernel->programs, pid);
}

int kernel_attach(struct kernel *kernel, bool all, int cgroup)
{
	return explain_may_trace_others() ? programs_attach_to(kernel->programs, all, cgroup) : -EPERM;
}

/* ---- samples ---- */

int kernel_sample(const struct kernel *kernel)
{
	return programs_sample(kernel->programs);
}

/* ---- end ---- */

void kernel_sync(struct kernel *kernel)
{
	reader_sync(kernel->reader);
	queue_wait(kernel->queue);
}

void kernel_finish(struct kernel *kernel)
{
	if (!kernel)
		return;
	if (kernel->programs)
		programs_detach(kernel->programs);
	if (kernel->reader)
		reader_stop(kernel->reader);
	if (!kernel->running)
		return;
	priority_hurry(&kernel->priority, kernel->thread);
	queue_close(kernel->queue);
	pthread_join(kernel->thread, NULL);
	kernel->running = false;
}

void kernel_destroy(struct kernel *kernel)
{
	if (!kernel)
		return;
	kernel_finish(kernel);
	reader_destroy(kernel->reader);
	queue_destroy(kernel->queue);
	translate_destroy(kernel->translate);
	programs_destroy(kernel->programs);
	free(kernel);
}

/* ---- counts ---- */

static void add_counts(const struct wire_counters *counters, int n, struct kernel_totals *ret_totals)
{
	for (int i = 0; i < n; i++) {
		ret_totals->all.submitted += counters[i].submitted;
		ret_totals->all.dropped += counters[i].dropped;
		ret_totals->spared += counters[i].spared;
	}
}

int kernel_count(const struct kernel *kernel, struct kernel_totals *ret_totals, struct kernel_counts *ret_counts, int n)
{
	cleanup_free struct wire_counters *counters = NULL;
	int processors = programs_count(kernel->programs, &counters);

	if (processors < 0)
		return processors;
	*ret_totals = (struct kernel_totals){ .received = kernel->reader ? reader_received(kernel->reader) : 0,
		.failed = atomic_load(&kernel->failed) + atomic_load(&kernel->lost),
		.missed = programs_missed(kernel->programs), .spooled = kernel->queue ? queue_spooled(kernel->queue) : 0,
		.waiting = kernel->queue ? queue_bytes(kernel->queue) : 0, .has_devices = programs_have_devices(kernel->programs) };
	add_counts(counters, processors, ret_totals);
	for (int i = 0; ret_counts && i < n && i < processors; i++)
		ret_counts[i] = (struct kernel_counts){ counters[i].submitted, counters[i].dropped };
	return processors;
}

uint64_t kernel_lost(struct kernel *kernel)
{
	struct kernel_totals totals;

	if (kernel_count(kernel, &totals, NULL, 0) >= 0)
		atomic_store(&kernel->counted, totals.all.dropped + totals.failed + totals.missed);
	return atomic_load(&kernel->counted);
}

uint64_t kernel_left(const struct kernel *kernel)
{
	return kernel->queue ? queue_bytes(kernel->queue) : 0;
}

int kernel_explain(struct failure *failure)
{
	struct programs *programs;
	int r = programs_load(BUFFER_BYTES, 0, &programs, failure);

	if (r == 0)
		r = programs_attach(programs, failure);
	else
		return r;
	programs_destroy(programs);
	return r;
}
