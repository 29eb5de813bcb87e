/* SPDX-License-Identifier: MIT */

/*
 * record.h: what operations mean for files, names and paths.  (Versions are in test_versions.c,
 * handles and uses in test_handles.c, processes in test_procs.c.)
 */

#include "feed.h"

enum { P = 10, Q = 20, R = 30 };

#define PATH_OF_FILE "SELECT path FROM file WHERE id = 2"

/* ---- rename ---- */

static void renamed_file_stays_itself_under_its_new_path(void **state)
{
	struct feed *f = *state;
	uint64_t node, h = feed_create(f, P, NODE_ROOT, "tmp", &node);

	feed_write(f, P, h, 0, 5);
	feed_rename(f, P, NODE_ROOT, "tmp", NODE_ROOT, "final", 0);
	feed_reads(f, Q, node);
	assert_string_equal(ask(f, "SELECT path, created, deleted FROM file WHERE kind = 'file'"),
		"/final|1|0");
	assert_string_equal(ask(f, "SELECT DISTINCT file, version FROM access WHERE nread + nwrite"),
		"2|1");
	assert_string_equal(ask(f, "SELECT path FROM access WHERE process = 2"), "/final");
}

static void rename_ends_one_name_and_begins_the_other(void **state)
{
	struct feed *f = *state;

	feed_file(f, P, NODE_ROOT, "a", 1);
	feed_rename(f, P, NODE_ROOT, "a", NODE_ROOT, "b", 0);
	assert_string_equal(ask(f, "SELECT path, to_ns IS NULL, to_ns - %lld FROM name",
		EPOCH_NS + f->now - START_NS), "/a|0|0\n/b|1|NULL");
}

static void rename_is_recorded_with_both_paths(void **state)
{
	struct feed *f = *state;

	feed_file(f, P, NODE_ROOT, "a", 1);
	feed_rename(f, P, NODE_ROOT, "a", NODE_ROOT, "b", 0);
	assert_string_equal(ask(f, "SELECT path, path2, file, file2, version, process FROM op "
		"WHERE name = 'rename'"), "/a|/b|2|NULL|1|1");
	assert_string_equal(ask(f, "SELECT process, path FROM access WHERE renamed"), "1|/b");
}

static void rename_over_a_file_deletes_that(void **state)
{
	struct feed *f = *state;

	feed_file(f, P, NODE_ROOT, "old", 1);
	feed_file(f, P, NODE_ROOT, "new", 1);
	feed_rename(f, Q, NODE_ROOT, "new", NODE_ROOT, "old", 0);
	assert_string_equal(ask(f, "SELECT id, path, deleted FROM file WHERE id > 1"),
		"2|/old|1\n3|/old|0");
	assert_string_equal(ask(f, "SELECT file, file2 FROM op WHERE name = 'rename'"), "3|2");
	assert_string_equal(ask(f, "SELECT file, renamed, unlinked FROM access WHERE process = 2 "
		"ORDER BY file"), "2|0|1\n3|1|0");
}

static void exchange_gives_each_file_the_others_name(void **state)
{
	struct feed *f = *state;
	uint64_t a = feed_file(f, P, NODE_ROOT, "a", 1), b = feed_file(f, P, NODE_ROOT, "b", 1);

	feed_rename(f, P, NODE_ROOT, "a", NODE_ROOT, "b", RENAME_EXCHANGE);
	feed_reads(f, Q, a);
	feed_reads(f, Q, b);
	assert_string_equal(ask(f, "SELECT id, path, deleted FROM file WHERE id > 1"),
		"2|/b|0\n3|/a|0");
	assert_string_equal(ask(f, "SELECT path FROM handle"), "/b\n/a");
	assert_string_equal(ask(f, "SELECT count(*) FROM access WHERE renamed"), "2");
}

static void exchanged_directories_take_their_files_along(void **state)
{
	struct feed *f = *state;
	uint64_t a = feed_dir(f, P, NODE_ROOT, "a"), b = feed_dir(f, P, NODE_ROOT, "b");
	uint64_t x = feed_file(f, P, a, "x", 1), y = feed_file(f, P, b, "y", 1);

	feed_rename(f, P, NODE_ROOT, "a", NODE_ROOT, "b", RENAME_EXCHANGE);
	feed_reads(f, Q, x);
	feed_reads(f, Q, y);
	assert_string_equal(ask(f, "SELECT path FROM handle"), "/b/x\n/a/y");
}

static void rename_of_a_directory_changes_the_paths_below_it(void **state)
{
	struct feed *f = *state;
	uint64_t dir = feed_dir(f, P, NODE_ROOT, "old"), sub = feed_dir(f, P, dir, "sub");
	uint64_t node = feed_file(f, P, sub, "x", 1);

	feed_reads(f, P, node);
	feed_rename(f, P, NODE_ROOT, "old", NODE_ROOT, "new", 0);
	feed_reads(f, P, node);
	feed_lookup_fails(f, P, sub, "y");
	assert_string_equal(ask(f, "SELECT path FROM handle"), "/old/sub/x\n/new/sub/x");
	assert_string_equal(ask(f, "SELECT path FROM ghost"), "/new/sub/y");
}

/* file.path is the last name; a process that uses it after its directory was renamed uses the new one. */
static void file_below_a_renamed_directory_is_listed_where_it_was_used_last(void **state)
{
	struct feed *f = *state;
	uint64_t dir = feed_dir(f, P, NODE_ROOT, "old"), node = feed_file(f, P, dir, "x", 1);

	feed_rename(f, P, NODE_ROOT, "old", NODE_ROOT, "new", 0);
	feed_lookup(f, P, dir, "x", node);
	feed_reads(f, P, node);
	assert_string_equal(ask(f, "SELECT path FROM file WHERE kind = 'file'"), "/new/x");
}

static void rename_that_failed_changes_nothing(void **state)
{
	struct feed *f = *state;
	uint64_t node = feed_file(f, P, NODE_ROOT, "a", 1);

	feed_op_names(f, OP_EVENT(f, P, OP_RENAME, .node = NODE_ROOT, .other = NODE_ROOT,
		.result = -EACCES), "a", "b");
	feed_reads(f, P, node);
	assert_string_equal(ask(f, "SELECT path FROM handle"), "/a");
	assert_string_equal(ask(f, "SELECT count(*) FROM access WHERE renamed"), "0");
	assert_string_equal(ask(f, "SELECT result FROM op WHERE name = 'rename'"), "-13");
}

static void rename_onto_another_link_of_the_file_does_nothing(void **state)
{
	struct feed *f = *state;
	uint64_t node = feed_file(f, P, NODE_ROOT, "a", 1);

	feed_link(f, P, node, NODE_ROOT, "b");
	feed_rename(f, P, NODE_ROOT, "a", NODE_ROOT, "b", 0);
	assert_string_equal(ask(f, "SELECT deleted FROM file WHERE id = 2"), "0");
	assert_string_equal(ask(f, "SELECT path FROM name WHERE to_ns IS NULL ORDER BY path"),
		"/a\n/b");
}

/* ---- links ---- */

static void hard_link_is_another_name_of_one_file(void **state)
{
	struct feed *f = *state;
	uint64_t node = feed_file(f, P, NODE_ROOT, "a", 1);

	feed_link(f, P, node, NODE_ROOT, "b");
	assert_string_equal(ask(f, "SELECT file, path FROM name ORDER BY path"), "2|/a\n2|/b");
	assert_string_equal(ask(f, "SELECT path, path2, file FROM op WHERE name = 'link'"),
		"/a|/b|2");
}

static void file_with_a_name_left_is_not_deleted(void **state)
{
	struct feed *f = *state;
	uint64_t node = feed_file(f, P, NODE_ROOT, "a", 1);

	feed_link(f, P, node, NODE_ROOT, "b");
	feed_unlink(f, P, NODE_ROOT, "a");
	assert_string_equal(ask(f, "SELECT path, deleted FROM file WHERE id = 2"), "/b|0");
	feed_unlink(f, P, NODE_ROOT, "b");
	assert_string_equal(ask(f, "SELECT deleted FROM file WHERE id = 2"), "1");
}

static void file_goes_by_the_name_that_is_left(void **state)
{
	struct feed *f = *state;
	uint64_t node = feed_file(f, P, NODE_ROOT, "a", 1);

	feed_link(f, P, node, NODE_ROOT, "b");
	feed_unlink(f, P, NODE_ROOT, "b");
	feed_reads(f, P, node);
	assert_string_equal(ask(f, "SELECT path FROM handle"), "/a");
	assert_string_equal(ask(f, PATH_OF_FILE), "/a");
}

static void operation_on_a_linked_file_is_on_the_name_it_was_reached_by(void **state)
{
	struct feed *f = *state;
	uint64_t node = feed_file(f, P, NODE_ROOT, "a", 1);

	feed_lookup(f, P, NODE_ROOT, "b", node);
	feed_reads(f, P, node);
	feed_lookup(f, P, NODE_ROOT, "a", node);
	feed_reads(f, P, node);
	assert_string_equal(ask(f, "SELECT path FROM handle"), "/b\n/a");
}

/* ---- removal ---- */

static void unlinked_file_keeps_its_path_while_it_is_open(void **state)
{
	struct feed *f = *state;
	uint64_t node = feed_file(f, P, NODE_ROOT, "a", 1), h = feed_open(f, P, node, O_RDWR);

	feed_unlink(f, P, NODE_ROOT, "a");
	feed_write(f, P, h, 0, 3);
	feed_op(f, OP_EVENT(f, P, OP_GETATTR, .node = node), NULL);
	assert_string_equal(ask(f, "SELECT path FROM op WHERE name IN ('write', 'getattr')"),
		"/a\n/a");
	assert_string_equal(ask(f, "SELECT deleted FROM file WHERE id = 2"), "1");
	assert_string_equal(ask(f, "SELECT process FROM access WHERE unlinked"), "1");
}

static void unlink_that_failed_deletes_nothing(void **state)
{
	struct feed *f = *state;

	feed_file(f, P, NODE_ROOT, "a", 1);
	feed_op(f, OP_EVENT(f, P, OP_UNLINK, .node = NODE_ROOT, .result = -EPERM), "a");
	assert_string_equal(ask(f, "SELECT deleted FROM file WHERE id = 2"), "0");
	assert_string_equal(ask(f, "SELECT count(*) FROM access WHERE unlinked"), "0");
	assert_string_equal(ask(f, "SELECT file, path, result FROM op WHERE name = 'unlink'"),
		"2|/a|-1");
}

static void removed_directory_is_deleted(void **state)
{
	struct feed *f = *state;

	feed_dir(f, P, NODE_ROOT, "d");
	feed_op(f, OP_EVENT(f, P, OP_RMDIR, .node = NODE_ROOT), "d");
	assert_string_equal(ask(f, "SELECT kind, deleted FROM file WHERE id = 2"), "dir|1");
}

static void name_created_again_is_another_file(void **state)
{
	struct feed *f = *state;

	feed_release(f, P, feed_create(f, P, NODE_ROOT, "a", NULL));
	feed_unlink(f, P, NODE_ROOT, "a");
	feed_release(f, P, feed_create(f, P, NODE_ROOT, "a", NULL));
	assert_string_equal(ask(f, "SELECT id, path, created, deleted FROM file WHERE id > 1"),
		"2|/a|1|1\n3|/a|1|0");
	assert_string_equal(ask(f, "SELECT file, to_ns IS NULL FROM name"), "2|0\n3|1");
}

static void inode_number_with_another_birth_is_another_file(void **state)
{
	struct feed *f = *state;

	feed_node_as(f, 50, 777, 1, S_IFREG | 0644, 1);
	feed_lookup(f, P, NODE_ROOT, "a", 50);
	feed_unlink(f, P, NODE_ROOT, "a");
	feed_forget(f, 50);
	feed_node_as(f, 51, 777, 2, S_IFREG | 0644, 1);
	feed_lookup(f, P, NODE_ROOT, "b", 51);
	assert_string_equal(ask(f, "SELECT path, ino, deleted FROM file WHERE id > 1"),
		"/a|777|1\n/b|777|0");
}

static void inode_number_of_a_deleted_file_is_another_file_without_a_birth(void **state)
{
	struct feed *f = *state;

	feed_node_as(f, 50, 777, 0, S_IFREG | 0644, 1);
	feed_lookup(f, P, NODE_ROOT, "a", 50);
	feed_unlink(f, P, NODE_ROOT, "a");
	feed_forget(f, 50);
	feed_node_as(f, 51, 777, 0, S_IFREG | 0644, 1);
	feed_lookup(f, P, NODE_ROOT, "b", 51);
	assert_string_equal(ask(f, "SELECT path FROM file WHERE id > 1"), "/a\n/b");
}

static void file_that_the_kernel_forgot_comes_back_as_itself(void **state)
{
	struct feed *f = *state;
	uint64_t node = feed_file(f, P, NODE_ROOT, "a", 1);

	feed_writes(f, P, node);
	feed_forget(f, node);
	feed_node_as(f, 99, f->last_ino, (int64_t)f->last_ino * 1000, S_IFREG | 0644, 1);
	feed_lookup(f, Q, NODE_ROOT, "a", 99);
	feed_reads(f, Q, 99);
	assert_string_equal(ask(f, "SELECT process, file FROM use ORDER BY handle"), "1|2\n2|2");
}

static void directory_that_is_forgotten_before_its_files_still_names_them(void **state)
{
	struct feed *f = *state;
	uint64_t dir = feed_dir(f, P, NODE_ROOT, "d"), node = feed_file(f, P, dir, "a", 1);

	feed_forget(f, dir);
	feed_reads(f, P, node);
	feed_forget(f, node);
	assert_string_equal(ask(f, "SELECT path FROM handle"), "/d/a");
}

/* ---- other ways to make files ---- */

static void made_things_have_their_kind(void **state)
{
	struct feed *f = *state;

	feed_op(f, OP_EVENT(f, P, OP_MKDIR, .node = 1, .other = feed_node(f, S_IFDIR, 0)), "d");
	feed_op(f, OP_EVENT(f, P, OP_MKNOD, .node = 1, .other = feed_node(f, S_IFIFO, 0)), "p");
	feed_op_names(f, OP_EVENT(f, P, OP_SYMLINK, .node = 1, .other = feed_node(f, S_IFLNK, 3)),
		"l", "../target");
	assert_string_equal(ask(f, "SELECT path, kind, created FROM file WHERE id > 1"),
		"/d|dir|1\n/p|fifo|1\n/l|symlink|1");
	assert_string_equal(ask(f, "SELECT path, path2 FROM op WHERE name = 'symlink'"),
		"/l|../target");
}

static void temporary_file_without_a_name_gets_one_by_linking_it(void **state)
{
	struct feed *f = *state;
	uint64_t node = feed_node(f, S_IFREG | 0600, 0);

	feed_op(f, OP_EVENT(f, P, OP_TMPFILE, .node = 1, .other = node, .handle = 1,
		.flags = O_RDWR | O_TMPFILE, .mode = 0600), NULL);
	feed_write(f, P, 1, 0, 5);
	assert_string_equal(ask(f, "SELECT path, created, deleted FROM file WHERE id = 2"),
		"/#101|1|1");
	feed_link(f, P, node, NODE_ROOT, "final");
	assert_string_equal(ask(f, "SELECT path, created, deleted FROM file WHERE id = 2"),
		"/final|1|0");
}

/* The path of a node that no name leads to is not that of the root. */
static void temporary_file_is_never_taken_for_the_root(void **state)
{
	struct feed *f = *state;
	uint64_t node = feed_node(f, S_IFREG | 0600, 0);

	feed_op(f, OP_EVENT(f, P, OP_TMPFILE, .node = 1, .other = node, .handle = 1,
		.flags = O_RDWR | O_TMPFILE, .mode = 0600), NULL);
	feed_op(f, OP_EVENT(f, P, OP_CHMOD, .node = node, .mode = 0644), NULL);
	feed_link(f, P, node, NODE_ROOT, "final");
	assert_string_equal(ask(f, "SELECT name FROM op WHERE path = '/'"), "");
	assert_string_equal(ask(f, "SELECT count(*) FROM access WHERE path = '/' AND file = 2"), "0");
}

static void create_that_failed_makes_no_file(void **state)
{
	struct feed *f = *state;

	feed_op(f, OP_EVENT(f, P, OP_CREATE, .node = 1, .result = -EACCES, .flags = O_WRONLY), "a");
	assert_string_equal(ask(f, "SELECT name, path, result, file, handle FROM op"),
		"create|/a|-13|NULL|NULL");
	assert_string_equal(ask(f, "SELECT count(*) FROM handle"), "0");
}

static void open_that_failed_makes_no_handle(void **state)
{
	struct feed *f = *state;
	uint64_t node = feed_file(f, P, NODE_ROOT, "a", 1);

	feed_op(f, OP_EVENT(f, P, OP_OPEN, .node = node, .result = -EACCES), NULL);
	assert_string_equal(ask(f, "SELECT path, result, handle FROM op WHERE name = 'open'"),
		"/a|-13|NULL");
	assert_string_equal(ask(f, "SELECT count(*) FROM handle"), "0");
	assert_string_equal(ask(f, "SELECT opens FROM access WHERE path = '/a'"), "0");
}

/* ---- missing names and metadata ---- */

static void missing_names_are_counted(void **state)
{
	struct feed *f = *state;

	feed_lookup_fails(f, P, NODE_ROOT, "x.h");
	feed_lookup_fails(f, P, NODE_ROOT, "x.h");
	feed_lookup_fails(f, Q, NODE_ROOT, "x.h");
	assert_string_equal(ask(f, "SELECT process, path, count FROM ghost ORDER BY process"),
		"1|/x.h|2\n2|/x.h|1");
	assert_string_equal(ask(f, "SELECT count(*) FROM file WHERE path = '/x.h'"), "0");
}

static void metadata_access_is_counted_and_is_no_data(void **state)
{
	struct feed *f = *state;
	uint64_t node = feed_file(f, P, NODE_ROOT, "a", 1);

	feed_op(f, OP_EVENT(f, Q, OP_GETATTR, .node = node), NULL);
	feed_op(f, OP_EVENT(f, Q, OP_GETXATTR, .node = node, .result = -ENODATA), "user.x");
	assert_string_equal(ask(f, "SELECT nmeta, nread, nwrite, opens, assumed FROM access "
		"WHERE process = 2"), "1|0|0|0|0");
}

static void operation_without_data_has_no_bytes_offset_or_length(void **state)
{
	struct feed *f = *state;
	uint64_t node = feed_file(f, P, NODE_ROOT, "a", 1), h = feed_open(f, P, node, O_RDWR);

	feed_op(f, OP_EVENT(f, P, OP_FSYNC, .node = node, .handle = h), NULL);
	feed_op(f, OP_EVENT(f, P, OP_LSEEK, .node = node, .handle = h, .result = 4096), NULL);
	assert_string_equal(ask(f, "SELECT name, bytes, offset, length, via FROM op "
		"WHERE name IN ('fsync', 'lseek', 'lookup')"),
		"fsync|NULL|NULL|NULL|NULL\nlseek|NULL|NULL|NULL|NULL\nlookup|NULL|NULL|NULL|NULL");
}

static void failed_read_has_no_bytes(void **state)
{
	struct feed *f = *state;
	uint64_t h = feed_open(f, P, feed_file(f, P, NODE_ROOT, "a", 1), O_RDWR);

	feed_read(f, P, h, 8, -EIO);
	assert_string_equal(ask(f, "SELECT result, offset, length, bytes FROM op WHERE name = 'read'"),
		"-5|8|4096|NULL");
}

static void operation_has_its_time_and_latency(void **state)
{
	struct feed *f = *state;

	feed_lookup_fails(f, P, NODE_ROOT, "x");
	assert_string_equal(ask(f, "SELECT start_ns - %lld, latency_ns FROM op",
		EPOCH_NS + f->now - START_NS), "0|7");
}

static void op_ids_are_in_order_over_names_and_handles(void **state)
{
	struct feed *f = *state;
	uint64_t node = feed_file(f, P, NODE_ROOT, "a", 1), h = feed_open(f, P, node, O_RDONLY);

	feed_read(f, P, h, 0, 1);
	feed_lookup_fails(f, P, NODE_ROOT, "b");
	feed_release(f, 0, h);
	assert_string_equal(ask(f, "SELECT id, name FROM op ORDER BY start_ns"),
		"1|lookup\n2|open\n3|read\n4|lookup\n5|release");
}

static void operation_of_an_unknown_process_is_kept(void **state)
{
	struct feed *f = *state;
	uint64_t node = feed_file(f, 4711, NODE_ROOT, "a", 1), h = feed_open(f, 4711, node, O_RDONLY);

	feed_read(f, 4711, h, 0, 1);
	assert_string_equal(ask(f, "SELECT process, image, tid FROM op WHERE name = 'read'"),
		"NULL|NULL|4711");
	assert_string_equal(ask(f, "SELECT process, nread FROM use"), "NULL|1");
	assert_string_equal(ask(f, "SELECT process, nread FROM access WHERE nread"), "NULL|1");
}

static void operation_on_what_was_never_announced_is_kept(void **state)
{
	struct feed *f = *state;

	feed_op(f, OP_EVENT(f, P, OP_GETATTR, .node = 4711), NULL);
	feed_read(f, P, 4711, 0, 5);
	feed_unlink(f, P, 4711, "x");
	feed_rename(f, P, 4711, "x", 4712, "y", 0);
	feed_link(f, P, 4711, 4712, "x");
	feed_release(f, 0, 4711);
	assert_string_equal(ask(f, "SELECT name, path FROM op ORDER BY id"), "getattr|NULL\n"
		"read|NULL\nunlink|NULL\nrename|NULL\nlink|NULL\nrelease|NULL");
}

/* ---- what is recorded ---- */

static struct feed *begin_with(struct record_options options)
{
	struct feed *f = feed_begin(&options);

	feed_discover(f, P, 1);
	return f;
}

static void without_ops_there_are_still_handles_and_uses(void **state)
{
	struct feed *f = begin_with((struct record_options){ .ops = false });

	*state = f;
	feed_writes(f, P, feed_file(f, P, NODE_ROOT, "a", 1));
	assert_string_equal(ask(f, "SELECT count(*) FROM op"), "0");
	assert_string_equal(ask(f, "SELECT nwrite, bwrite FROM handle"), "1|1");
	assert_string_equal(ask(f, "SELECT nwrite, bwrite FROM use"), "1|1");
	assert_int_equal(record_counts(f->record).ops, 4);
}

static void excluded_paths_leave_no_rows(void **state)
{
	const char *const exclude[] = { "/proc/*", NULL };
	struct feed *f = begin_with((struct record_options){ .ops = true,
		.paths.exclude = exclude });
	uint64_t proc = feed_dir(f, P, NODE_ROOT, "proc"), node = feed_file(f, P, proc, "stat", 1);

	*state = f;
	feed_reads(f, P, node);
	feed_lookup_fails(f, P, proc, "nothing");
	assert_string_equal(ask(f, "SELECT path FROM op"), "/proc");
	assert_string_equal(ask(f, "SELECT (SELECT count(*) FROM handle), (SELECT count(*) FROM use), "
		"(SELECT count(*) FROM ghost), (SELECT count(*) FROM access WHERE file = 3), "
		"(SELECT count(*) FROM file WHERE id = 3), (SELECT count(*) FROM name WHERE file = 3)"),
		"0|0|0|0|0|0");
	assert_int_equal(record_counts(f->record).excluded, 5);
	feed_create(f, P, proc, "made", NULL);
	assert_string_equal(ask(f, "SELECT count(*) FROM access WHERE file NOT IN (SELECT id FROM file)"), "0");
}

static void included_paths_alone_leave_rows(void **state)
{
	const char *const include[] = { "/home/*", "/data", NULL };
	struct feed *f = begin_with((struct record_options){ .ops = true,
		.paths.include = include });
	uint64_t work = feed_dir(f, P, NODE_ROOT, "home");

	*state = f;
	feed_reads(f, P, feed_file(f, P, work, "x", 1));
	feed_reads(f, P, feed_file(f, P, NODE_ROOT, "y", 1));
	assert_string_equal(ask(f, "SELECT path FROM handle"), "/home/x");
	assert_string_equal(ask(f, "SELECT DISTINCT path FROM op"), "/home/x");
}

static void rename_into_what_is_recorded_is_recorded(void **state)
{
	const char *const exclude[] = { "*.tmp", NULL };
	struct feed *f = begin_with((struct record_options){ .ops = true,
		.paths.exclude = exclude });
	uint64_t node;

	*state = f;
	feed_release(f, P, feed_create(f, P, NODE_ROOT, "a.tmp", &node));
	feed_rename(f, P, NODE_ROOT, "a.tmp", NODE_ROOT, "a", 0);
	feed_reads(f, P, node);
	assert_string_equal(ask(f, "SELECT path2 FROM op WHERE name = 'rename'"), "/a");
	assert_string_equal(ask(f, "SELECT path, created FROM file WHERE id = 2"), "/a|1");
	assert_string_equal(ask(f, "SELECT path FROM handle"), "/a");
}

/* ---- paths ---- */

static void paths_are_those_of_the_source(void **state)
{
	struct feed *f = begin_with((struct record_options){ .ops = true, .paths.source = "/data",
		.paths.mountpoint = "/mnt" });

	*state = f;
	feed_reads(f, P, feed_file(f, P, NODE_ROOT, "a", 1));
	feed_op(f, OP_EVENT(f, P, OP_GETATTR, .node = NODE_ROOT), NULL);
	assert_string_equal(ask(f, "SELECT path FROM handle"), "/data/a");
	assert_string_equal(ask(f, "SELECT path FROM op WHERE name = 'getattr'"), "/data");
}

static void working_directory_is_recorded_without_the_mount(void **state)
{
	struct facts_of_process facts = { .exe = "/mnt/bin/x", .cwd = "/mnt/home", .argv = "x",
		.argv_len = 2 };
	struct feed *f = feed_begin(&(struct record_options){ .ops = true,
		.paths.mountpoint = "/mnt" });

	*state = f;
	feed_process(f, EVENT_PROCESS, (struct event_process){ .pid = P, .tid = P }, 0, &facts);
	assert_string_equal(ask(f, "SELECT cwd, exe FROM process"), "/home|/bin/x");
}

static void working_directory_at_the_mount_is_the_source(void **state)
{
	struct facts_of_process facts = { .cwd = "/mnt", .argv = "x", .argv_len = 2 };
	struct feed *f = feed_begin(&(struct record_options){ .ops = true,
		.paths.mountpoint = "/mnt", .paths.source = "/data" });

	*state = f;
	feed_process(f, EVENT_PROCESS, (struct event_process){ .pid = P, .tid = P }, 0, &facts);
	assert_string_equal(ask(f, "SELECT cwd FROM process"), "/data");
}

/* The names of standard streams are paths as a process sees them. */
static void standard_streams_are_recorded_as_paths_of_the_source(void **state)
{
	struct facts_of_process facts = { .argv = "x", .argv_len = 2, .stdin_path = "/mnt/in" };
	struct feed *f = feed_begin(&(struct record_options){ .ops = true,
		.paths.mountpoint = "/mnt" });

	*state = f;
	feed_process(f, EVENT_PROCESS, (struct event_process){ .pid = P, .tid = P }, 0, &facts);
	assert_string_equal(ask(f, "SELECT stdin FROM image"), "/in");
}

static void names_that_are_not_utf8_are_blobs(void **state)
{
	struct feed *f = *state;

	feed_file(f, P, NODE_ROOT, "caf\xe9", 1);
	feed_file(f, P, NODE_ROOT, "caf\xc3\xa9", 1);
	assert_string_equal(ask(f, "SELECT path FROM file WHERE id > 1"),
		"x'2f636166e9'\n/caf\xc3\xa9");
	assert_string_equal(ask(f, "SELECT typeof(path) FROM name"), "blob\ntext");
}

static void mount_of_a_file_is_recorded(void **state)
{
	struct feed *f = *state;
	struct event ev = { .kind = EVENT_MOUNT, .u.mount.id = 1 };

	feed(f, &ev, "ext4\0/home", sizeof("ext4\0/home"));
	feed_file(f, P, NODE_ROOT, "a", 1);
	assert_string_equal(ask(f, "SELECT fstype, mount, dev FROM file WHERE id = 2"),
		"ext4|/home|8");
}

static void what_is_no_directory_has_nothing_in_it(void **state)
{
	struct feed *f = *state;
	uint64_t a = feed_file(f, P, NODE_ROOT, "a", 1), b = feed_node(f, S_IFREG | 0644, 1);

	feed_lookup(f, P, b, "b", b); /* else its path would have no end */
	feed_lookup(f, P, a, "b", b);
	feed_reads(f, P, a);
	assert_string_equal(ask(f, "SELECT path FROM name"), "/a");
}

static void mount_whose_text_has_no_end_is_passed_over(void **state)
{
	struct feed *f = *state;
	struct event ev = { .kind = EVENT_MOUNT, .u.mount.id = 1 };
	char *text = strndup("ext4", 4);

	feed(f, &ev, text, 4);
	feed(f, &ev, text, 0);
	free(text);
	assert_string_equal(ask(f, "SELECT count(*) FROM mounts"), "0");
	feed(f, &ev, "ext4", 5);
	assert_string_equal(ask(f, "SELECT fstype, path FROM mounts"), "ext4|NULL");
	feed(f, &ev, "nfs4\0/mnt\0/\0server:/srv\0", sizeof("nfs4\0/mnt\0/\0server:/srv\0"));
	assert_string_equal(ask(f, "SELECT * FROM mount"), "1|nfs4|/mnt|/|server:/srv|NULL");
}

static void sizes_are_those_of_the_first_and_the_last_look(void **state)
{
	struct feed *f = *state;
	uint64_t node = feed_file(f, P, NODE_ROOT, "a", 10), h = feed_open(f, P, node, O_WRONLY);

	feed_write(f, P, h, 8, 10);
	feed_write(f, P, h, 0, 1);
	assert_string_equal(ask(f, "SELECT size_first, size_last FROM file WHERE id = 2"), "10|18");
}

/* ---- the whole ---- */

static void flush_twice_writes_the_same_rows(void **state)
{
	struct feed *f = *state;
	uint64_t h = feed_open(f, P, feed_file(f, P, NODE_ROOT, "a", 1), O_RDWR);

	feed_write(f, P, h, 0, 1);
	feed_flush(f);
	feed_write(f, P, h, 1, 1);
	feed_flush(f);
	assert_string_equal(ask(f, "SELECT count(*), sum(nwrite) FROM use"), "1|2");
	assert_string_equal(ask(f, "SELECT count(*), sum(nwrite) FROM handle"), "1|2");
	assert_string_equal(ask(f, "SELECT count(*) FROM file WHERE path = '/a'"), "1");
}

static void counts_are_those_of_the_run(void **state)
{
	struct feed *f = *state;
	uint64_t h = feed_open(f, P, feed_file(f, P, NODE_ROOT, "a", 1), O_RDWR);

	feed_write(f, P, h, 0, 5);
	feed_read(f, P, h, 0, 3);
	feed_read(f, P, h, 0, -EIO);
	assert_int_equal(record_counts(f->record).ops, 5);
	assert_int_equal(record_counts(f->record).bytes, 8);
	assert_int_equal(record_counts(f->record).excluded, 0);
}

static void same_events_make_the_same_database(void **state)
{
	struct feed *f = *state, *g;
	void *other;

	assert_int_equal(feed_setup_processes(&other), 0);
	g = other;
	for (int i = 0; i < 2; i++) {
		struct feed *x = i ? g : f;
		uint64_t node, h = feed_create(x, P, NODE_ROOT, "a", &node);

		feed_write(x, P, h, 0, 5);
		feed_rename(x, P, NODE_ROOT, "a", NODE_ROOT, "b", 0);
		feed_reads(x, Q, node);
	}
	assert_string_equal(ask(f, "SELECT * FROM op"), ask(g, "SELECT * FROM op"));
	assert_string_equal(ask(f, "SELECT * FROM access"), ask(g, "SELECT * FROM access"));
	feed_end(g);
}

/* ---- notes of a build ---- */

static void write_note(const char *path, const char *text, off_t size)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	if (size)
		assert_int_equal(truncate(path, size), 0);
}

/* A hole of a terabyte would be one line, which does not fit into memory. */
static void note_larger_than_any_is_counted_and_not_read(void **state)
{
	struct record_options options = { .ops = true };
	struct temp notes;
	struct feed *f;

	(void)state;
	temp_make(&notes);
	write_note(temp_path(&notes, "1"), "ftrac-target /w\na\n\nb c\n| d\n", 0);
	write_note(temp_path(&notes, "2"), "ftrac-target /w\nz\n", 1LL << 40);
	options.declared = notes.dir;
	f = feed_begin(&options);
	assert_int_equal(record_finish(f->record), 0);
	assert_string_equal(ask(f, "SELECT target, prerequisite, order_only FROM declared ORDER BY 2"), "a|b|0\na|c|0\na|d|1");
	assert_string_equal(ask(f, "SELECT value FROM trace WHERE key = 'notes_lost'"), "1");
	feed_end(f);
	temp_take_away(&notes);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, feed_setup_processes, feed_teardown)
#define TEST_OWN(name) cmocka_unit_test_teardown(name, feed_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(renamed_file_stays_itself_under_its_new_path),
		TEST(rename_ends_one_name_and_begins_the_other),
		TEST(rename_is_recorded_with_both_paths),
		TEST(rename_over_a_file_deletes_that),
		TEST(exchange_gives_each_file_the_others_name),
		TEST(exchanged_directories_take_their_files_along),
		TEST(rename_of_a_directory_changes_the_paths_below_it),
		TEST(file_below_a_renamed_directory_is_listed_where_it_was_used_last),
		TEST(rename_that_failed_changes_nothing),
		TEST(rename_onto_another_link_of_the_file_does_nothing),
		TEST(hard_link_is_another_name_of_one_file),
		TEST(file_with_a_name_left_is_not_deleted),
		TEST(file_goes_by_the_name_that_is_left),
		TEST(operation_on_a_linked_file_is_on_the_name_it_was_reached_by),
		TEST(unlinked_file_keeps_its_path_while_it_is_open),
		TEST(unlink_that_failed_deletes_nothing),
		TEST(removed_directory_is_deleted),
		TEST(name_created_again_is_another_file),
		TEST(inode_number_with_another_birth_is_another_file),
		TEST(inode_number_of_a_deleted_file_is_another_file_without_a_birth),
		TEST(file_that_the_kernel_forgot_comes_back_as_itself),
		TEST(directory_that_is_forgotten_before_its_files_still_names_them),
		TEST(made_things_have_their_kind),
		TEST(temporary_file_without_a_name_gets_one_by_linking_it),
		TEST(temporary_file_is_never_taken_for_the_root),
		TEST(create_that_failed_makes_no_file),
		TEST(open_that_failed_makes_no_handle),
		TEST(missing_names_are_counted),
		TEST(metadata_access_is_counted_and_is_no_data),
		TEST(operation_without_data_has_no_bytes_offset_or_length),
		TEST(failed_read_has_no_bytes),
		TEST(operation_has_its_time_and_latency),
		TEST(op_ids_are_in_order_over_names_and_handles),
		TEST(operation_of_an_unknown_process_is_kept),
		TEST(operation_on_what_was_never_announced_is_kept),
		TEST_OWN(without_ops_there_are_still_handles_and_uses),
		TEST_OWN(excluded_paths_leave_no_rows),
		TEST_OWN(included_paths_alone_leave_rows),
		TEST_OWN(rename_into_what_is_recorded_is_recorded),
		TEST_OWN(paths_are_those_of_the_source),
		TEST_OWN(working_directory_is_recorded_without_the_mount),
		TEST_OWN(working_directory_at_the_mount_is_the_source),
		TEST_OWN(standard_streams_are_recorded_as_paths_of_the_source),
		TEST(names_that_are_not_utf8_are_blobs),
		TEST(mount_of_a_file_is_recorded),
		TEST(what_is_no_directory_has_nothing_in_it),
		TEST(mount_whose_text_has_no_end_is_passed_over),
		TEST(sizes_are_those_of_the_first_and_the_last_look),
		TEST(flush_twice_writes_the_same_rows),
		TEST(counts_are_those_of_the_run),
		TEST(same_events_make_the_same_database),
		cmocka_unit_test(note_larger_than_any_is_counted_and_not_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
