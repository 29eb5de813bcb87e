/* SPDX-License-Identifier: MIT */
#ifndef TESTS_FUZZ_DAMAGE_H
#define TESTS_FUZZ_DAMAGE_H

/* Bytes as changes of a trace: to its values, and to its tables and views themselves. */

#include <sqlite3.h>
#include <strings.h>

#include "tests/fuzz/traces.h"

/* Tables, then views. */
static char *damage_names[128];
static int damage_tables, damage_objects;

FUZZ_UNUSED static int damage_take_name(FUZZ_UNUSED void *arg, FUZZ_UNUSED int n, char **values,
	FUZZ_UNUSED char **names)
{
	if (damage_objects < 128)
		damage_names[damage_objects++] = strdup(values[0]);
	damage_tables += strcmp(values[1], "table") == 0;
	return 0;
}

FUZZ_UNUSED static sqlite3 *damage_open(const char *name)
{
	sqlite3 *db;

	FUZZ_ASSERT(sqlite3_open_v2(fuzz_path(name), &db, SQLITE_OPEN_READWRITE, NULL) ==
		    SQLITE_OK);
	sqlite3_exec(db,
		"PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA legacy_alter_table = "
		"ON; "
		"PRAGMA writable_schema = ON",
		NULL, NULL, NULL);
	return db;
}

/* trace_prepare(), and what is in it. */
FUZZ_UNUSED static void damage_prepare(void)
{
	sqlite3 *db;

	trace_prepare();
	db = damage_open("whole.db");
	sqlite3_exec(db,
		"SELECT name, type FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT "
		"LIKE "
		"'sqlite_%' ORDER BY type, name",
		damage_take_name, NULL, NULL);
	sqlite3_close(db);
	FUZZ_ASSERT(damage_tables > 10 && damage_objects > damage_tables + 10);
}

/* ---- values ---- */

FUZZ_UNUSED static void damage_bind(sqlite3_stmt *stmt, struct fuzz_bytes *bytes)
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

/* A value of a row, or of all. */
FUZZ_UNUSED static void damage_value(sqlite3 *db, struct fuzz_bytes *bytes)
{
	const char *table = damage_names[fuzz_byte(bytes) % damage_tables];
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
		damage_bind(stmt, bytes);
		sqlite3_step(stmt);
	}
	sqlite3_finalize(stmt);
	sqlite3_free(update);
	sqlite3_free(sql);
}

/* ---- tables and views ---- */

/* The number of columns; names them in names, to be freed by sqlite3_free(). */
FUZZ_UNUSED static int damage_columns(sqlite3 *db, const char *object, char *names[32])
{
	char *sql = sqlite3_mprintf("SELECT * FROM \"%w\"", object);
	sqlite3_stmt *stmt = NULL;
	int n = 0;

	if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) == SQLITE_OK)
		for (; n < 32 && n < sqlite3_column_count(stmt); n++)
			names[n] = sqlite3_mprintf("%s", sqlite3_column_name(stmt, n));
	sqlite3_finalize(stmt);
	sqlite3_free(sql);
	return n;
}

/* A view of the same columns, with other values in them; in place of it. */
FUZZ_UNUSED static char *damage_view(sqlite3 *db, const char *object, struct fuzz_bytes *bytes)
{
	static const char *const values[] = { "NULL", "0", "-1", "9223372036854775807", "'x'",
		"x'00ff'", "1e300", "'[1]'", "'{'", "rowid", "random() % 9", "load_extension('x')",
		"json_valid('{')", "zeroblob(9e8)", "printf('%.99999c', 'x')", "1 / 0" };
	char *columns[32], *list = NULL;
	int n = damage_columns(db, object, columns);

	for (int i = 0; i < n; i++) {
		char *longer = sqlite3_mprintf("%s%s%s AS \"%w\"", list ? list : "",
			list ? ", " : "",
			values[fuzz_byte(bytes) % (sizeof(values) / sizeof(*values))], columns[i]);

		sqlite3_free(list);
		sqlite3_free(columns[i]);
		list = longer;
	}
	columns[0] = sqlite3_mprintf("DROP TABLE IF EXISTS \"%w\"; DROP VIEW IF EXISTS \"%w\"; "
				     "CREATE VIEW \"%w\" AS "
				     "SELECT %s FROM paths LIMIT %u",
		object, object, object, list ? list : "1", fuzz_byte(bytes));
	sqlite3_free(list);
	return columns[0];
}

FUZZ_UNUSED static char *damage_column(sqlite3 *db, const char *object, unsigned which)
{
	char *columns[32], *column;
	int n = damage_columns(db, object, columns);

	column = n ? columns[which % n] : sqlite3_mprintf("id");
	for (int i = 0; i < n; i++)
		if (columns[i] != column)
			sqlite3_free(columns[i]);
	return column;
}

/* A table that was a view, without types and keys. */
FUZZ_UNUSED static char *damage_as_table(const char *object)
{
	return sqlite3_mprintf("CREATE TABLE x AS SELECT * FROM \"%w\"; DROP TABLE IF EXISTS \"%w\"; "
			       "DROP VIEW IF EXISTS \"%w\"; ALTER TABLE x RENAME TO \"%w\"",
		object, object, object, object);
}

/* What one change is, as SQL, to be freed. */
FUZZ_UNUSED static char *damage_sql(sqlite3 *db, struct fuzz_bytes *bytes)
{
	unsigned what = fuzz_byte(bytes);
	const char *object = damage_names[fuzz_byte(bytes) % damage_objects];
	const char *other = damage_names[fuzz_byte(bytes) % damage_objects];
	char *column = damage_column(db, object, fuzz_byte(bytes)), *line = fuzz_line(bytes), *sql;

	switch (what % 12) {
	case 0:
		sql = sqlite3_mprintf("DROP TABLE \"%w\"", object);
		break;
	case 1:
		sql = sqlite3_mprintf("DROP VIEW \"%w\"", object);
		break;
	case 2:
		sql = sqlite3_mprintf("ALTER TABLE \"%w\" RENAME TO \"%w\"", object, line);
		break;
	case 3:
		sql = sqlite3_mprintf("ALTER TABLE \"%w\" RENAME \"%w\" TO \"%w\"", object, column,
			line);
		break;
	case 4:
		sql = sqlite3_mprintf("ALTER TABLE \"%w\" DROP COLUMN \"%w\"", object, column);
		break;
	case 5:
		sql = sqlite3_mprintf("ALTER TABLE \"%w\" ADD COLUMN \"%w\" %s", object, line,
			line);
		break;
	case 6:
		sql = damage_view(db, object, bytes);
		break;
	case 7:
		sql = damage_as_table(object);
		break;
	case 8:
		sql = sqlite3_mprintf("UPDATE sqlite_schema SET sql = %Q WHERE name = %Q", line,
			object);
		break;
	case 9: /* one is stored where another is */
		sql = sqlite3_mprintf("UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM "
				      "sqlite_schema WHERE "
				      "name = %Q) WHERE name = %Q",
			other, object);
		break;
	case 10: /* one is defined as another */
		sql = sqlite3_mprintf("UPDATE sqlite_schema SET (type, sql) = (SELECT type, sql "
				      "FROM sqlite_schema WHERE "
				      "name = %Q) WHERE name = %Q",
			other, object);
		break;
	default:
		sql = sqlite3_mprintf("%s", line);
	}
	sqlite3_free(column);
	free(line);
	return sql;
}

FUZZ_UNUSED static int damage_too_long(void *arg)
{
	return ++*(int *)arg > 1000;
}

/* That a trace may be made so that reading it takes for ever is known, so nothing is added that recurs. */
FUZZ_UNUSED static void damage_schema(sqlite3 *db, struct fuzz_bytes *bytes)
{
	char *sql = damage_sql(db, bytes);
	int steps = 0;

	sqlite3_progress_handler(db, 1000, damage_too_long, &steps);
	if (sql && !strcasestr(sql, "recursive"))
		sqlite3_exec(db, sql, NULL, NULL, NULL);
	sqlite3_progress_handler(db, 0, NULL, NULL);
	sqlite3_free(sql);
}

/* A byte for the command, then up to 8 changes of trace.db, which change() reads.  The command reads the trace then. */
FUZZ_UNUSED static int damage_run(const uint8_t *data, size_t size,
	void (*change)(sqlite3 *db, struct fuzz_bytes *bytes))
{
	struct fuzz_bytes bytes = { data, size };
	unsigned command = fuzz_byte(&bytes);
	sqlite3 *db;

	fuzz_write("trace.db", trace_bytes, trace_size);
	db = damage_open("trace.db");
	for (int i = 0; i < 8 && bytes.left; i++)
		change(db, &bytes);
	sqlite3_close(db);
	trace_read(command);
	return 0;
}

#endif
