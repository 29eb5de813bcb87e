/* SPDX-License-Identifier: MIT */

/* compose.h: each query is plain SQL that a trace answers, whatever was asked for. */

#include "feed.h"

#include "dag/trace/compose.h"

static const char *const dimension_names[] = { "command", "exe", "xform", "job", "phase", "process", "file",
	"directory", "fstype", "mount", "host", "operation", "env:HOME", "all", NULL };

static struct words words(const char **word, int n)
{
	return (struct words){ .word = word, .n = n };
}

/* The name of the n-th query, and what can be said of it. */
static bool name_of(int n, char name[64])
{
	size_t len;
	const char *head = compose_name(n, &len);

	if (head)
		snprintf(name, 64, "%.*s", (int)strcspn(head, " "), head);
	return head != NULL;
}

static void expect_answer(struct feed *f, const char *name, const struct choice *choice)
{
	struct composed c;

	if (compose(name, choice, &c) < 0)
		fail_msg("%s: %s", name, c.error);
	assert_null(strchr(c.sql, '{'));
	ask(f, "%s", c.sql);
	free(c.sql);
}

static void every_query_is_answered_by_an_empty_trace(void **state)
{
	const struct choice choice = { .step_ns = 1000 };
	char name[64];
	int n = 0;

	for (; name_of(n, name); n++)
		expect_answer(*state, name, &choice);
	assert_true(n > 20);
}

static void every_query_is_answered_with_all_options(void **state)
{
	const char *include[] = { "*.c", "path:/a/*", "command:cc *", "it's" };
	const char *exclude[] = { "path:*.o", "x'y" };
	const char *operations[] = { "read", "it's" };
	const char *phases[] = { "it's=cc*", "link=ld*" };
	const struct choice choice = { .step_ns = 1000, .per_job = true, .include = words(include, 4),
		.exclude = words(exclude, 2), .operations = words(operations, 2), .phases = words(phases, 2), .phase = "it's", .job = "1'2",
		.process = 3, .from_ns = 5, .to_ns = 50 };
	char name[64];

	for (int n = 0; name_of(n, name); n++)
		expect_answer(*state, name, &choice);
}

/* Of the combinations a random part is asked for: one of so many. FTRAC_SEED repeats it, --long takes all. */
static unsigned part = 6;

static unsigned seed_of_sample(void)
{
	const char *given = getenv("FTRAC_SEED");
	unsigned seed = given ? (unsigned)strtoul(given, NULL, 10) : (unsigned)getpid();

	print_message("# a sample: FTRAC_SEED=%u repeats it, --long takes all\n", seed);
	return seed;
}

static void every_query_is_grouped_by_whatever_it_can_be(void **state)
{
	unsigned seed = seed_of_sample();
	char name[64];
	int composed = 0, refused = 0;
	struct composed c;

	for (int n = 0; name_of(n, name); n++)
		for (int i = 0; dimension_names[i]; i++) {
			const struct choice choice = { .step_ns = 1, .by = { dimension_names[i] } };
			int r;

			if ((unsigned)rand_r(&seed) % part)
				continue;
			r = compose(name, &choice, &c);
			assert_true(r == 0 || r == -EINVAL);
			assert_true(r == 0 || c.error[0]);
			if (r == 0)
				ask(*state, "%s", c.sql);
			composed += r == 0;
			refused += r < 0;
			free(c.sql);
		}
	print_message("# %d combinations are answered, %d refused\n", composed, refused);
	assert_true(composed > 100 / (int)part);
	assert_true(refused > 10 / (int)part);
}

static void what_belongs_to_a_process_has_no_file(void **state)
{
	const struct choice choice = { .by = { "file" } };
	struct composed c;

	(void)state;
	assert_int_equal(compose("mem.process", &choice, &c), -EINVAL);
	assert_non_null(strstr(c.error, "'file'"));
}

static void dimension_that_is_not_there_is_named(void **state)
{
	const struct choice choice = { .by = { "xform,colour" } };
	struct composed c;

	(void)state;
	assert_int_equal(compose("run", &choice, &c), -EINVAL);
	assert_non_null(strstr(c.error, "'colour'"));
}

static void query_that_is_not_there_is_an_error(void **state)
{
	const struct choice choice = { 0 };
	struct composed c;

	(void)state;
	assert_int_equal(compose("nope", &choice, &c), -ENOENT);
}

static void keys_are_counted(void **state)
{
	const struct choice one = { .by = { "xform" } }, more = { .by = { "process,host", "xform" } };
	struct composed c;

	(void)state;
	assert_int_equal(compose("run", &one, &c), 0);
	assert_int_equal(c.keys, 1);
	free(c.sql);
	/* A process is shown with its pid and command. */
	assert_int_equal(compose("run", &more, &c), 0);
	assert_int_equal(c.keys, 5);
	free(c.sql);
}

static int setup(void **state)
{
	*state = feed_begin(NULL);
	return 0;
}

static int teardown(void **state)
{
	feed_end(*state);
	return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(every_query_is_answered_by_an_empty_trace),
		TEST(every_query_is_answered_with_all_options),
		TEST(every_query_is_grouped_by_whatever_it_can_be),
		TEST(what_belongs_to_a_process_has_no_file),
		TEST(dimension_that_is_not_there_is_named),
		TEST(query_that_is_not_there_is_an_error),
		TEST(keys_are_counted),
	};

	if (argc > 1 && strcmp(argv[1], "--long") == 0)
		part = 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
