/* SPDX-License-Identifier: MIT */

/* missing_names.h: how often each process looked for each name that was not there, however little memory there is. */

#include "db/missing_names.h"
#include "stored.h"

struct fixture {
	struct stored in;
	struct missing_names *names;
};

static int setup_with(void **state, size_t kept)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	stored_begin(&f->in);
	assert_int_equal(store_begin(f->in.store), 0);
	assert_int_equal(missing_names_create(f->in.store, 100, kept, &f->names), 0);
	*state = f;
	return 0;
}

static int setup(void **state)
{
	return setup_with(state, 1 << 20);
}

/* Memory has room for one. */
static int setup_narrow(void **state)
{
	return setup_with(state, 1);
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	missing_names_destroy(f->names);
	stored_end(&f->in);
	free(f);
	return 0;
}

static const char *rows(struct fixture *f, const char *columns)
{
	assert_int_equal(missing_names_flush(f->names), 0);
	stored_commit(&f->in);
	return sql_ask(f->in.db, "SELECT %s FROM missing_names ORDER BY process, path", columns);
}

static void add(struct fixture *f, int64_t process, int64_t path, int64_t time_ns)
{
	assert_int_equal(missing_names_add(f->names, process, path, time_ns), 0);
}

static void each_process_and_path_is_counted(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < 3; i++) {
		add(f, 1, 5, 110 + i);
		add(f, 1, 6, 120 + i);
		add(f, 0, 5, 130 + i);
	}
	assert_string_equal(rows(f, "process, path, count, first_t"), "0|5|3|30\n1|5|3|10\n1|6|3|20");
}

static void later_ones_are_added_to_what_was_written(void **state)
{
	struct fixture *f = *state;

	add(f, 1, 5, 110);
	assert_string_equal(rows(f, "count, first_t"), "1|10");
	assert_string_equal(rows(f, "count, first_t"), "1|10");
	add(f, 1, 5, 120);
	add(f, 1, 5, 121);
	assert_string_equal(rows(f, "count, first_t"), "3|10");
}

static void first_is_the_earliest_in_any_order(void **state)
{
	struct fixture *f = *state;

	add(f, 1, 5, 130);
	add(f, 1, 5, 120);
	add(f, 1, 6, 150); /* with little memory the former is written now */
	add(f, 1, 5, 110);
	add(f, 1, 5, 140);
	assert_string_equal(rows(f, "path, count, first_t"), "5|4|10\n6|1|50");
}

/* Many rows go into one statement, each row several times into the same. */
static void thousand_rounds_add_up(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < 1000; i++)
		for (int path = 0; path < 7; path++)
			add(f, 1 + path % 2, path, 100 + i);
	assert_string_equal(rows(f, "count(*), sum(count), min(count), max(first_t)"), "7|7000|1000|0");
}

static void unknown_process_is_null(void **state)
{
	struct fixture *f = *state;

	add(f, 0, 5, 110);
	assert_string_equal(rows(f, "process"), "0");
	assert_string_equal(sql_ask(f->in.db, "SELECT process, count FROM ghost"), "NULL|1");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown), \
	{ "narrow_" #name, name, setup_narrow, teardown, NULL }

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_process_and_path_is_counted),
		TEST(later_ones_are_added_to_what_was_written),
		TEST(first_is_the_earliest_in_any_order),
		TEST(thousand_rounds_add_up),
		TEST(unknown_process_is_null),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
