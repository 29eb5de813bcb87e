/* SPDX-License-Identifier: MIT */
#include "db/merge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/merge_names.h"
#include "db/merge_versions.h"
#include "db/sql.h"

struct merge {
	sqlite3 *sqlite;
};

/* What to add to the ids of a table. */
static const struct {
	const char *parameter, *last;
} offsets[] = {
	{ ":paths", "SELECT max(id) FROM main.paths" },
	{ ":mounts", "SELECT max(id) FROM main.mounts" },
	{ ":files", "SELECT max(id) FROM main.files" },
	{ ":kinds", "SELECT max(id) FROM main.kinds" },
	{ ":processes", "SELECT max(id) FROM main.processes" },
	{ ":images", "SELECT max(id) FROM main.images" },
	{ ":handles", "SELECT max(id) FROM main.handles" },
	{ ":threads", "SELECT max(id) FROM main.threads" },
	{ ":ways", "SELECT max(id) FROM main.ways" },
	{ ":callers", "SELECT max(id) FROM main.callers" },
	{ ":touches", "SELECT max(id) FROM main.touches" },
	{ ":tag", "SELECT count(*) << 32 FROM facts WHERE key = 'start_ns'" },
	{ ":ops", "SELECT max(last) FROM last_ops" },
	/* Times of the trace count from its own start; here they count from that of the first trace. */
	{ ":t", "SELECT (SELECT value FROM one.meta WHERE key = 'start_ns') - "
		"(SELECT value FROM main.meta WHERE key = 'start_ns')" },
};
#define OFFSET_MAX (sizeof(offsets) / sizeof(offsets[0]))

static int ask(sqlite3 *sqlite, const char *sql, int64_t *ret_number)
{
	sqlite3_stmt *stmt = NULL;
	int r = sqlite3_prepare_v2(sqlite, sql, -1, &stmt, NULL);

	if (r == SQLITE_OK && (r = sqlite3_step(stmt)) == SQLITE_ROW) {
		*ret_number = sqlite3_column_int64(stmt, 0);
		r = SQLITE_OK;
	}
	sqlite3_finalize(stmt);
	return r;
}

static int exec(sqlite3 *sqlite, const char *sql)
{
	return sqlite3_exec(sqlite, sql, NULL, NULL, NULL);
}

/* The files are temporary: no journal, no sync. */
int merge_begin(sqlite3 *sqlite, int64_t start_ns, struct merge **ret_merge)
{
	struct merge *merge = calloc(1, sizeof(*merge));
	char *start = sqlite3_mprintf("INSERT INTO main.meta VALUES ('start_ns', %lld)",
		(long long)start_ns);
	int r = merge && start ? SQLITE_OK : SQLITE_NOMEM;

	*ret_merge = merge;
	if (r == SQLITE_OK)
		merge->sqlite = sqlite;
	if (r == SQLITE_OK)
		r = exec(sqlite, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; "
				 "PRAGMA temp_store = FILE; PRAGMA cache_size = -65536");
	if (r == SQLITE_OK)
		r = exec(sqlite, sql_schema);
	if (r == SQLITE_OK)
		r = exec(sqlite, sql_views);
	if (r == SQLITE_OK)
		r = exec(sqlite, sql_steps);
	if (r == SQLITE_OK)
		r = exec(sqlite, "CREATE TEMP TABLE facts (key, value);"
				 "CREATE TEMP TABLE came (id INTEGER PRIMARY KEY, path, dev, ino, birth,"
				 "  deleted, found, first_t, host);"
				 "CREATE TEMP TABLE before AS SELECT * FROM came;"
				 "CREATE INDEX temp.before_id ON before (id);"
				 "CREATE INDEX temp.before_ino ON before (ino);"
				 "CREATE INDEX temp.before_path ON before (path);"
				 "CREATE TEMP TABLE known (old INTEGER PRIMARY KEY, new INTEGER, verdict);"
				 "CREATE TEMP TABLE same (old INTEGER PRIMARY KEY, new INTEGER, tag INTEGER);"
				 "CREATE TEMP TABLE tags (handle INTEGER PRIMARY KEY, tag INTEGER);"
				 "CREATE TEMP TABLE kept (file INTEGER PRIMARY KEY);"
				 "CREATE TEMP TABLE last_ops (last INTEGER PRIMARY KEY);"
				 "CREATE TEMP TABLE doubts (verdict, path, file, other);");
	if (r == SQLITE_OK)
		r = merge_versions_begin(sqlite);
	if (r == SQLITE_OK)
		r = exec(sqlite, start);
	sqlite3_free(start);
	return r;
}

/* Runs the statements in order; each binds the parameters that it has. */
static int run_script(sqlite3 *sqlite, const char *sql, const int64_t *values, bool with_ops)
{
	int r = SQLITE_OK;

	while (r == SQLITE_OK && *sql) {
		sqlite3_stmt *stmt = NULL;

		r = sqlite3_prepare_v2(sqlite, sql, -1, &stmt, &sql);
		if (r != SQLITE_OK || !stmt)
			break;
		for (size_t i = 0; i < OFFSET_MAX; i++)
			sqlite3_bind_int64(stmt,
				sqlite3_bind_parameter_index(stmt, offsets[i].parameter),
				values[i]);
		sqlite3_bind_int(stmt, sqlite3_bind_parameter_index(stmt, ":with_ops"), with_ops);
		r = sqlite3_step(stmt) == SQLITE_DONE ? SQLITE_OK : sqlite3_errcode(sqlite);
		sqlite3_finalize(stmt);
	}
	return r;
}

int merge_add(struct merge *merge, const char *uri, bool with_ops)
{
	sqlite3 *sqlite = merge->sqlite;
	char *attach = sqlite3_mprintf("ATTACH %Q AS one", uri);
	int64_t values[OFFSET_MAX];
	int r = attach ? exec(sqlite, attach) : SQLITE_NOMEM;

	sqlite3_free(attach);
	if (r != SQLITE_OK)
		return r;
	r = exec(sqlite, "BEGIN");
	for (size_t i = 0; i < OFFSET_MAX && r == SQLITE_OK; i++)
		r = ask(sqlite, offsets[i].last, &values[i]);
	if (r == SQLITE_OK)
		r = run_script(sqlite, sql_merge, values, with_ops);
	if (r == SQLITE_OK) /* at each commit SQLite goes through all pages that are not in the temporary file */
		r = sqlite3_db_cacheflush(sqlite);
	if (r == SQLITE_OK)
		r = exec(sqlite, "COMMIT");
	if (r == SQLITE_OK)
		r = exec(sqlite, "DETACH one");
	return r;
}

int merge_end(struct merge *merge)
{
	/* One transaction: one for each row would empty and write its journal anew. */
	int r = exec(merge->sqlite, "BEGIN; INSERT OR REPLACE INTO main.meta SELECT key, CASE"
				    " WHEN key IN ('job', 'xform', 'mixed_file') THEN NULL"
				    " WHEN key = 'layers' AND count(*) < (SELECT count(*) FROM facts WHERE key = 'start_ns') THEN NULL"
				    " WHEN key = 'start_ns' OR count(*) = count(value) AND key = "
				    "'complete' THEN min(value)"
				    " WHEN count(*) = count(value) AND key = 'end_ns' THEN "
				    "max(value)"
				    " WHEN count(*) = count(value) AND key IN ('ops_recorded', "
				    "'ops_excluded', 'ops_lost', 'calls_recorded', 'calls_lost',"
				    "  'process_events_lost', 'notes_lost', 'mixed_writes', 'waited_ns', "
				    "'tracer_cpu_ns', 'bytes_recorded', 'bytes_mount', 'bytes_paged', 'bytes_mapped', 'bytes_kernel')"
				    "  THEN sum(value) FILTER (WHERE key NOT IN ('start_ns', "
				    "'end_ns'))" /* sum() would overflow */
				    " WHEN count(DISTINCT value) = 1 AND count(*) = count(value) "
				    "THEN min(value)"
				    " WHEN key = 'files' AND count(*) = count(value) THEN 'both'"
				    " WHEN key = 'fidelity' THEN group_concat(DISTINCT value) END"
				    " FROM facts GROUP BY key");

	if (r == SQLITE_OK)
		r = merge_names(merge->sqlite);
	if (r == SQLITE_OK)
		r = exec(merge->sqlite,
			/* A trace may have removed the older of the two files, or this name of it. */
			"DELETE FROM doubts WHERE verdict = 'files_replaced' AND (SELECT f.state & 2 OR EXISTS (SELECT 1"
			"    FROM main.names m JOIN main.paths q ON q.id = m.path WHERE m.file = f.id AND q.path = doubts.path"
			"    AND m.to_t NOTNULL) FROM main.names n JOIN main.paths p ON p.id = n.path JOIN main.files f ON f.id = n.file"
			"  WHERE n.file IN (doubts.file, doubts.other) AND p.path = doubts.path ORDER BY n.from_t LIMIT 1);"
			"INSERT INTO main.meta SELECT verdict, count(*) FROM doubts GROUP BY verdict;"
			"INSERT INTO main.meta SELECT verdict || '_path', min(path) FROM doubts GROUP BY verdict");
	if (r == SQLITE_OK)
		r = merge_versions(merge->sqlite);
	if (r == SQLITE_OK)
		r = exec(merge->sqlite, "COMMIT");
	return r == SQLITE_OK ? exec(merge->sqlite, sql_finish) : r;
}

void merge_destroy(struct merge *merge)
{
	free(merge);
}
