/* SPDX-License-Identifier: MIT */

/* drain.h: what programs publish becomes events, in order; nothing that they write there does harm. */

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "db/event.h"
#include "db/layers.h"
#include "db/ring.h"
#include "preload/drain.h"
#include "preload/wire.h"
#include "test.h"

#define ROUNDS 2000
#define SLOTS 65536

struct fixture {
	struct wire_header *header;
	struct drain *drain;
	struct ring *ring;
	struct event events[SLOTS];
};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	f->header = calloc(1, WIRE_BYTES);
	assert_non_null(f->header);
	assert_int_equal(drain_create(f->header, &f->drain), 0);
	assert_int_equal(ring_create(SLOTS, true, &f->ring), 0);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	ring_destroy(f->ring);
	drain_destroy(f->drain);
	free(f->header);
	free(f);
	return 0;
}

static void claim(struct fixture *f, uint32_t i, uint64_t number, enum wire_state state)
{
	wire_chunk(f->header, i)->state = number * WIRE_STATES + state;
}

static void add(struct fixture *f, uint32_t i, uint32_t number, const char *text)
{
	struct wire_chunk *chunk = wire_chunk(f->header, i);
	struct wire_record record = { .kind = WIRE_CALL, .code = CALL_READ, .caller = 1, .number = number, .known = WIRE_HAS_FD, .fd = 3,
		.text_len = (uint16_t)strlen(text) };

	record.bytes = (uint16_t)WIRE_ROUND(sizeof(record) + record.text_len);
	memcpy(chunk->data + chunk->used, &record, sizeof(record));
	memcpy(chunk->data + chunk->used + sizeof(record), text, record.text_len);
	chunk->used += record.bytes;
}

static int state_of(struct fixture *f, uint32_t i)
{
	return (int)(wire_chunk(f->header, i)->state % WIRE_STATES);
}

static void records_come_in_the_order_of_the_claims(void **state)
{
	struct fixture *f = *state;

	claim(f, 7, 1, WIRE_FULL);
	claim(f, 2, 2, WIRE_OWNED);
	add(f, 2, 3, "");
	add(f, 7, 1, "a/path");
	add(f, 7, 2, "");
	assert_int_equal(drain_pass(f->drain, f->ring, false), 3);
	assert_int_equal(ring_drain(f->ring, f->events, SLOTS), 3);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(f->events[i].kind, EVENT_CALL);
		assert_int_equal(f->events[i].u.call.number, i + 1);
		assert_int_equal(f->events[i].u.call.fd, 3);
		assert_true(f->events[i].u.call.has_fd && !f->events[i].u.call.has_result);
	}
	assert_memory_equal(f->events[0].text, "a/path", 6);
	assert_int_equal(drain_taken(f->drain), 3);
	assert_int_equal(drain_lost(f->drain), 0);
}

static void full_chunks_are_free_again_and_owned_ones_are_read_on(void **state)
{
	struct fixture *f = *state;

	claim(f, 0, 1, WIRE_FULL);
	claim(f, 1, 2, WIRE_OWNED);
	add(f, 0, 1, "");
	add(f, 1, 2, "");
	assert_int_equal(drain_pass(f->drain, f->ring, false), 2);
	assert_int_equal(state_of(f, 0), WIRE_FREE);
	assert_int_equal(wire_chunk(f->header, 0)->used, 0);
	assert_int_equal(state_of(f, 1), WIRE_OWNED);
	add(f, 1, 3, "");
	assert_int_equal(drain_pass(f->drain, f->ring, false), 1);
	assert_int_equal(drain_pass(f->drain, f->ring, false), 0);
}

static void chunks_of_idle_threads_are_taken_back_when_few_are_free(void **state)
{
	struct fixture *f = *state;

	for (uint32_t i = 0; i < WIRE_CHUNKS; i++)
		claim(f, i, i + 1, i == 5 ? WIRE_BUSY : WIRE_OWNED);
	for (int i = 0; i < 3; i++)
		assert_int_equal(drain_pass(f->drain, f->ring, false), 0);
	for (uint32_t i = 0; i < WIRE_CHUNKS; i++)
		assert_int_equal(state_of(f, i), i == 5 ? WIRE_BUSY : WIRE_FREE);
}

static void the_last_pass_ends_the_record_and_counts_what_was_dropped(void **state)
{
	struct fixture *f = *state;

	f->header->lost = 3;
	f->header->waited_ns = 5;
	assert_int_equal(drain_pass(f->drain, f->ring, true), 0);
	assert_int_equal(f->header->over, 1);
	assert_int_equal(drain_lost(f->drain), 3);
	assert_int_equal(drain_waited_ns(f->drain), 5);
}

/* Bytes of any kind; or records of which some fields are wrong. */
static void spoil(struct wire_chunk *chunk)
{
	struct wire_record *record = (struct wire_record *)chunk->data;

	if (rand() % 2) {
		for (size_t i = 0; i < sizeof(chunk->data); i++)
			chunk->data[i] = (char)rand();
	} else {
		*record = (struct wire_record){ .bytes = (uint16_t)(rand() % 3 ? 64 : rand()), .kind = (uint8_t)(rand() % 4),
			.code = (uint16_t)(rand() % 2 ? rand() : CALL_MAX - rand() % 2), .text_len = (uint16_t)(rand() % 3 ? 0 : rand()),
			.start_ns = INT64_MIN + rand(), .latency_ns = rand() % 2 ? INT64_MIN : INT64_MAX };
	}
	if (rand() % 4 == 0 && chunk->used)
		record->known |= WIRE_HAS_SUM;
	chunk->used = rand() % 2 ? (uint32_t)rand() : (uint32_t)(rand() % (int)sizeof(chunk->data));
	chunk->state = ((uint64_t)rand() << 40) + (uint64_t)rand();
}

static void spoil_block(struct wire_block *block)
{
	for (size_t i = 0; i < sizeof(*block); i++)
		((char *)block)[i] = (char)rand();
	block->pid = block->tid = 0;
}

static void any_bytes_do_no_harm(void **state)
{
	struct fixture *f = *state;
	size_t events = 0;

	srand(29);
	f->header->detail_above_ns = 1;
	for (int round = 0; round < ROUNDS; round++) {
		size_t n;

		spoil(wire_chunk(f->header, (uint32_t)(rand() % WIRE_CHUNKS)));
		spoil_block(wire_block(f->header, (uint32_t)(rand() % WIRE_BLOCKS)));
		assert_true(drain_pass(f->drain, f->ring, false) >= 0);
		n = ring_drain(f->ring, f->events, SLOTS);
		for (size_t i = 0; i < n; i++)
			if (f->events[i].kind == EVENT_CALL) {
				assert_true(f->events[i].u.call.code < CALL_MAX);
				assert_true(f->events[i].u.call.latency_ns >= 0 && f->events[i].time_ns >= 0);
			}
		events += n;
	}
	assert_true(events > 0);
	assert_true(drain_lost(f->drain) > 0);
	print_message("%d chunks with wrong bytes: %zu events, %llu records given up\n", ROUNDS, events,
		(unsigned long long)drain_lost(f->drain));
}

/* Of a thread of that process, which exists if it is ours. */
static struct wire_block *leave(struct fixture *f, uint32_t i, uint32_t caller, int32_t pid, uint64_t calls)
{
	struct wire_block *block = wire_block(f->header, i);

	block->caller = caller;
	block->pid = pid;
	block->tid = pid + (int32_t)(pid == getpid() ? 0 : caller);
	block->sums[WIRE_READS] = (struct wire_sum){ .calls = calls, .timed = calls, .number = 9, .code = CALL_READ, .fd = 3, .bytes = 5,
		.known = WIRE_HAS_FD | WIRE_HAS_RESULT, .start_ns = 1, .end_ns = 2, .most_ns = -1 };
	return block;
}

static struct layer_sum sum_of(const struct event *event)
{
	struct layer_sum sum;

	assert_int_equal(event->kind, EVENT_CALL);
	assert_true(event->u.call.has_sum);
	memcpy(&sum, event->text, sizeof(sum));
	return sum;
}

static void sums_of_ended_threads_are_taken_and_others_at_the_end(void **state)
{
	struct fixture *f = *state;
	struct wire_block *ended = leave(f, 3, 1, getpid(), 70);

	f->header->detail_above_ns = 1;
	leave(f, 4, 2, getpid(), 30);
	atomic_store(&ended->ended, 1);
	assert_int_equal(drain_pass(f->drain, f->ring, false), 1);
	assert_int_equal(ring_drain(f->ring, f->events, SLOTS), 1);
	assert_int_equal(f->events[0].u.call.caller, 1);
	assert_int_equal(f->events[0].u.call.result, 5);
	assert_int_equal(sum_of(&f->events[0]).calls, 70);
	assert_int_equal(sum_of(&f->events[0]).most_ns, 0);
	assert_int_equal(ended->caller, 0);
	assert_int_equal(ended->sums[WIRE_READS].number, 0);
	assert_int_equal(drain_pass(f->drain, f->ring, true), 1);
	assert_int_equal(ring_drain(f->ring, f->events, SLOTS), 1);
	assert_int_equal(sum_of(&f->events[0]).calls, 30);
	assert_int_equal(drain_pass(f->drain, f->ring, true), 0);
}

static void a_sum_that_was_handed_over_is_not_taken_again(void **state)
{
	struct fixture *f = *state;
	struct layer_sum sum = { .calls = 70, .measured = MEASURED_ALL, .place = 1 + 3 * WIRE_SUMS + WIRE_READS };
	char text[sizeof(sum)];
	struct wire_record record = { .kind = WIRE_CALL, .code = CALL_READ, .caller = 1, .number = 9, .known = WIRE_HAS_SUM,
		.text_len = sizeof(sum), .bytes = sizeof(record) + sizeof(sum) };
	struct wire_chunk *chunk = wire_chunk(f->header, 0);

	f->header->detail_above_ns = 1;
	leave(f, 3, 1, getpid(), 70);
	claim(f, 0, 1, WIRE_OWNED);
	memcpy(text, &sum, sizeof(sum));
	memcpy(chunk->data, &record, sizeof(record));
	memcpy(chunk->data + sizeof(record), text, sizeof(text));
	chunk->used = record.bytes;
	assert_int_equal(drain_pass(f->drain, f->ring, true), 1);
	assert_int_equal(drain_pass(f->drain, f->ring, true), 0);
	assert_int_equal(drain_taken(f->drain), 1);
}

static void blocks_of_dead_threads_are_freed_when_many_are_used(void **state)
{
	struct fixture *f = *state;
	pid_t pid = fork();
	int free = 0;

	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
	f->header->detail_above_ns = 1;
	for (uint32_t i = 0; i < WIRE_BLOCKS; i++)
		leave(f, i, i + 1, i % 2 ? pid : i == 0 || i == 2 ? getpid() : 0, 1);
	wire_block(f->header, 4)->tid = 0;
	assert_int_equal(drain_pass(f->drain, f->ring, false), 0);
	/* Of two blocks of one thread, the first is that of the program before. */
	assert_int_equal(drain_pass(f->drain, f->ring, false), WIRE_BLOCKS / 2 + 1);
	for (uint32_t i = 0; i < WIRE_BLOCKS; i++)
		free += wire_block(f->header, i)->caller == 0;
	assert_int_equal(free, WIRE_BLOCKS / 2 + 1);
	assert_int_equal(wire_block(f->header, 0)->caller, 0);
	assert_int_equal(wire_block(f->header, 2)->caller, 3);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(records_come_in_the_order_of_the_claims),
		TEST(full_chunks_are_free_again_and_owned_ones_are_read_on),
		TEST(chunks_of_idle_threads_are_taken_back_when_few_are_free),
		TEST(the_last_pass_ends_the_record_and_counts_what_was_dropped),
		TEST(sums_of_ended_threads_are_taken_and_others_at_the_end),
		TEST(a_sum_that_was_handed_over_is_not_taken_again),
		TEST(blocks_of_dead_threads_are_freed_when_many_are_used),
		TEST(any_bytes_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
