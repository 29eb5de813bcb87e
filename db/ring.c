/* SPDX-License-Identifier: MIT */
#include "db/ring.h"

#include <ck_ring.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "db/event.h"

CK_RING_PROTOTYPE(event, event)

struct ring {
	ck_ring_t ring;
	struct event *slots;
	bool drop;
	_Atomic bool closed;
	_Atomic uint64_t lost;
	_Atomic uint64_t waited_ns;
};

/* Text pieces of different threads mix in the ring; the number of its thread tells them apart. */
static _Atomic uint16_t producers;
static _Thread_local uint16_t this_producer;

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

static void wait_for_room(struct ring *ring, const struct event *slot)
{
	const struct timespec nap = { .tv_nsec = 50000 };
	int64_t start = clock_now_ns();

	while (!atomic_load_explicit(&ring->closed, memory_order_relaxed)) {
		nanosleep(&nap, NULL);
		if (ck_ring_enqueue_mpsc_event(&ring->ring, ring->slots, (struct event *)slot)) {
			atomic_fetch_add(&ring->waited_ns, (uint64_t)(clock_now_ns() - start));
			return;
		}
	}
	atomic_fetch_add(&ring->lost, 1);
}

static void push_slot(struct ring *ring, const struct event *slot)
{
	if (ck_ring_enqueue_mpsc_event(&ring->ring, ring->slots, (struct event *)slot))
		return;
	if (ring->drop)
		atomic_fetch_add(&ring->lost, 1);
	else
		wait_for_room(ring, slot);
}

static void push_text(struct ring *ring, uint16_t producer, const char *text, size_t text_len)
{
	struct event piece = { .kind = EVENT_TEXT, .producer = producer };

	for (size_t offset = 0; offset < text_len; offset += piece.text_len) {
		size_t left = text_len - offset;

		piece.text_len = left < EVENT_TEXT_PIECE ? left : EVENT_TEXT_PIECE;
		piece.u.text.offset = offset;
		memcpy(event_piece(&piece), text + offset, piece.text_len);
		push_slot(ring, &piece);
	}
}

void ring_push(struct ring *ring, const struct event *event, const void *text, size_t text_len)
{
	struct event slot = *event;

	if (!this_producer)
		this_producer = atomic_fetch_add(&producers, 1) + 1;
	slot.producer = this_producer;
	slot.text_len = text_len;
	if (text_len > EVENT_TEXT_INLINE)
		push_text(ring, this_producer, text, text_len);
	else if (text_len)
		memcpy(slot.text, text, text_len);
	push_slot(ring, &slot);
}

size_t ring_drain(struct ring *ring, struct event *events, size_t max)
{
	size_t n = 0;

	while (n < max && ck_ring_dequeue_mpsc_event(&ring->ring, ring->slots, &events[n]))
		n++;
	return n;
}

size_t ring_used(const struct ring *ring)
{
	return ck_ring_size(&ring->ring);
}

uint64_t ring_lost(const struct ring *ring)
{
	return atomic_load(&ring->lost);
}

uint64_t ring_waited_ns(const struct ring *ring)
{
	return atomic_load(&ring->waited_ns);
}

void ring_close(struct ring *ring)
{
	atomic_store(&ring->closed, true);
}
