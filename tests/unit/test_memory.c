/* SPDX-License-Identifier: MIT */

/*
 * What a record takes of memory: as much as there are files and living processes, however many operations
 * there are, and whatever else clients make as much of as they like.  SQLite's own is left out, but for its bound.
 *
 * FTRAC_TEST_NAMES: how many names are looked for that are not there.
 */

#include <malloc.h>
#include <sqlite3.h>

#include "feed.h"

#define FILES 60000
#define FILE_BYTES_MAX 900
#define PROCESSES 2000
#define PROCESS_BYTES_MAX 1100
#define NOISE (64 << 10) /* tables of hashes that have grown */
#define NAMES 300000
#define STORM 50000
#define BATCH 1024
#define KEPT (RECORD_KEPT / 8)
#define STORM_BYTES_MAX (4 * KEPT) /* as record.h says */
#define SQLITE_BYTES_MAX (6 << 20)

static int64_t used_now(void)
{
	return (int64_t)mallinfo2().uordblks + (int64_t)mallinfo2().hblkhd - sqlite3_memory_used();
}

static int64_t used(struct feed *f)
{
	feed_flush(f);
	return used_now();
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

	feed_discover(f, 20, 10);
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

/* ---- what a client may do as often as it likes ---- */

static void look_for(struct feed *f, int i)
{
	char name[32];

	snprintf(name, sizeof(name), "missing-%d", i);
	feed_lookup_fails(f, 10, NODE_ROOT, name);
}

static void look_by_many(struct feed *f, int i)
{
	char name[32];

	snprintf(name, sizeof(name), "missing-%d", i);
	feed_lookup_fails(f, 1000 + i % 10000, NODE_ROOT, name);
}

static void rename_on(struct feed *f, int i)
{
	char from[32], to[32];

	snprintf(from, sizeof(from), "a%d", i);
	snprintf(to, sizeof(to), "a%d", i + 1);
	feed_rename(f, 10, NODE_ROOT, from, NODE_ROOT, to, 0);
}

static void find_renamed(struct feed *f, int i)
{
	char name[32];

	snprintf(name, sizeof(name), "b%d", i);
	feed_lookup(f, 10, NODE_ROOT, name, 2);
}

static void rename_what_is_not_there(struct feed *f, int i)
{
	char from[32], to[32];

	snprintf(from, sizeof(from), "from%d", i);
	snprintf(to, sizeof(to), "to%d", i);
	feed_op_names(f, OP_EVENT(f, 10, OP_RENAME, .node = NODE_ROOT, .other = NODE_ROOT, .result = -ENOENT),
		from, to);
}

static void link_to_anything(struct feed *f, int i)
{
	char target[32];

	snprintf(target, sizeof(target), "/target/%d", i);
	feed_op_names(f, OP_EVENT(f, 10, OP_SYMLINK, .node = NODE_ROOT, .result = -EEXIST), "link", target);
}

static void open_in_all_ways(struct feed *f, int i)
{
	feed_release(f, 10, feed_open(f, 10, 2, i << 6));
}

static void ask_by_threads(struct feed *f, int i)
{
	pid_t tid = 100000 + i;

	feed_process(f, EVENT_THREAD, (struct event_process){ .pid = 10, .tid = tid }, 0, NULL);
	feed_op(f, OP_EVENT(f, tid, OP_GETATTR, .node = 2), NULL);
	feed_process(f, EVENT_EXIT, (struct event_process){ .pid = 10, .tid = tid }, 0, NULL);
}

static void leave_threads(struct feed *f, int i)
{
	pid_t pid = 100000 + 4 * i;

	feed_fork(f, pid, 10);
	for (pid_t tid = pid + 1; tid < pid + 4; tid++)
		feed_process(f, EVENT_THREAD, (struct event_process){ .pid = pid, .tid = tid }, 0, NULL);
	feed_exit(f, pid, 0);
}

static void hand_on_a_file(struct feed *f, int i)
{
	pid_t pid = 100000 + i;

	feed_fork(f, pid, 10);
	feed_read(f, pid, 1, 0, 10);
	feed_exit(f, pid, 0);
}

static void make_versions(struct feed *f, int i)
{
	(void)i;
	feed_truncate(f, 10, 2, 0);
	feed_reads(f, 20, 2);
}

static void make_versions_unknown(struct feed *f, int i)
{
	(void)i;
	feed_truncate(f, 0, 2, 0);
	feed_reads(f, 0, 2);
}

static void read_and_write_in_turn(struct feed *f, int i)
{
	(void)i;
	feed_write(f, 10, 1, 0, 10);
	feed_read(f, 20, 1, 0, 10);
}

static void exec_on(struct feed *f, int i)
{
	(void)i;
	feed_exec(f, 10, "/bin/again");
}

static void fork_on(struct feed *f, int i)
{
	feed_fork(f, 100001 + i, i ? 100000 + i : 10);
	if (i)
		feed_exit(f, 100000 + i, 0);
}

static const struct {
	const char *what;
	void (*step)(struct feed *f, int i);
	int times;
} storms[] = {
	{ "names that one process looks for", look_for, NAMES },
	{ "names that 10,000 processes look for", look_by_many, NAMES },
	{ "names that a file has one after the other", rename_on, STORM },
	{ "names that a file is given beside the mount", find_renamed, STORM },
	{ "names that no file has", rename_what_is_not_there, STORM },
	{ "targets of links that are not made", link_to_anything, STORM },
	{ "ways to open", open_in_all_ways, STORM },
	{ "threads", ask_by_threads, STORM },
	{ "processes with threads whose end is not reported", leave_threads, STORM },
	{ "processes that use one open file", hand_on_a_file, STORM },
	{ "versions of a file", make_versions, STORM },
	{ "versions of a file, by unknown processes", make_versions_unknown, STORM },
	{ "versions through one open file", read_and_write_in_turn, STORM },
	{ "programs of one process", exec_on, STORM },
	{ "processes, each the child of the one before", fork_on, STORM },
};

/* Once in a while, as the writer does. */
static void end_batch(struct feed *f)
{
	feed_flush(f);
	record_prune(f->record, f->now + 1);
}

static struct feed *begin_storm(void)
{
	struct feed *f = feed_begin(&(struct record_options){ .ops = true, .kept = KEPT });

	feed_discover(f, 10, 1);
	feed_discover(f, 20, 1);
	for (int i = 0; i < 10000; i++)
		feed_fork(f, 1000 + i, 10);
	assert_int_equal(feed_file(f, 10, NODE_ROOT, "a0", 100), 2);
	assert_int_equal(feed_open(f, 10, 2, O_RDWR), 1);
	end_batch(f);
	return f;
}

static int times_of(int i)
{
	const char *names = getenv("FTRAC_TEST_NAMES");

	return storms[i].times == NAMES && names ? atoi(names) : storms[i].times;
}

static int64_t storm(struct feed *f, int which)
{
	int64_t before = used(f), most = 0;

	for (int i = 0; i < times_of(which); i++) {
		storms[which].step(f, i);
		if (i % 1000 == 0 && used_now() - before > most)
			most = used_now() - before;
		if (i % BATCH == 0)
			end_batch(f);
	}
	return most;
}

static void storms_take_bounded_memory(void **state)
{
	(void)state;
	sqlite3_memory_highwater(1);
	for (size_t i = 0; i < sizeof(storms) / sizeof(storms[0]); i++) {
		struct feed *f = begin_storm();
		int64_t most = storm(f, i);

		print_message("# %d %s: %lld bytes at most, of SQLite %lld\n", times_of(i), storms[i].what,
			(long long)most, (long long)sqlite3_memory_highwater(0));
		assert_true(most < STORM_BYTES_MAX);
		assert_true(sqlite3_memory_highwater(0) < SQLITE_BYTES_MAX);
		feed_end(f);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, feed_setup_processes, feed_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(more_operations_take_no_more_memory),
		TEST(a_file_takes_what_design_says),
		TEST(a_process_takes_memory_as_long_as_it_is_there),
		cmocka_unit_test(storms_take_bounded_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
