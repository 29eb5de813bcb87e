/* SPDX-License-Identifier: MIT */

/* What must hold of ftrac's tables: operations, their families, the facts of a run. */

#include <sys/stat.h>

#include "db/facts.h"
#include "db/store.h"
#include "ftrac/fs.h"
#include "ftrac/options.h"
#include "test.h"

/* Without these there is no file system. */
static void indispensable_operations_are_there(void **state)
{
	(void)state;
	assert_non_null(fs_ops.init);
	assert_non_null(fs_ops.lookup);
	assert_non_null(fs_ops.forget);
	assert_non_null(fs_ops.getattr);
	assert_non_null(fs_ops.open);
	assert_non_null(fs_ops.release);
	assert_non_null(fs_ops.opendir);
	assert_non_null(fs_ops.releasedir);
}

/* A CREATE that is not there would be a MKNOD and an OPEN by two requests. */
static void operations_that_the_kernel_would_replace_are_there(void **state)
{
	(void)state;
	assert_non_null(fs_ops.create);
	assert_non_null(fs_ops.forget_multi);
	assert_non_null(fs_ops.copy_file_range);
	assert_non_null(fs_ops.tmpfile);
	assert_non_null(fs_ops.lseek);
	assert_non_null(fs_ops.fallocate);
}

static void every_operation_has_its_own_name(void **state)
{
	const char *path = temp_path(*state, "trace.db");
	struct store *store;

	assert_int_equal(store_create(path, false, &store), 0);
	store_destroy(store);
	assert_int_equal(atoi(sql_ask(path, "SELECT count(DISTINCT name) FROM op_name")), OP_MAX);
	assert_int_equal(atoi(sql_ask(path, "SELECT max(code) + 1 FROM op_name")), OP_MAX);
	assert_true(OP_MAX <= 64); /* what a code of an operation has room for beside its via */
}

static void names_of_the_paper_belong_to_one_operation_each(void **state)
{
	const char *path = temp_path(*state, "trace.db");
	struct store *store;

	assert_int_equal(store_create(path, false, &store), 0);
	store_destroy(store);
	assert_string_equal(sql_ask(path, "SELECT count(paratrac) - count(DISTINCT paratrac), "
		"count(paratrac) > 20 FROM op_name"), "0|1");
	assert_string_equal(sql_ask(path, "SELECT paratrac FROM op_name WHERE name IN ('create', "
		"'release', 'lookup', 'tmpfile')"), "lstat\ncreat\nclose\nNULL");
}

static void facts_of_a_run_are_all_there(void **state)
{
	static const char *const keys[] = { "format", "ftrac_version", "host", "user", "kernel",
		"cpus", "cpu_model", "memory_bytes", "source", "mountpoint", "command", "cwd",
		"options", "exit_status", "start_ns", "end_ns", "complete", "fidelity",
		"transport", "process_tier", "ops_recorded", "ops_lost", "process_events_lost", "overhead_ns", "waited_ns", "tracer_cpu_ns",
		"bytes_mount", "bytes_paged", "bytes_kernel", "bytes_recorded", "bytes_mapped", "files" };
	const char *path = temp_path(*state, "trace.db");
	struct store *store;

	assert_int_equal(store_create(path, false, &store), 0);
	assert_int_equal(facts_store(store, &(struct facts){ .source = "/", .cwd = "/",
		.fidelity = "exact", .process_tier = "inband", .start_ns = 5 }), 0);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (!*sql_ask(path, "SELECT 1 FROM trace WHERE key = %Q", keys[i]))
			fail_msg("no row '%s'", keys[i]);
	assert_string_equal(sql_ask(path, "SELECT value FROM trace WHERE key IN ('format', "
		"'complete', 'start_ns') ORDER BY key"), "0\n1\n5");
	store_destroy(store);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, temp_setup, temp_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(indispensable_operations_are_there),
		TEST(operations_that_the_kernel_would_replace_are_there),
		TEST(every_operation_has_its_own_name),
		TEST(names_of_the_paper_belong_to_one_operation_each),
		TEST(facts_of_a_run_are_all_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
