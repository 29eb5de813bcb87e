/* SPDX-License-Identifier: MIT */
#include "db/merge_names.h"

#include <stdbool.h>
#include <stddef.h>

static const char renames_sql[] =
	"CREATE TEMP TABLE renames AS SELECT p.path AS former, q.path AS later, e.from_t AS t"
	"  FROM main.names d JOIN main.names e ON e.file = d.file AND e.from_t = d.to_t"
	"  JOIN main.paths p ON p.id = d.path JOIN main.paths q ON q.id = e.path"
	"  JOIN main.files f ON f.id = d.file JOIN main.kinds k ON k.id = f.kind"
	"  WHERE d.to_t NOTNULL AND k.mode & 61440 = 16384 AND p.path <> q.path ORDER BY t";

/* Texts as bytes: a path that is not UTF-8 is a BLOB, and all are compared in the same way. */
static const char names_sql[] =
	"CREATE TEMP TABLE all_names AS SELECT n.file, n.path, n.from_t, n.to_t, CAST(p.path AS BLOB) AS bytes,"
	"  typeof(p.path) = 'blob' AS is_blob FROM main.names n JOIN main.paths p ON p.id = n.path;"
	"CREATE INDEX temp.all_names_bytes ON all_names (bytes);"
	"CREATE TEMP TABLE ended_names (name INTEGER, file INTEGER, path INTEGER, from_t INTEGER, to_t INTEGER);"
	"CREATE TEMP TABLE moved_names (name INTEGER, file INTEGER, path INTEGER, from_t INTEGER, to_t INTEGER, later,"
	"  later_path INTEGER)";

/* ?1, ?2: the directory's names; ?3: when it was renamed.  '0' is the character behind '/'. */
#define TEXT(bytes) "CAST(" bytes " AS TEXT)"
#define BELOW(name, directory) \
	name ".bytes > CAST(" TEXT(directory) " || '/' AS BLOB) AND " name ".bytes < CAST(" TEXT(directory) " || '0' AS BLOB)"
#define REST(name, directory) TEXT("substr(" name ".bytes, length(CAST(" directory " AS BLOB)) + 1)")
#define LATER TEXT("?2") " || " REST("n", "?1")
static const char *const steps_sql[] = {
	/* The trace moved a name that another trace has seen end before, and no trace has seen since. */
	"INSERT INTO ended_names SELECT n.rowid, n.file, n.path, n.from_t, max(m.to_t) FROM all_names n"
	"  JOIN all_names m ON m.bytes = n.bytes AND m.file = n.file AND m.to_t > n.from_t AND m.to_t < ?3"
	"  WHERE " BELOW("n", "?1") " AND n.to_t = ?3 AND NOT EXISTS (SELECT 1 FROM all_names l"
	"    WHERE l.bytes = n.bytes AND l.file = n.file AND l.from_t > m.to_t AND l.from_t < ?3) GROUP BY n.rowid",
	"UPDATE main.names AS n SET to_t = e.to_t FROM ended_names e"
	"  WHERE n.file = e.file AND n.path = e.path AND n.from_t = e.from_t",
	"UPDATE all_names AS n SET to_t = e.to_t FROM ended_names e WHERE n.rowid = e.name",
	"DELETE FROM ended_names",
	/* So the later name never was, and neither were those that it became. */
	"INSERT INTO ended_names SELECT n.rowid, n.file, n.path, n.from_t, NULL FROM all_names n"
	"  WHERE " BELOW("n", "?2") " AND n.from_t = ?3 AND NOT EXISTS (SELECT 1 FROM all_names m"
	"    WHERE m.bytes = CAST(" TEXT("?1") " || " REST("n", "?2") " AS BLOB) AND m.file = n.file AND m.to_t = ?3)",
	"DELETE FROM main.names WHERE (file, path, from_t) IN (SELECT file, path, from_t FROM ended_names)",
	"DELETE FROM all_names WHERE rowid IN (SELECT name FROM ended_names)",
	"DELETE FROM ended_names",
	/* A name that another trace has seen end before is not moved. */
	"INSERT INTO moved_names SELECT rowid, file, path, from_t, to_t,"
	"  iif(is_blob OR typeof(?2) = 'blob', CAST(" LATER " AS BLOB), " LATER "),"
	"  (SELECT coalesce(max(id), 0) FROM main.path_names) + row_number() OVER ()"
	"  FROM all_names n WHERE " BELOW("n", "?1")
	"  AND from_t < ?3 AND (to_t IS NULL OR to_t > ?3) AND NOT EXISTS (SELECT 1 FROM all_names m"
	"    WHERE m.bytes = n.bytes AND m.file = n.file AND m.to_t >= n.from_t AND m.to_t < ?3)",
	"UPDATE main.names AS n SET to_t = ?3 FROM moved_names m"
	"  WHERE n.file = m.file AND n.path = m.path AND n.from_t = m.from_t",
	"UPDATE all_names SET to_t = ?3 WHERE rowid IN (SELECT name FROM moved_names)",
	"INSERT INTO main.path_names SELECT later_path, NULL, later FROM moved_names",
	"INSERT INTO main.names SELECT file, later_path, ?3, to_t FROM moved_names",
	"INSERT INTO all_names SELECT file, later_path, ?3, to_t, CAST(later AS BLOB), typeof(later) = 'blob' FROM moved_names",
	"DELETE FROM moved_names",
};
enum { STEPS = sizeof(steps_sql) / sizeof(steps_sql[0]) };

static int run_step(sqlite3_stmt *step, sqlite3_stmt *rename)
{
	int r;

	for (int i = 0; i < sqlite3_bind_parameter_count(step); i++)
		sqlite3_bind_value(step, i + 1, sqlite3_column_value(rename, i));
	r = sqlite3_step(step);
	sqlite3_reset(step);
	return r == SQLITE_DONE ? SQLITE_OK : r;
}

static int walk(sqlite3_stmt *renames, sqlite3_stmt *const *steps)
{
	int r;

	while ((r = sqlite3_step(renames)) == SQLITE_ROW)
		for (int i = 0; i < STEPS; i++)
			if ((r = run_step(steps[i], renames)) != SQLITE_OK)
				return r;
	return r == SQLITE_DONE ? SQLITE_OK : r;
}

static int move_names(sqlite3 *sqlite, sqlite3_stmt *renames)
{
	sqlite3_stmt *steps[STEPS] = { NULL };
	int r = sqlite3_exec(sqlite, names_sql, NULL, NULL, NULL);

	for (int i = 0; i < STEPS && r == SQLITE_OK; i++)
		r = sqlite3_prepare_v2(sqlite, steps_sql[i], -1, &steps[i], NULL);
	if (r == SQLITE_OK)
		r = walk(renames, steps);
	for (int i = 0; i < STEPS; i++)
		sqlite3_finalize(steps[i]);
	return r;
}

int merge_names(sqlite3 *sqlite)
{
	sqlite3_stmt *renames = NULL;
	bool any = false;
	int r = sqlite3_exec(sqlite, renames_sql, NULL, NULL, NULL);

	if (r == SQLITE_OK)
		r = sqlite3_prepare_v2(sqlite, "SELECT former, later, t FROM renames", -1, &renames, NULL);
	if (r == SQLITE_OK) {
		any = sqlite3_step(renames) == SQLITE_ROW;
		r = sqlite3_reset(renames);
	}
	if (r == SQLITE_OK && any)
		r = move_names(sqlite, renames);
	sqlite3_finalize(renames);
	return r;
}
