/* SPDX-License-Identifier: MIT */

/* touches.h: one row for each process and version of a file, as long as memory has room. */

#include "db/files.h"
#include "db/procs.h"
#include "db/touches.h"
#include "stored.h"

struct fixture {
	struct stored in;
	struct touches *touches;
	struct process p, q;
	struct file a;
};

static int setup_with(void **state, size_t kept)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	stored_begin(&f->in);
	assert_int_equal(touches_create(f->in.store, 100, kept, &f->touches), 0);
	f->p.id = 1;
	f->q.id = 2;
	f->a.id = 7;
	*state = f;
	return 0;
}

static int setup(void **state)
{
	return setup_with(state, 1 << 20);
}

/* Memory has room for one row. */
static int setup_narrow(void **state)
{
	return setup_with(state, 1);
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	touches_destroy(f->touches);
	stored_end(&f->in);
	free(f);
	return 0;
}

static const char *rows(struct fixture *f, const char *columns)
{
	assert_int_equal(touches_flush(f->touches), 0);
	return sql_ask(f->in.db, "SELECT %s FROM touches ORDER BY id", columns);
}

static void touch_again_is_the_same_row(void **state)
{
	struct fixture *f = *state;

	touches_get(f->touches, &f->p, &f->a, 1, 5, 110)->nmeta++;
	touches_get(f->touches, &f->p, &f->a, 1, 5, 120)->nmeta++;
	assert_string_equal(rows(f, "process, file, version, nmeta, first_t, last_t"),
		"1|7|1|2|10|10");
}

static void processes_and_versions_have_their_own_rows(void **state)
{
	struct fixture *f = *state;

	touches_get(f->touches, &f->p, &f->a, 1, 5, 110);
	touches_get(f->touches, &f->q, &f->a, 1, 5, 110);
	touches_get(f->touches, &f->p, &f->a, 2, 5, 110);
	touches_get(f->touches, NULL, &f->a, 2, 5, 110);
	assert_string_equal(rows(f, "process, version"), "1|1\n2|1\n1|2\nNULL|2");
}

static void flushed_row_goes_on_counting(void **state)
{
	struct fixture *f = *state;

	touches_get(f->touches, &f->p, &f->a, 1, 5, 110)->opens++;
	assert_string_equal(rows(f, "opens"), "1");
	touches_get(f->touches, &f->p, &f->a, 1, 5, 120)->opens++;
	assert_string_equal(rows(f, "opens"), "2");
}

static void path_is_the_last_that_was_known(void **state)
{
	struct fixture *f = *state;

	touches_get(f->touches, &f->p, &f->a, 1, 5, 110);
	touches_get(f->touches, &f->p, &f->a, 1, 0, 110);
	assert_string_equal(rows(f, "path"), "5");
	touches_get(f->touches, &f->p, &f->a, 1, 6, 110);
	assert_string_equal(rows(f, "path"), "6");
}

static void times_are_the_first_and_the_last_in_any_order(void **state)
{
	struct fixture *f = *state;

	touches_get(f->touches, &f->p, &f->a, 1, 5, 120);
	touches_get(f->touches, &f->p, &f->a, 1, 5, 140);
	touches_get(f->touches, &f->p, &f->a, 1, 5, 110);
	assert_string_equal(rows(f, "first_t, last_t"), "10|30");
}

/* Each time something else was in between. */
static void row_that_was_let_go_comes_back_as_another_one(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < 3; i++) {
		touches_get(f->touches, &f->p, &f->a, 1, 5 + i, 110 + i)->nmeta++;
		touches_get(f->touches, &f->q, &f->a, 1, 0, 110 + i)->opens++;
	}
	assert_string_equal(rows(f, "process, path, nmeta, opens"),
		"1|5|1|0\n2|NULL|0|1\n1|6|1|0\n2|NULL|0|1\n1|7|1|0\n2|NULL|0|1");
	assert_string_equal(sql_ask(f->in.db, "SELECT process, path, nmeta, opens, first_t, last_t "
		"FROM access_rows ORDER BY 1"), "1|7|3|0|10|12\n2|NULL|0|3|10|12");
}

static void path_is_the_last_one_also_of_rows_that_were_let_go(void **state)
{
	struct fixture *f = *state;

	touches_get(f->touches, &f->p, &f->a, 1, 9, 110);
	touches_get(f->touches, &f->q, &f->a, 1, 9, 110);
	touches_get(f->touches, &f->p, &f->a, 1, 4, 120);
	touches_get(f->touches, &f->q, &f->a, 1, 0, 120);
	assert_string_equal(rows(f, "count(*)"), "4");
	assert_string_equal(sql_ask(f->in.db, "SELECT process, path FROM access_rows ORDER BY 1"), "1|4\n2|9");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
#define NARROW(name) cmocka_unit_test_setup_teardown(name, setup_narrow, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(touch_again_is_the_same_row),
		TEST(processes_and_versions_have_their_own_rows),
		TEST(flushed_row_goes_on_counting),
		TEST(path_is_the_last_that_was_known),
		TEST(times_are_the_first_and_the_last_in_any_order),
		NARROW(row_that_was_let_go_comes_back_as_another_one),
		NARROW(path_is_the_last_one_also_of_rows_that_were_let_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
