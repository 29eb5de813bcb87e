/* SPDX-License-Identifier: MIT */

/* query.h: columns are read by their names, in the order in which the reader names them. */

#include "feed.h"

#include "db/query.h"

struct rows {
	struct feed *feed;
	struct query_db *db;
	struct query *query;
};

static int setup(void **state)
{
	struct rows *rows = calloc(1, sizeof(*rows));
	const char *path;

	*state = rows;
	feed_setup((void **)&rows->feed);
	path = rows->feed->db;
	assert_int_equal(query_open(&path, 1, 0, &rows->db), 0);
	return query_start(rows->db, "SELECT 'key' AS k, 10 AS a, 20 AS b, NULL AS c", &rows->query);
}

static int teardown(void **state)
{
	struct rows *rows = *state;

	query_end(rows->query);
	query_close(rows->db);
	feed_teardown((void **)&rows->feed);
	free(rows);
	return 0;
}

static void without_names_columns_are_as_they_stand(void **state)
{
	const struct rows *rows = *state;

	assert_int_equal(query_next(rows->query), 1);
	assert_int_equal(query_int(rows->query, 1), 10);
	assert_int_equal(query_int(rows->query, 2), 20);
}

static void names_give_columns_their_numbers(void **state)
{
	const struct rows *rows = *state;

	assert_int_equal(query_bind(rows->query, 1, "c b"), 0);
	assert_int_equal(query_next(rows->query), 1);
	assert_int_equal(query_type(rows->query, 0), QUERY_TEXT); /* before the first that is named */
	assert_int_equal(query_type(rows->query, 1), QUERY_NULL);
	assert_int_equal(query_int(rows->query, 2), 20);
	assert_string_equal(query_name(rows->query, 2), "b");
}

static void a_missing_column_is_reported(void **state)
{
	const struct rows *rows = *state;

	assert_int_equal(query_bind(rows->query, 0, "a nope"), -EPROTO);
	assert_non_null(strstr(query_error(rows->db), "'nope'"));
}

static void put(struct feed *feed, const char *key, int64_t value)
{
	assert_int_equal(store_put_meta(feed->store, key, V_INT(value)), 0);
	feed_flush(feed);
}

static int open_ended(const char *path)
{
	struct query_db *db;
	int r = query_open(&path, 1, QUERY_ENDED, &db);

	query_close(db);
	return r;
}

/* A trace whose writer has ended its run is waited for as long as the writer is there. */
static void what_is_being_completed_is_refused(void **state)
{
	struct rows *rows = *state;
	const char *path = rows->feed->db;

	assert_int_equal(open_ended(path), 0); /* the run goes on */
	put(rows->feed, "ending", 1);
	assert_int_equal(open_ended(path), -EINPROGRESS);
	put(rows->feed, "complete", 1);
	assert_int_equal(open_ended(path), 0);
	put(rows->feed, "complete", 0);
	assert_int_equal(open_ended(path), -EINPROGRESS);
	put(rows->feed, "ending", 0);
	assert_int_equal(open_ended(path), 0);
}

static void run(const char *path, int flags, const char *format, ...)
{
	va_list values;
	char *sql, *error = NULL;
	sqlite3 *db;

	va_start(values, format);
	sql = sqlite3_vmprintf(format, values);
	va_end(values);
	assert_int_equal(sqlite3_open_v2(path, &db, flags, NULL), SQLITE_OK);
	if (sqlite3_exec(db, sql, NULL, NULL, &error) != SQLITE_OK)
		fail_msg("%s: %s", sql, error);
	sqlite3_free(sql);
	sqlite3_close(db);
}

/* While a trace grows the view process works out the jobs of the whole run. */
static void opening_asks_for_no_process(void **state)
{
	struct rows *rows = *state;
	char path[4096];
	const char *copy = path;
	struct query_db *db;
	struct query *query;

	snprintf(path, sizeof(path), "%s-copy", rows->feed->db);
	run(rows->feed->db, SQLITE_OPEN_READONLY, "VACUUM INTO %Q", path);
	run(path, SQLITE_OPEN_READWRITE, "DROP VIEW process; CREATE VIEW process AS SELECT abs(-9223372036854775807 - value) AS id FROM (SELECT 1 AS value)");
	assert_int_equal(query_open(&copy, 1, 0, &db), 0);
	assert_int_equal(query_start(db, "SELECT id FROM process", &query), 0);
	assert_true(query_next(query) < 0); /* so it would have failed */
	query_end(query);
	query_close(db);
	assert_int_equal(unlink(path), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(without_names_columns_are_as_they_stand),
		TEST(names_give_columns_their_numbers),
		TEST(a_missing_column_is_reported),
		TEST(what_is_being_completed_is_refused),
		TEST(opening_asks_for_no_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
