/* SPDX-License-Identifier: MIT */

/*
 * ring.h: many producers, one consumer; nothing is lost while there is room, what one thread
 * pushes stays in order, and texts of any length arrive whole.
 */

#include <pthread.h>
#include <sched.h>

#include "db/event.h"
#include "db/ring.h"
#include "test.h"

#define DRAIN_MAX 64

static struct ring *make(size_t slots, bool drop)
{
	struct ring *ring;

	assert_int_equal(ring_create(slots, drop, &ring), 0);
	return ring;
}

static void push(struct ring *ring, int32_t number, const char *text, size_t len)
{
	const struct event ev = { .kind = EVENT_OP, .tid = number };

	ring_push(ring, &ev, text, len);
}

/* Takes the next event out and puts its pieces together as the header of events says; the length
 * of its text, or -1 when there is none. */
static int take(struct ring *ring, struct event *ret_event, char *text)
{
	size_t pieces = 0;

	while (ring_drain(ring, ret_event, 1)) {
		if (ret_event->kind != EVENT_TEXT) {
			if (!pieces)
				memcpy(text, ret_event->text, EVENT_TEXT_INLINE);
			return ret_event->text_len;
		}
		memcpy(text + ret_event->u.text.offset, event_piece(ret_event),
			ret_event->text_len);
		pieces++;
	}
	return -1;
}

static void events_come_out_in_the_order_they_went_in(void **state)
{
	struct ring *ring = make(64, false);
	struct event events[DRAIN_MAX];

	(void)state;
	for (int i = 0; i < 50; i++)
		push(ring, i, NULL, 0);
	assert_int_equal(ring_drain(ring, events, DRAIN_MAX), 50);
	for (int i = 0; i < 50; i++)
		assert_int_equal(events[i].tid, i);
	ring_destroy(ring);
}

static void drain_takes_no_more_than_asked_for(void **state)
{
	struct ring *ring = make(64, false);
	struct event events[DRAIN_MAX];

	(void)state;
	for (int i = 0; i < 10; i++)
		push(ring, i, NULL, 0);
	assert_int_equal(ring_drain(ring, events, 3), 3);
	assert_int_equal(ring_drain(ring, events, DRAIN_MAX), 7);
	assert_int_equal(events[0].tid, 3);
	ring_destroy(ring);
}

static void empty_ring_gives_nothing(void **state)
{
	struct ring *ring = make(8, false);
	struct event event;

	(void)state;
	assert_int_equal(ring_drain(ring, &event, 1), 0);
	assert_int_equal(ring_lost(ring), 0);
	ring_destroy(ring);
}

static void event_comes_out_as_it_went_in(void **state)
{
	struct ring *ring = make(8, false);
	struct event in = { .kind = EVENT_OP, .op = OP_WRITE, .via = VIA_WRITEBACK, .tid = 7,
		.time_ns = INT64_MAX, .u.op = { .result = -5, .offset = -1, .length = UINT64_MAX } };
	struct event out;

	(void)state;
	ring_push(ring, &in, NULL, 0);
	ring_drain(ring, &out, 1);
	assert_memory_equal(&in, &out, sizeof(in));
	ring_destroy(ring);
}

static void text_of_any_length_arrives_whole(void **state)
{
	struct ring *ring = make(256, false);
	char in[5000], out[5000];
	struct event event;

	(void)state;
	for (size_t i = 0; i < sizeof(in); i++)
		in[i] = "abcdefg\0x"[i % 9];
	for (size_t len = 0; len < sizeof(in); len = len < 300 ? len + 1 : len * 2) {
		push(ring, 1, in, len);
		assert_int_equal(take(ring, &event, out), len);
		assert_memory_equal(in, out, len);
	}
	ring_destroy(ring);
}

static void full_dropping_ring_counts_what_it_loses(void **state)
{
	struct ring *ring = make(8, true);
	struct event events[DRAIN_MAX];

	(void)state;
	for (int i = 0; i < 100; i++)
		push(ring, i, NULL, 0);
	assert_true(ring_lost(ring) > 0);
	assert_int_equal(ring_drain(ring, events, DRAIN_MAX), 100 - ring_lost(ring));
	assert_int_equal(events[0].tid, 0);
	ring_destroy(ring);
}

static void dropping_ring_takes_again_when_there_is_room(void **state)
{
	struct ring *ring = make(8, true);
	struct event events[DRAIN_MAX];

	(void)state;
	for (int i = 0; i < 100; i++)
		push(ring, i, NULL, 0);
	ring_drain(ring, events, DRAIN_MAX);
	push(ring, 200, NULL, 0);
	assert_int_equal(ring_drain(ring, events, DRAIN_MAX), 1);
	assert_int_equal(events[0].tid, 200);
	ring_destroy(ring);
}

static void lost_event_with_a_long_text_is_one_loss(void **state)
{
	struct ring *ring = make(8, true);
	char text[400] = { 0 };

	(void)state;
	for (int i = 0; i < 7; i++)
		push(ring, i, NULL, 0);
	assert_int_equal(ring_lost(ring), 0);
	push(ring, 7, text, sizeof(text));
	assert_int_equal(ring_lost(ring), 1);
	ring_destroy(ring);
}

/* ---- threads ---- */

struct producer {
	pthread_t thread;
	_Atomic int begun;
	struct ring *ring;
	int number, n;
	size_t text_len; /* of the longest */
};

static void *produce(void *arg)
{
	struct producer *p = arg;
	char text[2048];

	memset(text, 'a' + p->number, sizeof(text));
	for (int i = 0; i < p->n; i++) {
		struct event ev = { .kind = EVENT_OP, .tid = p->number, .time_ns = i };

		p->begun = i + 1;
		ring_push(p->ring, &ev, text, p->text_len ? (size_t)i * 37 % p->text_len : 0);
	}
	return NULL;
}

static void full_ring_makes_its_producer_wait(void **state)
{
	struct producer p = { .ring = make(8, false), .n = 100 };
	struct event event;
	int next = 0;

	(void)state;
	assert_int_equal(pthread_create(&p.thread, NULL, produce, &p), 0);
	while (next < p.n) { /* one is taken out when the next but seven is on its way */
		while (p.begun < p.n && p.begun < next + 8)
			sched_yield();
		if (ring_drain(p.ring, &event, 1))
			assert_int_equal(event.time_ns, next++);
	}
	pthread_join(p.thread, NULL);
	assert_int_equal(ring_lost(p.ring), 0);
	assert_true(ring_waited_ns(p.ring) > 0);
	ring_destroy(p.ring);
}

#define PRODUCERS 4
#define EACH 500

/* A text that is on its way, and the next number of each producer. */
struct received {
	char text[2048];
	size_t len;
	int64_t next[PRODUCERS];
};

static void receive(struct received *r, struct event *event)
{
	if (event->kind == EVENT_TEXT) {
		assert_int_equal(event->u.text.offset, r->len);
		memcpy(r->text + r->len, event_piece(event), event->text_len);
		r->len += event->text_len;
		return;
	}
	if (event->text_len <= EVENT_TEXT_INLINE)
		memcpy(r->text, event->text, event->text_len);
	else
		assert_int_equal(r->len, event->text_len);
	for (size_t i = 0; i < event->text_len; i++)
		assert_int_equal(r->text[i], 'a' + event->tid);
	assert_int_equal(event->time_ns, r->next[event->tid]);
	r->next[event->tid]++;
	r->len = 0;
}

static void long_texts_of_several_producers_do_not_mix(void **state)
{
	struct ring *ring = make(1024, false);
	struct producer p[PRODUCERS];
	static struct received received;
	struct event event;

	(void)state;
	for (int i = 0; i < PRODUCERS; i++) {
		p[i] = (struct producer){ .ring = ring, .number = i, .n = EACH, .text_len = 1500 };
		assert_int_equal(pthread_create(&p[i].thread, NULL, produce, &p[i]), 0);
	}
	for (int done = 0; done < PRODUCERS * EACH;)
		if (ring_drain(ring, &event, 1)) {
			receive(&received, &event);
			done += event.kind == EVENT_OP;
		}
	for (int i = 0; i < PRODUCERS; i++)
		pthread_join(p[i].thread, NULL);
	assert_int_equal(ring_lost(ring), 0);
	ring_destroy(ring);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_come_out_in_the_order_they_went_in),
		cmocka_unit_test(drain_takes_no_more_than_asked_for),
		cmocka_unit_test(empty_ring_gives_nothing),
		cmocka_unit_test(event_comes_out_as_it_went_in),
		cmocka_unit_test(text_of_any_length_arrives_whole),
		cmocka_unit_test(full_dropping_ring_counts_what_it_loses),
		cmocka_unit_test(dropping_ring_takes_again_when_there_is_room),
		cmocka_unit_test(lost_event_with_a_long_text_is_one_loss),
		cmocka_unit_test(full_ring_makes_its_producer_wait),
		cmocka_unit_test(long_texts_of_several_producers_do_not_mix),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
