/* SPDX-License-Identifier: MIT */

/*
 * differences.h: compared with all numbers that there are, tried one after another, for random bounds of a few small numbers; and for
 * clocks that are known.
 */

#include "test.h"

#include "db/differences.h"

#define NONE DIFFERENCES_NONE
#define MOST_N 4
#define WAY 12 /* a way has three bounds of at most 4 */
#define BOX (WAY + 4)
#define RANDOM 3000

static uint64_t rng_state = 1;

static int random_below(int n)
{
	rng_state = rng_state * 6364136223846793005u + 1442695040888963407u;
	return (int)((rng_state >> 33) % (unsigned)n);
}

static bool holds(int n, const int64_t *bounds, const int64_t *x)
{
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			if (i != j && bounds[i * n + j] != NONE && x[i] - x[j] > bounds[i * n + j])
				return false;
	return true;
}

struct tried {
	bool is_possible;
	int64_t value[MOST_N], least[MOST_N], most[MOST_N];
};

static bool is_nearer(int n, const int64_t *x, const int64_t *y)
{
	for (int i = 0; i < n; i++)
		if (llabs(x[i]) != llabs(y[i]))
			return llabs(x[i]) < llabs(y[i]);
	return false;
}

static void try_all(int n, const int64_t *bounds, struct tried *ret)
{
	int64_t x[MOST_N] = { 0 };
	int places = 1;

	*ret = (struct tried){ 0 };
	for (int i = 1; i < n; i++)
		places *= 2 * BOX + 1;
	for (int place = 0; place < places; place++) {
		for (int i = 1, rest = place; i < n; i++, rest /= 2 * BOX + 1)
			x[i] = rest % (2 * BOX + 1) - BOX;
		if (!holds(n, bounds, x))
			continue;
		for (int i = 0; i < n; i++) {
			ret->least[i] = !ret->is_possible || x[i] < ret->least[i] ? x[i] : ret->least[i];
			ret->most[i] = !ret->is_possible || x[i] > ret->most[i] ? x[i] : ret->most[i];
		}
		if (!ret->is_possible || is_nearer(n, x, ret->value))
			memcpy(ret->value, x, sizeof(x));
		ret->is_possible = true;
	}
}

/* Half of them follow from numbers that are there, so that they do not contradict each other. */
static void make_bounds(int n, int64_t *bounds)
{
	bool is_possible = random_below(2);
	int hidden[MOST_N] = { 0 };

	for (int i = 1; i < n; i++)
		hidden[i] = random_below(7) - 3;
	for (int i = 0; i < n * n; i++) {
		int from = i / n, to = i % n;

		bounds[i] = random_below(5) < 2 || from == to ? NONE
			: is_possible ? hidden[from] - hidden[to] + random_below(3) : random_below(8) - 3;
	}
}

static void check_random(int n, int *possible, int *impossible)
{
	int64_t bounds[MOST_N * MOST_N], work[MOST_N * MOST_N], x[MOST_N];
	struct difference found[MOST_N];
	struct tried tried;
	bool contradicts = false;

	make_bounds(n, bounds);
	memcpy(work, bounds, sizeof(work));
	assert_int_equal(differences_solve(n, work, 0, 0, found), 0);
	try_all(n, bounds, &tried);
	for (int i = 0; i < n; i++)
		contradicts |= found[i].contradiction > 0;
	assert_int_equal(contradicts, !tried.is_possible);
	for (int i = 0; i < n && tried.is_possible; i++) {
		assert_int_equal(found[i].value, tried.value[i]);
		/* What is not bounded goes to the edge of the box, or near to it. */
		assert_true(found[i].least == -NONE ? tried.least[i] <= WAY - BOX : tried.least[i] == found[i].least);
		assert_true(found[i].most == NONE ? tried.most[i] >= BOX - WAY : tried.most[i] == found[i].most);
	}
	/* What no contradiction concerns holds in any case. */
	for (int i = 0; i < n * n; i++)
		if (found[i / n].contradiction || found[i % n].contradiction)
			bounds[i] = NONE;
	for (int i = 0; i < n; i++)
		x[i] = found[i].value;
	assert_true(holds(n, bounds, x));
	*(tried.is_possible ? possible : impossible) += 1;
}

static void values_are_those_of_trying_all(void **state TEST_UNUSED)
{
	int possible = 0, impossible = 0;

	for (int i = 0; i < RANDOM; i++)
		check_random(2 + i % (MOST_N - 1), &possible, &impossible);
	print_message("%d sets of bounds that can hold, %d that cannot\n", possible, impossible);
	assert_true(possible > RANDOM / 4 && impossible > RANDOM / 20);
}

static void clock_is_put_right_only_as_far_as_needed(void **state TEST_UNUSED)
{
	/* The second one is 10 s back: what it read at 3 was written at 12; and it wrote at 4 what was read at 15. */
	int64_t bounds[] = { NONE, 3 - 12, 15 - 4, NONE };
	struct difference found[2];

	assert_int_equal(differences_solve(2, bounds, 0, 0, found), 0);
	assert_int_equal(found[1].value, 9);
	assert_int_equal(found[1].least, 9);
	assert_int_equal(found[1].most, 11);
	assert_int_equal(found[1].contradiction, 0);
}

static void value_keeps_a_distance_from_the_bound(void **state TEST_UNUSED)
{
	/* One has 100 to 110, one no more than -50, one -5 to 5. */
	const int64_t given[] = { NONE, -100, NONE, 5, 110, NONE, NONE, NONE, -50, NONE, NONE, NONE, 5, NONE, NONE, NONE };
	static const int64_t wanted[][4] = { { 0, 100, -50, 0 }, { 3, 103, -53, 0 }, { 40, 105, -90, 0 } };
	int64_t bounds[16];
	struct difference found[4];

	for (int k = 0; k < 3; k++) {
		memcpy(bounds, given, sizeof(bounds));
		assert_int_equal(differences_solve(4, bounds, 0, wanted[k][0], found), 0);
		for (int i = 1; i < 4; i++)
			assert_int_equal(found[i].value, wanted[k][i]);
	}
}

static void small_contradiction_is_tolerated(void **state TEST_UNUSED)
{
	int64_t bounds[] = { NONE, -9, 6, NONE };
	struct difference found[2];

	assert_int_equal(differences_solve(2, bounds, 4, 0, found), 0);
	assert_int_equal(found[1].contradiction, 0);
	assert_in_range(found[1].value, 7, 8);
}

static void large_contradiction_leaves_the_clocks(void **state TEST_UNUSED)
{
	/* The third one has nothing to do with that. */
	int64_t bounds[] = { NONE, -9, NONE, 6, NONE, NONE, -5, NONE, NONE };
	struct difference found[3];

	assert_int_equal(differences_solve(3, bounds, 2, 0, found), 0);
	assert_int_equal(found[0].contradiction, 3);
	assert_int_equal(found[1].contradiction, 3);
	assert_int_equal(found[1].value, 0);
	assert_int_equal(found[2].contradiction, 0);
}

static void extreme_bounds_do_not_overflow(void **state TEST_UNUSED)
{
	static const int64_t extreme[] = { INT64_MIN, INT64_MIN + 1, INT64_MAX, INT64_MAX - 1, 0, -1, INT64_C(1) << 61 };
	int64_t bounds[16];
	struct difference found[4];

	for (int i = 0; i < 1000; i++) {
		for (int j = 0; j < 16; j++)
			bounds[j] = extreme[random_below(sizeof(extreme) / sizeof(extreme[0]))];
		assert_int_equal(differences_solve(4, bounds, 0, 0, found), 0);
		assert_int_equal(found[0].value, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_are_those_of_trying_all),
		cmocka_unit_test(clock_is_put_right_only_as_far_as_needed),
		cmocka_unit_test(value_keeps_a_distance_from_the_bound),
		cmocka_unit_test(small_contradiction_is_tolerated),
		cmocka_unit_test(large_contradiction_leaves_the_clocks),
		cmocka_unit_test(extreme_bounds_do_not_overflow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
