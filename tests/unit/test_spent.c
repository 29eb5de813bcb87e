/* SPDX-License-Identifier: MIT */

/* spent.h: of the sums of all threads, what the process did; against threads whose times are known. */

#include "test.h"

#include "dag/graph/spent.h"

#define RUNS 2000

/* What one thread does for its whole life, up to limit ns for each part.  Returns the length of that. */
static int64_t one_thread(struct spent *spent, int64_t limit)
{
	for (int i = 0; i < SPENT_MAX; i++)
		spent->ns[i] = rand() % 3 ? rand() % limit : 0;
	return spent_sum(spent);
}

static void one_thread_is_the_process(void **state)
{
	(void)state;
	for (int n = 0; n < RUNS; n++) {
		struct spent thread, spent;
		int64_t life = one_thread(&thread, 1000000);

		spent = thread;
		spent_of_process(&spent, life + rand() % 5); /* it was not seen from the first moment on */
		assert_memory_equal(spent.ns, thread.ns, sizeof(spent.ns));
	}
}

/* One thread works all the time; the others wait, for anything. */
static void waits_of_others_do_not_count(void **state)
{
	static const enum spent_part work[] = { SPENT_RUNNING, SPENT_QUEUE, SPENT_FILE, SPENT_MEMORY };

	(void)state;
	for (int n = 0; n < RUNS; n++) {
		struct spent thread = { 0 }, spent;
		int64_t life;

		for (size_t i = 0; i < 4; i++)
			thread.ns[work[i]] = 1 + rand() % 1000000;
		life = spent_sum(&thread);
		spent = thread;
		for (int others = rand() % 9; others > 0; others--)
			spent.ns[SPENT_PIPE + (rand() % 2 ? rand() % 6 : SPENT_OTHER - SPENT_PIPE)] += life;
		spent_of_process(&spent, life);
		assert_memory_equal(spent.ns, thread.ns, sizeof(spent.ns));
	}
}

/* The first thread waits for the lock that says that the second one is done, which waits for a child and works. */
static void the_lock_of_the_one_is_the_work_of_the_other(void **state)
{
	struct spent spent = { .ns = { [SPENT_LOCK] = 1000, [SPENT_CHILD] = 700, [SPENT_RUNNING] = 300 } };

	(void)state;
	spent_of_process(&spent, 1000);
	assert_int_equal(spent.ns[SPENT_LOCK], 0);
	assert_int_equal(spent.ns[SPENT_CHILD], 700);
	assert_int_equal(spent.ns[SPENT_RUNNING], 300);
}

static void threads_at_once_share_the_life(void **state)
{
	struct spent spent = { .ns = { [SPENT_RUNNING] = 6000, [SPENT_QUEUE] = 2000, [SPENT_EVENT] = 500 } };
	char text[32];

	(void)state;
	spent_of_process(&spent, 1000);
	assert_int_equal(spent.ns[SPENT_RUNNING], 750);
	assert_int_equal(spent.ns[SPENT_QUEUE], 250);
	assert_int_equal(spent.ns[SPENT_EVENT], 0);
	spent.whole = true;
	assert_string_equal(spent_mostly(&spent, text), "running 75 %");
}

static void any_numbers_are_survived(void **state)
{
	struct spent most, none = { .whole = true };
	char text[32];

	(void)state;
	for (int i = 0; i < SPENT_MAX; i++)
		most.ns[i] = SPENT_MOST;
	spent_of_process(&most, INT64_MIN);
	assert_int_equal(spent_sum(&most), 0);
	most = (struct spent){ .ns = { SPENT_MOST, SPENT_MOST }, .whole = true };
	spent_of_process(&most, SPENT_MOST - 1);
	assert_string_equal(spent_mostly(&most, text), "running 50 %");
	spent_of_process(&none, 1000);
	assert_null(spent_mostly(&none, text));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_thread_is_the_process),
		cmocka_unit_test(waits_of_others_do_not_count),
		cmocka_unit_test(the_lock_of_the_one_is_the_work_of_the_other),
		cmocka_unit_test(threads_at_once_share_the_life),
		cmocka_unit_test(any_numbers_are_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
