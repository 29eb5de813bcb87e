/* SPDX-License-Identifier: MIT */

/*
 * pages.h: a model of the kernel's page cache stores to some bytes of a file while direct writes change others.  The
 * source must end with the last value of each byte, in whatever order pages are read and written back.
 */

#include "ftrac/pages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "test.h"

enum { PAGE = 4096, PAGES = 8, SIZE = PAGES * PAGE, STEPS = 4000, RUNS = 20 };

/* The kernel's side: pages as it has them. */
struct cache {
	int fd;
	struct pages *pages;
	char data[SIZE];
	bool is_cached[PAGES], is_dirty[PAGES];
};

static void cache_read(struct cache *k, int page)
{
	pages_read_begin(k->pages, page * PAGE, PAGE);
	memset(k->data + page * PAGE, 0, PAGE);
	assert_true(pread(k->fd, k->data + page * PAGE, PAGE, page * PAGE) >= 0);
	pages_read_end(k->pages);
	k->is_cached[page] = true;
	k->is_dirty[page] = false;
}

static bool cache_write_back(struct cache *k, int page)
{
	char *merged, *from = k->data + page * PAGE;
	bool is_sure;

	pages_change_begin(k->pages);
	is_sure = pages_merge(k->pages, k->fd, from, PAGE, page * PAGE, &merged);
	assert_int_equal(pwrite(k->fd, merged ? merged : from, PAGE, page * PAGE), PAGE);
	pages_change_end(k->pages);
	free(merged);
	k->is_dirty[page] = false;
	return is_sure;
}

static void write_directly(struct cache *k, off_t off, const char *bytes, size_t size)
{
	pages_change_begin(k->pages);
	pages_keep(k->pages, k->fd, off, size);
	assert_int_equal(pwrite(k->fd, bytes, size, off), size);
	pages_change_end(k->pages);
}

static int setup(void **state)
{
	struct cache *k = calloc(1, sizeof(*k));

	*state = k;
	k->fd = memfd_create("source", 0);
	k->pages = pages_create();
	return k->fd < 0 || !k->pages || ftruncate(k->fd, SIZE) < 0;
}

static int teardown(void **state)
{
	struct cache *k = *state;

	pages_destroy(k->pages);
	close(k->fd);
	free(k);
	return 0;
}

static void a_page_that_is_written_back_keeps_what_was_written_meanwhile(void **state)
{
	struct cache *k = *state;
	char found[PAGE];

	cache_read(k, 1);
	k->data[PAGE + 10] = 's';
	write_directly(k, PAGE + 20, "w", 1);
	assert_true(cache_write_back(k, 1));
	assert_int_equal(pread(k->fd, found, PAGE, PAGE), PAGE);
	assert_int_equal(found[10], 's');
	assert_int_equal(found[20], 'w');
}

static void a_store_to_what_was_written_wins(void **state)
{
	struct cache *k = *state;
	char found;

	cache_read(k, 0);
	write_directly(k, 5, "w", 1);
	k->data[5] = 's';
	assert_true(cache_write_back(k, 0));
	assert_int_equal(pread(k->fd, &found, 1, 5), 1);
	assert_int_equal(found, 's');
}

static void an_append_is_kept(void **state)
{
	struct cache *k = *state;
	char found;

	assert_int_equal(ftruncate(k->fd, 100), 0);
	cache_read(k, 0);
	k->data[5] = 's';
	write_directly(k, 100, "w", 1);
	assert_true(cache_write_back(k, 0));
	assert_int_equal(pread(k->fd, &found, 1, 100), 1);
	assert_int_equal(found, 'w');
}

static void more_than_can_be_remembered_is_reported(void **state)
{
	struct cache *k = *state;

	pages_read_begin(k->pages, 0, (size_t)(PAGES_MOST + 1) * PAGE);
	pages_read_end(k->pages);
	for (off_t page = 0; page < PAGES_MOST; page++)
		write_directly(k, page * PAGE, "w", 1);
	assert_true(cache_write_back(k, 0));
	write_directly(k, (off_t)PAGES_MOST * PAGE, "w", 1);
	assert_false(cache_write_back(k, 0));
}

/* What is odd is stored, what is even is written: model[] has the last value of each byte. */
static void step(struct cache *k, char model[SIZE])
{
	int page = rand() % PAGES, at = page * PAGE + rand() % PAGE, size = 1 + rand() % (PAGE * 2);
	char bytes[PAGE * 2];

	switch (rand() % 5) {
	case 0:
		if (k->is_dirty[page])
			cache_write_back(k, page);
		cache_read(k, page);
		break;
	case 1:
		if (k->is_dirty[page])
			assert_true(cache_write_back(k, page));
		break;
	case 2: /* dropped, as by the kernel before it writes directly */
		if (!k->is_dirty[page])
			k->is_cached[page] = false;
		break;
	case 3:
		if (!k->is_cached[page])
			cache_read(k, page);
		k->data[at | 1] = model[at | 1] = rand();
		k->is_dirty[page] = true;
		break;
	default: /* a direct write brings odd bytes back as they are */
		size = at + size > SIZE ? SIZE - at : size;
		for (int i = 0; i < size; i++)
			bytes[i] = model[at + i] = (at + i) % 2 ? model[at + i] : rand();
		write_directly(k, at, bytes, size);
	}
}

static void compare_with_model(struct cache *k, const char model[SIZE])
{
	char found[SIZE];

	for (int page = 0; page < PAGES; page++)
		if (k->is_dirty[page])
			assert_true(cache_write_back(k, page));
	assert_int_equal(pread(k->fd, found, SIZE, 0), SIZE);
	assert_memory_equal(found, model, SIZE);
}

static void random_orders_lose_nothing(void **state)
{
	unsigned seed = 1 + (unsigned)getpid();

	(void)state;
	for (unsigned run = 0; run < RUNS; run++) {
		char model[SIZE] = { 0 };
		void *fresh;

		print_message("# seed %u\n", seed + run);
		srand(seed + run);
		assert_int_equal(setup(&fresh), 0);
		for (int i = 0; i < STEPS; i++)
			step(fresh, model);
		compare_with_model(fresh, model);
		teardown(&fresh);
	}
}

/* ---- ranges that the kernel may hold ---- */

static void what_was_read_is_held_until_it_is_dropped(void **state)
{
	struct pages *pages = ((struct cache *)*state)->pages;

	assert_int_equal(pages_next_held(pages, 0), -1);
	pages_read_begin(pages, 3 * PAGE + 5, 10);
	pages_read_end(pages);
	assert_int_equal(pages_next_held(pages, 0), 3 * PAGE);
	assert_int_equal(pages_next_free(pages, 3 * PAGE), 4 * PAGE);
	pages_zeroed(pages, 3 * PAGE + 1, 100 * PAGE);
	assert_int_equal(pages_next_held(pages, 0), 3 * PAGE); /* in parts */
	pages_zeroed(pages, 3 * PAGE, 100 * PAGE);
	assert_int_equal(pages_next_held(pages, 0), -1);
}

enum { SPACE = 2000 }; /* pages, of which more ranges are held than the module knows */

/* Never less than is held; and exactly that as long as there are few ranges. */
static void held_ranges_are_those_of_a_bitmap(struct pages *pages, int turns, bool exactly)
{
	bool held[SPACE] = { false };

	for (int i = 0; i < turns; i++) {
		int from = rand() % SPACE, n = 1 + rand() % (exactly ? 300 : 3);

		if (from + n > SPACE)
			n = SPACE - from;
		if (rand() % 3) {
			pages_read_begin(pages, (off_t)from * PAGE, (size_t)n * PAGE);
			pages_read_end(pages);
			memset(held + from, true, n);
		} else {
			pages_zeroed(pages, (off_t)from * PAGE, (off_t)(from + n) * PAGE);
			memset(held + from, false, n);
		}
		for (int page = 0; page < SPACE; page++) {
			bool says = pages_next_held(pages, (off_t)page * PAGE) == (off_t)page * PAGE;

			assert_int_equal(says, pages_next_free(pages, (off_t)page * PAGE) > (off_t)page * PAGE);
			assert_true(exactly ? says == held[page] : says >= held[page]);
		}
	}
}

static void few_ranges_are_exact(void **state)
{
	srand((unsigned)getpid());
	held_ranges_are_those_of_a_bitmap(((struct cache *)*state)->pages, 300, true);
}

static void many_ranges_are_never_less(void **state)
{
	srand((unsigned)getpid());
	held_ranges_are_those_of_a_bitmap(((struct cache *)*state)->pages, 300, false);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_page_that_is_written_back_keeps_what_was_written_meanwhile),
		TEST(a_store_to_what_was_written_wins),
		TEST(an_append_is_kept),
		TEST(more_than_can_be_remembered_is_reported),
		TEST(random_orders_lose_nothing),
		TEST(what_was_read_is_held_until_it_is_dropped),
		TEST(few_ranges_are_exact),
		TEST(many_ranges_are_never_less),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
