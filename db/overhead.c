/* SPDX-License-Identifier: MIT */
#include "db/overhead.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "db/event.h"

#define THREADS 1024 /* that are remembered; a power of two */
/* Steps in which gaps are counted: 8 of them make twice as long. */
#define STEPS (8 * 40)
#define GAPS_MIN 8
#define FAR_STEPS (8 * 4)
/* What is longer was no way through the kernel: somebody had no processor. */
#define GAP_MAX_NS 10000000

/* How many gaps there were of which length. */
struct gaps {
	uint32_t counts[STEPS];
	uint64_t n;
};

struct overhead {
	struct {
		int64_t end_ns;
		int32_t tid;
		uint8_t op;
	} last[THREADS];
	struct gaps within, any; /* one system call; two requests of a thread */
	uint64_t requests;
	int64_t gap_ns; /* as it looked a while ago */
	int64_t handled_ns;
	int64_t busy_ns, union_ns,
		covered_ns; /* of requests with their gaps; until when the union goes */
};

int overhead_create(struct overhead **ret_overhead)
{
	*ret_overhead = calloc(1, sizeof(**ret_overhead));
	return *ret_overhead ? 0 : -ENOMEM;
}

void overhead_destroy(struct overhead *overhead)
{
	free(overhead);
}

/* An octave, and the eighth of it. */
static int step_of(int64_t ns)
{
	int octave = 63 - __builtin_clzll(ns | 8);

	return octave * 8 + ((ns >> (octave - 3)) & 7);
}

static int64_t middle_of(int step)
{
	int64_t octave = 1LL << (step / 8);

	return octave + octave / 16 * (2 * (step % 8) + 1);
}

/* The step below which a part of them lies. */
static int quantile(const struct gaps *gaps, int part)
{
	uint64_t left = gaps->n / part;
	int step = 0;

	while (left >= gaps->counts[step])
		left -= gaps->counts[step++];
	return step;
}

/* Mean of those up to FAR_STEPS beyond the median: longer ones had no processor, or did something else. */
static int64_t mean(const struct gaps *gaps)
{
	int last = quantile(gaps, 2) + FAR_STEPS;
	int64_t sum = 0, n = 0;

	for (int step = 0; step <= last && step < STEPS; step++) {
		sum += gaps->counts[step] * middle_of(step);
		n += gaps->counts[step];
	}
	return sum / n;
}

static int64_t gap(const struct overhead *o)
{
	if (o->within.n >= GAPS_MIN)
		return mean(&o->within);
	return o->any.n >= GAPS_MIN ? middle_of(quantile(&o->any, 10)) : 0;
}

/* What the kernel asks next for the system call for which it has looked up a name. */
static bool goes_on(int op)
{
	switch (op) {
	case OP_LOOKUP:
	case OP_OPEN:
	case OP_OPENDIR:
	case OP_CREATE:
	case OP_MKDIR:
	case OP_MKNOD:
	case OP_UNLINK:
	case OP_RMDIR:
	case OP_SYMLINK:
	case OP_READLINK:
		return true;
	default:
		return false;
	}
}

static void count_gap(struct overhead *o, int64_t ns, bool within)
{
	if (ns <= 0 || ns > GAP_MAX_NS)
		return;
	o->any.counts[step_of(ns)]++;
	o->any.n++;
	if (within) {
		o->within.counts[step_of(ns)]++;
		o->within.n++;
	}
	if (o->any.n % 64 == 0 || o->any.n < 64)
		o->gap_ns = gap(o);
}

static void on_request(struct overhead *o, const struct event *ev)
{
	int slot = ev->tid & (THREADS - 1);
	int64_t end_ns = ev->time_ns + ev->u.op.latency_ns, start_ns = ev->time_ns - o->gap_ns;

	if (o->last[slot].tid == ev->tid)
		count_gap(o, ev->time_ns - o->last[slot].end_ns,
			o->last[slot].op == OP_LOOKUP && goes_on(ev->op));
	o->last[slot].tid = ev->tid;
	o->last[slot].op = ev->op;
	o->last[slot].end_ns = end_ns;
	o->requests++;
	o->handled_ns += ev->u.op.latency_ns < o->gap_ns ? ev->u.op.latency_ns : o->gap_ns;
	o->busy_ns += end_ns - start_ns;
	if (start_ns < o->covered_ns)
		start_ns = o->covered_ns;
	if (end_ns > start_ns)
		o->union_ns += end_ns - start_ns;
	if (end_ns > o->covered_ns)
		o->covered_ns = end_ns;
}

void overhead_event(struct overhead *o, const struct event *ev)
{
	switch (ev->kind) {
	case EVENT_OP: /* nobody waits for a release, nor for what the kernel does by itself */
		if (ev->tid > 0 && ev->op != OP_RELEASE && ev->op != OP_RELEASEDIR)
			on_request(o, ev);
		break;
	case EVENT_FORK:
	case EVENT_THREAD:
	case EVENT_EXEC:
	case EVENT_EXIT:
		o->requests += (ev->u.process.tier & TIER_PTRACE) != 0;
		break;
	}
}

struct overhead_ns overhead_so_far(const struct overhead *o)
{
	int64_t sum = gap(o) * (int64_t)o->requests + o->handled_ns;

	if (o->busy_ns == 0)
		return (struct overhead_ns){ sum, sum };
	return (struct overhead_ns){ sum, (int64_t)((double)sum * o->union_ns / o->busy_ns) };
}
