/* SPDX-License-Identifier: MIT */
#ifndef DB_FIGURES_H
#define DB_FIGURES_H

/*
 * Resources that a process has used: the figures of its row, and how those of its threads, or of several sources, are
 * combined.  An unknown figure is absent; 0 is a value.
 *
 * Units: nanoseconds and bytes, otherwise counts.
 *
 * THREADS is the sum of the lives of all threads, as far as they were recorded.  It is RUNNING on a processor, CPU_DELAY
 * (waiting for one), and waiting: for data of files, pipes and sockets, for locks of threads and files, for children, sleeping,
 * for events (poll(2) and the like), for memory (page faults, locked maps), stopped by a signal or a tracer, and other.
 */

#include <stdbool.h>
#include <stdint.h>

/* X(NAME, column, how to combine the figures of threads) */
#define FIGURES(X)                          \
	X(CPU, cpu_ns, SUM)                 \
	X(UTIME, utime_ns, SUM)             \
	X(STIME, stime_ns, SUM)             \
	X(VMPEAK, vmpeak_bytes, MAX)        \
	X(RSSPEAK, rsspeak_bytes, MAX)      \
	X(READ_CHAR, read_char, SUM)        \
	X(WRITE_CHAR, write_char, SUM)      \
	X(READ_BYTES, read_bytes, SUM)      \
	X(WRITE_BYTES, write_bytes, SUM)    \
	X(NVCSW, nvcsw, SUM)                \
	X(NIVCSW, nivcsw, SUM)              \
	X(MINFLT, minflt, SUM)              \
	X(MAJFLT, majflt, SUM)              \
	X(CPU_DELAY, cpu_delay_ns, SUM)     \
	X(BLKIO_DELAY, blkio_delay_ns, SUM) \
	X(SWAPIN_DELAY, swapin_delay_ns, SUM) \
	X(RECLAIM_DELAY, reclaim_delay_ns, SUM) \
	X(THREADS, threads_ns, SUM)         \
	X(RUNNING, running_ns, SUM)         \
	X(WAIT_FILE, file_ns, SUM)          \
	X(WAIT_PIPE, pipe_ns, SUM)          \
	X(WAIT_SOCKET, socket_ns, SUM)      \
	X(WAIT_LOCK, lock_ns, SUM)          \
	X(WAIT_CHILD, child_ns, SUM)        \
	X(WAIT_SLEEP, sleep_ns, SUM)        \
	X(WAIT_EVENT, event_ns, SUM)        \
	X(WAIT_MEMORY, memory_ns, SUM)      \
	X(WAIT_STOP, stopped_ns, SUM)       \
	X(WAIT_OTHER, other_ns, SUM)

enum figure {
#define X(name, column, how) FIGURE_##name,
	FIGURES(X)
#undef X
	FIGURE_MAX
};

struct figures {
	uint32_t known; /* bit 1 << enum figure */
	int64_t value[FIGURE_MAX];
};

static inline void figures_put_SUM(int64_t *value, int64_t more)
{
	*value += more;
}

static inline void figures_put_MAX(int64_t *value, int64_t more)
{
	*value = more > *value ? more : *value;
}

static inline void figures_set(struct figures *figures, enum figure figure, int64_t value)
{
	figures->known |= 1U << figure;
	figures->value[figure] = value;
}

/* Adds the figures of one more part.  A figure of the sum is known if it is known of every part. */
static inline void figures_add(struct figures *sum, const struct figures *more)
{
#define X(name, column, how) figures_put_##how(&sum->value[FIGURE_##name], more->value[FIGURE_##name]);
	FIGURES(X)
#undef X
	sum->known &= more->known;
}

static inline bool figures_has(const struct figures *figures, enum figure figure)
{
	return figures->known >> figure & 1;
}

#endif
