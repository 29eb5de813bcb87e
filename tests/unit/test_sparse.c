/* SPDX-License-Identifier: MIT */

/* sparse.h: any index has its own element, wherever the others are. */

#include "test.h"

#include "dag/container/sparse.h"

static const int64_t indexes[] = { 0, 1, 63, 64, 65, 1 << 20, INT64_MAX, INT64_MAX - 64, -1, -64, -65,
	INT64_MIN, INT64_C(1) << 60 };
#define INDEXES (sizeof(indexes) / sizeof(indexes[0]))

static int used;

static void count_used(void *element)
{
	used += *(int64_t *)element != 0;
}

static void elements_are_zero_and_apart(void **state)
{
	struct sparse *sparse;
	int64_t *elements[INDEXES];

	(void)state;
	assert_int_equal(sparse_create(sizeof(int64_t), &sparse), 0);
	for (size_t i = 0; i < INDEXES; i++) {
		elements[i] = sparse_at(sparse, indexes[i]);
		assert_non_null(elements[i]);
		assert_int_equal(*elements[i], 0);
		*elements[i] = (int64_t)i + 1;
	}
	for (size_t i = 0; i < INDEXES; i++) {
		assert_ptr_equal(sparse_at(sparse, indexes[i]), elements[i]);
		assert_int_equal(*elements[i], (int64_t)i + 1);
	}
	sparse_destroy(sparse, count_used);
	assert_int_equal(used, INDEXES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(elements_are_zero_and_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
