/* SPDX-License-Identifier: MIT */
#include "db/ring.h"

#include <ck_ring.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "db/event.h"

#define LONGEST_NAP_NS 2000000

CK_RING_PROTOTYPE(event, event)

/*
 * Producers hold a mutex while they copy an event.  Concurrency Kit's own rings for many producers would let all of them
 * spin while one is preempted during its copy, which is common with more threads than processors.  The mutex also keeps
 * an event directly after its text.
 */
struct ring {
	ck_ring_t ring;
	struct event *slots;
	pthread_mutex_t lock;
	bool drop;
	_Atomic uint64_t lost;
	_Atomic uint64_t waited_ns;
};

int ring_create(size_t slots, bool drop, struct ring **ret_ring)
{
	struct ring *ring = aligned_alloc(64, (sizeof(*ring) + 63) / 64 * 64);

	if (!ring)
		return -ENOMEM;
	memset(ring, 0, sizeof(*ring));
	ring->slots = aligned_alloc(64, slots * sizeof(struct event));
	if (!ring->slots) {
		free(ring);
		return -ENOMEM;
	}
	ring->drop = drop;
	pthread_mutex_init(&ring->lock, NULL);
	ck_ring_init(&ring->ring, slots);
	*ret_ring = ring;
	return 0;
}

void ring_destroy(struct ring *ring)
{
	if (!ring)
		return;
	free(ring->slots);
	free(ring);
}

static size_t slots_for(size_t text_len)
{
	if (text_len <= EVENT_TEXT_INLINE)
		return 1;
	return 1 + (text_len + EVENT_TEXT_PIECE - 1) / EVENT_TEXT_PIECE;
}

static bool has_room(const struct ring *ring, size_t slots)
{
	/* One slot of a ring is always free. */
	return ck_ring_size(&ring->ring) + slots < ck_ring_capacity(&ring->ring);
}

static void wait_for_room(struct ring *ring, size_t slots)
{
	struct timespec nap = { .tv_nsec = 50000 };
	int64_t start = clock_now_ns();

	while (!has_room(ring, slots)) {
		nanosleep(&nap, NULL);
		if (nap.tv_nsec < LONGEST_NAP_NS)
			nap.tv_nsec *= 2;
	}
	atomic_fetch_add(&ring->waited_ns, (uint64_t)(clock_now_ns() - start));
}

/* Waits until there is room, which the consumer makes. */
static bool push_slot(struct ring *ring, const struct event *slot)
{
	if (!has_room(ring, 1))
		wait_for_room(ring, 1);
	return ck_ring_enqueue_spsc_event(&ring->ring, ring->slots, (struct event *)slot);
}

static bool push_text(struct ring *ring, const char *text, size_t text_len)
{
	struct event piece = { .kind = EVENT_TEXT };
	bool pushed = true;

	for (size_t offset = 0; pushed && offset < text_len; offset += piece.text_len) {
		size_t left = text_len - offset;

		piece.text_len = left < EVENT_TEXT_PIECE ? left : EVENT_TEXT_PIECE;
		piece.u.text.offset = offset;
		memcpy(event_piece(&piece), text + offset, piece.text_len);
		pushed = push_slot(ring, &piece);
	}
	return pushed;
}

void ring_push(struct ring *ring, const struct event *event, const void *text, size_t text_len)
{
	struct event slot = *event;
	bool pushed;

	slot.text_len = text_len;
	if (text_len && text_len <= EVENT_TEXT_INLINE)
		memcpy(slot.text, text, text_len);
	pthread_mutex_lock(&ring->lock);
	pushed = !ring->drop || has_room(ring, slots_for(text_len));
	if (pushed && text_len > EVENT_TEXT_INLINE)
		pushed = push_text(ring, text, text_len);
	pushed = pushed && push_slot(ring, &slot);
	pthread_mutex_unlock(&ring->lock);
	if (!pushed)
		atomic_fetch_add(&ring->lost, 1);
}

size_t ring_drain(struct ring *ring, struct event *events, size_t max)
{
	size_t n = 0;

	while (n < max && ck_ring_dequeue_spsc_event(&ring->ring, ring->slots, &events[n]))
		n++;
	return n;
}

bool ring_is_filling(const struct ring *ring)
{
	return ck_ring_size(&ring->ring) > ck_ring_capacity(&ring->ring) / 4;
}

bool ring_is_half_full(const struct ring *ring)
{
	return ck_ring_size(&ring->ring) > ck_ring_capacity(&ring->ring) / 2;
}

uint64_t ring_lost(const struct ring *ring)
{
	return atomic_load(&ring->lost);
}

uint64_t ring_waited_ns(const struct ring *ring)
{
	return atomic_load(&ring->waited_ns);
}
