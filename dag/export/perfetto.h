/* SPDX-License-Identifier: MIT */
#ifndef DAG_EXPORT_PERFETTO_H
#define DAG_EXPORT_PERFETTO_H

/*
 * The time line of a run for other viewers: Chrome's trace events as JSON, which Perfetto, chrome://tracing and
 * speedscope read
 * (https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU).  pid is the id of a process in the
 * trace, because the kernel uses process ids again; tid is the id of the thread.  Times are microseconds since the
 * begin of the run.  If there are several machines, each is a process of its own with what its clocks showed, and has those that
 * ran there behind it, with its name as their label.
 *
 * Slices of one thread must nest: a process is a slice of its first thread, and the operations of that thread lie in it; those of
 * other threads are slices of these.  An operation that overlaps another one of its thread, or its process, is asynchronous
 * ("b", "e").
 *
 * Order: perfetto_begin() writes processes and data flows; then come clocks, counters, then operations in the order of their
 * begin; then perfetto_end().  One thread.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct shape;
struct workflow;

struct perfetto;

/* 0 or -ENOMEM.  whole: the trace is complete. */
int perfetto_begin(const struct workflow *workflow, const struct shape *shape, bool whole, FILE *out,
	struct perfetto **ret_perfetto);

/* What the clocks of a machine showed at a moment; times are nanoseconds since the epoch, t_ns that of the trace. */
struct perfetto_clock {
	const char *host;
	int64_t t_ns, realtime_ns;
	const int64_t *boot_ns, *offset_ns, *uncertainty_ns; /* NULL: unknown */
};

/* Nothing in a trace of one machine. */
void perfetto_clock(struct perfetto *perfetto, const struct perfetto_clock *clock);

/* One point of curves in one diagram. */
void perfetto_counter(struct perfetto *perfetto, double from_s, const char *diagram, size_t n, const char *const names[],
	const double values[]);

/* A text that need not be UTF-8.  bytes is NULL if the text is unknown. */
struct perfetto_text {
	const char *bytes;
	size_t len;
};

/* Times are nanoseconds since the epoch. */
struct perfetto_operation {
	int64_t process, tid; /* process: its id in the trace; tid 0: not known, the operation is beside the first thread */
	struct perfetto_text name, path;
	int64_t start_ns, latency_ns;
	const int64_t *result, *moved_bytes; /* NULL: unknown */
};

/* Leaves out operations of processes that are not in the workflow. */
void perfetto_operation(struct perfetto *perfetto, const struct perfetto_operation *operation);

/* Ends the JSON and frees perfetto.  -ENOMEM: the file is incomplete. */
int perfetto_end(struct perfetto *perfetto);

#endif
