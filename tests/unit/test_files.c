/* SPDX-License-Identifier: MIT */

/*
 * files.h by itself: nodes, the names that lead to them, and what makes a node the same file.
 * (What operations make of it is in test_record.c, versions are in test_versions.c.)
 */

#include <fcntl.h>
#include <sys/stat.h>

#include "db/event.h"
#include "db/files.h"
#include "stored.h"

struct fixture {
	struct stored in;
	struct paths_options options;
	struct paths *paths;
	struct files *files;
};

static struct node *add(struct fixture *f, uint64_t id, uint64_t ino, uint32_t mode)
{
	const struct event_node e = { .id = id, .dev = 1, .ino = ino, .birth_ns = (int64_t)ino,
		.mode = mode, .nlink = 1 };

	assert_int_equal(files_add_node(f->files, &e), 0);
	return files_node(f->files, id);
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	stored_begin(&f->in);
	f->options.source = "/";
	assert_int_equal(paths_create(f->in.store, &f->options, 1 << 20, &f->paths), 0);
	assert_int_equal(files_create(f->in.store, f->paths, 0, 1 << 20, &f->files), 0);
	add(f, NODE_ROOT, 2, S_IFDIR);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	files_destroy(f->files);
	paths_destroy(f->paths);
	stored_end(&f->in);
	free(f);
	return 0;
}

static struct node *root(struct fixture *f)
{
	return files_node(f->files, NODE_ROOT);
}

static void bind(struct fixture *f, struct node *dir, const char *name, struct node *node)
{
	assert_int_equal(files_bind(f->files, dir, name, strlen(name), node, 1), 0);
}

static const char *path_of(struct fixture *f, struct node *node)
{
	struct path p;

	assert_int_equal(files_path(f->files, node, NULL, 0, &p), 0);
	return sql_ask(f->in.db, "SELECT path FROM paths WHERE id = %lld", p.id);
}

static void node_that_was_never_reported_is_not_there(void **state)
{
	struct fixture *f = *state;

	assert_null(files_node(f->files, 99));
	files_forget_node(f->files, 99);
}

static void two_nodes_of_one_inode_are_one_file(void **state)
{
	struct fixture *f = *state;

	assert_ptr_equal(node_file(add(f, 10, 7, S_IFREG)), node_file(add(f, 11, 7, S_IFREG)));
	assert_ptr_not_equal(node_file(add(f, 12, 8, S_IFREG)), node_file(add(f, 13, 9, S_IFREG)));
}

static void name_leads_to_its_node(void **state)
{
	struct fixture *f = *state;
	struct node *node = add(f, 10, 7, S_IFREG);

	bind(f, root(f), "a", node);
	assert_ptr_equal(files_resolve(f->files, root(f), "a", 1), node);
	assert_null(files_resolve(f->files, root(f), "b", 1));
	assert_null(files_resolve(f->files, node, "a", 1));
}

static void name_that_leads_elsewhere_now_is_taken_from_the_other(void **state)
{
	struct fixture *f = *state;
	struct node *a = add(f, 10, 7, S_IFREG), *b = add(f, 11, 8, S_IFREG);

	bind(f, root(f), "x", a);
	bind(f, root(f), "x", b);
	assert_ptr_equal(files_resolve(f->files, root(f), "x", 1), b);
	assert_false(node_file(a)->deleted); /* another program may have renamed it */
}

static void path_is_made_of_the_names_above(void **state)
{
	struct fixture *f = *state;
	struct node *dir = add(f, 10, 7, S_IFDIR), *node = add(f, 11, 8, S_IFREG);

	bind(f, root(f), "d", dir);
	bind(f, dir, "a", node);
	assert_string_equal(path_of(f, root(f)), "/");
	assert_string_equal(path_of(f, dir), "/d");
	assert_string_equal(path_of(f, node), "/d/a");
}

static void name_of_255_bytes_is_a_name(void **state)
{
	struct fixture *f = *state;
	struct node *node = add(f, 10, 7, S_IFREG);
	char name[256];

	memset(name, 'n', sizeof(name));
	assert_int_equal(files_bind(f->files, root(f), name, 255, node, 1), 0);
	assert_ptr_equal(files_resolve(f->files, root(f), name, 255), node);
	assert_int_equal(strlen(path_of(f, node)), 256);
	assert_null(files_resolve(f->files, root(f), name, 256));
}

static void unbinding_the_last_name_deletes_the_file(void **state)
{
	struct fixture *f = *state;
	struct node *node = add(f, 10, 7, S_IFREG);

	bind(f, root(f), "a", node);
	assert_ptr_equal(files_unbind(f->files, root(f), "a", 1, true, 2), node_file(node));
	assert_true(node_file(node)->deleted);
	assert_string_equal(path_of(f, node), "/a");
	assert_null(files_unbind(f->files, root(f), "a", 1, true, 2));
}

static void name_found_missing_deletes_nothing(void **state)
{
	struct fixture *f = *state;
	struct node *node = add(f, 10, 7, S_IFREG);

	bind(f, root(f), "a", node);
	files_unbind(f->files, root(f), "a", 1, false, 2);
	assert_false(node_file(node)->deleted);
	assert_null(files_resolve(f->files, root(f), "a", 1));
}

static void forgotten_directory_stays_while_names_are_in_it(void **state)
{
	struct fixture *f = *state;
	struct node *dir = add(f, 10, 7, S_IFDIR), *node = add(f, 11, 8, S_IFREG);

	bind(f, root(f), "d", dir);
	bind(f, dir, "a", node);
	files_forget_node(f->files, 10);
	assert_string_equal(path_of(f, node), "/d/a");
	files_forget_node(f->files, 11);
	assert_null(files_node(f->files, 10));
	assert_null(files_node(f->files, 11));
}

static void moved_directory_is_where_it_is_bound_now(void **state)
{
	struct fixture *f = *state;
	struct node *dir = add(f, 10, 7, S_IFDIR), *node = add(f, 11, 8, S_IFREG);

	bind(f, root(f), "d", dir);
	bind(f, dir, "a", node);
	path_of(f, node); /* is kept */
	files_unbind(f->files, root(f), "d", 1, false, 2);
	bind(f, root(f), "e", dir);
	assert_int_equal(files_moved(f->files, 3), 0);
	assert_string_equal(path_of(f, node), "/e/a");
}

static const char *names_of(struct fixture *f, int64_t file)
{
	return sql_ask(f->in.db, "SELECT p.path, from_t, to_t FROM names JOIN paths p ON p.id = names.path WHERE file = %lld "
		"ORDER BY from_t", file);
}

static void name_of_a_forgotten_file_moves_with_the_directory(void **state)
{
	struct fixture *f = *state;
	struct node *dir = add(f, 10, 7, S_IFDIR), *sub = add(f, 11, 8, S_IFDIR), *node = add(f, 12, 9, S_IFREG);
	int64_t file = node_file(node)->id;

	bind(f, root(f), "d", dir);
	bind(f, dir, "s", sub);
	bind(f, sub, "a", node);
	files_forget_node(f->files, 12);
	files_forget_node(f->files, 11);
	files_unbind(f->files, root(f), "d", 1, false, 2);
	bind(f, root(f), "e", dir);
	assert_int_equal(files_moved(f->files, 3), 0);
	assert_string_equal(names_of(f, file), "/d/s/a|1|3\n/e/s/a|3|NULL");
	/* The kernel looks it up again. */
	sub = add(f, 13, 8, S_IFDIR);
	node = add(f, 14, 9, S_IFREG);
	assert_int_equal(files_bind(f->files, dir, "s", 1, sub, 5), 0);
	assert_int_equal(files_bind(f->files, sub, "a", 1, node, 5), 0);
	assert_int_equal(node_file(node)->id, file);
	assert_string_equal(names_of(f, file), "/d/s/a|1|3\n/e/s/a|3|NULL");
}

static void forgotten_file_that_has_another_name_now_lost_the_old_one(void **state)
{
	struct fixture *f = *state;
	struct node *node = add(f, 10, 7, S_IFREG);
	int64_t file = node_file(node)->id;

	bind(f, root(f), "a", node);
	files_forget_node(f->files, 10);
	node = add(f, 11, 7, S_IFREG);
	assert_int_equal(files_bind(f->files, root(f), "b", 1, node, 5), 0);
	assert_string_equal(names_of(f, file), "/a|1|5\n/b|5|NULL");
}

static void directory_has_one_name(void **state)
{
	struct fixture *f = *state;
	struct node *dir = add(f, 10, 7, S_IFDIR);

	bind(f, root(f), "d", dir);
	bind(f, root(f), "e", dir);
	assert_string_equal(path_of(f, dir), "/e");
	assert_null(files_resolve(f->files, root(f), "d", 1));
}

/* Late news of old places, as threads that tell of lookups and renames at the same time make. */
static void directory_is_never_below_itself(void **state)
{
	struct fixture *f = *state;
	struct node *a = add(f, 10, 7, S_IFDIR), *b = add(f, 11, 8, S_IFDIR);

	bind(f, root(f), "a", a);
	bind(f, a, "b", b);
	bind(f, root(f), "b", b); /* moved out */
	files_unbind(f->files, root(f), "a", 1, false, 2);
	bind(f, b, "a", a);       /* and the other moved in */
	bind(f, a, "b", b);       /* old news */
	assert_string_equal(path_of(f, a), "/b/a");
	assert_string_equal(path_of(f, b), "/b");
	files_unbind(f->files, root(f), "b", 1, false, 2);
	assert_string_equal(path_of(f, a), "/b/a");
}

static void news_from_before_a_rename_is_late(void **state)
{
	struct fixture *f = *state;
	struct node *node = add(f, 10, 7, S_IFREG);

	bind(f, root(f), "a", node);
	files_set_moved(node, 50);
	assert_true(files_is_late(node, 49));
	assert_false(files_is_late(node, 50));
	files_unbind(f->files, root(f), "a", 1, true, 60);
	assert_false(files_is_late(node, 49)); /* better an old name than none */
}

static void deep_tree_has_a_path(void **state)
{
	struct fixture *f = *state;
	struct node *dir = root(f);

	for (uint64_t i = 0; i < 2000; i++) {
		struct node *below = add(f, 10 + i, 10 + i, S_IFDIR);

		bind(f, dir, "d", below);
		dir = below;
	}
	assert_int_equal(strlen(path_of(f, dir)), 4000);
}

static void destroying_takes_names_in_any_order(void **state)
{
	struct fixture *f = *state;
	struct node *a = add(f, 10, 7, S_IFDIR), *b = add(f, 11, 8, S_IFDIR);

	bind(f, root(f), "a", a);
	bind(f, a, "b", b);
	files_forget_node(f->files, NODE_ROOT);
	files_forget_node(f->files, 10);
}

/* Renamed beside the mount, it seems to have them all. */
static void of_many_names_of_one_link_the_last_are_kept(void **state)
{
	struct fixture *f = *state;
	struct node *node = add(f, 10, 7, S_IFREG);
	char name[16];
	int known = 0;

	for (int i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		bind(f, root(f), name, node);
		assert_ptr_equal(files_resolve(f->files, root(f), name, strlen(name)), node);
	}
	assert_string_equal(path_of(f, node), "/n999");
	for (int i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		known += files_resolve(f->files, root(f), name, strlen(name)) != NULL;
	}
	assert_int_equal(known, 16);
	assert_non_null(files_resolve(f->files, root(f), "n984", 4));
	assert_string_equal(sql_ask(f->in.db, "SELECT count(*), count(to_t) FROM names"), "1000|0");
}

static void names_of_many_links_are_kept(void **state)
{
	struct fixture *f = *state;
	struct node *node = add(f, 10, 7, S_IFREG);
	char name[16];

	node_file(node)->nlink = 100;
	for (int i = 0; i < 101; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		bind(f, root(f), name, node);
	}
	assert_null(files_resolve(f->files, root(f), "n0", 2));
	assert_non_null(files_resolve(f->files, root(f), "n1", 2));
	assert_ptr_equal(files_unbind(f->files, root(f), "n100", 4, true, 2), node_file(node));
	assert_string_equal(path_of(f, node), "/n99");
}

/* Without times of birth: an inode number that comes back shows only in that the file was removed. */
static struct node *add_unborn(struct fixture *f, uint64_t id, uint64_t ino)
{
	const struct event_node e = { .id = id, .dev = 1, .ino = ino, .mode = S_IFREG, .nlink = 1 };

	assert_int_equal(files_add_node(f->files, &e), 0);
	return files_node(f->files, id);
}

static void set_size(struct fixture *f, struct file *file, int64_t size)
{
	file->size_last = size;
	files_dirty(f->files, file);
}

static const char *sizes(struct fixture *f)
{
	assert_int_equal(files_flush(f->files), 0);
	return sql_ask(f->in.db, "SELECT id, size_last FROM files ORDER BY id");
}

/* A removed file that a node still leads to, as it is held open; its number is another file's now. */
static struct file *lose_number(struct fixture *f, bool flush)
{
	struct node *node = add_unborn(f, 10, 7);
	struct file *file = node_file(node);

	bind(f, root(f), "a", node);
	set_size(f, file, 5);
	assert_ptr_equal(files_unbind(f->files, root(f), "a", 1, true, 2), file);
	if (flush)
		assert_string_equal(sizes(f), "2|5");
	bind(f, root(f), "b", add_unborn(f, 11, 7));
	assert_ptr_not_equal(node_file(files_node(f->files, 11)), file);
	return file;
}

static void changes_of_a_file_whose_number_came_back_are_written(void **state)
{
	struct fixture *f = *state;
	struct file *file = lose_number(f, false);

	assert_string_equal(sizes(f), "2|5\n3|NULL");
	set_size(f, file, 9);
	assert_string_equal(sizes(f), "2|9\n3|NULL");
}

static void file_whose_number_came_back_takes_no_other_along(void **state)
{
	struct fixture *f = *state;
	struct file *file = lose_number(f, true), *other = node_file(files_node(f->files, 11));

	assert_string_equal(sizes(f), "2|5\n3|NULL");
	set_size(f, file, 9);
	set_size(f, other, 3);
	assert_string_equal(sizes(f), "2|9\n3|3");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(node_that_was_never_reported_is_not_there),
		TEST(two_nodes_of_one_inode_are_one_file),
		TEST(name_leads_to_its_node),
		TEST(name_that_leads_elsewhere_now_is_taken_from_the_other),
		TEST(path_is_made_of_the_names_above),
		TEST(name_of_255_bytes_is_a_name),
		TEST(unbinding_the_last_name_deletes_the_file),
		TEST(name_found_missing_deletes_nothing),
		TEST(forgotten_directory_stays_while_names_are_in_it),
		TEST(moved_directory_is_where_it_is_bound_now),
		TEST(name_of_a_forgotten_file_moves_with_the_directory),
		TEST(forgotten_file_that_has_another_name_now_lost_the_old_one),
		TEST(directory_has_one_name),
		TEST(directory_is_never_below_itself),
		TEST(news_from_before_a_rename_is_late),
		TEST(deep_tree_has_a_path),
		TEST(destroying_takes_names_in_any_order),
		TEST(of_many_names_of_one_link_the_last_are_kept),
		TEST(names_of_many_links_are_kept),
		TEST(changes_of_a_file_whose_number_came_back_are_written),
		TEST(file_whose_number_came_back_takes_no_other_along),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
