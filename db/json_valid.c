/* SPDX-License-Identifier: MIT */
#include "db/json_valid.h"

#include <sqlite3.h>
#include <stddef.h>

/*
 * Calls SQLite's json_valid() through another connection, because in this one its name belongs to the wrapper.  Without
 * memory json_valid() returns false; json_type() fails then, which distinguishes the two.
 */
#define QUERY "SELECT iif(json_valid(?1) = 0, json_type(?1) IS NOT NULL, json_valid(?1))"

static void json_valid(sqlite3_context *context, int n, sqlite3_value **values)
{
	sqlite3_stmt *original = sqlite3_user_data(context);
	int r = sqlite3_bind_value(original, n, values[0]);

	if (r == SQLITE_OK)
		r = sqlite3_step(original);
	if (r == SQLITE_ROW)
		sqlite3_result_value(context, sqlite3_column_value(original, 0));
	else if (r == SQLITE_ERROR)
		sqlite3_result_int(context, 0);
	else
		sqlite3_result_error_code(context, r);
	sqlite3_reset(original);
}

static void forget(void *arg)
{
	sqlite3_stmt *original = arg;
	sqlite3 *other = sqlite3_db_handle(original);

	sqlite3_finalize(original);
	sqlite3_close(other);
}

int json_valid_create(sqlite3 *sqlite)
{
	sqlite3 *other = NULL;
	sqlite3_stmt *original = NULL;
	int r = sqlite3_open_v2(":memory:", &other, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);

	if (r == SQLITE_OK)
		r = sqlite3_prepare_v2(other, QUERY, -1, &original, NULL);
	if (r != SQLITE_OK) {
		sqlite3_close(other);
		return r;
	}
	/* SQLite frees it also on failure. */
	return sqlite3_create_function_v2(sqlite, "json_valid", 1,
		SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, original, json_valid, NULL, NULL, forget);
}
