/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "dag/load/plan_internal.h"

/* *ret_known: whether the thread has waited for that step, or a later one of its thread, already.  If not, it has now. */
static int note_known(struct order *order, int32_t thread, struct order_ref ref, bool *ret_known)
{
	uint64_t key = (uint64_t)thread << 32 | (uint32_t)ref.thread;
	struct order_wait_key *entry;

	HASH_FIND(hh, order->known, &key, sizeof(key), entry);
	*ret_known = entry && entry->steps >= ref.steps;
	if (!entry) {
		entry = arena_alloc(&order->memory, sizeof(*entry));
		if (!entry)
			return -ENOMEM;
		*entry = (struct order_wait_key){ .key = key };
		HASH_ADD(hh, order->known, key, sizeof(key), entry);
		if (!entry->hh.tbl) /* the hash cannot grow */
			return -ENOMEM;
	}
	if (!*ret_known)
		entry->steps = ref.steps;
	return 0;
}

int load_order_wait(struct order *order, int32_t thread, uint32_t step, struct order_ref ref, int64_t *latest_ns)
{
	struct plan_step *s = &order->plan->steps[step];
	bool known;
	int r;

	if (ref.steps == 0 || ref.thread == thread)
		return 0;
	if (*latest_ns < ref.end_ns)
		*latest_ns = ref.end_ns;
	r = note_known(order, thread, ref, &known);
	if (r < 0 || known)
		return r;
	if (s->n_waits == 0)
		s->waits = order->plan->n_waits;
	s->n_waits++;
	return load_plan_append_wait(order->plan, order->dir, (struct plan_wait){ (uint32_t)ref.thread, ref.steps });
}

int load_order_after(struct order *order, int32_t thread, uint32_t step, const struct order_thing *thing, bool change, int64_t *latest_ns)
{
	int r = load_order_wait(order, thread, step, thing->changed, latest_ns);

	for (int32_t i = 0; r == 0 && change && i < thing->n_users; i++)
		r = load_order_wait(order, thread, step, thing->users[i], latest_ns);
	return r;
}

/* Users that had ended before the change began are known to it. */
static void forget_users(struct order_thing *thing, int64_t before_ns)
{
	int32_t kept = 0;

	for (int32_t i = 0; i < thing->n_users; i++)
		if (thing->users[i].end_ns > before_ns)
			thing->users[kept++] = thing->users[i];
	thing->n_users = kept;
}

int load_order_done(struct order_thing *thing, struct order_ref ref, int64_t start_ns, bool change)
{
	if (!thing->changes)
		return 0;
	if (change) {
		forget_users(thing, start_ns);
		if (thing->changed.end_ns <= ref.end_ns)
			thing->changed = ref;
		return 0;
	}
	for (int32_t i = thing->n_users - 1; i >= 0; i--)
		if (thing->users[i].thread == ref.thread) {
			thing->users[i] = ref;
			return 0;
		}
	return vector_push(thing->users, thing->n_users, ref);
}

void load_order_finish(struct order *order)
{
	HASH_CLEAR(hh, order->known);
	arena_free(&order->memory);
}
