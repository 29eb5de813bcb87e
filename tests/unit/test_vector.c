/* SPDX-License-Identifier: MIT */

/* base/vector.h, base/arena.h and base/failure.h. */

#include "base/arena.h"
#include "base/err.h"
#include "base/failure.h"
#include "base/heap.h"
#include "base/vector.h"
#include "test.h"

#define MANY 1000

struct point {
	int32_t x, y;
};

static int compare_x(const void *key, const void *element)
{
	int32_t a = *(const int32_t *)key, b = ((const struct point *)element)->x;

	return (a > b) - (a < b);
}

/* x: each even number three times. */
static struct point *make_points(int32_t *ret_n)
{
	struct point *points = NULL;

	*ret_n = 0;
	for (int32_t i = 0; i < MANY; i++)
		assert_int_equal(vector_push(points, *ret_n, (struct point){ .x = i / 3 * 2, .y = i }), 0);
	return points;
}

static void elements_stay_when_the_array_grows(void **state)
{
	int32_t n;
	struct point *points = make_points(&n);

	(void)state;
	assert_int_equal(n, MANY);
	for (int32_t i = 0; i < n; i++)
		assert_int_equal(points[i].y, i);
	free(points);
}

static void array_that_shrank_grows_again(void **state)
{
	int32_t n;
	struct point *points = make_points(&n);

	(void)state;
	for (int32_t less = MANY; less >= 0; less -= 37) {
		n = less;
		for (int i = 0; i < 100; i++)
			assert_int_equal(vector_push(points, n, (struct point){ .y = n }), 0);
		for (int32_t i = 0; i < n; i++)
			assert_int_equal(points[i].y, i);
	}
	free(points);
}

static void array_is_as_it_was_without_memory(void **state)
{
	volatile size_t beyond = SIZE_MAX / sizeof(struct point);
	struct point *points = NULL;
	volatile size_t n = 0;

	(void)state;
	assert_null(vector_grown(NULL, 0, beyond));
	assert_int_equal(vector_push(points, n, (struct point){ 1, 2 }), 0);
	n = (size_t)1 << 61;
	assert_int_equal(vector_reserve(points, n), -ENOMEM);
	assert_int_equal(vector_push(points, n, (struct point){ 3, 4 }), -ENOMEM);
	assert_int_equal(n, (size_t)1 << 61);
	assert_int_equal(points[0].y, 2);
	free(points);
}

static void buffer_keeps_its_content_when_it_gets_room(void **state)
{
	char *bytes = NULL;
	size_t room = 0;

	(void)state;
	assert_int_equal(vector_fit(bytes, room, 0), 0);
	assert_null(bytes);
	for (size_t i = 0; i < MANY; i++) {
		assert_int_equal(vector_fit(bytes, room, i + 1), 0);
		assert_true(room > i);
		bytes[i] = (char)(i % 128);
	}
	for (size_t i = 0; i < MANY; i++)
		assert_int_equal(bytes[i], i % 128);
	free(bytes);
}

static void buffer_is_as_it_was_without_memory(void **state)
{
	volatile size_t beyond[] = { SIZE_MAX, SIZE_MAX / 2, SIZE_MAX / sizeof(struct point) };
	struct point *points = NULL, *before;
	size_t room = 0;

	(void)state;
	assert_int_equal(vector_fit(points, room, 3), 0);
	before = points;
	points[2].y = 7;
	for (size_t i = 0; i < sizeof(beyond) / sizeof(*beyond); i++) {
		assert_int_equal(vector_fit(points, room, beyond[i]), -ENOMEM);
		assert_int_equal(room, 6);
		assert_ptr_equal(points, before);
	}
	assert_int_equal(points[2].y, 7);
	free(points);
}

static void bound_is_the_first_that_is_not_less(void **state)
{
	int32_t n;
	struct point *points = make_points(&n);

	(void)state;
	assert_int_equal(vector_lower_bound(&(int32_t){ 1 }, NULL, 0, sizeof(*points), compare_x), 0);
	for (int32_t x = -1; x < 2 * MANY; x++) {
		size_t first = 0;

		while (first < (size_t)n && points[first].x < x)
			first++;
		assert_int_equal(vector_lower_bound(&x, points, n, sizeof(*points), compare_x), first);
	}
	free(points);
}

static void key_is_found_in_an_array_and_in_none(void **state)
{
	int32_t n;
	struct point *points = make_points(&n), *found;

	(void)state;
	found = vector_find(&(int32_t){ 8 }, points, n, sizeof(*points), compare_x);
	assert_non_null(found);
	assert_int_equal(found->x, 8);
	assert_null(vector_find(&(int32_t){ 9 }, points, n, sizeof(*points), compare_x));
	assert_null(vector_find(&(int32_t){ 8 }, NULL, 0, sizeof(*points), compare_x));
	free(points);
}

static void pieces_of_an_arena_do_not_overlap(void **state)
{
	struct arena arena = { NULL };
	char *pieces[MANY];

	(void)state;
	for (size_t i = 0; i < MANY; i++) {
		size_t size = i % 100 == 99 ? 2 * ARENA_CHUNK_BYTES : i;

		pieces[i] = arena_alloc(&arena, size);
		assert_non_null(pieces[i]);
		assert_int_equal((uintptr_t)pieces[i] % _Alignof(max_align_t), 0);
		memset(pieces[i], (int)(i % 128), size);
	}
	for (size_t i = 0; i < MANY; i++)
		for (size_t at = 0; at < i; at++)
			assert_int_equal(pieces[i][at], i % 128);
	arena_free(&arena);
	assert_null(arena.chunks);
}

static void text_of_an_arena_ends_with_nul(void **state)
{
	struct arena arena = { NULL };

	(void)state;
	assert_string_equal(arena_text(&arena, "alphabet", 5), "alpha");
	assert_string_equal(arena_text(&arena, NULL, 0), "");
	arena_free(&arena);
}

static void cleared_arena_keeps_one_chunk(void **state)
{
	struct arena arena = { NULL };
	char *first = arena_text(&arena, "a", 1);

	(void)state;
	arena_clear(&arena);
	assert_ptr_equal(arena_text(&arena, "b", 1), first);
	assert_non_null(arena_alloc(&arena, 2 * ARENA_CHUNK_BYTES));
	arena_clear(&arena);
	assert_non_null(arena.chunks);
	assert_null(arena.chunks->next);
	arena_free(&arena);
	arena_clear(&arena);
	assert_null(arena.chunks);
}

static bool is_larger(const void *arg, int32_t a, int32_t b)
{
	(void)arg;
	return a > b;
}

static void heap_gives_numbers_in_order(void **state)
{
	int32_t heap[MANY], n = 0, last = INT32_MAX;

	(void)state;
	for (int32_t i = 0; i < MANY; i++)
		heap_push(heap, &n, i * 7919 % MANY, is_larger, NULL);
	for (int32_t i = 0; i < MANY; i++) {
		int32_t number = heap_pop(heap, &n, is_larger, NULL);

		assert_int_equal(number, MANY - 1 - i);
		assert_true(number < last);
		last = number;
	}
	assert_int_equal(n, 0);
}

static void failure_has_code_text_and_status(void **state)
{
	struct failure failure = { 0 };

	(void)state;
	assert_int_equal(failure_status(&failure), 0);
	assert_int_equal(failure_set(&failure, -ENOENT, "no '%s'", "x"), -ENOENT);
	assert_int_equal(failure.code, -ENOENT);
	assert_string_equal(failure.text, "no 'x'");
	assert_int_equal(failure_status(&failure), EXIT_OWN);
	failure_set(&failure, FAILURE_USAGE, "no such option");
	assert_int_equal(failure_status(&failure), EXIT_USAGE);
	assert_int_equal(failure_of_memory(&failure, 0), 0);
	assert_int_equal(failure_of_memory(&failure, -1), -ENOMEM);
	assert_string_equal(failure.text, "out of memory");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(elements_stay_when_the_array_grows),
		cmocka_unit_test(array_that_shrank_grows_again),
		cmocka_unit_test(array_is_as_it_was_without_memory),
		cmocka_unit_test(buffer_keeps_its_content_when_it_gets_room),
		cmocka_unit_test(buffer_is_as_it_was_without_memory),
		cmocka_unit_test(bound_is_the_first_that_is_not_less),
		cmocka_unit_test(key_is_found_in_an_array_and_in_none),
		cmocka_unit_test(pieces_of_an_arena_do_not_overlap),
		cmocka_unit_test(text_of_an_arena_ends_with_nul),
		cmocka_unit_test(cleared_arena_keeps_one_chunk),
		cmocka_unit_test(heap_gives_numbers_in_order),
		cmocka_unit_test(failure_has_code_text_and_status),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
