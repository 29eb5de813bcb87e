/* SPDX-License-Identifier: MIT */

/*
 * record.h and files.h: the versions of a file.  One ends when something is written after a
 * process that did not write it has read it, and with truncation to nothing.
 */

#include "feed.h"

enum { P = 10, Q = 20, R = 30 };

/* Of the reads and writes, in the order of their handles. */
#define VERSIONS "SELECT group_concat(version, ' ') FROM (SELECT version FROM use ORDER BY handle)"

static void write_after_a_foreign_read_begins_a_version(void **state)
{
	struct feed *f = *state;
	uint64_t node = feed_file(f, P, NODE_ROOT, "a", 10);

	feed_writes(f, P, node);
	feed_reads(f, Q, node);
	feed_writes(f, P, node);
	feed_reads(f, R, node);
	assert_string_equal(ask(f, VERSIONS), "1 1 2 2");
}

static void writers_without_a_read_between_share_a_version(void **state)
{
	struct feed *f = *state;
	uint64_t node = feed_file(f, P, NODE_ROOT, "log", 10);

	feed_writes(f, P, node);
	feed_writes(f, Q, node);
	feed_writes(f, P, node);
	assert_string_equal(ask(f, VERSIONS), "1 1 1");
}

static void writer_that_reads_back_its_own_goes_on_with_it(void **state)
{
	struct feed *f = *state;
	uint64_t node = feed_file(f, P, NODE_ROOT, "a.out", 0);

	feed_writes(f, P, node);
	feed_reads(f, P, node);
	feed_writes(f, P, node);
	assert_string_equal(ask(f, VERSIONS), "1 1 1");
}

static void update_in_place_by_one_process_begins_a_version(void **state)
{
	struct feed *f = *state;
	uint64_t node = feed_file(f, P, NODE_ROOT, "a", 10);

	feed_reads(f, P, node);
	feed_writes(f, P, node);
	assert_string_equal(ask(f, VERSIONS), "1 2");
}

static void update_through_one_handle_has_a_use_for_each_version(void **state)
{
	struct feed *f = *state;
	uint64_t h = feed_open(f, P, feed_file(f, P, NODE_ROOT, "a", 10), O_RDWR);

	feed_read(f, P, h, 0, 4);
	feed_write(f, P, h, 0, 4);
	assert_string_equal(ask(f, "SELECT version, nread, nwrite FROM use ORDER BY version"),
		"1|1|0\n2|0|1");
}

static void reader_of_what_two_have_written_ends_it(void **state)
{
	struct feed *f = *state;
	uint64_t node = feed_file(f, P, NODE_ROOT, "a", 10);

	feed_writes(f, P, node);
	feed_writes(f, Q, node);
	feed_reads(f, P, node);
	feed_writes(f, P, node);
	assert_string_equal(ask(f, VERSIONS), "1 1 1 2");
}

static void own_reading_back_does_not_let_another_writer_in(void **state)
{
	struct feed *f = *state;
	uint64_t node = feed_file(f, P, NODE_ROOT, "a", 10);

	feed_writes(f, P, node);
	feed_reads(f, P, node);
	feed_writes(f, Q, node);
	assert_string_equal(ask(f, VERSIONS), "1 1 2");
}

static void read_that_failed_ends_no_version(void **state)
{
	struct feed *f = *state;
	uint64_t node = feed_file(f, P, NODE_ROOT, "a", 10), h;

	feed_writes(f, P, node);
	h = feed_open(f, Q, node, O_RDWR);
	feed_read(f, Q, h, 0, -EIO);
	feed_release(f, 0, h);
	feed_writes(f, P, node);
	assert_string_equal(ask(f, VERSIONS), "1 1");
}

static void write_that_failed_begins_no_version(void **state)
{
	struct feed *f = *state;
	uint64_t node = feed_file(f, P, NODE_ROOT, "a", 10), h;

	feed_reads(f, Q, node);
	h = feed_open(f, P, node, O_WRONLY);
	feed_write(f, P, h, 0, -ENOSPC);
	feed_release(f, 0, h);
	feed_reads(f, Q, node);
	assert_string_equal(ask(f, VERSIONS), "1 1");
	assert_string_equal(ask(f, "SELECT count(*) FROM access WHERE nwrite > 0"), "0");
}

static void read_of_nothing_at_the_end_counts_as_a_read(void **state)
{
	struct feed *f = *state;
	uint64_t node = feed_file(f, P, NODE_ROOT, "a", 0), h;

	feed_writes(f, P, node);
	h = feed_open(f, Q, node, O_RDONLY);
	feed_read(f, Q, h, 0, 0);
	feed_writes(f, P, node);
	assert_string_equal(ask(f, VERSIONS), "1 1 2");
	assert_string_equal(ask(f, "SELECT length, bytes FROM op WHERE name = 'read'"), "0|0");
}

static void opening_a_used_file_with_trunc_begins_a_version(void **state)
{
	struct feed *f = *state;
	uint64_t node = feed_file(f, P, NODE_ROOT, "a", 10);

	feed_writes(f, P, node);
	feed_release(f, 0, feed_open(f, P, node, O_WRONLY | O_TRUNC));
	assert_string_equal(ask(f, "SELECT version, truncated FROM access WHERE file = 2 ORDER BY 1"),
		"1|0\n2|1");
}

static void truncating_an_untouched_file_keeps_its_first_version(void **state)
{
	struct feed *f = *state;
	uint64_t node = feed_file(f, P, NODE_ROOT, "a", 10);

	feed_release(f, 0, feed_open(f, P, node, O_WRONLY | O_TRUNC));
	assert_string_equal(ask(f, "SELECT version, truncated FROM access WHERE file = 2"), "1|1");
}

static void truncate_to_nothing_begins_a_version(void **state)
{
	struct feed *f = *state;
	uint64_t node = feed_file(f, P, NODE_ROOT, "a", 10);

	feed_writes(f, P, node);
	feed_truncate(f, P, node, 0);
	feed_writes(f, P, node);
	assert_string_equal(ask(f, VERSIONS), "1 2");
	assert_string_equal(ask(f, "SELECT version FROM access WHERE truncated"), "2");
}

static void truncate_to_a_length_is_a_write(void **state)
{
	struct feed *f = *state;
	uint64_t node = feed_file(f, P, NODE_ROOT, "a", 10);

	feed_truncate(f, P, node, 5);
	feed_reads(f, Q, node);
	feed_truncate(f, P, node, 3);
	assert_string_equal(ask(f, "SELECT version, truncated FROM access WHERE process = 1 AND "
		"truncated ORDER BY 1"), "1|1\n2|1");
	assert_string_equal(ask(f, "SELECT size_first, size_last FROM file WHERE id = 2"), "10|3");
}

static void truncate_that_failed_changes_nothing(void **state)
{
	struct feed *f = *state;
	uint64_t node = feed_file(f, P, NODE_ROOT, "a", 10);

	feed_writes(f, P, node);
	feed_op(f, OP_EVENT(f, P, OP_TRUNCATE, .node = node, .length = 0, .result = -EPERM), NULL);
	feed_writes(f, P, node);
	assert_string_equal(ask(f, VERSIONS), "1 1");
	assert_string_equal(ask(f, "SELECT size_last FROM file WHERE id = 2"), "10");
}

static void truncate_through_a_handle_begins_a_version(void **state)
{
	struct feed *f = *state;
	uint64_t node = feed_file(f, P, NODE_ROOT, "a", 10), h = feed_open(f, P, node, O_RDWR);

	feed_write(f, P, h, 0, 4);
	feed_op(f, OP_EVENT(f, P, OP_TRUNCATE, .node = node, .handle = h, .length = 0), NULL);
	feed_write(f, P, h, 0, 4);
	assert_string_equal(ask(f, VERSIONS), "1 2");
}

static void fallocate_is_a_write(void **state)
{
	struct feed *f = *state;
	uint64_t node = feed_file(f, P, NODE_ROOT, "a", 10), h;

	feed_reads(f, Q, node);
	h = feed_open(f, P, node, O_WRONLY);
	feed_op(f, OP_EVENT(f, P, OP_FALLOCATE, .node = node, .handle = h, .length = 100), NULL);
	feed_reads(f, R, node);
	assert_string_equal(ask(f, VERSIONS), "1 2");
	assert_string_equal(ask(f, "SELECT size_last FROM file WHERE id = 2"), "100");
}

static void execution_ends_a_version_as_a_read_does(void **state)
{
	struct feed *f = *state;
	uint64_t node = feed_file(f, P, NODE_ROOT, "prog", 10);

	feed_writes(f, P, node);
	feed_release(f, 0, feed_open(f, Q, node, O_RDONLY | 040));
	feed_writes(f, P, node);
	assert_string_equal(ask(f, VERSIONS), "1 2");
	assert_string_equal(ask(f, "SELECT process, version FROM access WHERE executed"), "2|1");
}

static void assumed_read_ends_a_version(void **state)
{
	struct feed *f = *state;
	uint64_t node = feed_file(f, P, NODE_ROOT, "a", 10);

	feed_writes(f, P, node);
	feed_release(f, 0, feed_open(f, Q, node, O_RDONLY));
	feed_writes(f, P, node);
	assert_string_equal(ask(f, VERSIONS), "1 2");
}

static void copy_reads_one_file_and_writes_the_other(void **state)
{
	struct feed *f = *state;
	uint64_t from = feed_file(f, P, NODE_ROOT, "from", 10);
	uint64_t to = feed_file(f, P, NODE_ROOT, "to", 0);
	uint64_t in = feed_open(f, P, from, O_RDONLY), out = feed_open(f, P, to, O_WRONLY);
	struct event ev = OP_EVENT(f, P, OP_COPY, .node = to, .other = in, .handle = out,
		.length = 100, .result = 10);

	ev.via = VIA_COPY;
	feed_op(f, ev, NULL);
	assert_string_equal(ask(f, "SELECT path, bread, bwrite FROM access WHERE nread + nwrite > 0 "
		"ORDER BY path"), "/from|10|0\n/to|0|10");
	assert_string_equal(ask(f, "SELECT via, length, bytes, offset FROM op WHERE name = 'copy'"),
		"copy|100|10|0");
}

static void unknown_writer_between_reads_begins_a_version(void **state)
{
	struct feed *f = *state;
	uint64_t node = feed_file(f, P, NODE_ROOT, "a", 10);
	uint64_t h = feed_open(f, P, node, O_RDWR);

	feed_read(f, P, h, 0, 1);
	feed_write(f, 0, h, 0, 1);
	feed_reads(f, P, node);
	assert_string_equal(ask(f, "SELECT nread, version FROM use WHERE nread ORDER BY version"),
		"1|1\n1|2");
}

static void number_of_versions_is_kept_with_the_file(void **state)
{
	struct feed *f = *state;
	uint64_t node = feed_file(f, P, NODE_ROOT, "a", 10);

	for (int i = 0; i < 3; i++) {
		feed_reads(f, Q, node);
		feed_writes(f, P, node);
	}
	assert_string_equal(ask(f, "SELECT max(version) FROM access WHERE file = 2"), "4");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, feed_setup_processes, feed_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(write_after_a_foreign_read_begins_a_version),
		TEST(writers_without_a_read_between_share_a_version),
		TEST(writer_that_reads_back_its_own_goes_on_with_it),
		TEST(update_in_place_by_one_process_begins_a_version),
		TEST(update_through_one_handle_has_a_use_for_each_version),
		TEST(reader_of_what_two_have_written_ends_it),
		TEST(own_reading_back_does_not_let_another_writer_in),
		TEST(read_that_failed_ends_no_version),
		TEST(write_that_failed_begins_no_version),
		TEST(read_of_nothing_at_the_end_counts_as_a_read),
		TEST(opening_a_used_file_with_trunc_begins_a_version),
		TEST(truncating_an_untouched_file_keeps_its_first_version),
		TEST(truncate_to_nothing_begins_a_version),
		TEST(truncate_to_a_length_is_a_write),
		TEST(truncate_that_failed_changes_nothing),
		TEST(truncate_through_a_handle_begins_a_version),
		TEST(fallocate_is_a_write),
		TEST(execution_ends_a_version_as_a_read_does),
		TEST(assumed_read_ends_a_version),
		TEST(copy_reads_one_file_and_writes_the_other),
		TEST(unknown_writer_between_reads_begins_a_version),
		TEST(number_of_versions_is_kept_with_the_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
