/* SPDX-License-Identifier: MIT */

/* op_times.h: the operations of each process are counted, however many processes there are. */

#include "db/op_times.h"
#include "stored.h"

struct fixture {
	struct stored in;
	struct op_times *times;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	stored_begin(&f->in);
	assert_int_equal(store_begin(f->in.store), 0);
	assert_int_equal(op_times_create(f->in.store, &f->times), 0);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	op_times_destroy(f->times);
	stored_end(&f->in);
	free(f);
	return 0;
}

static const char *ask(struct fixture *f, const char *what)
{
	assert_int_equal(op_times_flush(f->times), 0);
	stored_commit(&f->in);
	return sql_ask(f->in.db, "%s", what);
}

static void add(struct fixture *f, int64_t process, int64_t ns)
{
	assert_int_equal(op_times_add(f->times, process, ns), 0);
}

static void operations_of_a_process_are_one_sum(void **state)
{
	struct fixture *f = *state;

	add(f, 1, 10);
	add(f, 1, 20);
	add(f, 0, 5);
	assert_string_equal(ask(f, "SELECT process, ops, ns FROM op_times ORDER BY process"), "0|1|5\n1|2|30");
	add(f, 1, 30);
	assert_string_equal(ask(f, "SELECT process, ops, ns FROM op_times ORDER BY process"), "0|1|5\n1|3|60");
}

static void processes_of_one_place_are_told_apart(void **state)
{
	struct fixture *f = *state;

	for (int round = 0; round < 3; round++)
		for (int64_t process = 0; process < 2000; process++)
			add(f, process, process);
	assert_string_equal(ask(f, "SELECT count(*), min(ops), max(ops), sum(ns = 3 * process) FROM op_times"),
		"2000|3|3|2000");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(operations_of_a_process_are_one_sum),
		TEST(processes_of_one_place_are_told_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
