/* SPDX-License-Identifier: MIT */

/* distribution.h: sums, means, deviations and quantiles are exact. */

#include "test.h"

#include <math.h>

#include "dag/container/distribution.h"

static struct distribution of(const int64_t *values, size_t n)
{
	struct distribution d = { 0 };

	for (size_t i = 0; i < n; i++)
		assert_int_equal(distribution_add(&d, values[i], true), 0);
	distribution_sort(&d);
	return d;
}

#define OF(...) of((const int64_t[]){ __VA_ARGS__ }, \
	sizeof((const int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t))

static void expect_double(double got, double wanted)
{
	if (!(got == wanted))
		fail_msg("%.17g is not %.17g", got, wanted);
}

static void nothing_has_no_mean(void **state)
{
	struct distribution d = { 0 };

	(void)state;
	assert_true(isnan(distribution_mean(&d)));
	assert_true(isnan(distribution_deviation(&d)));
}

static void one_value_is_all_there_is(void **state)
{
	struct distribution d = OF(42);

	(void)state;
	assert_int_equal(d.min, 42);
	assert_int_equal(d.max, 42);
	expect_double(distribution_mean(&d), 42);
	expect_double(distribution_deviation(&d), 0);
	assert_int_equal(distribution_quantile(&d, 0.5), 42);
	assert_int_equal(distribution_quantile(&d, 0.99), 42);
	distribution_finish(&d);
}

static void mean_is_the_nearest_double(void **state)
{
	struct distribution third = OF(0, 0, 1), large = OF(INT64_MAX, INT64_MAX, INT64_MAX - 3);

	(void)state;
	expect_double(distribution_mean(&third), 1.0 / 3);
	expect_double(distribution_mean(&large), 9223372036854775806.0);
	distribution_finish(&third);
	distribution_finish(&large);
}

static void mean_of_negative_numbers_is_negative(void **state)
{
	struct distribution d = OF(-1, -2);

	(void)state;
	expect_double(distribution_mean(&d), -1.5);
	expect_double(distribution_deviation(&d), 0.5);
	distribution_finish(&d);
}

/* What cancels out in floating point: values that differ in their last digits. */
static void deviation_of_large_values_is_exact(void **state)
{
	struct distribution d = OF(1000000000000000001, 1000000000000000003);

	(void)state;
	expect_double(distribution_deviation(&d), 1);
	distribution_finish(&d);
}

static void deviation_is_that_of_a_population(void **state)
{
	struct distribution d = OF(2, 4, 4, 4, 5, 5, 7, 9);

	(void)state;
	expect_double(distribution_deviation(&d), 2);
	distribution_finish(&d);
}

static void squares_that_do_not_fit_are_near_enough(void **state)
{
	struct distribution d = { 0 };

	(void)state;
	for (int i = 0; i < 10; i++)
		distribution_add(&d, i % 2 ? INT64_MAX : INT64_MIN, false);
	assert_true(d.overflow);
	assert_true(fabs(distribution_deviation(&d) / 9.223372036854775e18 - 1) < 1e-12);
}

static void quantile_is_a_value_that_occurred(void **state)
{
	struct distribution d = OF(5, 1, 4, 2, 3), e = OF(10, 20, 30, 40);

	(void)state;
	assert_int_equal(distribution_quantile(&d, 0.5), 3);
	assert_int_equal(distribution_quantile(&d, 0.2), 1);
	assert_int_equal(distribution_quantile(&d, 0.21), 2);
	assert_int_equal(distribution_quantile(&d, 1), 5);
	assert_int_equal(distribution_quantile(&e, 0.5), 20);
	assert_int_equal(distribution_quantile(&e, 0.75), 30);
	assert_int_equal(distribution_quantile(&e, 0.99), 40);
	distribution_finish(&d);
	distribution_finish(&e);
}

static void parts_make_the_whole(void **state)
{
	struct distribution a = OF(1, 2, 3), b = OF(10, 20), whole, same = OF(1, 2, 3, 10, 20);
	struct distribution *const parts[] = { &a, &b };

	(void)state;
	assert_int_equal(distribution_join(&whole, parts, 2), 0);
	distribution_sort(&whole);
	assert_int_equal(whole.count, 5);
	assert_int_equal(whole.min, 1);
	assert_int_equal(whole.max, 20);
	expect_double(distribution_mean(&whole), distribution_mean(&same));
	expect_double(distribution_deviation(&whole), distribution_deviation(&same));
	assert_int_equal(distribution_quantile(&whole, 0.5), 3);
	assert_null(a.values);
	distribution_finish(&whole);
	distribution_finish(&same);
}

static void real_numbers_have_the_same(void **state)
{
	struct reals reals = { 0 };

	(void)state;
	assert_true(isnan(reals_mean(&reals)));
	assert_true(isnan(reals_min(&reals)));
	for (int i = 0; i < 10; i++)
		assert_int_equal(reals_add(&reals, 0.1), 0);
	expect_double(reals_mean(&reals), 0.1);
	expect_double(reals_deviation(&reals), 0);
	assert_int_equal(reals_add(&reals, 0.5), 0);
	expect_double(reals_min(&reals), 0.1);
	expect_double(reals_max(&reals), 0.5);
	reals_finish(&reals);
}

static void many_values_are_sorted_as_few(void **state)
{
	struct distribution d = { 0 };
	uint64_t random = 1;

	(void)state;
	for (int i = 0; i < 100000; i++) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		assert_int_equal(distribution_add(&d, (int64_t)random >> i % 64, true), 0);
	}
	assert_int_equal(distribution_add(&d, INT64_MAX, true), 0);
	assert_int_equal(distribution_add(&d, INT64_MIN, true), 0);
	distribution_sort(&d);
	assert_int_equal(d.values[0], INT64_MIN);
	assert_int_equal(d.values[d.count - 1], INT64_MAX);
	for (size_t i = 1; i < d.count; i++)
		assert_true(d.values[i - 1] <= d.values[i]);
	assert_int_equal(distribution_add(&d, 5, true), 0); /* there is room, or it is made */
	distribution_finish(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_has_no_mean),
		cmocka_unit_test(one_value_is_all_there_is),
		cmocka_unit_test(mean_is_the_nearest_double),
		cmocka_unit_test(mean_of_negative_numbers_is_negative),
		cmocka_unit_test(deviation_of_large_values_is_exact),
		cmocka_unit_test(deviation_is_that_of_a_population),
		cmocka_unit_test(squares_that_do_not_fit_are_near_enough),
		cmocka_unit_test(quantile_is_a_value_that_occurred),
		cmocka_unit_test(many_values_are_sorted_as_few),
		cmocka_unit_test(parts_make_the_whole),
		cmocka_unit_test(real_numbers_have_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
