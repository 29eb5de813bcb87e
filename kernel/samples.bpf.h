/* SPDX-License-Identifier: MIT */
#ifndef KERNEL_SAMPLES_BPF_H
#define KERNEL_SAMPLES_BPF_H

/*
 * Samples of living processes: their memory and their CPU time.  A thread of ours runs the program once a second
 * (kernel_sample()), and the records go into the ring buffer, so that they stand between the fork and the end of the process.
 *
 * The program runs in the context of that thread, which may be preempted, unlike programs on tracepoints.  So it does
 * without task storage (the kernel refuses storage to new threads of a processor while another one looks something up), and
 * has no record in the ring buffer while it works one out (the reader would wait for it).
 */

#include "state.bpf.h"

#define SECOND_NS 1000000000
#define LIVING_MOST 32768 /* processes that are sampled at once */
#define THREADS_MOST (1 << 20)
#define PROCESSORS_MOST 8192
#define TRIES 4

/* Threads of a process come and go, also the first one at an exec; what they share stays. */
struct living {
	uint64_t signal; /* address of the signal_struct */
	int64_t start_ns;
};

/* By number of the process. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, LIVING_MOST);
	__type(key, int32_t);
	__type(value, struct living);
} kernel_living SEC(".maps");

/* If the process is known already, nothing changes. */
inlined void sample_from_now(int32_t pid, struct task_struct *task)
{
	struct living living = { .signal = POINTER(task_struct, task, signal), .start_ns = clock_ns() };

	bpf_map_update_elem(&kernel_living, &pid, &living, BPF_NOEXIST);
}

inlined void sample_no_more(int32_t pid)
{
	bpf_map_delete_elem(&kernel_living, &pid);
}

/* ---- CPU time ---- */

struct threads {
	uint64_t at, head; /* addresses in the list of threads */
	uint64_t run_ns;
	uint64_t mm; /* of the first thread that has it: others may have ended */
};

static long add_thread(uint32_t i, struct threads *threads)
{
	uint64_t task = threads->at - bpf_core_field_offset(struct task_struct, thread_node);

	if (!threads->at || threads->at == threads->head)
		return 1;
	threads->run_ns += FIELD(task_struct, task, se.sum_exec_runtime);
	if (!threads->mm)
		threads->mm = POINTER(task_struct, task, mm);
	threads->at = POINTER(list_head, threads->at, next);
	return 0;
}

/*
 * As the kernel does it for clock_gettime(2): the threads that are left, and the sum of those that are freed.  False if some
 * were being freed meanwhile.
 */
inlined bool sum_up(uint64_t signal, struct threads *threads)
{
	uint32_t sequence = FIELD(signal_struct, signal, stats_lock.seqcount.seqcount.sequence);
	uint64_t head = signal + bpf_core_field_offset(struct signal_struct, thread_head);

	*threads = (struct threads){ .head = head, .at = POINTER(list_head, head, next), .mm = kernel_none,
		.run_ns = FIELD(signal_struct, signal, sum_sched_runtime) };
	bpf_loop(THREADS_MOST, add_thread, threads, 0);
	return !(sequence & 1) && sequence == FIELD(signal_struct, signal, stats_lock.seqcount.seqcount.sequence);
}

/* ---- resident memory ---- */

/* The kernel's numbers of what counts as resident: pages of files, anonymous ones, shared memory.  2 is swap. */
#define MM_FILE 0
#define MM_ANONYMOUS 1
#define MM_SHARED 3

struct pages {
	uint64_t counters[3]; /* addresses of the processors' parts, before the distance to the processor's memory is added */
	uint64_t example; /* such an address of a value that we can look up */
	int64_t n;
};

inlined uint64_t example_of_address(void)
{
	uint64_t address = 0;

	bpf_probe_read_kernel(&address, sizeof(address),
		(const void *)(number(&kernel_counters) + bpf_core_field_offset(struct bpf_array, pptrs)));
	return address;
}

/* What a processor has counted, and not added to the sum yet. */
static long add_processor(uint32_t i, struct pages *pages)
{
	uint32_t zero = 0;
	const void *value = bpf_map_lookup_percpu_elem(&kernel_counters, &zero, i);
	uint64_t distance;
	int32_t n;

	if (!value)
		return 1;
	distance = number(value) - pages->example;
	for (int kind = 0; kind < 3; kind++) {
		if (bpf_probe_read_kernel(&n, sizeof(n), (const void *)(pages->counters[kind] + distance)) == 0)
			pages->n += n;
	}
	return 0;
}

inlined int64_t pages_by_processors(uint64_t mm)
{
	const int kinds[3] = { MM_FILE, MM_ANONYMOUS, MM_SHARED };
	struct pages pages = { .example = example_of_address() };

	for (int i = 0; i < 3; i++) {
		uint64_t counter = mm + bpf_core_field_offset(struct mm_struct, rss_stat) +
			kinds[i] * bpf_core_type_size(struct percpu_counter);

		pages.n += FIELD(percpu_counter, counter, count);
		pages.counters[i] = POINTER(percpu_counter, counter, counters);
	}
	bpf_loop(PROCESSORS_MOST, add_processor, &pages, 0);
	return pages.n;
}

inlined int64_t pages_at_once(uint64_t mm)
{
	return FIELD(mm_struct___old, mm, rss_stat.count[MM_FILE].counter) +
		FIELD(mm_struct___old, mm, rss_stat.count[MM_ANONYMOUS].counter) +
		FIELD(mm_struct___old, mm, rss_stat.count[MM_SHARED].counter);
}

/* -1: not known. */
inlined int64_t resident_pages(uint64_t mm)
{
	int64_t n;

	if (!mm)
		return -1;
	if (bpf_core_field_exists(struct mm_struct___old, rss_stat.count))
		n = pages_at_once(mm);
	else if (bpf_core_field_exists(struct mm_struct, rss_stat) && bpf_core_field_exists(struct percpu_counter, counters))
		n = pages_by_processors(mm);
	else
		return -1;
	return n > 0 ? n : 0; /* while it is summed up, pages may be moved between processors */
}

/* ---- the program ---- */

/* A program on a tracepoint may run on this processor at any time, and counts in the same place. */
inlined void send_sample(struct wire_sample *sample)
{
	struct wire_counters *counters = counters_of_processor();

	if (!counters)
		return;
	__sync_fetch_and_add(&counters->submitted, 1);
	if (bpf_ringbuf_output(&kernel_ring, sample, sizeof(*sample), BPF_RB_NO_WAKEUP) != 0)
		__sync_fetch_and_add(&counters->dropped, 1);
}

static long sample_process(const void *map, const int32_t *pid, const struct living *living, const void *none)
{
	struct wire_sample sample = { .run_ns = -1 };
	struct threads threads = { 0 };

	if ((int64_t)clock_ns() - living->start_ns < SECOND_NS || FIELD(signal_struct, living->signal, live.counter) <= 0)
		return 0;
	for (int i = 0; i < TRIES && sample.run_ns < 0; i++)
		if (sum_up(living->signal, &threads))
			sample.run_ns = threads.run_ns;
	sample.rss_pages = resident_pages(threads.mm);
	head_now(&sample.head, WIRE_SAMPLE, *pid);
	send_sample(&sample);
	return 0;
}

SEC("syscall")
int kernel_sampler(void *context)
{
	bpf_for_each_map_elem(&kernel_living, sample_process, NULL, 0);
	return 0;
}

#endif
