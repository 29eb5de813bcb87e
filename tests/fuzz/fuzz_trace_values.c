/* SPDX-License-Identifier: MIT */

/* A trace whose values are not what they should be: a byte for the command that reads it, then for each
 * value its table, column and row, what kind of value is there now, and that. */

#include <sqlite3.h>

#include "tests/fuzz/traces.h"

static char *tables[64];
static int n_tables;

static int take_table(FUZZ_UNUSED void *arg, FUZZ_UNUSED int n, char **values,
	FUZZ_UNUSED char **names)
{
	if (n_tables < 64)
		tables[n_tables++] = strdup(values[0]);
	return 0;
}

static sqlite3 *open_db(const char *name)
{
	sqlite3 *db;

	FUZZ_ASSERT(sqlite3_open_v2(fuzz_path(name), &db, SQLITE_OPEN_READWRITE, NULL) ==
		    SQLITE_OK);
	sqlite3_exec(db, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF", NULL, NULL, NULL);
	return db;
}

int LLVMFuzzerInitialize(FUZZ_UNUSED int *argc, FUZZ_UNUSED char ***argv)
{
	sqlite3 *db;

	trace_prepare();
	db = open_db("whole.db");
	sqlite3_exec(db, "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name",
		take_table, NULL, NULL);
	sqlite3_close(db);
	FUZZ_ASSERT(n_tables > 10);
	return 0;
}

static void bind(sqlite3_stmt *stmt, struct fuzz_bytes *bytes)
{
	static const int64_t special[] = { INT64_MIN, INT64_MAX, INT64_MAX - 1, INT32_MIN,
		INT32_MAX, -1, 0, (int64_t)1 << 53, (int64_t)1 << 62, -((int64_t)1 << 62) };
	static const char *const words[] = { "", "[", "[[1,{}],null]", "{\"a\":[]}", "'\"\\", "/",
		"*", "\n", "exact", "-5", "1e400", "\x01" };
	int64_t number;
	double real;
	char *line;

	switch (fuzz_byte(bytes) % 8) {
	case 0:
		sqlite3_bind_null(stmt, 1);
		break;
	case 1:
		sqlite3_bind_int64(stmt, 1, (int8_t)fuzz_byte(bytes));
		break;
	case 2:
		sqlite3_bind_int64(stmt, 1,
			special[fuzz_byte(bytes) % (sizeof(special) / sizeof(*special))]);
		break;
	case 3:
		fuzz_take(bytes, &number, sizeof(number));
		sqlite3_bind_int64(stmt, 1, number);
		break;
	case 4:
		fuzz_take(bytes, &real, sizeof(real));
		sqlite3_bind_double(stmt, 1, real);
		break;
	case 5:
		sqlite3_bind_text(stmt, 1,
			words[fuzz_byte(bytes) % (sizeof(words) / sizeof(*words))], -1,
			SQLITE_STATIC);
		break;
	default:
		line = fuzz_line(bytes);
		if (strlen(line) % 2)
			sqlite3_bind_text(stmt, 1, line, -1, SQLITE_TRANSIENT);
		else
			sqlite3_bind_blob(stmt, 1, line, (int)strlen(line), SQLITE_TRANSIENT);
		free(line);
	}
}

static void change(sqlite3 *db, struct fuzz_bytes *bytes)
{
	const char *table = tables[fuzz_byte(bytes) % n_tables];
	unsigned column = fuzz_byte(bytes), row = fuzz_byte(bytes) % 16;
	char *sql = sqlite3_mprintf("SELECT * FROM \"%w\"", table), *update = NULL;
	sqlite3_stmt *stmt = NULL;

	if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) == SQLITE_OK)
		update = sqlite3_mprintf("UPDATE \"%w\" SET \"%w\" = ? WHERE \"%w\" IN (SELECT "
					 "\"%w\" FROM "
					 "\"%w\" LIMIT %d OFFSET %u)",
			table, sqlite3_column_name(stmt, (int)column % sqlite3_column_count(stmt)),
			sqlite3_column_name(stmt, 0), sqlite3_column_name(stmt, 0), table,
			row == 15 ? -1 : 1, row == 15 ? 0 : row);
	sqlite3_finalize(stmt);
	stmt = NULL;
	if (update && sqlite3_prepare_v2(db, update, -1, &stmt, NULL) == SQLITE_OK) {
		bind(stmt, bytes);
		sqlite3_step(stmt);
	}
	sqlite3_finalize(stmt);
	sqlite3_free(update);
	sqlite3_free(sql);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_bytes bytes = { data, size };
	unsigned command = fuzz_byte(&bytes);
	sqlite3 *db;

	fuzz_write("trace.db", trace_bytes, trace_size);
	db = open_db("trace.db");
	for (int i = 0; i < 8 && bytes.left; i++)
		change(db, &bytes);
	sqlite3_close(db);
	trace_read(command);
	return 0;
}
