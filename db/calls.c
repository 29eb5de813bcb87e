/* SPDX-License-Identifier: MIT */
#include "db/calls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "db/event.h"

#define COUNT_MOST 0x7ffff000U /* MAX_RW_COUNT: the most that one call moves */

struct call {
	struct event whole; /* the pieces so far; u.op.length: that of the call */
	int64_t left;	    /* bytes to come */
	int64_t end_ns;	    /* of the thread; 0: living */
};

/* In the order of their begin.  There are few: one for each thread in a large call. */
struct calls {
	size_t n, n_ended;
	struct call all[CALLS_MOST];
};

int calls_create(struct calls **ret_calls)
{
	*ret_calls = calloc(1, sizeof(**ret_calls));
	return *ret_calls ? 0 : -ENOMEM;
}

void calls_destroy(struct calls *calls)
{
	free(calls);
}

static bool moves(const struct event *ev)
{
	return ev->kind == EVENT_OP && ev->via == VIA_DIRECT && (ev->op == OP_READ || ev->op == OP_WRITE);
}

static struct event take_out(struct calls *calls, size_t at)
{
	struct event whole = calls->all[at].whole;

	calls->n_ended -= calls->all[at].end_ns != 0;
	calls->n--;
	memmove(&calls->all[at], &calls->all[at + 1], (calls->n - at) * sizeof(calls->all[0]));
	return whole;
}

/* The offset of an append may be unknown, for each piece. */
static bool is_next(const struct call *call, const struct event *ev)
{
	const struct event_op *whole = &call->whole.u.op, *op = &ev->u.op;

	return moves(ev) && ev->op == call->whole.op && op->handle == whole->handle &&
	       op->length <= (uint64_t)call->left &&
	       (op->offset < 0 || whole->offset < 0 || op->offset == whole->offset + whole->result);
}

static size_t find(const struct calls *calls, int32_t tid)
{
	size_t i = 0;

	while (i < calls->n && calls->all[i].whole.tid != tid)
		i++;
	return i;
}

static bool has_several(const struct event *ev)
{
	return moves(ev) && ev->tid > 0 && ev->u.op.call != CALL_UNKNOWN && ev->u.op.call > ev->u.op.length &&
	       ev->u.op.result == (int64_t)ev->u.op.length;
}

/* A call of a thread that has ended; calls->n: there is none. */
static size_t find_ended(const struct calls *calls, int64_t time_ns)
{
	size_t i = calls->n_ended ? 0 : calls->n;

	while (i < calls->n && !(calls->all[i].end_ns && calls->all[i].end_ns < time_ns))
		i++;
	return i;
}

bool calls_take_interrupted(struct calls *calls, const struct event *ev, struct event *ret_event)
{
	bool faults = ev->via == VIA_PAGECACHE || ev->via == VIA_WRITEBACK;
	size_t i = ev->tid > 0 && !faults ? find(calls, ev->tid) : calls->n;

	if (i < calls->n && is_next(&calls->all[i], ev))
		return false;
	if (i == calls->n)
		i = find_ended(calls, ev->time_ns);
	if (i == calls->n && ev->op == OP_RELEASE)
		for (i = 0; i < calls->n && calls->all[i].whole.u.op.handle != ev->u.op.handle; i++)
			;
	if (i == calls->n && calls->n == CALLS_MOST && has_several(ev))
		i = 0;
	if (i == calls->n)
		return false;
	*ret_event = take_out(calls, i);
	return true;
}

void calls_end(struct calls *calls, int32_t tid, int64_t time_ns)
{
	size_t i = find(calls, tid);

	if (i == calls->n || calls->all[i].end_ns || calls->all[i].whole.time_ns > time_ns)
		return;
	calls->all[i].end_ns = time_ns;
	calls->n_ended++;
}

bool calls_take_remaining(struct calls *calls, struct event *ret_event)
{
	if (!calls->n)
		return false;
	*ret_event = take_out(calls, 0);
	return true;
}

static enum calls_result add(struct calls *calls, size_t at, struct event *ev)
{
	struct call *call = &calls->all[at];
	struct event_op *whole = &call->whole.u.op;
	const struct event_op *op = &ev->u.op;
	bool last = op->result < (int64_t)op->length || op->result == call->left;

	whole->pieces++;
	whole->latency_ns = ev->time_ns + op->latency_ns - call->whole.time_ns;
	if (op->result > 0) {
		whole->result += op->result;
		call->left -= op->result;
	}
	if (op->offset < 0)
		whole->offset = -1;
	if (!last)
		return CALLS_KEPT;
	*ev = take_out(calls, at);
	return CALLS_PASS;
}

static void begin(struct calls *calls, const struct event *ev)
{
	struct call *call = &calls->all[calls->n++];
	uint64_t most = ev->u.op.length < COUNT_MOST ? ev->u.op.length : COUNT_MOST;

	*call = (struct call){ .whole = *ev };
	call->left = (int64_t)most - ev->u.op.result;
}

enum calls_result calls_take(struct calls *calls, struct event *ev)
{
	struct event_op *op = &ev->u.op;
	size_t i = ev->tid > 0 ? find(calls, ev->tid) : calls->n;
	bool several = has_several(ev);

	if (!moves(ev))
		return CALLS_PASS;
	if (i < calls->n)
		return add(calls, i, ev);
	op->pieces = op->call == CALL_UNKNOWN ? 0 : 1;
	if (op->call != CALL_UNKNOWN && op->call > op->length)
		op->length = op->call;
	if (!several)
		return CALLS_PASS;
	begin(calls, ev);
	return CALLS_KEPT;
}
