/* SPDX-License-Identifier: MIT */

/* paths.h: each path once, as in the source, and the decision whether it is recorded. */

#include "db/paths.h"
#include "stored.h"

struct fixture {
	struct stored in;
	struct paths_options options;
	struct paths *paths;
};

static struct fixture *begin_with(void **state, struct paths_options options, size_t kept)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	stored_begin(&f->in);
	f->options = options;
	if (!f->options.source)
		f->options.source = "/";
	assert_int_equal(paths_create(f->in.store, &f->options, kept, &f->paths), 0);
	*state = f;
	return f;
}

static struct fixture *begin(void **state, struct paths_options options)
{
	return begin_with(state, options, 1 << 20);
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	paths_destroy(f->paths);
	stored_end(&f->in);
	free(f);
	return 0;
}

static struct path intern(struct fixture *f, const char *path)
{
	struct path p;

	assert_int_equal(paths_intern(f->paths, path, strlen(path), &p), 0);
	return p;
}

/* What a path as a process sees it is stored as. */
static const char *native(struct fixture *f, const char *path)
{
	struct path p;

	assert_int_equal(paths_intern_native(f->paths, path, strlen(path), &p), 0);
	return sql_ask(f->in.db, "SELECT path FROM paths WHERE id = %lld", p.id);
}

static const char *mirrored(struct fixture *f, const char *path)
{
	struct path p;

	assert_int_equal(paths_intern_mirrored(f->paths, path, strlen(path), &p), 0);
	return sql_ask(f->in.db, "SELECT path FROM paths WHERE id = %lld", p.id);
}

static void path_is_stored_once(void **state)
{
	struct fixture *f = begin(state, (struct paths_options){ 0 });

	assert_int_equal(intern(f, "/a").id, intern(f, "/a").id);
	assert_int_not_equal(intern(f, "/b").id, intern(f, "/a").id);
	assert_string_equal(sql_ask(f->in.db, "SELECT path FROM paths"), "/a\n/b");
}

static void only_the_given_length_counts(void **state)
{
	struct fixture *f = begin(state, (struct paths_options){ 0 });
	struct path p;

	assert_int_equal(paths_intern(f->paths, "/abc", 2, &p), 0);
	assert_int_equal(p.id, intern(f, "/a").id);
}

static void everything_is_recorded_by_default(void **state)
{
	assert_true(intern(begin(state, (struct paths_options){ 0 }), "/a").recorded);
}

static void excluded_path_is_not_recorded(void **state)
{
	const char *const exclude[] = { "/proc/*", "*.o", NULL };
	struct fixture *f = begin(state, (struct paths_options){ .exclude = exclude });

	assert_false(intern(f, "/proc/1/stat").recorded);
	assert_false(intern(f, "/x/y.o").recorded);
	assert_true(intern(f, "/proc").recorded);
}

static void files_of_the_trace_are_not_recorded(void **state)
{
	struct fixture *f = begin(state, (struct paths_options){ .own = "/x/[t].db" });

	assert_false(intern(f, "/x/[t].db").recorded);
	assert_false(intern(f, "/x/[t].db-wal").recorded);
	assert_false(intern(f, "/x/[t].db-shm").recorded);
	assert_true(intern(f, "/x/[t].db-old").recorded);
	assert_true(intern(f, "/x/t.db").recorded);
	assert_true(intern(f, "/x").recorded);
}

static void path_is_recorded_if_included_and_not_excluded(void **state)
{
	const char *const include[] = { "/home/*", NULL }, *const exclude[] = { "*.o", NULL };
	struct fixture *f = begin(state,
		(struct paths_options){ .include = include, .exclude = exclude });

	assert_true(intern(f, "/home/a.c").recorded);
	assert_false(intern(f, "/home/a.o").recorded);
	assert_false(intern(f, "/tmp/a.c").recorded);
}

static void mirrored_path_is_below_the_source(void **state)
{
	struct fixture *f = begin(state, (struct paths_options){ .source = "/data" });

	assert_string_equal(mirrored(f, "/x"), "/data/x");
	assert_string_equal(mirrored(f, "/"), "/data");
}

static void mirror_of_the_root_is_itself(void **state)
{
	struct fixture *f = begin(state, (struct paths_options){ .source = "/" });

	assert_string_equal(mirrored(f, "/x"), "/x");
	assert_string_equal(mirrored(f, "/"), "/");
}

static void native_path_is_taken_out_of_the_mount(void **state)
{
	struct fixture *f = begin(state,
		(struct paths_options){ .source = "/data", .mountpoint = "/mnt" });

	assert_string_equal(native(f, "/mnt/x/y"), "/data/x/y");
	assert_string_equal(native(f, "/mnt"), "/data");
}

static void native_path_elsewhere_stays(void **state)
{
	struct fixture *f = begin(state,
		(struct paths_options){ .source = "/data", .mountpoint = "/mnt" });

	assert_string_equal(native(f, "/mnt2/x"), "/mnt2/x");
	assert_string_equal(native(f, "/m"), "/m");
	assert_string_equal(native(f, "pipe:[7]"), "pipe:[7]");
}

/* Memory has room for one that is not held. */
static void path_that_was_let_go_has_its_number_again(void **state)
{
	const char *const exclude[] = { "*7", NULL };
	struct fixture *f = begin_with(state, (struct paths_options){ .exclude = exclude }, 1);
	char name[16];

	for (int round = 0; round < 3; round++)
		for (int i = 0; i < 100; i++) {
			snprintf(name, sizeof(name), i % 2 ? "/%d" : "/\xff%d", i);
			assert_int_equal(intern(f, name).id, 1 + i);
			assert_int_equal(intern(f, name).recorded, i % 10 != 7);
		}
	assert_string_equal(sql_ask(f->in.db, "SELECT count(*), count(DISTINCT path) FROM paths"), "100|100");
}

static void path_that_is_held_is_in_memory_until_it_is_released(void **state)
{
	struct fixture *f = begin_with(state, (struct paths_options){ 0 }, 1);
	struct path a = intern(f, "/a");

	paths_hold(f->paths, a.known);
	paths_hold(f->paths, a.known);
	intern(f, "/b");
	intern(f, "/c");
	assert_ptr_equal(intern(f, "/a").known, a.known);
	paths_release(f->paths, a.known);
	intern(f, "/b");
	assert_ptr_equal(intern(f, "/a").known, a.known);
	paths_release(f->paths, a.known);
	paths_release(f->paths, NULL);
	intern(f, "/b");
	assert_int_equal(intern(f, "/a").id, a.id);
	assert_string_equal(sql_ask(f->in.db, "SELECT path FROM paths"), "/a\n/b\n/c");
}

#define TEST(name) cmocka_unit_test_teardown(name, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(path_is_stored_once),
		TEST(only_the_given_length_counts),
		TEST(everything_is_recorded_by_default),
		TEST(files_of_the_trace_are_not_recorded),
		TEST(excluded_path_is_not_recorded),
		TEST(path_is_recorded_if_included_and_not_excluded),
		TEST(mirrored_path_is_below_the_source),
		TEST(mirror_of_the_root_is_itself),
		TEST(native_path_is_taken_out_of_the_mount),
		TEST(native_path_elsewhere_stays),
		TEST(path_that_was_let_go_has_its_number_again),
		TEST(path_that_is_held_is_in_memory_until_it_is_released),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
