/* SPDX-License-Identifier: MIT */

/* Operations that go on: calls that threads have been inside of, unchanged, for a second and more. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "dag/live/collect_internal.h"

#define SLOW_NS INT64_C(1000000000)
#define PROCESSES_MOST 2000 /* that are looked at */
#define THREADS_MOST 64	    /* of each */
#define WAITS_MOST 200	    /* that are shown */

void collect_drop_waits(struct collect *collect, int64_t before_ns)
{
	struct wait *wait, *next;

	HASH_ITER (hh, collect->waits, wait, next)
		if (wait->seen_ns < before_ns) {
			HASH_DEL(collect->waits, wait);
			free(wait);
		}
}

static struct wait *find(struct collect *collect, int64_t process, int tid)
{
	struct wait *wait, key = { .of = { process, tid } };

	HASH_FIND(hh, collect->waits, &key.of, sizeof(key.of), wait);
	if (wait)
		return wait;
	wait = calloc(1, sizeof(*wait));
	if (!wait) {
		collect->failed = true;
		return NULL;
	}
	wait->of = key.of;
	HASH_ADD(hh, collect->waits, of, sizeof(wait->of), wait);
	if (wait->hh.tbl)
		return wait;
	free(wait);
	collect->failed = true;
	return NULL;
}

static void put(struct live_state *state, const struct live_process *p, const struct live_thread_wait *seen, int64_t for_ns)
{
	struct live_wait *wait = &state->waits[state->n_waits];
	const char *path = *seen->path ? arena_text(&state->memory, seen->path, strlen(seen->path)) : NULL;

	if (state->n_waits == WAITS_MOST)
		return;
	*wait = (struct live_wait){ .pid = p->pid, .tid = seen->tid, .for_ns = for_ns, .kind = seen->kind, .program = p->program,
		.what = seen->name, .path = path };
	state->n_waits++;
}

static void take(struct collect *collect, struct live_state *state, const struct live_process *p, const struct live_thread_wait *seen)
{
	struct wait *wait = find(collect, p->id, seen->tid);
	int64_t now_ns = clock_now_ns();

	if (!wait)
		return;
	if (!wait->since_ns || memcmp(wait->call, seen->call, sizeof(wait->call)) != 0)
		wait->since_ns = now_ns;
	memcpy(wait->call, seen->call, sizeof(wait->call));
	wait->seen_ns = now_ns;
	if (now_ns - wait->since_ns >= SLOW_NS)
		put(state, p, seen, now_ns - wait->since_ns);
}

static int by_time(const void *one, const void *other)
{
	const struct live_wait *a = one, *b = other;

	return a->kind != b->kind ? (int)a->kind - (int)b->kind : (a->for_ns < b->for_ns) - (a->for_ns > b->for_ns);
}

static bool is_here(const struct live_state *state)
{
	char host[256] = "";

	gethostname(host, sizeof(host) - 1);
	return state->is == LIVE_RUNS && state->host && strcmp(host, state->host) == 0;
}

static void look_at(struct collect *collect, struct live_state *state, const struct live_process *p)
{
	struct live_thread_wait seen[THREADS_MOST];
	int n = collect->waits_of(p->pid, p->start_ns - clock_epoch_offset_ns(), seen, THREADS_MOST);

	state->has_waits |= n >= 0;
	for (int i = 0; i < n; i++)
		take(collect, state, p, &seen[i]);
}

int collect_waits(struct collect *collect, struct live_state *state, struct failure *failure)
{
	int64_t begin_ns = clock_now_ns();
	int looked = 0;

	state->waits = arena_alloc(&state->memory, (WAITS_MOST + 1) * sizeof(*state->waits));
	if (!state->waits)
		return failure_memory(failure);
	if (!collect->waits_of || !is_here(state))
		return 0;
	for (int32_t i = 0; i < state->n_processes && looked < PROCESSES_MOST; i++)
		if (state->processes[i].end_ns < 0) {
			look_at(collect, state, &state->processes[i]);
			looked++;
		}
	state->has_waits |= !looked;
	collect_drop_waits(collect, begin_ns);
	qsort(state->waits, (size_t)state->n_waits, sizeof(*state->waits), by_time);
	return collect->failed ? failure_memory(failure) : 0;
}
