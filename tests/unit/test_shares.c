/* SPDX-License-Identifier: MIT */

/*
 * shares.h: a user may have three times as much as is then still left for others; what is given back can be taken again.
 */

#include "ftrac/shares.h"
#include "test.h"

enum { ROOM = 100, ANN = 1000, BOB, CAROL };

static int setup(void **state)
{
	const size_t room[SHARE_MAX] = { ROOM, ROOM, ROOM };

	return shares_create(room, -1, (struct shares **)state);
}

static int teardown(void **state)
{
	shares_destroy(*state);
	return 0;
}

static int take_all(struct shares *shares, uid_t user)
{
	int n = 0;

	while (shares_take(shares, SHARE_FILES, user))
		n++;
	return n;
}

static void one_user_gets_three_quarters(void **state)
{
	assert_int_equal(take_all(*state, ANN), ROOM * 3 / 4);
}

static void each_next_user_gets_the_same_part_of_the_rest(void **state)
{
	take_all(*state, ANN);
	assert_int_equal(take_all(*state, BOB), 19); /* of 25 */
	assert_int_equal(take_all(*state, CAROL), 5); /* of 6 */
}

static void two_in_turn_get_three_sevenths_each(void **state)
{
	int n[2] = { 0 };

	for (int i = 0; i < 4 * ROOM; i++)
		n[i % 2] += shares_take(*state, SHARE_FILES, ANN + i % 2);
	assert_int_equal(n[0], 43);
	assert_int_equal(n[1], 43);
}

static void root_gets_what_is_left(void **state)
{
	take_all(*state, ANN);
	assert_int_equal(take_all(*state, 0), ROOM / 4);
	assert_int_equal(take_all(*state, BOB), 0);
}

static void what_is_given_back_can_be_taken_again(void **state)
{
	for (int turn = 0; turn < 3; turn++) {
		int n = take_all(*state, ANN);

		assert_int_equal(n, ROOM * 3 / 4);
		while (n--)
			shares_give(*state, SHARE_FILES, ANN);
	}
}

static void kinds_are_apart(void **state)
{
	take_all(*state, ANN);
	assert_true(shares_take(*state, SHARE_LOCKS, ANN));
	shares_give(*state, SHARE_LOCKS, ANN);
	assert_int_equal(take_all(*state, ANN), 0);
}

static void the_only_user_of_a_mount_gets_all(TEST_UNUSED void **state)
{
	const size_t room[SHARE_MAX] = { ROOM, ROOM, ROOM };
	struct shares *shares;

	assert_int_equal(shares_create(room, ANN, &shares), 0);
	assert_int_equal(take_all(shares, ANN), ROOM);
	shares_destroy(shares);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(one_user_gets_three_quarters),
		TEST(each_next_user_gets_the_same_part_of_the_rest),
		TEST(two_in_turn_get_three_sevenths_each),
		TEST(root_gets_what_is_left),
		TEST(what_is_given_back_can_be_taken_again),
		TEST(kinds_are_apart),
		cmocka_unit_test(the_only_user_of_a_mount_gets_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
