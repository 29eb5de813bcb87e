/* SPDX-License-Identifier: MIT */

/* tree.h: where names are after a run, and where their home was. */

#include "test.h"

#include "dag/change/tree.h"

static void move(struct tree *t, const char *from, const char *to, bool is_exchange, bool ours)
{
	tree_move(t, &(struct tree_move){ .from = from, .to = to, .is_exchange = is_exchange }, ours);
}

static void expect(struct tree *t, const char *path, const char *home)
{
	const struct entry *e = tree_find(t, path);

	assert_non_null(e);
	assert_false(t->failed);
	assert_string_equal(tree_path(t, e, false), path);
	if (!home) {
		assert_null(e->home);
		return;
	}
	assert_non_null(e->home);
	assert_string_equal(tree_path(t, e, true), home);
}

static void what_lies_in_a_directory_moves_with_it(void **state)
{
	struct tree t;

	(void)state;
	tree_init(&t);
	tree_find(&t, "/d/sub/f");
	move(&t, "/d", "/e", false, true);
	expect(&t, "/e/sub/f", "/d/sub/f");
	expect(&t, "/e", "/d");
	expect(&t, "/e/other", "/d/other"); /* it was there before, too */
	assert_null(tree_find(&t, "/d"));
	tree_make(&t, "/d", 7, true, true);
	expect(&t, "/d", NULL);
	expect(&t, "/d/f", NULL);
	tree_finish(&t);
}

static void exchanged_names_have_each_others_home(void **state)
{
	struct tree t;

	(void)state;
	tree_init(&t);
	tree_find(&t, "/a/in_a");
	tree_find(&t, "/b");
	tree_move(&t, &(struct tree_move){ .from = "/a", .to = "/b", .file = 1, .file2 = 2, .is_exchange = true }, true);
	expect(&t, "/b/in_a", "/a/in_a");
	expect(&t, "/a", "/b");
	tree_finish(&t);
}

static void a_removed_name_is_not_there_again(void **state)
{
	struct tree t;
	const struct entry *was;

	(void)state;
	tree_init(&t);
	tree_remove(&t, "/d/f", 5, false, true);
	assert_null(tree_find(&t, "/d/f"));
	was = tree_was(tree_find(&t, "/d"), "f");
	assert_non_null(was);
	assert_true(was->is_gone && was->is_old);
	assert_int_equal(was->file, 5);
	tree_make(&t, "/d/f", 6, false, true);
	assert_true(tree_find(&t, "/d/f") != was);
	tree_remove(&t, "/d/f", 6, false, true);
	assert_string_equal(t.all->last, "/d/f");
	tree_finish(&t);
}

/* What the operations that were not chosen do is as if it had been before. */
static void what_others_do_was_there_before(void **state)
{
	struct tree t;

	(void)state;
	tree_init(&t);
	tree_make(&t, "/made", 1, false, false);
	expect(&t, "/made", "/made");
	move(&t, "/made", "/moved", false, false);
	expect(&t, "/moved", "/moved");
	move(&t, "/moved", "/ours", false, true);
	expect(&t, "/ours", "/moved");
	tree_make(&t, "/new", 2, true, true);
	tree_make(&t, "/new/theirs", 3, false, false);
	assert_true(tree_find(&t, "/new/theirs")->is_old);
	expect(&t, "/new/theirs", NULL);
	tree_remove(&t, "/ours", 1, false, false);
	assert_null(tree_was(&t.root, "moved"));
	tree_finish(&t);
}

static void contradictions_have_no_effect(void **state)
{
	static const char *const paths[] = { "", "relative", "/", "//", "pipe:[7]", "/a/../b" };
	struct tree t;

	(void)state;
	tree_init(&t);
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		for (size_t j = 0; j < sizeof(paths) / sizeof(paths[0]); j++) {
			tree_make(&t, paths[i], 1, true, i & 1);
			move(&t, paths[i], paths[j], j & 1, i & 2);
			tree_remove(&t, paths[j], 2, false, j & 2);
		}
	tree_find(&t, "/d/e/f");
	move(&t, "/d", "/d/e/g", false, true);
	move(&t, "/d/e", "/d", true, true);
	expect(&t, "/d/e/f", "/d/e/f");
	tree_make(&t, NULL, 1, false, true);
	tree_finish(&t);
}

static void random_operations_make_no_cycles(void **state)
{
	static const char *const paths[] = { "/a", "/b", "/a/b", "/b/a", "/a/b/c", "/b/a/c", "/c/a/b", "/c" };
	struct tree t;
	size_t n = 0;

	(void)state;
	for (unsigned seed = 0; seed < 2000; seed++) {
		unsigned next = seed * 2654435761u + 12345;

		tree_init(&t);
		for (int i = 0; i < 30; i++) {
			const char *a = paths[(next >> 8) & 7], *b = paths[(next >> 11) & 7];

			if ((next >> 14 & 3) == 0)
				tree_make(&t, a, (next >> 20 & 7), next >> 16 & 1, next >> 17 & 1);
			else if ((next >> 14 & 3) == 1)
				tree_remove(&t, a, 0, false, next >> 17 & 1);
			else
				tree_move(&t, &(struct tree_move){ a, b, next >> 20 & 7, next >> 23 & 7, next >> 16 & 1, false },
					next >> 17 & 1);
			next = next * 1664525 + 1013904223;
		}
		for (const struct entry *e = t.all; e; e = e->next, n++) {
			assert_true(strlen(tree_path(&t, e, false)) < 1000);
			assert_true(strlen(tree_path(&t, e, true)) < 1000);
		}
		tree_finish(&t);
	}
	printf("# %zu entries\n", n);
	assert_true(n > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_lies_in_a_directory_moves_with_it),
		cmocka_unit_test(exchanged_names_have_each_others_home),
		cmocka_unit_test(a_removed_name_is_not_there_again),
		cmocka_unit_test(what_others_do_was_there_before),
		cmocka_unit_test(contradictions_have_no_effect),
		cmocka_unit_test(random_operations_make_no_cycles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
