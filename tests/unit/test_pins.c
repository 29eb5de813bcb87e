/* SPDX-License-Identifier: MIT */

/*
 * pins.h, by way of inode.h: more inodes than descriptors, and how one comes back.
 */

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>

#include "db/event.h"
#include "ftrac/inode.h"
#include "ftrac/inode_table.h"
#include "test.h"

#define PINS 8
#define FILES 100

struct tree {
	struct temp temp;
	struct inode_table *table;
	struct inode *root;
};

static char *path_in(struct tree *t, const char *name)
{
	static char path[2][600];
	static int i;

	i = !i;
	snprintf(path[i], sizeof(path[i]), "%s/%s", t->temp.dir, name);
	return path[i];
}

static void make_file(struct tree *t, const char *name)
{
	int fd = open(path_in(t, name), O_CREAT | O_WRONLY, 0644);

	assert_true(fd >= 0 && write(fd, name, strlen(name)) == (ssize_t)strlen(name));
	close(fd);
}

static struct inode_table *make_table(const char *dir, unsigned pins)
{
	struct inode_options o = { .root = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC),
		.covered = -1, .pins = pins };
	struct inode_table *table;

	assert_true(o.root >= 0);
	assert_int_equal(inode_table_create(&o, &table), 0);
	return table;
}

static int setup(void **state)
{
	struct tree *t = calloc(1, sizeof(*t));

	assert_non_null(t);
	temp_make(&t->temp);
	t->table = make_table(t->temp.dir, PINS);
	t->root = inode_of(t->table, NODE_ROOT);
	assert_int_equal(mkdir(path_in(t, "d"), 0755), 0);
	make_file(t, "a");
	make_file(t, "d/f");
	*state = t;
	return 0;
}

/* Where files cannot be reopened by handle: other rights, other file systems. */
static int setup_without_handles(void **state)
{
	int r = setup(state);
	struct pins *pins = &((struct tree *)*state)->table->pins;

	if (pins->root_dir >= 0)
		close(pins->root_dir);
	pins->root_dir = -1;
	return r;
}

static int teardown(void **state)
{
	struct tree *t = *state;

	inode_table_destroy(t->table);
	temp_take_away(&t->temp);
	free(t);
	return 0;
}

static struct inode *lookup(struct tree *t, struct inode *dir, const char *name)
{
	struct inode *inode;
	struct stat attr;

	assert_int_equal(inode_lookup(t->table, dir, name, &inode, &attr), 0);
	return inode;
}

static bool has_descriptor(struct inode *inode)
{
	return atomic_load(&entry_of(inode)->fd) >= 0;
}

/* Other files until this one has none. */
static void push_out(struct tree *t, struct inode *inode)
{
	char name[32];

	for (int i = 0; has_descriptor(inode) && i < FILES; i++) {
		snprintf(name, sizeof(name), "other%d", i);
		make_file(t, name);
		lookup(t, t->root, name);
	}
	assert_false(has_descriptor(inode));
}

static void assert_leads_to(struct tree *t, struct inode *inode, const char *name)
{
	struct stat st, wanted;
	int fd = inode_hold(t->table, inode);

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(stat(path_in(t, name), &wanted), 0);
	assert_int_equal(st.st_ino, wanted.st_ino);
	inode_release(t->table, inode);
}

static bool has_handles(struct tree *t)
{
	return t->table->pins.root_dir >= 0 &&
		!atomic_load(&inode_of(t->table, NODE_ROOT)->mount->no_handles);
}

/* ---- few descriptors for many inodes ---- */

static void inodes_may_be_more_than_descriptors(void **state)
{
	struct tree *t = *state;
	struct inode *inodes[FILES];
	char name[32];

	for (int i = 0; i < FILES; i++) {
		snprintf(name, sizeof(name), "f%d", i);
		make_file(t, name);
		inodes[i] = lookup(t, t->root, name);
		assert_in_range(atomic_load(&t->table->pins.count), 0, PINS);
	}
	for (int i = 0; i < FILES; i++) {
		snprintf(name, sizeof(name), "f%d", i);
		assert_leads_to(t, inodes[i], name);
		assert_in_range(atomic_load(&t->table->pins.count), 0, PINS);
	}
}

static void held_inode_keeps_its_descriptor(void **state)
{
	struct tree *t = *state;
	struct inode *a = lookup(t, t->root, "a");
	int fd = inode_hold(t->table, a);
	char name[32];

	for (int i = 0; i < FILES; i++) {
		snprintf(name, sizeof(name), "f%d", i);
		make_file(t, name);
		lookup(t, t->root, name);
	}
	assert_int_equal(inode_hold(t->table, a), fd);
	inode_release(t->table, a);
	inode_release(t->table, a);
}

static void lookup_gives_the_descriptor_back(void **state)
{
	struct tree *t = *state;
	struct inode *a = lookup(t, t->root, "a");

	push_out(t, a);
	assert_ptr_equal(lookup(t, t->root, "a"), a);
	assert_true(has_descriptor(a));
}

static void room_is_made_until_there_is_none(void **state)
{
	struct tree *t = *state;
	struct inode *a = lookup(t, t->root, "a");

	assert_true(inode_hold(t->table, a) >= 0);
	assert_false(inode_make_room(t->table)); /* all that there are is held */
	inode_release(t->table, a);
	assert_true(inode_make_room(t->table));
	assert_false(has_descriptor(a));
	assert_false(inode_make_room(t->table));
}

/* ---- coming back ---- */

static void comes_back_after_a_rename_that_we_did(void **state)
{
	struct tree *t = *state;
	struct inode *f = lookup(t, lookup(t, t->root, "d"), "f"), *child;

	push_out(t, f);
	child = inode_hold_child(t->table, lookup(t, t->root, "d"), "f");
	assert_ptr_equal(child, f);
	assert_int_equal(rename(path_in(t, "d/f"), path_in(t, "moved")), 0);
	inode_name_changed(t->table, child, t->root, "moved");
	push_out(t, f);
	assert_leads_to(t, f, "moved");
}

static void comes_back_after_a_rename_of_its_directory_that_we_did(void **state)
{
	struct tree *t = *state;
	struct inode *d = lookup(t, t->root, "d"), *f = lookup(t, d, "f"), *child;

	push_out(t, f);
	push_out(t, d);
	child = inode_hold_child(t->table, t->root, "d");
	assert_int_equal(rename(path_in(t, "d"), path_in(t, "e")), 0);
	inode_name_changed(t->table, child, t->root, "e");
	push_out(t, d);
	assert_leads_to(t, f, "e/f");
}

static void comes_back_after_a_rename_by_others_if_there_are_handles(void **state)
{
	struct tree *t = *state;
	struct inode *f = lookup(t, lookup(t, t->root, "d"), "f");

	push_out(t, f);
	if (!has_handles(t)) {
		print_message("# needs CAP_DAC_READ_SEARCH and a file system with handles\n");
		return;
	}
	assert_int_equal(rename(path_in(t, "d"), path_in(t, "e")), 0);
	assert_int_equal(rename(path_in(t, "e/f"), path_in(t, "g")), 0);
	assert_leads_to(t, f, "g");
}

static void renamed_by_others_is_stale_without_handles(void **state)
{
	struct tree *t = *state;
	struct inode *a = lookup(t, t->root, "a");

	push_out(t, a);
	assert_int_equal(rename(path_in(t, "a"), path_in(t, "b")), 0);
	assert_int_equal(inode_hold(t->table, a), -ESTALE);
}

static void another_file_of_the_same_name_is_not_ours(void **state)
{
	struct tree *t = *state;
	struct inode *a = lookup(t, t->root, "a");

	push_out(t, a);
	make_file(t, "b");
	assert_int_equal(rename(path_in(t, "b"), path_in(t, "a")), 0);
	assert_int_equal(inode_hold(t->table, a), -ESTALE);
	assert_ptr_not_equal(lookup(t, t->root, "a"), a);
}

/* The file system gives the number to the next file. */
static void another_file_of_the_same_number_is_not_ours(void **state)
{
	struct tree *t = *state;
	struct inode *a = lookup(t, t->root, "a");
	struct stat st;

	push_out(t, a);
	assert_int_equal(unlink(path_in(t, "a")), 0);
	make_file(t, "a");
	assert_int_equal(stat(path_in(t, "a"), &st), 0);
	if (st.st_ino != a->ino) { /* it did not, this time: then that is all there is to see */
		print_message("# number was not given out again\n");
		return;
	}
	assert_int_equal(inode_hold(t->table, a), -ESTALE);
	assert_ptr_not_equal(lookup(t, t->root, "a"), a);
	inode_forget(t->table, a, 1); /* it is in the table no more: only the kernel knows of it */
}

static void comes_back_from_a_great_depth(void **state)
{
	struct tree *t = *state;
	struct inode *dir = t->root;
	struct stat attr;
	int fd, parent = open(t->temp.dir, O_RDONLY | O_DIRECTORY);

	for (int i = 0; i < 3000; i++) { /* longer than PATH_MAX */
		assert_int_equal(mkdirat(parent, "dd", 0755), 0);
		fd = openat(parent, "dd", O_RDONLY | O_DIRECTORY);
		close(parent);
		parent = fd;
		assert_int_equal(inode_lookup(t->table, dir, "dd", &dir, &attr), 0);
	}
	close(parent);
	push_out(t, dir);
	fd = inode_hold(t->table, dir);
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &attr), 0);
	assert_int_equal(attr.st_ino, dir->ino);
	inode_release(t->table, dir);
	assert_int_equal(inode_path(t->table, dir, (char[8000]){ 0 }, 8000), -ENAMETOOLONG);
	assert_int_equal(inode_path(t->table, dir, (char[10000]){ 0 }, 10000), 9000);
}

static void names_in_a_circle_lead_nowhere(void **state)
{
	struct tree *t = *state;
	struct inode *d = lookup(t, t->root, "d"), *e;

	assert_int_equal(mkdir(path_in(t, "d/e"), 0755), 0);
	e = lookup(t, d, "e");
	push_out(t, e);
	push_out(t, d);
	entry_ref(entry_of(d)); /* inode_name_changed() releases; what it released was never held */
	entry_of(d)->users++;
	inode_name_changed(t->table, d, e, "d");
	assert_int_equal(inode_hold(t->table, e), -ESTALE);
	entry_ref(entry_of(d));
	entry_of(d)->users++;
	inode_name_changed(t->table, d, t->root, "d");
	assert_leads_to(t, e, "d/e");
}

/* ---- what cannot come back stays ---- */

static void file_that_we_unlinked_keeps_its_descriptor(void **state)
{
	struct tree *t = *state;
	struct inode *a = lookup(t, t->root, "a");
	struct inode *child = inode_hold_removed(t->table, t->root, "a");
	struct stat attr;

	assert_ptr_equal(child, a);
	assert_int_equal(unlink(path_in(t, "a")), 0);
	inode_name_removed(t->table, child, t->root, "a");
	while (inode_make_room(t->table))
		;
	assert_int_equal(inode_stat(t->table, a, -1, &attr), 0);
	assert_int_equal(attr.st_nlink, 0);
}

static void file_that_others_removed_is_let_go(void **state)
{
	struct tree *t = *state;
	struct inode *a = lookup(t, t->root, "a");

	assert_int_equal(unlink(path_in(t, "a")), 0);
	push_out(t, a);
	assert_int_equal(inode_hold(t->table, a), -ESTALE);
}

static void unlinked_file_that_is_open_comes_back_by_that(void **state)
{
	struct tree *t = *state;
	struct inode *a = lookup(t, t->root, "a");
	struct open_link link = { .fd = open(path_in(t, "a"), O_RDONLY) };
	struct stat attr;

	assert_non_null(inode_opens_lock(t->table, a));
	inode_opened(a, &link);
	inode_opens_unlock(t->table, a);
	assert_int_equal(unlink(path_in(t, "a")), 0);
	push_out(t, a);
	assert_int_equal(inode_stat(t->table, a, -1, &attr), 0);
	assert_int_equal(attr.st_nlink, 0);
	assert_int_equal(attr.st_ino, a->ino);
	assert_int_equal(inode_closed(t->table, a, &link), 0);
	close(link.fd);
}

static void lost_name_keeps_the_descriptor_where_there_are_no_handles(void **state)
{
	struct tree *t = *state;
	struct inode *a = lookup(t, t->root, "a");
	struct inode *child = inode_hold_child(t->table, t->root, "a");

	assert_int_equal(link(path_in(t, "a"), path_in(t, "b")), 0);
	assert_ptr_equal(child, a);
	assert_int_equal(unlink(path_in(t, "a")), 0);
	inode_name_removed(t->table, child, t->root, "a");
	while (inode_make_room(t->table))
		;
	assert_leads_to(t, a, "b");
}

/* ---- paths ---- */

static void assert_path(struct tree *t, struct inode *inode, const char *wanted)
{
	char path[100];

	assert_int_equal(inode_path(t->table, inode, path, sizeof(path)), strlen(wanted));
	assert_string_equal(path, wanted);
}

static void path_is_that_of_the_names(void **state)
{
	struct tree *t = *state;
	struct inode *d = lookup(t, t->root, "d"), *f = lookup(t, d, "f");

	assert_path(t, t->root, "/");
	assert_path(t, d, "/d");
	assert_path(t, f, "/d/f");
	assert_int_equal(inode_path(t->table, f, (char[4]){ 0 }, 4), -ENAMETOOLONG);
}

static void file_without_a_name_has_no_path(void **state)
{
	struct tree *t = *state;
	struct inode *inode;
	struct stat attr;
	int fd = open(path_in(t, "a"), O_RDONLY);

	assert_int_equal(inode_from_fd(t->table, t->root, NULL, fd, &inode, &attr), 0);
	assert_int_equal(inode_path(t->table, inode, (char[100]){ 0 }, 100), -ENOENT);
	close(fd);
}

/* ---- other mounts ---- */

static void other_mounts_are_released_when_unused(void **state)
{
	struct inode_table *table = make_table("/", 100);
	struct inode *proc, *version;
	struct stat attr;
	bool gone = false;

	(void)state;
	assert_int_equal(inode_lookup(table, inode_of(table, NODE_ROOT), "proc", &proc, &attr), 0);
	assert_int_equal(inode_lookup(table, proc, "version", &version, &attr), 0);
	assert_int_equal(inode_table_start_sweeper(table), 0);
	assert_true(inode_hold(table, proc) >= 0);
	for (int i = 0; i < 300 && !gone; i++) {
		usleep(100000);
		gone = !has_descriptor(version);
	}
	assert_true(gone);
	assert_true(has_descriptor(proc)); /* held */
	inode_release(table, proc);
	assert_int_equal(inode_stat(table, version, -1, &attr), 0);
	assert_true(has_descriptor(version));
	inode_table_destroy(table);
}

/* ---- many threads ---- */

struct runner {
	struct tree *tree;
	struct inode **inodes;
	unsigned seed, wrong;
};

static void *hold_at_random(void *arg)
{
	struct runner *r = arg;
	struct stat st;

	for (int i = 0; i < 3000; i++) {
		struct inode *inode = r->inodes[rand_r(&r->seed) % FILES];
		int fd = inode_hold(r->tree->table, inode);

		r->wrong += fd < 0 || fstat(fd, &st) < 0 || st.st_ino != inode->ino;
		if (fd >= 0)
			inode_release(r->tree->table, inode);
	}
	return NULL;
}

static void descriptor_is_the_right_one_for_each_of_many_threads(void **state)
{
	struct tree *t = *state;
	struct inode *inodes[FILES];
	struct runner runners[8];
	pthread_t threads[8];
	char name[32];

	for (int i = 0; i < FILES; i++) {
		snprintf(name, sizeof(name), "d/f%d", i);
		make_file(t, name);
		inodes[i] = lookup(t, lookup(t, t->root, "d"), name + 2);
	}
	for (int i = 0; i < 8; i++) {
		runners[i] = (struct runner){ .tree = t, .inodes = inodes, .seed = i };
		assert_int_equal(pthread_create(&threads[i], NULL, hold_at_random, &runners[i]), 0);
	}
	for (int i = 0; i < 8; i++) {
		pthread_join(threads[i], NULL);
		assert_int_equal(runners[i].wrong, 0);
	}
	/* If threads held all pins when the last one was made, there are more than the limit. */
	assert_in_range(atomic_load(&t->table->pins.count), 0, PINS + 8);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
#define BY_NAME(name) cmocka_unit_test_setup_teardown(name, setup_without_handles, teardown)
#define BOTH(name) TEST(name), { #name "_by_name", name, setup_without_handles, teardown, NULL }

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH(inodes_may_be_more_than_descriptors),
		TEST(held_inode_keeps_its_descriptor),
		TEST(lookup_gives_the_descriptor_back),
		TEST(room_is_made_until_there_is_none),
		BOTH(comes_back_after_a_rename_that_we_did),
		BOTH(comes_back_after_a_rename_of_its_directory_that_we_did),
		TEST(comes_back_after_a_rename_by_others_if_there_are_handles),
		BY_NAME(renamed_by_others_is_stale_without_handles),
		BY_NAME(another_file_of_the_same_name_is_not_ours),
		BOTH(another_file_of_the_same_number_is_not_ours),
		BOTH(comes_back_from_a_great_depth),
		BY_NAME(names_in_a_circle_lead_nowhere),
		BOTH(file_that_we_unlinked_keeps_its_descriptor),
		BOTH(file_that_others_removed_is_let_go),
		BOTH(unlinked_file_that_is_open_comes_back_by_that),
		BY_NAME(lost_name_keeps_the_descriptor_where_there_are_no_handles),
		TEST(path_is_that_of_the_names),
		TEST(file_without_a_name_has_no_path),
		TEST(other_mounts_are_released_when_unused),
		BOTH(descriptor_is_the_right_one_for_each_of_many_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
