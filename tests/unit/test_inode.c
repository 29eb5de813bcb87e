/* SPDX-License-Identifier: MIT */

/*
 * inode.h: what the kernel remembers of the mirrored tree.  One inode for one file under one
 * mount, for as long as the kernel holds lookups of it.
 */

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "db/event.h"
#include "db/ring.h"
#include "ftrac/inode.h"
#include "test.h"

struct tree {
	struct temp temp;
	struct ring *ring;
	struct inode_table *table;
	struct inode *root;
};

/* Files that are open when the table ends. */
static unsigned n_left;

static void count_left(struct open_link *link)
{
	(void)link;
	n_left++;
}

static struct inode_table *make_table(const char *dir, struct ring *ring)
{
	struct inode_options o = { .root = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC),
		.covered = -1, .ring = ring, .left_open = count_left };
	struct inode_table *table;

	assert_true(o.root >= 0);
	assert_int_equal(inode_table_create(&o, &table), 0);
	return table;
}

static void make_file(struct tree *t, const char *name)
{
	int fd = open(temp_path(&t->temp, name), O_CREAT | O_WRONLY, 0644);

	assert_true(fd >= 0 && write(fd, "text", 4) == 4);
	close(fd);
}

static int setup(void **state)
{
	struct tree *t = calloc(1, sizeof(*t));

	assert_non_null(t);
	temp_make(&t->temp);
	assert_int_equal(ring_create(256, true, &t->ring), 0);
	t->table = make_table(t->temp.dir, t->ring);
	t->root = inode_of(t->table, NODE_ROOT);
	make_file(t, "a");
	assert_int_equal(mkdir(temp_path(&t->temp, "d"), 0755), 0);
	*state = t;
	return 0;
}

static int teardown(void **state)
{
	struct tree *t = *state;

	inode_table_destroy(t->table);
	ring_destroy(t->ring);
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

/* The next event of that kind; the others are passed over. */
static bool next_event(struct tree *t, enum event_kind kind, struct event *ret_event)
{
	while (ring_drain(t->ring, ret_event, 1))
		if (ret_event->kind == kind)
			return true;
	return false;
}

/* ---- lookup ---- */

static void lookup_finds_what_the_name_leads_to(void **state)
{
	struct tree *t = *state;
	struct inode *inode;
	struct stat attr, st;

	assert_int_equal(inode_lookup(t->table, t->root, "a", &inode, &attr), 0);
	assert_int_equal(stat(temp_path(&t->temp, "a"), &st), 0);
	assert_int_equal(attr.st_ino, st.st_ino);
	assert_int_equal(attr.st_size, 4);
	assert_int_equal(attr.st_mode, st.st_mode);
	assert_int_equal(attr.st_mtim.tv_nsec, st.st_mtim.tv_nsec);
	assert_int_equal(inode->type, S_IFREG);
	assert_int_equal(inode->ino, st.st_ino);
	assert_int_equal(inode->dev, st.st_dev);
}

static void name_that_is_not_there_is_an_error(void **state)
{
	struct tree *t = *state;
	struct inode *inode = NULL;
	struct stat attr;

	assert_int_equal(inode_lookup(t->table, t->root, "none", &inode, &attr), -ENOENT);
	assert_null(inode);
}

static void looking_up_in_a_file_is_an_error(void **state)
{
	struct tree *t = *state;
	struct inode *a = lookup(t, t->root, "a"), *inode;
	struct stat attr;

	assert_int_equal(inode_lookup(t->table, a, "x", &inode, &attr), -ENOTDIR);
}

static void symbolic_link_is_not_followed(void **state)
{
	struct tree *t = *state;

	assert_int_equal(symlink("a", temp_path(&t->temp, "l")), 0);
	assert_int_equal(lookup(t, t->root, "l")->type, S_IFLNK);
}

static void same_name_is_the_same_inode(void **state)
{
	struct tree *t = *state;

	assert_ptr_equal(lookup(t, t->root, "a"), lookup(t, t->root, "a"));
}

static void hard_link_is_the_same_inode(void **state)
{
	struct tree *t = *state;
	char other[400];

	snprintf(other, sizeof(other), "%s/b", t->temp.dir);
	assert_int_equal(link(temp_path(&t->temp, "a"), other), 0);
	assert_ptr_equal(lookup(t, t->root, "a"), lookup(t, t->root, "b"));
}

static void inode_of_an_open_file_is_that_of_its_name(void **state)
{
	struct tree *t = *state;
	int fd = open(temp_path(&t->temp, "a"), O_RDONLY);
	struct inode *inode;
	struct stat attr;

	assert_int_equal(inode_from_fd(t->table, t->root, "a", fd, &inode, &attr), 0);
	assert_ptr_equal(inode, lookup(t, t->root, "a"));
	assert_int_equal(fcntl(fd, F_GETFD) & ~FD_CLOEXEC, 0); /* still open */
	close(fd);
}

static void root_reached_from_below_is_the_root(void **state)
{
	struct tree *t = *state;
	struct inode *up = lookup(t, lookup(t, t->root, "d"), "..");

	assert_ptr_equal(up, t->root);
	assert_int_equal(inode_nodeid(t->table, up), NODE_ROOT);
}

static void root_is_never_forgotten(void **state)
{
	struct tree *t = *state;

	inode_forget(t->table, t->root, 1000);
	assert_non_null(lookup(t, t->root, "a"));
}

/* ---- ids ---- */

static void node_id_leads_back_to_the_inode(void **state)
{
	struct tree *t = *state;
	struct inode *a = lookup(t, t->root, "a");

	assert_int_equal(inode_nodeid(t->table, t->root), NODE_ROOT);
	assert_int_not_equal(inode_nodeid(t->table, a), NODE_ROOT);
	assert_ptr_equal(inode_of(t->table, inode_nodeid(t->table, a)), a);
}

static void ids_of_events_are_never_used_again(void **state)
{
	struct tree *t = *state;
	struct inode *a = lookup(t, t->root, "a");
	uint64_t first = a->id;

	inode_forget(t->table, a, 1);
	assert_true(lookup(t, t->root, "a")->id > first);
}

/* ---- counts ---- */

static int open_files(void)
{
	int n = 0;

	for (int fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static void inode_lives_until_its_last_lookup_is_forgotten(void **state)
{
	struct tree *t = *state;
	struct inode *a = lookup(t, t->root, "a");
	struct event ev;

	lookup(t, t->root, "a");
	inode_add_lookup(t->table, a); /* three by now */
	inode_forget(t->table, a, 2);
	assert_false(next_event(t, EVENT_FORGET, &ev));
	assert_ptr_equal(lookup(t, t->root, "a"), a);
	inode_forget(t->table, a, 2);
	assert_true(next_event(t, EVENT_FORGET, &ev));
}

static void forgotten_inode_holds_no_descriptor(void **state)
{
	struct tree *t = *state;
	int before = open_files();
	struct inode *a = lookup(t, t->root, "a"), *d = lookup(t, t->root, "d");

	assert_int_equal(open_files(), before + 2);
	inode_forget(t->table, a, 1);
	inode_forget(t->table, d, 1);
	assert_int_equal(open_files(), before);
}

static void second_lookup_holds_no_second_descriptor(void **state)
{
	struct tree *t = *state;
	int before;

	lookup(t, t->root, "a");
	before = open_files();
	lookup(t, t->root, "a");
	assert_int_equal(open_files(), before);
}

static void destroying_the_table_closes_everything(void **state)
{
	struct tree *t = *state;
	int before = open_files();
	struct inode_table *table = make_table(t->temp.dir, NULL);
	struct inode *inode;
	struct stat attr;

	assert_int_equal(inode_lookup(table, inode_of(table, NODE_ROOT), "a", &inode, &attr), 0);
	inode_table_destroy(table);
	assert_int_equal(open_files(), before);
}

static void file_that_was_unlinked_is_still_pinned(void **state)
{
	struct tree *t = *state;
	struct inode *a = lookup(t, t->root, "a");
	struct stat attr;

	assert_int_equal(unlink(temp_path(&t->temp, "a")), 0);
	make_file(t, "a");
	assert_int_equal(inode_stat(t->table, a, -1, &attr), 0);
	assert_int_equal(attr.st_nlink, 0);
	assert_ptr_not_equal(lookup(t, t->root, "a"), a);
}

static void attributes_are_those_of_now(void **state)
{
	struct tree *t = *state;
	struct inode *a = lookup(t, t->root, "a");
	struct stat attr;

	assert_int_equal(truncate(temp_path(&t->temp, "a"), 77), 0);
	assert_int_equal(inode_stat(t->table, a, -1, &attr), 0);
	assert_int_equal(attr.st_size, 77);
}

/* ---- what the writer gets ---- */

static void new_inode_is_reported_once(void **state)
{
	struct tree *t = *state;
	struct inode *a = lookup(t, t->root, "a");
	struct event ev;

	lookup(t, t->root, "a");
	assert_true(next_event(t, EVENT_NODE, &ev));
	assert_int_equal(ev.u.node.id, NODE_ROOT);
	assert_true(next_event(t, EVENT_NODE, &ev));
	assert_int_equal(ev.u.node.id, a->id);
	assert_int_equal(ev.u.node.ino, a->ino);
	assert_int_equal(ev.u.node.size, 4);
	assert_int_equal(ev.u.node.nlink, 1);
	assert_int_equal(ev.u.node.mode & S_IFMT, S_IFREG);
	assert_false(next_event(t, EVENT_NODE, &ev));
}

static void mount_is_reported_before_its_first_inode(void **state)
{
	struct tree *t = *state;
	struct event ev;
	uint64_t mount;

	assert_true(next_event(t, EVENT_MOUNT, &ev));
	mount = ev.u.mount.id;
	assert_true(next_event(t, EVENT_NODE, &ev));
	assert_int_equal(ev.u.node.mount, mount);
}

static void table_without_a_ring_reports_nothing(void **state)
{
	struct tree *t = *state;
	struct inode_table *table = make_table(t->temp.dir, NULL);
	struct inode *inode;
	struct stat attr;

	assert_int_equal(inode_lookup(table, inode_of(table, NODE_ROOT), "a", &inode, &attr), 0);
	inode_forget(table, inode, 1);
	inode_table_destroy(table);
}

/* ---- other devices ---- */

static void numbers_of_the_roots_device_are_shown_as_they_are(void **state)
{
	struct tree *t = *state;

	assert_int_equal(inode_number(t->table, 0, 4711), 4711);
}

static void numbers_of_two_devices_are_told_apart(void **state)
{
	struct tree *t = *state;

	assert_int_not_equal(inode_number(t->table, 1, 4711), 4711);
	assert_int_not_equal(inode_number(t->table, 1, 4711), inode_number(t->table, 2, 4711));
}

static void numbers_of_all_bits_are_told_apart_too(void **state)
{
	struct tree *t = *state;
	const ino_t big = ((ino_t)1 << 48) + 4711; /* as 4711 of device 1 would be shown */
	ino_t shown = inode_number(t->table, 0, big);

	assert_int_not_equal(shown, inode_number(t->table, 1, 4711));
	assert_int_not_equal(shown, inode_number(t->table, 2, big));
	assert_int_equal(shown, inode_number(t->table, 0, big));
}

static void file_of_another_device_has_another_number(void **state)
{
	struct tree *t = *state;
	struct inode_table *table = make_table("/", t->ring);
	struct inode *proc;
	struct stat attr, st;

	assert_int_equal(stat("/proc", &st), 0);
	assert_int_equal(inode_lookup(table, inode_of(table, NODE_ROOT), "proc", &proc, &attr), 0);
	assert_int_equal(proc->ino, st.st_ino);
	assert_int_not_equal(proc->device, 0);
	assert_int_equal(attr.st_ino, inode_number(table, proc->device, st.st_ino));
	assert_true(proc->mount->pseudo);
	inode_table_destroy(table);
}

static void what_is_under_our_own_mount_is_what_it_covers(void **state)
{
	struct tree *t = *state;
	struct inode_options o = { .root = open("/", O_PATH | O_CLOEXEC),
		.covered = open(t->temp.dir, O_PATH | O_CLOEXEC) };
	struct inode_table *table;
	struct inode *inode;
	struct stat attr, st;

	assert_int_equal(stat("/proc", &st), 0); /* taken for our mount, with temp.dir below */
	assert_int_equal(inode_table_create(&o, &table), 0);
	inode_own_mount(table, st.st_dev, false, false);
	assert_int_equal(inode_lookup(table, inode_of(table, NODE_ROOT), "proc", &inode, &attr), 0);
	assert_int_equal(stat(t->temp.dir, &st), 0);
	assert_int_equal(inode->ino, st.st_ino);
	assert_int_equal(inode->dev, st.st_dev);
	inode_table_destroy(table);
}

/* ---- what the kernel knows ---- */

/* A program with these bits, which the kernel knows. */
static struct inode *known_program(struct tree *t, mode_t mode)
{
	struct inode *inode = lookup(t, t->root, "a");

	assert_int_equal(chmod(temp_path(&t->temp, "a"), mode), 0);
	inode_set_replied(inode, mode, geteuid(), getegid());
	return inode;
}

static void a_program_with_unchanged_attributes_may_run(void **state)
{
	struct tree *t = *state;

	assert_true(inode_attributes_match(t->table, known_program(t, 04755)));
}

static void a_removed_suid_bit_is_noticed(void **state)
{
	struct tree *t = *state;
	struct inode *inode = known_program(t, 04755);

	assert_int_equal(chmod(temp_path(&t->temp, "a"), 0755), 0);
	assert_false(inode_attributes_match(t->table, inode));
	assert_false(inode_attributes_match(t->table, inode)); /* until the kernel gets them anew */
	inode_set_replied(inode, 0755, geteuid(), getegid());
	assert_true(inode_attributes_match(t->table, inode));
}

static void a_change_that_the_kernel_may_have_missed_is_noticed(void **state)
{
	struct tree *t = *state;
	struct inode *inode = known_program(t, 04755);

	assert_int_equal(chmod(temp_path(&t->temp, "a"), 0755), 0);
	inode_set_replied(inode, 0755, geteuid(), getegid()); /* the kernel may not have got this reply */
	assert_false(inode_attributes_match(t->table, inode));
	inode_set_replied(inode, 0755, geteuid(), getegid());
	assert_true(inode_attributes_match(t->table, inode));
}

static void a_mode_without_such_bits_may_be_old(void **state)
{
	struct tree *t = *state;
	struct inode *inode = known_program(t, 0755);

	assert_int_equal(chmod(temp_path(&t->temp, "a"), 0700), 0);
	assert_true(inode_attributes_match(t->table, inode));
}

static void a_parted_inode_is_not_found_again(void **state)
{
	struct tree *t = *state;
	struct inode *first = lookup(t, t->root, "a"), *second;

	assert_ptr_equal(lookup(t, t->root, "a"), first);
	inode_separate(t->table, first);
	second = lookup(t, t->root, "a");
	assert_ptr_not_equal(second, first);
	assert_int_equal(second->ino, first->ino);
	assert_true(inode_hold(t->table, first) >= 0);
	inode_release(t->table, first);
	inode_forget(t->table, first, 2);
	inode_forget(t->table, second, 1);
}

/* The kernel forgets nothing at an unmount. */
static void the_end_closes_files_of_parted_inodes(void **state)
{
	struct tree *t = *state;
	struct inode_table *table = make_table(t->temp.dir, t->ring);
	struct inode *inode;
	struct open_link links[2] = { { .fd = -1 }, { .fd = -1 } };
	struct stat attr;

	for (int i = 0; i < 2; i++) {
		assert_int_equal(inode_lookup(table, inode_of(table, NODE_ROOT), "a", &inode, &attr), 0);
		assert_non_null(inode_opens_lock(table, inode));
		inode_opened(inode, &links[i]);
		inode_opens_unlock(table, inode);
		inode_separate(table, inode);
	}
	n_left = 0;
	inode_table_destroy(table);
	assert_int_equal(n_left, 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(lookup_finds_what_the_name_leads_to),
		TEST(name_that_is_not_there_is_an_error),
		TEST(looking_up_in_a_file_is_an_error),
		TEST(symbolic_link_is_not_followed),
		TEST(same_name_is_the_same_inode),
		TEST(hard_link_is_the_same_inode),
		TEST(inode_of_an_open_file_is_that_of_its_name),
		TEST(root_reached_from_below_is_the_root),
		TEST(root_is_never_forgotten),
		TEST(node_id_leads_back_to_the_inode),
		TEST(ids_of_events_are_never_used_again),
		TEST(inode_lives_until_its_last_lookup_is_forgotten),
		TEST(forgotten_inode_holds_no_descriptor),
		TEST(second_lookup_holds_no_second_descriptor),
		TEST(destroying_the_table_closes_everything),
		TEST(file_that_was_unlinked_is_still_pinned),
		TEST(attributes_are_those_of_now),
		TEST(new_inode_is_reported_once),
		TEST(mount_is_reported_before_its_first_inode),
		TEST(table_without_a_ring_reports_nothing),
		TEST(numbers_of_the_roots_device_are_shown_as_they_are),
		TEST(numbers_of_two_devices_are_told_apart),
		TEST(numbers_of_all_bits_are_told_apart_too),
		TEST(file_of_another_device_has_another_number),
		TEST(a_program_with_unchanged_attributes_may_run),
		TEST(a_removed_suid_bit_is_noticed),
		TEST(a_change_that_the_kernel_may_have_missed_is_noticed),
		TEST(a_mode_without_such_bits_may_be_old),
		TEST(a_parted_inode_is_not_found_again),
		TEST(the_end_closes_files_of_parted_inodes),
		TEST(what_is_under_our_own_mount_is_what_it_covers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
