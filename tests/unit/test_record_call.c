/* SPDX-License-Identifier: MIT */

/*
 * record.h: system calls.  What they mean for files, names, handles and the views; and that one workload gives the same
 * files, versions and accesses as requests of a mount and as system calls.
 */

#include <sys/mman.h>

#include "feed.h"

enum { P = 10, Q = 20, R = 30 };

/* A file that the kernel names, in the root. */
static uint64_t named(struct feed *f, const char *name, uint32_t mode, int64_t size)
{
	uint64_t node = feed_node(f, mode, size);

	feed_name(f, NODE_ROOT, name, node);
	return node;
}

static uint64_t bare(struct feed *f, const char *text, uint32_t mode)
{
	uint64_t node = feed_node(f, mode, 0);

	feed_name(f, 0, text, node);
	return node;
}

static uint64_t open_aside(struct feed *f, pid_t tid, uint64_t node, uint32_t flags)
{
	struct event ev = OP_EVENT(f, tid, OP_OPEN, .other = node, .handle = ++f->last_handle,
		.flags = flags);

	ev.aside = 1;
	feed_call(f, ev, NULL, NULL);
	return f->last_handle;
}

static void call_data(struct feed *f, pid_t tid, enum op op, uint64_t handle, int64_t offset,
	int64_t bytes)
{
	feed_call_at(f, OP_EVENT(f, tid, op, .handle = handle, .offset = offset,
				.length = bytes < 0 ? 4096 : bytes, .result = bytes));
}

/* ---- opens and closes ---- */

static void handle_ends_without_a_row_and_closes_have_one_each(void **state)
{
	struct feed *f = *state;
	uint64_t h =
		feed_call_open(f, P, NODE_ROOT, "a", named(f, "a", S_IFREG | 0644, 9), O_RDONLY);

	feed_call_at(f, OP_EVENT(f, P, OP_DUP, .handle = h, .length = 4, .result = 4));
	call_data(f, P, OP_READ, h, 0, 5);
	feed_call_at(f, OP_EVENT(f, P, OP_CLOSE, .handle = h));
	call_data(f, P, OP_READ, h, 5, 4);
	feed_call_at(f, OP_EVENT(f, P, OP_CLOSE, .handle = h));
	feed_end_of(f, h);
	assert_string_equal(ask(f, "SELECT name, path, offset, length, bytes, via, pieces FROM op "
				   "ORDER BY id"),
		"open|/a|NULL|NULL|NULL|NULL|NULL\ndup|/a|NULL|NULL|NULL|NULL|NULL\n"
		"read|/a|0|5|5|direct|1\nclose|/a|NULL|NULL|NULL|NULL|NULL\n"
		"read|/a|5|4|4|direct|1\nclose|/a|NULL|NULL|NULL|NULL|NULL");
	assert_string_equal(ask(f, "SELECT path, fidelity, nread, bread, nseek, mapped, close_ns "
				   "NOTNULL FROM handle"),
		"/a|call|2|9|0|0|1");
}

static void unused_handle_assumes_nothing(void **state)
{
	struct feed *f = *state;

	feed_end_of(f,
		feed_call_open(f, P, NODE_ROOT, "a", named(f, "a", S_IFREG | 0644, 9), O_RDONLY));
	assert_string_equal(ask(f, "SELECT opens, nread, assumed, reads, writes FROM access"),
		"1|0|0|0|0");
}

static void handle_of_before_is_no_open(void **state)
{
	struct feed *f = *state;
	uint64_t h = open_aside(f, P, named(f, "a", S_IFREG | 0644, 9), O_RDWR | O_TRUNC);

	assert_int_equal(open_aside(f, Q, 1, O_RDONLY), h + 1);
	call_data(f, P, OP_WRITE, h, 0, 5);
	assert_string_equal(ask(f, "SELECT name FROM op"), "write");
	assert_string_equal(ask(f, "SELECT process, opens, nwrite, truncated FROM access"),
		"1|0|1|0");
}

static void what_is_aside_has_no_row_even_if_it_is_not_known(void **state)
{
	struct feed *f = *state;

	open_aside(f, P, 4711, O_RDONLY);
	feed_end_of(f, 4711);
	feed_name(f, 4711, "a", 1);
	feed_name(f, NODE_ROOT, "a", 4711);
	assert_string_equal(ask(f, "SELECT count(*) FROM op"), "0");
	assert_string_equal(ask(f, "SELECT count(*) FROM handle"), "0");
}

static void program_is_executed(void **state)
{
	struct feed *f = *state;

	feed_end_of(f, open_aside(f, P, named(f, "prog", S_IFREG | 0755, 9), FMODE_EXEC));
	assert_string_equal(ask(f, "SELECT count(*) FROM op"), "0");
	assert_string_equal(ask(f, "SELECT path, opens, executed, reads, writes FROM access"),
		"/prog|0|1|1|0");
	assert_string_equal(ask(f, "SELECT exec, mapped FROM handle"), "1|NULL");
}

static void things_without_a_path_have_their_text(void **state)
{
	struct feed *f = *state;
	uint64_t pipe = bare(f, "pipe:[7]", S_IFIFO | 0600), out = open_aside(f, P, pipe, O_WRONLY),
		 in = open_aside(f, Q, pipe, O_RDONLY),
		 poll = open_aside(f, P, bare(f, "anon_inode:[eventpoll]", 0600), O_RDWR);

	for (int i = 0; i < 3; i++) {
		call_data(f, P, OP_WRITE, out, -1, 5);
		call_data(f, Q, OP_READ, in, -1, 5);
	}
	feed_call_at(f, OP_EVENT(f, P, OP_CLOSE, .handle = poll));
	assert_string_equal(ask(f, "SELECT path, kind, created, deleted FROM file WHERE id > 1"),
		"pipe:[7]|fifo|0|0\nanon_inode:[eventpoll]|anon|0|0");
	assert_string_equal(ask(f, "SELECT process, version, reads, writes, nread, nwrite FROM "
				   "access WHERE file = 2 "
				   "ORDER BY process"),
		"1|1|0|1|0|3\n2|1|1|0|3|0");
	assert_string_equal(ask(f, "SELECT count(*) FROM name WHERE file > 1"), "0");
}

static void what_a_device_takes_is_not_what_it_gives(void **state)
{
	struct feed *f = *state;
	uint64_t null = named(f, "null", S_IFCHR | 0666, 0);
	uint64_t out = feed_call_open(f, P, NODE_ROOT, "null", null, O_WRONLY | O_TRUNC),
		 in = feed_call_open(f, Q, NODE_ROOT, "null", null, O_RDONLY);

	call_data(f, P, OP_WRITE, out, -1, 5);
	call_data(f, Q, OP_READ, in, -1, 0);
	call_data(f, P, OP_WRITE, out, -1, 5);
	assert_string_equal(ask(f, "SELECT version, reads, writes FROM access ORDER BY version, "
				   "process"),
		"1|0|0\n1|1|0\n2|0|1");
	assert_string_equal(ask(f, "SELECT version FROM op WHERE name = 'write'"), "2\n2");
}

/* ---- by path ---- */

static void name_is_made_before_its_inode_is_known(void **state)
{
	struct feed *f = *state;
	uint64_t dir, node;

	feed_call(f, OP_EVENT(f, P, OP_MKDIR, .node = NODE_ROOT, .mode = 0755), "d", NULL);
	feed_call(f, OP_EVENT(f, P, OP_MKNOD, .node = NODE_ROOT, .mode = S_IFIFO | 0644), "/d/./p",
		NULL);
	assert_string_equal(ask(f, "SELECT path, ino, dev, kind, size_first, created FROM file "
				   "WHERE id > 1"),
		"/d|NULL|NULL|dir|NULL|1\n/d/p|NULL|NULL|fifo|NULL|1");
	dir = feed_node(f, S_IFDIR | 0755, 4096);
	feed_name(f, NODE_ROOT, "d", dir);
	node = feed_node(f, S_IFIFO | 0644, 0);
	feed_name(f, dir, "p", node);
	feed_call(f, OP_EVENT(f, P, OP_UNLINK, .node = dir), "p", NULL);
	assert_string_equal(ask(f, "SELECT id, path, ino, created, deleted FROM file WHERE id > 1"),
		"2|/d|101|1|0\n3|/d/p|102|1|1");
	assert_string_equal(ask(f, "SELECT name, path, file FROM op"),
		"mkdir|/d|2\nmknod|/d/p|3\nunlink|/d/p|3");
	assert_string_equal(ask(f, "SELECT count(*) FROM name"), "2");
}

static void file_never_seen_is_removed_and_moved(void **state)
{
	struct feed *f = *state;

	feed_call(f, OP_EVENT(f, P, OP_UNLINK, .node = NODE_ROOT), "x/y", NULL);
	feed_call(f, OP_EVENT(f, P, OP_RENAME, .node = NODE_ROOT, .other = NODE_ROOT), "x/a",
		"../b");
	assert_string_equal(ask(f, "SELECT path, ino, kind, deleted FROM file WHERE id > 1 ORDER "
				   "BY id"),
		"/x|NULL|dir|0\n/x/y|NULL|NULL|1\n/b|NULL|NULL|0");
	assert_string_equal(ask(f, "SELECT name, path, path2, file FROM op"),
		"unlink|/x/y|NULL|3\nrename|/x/a|/b|4");
}

/* What is below /now: a directory.  arg: when it changed. */
static int look_at_now(void *arg, const char *path, struct event_node *ret_node, char *target, size_t size, int64_t *ret_changed_ns)
{
	(void)size;
	if (strncmp(path, "/now", 4) != 0)
		return -ENOENT;
	*ret_node = (struct event_node){ .dev = 8, .ino = 77, .mode = S_IFDIR | 0755, .size = 0, .nlink = 2, .mount = 1 };
	*target = '\0';
	*ret_changed_ns = *(int64_t *)arg;
	return 0;
}

static void type_of_what_was_moved_is_that_at_its_new_name(void **state)
{
	int64_t changed_ns = 0;
	const struct record_options options = { .ops = true, .probe = look_at_now, .probe_arg = &changed_ns };
	struct feed *f = feed_begin(&options);
	struct event ev = OP_EVENT(f, P, OP_RENAME, .node = NODE_ROOT, .other = NODE_ROOT, .flags = RENAME_EXCHANGE);

	(void)state;
	feed_call(f, ev, "a", "now1");
	changed_ns = f->now + 1000000000;
	feed_call(f, OP_EVENT(f, P, OP_RENAME, .node = NODE_ROOT, .other = NODE_ROOT), "b", "now2");
	changed_ns = f->now;
	feed_call(f, OP_EVENT(f, P, OP_RENAME, .node = NODE_ROOT, .other = NODE_ROOT), "c", "now3");
	feed_call(f, OP_EVENT(f, P, OP_UNLINK, .node = NODE_ROOT), "now3", NULL);
	feed_call(f, OP_EVENT(f, P, OP_RENAME, .node = NODE_ROOT, .other = NODE_ROOT), "d", "e");
	feed_call(f, OP_EVENT(f, P, OP_RMDIR, .node = NODE_ROOT), "e", NULL);
	assert_string_equal(ask(f, "SELECT path, kind, ino, deleted FROM file WHERE id > 1 ORDER BY id"),
		"/now1|dir|NULL|0\n/a|NULL|NULL|0\n/now2|NULL|NULL|0\n/now3|NULL|NULL|1\n/e|dir|NULL|1");
	feed_end(f);
}

static void failed_call_has_the_path_asked_for(void **state)
{
	struct feed *f = *state;

	named(f, "d", S_IFDIR | 0755, 0);
	feed_call(f, OP_EVENT(f, P, OP_OPEN, .node = NODE_ROOT, .result = -ENOENT),
		"d/no/../such//file", NULL);
	feed_call(f, OP_EVENT(f, P, OP_GETATTR, .node = NODE_ROOT, .result = -ENOENT), "d/no/x",
		NULL);
	feed_call(f, OP_EVENT(f, P, OP_GETATTR, .node = NODE_ROOT, .result = -ENOENT), "d/no/x",
		NULL);
	feed_call(f, OP_EVENT(f, P, OP_MKDIR, .node = NODE_ROOT, .result = -EACCES), "/d/new/",
		NULL);
	feed_call(f, OP_EVENT(f, P, OP_GETATTR, .node = NODE_ROOT, .result = -ENOENT), "", NULL);
	assert_string_equal(ask(f, "SELECT name, path, result, file FROM op"),
		"open|/d/such/file|-2|NULL\n"
		"getattr|/d/no/x|-2|NULL\ngetattr|/d/no/x|-2|NULL\nmkdir|/d/"
		"new|-13|NULL\ngetattr|NULL|-2|NULL");
	assert_string_equal(ask(f, "SELECT process, path, count FROM ghost ORDER BY path"),
		"1|/d/no/x|2\n1|/d/such/file|1");
}

static void result_of_stat_is_what_the_name_leads_to(void **state)
{
	struct feed *f = *state;
	uint64_t node = feed_node(f, S_IFREG | 0644, 7);

	feed_call(f,
		OP_EVENT(f, P, OP_GETATTR, .node = NODE_ROOT, .other = node,
			.flags = EVENT_NOFOLLOW),
		"a", NULL);
	feed_call(f, OP_EVENT(f, Q, OP_CHMOD, .node = NODE_ROOT), "a", NULL);
	assert_string_equal(ask(f, "SELECT path, ino FROM file WHERE id > 1"), "/a|101");
	assert_string_equal(ask(f, "SELECT process, file, nmeta FROM access ORDER BY process"),
		"1|2|1\n2|2|1");
}

static void symbolic_links_are_followed(void **state)
{
	struct feed *f = *state;

	named(f, "a", S_IFREG | 0644, 7);
	feed_call(f, OP_EVENT(f, P, OP_SYMLINK, .node = NODE_ROOT), "l", "a");
	feed_call(f, OP_EVENT(f, P, OP_CHMOD, .node = NODE_ROOT), "l", NULL);
	feed_call(f, OP_EVENT(f, P, OP_CHOWN, .node = NODE_ROOT, .flags = EVENT_NOFOLLOW), "l",
		NULL);
	feed_call(f, OP_EVENT(f, P, OP_READLINK, .node = NODE_ROOT, .result = 1), "m", "l");
	feed_call(f, OP_EVENT(f, P, OP_TRUNCATE, .node = NODE_ROOT, .length = 3), "m", NULL);
	assert_string_equal(ask(f, "SELECT name, path, path2 FROM op"),
		"symlink|/l|a\nchmod|/a|NULL\nchown|/l|NULL\n"
		"readlink|/m|NULL\ntruncate|/a|NULL");
	assert_string_equal(ask(f, "SELECT path, kind FROM file WHERE kind = 'symlink'"),
		"/l|symlink\n/m|symlink");
}

static void hard_link_is_known_by_the_name_that_was_opened(void **state)
{
	struct feed *f = *state;
	uint64_t node = named(f, "a", S_IFREG | 0644, 7);

	feed_call(f, OP_EVENT(f, P, OP_LINK, .node = NODE_ROOT, .other = NODE_ROOT), "a", "b");
	feed_call_open(f, P, NODE_ROOT, "b", node, O_RDONLY);
	feed_call_open(f, P, NODE_ROOT, "a", node, O_RDONLY);
	assert_string_equal(ask(f, "SELECT path FROM handle"), "/b\n/a");
}

static void lookup_of_the_new_name_may_come_before_the_rename(void **state)
{
	struct feed *f = *state;
	uint64_t node = named(f, "a", S_IFREG | 0644, 7), dir = named(f, "d", S_IFDIR | 0755, 0);
	int64_t start = f->now += STEP;
	struct event ev;

	feed_name(f, NODE_ROOT, "b", node);
	feed_name(f, NODE_ROOT, "e", dir);
	ev = OP_EVENT(f, P, OP_RENAME, .node = NODE_ROOT, .other = NODE_ROOT);
	ev.time_ns = start;
	feed_call(f, ev, "a", "b");
	feed_call(f, ev, "d", "e");
	assert_string_equal(ask(f, "SELECT path, deleted FROM file WHERE id > 1"), "/b|0\n/e|0");
	assert_string_equal(ask(f, "SELECT file, renamed, unlinked FROM access"), "2|1|0\n3|1|0");
	assert_string_equal(ask(f, "SELECT path FROM name WHERE to_ns IS NULL ORDER BY path"),
		"/b\n/e");
}

static void inode_number_with_another_generation_is_another_file(void **state)
{
	struct feed *f = *state;
	struct event ev = { .kind = EVENT_NODE,
		.u.node = { .id = 50,
			.dev = 8,
			.ino = 7,
			.mode = S_IFREG,
			.nlink = 1,
			.generation = 3 } };

	feed(f, &ev, NULL, 0);
	feed_name(f, NODE_ROOT, "a", 50);
	for (uint64_t i = 0; i < 3; i++) { /* the same; not known; another */
		ev.time_ns = 0;
		ev.u.node.id = 51 + i;
		ev.u.node.generation = i == 0 ? 3 : i == 1 ? 0 : 4;
		feed(f, &ev, NULL, 0);
	}
	feed_name(f, NODE_ROOT, "b", 53);
	feed_end_of(f, feed_call_open(f, P, NODE_ROOT, "a", 52, O_RDONLY));
	assert_string_equal(ask(f, "SELECT path, ino FROM file WHERE id > 1"), "/a|7\n/b|7");
	assert_string_equal(ask(f, "SELECT path FROM handle"), "/a");
}

/* A file whose inode has no generation, as the kernel names it. */
static void feed_inode(struct feed *f, uint64_t id, uint64_t ino, uint32_t mode)
{
	struct event ev = { .kind = EVENT_NODE,
		.u.node = { .id = id, .dev = 8, .ino = ino, .mode = mode, .nlink = 1 } };

	feed(f, &ev, NULL, 0);
}

static void call_stat(struct feed *f, const char *path, uint64_t node, uint64_t nlink)
{
	feed_call(f,
		OP_EVENT(f, P, OP_GETATTR, .node = NODE_ROOT, .other = node, .length = nlink,
			.flags = EVENT_NOFOLLOW),
		path, NULL);
}

static void inode_number_of_a_removed_file_is_given_to_another_one(void **state)
{
	struct feed *f = *state;

	feed_inode(f, 50, 7, S_IFREG | 0644);
	call_stat(f, "a", 50, 1);
	feed_call(f, OP_EVENT(f, P, OP_UNLINK, .node = NODE_ROOT), "a", NULL);
	call_stat(f, "a", 50, 0); /* by a link of /proc: it is the one that was removed */
	call_stat(f, "b", 50, 1);
	feed_call(f, OP_EVENT(f, P, OP_UNLINK, .node = NODE_ROOT), "b", NULL);
	feed_end_of(f, feed_call_open(f, P, NODE_ROOT, "c", 50, O_RDONLY));
	feed_name(f, NODE_ROOT, "c", 50);
	feed_call(f, OP_EVENT(f, P, OP_UNLINK, .node = NODE_ROOT), "c", NULL);
	feed_call(f, OP_EVENT(f, P, OP_SYMLINK, .node = NODE_ROOT), "d", "target");
	feed_inode(f, 51, 7, S_IFLNK | 0777);
	call_stat(f, "d", 51, 1);
	assert_string_equal(ask(f, "SELECT path, ino, kind, created, deleted FROM file WHERE id > 1"),
		"/a|7|file|0|1\n/b|7|file|0|1\n/c|7|file|0|1\n/d|7|symlink|1|0");
}

static void stat_that_began_before_the_removal_shows_the_removed_file(void **state)
{
	struct feed *f = *state;
	struct event ev = OP_EVENT(f, P, OP_GETATTR, .node = NODE_ROOT, .other = 50, .length = 1);
	int64_t start = f->now += STEP;

	feed_inode(f, 50, 7, S_IFREG | 0644);
	call_stat(f, "a", 50, 1);
	feed_call(f, OP_EVENT(f, P, OP_UNLINK, .node = NODE_ROOT), "a", NULL);
	ev.time_ns = start;
	feed_call(f, ev, "a", NULL);
	assert_string_equal(ask(f, "SELECT path, ino, deleted FROM file WHERE id > 1"), "/a|7|1");
}

static void file_that_stat_shows_on_another_device_is_known_by_its_path(void **state)
{
	struct feed *f = *state;
	uint64_t node = named(f, "a", S_IFREG | 0644, 7);
	struct event ev = { .kind = EVENT_NODE,
		.u.node = { .id = 50, .dev = 9, .ino = 7, .mode = S_IFREG, .nlink = 1 } };

	feed_end_of(f, feed_call_open(f, P, NODE_ROOT, "a", node, O_RDONLY));
	feed(f, &ev, NULL, 0);
	call_stat(f, "a", 50, 1);
	call_stat(f, "b", 50, 1);
	assert_string_equal(ask(f, "SELECT path, dev, ino, kind FROM file WHERE id > 1"),
		"/a|8|101|file\n/b|NULL|NULL|file");
}

static void file_without_a_name_gets_one(void **state)
{
	struct feed *f = *state;
	uint64_t node = feed_node(f, S_IFREG | 0600, 0), h = ++f->last_handle;

	feed_call(f,
		OP_EVENT(f, P, OP_TMPFILE, .node = NODE_ROOT, .other = node, .handle = h,
			.flags = O_TMPFILE | O_RDWR, .mode = 0600),
		".", NULL);
	feed_call(f,
		OP_EVENT(f, P, OP_LINK, .node = NODE_ROOT, .other = NODE_ROOT, .handle = h,
			.flags = AT_SYMLINK_FOLLOW),
		"/proc/self/fd/5", "a");
	call_stat(f, "a", node, 1);
	assert_string_equal(ask(f, "SELECT path, created, deleted FROM file WHERE id > 1"), "/a|1|0");
}

/* ---- data ---- */

static void sockets_and_copies_move_data(void **state)
{
	struct feed *f = *state;
	uint64_t file =
		feed_call_open(f, P, NODE_ROOT, "a", named(f, "a", S_IFREG | 0644, 9), O_RDONLY);
	uint64_t s = open_aside(f, P, bare(f, "socket:[7]", S_IFSOCK | 0777), O_RDWR);

	feed_call_at(f, OP_EVENT(f, P, OP_CONNECT, .handle = s));
	call_data(f, P, OP_SEND, s, -1, 5);
	call_data(f, P, OP_RECV, s, -1, -EAGAIN);
	call_data(f, P, OP_RECV, s, -1, 6);
	feed_call_at(f, OP_EVENT(f, P, OP_SENDFILE, .handle = s, .other = file, .offset = -1,
				.length = 20, .result = 9));
	assert_string_equal(ask(f, "SELECT name, offset, length, bytes, result FROM op WHERE file "
				   "= 3 ORDER BY id"),
		"connect|NULL|NULL|NULL|0\nsend|NULL|5|5|5\nrecv|NULL|4096|NULL|-11\nrecv|NULL|6|6|"
		"6\n"
		"sendfile|NULL|20|9|9");
	assert_string_equal(ask(f, "SELECT path, nread, bread, nwrite, bwrite FROM handle"),
		"/a|1|9|0|0\nsocket:[7]|1|6|2|14");
	assert_int_equal(record_counts(f->record).bytes, 20);
	assert_int_equal(record_counts(f->record).mount_bytes, 0);
}

/* ---- a mount with fidelity call: opens are requests ---- */

static uint64_t open_in_mount(struct feed *f, const char *name, uint32_t flags)
{
	uint64_t node = feed_node(f, S_IFREG | 0644, 9);

	feed_lookup(f, P, NODE_ROOT, name, node);
	return feed_open_as(f, P, node, flags, FIDELITY_CALL);
}

static void calls_on_a_mount_move_the_data_of_its_handles(void **state)
{
	struct feed *f = *state;
	uint64_t h = open_in_mount(f, "a", O_RDWR);

	call_data(f, P, OP_READ, h, 0, 5);
	call_data(f, Q, OP_WRITE, h, 5, 7);
	feed_call_at(f, OP_EVENT(f, P, OP_CLOSE, .handle = h));
	feed_release(f, 0, h);
	assert_string_equal(ask(f, "SELECT name, path, offset, bytes FROM op WHERE handle NOTNULL ORDER BY id"),
		"open|/a|NULL|NULL\nread|/a|0|5\nwrite|/a|5|7\nclose|/a|NULL|NULL\nrelease|/a|NULL|NULL");
	assert_string_equal(ask(f, "SELECT process, nread, bread, nwrite, bwrite, assumed FROM access ORDER BY process"),
		"1|1|5|0|0|0\n2|0|0|1|7|0");
	assert_int_equal(record_counts(f->record).mount_bytes, 12);
}

static void call_that_comes_after_the_release_is_one_of_the_handle(void **state)
{
	struct feed *f = *state;
	uint64_t h = open_in_mount(f, "a", O_RDONLY);

	feed_release(f, 0, h);
	call_data(f, P, OP_READ, h, 0, 5);
	assert_int_equal(record_finish(f->record), 0);
	assert_string_equal(ask(f, "SELECT nread, bread, close_ns - open_ns FROM handle"), "1|5|1007");
	assert_string_equal(ask(f, "SELECT path FROM op WHERE name = 'read'"), "/a");
}

static void copy_out_of_a_mount_is_a_read_of_its_handle(void **state)
{
	struct feed *f = *state;
	uint64_t h = open_in_mount(f, "a", O_RDONLY);

	feed_call_at(f, OP_EVENT(f, P, OP_SENDFILE, .other = h, .offset = 3, .length = 9, .result = 6));
	assert_string_equal(ask(f, "SELECT name, path, offset, bytes, handle FROM op WHERE name = 'sendfile'"),
		"sendfile|/a|3|6|1");
	assert_string_equal(ask(f, "SELECT nread, bread, nwrite FROM handle"), "1|6|0");
}

static void mapping_reads_and_a_shared_writable_one_writes(void **state)
{
	struct feed *f = *state;
	uint64_t a =
		feed_call_open(f, P, NODE_ROOT, "a", named(f, "a", S_IFREG | 0644, 12000), O_RDONLY);
	uint64_t b = feed_call_open(f, Q, NODE_ROOT, "b", named(f, "b", S_IFREG | 0644, 9), O_RDWR);

	feed_call_at(f, OP_EVENT(f, P, OP_MMAP, .handle = a, .offset = 4096, .length = 8192,
				.flags = PROT_READ | PROT_EXEC | MAP_PRIVATE << 8));
	feed_call_at(f, OP_EVENT(f, Q, OP_MMAP, .handle = b, .length = 9,
				.flags = PROT_WRITE | MAP_SHARED << 8));
	feed_call_at(f, OP_EVENT(f, Q, OP_MUNMAP, .length = 9, .offset = -1));
	feed_end_of(f, b);
	assert_string_equal(ask(f, "SELECT process, mapped, assumed_read, assumed_write, reads, "
				   "writes, nread, nwrite "
				   "FROM access ORDER BY process"),
		"1|1|0|0|1|0|0|0\n2|0|0|1|0|1|0|0");
	assert_string_equal(ask(f, "SELECT mapped FROM handle"), "1\n1");
	assert_string_equal(ask(f, "SELECT last_out_ns - %lld > 0 FROM access WHERE process = 2",
				    EPOCH_NS + f->now - START_NS - STEP),
		"1");
	assert_string_equal(ask(f, "SELECT name, offset, length, bytes FROM op WHERE name LIKE "
				   "'m%%map'"),
		"mmap|NULL|NULL|NULL\nmmap|NULL|NULL|NULL\nmunmap|NULL|NULL|NULL");
	assert_string_equal(ask(f, "SELECT name, path, offset, length, protection, shared FROM "
				   "mapping"),
		"mmap|/a|4096|8192|r-x|0\nmmap|/b|0|9|-w-|1\nmunmap|NULL|NULL|9|NULL|NULL");
	assert_int_equal(record_counts(f->record).mapped_bytes, 7904 + 9);
}

static void mapping_that_becomes_writable_writes_and_one_that_grows_has_more_bytes(void **state)
{
	struct feed *f = *state;
	uint64_t a = feed_call_open(f, P, NODE_ROOT, "a", named(f, "a", S_IFREG | 0644, 5000), O_RDWR);

	feed_call_at(f, OP_EVENT(f, P, OP_MMAP, .handle = a, .length = 4096,
				.flags = PROT_NONE | MAP_SHARED << 8));
	assert_string_equal(ask(f, "SELECT mapped, assumed_write FROM access"), "0|0");
	assert_int_equal(record_counts(f->record).mapped_bytes, 0);
	feed_call_at(f, OP_EVENT(f, P, OP_MPROTECT, .handle = a, .length = 4096,
				.flags = PROT_READ | MAP_SHARED << 8));
	assert_string_equal(ask(f, "SELECT mapped, assumed_write FROM access"), "1|0");
	feed_call_at(f, OP_EVENT(f, P, OP_MPROTECT, .handle = a, .length = 4096,
				.flags = PROT_READ | PROT_WRITE | MAP_SHARED << 8));
	assert_string_equal(ask(f, "SELECT version, mapped, assumed_write FROM access ORDER BY version"),
		"1|1|0\n2|0|1");
	feed_call_at(f, OP_EVENT(f, P, OP_MREMAP, .handle = a, .length = 8192, .other = 4096,
				.flags = MREMAP_MAYMOVE));
	assert_int_equal(record_counts(f->record).mapped_bytes, 5000 - 4096);
	assert_string_equal(ask(f, "SELECT name, offset, length, protection, shared FROM mapping"),
		"mmap|0|4096|---|1\nmprotect|0|4096|r--|1\nmprotect|0|4096|rw-|1\n"
		"mremap|0|8192|NULL|NULL");
}

static void ranges_of_any_length_and_offset_are_kept(void **state)
{
	struct feed *f = *state;
	uint64_t a = feed_call_open(f, P, NODE_ROOT, "a", named(f, "a", S_IFREG | 0644, 5000), O_RDONLY);
	const uint64_t lengths[] = { 0, 127, 128, INT64_MAX >> 7, (INT64_MAX >> 7) + 1, INT64_MAX };

	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++)
		feed_call_at(f, OP_EVENT(f, P, OP_MMAP, .handle = a, .offset = INT64_MAX - i, .length = lengths[i],
					.flags = PROT_READ | PROT_EXEC | MAP_PRIVATE << 8, .result = -ENOMEM));
	feed_call_at(f, OP_EVENT(f, P, OP_MUNMAP, .handle = a, .offset = -1, .length = 4096));
	assert_string_equal(ask(f, "SELECT INT64_MAX - offset, length, protection, shared FROM (SELECT *, 9223372036854775807 "
				   "AS INT64_MAX FROM mapping) ORDER BY op"),
		"0|0|r-x|0\n1|127|r-x|0\n2|128|r-x|0\n3|72057594037927935|r-x|0\n4|72057594037927936|r-x|0\n"
		"5|9223372036854775807|r-x|0\nNULL|4096|NULL|NULL");
	assert_string_equal(ask(f, "SELECT count(*) FROM ranges"), "2");
	assert_string_equal(ask(f, "SELECT count(*), count(offset), count(length) FROM op WHERE name LIKE 'm%%'"), "7|0|0");
}

static void open_and_first_close_of_the_opener_are_in_the_row_of_the_handle(void **state)
{
	struct feed *f = *state;
	uint64_t h = feed_call_open(f, P, NODE_ROOT, "a", named(f, "a", S_IFREG | 0644, 9), O_RDONLY);

	feed_call_at(f, OP_EVENT(f, Q, OP_CLOSE, .handle = h));
	feed_call_at(f, OP_EVENT(f, P, OP_CLOSE, .handle = h, .result = -EIO));
	assert_string_equal(ask(f, "SELECT count(*) FROM ops_handle"), "2");
	feed_call_at(f, OP_EVENT(f, P, OP_CLOSE, .handle = h));
	assert_string_equal(ask(f, "SELECT start_ns - (SELECT max(start_ns) FROM other_op) FROM close_op"), "1000");
	feed_call_at(f, OP_EVENT(f, P, OP_CLOSE, .handle = h));
	feed_end_of(f, h);
	assert_string_equal(ask(f, "SELECT count(*) FROM ops_handle"), "3");
	assert_string_equal(ask(f, "SELECT id, name, process, tid, result, path, handle, latency_ns, start_ns - (SELECT open_ns FROM handle) "
		"FROM op ORDER BY id"),
		"1|open|1|10|0|/a|1|7|0\n2|close|2|20|0|/a|1|7|1000\n3|close|1|10|-5|/a|1|7|2000\n"
		"4|close|1|10|0|/a|1|7|3000\n5|close|1|10|0|/a|1|7|4000");
}

static void open_by_a_thread_is_in_the_row_of_the_handle(void **state)
{
	struct feed *f = *state;

	feed_process(f, EVENT_THREAD, (struct event_process){ .pid = P, .tid = 77 }, 0, NULL);
	feed_end_of(f, feed_call_open(f, 77, NODE_ROOT, "a", named(f, "a", S_IFREG | 0644, 9), O_RDONLY));
	assert_string_equal(ask(f, "SELECT (SELECT count(*) FROM ops_handle), (SELECT count(*) FROM open_op)"), "0|1");
	assert_string_equal(ask(f, "SELECT name, process, tid FROM op"), "open|1|77");
}

/* The rest of the operation follows from the sums, as long as there is no other one. */
static void first_data_of_the_opener_is_in_the_row_of_the_sums(void **state)
{
	struct feed *f = *state;
	uint64_t h = feed_call_open(f, P, NODE_ROOT, "a", named(f, "a", S_IFREG | 0644, 9), O_RDWR);

	feed_call_at(f, OP_EVENT(f, P, OP_WRITE, .handle = h, .offset = 4, .length = 8, .result = 5));
	assert_string_equal(ask(f, "SELECT (SELECT count(*) FROM ops_handle), count(data_t), count(data_latency), count(data_result), "
		"data_length FROM moved"), "0|0|0|0|8");
#define FIRST "2|write|1|10|5|4|8|5|7|1000"
#define ASK "SELECT id, name, process, tid, result, offset, length, bytes, latency_ns, start_ns - (SELECT min(open_ns) FROM handle) FROM op " \
	"WHERE name IN ('read', 'write')"
	assert_string_equal(ask(f, ASK), FIRST);
	feed_call_at(f, OP_EVENT(f, P, OP_READ, .handle = h, .offset = 9, .length = (uint64_t)INT64_MAX - 1000, .result = 3));
	feed_call_at(f, OP_EVENT(f, P, OP_READ, .handle = h, .offset = -1, .length = UINT64_MAX, .result = -EFAULT));
	feed_call_at(f, OP_EVENT(f, P, OP_READ, .handle = h, .offset = 12));
	feed_end_of(f, h);
	assert_string_equal(ask(f, "SELECT count(*), min(length) FROM ops_handle"), "3|-1001");
	assert_string_equal(ask(f, ASK), FIRST "\n3|read|1|10|3|9|9223372036854774807|3|7|2000\n"
		"4|read|1|10|-14|NULL|9223372036854775807|NULL|7|3000\n5|read|1|10|0|12|0|0|7|4000");
}

static void data_of_others_comes_before_that_of_the_opener(void **state)
{
	struct feed *f = *state;
	uint64_t node = named(f, "a", S_IFREG | 0644, 9), h = feed_call_open(f, P, NODE_ROOT, "a", node, O_RDWR);

	feed_call_at(f, OP_EVENT(f, Q, OP_READ, .handle = h, .length = 2, .result = 2));
	feed_call_at(f, OP_EVENT(f, P, OP_READ, .handle = h, .length = 2, .offset = 2, .result = 2));
	feed_end_of(f, h);
	assert_string_equal(ask(f, "SELECT (SELECT count(*) FROM ops_handle), (SELECT count(*) FROM data_op)"), "2|0");
	assert_string_equal(ask(f, "SELECT id, process, offset FROM op WHERE name = 'read'"), "2|2|0\n3|1|2");
}

static void data_of_a_thread_is_that_of_the_opener(void **state)
{
	struct feed *f = *state;
	uint64_t h;

	feed_process(f, EVENT_THREAD, (struct event_process){ .pid = P, .tid = 77 }, 0, NULL);
	h = feed_call_open(f, 77, NODE_ROOT, "a", named(f, "a", S_IFREG | 0644, 9), O_RDWR);
	feed_call_at(f, OP_EVENT(f, 77, OP_READ, .handle = h, .length = 2, .result = 2));
	feed_call_at(f, OP_EVENT(f, 77, OP_READ, .handle = h, .length = 2, .result = 2));
	feed_call_at(f, OP_EVENT(f, P, OP_READ, .handle = h, .length = 2, .result = 2));
	feed_call_at(f, OP_EVENT(f, P, OP_CLOSE, .handle = h));
	feed_call_at(f, OP_EVENT(f, 77, OP_CLOSE, .handle = h));
	feed_end_of(f, h);
	assert_string_equal(ask(f, "SELECT count(*), count(requester) FROM ops_handle"), "3|2");
	assert_string_equal(ask(f, "SELECT id, name, process, tid FROM op ORDER BY id"),
		"1|open|1|77\n2|read|1|77\n3|read|1|77\n4|read|1|10\n5|close|1|10\n6|close|1|77");
}

static void locks_have_ranges(void **state)
{
	struct feed *f = *state;
	uint64_t h = feed_call_open(f, P, NODE_ROOT, "a", named(f, "a", S_IFREG | 0644, 9), O_RDWR);

	feed_call_at(f, OP_EVENT(f, P, OP_LOCK, .handle = h, .offset = 5, .length = 10,
				.flags = F_WRLCK | LOCK_PROCESS | LOCK_WAITS));
	feed_call_at(f, OP_EVENT(f, P, OP_LOCK, .handle = h, .flags = F_RDLCK | LOCK_FILE,
				.result = -EAGAIN));
	feed_call_at(f, OP_EVENT(f, P, OP_LOCK, .handle = h, .flags = F_UNLCK | LOCK_DESCRIPTION | LOCK_ASKS));
	assert_string_equal(ask(f, "SELECT path, result, type, owner, waits, asks, offset, length FROM file_lock"),
		"/a|0|write|process|1|0|5|10\n/a|-11|read|file|0|0|0|NULL\n"
		"/a|0|unlock|description|0|1|0|NULL");
	assert_string_equal(ask(f, "SELECT count(*) FROM mapping"), "0");
}

static void tier_of_processes_is_kernel(void **state)
{
	struct feed *f = *state;

	feed_process(f, EVENT_FORK,
		(struct event_process){ .pid = 40, .ppid = P, .tid = 40, .tier = TIER_KERNEL }, 0,
		NULL);
	assert_string_equal(ask(f, "SELECT tier FROM process WHERE pid = 40"), "kernel");
}

/* ---- one workload in both forms ---- */

enum { FILES = 6, STEPS = 300, SEEDS = 10 };

struct twin {
	struct feed *f;
	bool calls;
	unsigned seed;
	uint64_t dirs[2], nodes[FILES], handles[3][FILES]; /* of each process */
	unsigned place[FILES];                             /* of a node: its directory and name */
	int64_t positions[3][FILES];
};

static unsigned pick(struct twin *t, unsigned n)
{
	t->seed = t->seed * 1103515245 + 12345;
	return (t->seed >> 16) % n;
}

static void name_of(unsigned place, char name[8])
{
	snprintf(name, 8, "n%u", place / 2 % 10);
}

/* The node that has the place, or FILES. */
static unsigned file_at(struct twin *t, unsigned place)
{
	unsigned i = 0;

	while (i < FILES && !(t->nodes[i] && t->place[i] == place))
		i++;
	return i;
}

static void path_of(struct twin *t, unsigned place, char path[64])
{
	char name[8];

	name_of(place, name);
	snprintf(path, 64, "%s%u/%s", pick(t, 2) ? "/d" : "d0/../d", place % 2, name);
}

static void open_one(struct twin *t, unsigned p, unsigned i)
{
	uint32_t flags = pick(t, 2) ? O_RDWR : O_RDONLY;
	pid_t tid = 10 * (pid_t)(p + 1);
	char path[64];

	if (t->handles[p][i] || !t->nodes[i])
		return;
	path_of(t, t->place[i], path);
	flags |= flags == O_RDWR && pick(t, 4) == 0 ? O_TRUNC : 0;
	t->handles[p][i] = t->calls ? feed_call_open(t->f, tid, NODE_ROOT, path, t->nodes[i], flags)
				    : feed_open_as(t->f, tid, t->nodes[i], flags, FIDELITY_CALL);
	t->positions[p][i] = flags & O_ACCMODE;
}

static void close_one(struct twin *t, unsigned p, unsigned i)
{
	if (!t->handles[p][i])
		return;
	if (t->calls)
		feed_end_of(t->f, t->handles[p][i]);
	else
		feed_release(t->f, 10 * (pid_t)(p + 1), t->handles[p][i]);
	t->handles[p][i] = 0;
}

static void move_data(struct twin *t, unsigned p, unsigned i)
{
	bool writes = t->positions[p][i] == O_RDWR && pick(t, 2);
	int64_t offset = pick(t, 3) * 10;
	struct event ev = OP_EVENT(t->f, 10 * (pid_t)(p + 1), writes ? OP_WRITE : OP_READ,
		.handle = t->handles[p][i], .offset = offset, .length = 10, .result = 10);

	if (t->handles[p][i] && t->calls)
		feed_call_at(t->f, ev);
	else if (t->handles[p][i])
		feed_op(t->f, ev, NULL);
}

static void make_one(struct twin *t, unsigned p, unsigned i, unsigned place)
{
	uint64_t dir = t->dirs[place % 2];
	char name[8], path[64];

	path_of(t, place, path);
	if (t->nodes[i] || file_at(t, place) < FILES)
		return;
	name_of(place, name);
	t->nodes[i] = feed_node(t->f, S_IFREG | 0644, 0);
	t->place[i] = place;
	t->handles[p][i] = ++t->f->last_handle;
	if (t->calls) {
		feed_name(t->f, dir, name, t->nodes[i]);
		feed_call(t->f,
			OP_EVENT(t->f, 10 * (pid_t)(p + 1), OP_CREATE, .node = NODE_ROOT,
				.other = t->nodes[i], .handle = t->handles[p][i],
				.flags = O_RDWR | O_CREAT, .mode = 0644),
			path, NULL);
	} else {
		t->f->now += STEP; /* of the name */
		feed_op(t->f,
			OP_EVENT(t->f, 10 * (pid_t)(p + 1), OP_CREATE, .node = dir,
				.other = t->nodes[i], .handle = t->handles[p][i],
				.flags = O_RDWR | O_CREAT, .mode = 0644),
			name);
	}
	t->positions[p][i] = O_RDWR;
}

static void remove_one(struct twin *t, unsigned p, unsigned i)
{
	char name[8], path[64];

	if (!t->nodes[i])
		return;
	path_of(t, t->place[i], path);
	name_of(t->place[i], name);
	if (t->calls)
		feed_call(t->f, OP_EVENT(t->f, 10 * (pid_t)(p + 1), OP_UNLINK, .node = NODE_ROOT),
			path, NULL);
	else
		feed_unlink(t->f, 10 * (pid_t)(p + 1), t->dirs[t->place[i] % 2], name);
	for (unsigned q = 0; q < 3; q++)
		close_one(t, q, i);
	t->nodes[i] = 0;
}

static void move_one(struct twin *t, unsigned p, unsigned i, unsigned place)
{
	unsigned other = file_at(t, place);
	char name[8], name2[8], path[64], path2[64];

	path_of(t, t->place[i], path);
	path_of(t, place, path2);
	if (!t->nodes[i] || other == i)
		return;
	name_of(t->place[i], name);
	name_of(place, name2);
	if (t->calls)
		feed_call(t->f,
			OP_EVENT(t->f, 10 * (pid_t)(p + 1), OP_RENAME, .node = t->dirs[0],
				.other = NODE_ROOT),
			path[0] == '/' ? path : path + 3, path2);
	else
		feed_rename(t->f, 10 * (pid_t)(p + 1), t->dirs[t->place[i] % 2], name,
			t->dirs[place % 2], name2, 0);
	for (unsigned q = 0; q < 3 && other < FILES; q++)
		close_one(t, q, other);
	if (other < FILES)
		t->nodes[other] = 0;
	t->place[i] = place;
}

static void shorten_one(struct twin *t, unsigned p, unsigned i)
{
	int64_t size = pick(t, 2) ? 0 : 5;
	char path[64];

	path_of(t, t->place[i], path);
	if (t->nodes[i] && t->calls)
		feed_call(t->f,
			OP_EVENT(t->f, 10 * (pid_t)(p + 1), OP_TRUNCATE, .node = NODE_ROOT,
				.length = size),
			path, NULL);
	else if (t->nodes[i])
		feed_truncate(t->f, 10 * (pid_t)(p + 1), t->nodes[i], size);
}

static void play(struct twin *t, unsigned seed, bool calls)
{
	static const char *const names[] = { "d0", "d1" };

	*t = (struct twin){ .f = feed_begin(NULL), .seed = seed, .calls = calls };
	for (pid_t pid = 10; pid <= 30; pid += 10)
		feed_discover(t->f, pid, 1);
	for (int i = 0; i < 2; i++) {
		t->dirs[i] = feed_node(t->f, S_IFDIR | 0755, 0);
		if (calls)
			feed_name(t->f, NODE_ROOT, names[i], t->dirs[i]);
		else
			feed_lookup(t->f, 0, NODE_ROOT, names[i], t->dirs[i]);
	}
	for (int n = 0; n < STEPS; n++) {
		unsigned p = pick(t, 3), i = pick(t, FILES), place = pick(t, 8);

		switch (pick(t, 12)) {
		case 0:
		case 1:
			make_one(t, p, i, place);
			break;
		case 2:
		case 3:
			open_one(t, p, i);
			break;
		case 4:
			close_one(t, p, i);
			break;
		case 5:
			remove_one(t, p, i);
			break;
		case 6:
			move_one(t, p, i, place);
			break;
		case 7:
			shorten_one(t, p, i);
			break;
		default:
			move_data(t, p, i);
			break;
		}
	}
}

/* Where two answers differ first. */
static void assert_same(const char *requests, const char *calls)
{
	size_t n = 0, line = 0;

	for (; requests[n] && requests[n] == calls[n]; n++)
		line = requests[n] == '\n' ? n + 1 : line;
	if (requests[n] != calls[n])
		fail_msg("requests: %.*s, calls: %.*s", (int)strcspn(requests + line, "\n"),
			requests + line, (int)strcspn(calls + line, "\n"), calls + line);
}

static const char *const same[] = {
	"SELECT process, file, version, path, opens, nread, bread, nwrite, bwrite, created, "
	"truncated, renamed, unlinked, "
	"emptied, reads - assumed_read, writes, first_in_ns * (NOT assumed_read), first_out_ns, "
	"last_out_ns "
	"FROM access WHERE process NOTNULL ORDER BY 1, 2, 3",
	"SELECT id, path, created, deleted, size_first, size_last FROM file ORDER BY id",
	/* The kernel names a new file before the event of its creation. */
	"SELECT file, path, to_ns FROM name WHERE file > 3 ORDER BY 1, from_ns",
	"SELECT id, process, file, path, flags, mode, open_ns, close_ns, nread, bread, nwrite, "
	"bwrite, nseek, "
	"sequential_reads, consecutive_writes FROM handle ORDER BY id",
	"SELECT handle, process, version, nread, bwrite, nseek, first_read_ns, last_write_ns FROM "
	"use ORDER BY 1, 2, 3",
};

static void both_forms_of_a_workload_mean_the_same(void **state)
{
	size_t compared = 0;

	(void)state;
	for (unsigned seed = 1; seed <= SEEDS; seed++) {
		struct twin requests, calls;

		play(&requests, seed, false);
		play(&calls, seed, true);
		assert_int_equal(record_finish(requests.f->record), 0); /* ends handles whose last calls may be late */
		assert_int_equal(record_finish(calls.f->record), 0);
		for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
			const char *text = ask(requests.f, "%s", same[i]);

			compared += strlen(text);
			assert_same(text, ask(calls.f, "%s", same[i]));
		}
		feed_end(requests.f);
		feed_end(calls.f);
	}
	printf("# %zu bytes of answers compared\n", compared);
	assert_true(compared > SEEDS * 1000);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, feed_setup_processes, feed_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(handle_ends_without_a_row_and_closes_have_one_each),
		TEST(unused_handle_assumes_nothing),
		TEST(handle_of_before_is_no_open),
		TEST(what_is_aside_has_no_row_even_if_it_is_not_known),
		TEST(program_is_executed),
		TEST(things_without_a_path_have_their_text),
		TEST(what_a_device_takes_is_not_what_it_gives),
		TEST(name_is_made_before_its_inode_is_known),
		TEST(file_never_seen_is_removed_and_moved),
		cmocka_unit_test(type_of_what_was_moved_is_that_at_its_new_name),
		TEST(failed_call_has_the_path_asked_for),
		TEST(result_of_stat_is_what_the_name_leads_to),
		TEST(symbolic_links_are_followed),
		TEST(hard_link_is_known_by_the_name_that_was_opened),
		TEST(lookup_of_the_new_name_may_come_before_the_rename),
		TEST(inode_number_with_another_generation_is_another_file),
		TEST(inode_number_of_a_removed_file_is_given_to_another_one),
		TEST(stat_that_began_before_the_removal_shows_the_removed_file),
		TEST(file_that_stat_shows_on_another_device_is_known_by_its_path),
		TEST(file_without_a_name_gets_one),
		TEST(sockets_and_copies_move_data),
		TEST(calls_on_a_mount_move_the_data_of_its_handles),
		TEST(call_that_comes_after_the_release_is_one_of_the_handle),
		TEST(copy_out_of_a_mount_is_a_read_of_its_handle),
		TEST(mapping_reads_and_a_shared_writable_one_writes),
		TEST(mapping_that_becomes_writable_writes_and_one_that_grows_has_more_bytes),
		TEST(open_and_first_close_of_the_opener_are_in_the_row_of_the_handle),
		TEST(open_by_a_thread_is_in_the_row_of_the_handle),
		TEST(first_data_of_the_opener_is_in_the_row_of_the_sums),
		TEST(data_of_others_comes_before_that_of_the_opener),
		TEST(data_of_a_thread_is_that_of_the_opener),
		TEST(ranges_of_any_length_and_offset_are_kept),
		TEST(locks_have_ranges),
		TEST(tier_of_processes_is_kernel),
		cmocka_unit_test(both_forms_of_a_workload_mean_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
