/* SPDX-License-Identifier: MIT */
#ifndef FTRAC_TRACE_H
#define FTRAC_TRACE_H

/*
 * The only place where a request becomes an event. A handler names the requester and the operation,
 * carries the operation out, and passes on the result before it replies. So when an application
 * sees an operation finish, the event is in the ring already:
 *
 *	trace_begin(trace, &ev, OP_READ, tid, TRACE_DISCOVER);
 *	result = pread(...);
 *	trace_end(trace, &ev, result);
 *
 * Costs two readings of the clock and the push into the ring; no system call and no allocation.
 * Exceptions: the first request of a thread, whose process is then discovered; and TRACE_CHECK,
 * which checks for an exec: it reads the connector's socket, or in band /proc. With trace NULL
 * nothing is recorded and nothing happens.
 *
 * Threads: any.
 */

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

#include "base/clock.h"
#include "base/rights.h"
#include "db/event.h"
#include "db/ring.h"
#include "ftrac/creds.h"
#include "procmon/monitor.h"

struct trace {
	struct ring *ring;
	struct monitor *monitor;
	const _Atomic uint8_t *known; /* monitor_known() */
	_Atomic bool aside;	      /* current operations do not belong to the traced command */
	bool in_band; /* the monitor itself checks for another program in the thread */
};

/* What the process monitor may do now; monitor.h explains what is dangerous when. */
enum trace_lookup {
	TRACE_BLIND, /* nothing: the requester may be inside an exec or a page fault */
	TRACE_DISCOVER,  /* discover the thread */
	TRACE_CHECK  /* also check whether it runs another program now */
};

static inline void trace_begin(const struct trace *trace, struct event *ev, enum op op, pid_t tid,
	enum trace_lookup lookup)
{
	if (!trace)
		return;
	memset(ev, 0, sizeof(*ev));
	ev->aside = atomic_load_explicit(&trace->aside, memory_order_relaxed);
	if (ev->aside)
		lookup = TRACE_BLIND;
	if (lookup == TRACE_CHECK && tid > 0) {
		uint64_t before = trace->in_band ? creds_raise(RIGHT(CAP_SYS_PTRACE)) : 0;

		monitor_check(trace->monitor, tid);
		if (trace->in_band)
			creds_drop(before);
	} else if (lookup == TRACE_DISCOVER)
		monitor_discover(trace->monitor, trace->known, tid);
	ev->kind = EVENT_OP;
	ev->op = op;
	ev->tid = tid;
	ev->time_ns = clock_now_ns();
}

/* Ends with a text: name, or name NUL name. */
static inline void trace_end_text(const struct trace *trace, struct event *ev, int64_t result,
	const char *text, size_t len)
{
	if (!trace)
		return;
	ev->u.op.latency_ns = clock_now_ns() - ev->time_ns;
	ev->u.op.result = result;
	ring_push(trace->ring, ev, text, len);
}

static inline void trace_end(const struct trace *trace, struct event *ev, int64_t result)
{
	trace_end_text(trace, ev, result, NULL, 0);
}

static inline void trace_end_name(const struct trace *trace, struct event *ev, int64_t result,
	const char *name)
{
	trace_end_text(trace, ev, result, name, strlen(name));
}

/* name NUL other */
static inline void trace_end_names(const struct trace *trace, struct event *ev, int64_t result,
	const char *name, const char *other)
{
	/* A name, and either a second name or the target of a symbolic link. */
	char text[NAME_MAX + 1 + PATH_MAX];
	size_t n = strnlen(name, NAME_MAX) + 1, m = strnlen(other, PATH_MAX);

	memcpy(text, name, n - 1);
	text[n - 1] = '\0';
	memcpy(text + n, other, m);
	trace_end_text(trace, ev, result, text, n + m);
}

#endif
