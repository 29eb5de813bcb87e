/* SPDX-License-Identifier: MIT */

/* compose.h: each query is plain SQL that a trace answers, whatever was asked for. */

#include "feed.h"

#include "base/failure.h"
#include "dag/trace/compose.h"

static const char *const dimension_names[] = { "command", "exe", "xform", "job", "phase", "process", "file",
	"directory", "fstype", "mount", "host", "operation", "ranks", "env:HOME", "all", NULL };

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
	struct failure failure = { 0 };
	char *sql;

	if (compose(name, choice, &sql, NULL, &failure) < 0)
		fail_msg("%s: %s", name, failure.text);
	assert_null(strchr(sql, '{'));
	ask(f, "%s", sql);
	free(sql);
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
static unsigned part = 12;

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

	for (int n = 0; name_of(n, name); n++)
		for (int i = 0; dimension_names[i]; i++) {
			const struct choice choice = { .step_ns = 1, .by = { dimension_names[i] } };
			struct failure failure = { 0 };
			char *sql;
			int r;

			if ((unsigned)rand_r(&seed) % part)
				continue;
			r = compose(name, &choice, &sql, NULL, &failure);
			assert_true(r == 0 || r == FAILURE_USAGE);
			assert_int_equal(failure.code, r);
			assert_true(r == 0 || failure.text[0]);
			if (r == 0)
				ask(*state, "%s", sql);
			composed += r == 0;
			refused += r < 0;
			free(sql);
		}
	print_message("# %d combinations are answered, %d refused\n", composed, refused);
	assert_true(composed > 100 / (int)part);
	assert_true(refused > 10 / (int)part);
}

static void expect_refusal(const char *name, const struct choice *choice, const char *word)
{
	struct failure failure = { 0 };
	char *sql;

	assert_int_equal(compose(name, choice, &sql, NULL, &failure), FAILURE_USAGE);
	assert_non_null(strstr(failure.text, word));
	assert_null(sql);
}

static void what_belongs_to_a_process_has_no_file(void **state)
{
	(void)state;
	expect_refusal("mem.process", &(struct choice){ .by = { "file" } }, "'file'");
}

static void dimension_that_is_not_there_is_named(void **state)
{
	(void)state;
	expect_refusal("run", &(struct choice){ .by = { "xform,colour" } }, "'colour'");
}

static void query_that_is_not_there_is_an_error(void **state)
{
	const struct choice choice = { 0 };
	struct failure failure = { 0 };
	char *sql;

	(void)state;
	assert_int_equal(compose("nope", &choice, &sql, NULL, &failure), -ENOENT);
	assert_string_equal(failure.text, "there is no query 'nope'");
}

static void keys_are_counted(void **state)
{
	const struct choice one = { .by = { "xform" } }, more = { .by = { "process,host", "xform" } };
	struct failure failure = { 0 };
	char *sql;
	int keys;

	(void)state;
	assert_int_equal(compose("run", &one, &sql, &keys, &failure), 0);
	assert_int_equal(keys, 1);
	free(sql);
	/* A process is shown with its pid and command. */
	assert_int_equal(compose("run", &more, &sql, &keys, &failure), 0);
	assert_int_equal(keys, 5);
	free(sql);
}

static void keys_of_images_are_looked_up_once_for_each_image(void **state)
{
	const struct choice by_default = { 0 }, by_exe = { .by = { "exe,command" } },
			    mixed = { .by = { "command", "operation" } };
	struct failure failure = { 0 };
	char *sql, *images;
	int keys;

	assert_int_equal(compose_by_image("pattern", &by_default, &sql, &images, &keys, &failure), 0);
	assert_int_equal(keys, 1);
	assert_non_null(images);
	assert_null(strstr(sql, "JOIN"));
	ask(*state, "%s", sql);
	ask(*state, "%s", images);
	free(sql);
	free(images);
	assert_int_equal(compose_by_image("sys", &by_exe, &sql, &images, &keys, &failure), 0);
	assert_int_equal(keys, 2);
	assert_non_null(strstr(images, "i.exe"));
	free(sql);
	free(images);
	assert_int_equal(compose_by_image("sys", &mixed, &sql, &images, &keys, &failure), 0);
	assert_null(images);
	assert_non_null(strstr(sql, "JOIN img"));
	free(sql);
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
		TEST(keys_of_images_are_looked_up_once_for_each_image),
	};

	if (argc > 1 && strcmp(argv[1], "--long") == 0)
		part = 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
