/* SPDX-License-Identifier: MIT */

/* metrics.h: the operations of each interval are counted, whenever and however often their rows are written. */

#include "db/files.h"
#include "db/metrics.h"
#include "stored.h"

#define START 5000
#define INTERVAL 1000

struct fixture {
	struct stored in;
	struct metrics *metrics;
};

static void begin(struct fixture *f, size_t kept)
{
	metrics_destroy(f->metrics);
	assert_int_equal(metrics_create(f->in.store, START, INTERVAL, kept, &f->metrics), 0);
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	stored_begin(&f->in);
	assert_int_equal(store_begin(f->in.store), 0);
	begin(f, 1 << 20);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	metrics_destroy(f->metrics);
	stored_end(&f->in);
	free(f);
	return 0;
}

static const char *ask(struct fixture *f, int64_t now_ns, const char *what)
{
	assert_int_equal(metrics_flush(f->metrics, now_ns), 0);
	stored_commit(&f->in);
	return sql_ask(f->in.db, "%s", what);
}

#define ADD_DATA(f, ...) assert_int_equal(metrics_add((f)->metrics, &(struct metric_op){ __VA_ARGS__ }), 0)
#define ADD(f, ...) ADD_DATA(f, .bytes = -1, __VA_ARGS__)

static void operations_of_one_kind_are_one_row(void **state)
{
	struct fixture *f = *state;

	ADD_DATA(f, .process = 1, .code = 3, .time_ns = START + 300, .latency_ns = 5, .bytes = 4096);
	ADD_DATA(f, .process = 1, .code = 3, .time_ns = START + 200, .latency_ns = 0, .bytes = 0);
	ADD(f, .process = 1, .code = 3, .time_ns = START + 999, .latency_ns = 7, .failed = true);
	ADD(f, .process = 1, .code = 3, .time_ns = START + 1000, .latency_ns = 1);
	ADD(f, .process = 1, .code = 4, .time_ns = START + 1, .latency_ns = 1);
	ADD(f, .process = 2, .code = 3, .time_ns = START + 1, .latency_ns = 1);
	assert_string_equal(ask(f, INT64_MAX, "SELECT n, process, code, count, errors, bytes, ns, first_t, latencies, sizes FROM metrics"),
		"0|1|3|3|1|4096|12|200|0,1,0,0,2|0,1,0,0,0,0,0,0,0,0,0,0,0,0,1\n"
		"1|1|3|1|0|NULL|1|0|1|NULL\n0|1|4|1|0|NULL|1|1|1|NULL\n0|2|3|1|0|NULL|1|1|1|NULL");
	assert_string_equal(ask(f, INT64_MAX, "SELECT * FROM metric_grids"), "1|0|1000");
}

static void classes_are_powers_of_two(void **state)
{
	struct fixture *f = *state;
	int64_t sum = 0;

	for (int class = 1; class < 63; class++) { /* both ends of each */
		ADD(f, .time_ns = START, .latency_ns = INT64_C(1) << (class - 1));
		ADD(f, .time_ns = START, .latency_ns = (INT64_C(1) << class) - 1);
		sum += 2;
	}
	assert_int_equal(atoll(ask(f, INT64_MAX, "SELECT sum(count) FROM metrics")), sum);
	assert_string_equal(sql_ask(f->in.db, "SELECT count(*), min(count), max(count), min(bucket_ns), max(bucket_ns) = 1 << 61 "
		"FROM metric_latency"), "62|2|2|1|1");
}

static void a_file_stands_for_its_mount_until_that_is_known(void **state)
{
	struct fixture *f = *state;
	const struct file known = { .id = 7, .path = 1, .mount = 33 }, unknown = { .id = 8, .path = 1, .unidentified = true },
		nameless = { .id = 9, .mount = 33 };

	ADD(f, .file = &known, .time_ns = START);
	ADD(f, .file = &unknown, .time_ns = START);
	ADD(f, .file = &nameless, .time_ns = START);
	ADD(f, .file = NULL, .time_ns = START);
	assert_string_equal(ask(f, INT64_MAX, "SELECT mount FROM metrics"), "33\n-8\n-9\nNULL");
}

static void an_interval_is_written_when_it_is_over(void **state)
{
	struct fixture *f = *state;

	ADD(f, .process = 1, .time_ns = START + 10);
	assert_false(metrics_are_due(f->metrics, START + 999));
	assert_string_equal(ask(f, START + 999, "SELECT count(*) FROM metrics"), "0");
	ADD(f, .process = 1, .time_ns = START + 1010);
	assert_true(metrics_are_due(f->metrics, START + 1500));
	assert_string_equal(ask(f, START + 1500, "SELECT n FROM metrics"), "0");
	assert_false(metrics_are_due(f->metrics, START + 1500));
	ADD(f, .process = 1, .time_ns = START + 20); /* it took that long */
	ADD(f, .process = 1, .time_ns = START + 1020);
	assert_string_equal(ask(f, INT64_MAX, "SELECT n, sum(count), count(*) FROM metrics GROUP BY 1"), "0|2|2\n1|2|1");
	assert_false(metrics_are_due(f->metrics, INT64_MAX));
}

static void count_many(struct fixture *f, size_t kept)
{
	begin(f, kept);
	for (int op = 0; op < 10000; op++)
		ADD_DATA(f, .process = op % 131, .code = op % 7, .time_ns = START + op, .latency_ns = op, .bytes = op);
	assert_string_equal(ask(f, INT64_MAX, "SELECT sum(count), sum(bytes), sum(ns), "
		"count(DISTINCT process << 16 | n << 8 | code) FROM metrics"), "10000|49995000|49995000|9170");
	assert_string_equal(sql_ask(f->in.db, "SELECT sum(count), sum(count) FILTER (WHERE bucket_ns = 4096) FROM metric_latency"),
		"10000|4096");
}

/* No memory but for one; for some; for more than there are. */
static void one_sum_at_a_time(void **state) { count_many(*state, 1); }
static void some_sums_at_a_time(void **state) { count_many(*state, 20000); }
static void all_sums_at_a_time(void **state) { count_many(*state, SIZE_MAX); }

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(operations_of_one_kind_are_one_row),
		TEST(classes_are_powers_of_two),
		TEST(a_file_stands_for_its_mount_until_that_is_known),
		TEST(an_interval_is_written_when_it_is_over),
		TEST(one_sum_at_a_time),
		TEST(some_sums_at_a_time),
		TEST(all_sums_at_a_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
