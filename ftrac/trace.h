/* SPDX-License-Identifier: MIT */
#ifndef FTRAC_TRACE_H
#define FTRAC_TRACE_H

/*
 * The only place where a request becomes an event.  A handler says who asks for what, does it,
 * and says how it went - before it replies, so that what an application has seen finish is in
 * the ring already:
 *
 *	trace_begin(trace, &ev, OP_READ, tid, TRACE_DISCOVER);
 *	result = pread(...);
 *	trace_end(trace, &ev, result);
 *
 * Costs two readings of the clock and the push of the event into the ring; no system call and no
 * allocation, but for the first request of a thread, whose process is looked up, and for TRACE_CHECK, which
 * asks whether an exec was heard of: a look at the connector's socket, in band at /proc.  With trace NULL (nothing
 * is recorded) nothing at all happens.
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
	_Atomic bool aside;	      /* what is done now is not of what is traced */
	bool in_band; /* the monitor looks for itself whether a thread runs another program */
};

/* What may be asked of the process monitor now; see monitor.h for what is dangerous when. */
enum trace_lookup {
	TRACE_BLIND, /* nothing: the requester may be in the middle of an exec or a page fault */
	TRACE_DISCOVER,  /* make the thread known */
	TRACE_CHECK  /* and see whether it runs another program by now */
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

/* With text: name, or name NUL name. */
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
	/* A name, and a name or the target of a symbolic link. */
	char text[NAME_MAX + 1 + PATH_MAX];
	size_t n = strnlen(name, NAME_MAX) + 1, m = strnlen(other, PATH_MAX);

	memcpy(text, name, n - 1);
	text[n - 1] = '\0';
	memcpy(text + n, other, m);
	trace_end_text(trace, ev, result, text, n + m);
}

#endif
