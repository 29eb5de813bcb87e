/* SPDX-License-Identifier: MIT */
#include "tests/unit/test.h"

#include <pthread.h>

#include "kernel/queue.h"

static void put(struct queue *queue, char byte, size_t len)
{
	struct chunk *chunk = queue_chunk(queue);

	assert_non_null(chunk);
	memset(chunk->bytes, byte, len);
	chunk->len = len;
	chunk->records = 1;
	queue_put(queue, chunk);
}

static void take(struct queue *queue, char byte, size_t len)
{
	struct chunk *chunk = queue_take(queue);

	assert_non_null(chunk);
	assert_false(chunk->is_lost);
	assert_int_equal(chunk->len, len);
	for (size_t i = 0; i < len; i++)
		assert_int_equal(chunk->bytes[i], byte);
	queue_done(queue, chunk);
}

static void chunks_come_in_order_from_memory_and_file(void **state)
{
	struct queue *queue;
	(void)state;

	assert_int_equal(queue_create(2 * CHUNK_BYTES, "/tmp", &queue), 0);
	for (int i = 0; i < 8; i++)
		put(queue, 'a' + i, 100 + i);
	assert_int_equal(queue_spooled(queue), 102 + 103 + 104 + 105 + 106 + 107);
	take(queue, 'a', 100);
	put(queue, 'i', 50); /* there is room in memory again */
	for (int i = 1; i < 8; i++)
		take(queue, 'a' + i, 100 + i);
	take(queue, 'i', 50);
	assert_int_equal(queue_bytes(queue), 0);
	queue_close(queue);
	assert_null(queue_take(queue));
	queue_destroy(queue);
}

static void queue_is_empty_when_all_chunks_are_taken(void **state)
{
	struct queue *queue;
	struct chunk *chunk;
	(void)state;

	assert_int_equal(queue_create(2 * CHUNK_BYTES, "/tmp", &queue), 0);
	assert_true(queue_is_empty(queue));
	put(queue, 'a', 1);
	assert_false(queue_is_empty(queue));
	chunk = queue_take(queue);
	assert_true(queue_is_empty(queue)); /* although it is not done */
	queue_done(queue, chunk);
	queue_destroy(queue);
}

static void memory_is_used_again_beyond_the_spare_chunks(void **state)
{
	struct queue *queue;
	(void)state;

	assert_int_equal(queue_create(64 * CHUNK_BYTES, "/tmp", &queue), 0);
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 40; i++)
			put(queue, 'a' + i % 26, CHUNK_BYTES);
		for (int i = 0; i < 40; i++)
			take(queue, 'a' + i % 26, CHUNK_BYTES);
	}
	assert_int_equal(queue_spooled(queue), 0);
	queue_destroy(queue);
}

static void places_in_the_file_are_used_again(void **state)
{
	struct queue *queue;
	(void)state;

	assert_int_equal(queue_create(0, "/tmp", &queue), 0);
	for (int i = 0; i < 20; i++) {
		put(queue, 'a', 10);
		put(queue, 'b', 20);
		take(queue, 'a', 10);
		take(queue, 'b', 20);
	}
	queue_destroy(queue);
}

static void *take_late(void *arg)
{
	usleep(20000);
	for (int i = 0; i < 4; i++)
		take(arg, 'x', 10);
	return NULL;
}

static void without_a_file_the_queue_waits_for_memory(void **state)
{
	struct queue *queue;
	pthread_t thread;
	(void)state;

	assert_int_equal(queue_create(2 * CHUNK_BYTES, "/nonexistent", &queue), 0);
	pthread_create(&thread, NULL, take_late, queue);
	for (int i = 0; i < 4; i++)
		put(queue, 'x', 10);
	queue_wait(queue);
	pthread_join(thread, NULL);
	assert_int_equal(queue_spooled(queue), 0);
	queue_destroy(queue);
}

static void what_was_marked_is_done_with_the_chunks_before(void **state)
{
	struct queue *queue;
	struct chunk *first;
	(void)state;

	assert_int_equal(queue_create(8 * CHUNK_BYTES, "/tmp", &queue), 0);
	assert_int_equal(queue_done_until(queue), INT64_MIN);
	queue_mark(queue, 10);
	assert_int_equal(queue_done_until(queue), 10);
	put(queue, 'a', 10);
	queue_mark(queue, 20);
	put(queue, 'b', 10);
	queue_mark(queue, 30);
	first = queue_take(queue);
	queue_mark(queue, 40);
	assert_int_equal(queue_done_until(queue), 10);
	queue_done(queue, first);
	assert_int_equal(queue_done_until(queue), 20);
	take(queue, 'b', 10);
	assert_int_equal(queue_done_until(queue), 40);
	queue_mark(queue, 50);
	assert_int_equal(queue_done_until(queue), 50);
	queue_destroy(queue);
}

static void *await(void *arg)
{
	queue_wait(arg);
	return NULL;
}

#define LONG_MS 1000000

static void pause_ends_when_all_is_awaited_or_will_come(void **state)
{
	struct queue *queue;
	pthread_t thread;
	(void)state;

	assert_int_equal(queue_create(8 * CHUNK_BYTES, "/tmp", &queue), 0);
	assert_true(queue_pause(queue, 1));
	put(queue, 'a', 10);
	assert_true(queue_pause(queue, 1)); /* what comes does not end it */
	pthread_create(&thread, NULL, await, queue);
	assert_false(queue_pause(queue, LONG_MS));
	take(queue, 'a', 10);
	pthread_join(thread, NULL);
	assert_true(queue_pause(queue, 1));
	queue_close(queue);
	assert_false(queue_pause(queue, LONG_MS));
	queue_destroy(queue);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chunks_come_in_order_from_memory_and_file),
		cmocka_unit_test(queue_is_empty_when_all_chunks_are_taken),
		cmocka_unit_test(memory_is_used_again_beyond_the_spare_chunks),
		cmocka_unit_test(places_in_the_file_are_used_again),
		cmocka_unit_test(without_a_file_the_queue_waits_for_memory),
		cmocka_unit_test(what_was_marked_is_done_with_the_chunks_before),
		cmocka_unit_test(pause_ends_when_all_is_awaited_or_will_come),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
