/* SPDX-License-Identifier: MIT */

/* calls.h: requests that are pieces of one read or write become one operation. */

#include "feed.h"

enum { P = 10, Q = 20, MIB = 1 << 20 };

static void piece_at(struct feed *f, pid_t tid, uint64_t handle, int64_t offset, int64_t length, int64_t result,
	uint64_t call)
{
	feed_op(f, OP_EVENT(f, tid, OP_WRITE, .handle = handle, .offset = offset, .length = (uint64_t)length,
		.result = result, .call = call), NULL);
}

/* All of it was moved. */
static void piece(struct feed *f, pid_t tid, uint64_t handle, int64_t offset, int64_t length, uint64_t call)
{
	piece_at(f, tid, handle, offset, length, length, call);
}

static uint64_t begin(struct feed *f)
{
	return feed_open(f, P, feed_file(f, P, NODE_ROOT, "a", 9), O_RDWR);
}

static const char *writes(struct feed *f)
{
	return ask(f, "SELECT offset, length, result, pieces FROM op WHERE name = 'write' ORDER BY id");
}

static void pieces_of_a_call_are_one_operation(void **state)
{
	struct feed *f = *state;
	uint64_t h = begin(f);

	piece(f, P, h, 0, MIB - 48, MIB);
	assert_string_equal(writes(f), "");
	piece(f, P, h, MIB - 48, 48, 0);
	assert_string_equal(writes(f), "0|1048576|1048576|2");
	assert_string_equal(ask(f, "SELECT nwrite, bwrite, nseek, consecutive_writes FROM handle"), "1|1048576|0|1");
}

static void latency_is_from_the_first_begin_to_the_last_end(void **state)
{
	struct feed *f = *state;
	uint64_t h = begin(f);

	piece(f, P, h, 0, MIB, 2 * MIB);
	piece(f, P, h, MIB, MIB, 2 * MIB);
	assert_string_equal(ask(f, "SELECT latency_ns FROM op WHERE name = 'write'"), "1007");
}

static void calls_of_their_own_stay_apart(void **state)
{
	struct feed *f = *state;
	uint64_t h = begin(f);

	piece(f, P, h, 0, MIB, MIB);
	piece(f, P, h, MIB, MIB - 48, MIB - 48);
	piece(f, P, h, 2 * MIB - 48, 48, 0);
	assert_string_equal(writes(f), "0|1048576|1048576|1\n1048576|1048528|1048528|1\n2097104|48|48|1");
}

static void piece_that_moved_less_is_the_last(void **state)
{
	struct feed *f = *state;
	uint64_t h = begin(f);

	piece(f, P, h, 0, MIB, 5 * MIB);
	piece_at(f, P, h, MIB, MIB, 100, 5 * MIB);
	piece_at(f, P, h, MIB + 100, MIB, 7, 4 * MIB);
	assert_string_equal(writes(f), "0|5242880|1048676|2\n1048676|4194304|7|1");
}

static void error_of_a_later_piece_is_a_short_write(void **state)
{
	struct feed *f = *state;
	uint64_t h = begin(f);

	piece(f, P, h, 0, MIB, 2 * MIB);
	piece_at(f, P, h, MIB, MIB, -ENOSPC, 2 * MIB);
	piece_at(f, P, h, MIB, MIB, -ENOSPC, MIB);
	assert_string_equal(writes(f), "0|2097152|1048576|2\n1048576|1048576|-28|1");
}

static void threads_do_not_mix(void **state)
{
	struct feed *f = *state;
	uint64_t h = begin(f);

	piece(f, P, h, 0, MIB, 2 * MIB);
	piece(f, Q, h, MIB, MIB, 2 * MIB);
	piece(f, P, h, MIB, MIB, 2 * MIB);
	piece(f, Q, h, 2 * MIB, MIB, 2 * MIB);
	assert_string_equal(writes(f), "0|2097152|2097152|2\n1048576|2097152|2097152|2");
}

static void call_that_was_broken_off_ends_with_what_its_thread_does_next(void **state)
{
	struct feed *f = *state;
	uint64_t h = begin(f);

	piece(f, P, h, 0, MIB, 2 * MIB);
	piece(f, P, h, 0, 10, 0);
	assert_string_equal(writes(f), "0|2097152|1048576|1\n0|10|10|1");
}

static void page_faults_of_the_thread_break_nothing_off(void **state)
{
	struct feed *f = *state;
	uint64_t h = begin(f), buffer = begin(f);

	piece(f, P, h, 0, MIB, 2 * MIB);
	feed_data(f, P, OP_READ, buffer, 0, 4096, VIA_PAGECACHE);
	piece(f, P, h, MIB, MIB, 2 * MIB);
	assert_string_equal(writes(f), "0|2097152|2097152|2");
}

static void call_that_was_broken_off_ends_with_its_handle(void **state)
{
	struct feed *f = *state;
	uint64_t h = begin(f);

	piece(f, P, h, 0, MIB, 2 * MIB);
	feed_release(f, 0, h);
	assert_string_equal(writes(f), "0|2097152|1048576|1");
	assert_string_equal(ask(f, "SELECT bwrite FROM handle"), "1048576");
}

static void call_that_was_broken_off_ends_with_its_thread(void **state)
{
	struct feed *f = *state;
	uint64_t h = begin(f);

	piece(f, P, h, 0, MIB, 3 * MIB);
	f->now += 10 * STEP;
	feed_exit(f, P, 0);
	f->now -= 5 * STEP;
	/* Told of the end before what was earlier. */
	piece(f, P, h, MIB, MIB, 3 * MIB);
	assert_string_equal(writes(f), "");
	f->now += 10 * STEP;
	feed_lookup_fails(f, Q, NODE_ROOT, "x");
	assert_string_equal(writes(f), "0|3145728|2097152|2");
}

static void what_is_left_at_the_end_is_recorded(void **state)
{
	struct feed *f = *state;
	uint64_t h = begin(f);

	piece(f, P, h, 0, MIB, 2 * MIB);
	assert_int_equal(record_finish(f->record), 0);
	assert_string_equal(writes(f), "0|2097152|1048576|1");
}

static void there_is_room_for_some_and_none_is_lost(void **state)
{
	struct feed *f = *state;
	uint64_t h = begin(f);

	for (int i = 0; i < 300; i++)
		piece(f, 1000 + i, h, 0, MIB, 2 * MIB);
	for (int i = 0; i < 300; i++)
		piece(f, 1000 + i, h, MIB, MIB, 2 * MIB);
	assert_int_equal(record_finish(f->record), 0);
	assert_string_equal(ask(f, "SELECT sum(result) / 1048576, sum(pieces) FROM op WHERE name = 'write'"),
		"600|600");
}

static void calls_that_cannot_be_told_apart_have_an_unknown_number_of_pieces(void **state)
{
	struct feed *f = *state;
	uint64_t h = begin(f);

	piece(f, P, h, 0, MIB, CALL_UNKNOWN);
	piece(f, P, h, MIB, MIB, CALL_UNKNOWN);
	assert_string_equal(writes(f), "0|1048576|1048576|NULL\n1048576|1048576|1048576|NULL");
}

static void only_calls_have_pieces(void **state)
{
	struct feed *f = *state;

	feed_data(f, P, OP_READ, begin(f), 0, 4096, VIA_PAGECACHE);
	assert_string_equal(ask(f, "SELECT count(*), count(pieces) FROM op"), "3|0");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, feed_setup_processes, feed_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(pieces_of_a_call_are_one_operation),
		TEST(latency_is_from_the_first_begin_to_the_last_end),
		TEST(calls_of_their_own_stay_apart),
		TEST(piece_that_moved_less_is_the_last),
		TEST(error_of_a_later_piece_is_a_short_write),
		TEST(threads_do_not_mix),
		TEST(call_that_was_broken_off_ends_with_what_its_thread_does_next),
		TEST(page_faults_of_the_thread_break_nothing_off),
		TEST(call_that_was_broken_off_ends_with_its_handle),
		TEST(call_that_was_broken_off_ends_with_its_thread),
		TEST(what_is_left_at_the_end_is_recorded),
		TEST(there_is_room_for_some_and_none_is_lost),
		TEST(calls_that_cannot_be_told_apart_have_an_unknown_number_of_pieces),
		TEST(only_calls_have_pieces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
