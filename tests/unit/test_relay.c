/* SPDX-License-Identifier: MIT */

/* relay.h: one database of a connection leads to one file after another, if they have the same schema. */

#include <sqlite3.h>

#include "db/relay.h"
#include "test.h"

struct files {
	struct temp temp;
	sqlite3 *sqlite; /* "one" is a */
	sqlite3_stmt *sum;
	struct relay relay;
};

static const char *path_of(const struct files *f, const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", f->temp.dir, name);
	return path;
}

static void exec(sqlite3 *sqlite, const char *sql)
{
	char *error = NULL;

	sqlite3_exec(sqlite, sql, NULL, NULL, &error);
	assert_null(error);
}

static void make(const struct files *f, const char *name, const char *sql)
{
	sqlite3 *sqlite;

	assert_int_equal(sqlite3_open(path_of(f, name), &sqlite), SQLITE_OK);
	exec(sqlite, sql);
	assert_int_equal(sqlite3_close(sqlite), SQLITE_OK);
}

#define TABLES "CREATE TABLE t (n INTEGER, text); CREATE VIEW v AS SELECT n FROM t;"
/* Several pages. */
#define ROWS(n) "WITH RECURSIVE i (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM i WHERE i < 1000)" \
	"INSERT INTO t SELECT " n ", hex(zeroblob(50)) FROM i;"

static int setup(void **state)
{
	struct files *f = calloc(1, sizeof(*f));
	char sql[256];

	*state = f;
	temp_make(&f->temp);
	make(f, "a", TABLES ROWS("1"));
	assert_int_equal(relay_register(), SQLITE_OK);
	assert_int_equal(sqlite3_open_v2(":memory:", &f->sqlite, SQLITE_OPEN_READWRITE | SQLITE_OPEN_URI, NULL), SQLITE_OK);
	snprintf(sql, sizeof(sql), "ATTACH 'file:%s?mode=ro&vfs=" RELAY_VFS "' AS one", path_of(f, "a"));
	exec(f->sqlite, sql);
	relay_init(&f->relay, f->sqlite, "one");
	return sqlite3_prepare_v2(f->sqlite, "SELECT sum(n) FROM one.v", -1, &f->sum, NULL);
}

static int teardown(void **state)
{
	struct files *f = *state;

	relay_finish(&f->relay);
	sqlite3_finalize(f->sum);
	assert_int_equal(sqlite3_close(f->sqlite), SQLITE_OK);
	temp_take_away(&f->temp);
	free(f);
	return 0;
}

/* -1: an error. */
static int sum(const struct files *f)
{
	int n = sqlite3_step(f->sum) == SQLITE_ROW ? sqlite3_column_int(f->sum, 0) : -1;

	sqlite3_reset(f->sum);
	return n;
}

static bool can_switch(struct files *f, const char *name)
{
	return relay_switch(&f->relay, path_of(f, name));
}

/* All of its header is that of the first, too. */
static void a_file_with_the_same_schema_is_read_by_the_same_statement(void **state)
{
	struct files *f = *state;

	make(f, "b", TABLES ROWS("2"));
	assert_int_equal(sum(f), 1000);
	assert_true(can_switch(f, "b"));
	assert_int_equal(sum(f), 2000);
	assert_true(can_switch(f, "a"));
	assert_int_equal(sum(f), 1000);
	assert_int_equal(sqlite3_stmt_status(f->sum, SQLITE_STMTSTATUS_REPREPARE, 0), 0);
}

static void a_longer_and_a_shorter_file_are_read_to_their_end(void **state)
{
	struct files *f = *state;

	make(f, "longer", TABLES ROWS("3") ROWS("4"));
	make(f, "empty", TABLES);
	assert_true(can_switch(f, "longer"));
	assert_int_equal(sum(f), 7000);
	assert_true(can_switch(f, "empty"));
	assert_int_equal(sum(f), 0);
}

/* Its count of changes of the schema may be the same. */
static void a_file_with_another_schema_is_refused(void **state)
{
	struct files *f = *state;

	make(f, "view", "CREATE TABLE t (n INTEGER, text); CREATE VIEW v AS SELECT 7 AS n;");
	make(f, "root", "CREATE TABLE s (n); CREATE TABLE t (n INTEGER, text); DROP TABLE s; CREATE VIEW v AS SELECT n FROM t;"
		"PRAGMA schema_version = 2;");
	assert_false(can_switch(f, "view"));
	make(f, "more", TABLES "CREATE TABLE u (n);");
	assert_false(can_switch(f, "more"));
	assert_false(can_switch(f, "root"));
}

/* When the bytes of the schema are known. */
static void another_schema_is_refused_after_the_same_ones(void **state)
{
	struct files *f = *state;

	make(f, "b", TABLES ROWS("2"));
	make(f, "c", TABLES ROWS("3"));
	make(f, "view", "CREATE TABLE t (n INTEGER, text); CREATE VIEW v AS SELECT 7 AS n;");
	assert_true(can_switch(f, "b"));
	assert_true(can_switch(f, "c"));
	assert_int_equal(sum(f), 3000);
	assert_true(can_switch(f, "a"));
	assert_int_equal(sum(f), 1000);
	assert_false(can_switch(f, "view"));
}

static void another_encoding_page_size_or_version_is_refused(void **state)
{
	struct files *f = *state;

	make(f, "utf16", "PRAGMA encoding = 'UTF-16';" TABLES);
	make(f, "pages", "PRAGMA page_size = 1024;" TABLES);
	make(f, "version", TABLES "PRAGMA user_version = 3;");
	assert_false(can_switch(f, "utf16"));
	assert_false(can_switch(f, "pages"));
	assert_false(can_switch(f, "version"));
	assert_int_equal(sum(f), 1000); /* still that of before */
}

static void what_is_no_database_is_refused(void **state)
{
	struct files *f = *state;
	FILE *file = fopen(path_of(f, "text"), "w");

	for (int i = 0; i < 100; i++)
		fputs("no database\n", file);
	fclose(file);
	assert_false(can_switch(f, "text"));
	assert_false(can_switch(f, "nothing"));
	fclose(fopen(path_of(f, "nothing"), "w"));
	assert_false(can_switch(f, "nothing"));
	assert_int_equal(sum(f), 1000);
}

/* The file of a writer that is gone may still say that it has a log. */
static void a_file_in_the_mode_of_a_log_is_read_without_one(void **state)
{
	struct files *f = *state;

	make(f, "log", TABLES ROWS("5") "PRAGMA journal_mode = WAL;");
	assert_true(can_switch(f, "log"));
	assert_int_equal(sum(f), 5000);
}

static void a_cut_file_is_found_out_when_it_is_read(void **state)
{
	struct files *f = *state;

	make(f, "cut", TABLES ROWS("6"));
	assert_int_equal(truncate(path_of(f, "cut"), 16384), 0);
	assert_false(can_switch(f, "cut") && sum(f) >= 0);
	assert_int_equal(sqlite3_errcode(f->sqlite) & 0xff, SQLITE_CORRUPT);
}

static void nothing_can_be_written(void **state)
{
	struct files *f = *state;

	assert_int_equal(sqlite3_exec(f->sqlite, "DELETE FROM one.t", NULL, NULL, NULL), SQLITE_READONLY);
	assert_int_equal(sum(f), 1000);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_file_with_the_same_schema_is_read_by_the_same_statement),
		TEST(a_longer_and_a_shorter_file_are_read_to_their_end),
		TEST(a_file_with_another_schema_is_refused),
		TEST(another_schema_is_refused_after_the_same_ones),
		TEST(another_encoding_page_size_or_version_is_refused),
		TEST(what_is_no_database_is_refused),
		TEST(a_file_in_the_mode_of_a_log_is_read_without_one),
		TEST(a_cut_file_is_found_out_when_it_is_read),
		TEST(nothing_can_be_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
