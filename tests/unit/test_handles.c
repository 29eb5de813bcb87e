/* SPDX-License-Identifier: MIT */

/*
 * handles.h: opens of files and the images that used them - a row for each open, one for each image and
 * version that was read or written through it.
 */

#include "feed.h"

enum { P = 10, Q = 20, R = 30 };

static uint64_t file_a(struct feed *f)
{
	return feed_file(f, P, NODE_ROOT, "a", 1000);
}

/* ---- positions ---- */

#define POSITIONS \
	"SELECT nseek, sequential_reads, consecutive_reads, sequential_writes, consecutive_writes " \
	"FROM handle"

static void reading_on_is_sequential_and_consecutive(void **state)
{
	struct feed *f = *state;
	uint64_t h = feed_open(f, P, file_a(f), O_RDONLY);

	feed_read(f, P, h, 0, 10);
	feed_read(f, P, h, 10, 10);
	feed_read(f, P, h, 20, 0);
	assert_string_equal(ask(f, POSITIONS), "0|3|3|0|0");
}

static void first_access_not_at_the_beginning_is_a_seek(void **state)
{
	struct feed *f = *state;
	uint64_t h = feed_open(f, P, file_a(f), O_RDONLY);

	feed_read(f, P, h, 100, 10);
	assert_string_equal(ask(f, POSITIONS), "1|1|0|0|0");
}

static void skipping_forward_is_sequential_and_not_consecutive(void **state)
{
	struct feed *f = *state;
	uint64_t h = feed_open(f, P, file_a(f), O_WRONLY);

	feed_write(f, P, h, 0, 10);
	feed_write(f, P, h, 50, 10);
	assert_string_equal(ask(f, POSITIONS), "1|0|0|2|1");
}

static void going_back_is_neither(void **state)
{
	struct feed *f = *state;
	uint64_t h = feed_open(f, P, file_a(f), O_RDONLY);

	feed_read(f, P, h, 0, 10);
	feed_read(f, P, h, 5, 10);
	assert_string_equal(ask(f, POSITIONS), "1|1|1|0|0");
}

static void writing_where_a_read_ended_is_no_seek(void **state)
{
	struct feed *f = *state;
	uint64_t h = feed_open(f, P, file_a(f), O_RDWR);

	feed_read(f, P, h, 0, 10);
	feed_write(f, P, h, 10, 10);
	assert_string_equal(ask(f, POSITIONS), "0|1|1|1|1");
}

static void failed_access_moves_nothing(void **state)
{
	struct feed *f = *state;
	uint64_t h = feed_open(f, P, file_a(f), O_RDONLY);

	feed_read(f, P, h, 500, -EIO);
	feed_read(f, P, h, 0, 10);
	assert_string_equal(ask(f, POSITIONS), "0|1|1|0|0");
	assert_string_equal(ask(f, "SELECT nread FROM handle"), "1");
}

static void append_to_an_unknown_place_is_sequential_and_no_seek(void **state)
{
	struct feed *f = *state;
	uint64_t h = feed_open(f, P, file_a(f), O_WRONLY | O_APPEND);

	feed_write(f, P, h, -1, 10);
	feed_write(f, P, h, -1, 10);
	assert_string_equal(ask(f, POSITIONS), "0|0|0|2|0");
	assert_string_equal(ask(f, "SELECT offset, bytes FROM op WHERE name = 'write'"),
		"NULL|10\nNULL|10");
}

/* ---- sums ---- */

static void handle_sums_what_went_through_it(void **state)
{
	struct feed *f = *state;
	uint64_t h = feed_open(f, P, file_a(f), O_RDWR);

	feed_read(f, P, h, 0, 10);
	feed_read(f, P, h, 10, 20);
	feed_write(f, P, h, 30, 5);
	assert_string_equal(ask(f, "SELECT nread, bread, nwrite, bwrite, read_ns, write_ns "
		"FROM handle"), "2|30|1|5|14|7");
}

static void use_has_the_first_and_the_last_time(void **state)
{
	struct feed *f = *state;
	uint64_t h = feed_open(f, P, file_a(f), O_RDONLY);
	int64_t opened = EPOCH_NS + f->now - START_NS;

	feed_read(f, P, h, 0, 10);
	feed_read(f, P, h, 10, 20);
	assert_string_equal(ask(f, "SELECT first_read_ns - %lld, last_read_ns - %lld, first_write_ns, "
		"last_write_ns FROM use", opened, opened), "1000|2000|NULL|NULL");
}

static void handle_has_the_times_of_open_and_close(void **state)
{
	struct feed *f = *state;
	uint64_t h = feed_open(f, P, file_a(f), O_RDONLY);
	int64_t opened = EPOCH_NS + f->now - START_NS;

	assert_string_equal(ask(f, "SELECT open_ns - %lld, close_ns FROM handle", opened), "0|NULL");
	feed_release(f, 0, h);
	assert_string_equal(ask(f, "SELECT close_ns - %lld FROM handle", opened), "1007");
}

static void handle_has_flags_and_the_mode_of_a_creation(void **state)
{
	struct feed *f = *state;

	feed_create(f, P, NODE_ROOT, "new", NULL);
	feed_open(f, P, file_a(f), O_RDWR | O_APPEND);
	assert_string_equal(ask(f, "SELECT flags, mode, fidelity FROM handle"),
		"O_WRONLY|O_CREAT|O_TRUNC|0666|exact\nO_RDWR|O_APPEND|NULL|exact");
}

static void counts_of_an_open_by_passthrough_are_not_known(void **state)
{
	struct feed *f = *state;

	feed_release(f, 0, feed_open_as(f, P, file_a(f), O_RDONLY, FIDELITY_OPEN));
	assert_string_equal(ask(f, "SELECT fidelity, nread, bread, nwrite, bwrite, nseek, read_ns, "
		"sequential_reads, consecutive_writes FROM handle"),
		"open|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL");
	assert_string_equal(ask(f, "SELECT assumed, assumed_read, assumed_write, nread, bwrite, mapped "
		"FROM access WHERE opens"), "1|1|0|NULL|NULL|NULL");
}

static void open_for_writing_by_passthrough_is_assumed_to_write(void **state)
{
	struct feed *f = *state;
	uint64_t a = file_a(f);

	feed_release(f, 0, feed_open_as(f, P, a, O_WRONLY, FIDELITY_OPEN));
	assert_string_equal(ask(f, "SELECT assumed, assumed_read, assumed_write, nwrite FROM access "
		"WHERE opens"), "1|0|1|NULL");
}

static void open_for_both_by_passthrough_reads_one_version_and_writes_the_next(void **state)
{
	struct feed *f = *state;
	uint64_t a = file_a(f);

	feed_release(f, 0, feed_open_as(f, P, a, O_RDWR, FIDELITY_OPEN));
	assert_string_equal(ask(f, "SELECT version, assumed_read, assumed_write FROM access "
		"WHERE assumed ORDER BY version"), "1|1|0\n2|0|1");
}

static void what_an_open_by_passthrough_empties_is_written_for_sure(void **state)
{
	struct feed *f = *state;
	uint64_t a = file_a(f);

	feed_release(f, 0, feed_open_as(f, P, a, O_RDWR | O_TRUNC, FIDELITY_OPEN));
	assert_string_equal(ask(f, "SELECT assumed, truncated, nwrite FROM access WHERE opens"),
		"0|1|NULL");
}

/* ---- users of an open file ---- */

static void inherited_descriptor_is_used_by_the_image_that_reads_or_writes(void **state)
{
	struct feed *f = *state;
	uint64_t h;

	feed_fork(f, 11, P); /* sh -c 'prog > out': the shell forks, opens, and runs prog */
	h = feed_create(f, 11, NODE_ROOT, "out", NULL);
	feed_exec(f, 11, "/bin/prog");
	feed_write(f, 11, h, 0, 5);
	feed_release(f, 0, h);
	assert_string_equal(ask(f, "SELECT i.exe, i.seq FROM handle h JOIN image i ON i.id = h.image"),
		"/bin/p10|0");
	assert_string_equal(ask(f, "SELECT i.exe, i.seq, nwrite FROM use u JOIN image i "
		"ON i.id = u.image"), "/bin/prog|1|1");
}

static void each_image_that_uses_a_handle_has_its_own_sums(void **state)
{
	struct feed *f = *state;
	uint64_t h = feed_open(f, P, file_a(f), O_RDONLY);

	feed_read(f, P, h, 0, 10);
	feed_read(f, Q, h, 10, 20);
	feed_read(f, P, h, 30, 40);
	assert_string_equal(ask(f, "SELECT process, nread, bread FROM use ORDER BY process"),
		"1|2|50\n2|1|20");
	assert_string_equal(ask(f, "SELECT process, nread, bread FROM handle"), "1|3|70");
}

static void release_of_unknown_process_belongs_to_the_last_user(void **state)
{
	struct feed *f = *state;
	uint64_t h = feed_open(f, P, file_a(f), O_RDONLY);

	feed_read(f, Q, h, 0, 10);
	feed_release(f, 0, h);
	assert_string_equal(ask(f, "SELECT process, tid FROM op WHERE name = 'release'"), "2|NULL");
}

static void release_of_an_unused_handle_belongs_to_its_opener(void **state)
{
	struct feed *f = *state;

	feed_release(f, 0, feed_open(f, P, file_a(f), O_RDONLY));
	assert_string_equal(ask(f, "SELECT process FROM op WHERE name = 'release'"), "1");
}

static void use_outlives_the_process(void **state)
{
	struct feed *f = *state;
	uint64_t h = feed_open(f, P, file_a(f), O_RDONLY);

	feed_read(f, P, h, 0, 10);
	feed_exit(f, P, 0);
	feed_flush(f);
	record_prune(f->record, f->now + 1);
	feed_release(f, 0, h);
	assert_string_equal(ask(f, "SELECT process, nread FROM use"), "1|1");
	assert_string_equal(ask(f, "SELECT process FROM op WHERE name = 'release'"), "1");
}

/* ---- mappings ---- */

static void page_cache_read_through_an_exact_handle_is_a_mapping(void **state)
{
	struct feed *f = *state;
	uint64_t h = feed_open(f, P, file_a(f), O_RDONLY);

	feed_data(f, P, OP_READ, h, 0, 4096, VIA_PAGECACHE);
	assert_string_equal(ask(f, "SELECT mapped FROM handle"), "1");
	assert_string_equal(ask(f, "SELECT process, mapped FROM access WHERE mapped"), "1|1");
	assert_string_equal(ask(f, "SELECT via FROM op WHERE name = 'read'"), "pagecache");
}

static void page_cache_read_through_a_cached_handle_says_nothing(void **state)
{
	struct feed *f = *state;
	uint64_t h = feed_open_as(f, P, file_a(f), O_RDONLY, FIDELITY_CACHED);

	feed_data(f, P, OP_READ, h, 0, 4096, VIA_PAGECACHE);
	assert_string_equal(ask(f, "SELECT mapped, fidelity FROM handle"), "NULL|cached");
	assert_string_equal(ask(f, "SELECT max(mapped) FROM access"), "0");
}

static void handle_for_writing_only_cannot_be_mapped(void **state)
{
	struct feed *f = *state;

	feed_open(f, P, file_a(f), O_WRONLY);
	assert_string_equal(ask(f, "SELECT mapped FROM handle"), "0");
}

static void write_back_belongs_to_the_only_writer(void **state)
{
	struct feed *f = *state;
	uint64_t h = feed_open(f, P, file_a(f), O_RDWR);

	feed_data(f, 0, OP_WRITE, h, 0, 4096, VIA_WRITEBACK);
	assert_string_equal(ask(f, "SELECT process, via FROM op WHERE name = 'write'"),
		"1|writeback");
	assert_string_equal(ask(f, "SELECT process, nwrite FROM use"), "1|1");
	assert_string_equal(ask(f, "SELECT mapped FROM handle"), "1");
}

static void write_back_with_two_writers_belongs_to_no_process(void **state)
{
	struct feed *f = *state;
	uint64_t node = file_a(f), h = feed_open(f, P, node, O_RDWR);

	feed_open(f, Q, node, O_RDWR);
	feed_data(f, 0, OP_WRITE, h, 0, 4096, VIA_WRITEBACK);
	assert_string_equal(ask(f, "SELECT process FROM op WHERE name = 'write'"), "NULL");
	assert_string_equal(ask(f, "SELECT process, nwrite FROM use"), "NULL|1");
}

static void write_back_after_the_other_writer_closed_has_an_owner(void **state)
{
	struct feed *f = *state;
	uint64_t node = file_a(f), h = feed_open(f, P, node, O_RDWR);

	feed_release(f, 0, feed_open(f, Q, node, O_RDWR));
	feed_data(f, 0, OP_WRITE, h, 0, 4096, VIA_WRITEBACK);
	assert_string_equal(ask(f, "SELECT process FROM op WHERE name = 'write'"), "1");
}

/* ---- assumed and executed ---- */

#define ASSUMED "SELECT assumed FROM access WHERE file = 2 AND opens"

static void handle_for_reading_that_was_not_read_is_assumed_to_be(void **state)
{
	struct feed *f = *state;

	feed_release(f, 0, feed_open(f, P, file_a(f), O_RDONLY));
	assert_string_equal(ask(f, ASSUMED), "1");
}

static void handle_that_was_read_is_not_assumed(void **state)
{
	struct feed *f = *state;

	feed_reads(f, P, file_a(f));
	assert_string_equal(ask(f, ASSUMED), "0");
}

static void handle_for_writing_is_not_assumed_to_be_read(void **state)
{
	struct feed *f = *state;

	feed_release(f, 0, feed_open(f, P, file_a(f), O_RDWR));
	assert_string_equal(ask(f, ASSUMED), "0");
}

static void directory_is_not_assumed_to_be_read(void **state)
{
	struct feed *f = *state;

	feed_release(f, 0, feed_open(f, P, feed_dir(f, P, NODE_ROOT, "d"), O_RDONLY));
	assert_string_equal(ask(f, ASSUMED), "0");
}

static void read_elsewhere_takes_the_assumption_away(void **state)
{
	struct feed *f = *state;
	uint64_t node = file_a(f);

	feed_release(f, 0, feed_open(f, P, node, O_RDONLY));
	feed_reads(f, P, node);
	assert_string_equal(ask(f, "SELECT assumed, nread FROM access WHERE file = 2"), "0|1");
}

static void execution_is_recorded_and_not_assumed(void **state)
{
	struct feed *f = *state;

	feed_release(f, 0, feed_open(f, P, file_a(f), O_RDONLY | 040));
	assert_string_equal(ask(f, "SELECT executed, assumed FROM access WHERE opens"), "1|0");
	assert_string_equal(ask(f, "SELECT flags FROM handle"), "O_RDONLY|FMODE_EXEC");
}

static void handle_still_open_at_the_end_is_assumed_to_be_read(void **state)
{
	struct feed *f = *state;

	feed_open(f, P, file_a(f), O_RDONLY);
	record_finish(f->record);
	assert_string_equal(ask(f, ASSUMED), "1");
}

static void opens_are_counted_for_each_process(void **state)
{
	struct feed *f = *state;
	uint64_t node = file_a(f);

	feed_reads(f, P, node);
	feed_reads(f, P, node);
	feed_reads(f, Q, node);
	assert_string_equal(ask(f, "SELECT process, opens, nread FROM access WHERE opens "
		"ORDER BY process"), "1|2|2\n2|1|1");
}

static void access_spans_all_that_was_done(void **state)
{
	struct feed *f = *state;
	uint64_t node = file_a(f), h = feed_open(f, Q, node, O_RDONLY);
	int64_t opened = EPOCH_NS + f->now - START_NS;

	feed_read(f, Q, h, 0, 1);
	feed_read(f, Q, h, 1, 1);
	assert_string_equal(ask(f, "SELECT first_ns - %lld, last_ns - %lld, io_ns FROM access "
		"WHERE process = 2", opened, opened), "0|2000|14");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, feed_setup_processes, feed_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(reading_on_is_sequential_and_consecutive),
		TEST(first_access_not_at_the_beginning_is_a_seek),
		TEST(skipping_forward_is_sequential_and_not_consecutive),
		TEST(going_back_is_neither),
		TEST(writing_where_a_read_ended_is_no_seek),
		TEST(failed_access_moves_nothing),
		TEST(append_to_an_unknown_place_is_sequential_and_no_seek),
		TEST(handle_sums_what_went_through_it),
		TEST(use_has_the_first_and_the_last_time),
		TEST(handle_has_the_times_of_open_and_close),
		TEST(handle_has_flags_and_the_mode_of_a_creation),
		TEST(counts_of_an_open_by_passthrough_are_not_known),
		TEST(open_for_writing_by_passthrough_is_assumed_to_write),
		TEST(open_for_both_by_passthrough_reads_one_version_and_writes_the_next),
		TEST(what_an_open_by_passthrough_empties_is_written_for_sure),
		TEST(inherited_descriptor_is_used_by_the_image_that_reads_or_writes),
		TEST(each_image_that_uses_a_handle_has_its_own_sums),
		TEST(release_of_unknown_process_belongs_to_the_last_user),
		TEST(release_of_an_unused_handle_belongs_to_its_opener),
		TEST(use_outlives_the_process),
		TEST(page_cache_read_through_an_exact_handle_is_a_mapping),
		TEST(page_cache_read_through_a_cached_handle_says_nothing),
		TEST(handle_for_writing_only_cannot_be_mapped),
		TEST(write_back_belongs_to_the_only_writer),
		TEST(write_back_with_two_writers_belongs_to_no_process),
		TEST(write_back_after_the_other_writer_closed_has_an_owner),
		TEST(handle_for_reading_that_was_not_read_is_assumed_to_be),
		TEST(handle_that_was_read_is_not_assumed),
		TEST(handle_for_writing_is_not_assumed_to_be_read),
		TEST(directory_is_not_assumed_to_be_read),
		TEST(read_elsewhere_takes_the_assumption_away),
		TEST(execution_is_recorded_and_not_assumed),
		TEST(handle_still_open_at_the_end_is_assumed_to_be_read),
		TEST(opens_are_counted_for_each_process),
		TEST(access_spans_all_that_was_done),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
