/* SPDX-License-Identifier: MIT */

/* totals.h: what a run has done so far, as other programs read it. */

#include "db/event.h"
#include "db/totals.h"
#include "test.h"

static int setup(void **state)
{
	return totals_create((struct totals **)state);
}

static int teardown(void **state)
{
	totals_destroy(*state);
	return 0;
}

static void add(struct totals *totals, int64_t mount, enum op op, const char *program, uint64_t count)
{
	uint32_t latencies[TOTALS_CLASSES] = { [10] = (uint32_t)count }, sizes[TOTALS_CLASSES] = { [3] = (uint32_t)count };

	assert_int_equal(totals_add(totals, &(struct total){ .mount = mount, .code = op, .program = program, .count = count, .errors = 1,
		.bytes = 7 * count, .latency_ns = 1000 * count, .latencies = latencies, .sizes = sizes }), 0);
}

/* How often the text has this line. */
static int lines(struct totals *totals, enum totals_form form, const char *line)
{
	size_t len;
	char *text;
	int n = 0;

	totals_now(totals, 3, 4);
	text = totals_text(totals, form, &len);
	assert_non_null(text);
	assert_int_equal(strlen(text), len);
	for (const char *at = text; (at = strstr(at, line)); at++)
		n += (at == text || at[-1] == '\n') && at[strlen(line)] == '\n';
	free(text);
	return n;
}

#define HAS(totals, line) assert_int_equal(lines(totals, TOTALS_OPENMETRICS, line), 1)

static void sums_are_added_up(void **state)
{
	assert_int_equal(totals_mount(*state, 5, "ext4", "/a"), 0);
	add(*state, 5, OP_READ, "cat", 2);
	add(*state, 5, OP_READ, "cat", 3);
	add(*state, 5, OP_READ, "sort", 10);
	HAS(*state, "ftrac_operations_total{fstype=\"ext4\",mount=\"/a\",operation=\"read\",program=\"cat\"} 5");
	HAS(*state, "ftrac_operation_errors_total{fstype=\"ext4\",mount=\"/a\",operation=\"read\",program=\"cat\"} 2");
	HAS(*state, "ftrac_bytes_total{fstype=\"ext4\",mount=\"/a\",operation=\"read\",program=\"sort\"} 70");
	HAS(*state, "ftrac_operation_latency_seconds_sum{fstype=\"ext4\",mount=\"/a\",operation=\"read\"} 0.000015000");
	HAS(*state, "ftrac_processes_running 3");
	HAS(*state, "ftrac_operations_lost_total 4");
}

static void buckets_have_all_that_is_below(void **state)
{
	add(*state, 0, OP_WRITE, "", 6);
	HAS(*state, "ftrac_operation_latency_seconds_bucket{fstype=\"\",mount=\"\",operation=\"write\",le=\"5.11e-07\"} 0");
	HAS(*state, "ftrac_operation_latency_seconds_bucket{fstype=\"\",mount=\"\",operation=\"write\",le=\"1.023e-06\"} 6");
	HAS(*state, "ftrac_operation_latency_seconds_bucket{fstype=\"\",mount=\"\",operation=\"write\",le=\"+Inf\"} 6");
	HAS(*state, "ftrac_operation_size_bytes_bucket{fstype=\"\",mount=\"\",operation=\"write\",le=\"3.0\"} 0");
	HAS(*state, "ftrac_operation_size_bytes_bucket{fstype=\"\",mount=\"\",operation=\"write\",le=\"7.0\"} 6");
}

static void names_of_any_bytes_are_labels(void **state)
{
	assert_int_equal(totals_mount(*state, 1, "a\"b", "c\\d\ne\xff"), 0);
	add(*state, 1, OP_OPEN, "p\"q", 1);
	HAS(*state, "ftrac_operations_total{fstype=\"a\\\"b\",mount=\"c\\\\d\\ne\xef\xbf\xbd\",operation=\"open\",program=\"p\\\"q\"} 1");
}

static void each_form_declares_counters_in_its_way(void **state)
{
	HAS(*state, "# TYPE ftrac_operations counter");
	HAS(*state, "# UNIT ftrac_bytes bytes");
	HAS(*state, "# EOF");
	assert_int_equal(lines(*state, TOTALS_PROMETHEUS, "# TYPE ftrac_operations_total counter"), 1);
	assert_int_equal(lines(*state, TOTALS_PROMETHEUS, "# EOF"), 0);
}

static void programs_are_bounded(void **state)
{
	char program[TOTALS_NAME];

	for (int i = 0; i < TOTALS_MOST + 50; i++) {
		snprintf(program, sizeof(program), "p%d", i);
		add(*state, 0, OP_READ, program, 1);
	}
	HAS(*state, "ftrac_operations_total{fstype=\"\",mount=\"\",operation=\"read\",program=\"...\"} 50");
	HAS(*state, "ftrac_operation_latency_seconds_count{fstype=\"\",mount=\"\",operation=\"read\"} 2050");
}

static void the_number_of_changes_says_when_the_text_is_another_one(void **state)
{
	uint64_t changes;

	totals_now(*state, 3, 4);
	changes = totals_changes(*state);
	totals_now(*state, 3, 4);
	assert_int_equal(totals_changes(*state), changes);
	totals_now(*state, 2, 4);
	assert_int_not_equal(totals_changes(*state), changes);
	changes = totals_changes(*state);
	add(*state, 0, OP_READ, "cat", 1);
	assert_int_not_equal(totals_changes(*state), changes);
	changes = totals_changes(*state);
	assert_int_equal(totals_mount(*state, 9, "ext4", "/b"), 0);
	assert_int_not_equal(totals_changes(*state), changes);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(sums_are_added_up),
		TEST(buckets_have_all_that_is_below),
		TEST(names_of_any_bytes_are_labels),
		TEST(each_form_declares_counters_in_its_way),
		TEST(programs_are_bounded),
		TEST(the_number_of_changes_says_when_the_text_is_another_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
