/* SPDX-License-Identifier: MIT */

/* order.h and tables.h: records of operations become events by what each process has open; wrong ones do no harm. */

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "db/event.h"
#include "db/ring.h"
#include "preload/order.h"
#include "preload/tables.h"
#include "preload/wire.h"
#include "test.h"

#define SLOTS 65536
#define RANDOM 20000

struct fixture {
	struct tables *tables;
	struct order *order;
	struct ring *ring;
	int64_t now_ns;
	struct event events[SLOTS];
	size_t n;
};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	assert_int_equal(ring_create(SLOTS, true, &f->ring), 0);
	assert_int_equal(tables_create(f->ring, &f->tables), 0);
	assert_int_equal(order_create(&f->order), 0);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	ring_destroy(f->ring);
	tables_destroy(f->tables);
	order_destroy(f->order);
	free(f);
	return 0;
}

/* ---- records ---- */

static void take(struct fixture *f, struct wire_record record, const struct wire_more *more, const struct wire_seen *seen, const char *text)
{
	char bytes[4096];
	size_t len = 0;

	if (more)
		memcpy(bytes, more, sizeof(*more)), len += sizeof(*more);
	if (seen)
		memcpy(bytes + len, seen, sizeof(*seen)), len += sizeof(*seen), record.known |= WIRE_HAS_SEEN;
	memcpy(bytes + len, text, strlen(text) + 1);
	record.text_len = (uint16_t)(len + strlen(text));
	record.start_ns = f->now_ns += 10;
	record.latency_ns = 5;
	tables_take(f->tables, &record, bytes);
}

static void begin(struct fixture *f, uint32_t caller, int pid, enum wire_begin how, int parent, uint32_t mark)
{
	take(f, (struct wire_record){ .kind = WIRE_CALLER, .caller = caller, .pid = pid, .tid = pid, .offset = how, .length = parent,
		.number = mark }, NULL, NULL, "");
}

static void operate(struct fixture *f, uint32_t caller, enum op op, int fd, int64_t result, const char *text)
{
	const struct wire_seen seen = { .dev = 1, .ino = 100 + (uint64_t)fd, .birth_ns = 7, .mode = S_IFREG | 0600, .nlink = 1 };

	take(f, (struct wire_record){ .kind = WIRE_OP, .code = (uint16_t)op, .caller = caller, .fd = fd, .result = result,
		.known = WIRE_HAS_FD | WIRE_HAS_RESULT }, &(struct wire_more){ .dir = AT_FDCWD, .dir2 = AT_FDCWD },
		op == OP_OPEN ? &seen : NULL, text);
}

static void mark(struct fixture *f, uint32_t caller, uint32_t number)
{
	take(f, (struct wire_record){ .kind = WIRE_FORK, .caller = caller, .number = number }, &(struct wire_more){ 0 }, NULL, "");
}

static void drain(struct fixture *f)
{
	f->n = ring_drain(f->ring, f->events, SLOTS);
}

/* The n-th event of that operation; NULL: there are fewer. */
static const struct event *find(const struct fixture *f, enum op op, int n)
{
	for (size_t i = 0; i < f->n; i++)
		if (f->events[i].kind == EVENT_OP && f->events[i].op == op && n-- == 0)
			return &f->events[i];
	return NULL;
}

/* ---- tests ---- */

static void descriptors_lead_to_what_was_opened(void **state)
{
	struct fixture *f = *state;
	uint64_t handle;

	begin(f, 1, 10, WIRE_PROGRAM, 9, 0);
	operate(f, 1, OP_OPEN, 3, 3, "/a");
	operate(f, 1, OP_DUP, 3, 7, "");
	operate(f, 1, OP_CLOSE, 3, 0, "");
	operate(f, 1, OP_WRITE, 7, 20, "");
	operate(f, 1, OP_WRITE, 3, -9, "");
	operate(f, 1, OP_CLOSE, 7, 0, "");
	drain(f);
	handle = find(f, OP_OPEN, 0)->u.op.handle;
	assert_true(handle > 0);
	assert_int_equal(find(f, OP_WRITE, 0)->u.op.handle, handle);
	assert_null(find(f, OP_WRITE, 1));
	assert_int_equal(find(f, OP_RELEASE, 0)->u.op.handle, handle);
	assert_null(find(f, OP_RELEASE, 1));
	assert_int_equal(find(f, OP_RELEASE, 0)->time_ns, find(f, OP_CLOSE, 1)->time_ns + 5);
}

static void a_child_has_what_its_parent_had_at_the_fork(void **state)
{
	struct fixture *f = *state;

	begin(f, 1, 10, WIRE_PROGRAM, 9, 0);
	operate(f, 1, OP_OPEN, 3, 3, "/a");
	mark(f, 1, 1);
	operate(f, 1, OP_CLOSE, 3, 0, "");
	operate(f, 1, OP_OPEN, 3, 3, "/b");
	begin(f, 2, 11, WIRE_CHILD, 10, 1);
	operate(f, 2, OP_READ, 3, 5, "");
	operate(f, 1, OP_READ, 3, 6, "");
	drain(f);
	assert_int_equal(find(f, OP_READ, 0)->u.op.handle, find(f, OP_OPEN, 0)->u.op.handle);
	assert_int_equal(find(f, OP_READ, 0)->tid, 11);
	assert_int_equal(find(f, OP_READ, 1)->u.op.handle, find(f, OP_OPEN, 1)->u.op.handle);
	assert_null(find(f, OP_RELEASE, 0));
	tables_end(f->tables, f->now_ns, true);
	drain(f);
	assert_non_null(find(f, OP_RELEASE, 1));
	assert_null(find(f, OP_RELEASE, 2));
}

static void paths_begin_at_the_working_directory(void **state)
{
	struct fixture *f = *state;

	begin(f, 1, 10, WIRE_PROGRAM, 9, 0);
	take(f, (struct wire_record){ .kind = WIRE_CWD, .caller = 1 }, &(struct wire_more){ 0 }, NULL, "/home/x");
	operate(f, 1, OP_UNLINK, -1, 0, "a/b");
	operate(f, 1, OP_UNLINK, -1, 0, "/c");
	drain(f);
	assert_int_equal(find(f, OP_UNLINK, 0)->text_len, strlen("/home/x/a/b"));
	assert_memory_equal(find(f, OP_UNLINK, 0)->text, "/home/x/a/b", strlen("/home/x/a/b"));
	assert_memory_equal(find(f, OP_UNLINK, 1)->text, "/c", 2);
}

static void keep(void *arg, const struct wire_record *record, char *text)
{
	int64_t *at = arg;

	(void)text;
	at[++at[0]] = record->number;
}

static void records_are_taken_in_the_order_of_their_ends(void **state)
{
	const struct {
		int64_t start_ns, latency_ns;
		uint8_t known;
	} calls[] = { { 10, 90, 0 }, { 20, 5, 0 }, { 15, 100, WIRE_AT_START }, { 20, 5, 0 }, { 300, 1, 0 } };
	const int64_t order[] = { 2, 1, 3, 0 };
	struct fixture *f = *state;
	int64_t got[8] = { 0 };

	for (uint32_t i = 0; i < 5; i++)
		assert_int_equal(order_add(f->order, &(struct wire_record){ .kind = WIRE_OP, .number = i, .known = calls[i].known,
			.start_ns = calls[i].start_ns, .latency_ns = calls[i].latency_ns }, ""), 0);
	order_take(f->order, 200, keep, got);
	assert_int_equal(got[0], 4);
	assert_memory_equal(got + 1, order, sizeof(order));
	order_take(f->order, INT64_MAX, keep, got);
	assert_int_equal(got[0], 5);
}

static uint32_t below(uint32_t n)
{
	return (uint32_t)rand() % n;
}

static void take_random(struct fixture *f)
{
	struct wire_record record = { .kind = (uint8_t)(WIRE_CALLER + below(WIRE_KIND_MAX)), .code = (uint16_t)below(OP_MAX + 2), .caller = below(6),
		.number = below(4), .fd = (int32_t)below(90) - 2, .tid = (int32_t)below(6), .known = (uint8_t)rand(), .offset = below(4),
		.length = below(8) ? below(200) : INT64_MIN + rand(), .result = (int64_t)below(100) - 5,
		.start_ns = below(9) ? (f->now_ns += 3) : INT64_MIN + rand(), .latency_ns = below(9) ? below(100) : INT64_MAX - rand() };
	char text[300];

	record.text_len = (uint16_t)below(sizeof(text) - 1);
	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = (char)(below(3) ? below(4) : below(2) ? (uint32_t)'/' : below(256));
	text[record.text_len] = '\0';
	tables_take(f->tables, &record, text);
}

/* Each handle ends once, after all that was done with it. */
static size_t check_handles(const struct fixture *f, uint8_t *has_ended, size_t room)
{
	size_t ends = 0;

	for (size_t i = 0; i < f->n; i++) {
		const struct event *ev = &f->events[i];

		if (ev->kind != EVENT_OP)
			continue;
		assert_true(ev->op < OP_MAX && ev->u.op.handle < room);
		assert_true(!ev->u.op.handle || !has_ended[ev->u.op.handle]);
		if (ev->op != OP_RELEASE)
			continue;
		has_ended[ev->u.op.handle] = 1;
		ends++;
	}
	return ends;
}

static void wrong_records_do_no_harm(void **state)
{
	struct fixture *f = *state;
	uint8_t *has_ended = calloc(RANDOM + 1, 1);
	size_t ends = 0;

	assert_non_null(has_ended);
	srand(29);
	for (int i = 0; i < RANDOM; i++) {
		take_random(f);
		drain(f);
		ends += check_handles(f, has_ended, RANDOM + 1);
	}
	tables_end(f->tables, f->now_ns, true);
	drain(f);
	ends += check_handles(f, has_ended, RANDOM + 1);
	assert_true(ends > 100);
	assert_true(tables_failed(f->tables) > 0);
	print_message("%d wrong records: %llu operations, %zu handles, %llu refused\n", RANDOM, (unsigned long long)tables_taken(f->tables), ends,
		(unsigned long long)tables_failed(f->tables));
	free(has_ended);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(descriptors_lead_to_what_was_opened),
		TEST(a_child_has_what_its_parent_had_at_the_fork),
		TEST(paths_begin_at_the_working_directory),
		TEST(records_are_taken_in_the_order_of_their_ends),
		TEST(wrong_records_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
