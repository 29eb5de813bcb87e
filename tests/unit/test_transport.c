/* SPDX-License-Identifier: MIT */
#include "ftrac/transport.h"

#include <string.h>

#include "test.h"

static const struct transport_conditions all = { .library = true, .kernel = true, .enabled = true,
	.allowed = true };

/* Is io_uring chosen? There must be no complaint. */
static bool takes_rings(const struct transport_conditions *world, enum transport_wish wish)
{
	const char *why;
	bool uring = transport_choose(world, wish, &why);

	assert_null(why);
	return uring;
}

static void refuses(const struct transport_conditions *world, const char *words)
{
	const char *why;

	assert_false(transport_choose(world, TRANSPORT_URING, &why));
	assert_non_null(why);
	assert_non_null(strstr(why, words));
	assert_null(strchr(why, '\n'));
	assert_false(takes_rings(world, TRANSPORT_AUTO));
	assert_false(takes_rings(world, TRANSPORT_DEVICE));
}

static void wishes_have_names(void **state)
{
	enum transport_wish wish;

	(void)state;
	assert_int_equal(transport_parse("auto", &wish), 0);
	assert_int_equal(wish, TRANSPORT_AUTO);
	assert_int_equal(transport_parse("on", &wish), 0);
	assert_int_equal(wish, TRANSPORT_URING);
	assert_int_equal(transport_parse("off", &wish), 0);
	assert_int_equal(wish, TRANSPORT_DEVICE);
	assert_true(transport_parse("", &wish) < 0 && transport_parse("ON", &wish) < 0);
}

static void rings_are_taken_where_they_can_be_had(void **state)
{
	(void)state;
	assert_true(takes_rings(&all, TRANSPORT_AUTO));
	assert_true(takes_rings(&all, TRANSPORT_URING));
	assert_false(takes_rings(&all, TRANSPORT_DEVICE));
	assert_string_equal(transport_name(true), "io_uring");
	assert_string_equal(transport_name(false), "device");
}

static void missing_conditions_are_reported_if_io_uring_is_required(void **state)
{
	struct transport_conditions w = all;

	(void)state;
	w.library = false;
	refuses(&w, "libfuse 3.18");
	w = all, w.kernel = w.enabled = w.allowed = false;
	refuses(&w, "Linux 6.14");
	w = all, w.enabled = w.allowed = false;
	refuses(&w, "enable_uring");
	w = all, w.allowed = false;
	refuses(&w, "io_uring_disabled");
}

static void requests_that_wait_go_by_the_device(void **state)
{
	struct transport_conditions w = all;

	(void)state;
	w.waits = true;
	refuses(&w, "--locks native");
	w = all, w.mirror = true;
	refuses(&w, "another ftrac");
}

static void a_late_source_takes_rings_only_when_asked(void **state)
{
	struct transport_conditions w = all;

	(void)state;
	w.late = true;
	assert_false(takes_rings(&w, TRANSPORT_AUTO));
	assert_true(takes_rings(&w, TRANSPORT_URING));
	assert_false(takes_rings(&w, TRANSPORT_DEVICE));
}

/* Whatever there is here. */
static void looking_finds_the_same_twice(void **state)
{
	struct transport_conditions one = transport_probe("/", true), two = transport_probe("/", true);

	(void)state;
	assert_true(one.waits && two.waits);
	assert_int_equal(one.kernel, two.kernel);
	assert_int_equal(one.enabled, two.enabled);
	assert_true(one.kernel || !one.enabled);
	assert_true(one.enabled || !one.allowed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wishes_have_names),
		cmocka_unit_test(rings_are_taken_where_they_can_be_had),
		cmocka_unit_test(missing_conditions_are_reported_if_io_uring_is_required),
		cmocka_unit_test(requests_that_wait_go_by_the_device),
		cmocka_unit_test(a_late_source_takes_rings_only_when_asked),
		cmocka_unit_test(looking_finds_the_same_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
