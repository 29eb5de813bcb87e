/* SPDX-License-Identifier: MIT */

/*
 * What a record takes of memory: as much as there are files and living processes, however many operations
 * there are.  SQLite's own, which is bounded, is left out.
 */

#include <malloc.h>
#include <sqlite3.h>

#include "feed.h"

#define FILES 20000
#define FILE_BYTES_MAX 1100
#define PROCESSES 2000
#define PROCESS_BYTES_MAX 1100
#define NOISE (64 << 10) /* tables of hashes that have grown */

static int64_t used(struct feed *f)
{
	feed_flush(f);
	return (int64_t)mallinfo2().uordblks + (int64_t)mallinfo2().hblkhd - sqlite3_memory_used();
}

static void work(struct feed *f, uint64_t node, int rounds)
{
	for (int i = 0; i < rounds; i++) {
		uint64_t handle = feed_open(f, 10, node, O_RDWR);

		for (int j = 0; j < 8; j++)
			feed_read(f, 10, handle, j * 100, 100);
		feed_lookup_fails(f, 10, NODE_ROOT, "missing");
		feed_release(f, 10, handle);
	}
}

static void more_operations_take_no_more_memory(void **state)
{
	struct feed *f = *state;
	uint64_t nodes[50];
	char name[16];
	int64_t before;

	for (int i = 0; i < 50; i++) {
		snprintf(name, sizeof(name), "f%d", i);
		nodes[i] = feed_file(f, 10, NODE_ROOT, name, 100);
		work(f, nodes[i], 20);
	}
	before = used(f);
	for (int i = 0; i < 50; i++)
		work(f, nodes[i], 100);
	print_message("# %d operations later: %lld bytes more\n", 50 * 100 * 11,
		(long long)(used(f) - before));
	assert_true(used(f) - before < NOISE);
}

static void a_file_takes_what_design_says(void **state)
{
	struct feed *f = *state;
	int64_t before = used(f), each;
	char name[64];

	for (int i = 0; i < FILES; i++) {
		snprintf(name, sizeof(name), "a-file-with-a-name-of-its-own-%d", i);
		work(f, feed_file(f, 10, NODE_ROOT, name, 100), 1);
	}
	each = (used(f) - before) / FILES;
	print_message("# %d files: %lld bytes each\n", FILES, (long long)each);
	assert_true(each > 0 && each < FILE_BYTES_MAX);
}

static void a_process_takes_memory_as_long_as_it_is_there(void **state)
{
	struct feed *f = *state;
	int64_t before, each;

	feed_meet(f, 20, 10);
	before = used(f);
	for (int i = 0; i < PROCESSES; i++) {
		feed_fork(f, 1000 + i, 10);
		feed_exec(f, 1000 + i, "/bin/prog");
	}
	each = (used(f) - before) / PROCESSES;
	print_message("# %d processes: %lld bytes each\n", PROCESSES, (long long)each);
	assert_true(each > 0 && each < PROCESS_BYTES_MAX);
	for (int i = 0; i < PROCESSES; i++)
		feed_exit(f, 1000 + i, 0);
	feed_flush(f);
	record_prune(f->record, f->now + 1);
	print_message("# when they have ended: %lld bytes in all\n", (long long)(used(f) - before));
	assert_true(used(f) - before < NOISE);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, feed_setup_processes, feed_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(more_operations_take_no_more_memory),
		TEST(a_file_takes_what_design_says),
		TEST(a_process_takes_memory_as_long_as_it_is_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
