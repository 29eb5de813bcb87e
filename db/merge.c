/* SPDX-License-Identifier: MIT */
#include "db/merge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/merge_names.h"
#include "base/vector.h"
#include "db/merge_starts.h"
#include "db/merge_versions.h"
#include "db/origin.h"
#include "db/relay.h"
#include "db/sql.h"

struct merge {
	sqlite3 *sqlite;
	struct relay relay; /* of "one", the trace */
	bool is_attached;
	bool has_same; /* the user knows of directories that are one */
	int n_traces;
	sqlite3_stmt *offsets;
	sqlite3_stmt **steps; /* of merge.sql; compiled once, as long as SQLite sees the same schema */
	int n_steps;
	bool is_prepared;
};

/* What to add to the ids of a table: a column for each parameter. */
static const char offsets_sql[] =
	"SELECT (SELECT max(id) FROM main.path_names) AS [:paths], (SELECT max(id) FROM main.directories) AS [:directories], (SELECT max(id) FROM main.mounts) AS [:mounts],"
	"  (SELECT max(id) FROM main.files) AS [:files], (SELECT max(id) FROM main.kinds) AS [:kinds],"
	"  (SELECT max(id) FROM main.processes) AS [:processes], (SELECT max(id) FROM main.images) AS [:images],"
	"  (SELECT max(id) FROM main.handles) AS [:handles], (SELECT max(id) FROM main.threads) AS [:threads],"
	"  (SELECT max(id) FROM main.ways) AS [:ways], (SELECT max(id) FROM main.callers) AS [:callers],"
	"  (SELECT max(last) FROM last_ops) AS [:ops], (SELECT max(part) FROM main.part_facts) AS [:parts],"
	"  (SELECT max(id) FROM main.metric_grids) AS [:grids],"
	/* Times of the trace count from its own start; here they count from that of the first trace. */
	"  (SELECT value FROM one.meta WHERE key = 'start_ns') - (SELECT value FROM main.meta WHERE key = 'start_ns')"
	"  + ?3 AS [:t],"
	"  ?1 << 32 AS [:tag], ?2 AS [:with_ops], ?3 AS [:shift], ?4 AS [:same]";

static int exec(sqlite3 *sqlite, const char *sql)
{
	return sqlite3_exec(sqlite, sql, NULL, NULL, NULL);
}

/* The files are temporary: no journal, no sync. */
int merge_begin(sqlite3 *sqlite, int64_t start_ns, const struct same *same, struct merge **ret_merge)
{
	struct merge *merge = calloc(1, sizeof(*merge));
	char *start = sqlite3_mprintf("INSERT INTO main.meta VALUES ('start_ns', %lld)",
		(long long)start_ns);
	int r = merge && start ? SQLITE_OK : SQLITE_NOMEM;

	*ret_merge = merge;
	if (r == SQLITE_OK)
		*merge = (struct merge){ .sqlite = sqlite, .has_same = same->n > 0 };
	if (r == SQLITE_OK)
		r = exec(sqlite, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; "
				 "PRAGMA temp_store = FILE; PRAGMA temp.journal_mode = OFF; PRAGMA cache_size = -65536");
	if (r == SQLITE_OK)
		r = same_register(sqlite, same);
	if (r == SQLITE_OK)
		r = exec(sqlite, sql_schema);
	if (r == SQLITE_OK)
		r = exec(sqlite, sql_views);
	if (r == SQLITE_OK)
		r = exec(sqlite, sql_steps);
	if (r == SQLITE_OK)
		r = exec(sqlite, "CREATE TEMP TABLE facts (key, value);"
				 "CREATE INDEX temp.facts_end ON facts (value) WHERE key = 'end_ns';"
				 "CREATE TEMP TABLE came (id INTEGER PRIMARY KEY, place, system, dev, ino, birth,"
				 "  deleted, found, first_t, host, machine, said, loose);"
				 "CREATE TEMP TABLE before AS SELECT * FROM came;"
				 "CREATE INDEX temp.before_id ON before (id);"
				 "CREATE INDEX temp.before_ino ON before (ino);"
				 "CREATE INDEX temp.before_place ON before (place);"
				 "CREATE TEMP TABLE known (old INTEGER PRIMARY KEY, new INTEGER, verdict);"
				 "CREATE TEMP TABLE same (old INTEGER PRIMARY KEY, new INTEGER, tag INTEGER);"
				 "CREATE TEMP TABLE tags (handle INTEGER PRIMARY KEY, tag INTEGER);"
				 "CREATE TEMP TABLE kept (file INTEGER PRIMARY KEY);"
				 "CREATE TEMP TABLE last_ops (last INTEGER PRIMARY KEY);");
	if (r == SQLITE_OK)
		r = merge_versions_begin(sqlite);
	if (r == SQLITE_OK)
		r = exec(sqlite, start);
	sqlite3_free(start);
	return r;
}

bool merge_switch(struct merge *merge, const char *path, bool is_alike)
{
	return merge->is_attached && (is_alike ? relay_lead(&merge->relay, path) : relay_switch(&merge->relay, path));
}

int merge_detach(struct merge *merge)
{
	int r = SQLITE_OK;

	relay_finish(&merge->relay);
	if (merge->is_attached)
		r = exec(merge->sqlite, "DETACH one");
	merge->is_attached = false;
	return r;
}

int merge_attach(struct merge *merge, const char *uri)
{
	char *attach = sqlite3_mprintf("ATTACH %Q AS one", uri);
	int r = attach ? merge_detach(merge) : SQLITE_NOMEM;

	if (r == SQLITE_OK)
		r = exec(merge->sqlite, attach);
	sqlite3_free(attach);
	merge->is_attached = r == SQLITE_OK;
	if (merge->is_attached)
		relay_init(&merge->relay, merge->sqlite, "one");
	return r;
}

static int prepare_step(struct merge *merge, const char **sql)
{
	sqlite3_stmt *stmt;
	int r = sqlite3_prepare_v2(merge->sqlite, *sql, -1, &stmt, sql);

	if (r == SQLITE_OK && stmt && vector_push(merge->steps, merge->n_steps, stmt) < 0) {
		sqlite3_finalize(stmt);
		return SQLITE_NOMEM;
	}
	return r;
}

static int prepare(struct merge *merge)
{
	const char *sql = sql_merge;
	int r = merge->offsets ? SQLITE_OK : sqlite3_prepare_v2(merge->sqlite, offsets_sql, -1, &merge->offsets, NULL);

	while (r == SQLITE_OK && !merge->is_prepared && *sql)
		r = prepare_step(merge, &sql);
	merge->is_prepared = r == SQLITE_OK;
	return r;
}

/* The column of the offsets that has the name of the parameter. */
static int offset_of(const struct merge *merge, const char *parameter)
{
	int i = sqlite3_column_count(merge->offsets) - 1;

	while (i > 0 && strcmp(sqlite3_column_name(merge->offsets, i), parameter) != 0)
		i--;
	return i;
}

static int run_step(struct merge *merge, sqlite3_stmt *step)
{
	int r;

	for (int i = 1; i <= sqlite3_bind_parameter_count(step); i++)
		sqlite3_bind_int64(step, i, sqlite3_column_int64(merge->offsets,
			offset_of(merge, sqlite3_bind_parameter_name(step, i))));
	r = sqlite3_step(step);
	sqlite3_reset(step);
	return r == SQLITE_DONE ? SQLITE_OK : sqlite3_errcode(merge->sqlite);
}

static int run_steps(struct merge *merge, bool with_ops, int64_t shift_ns)
{
	int r;

	sqlite3_bind_int(merge->offsets, 1, merge->n_traces++);
	sqlite3_bind_int(merge->offsets, 2, with_ops);
	sqlite3_bind_int64(merge->offsets, 3, shift_ns);
	sqlite3_bind_int(merge->offsets, 4, merge->has_same);
	r = sqlite3_step(merge->offsets) == SQLITE_ROW ? SQLITE_OK : sqlite3_errcode(merge->sqlite);
	for (int i = 0; i < merge->n_steps && r == SQLITE_OK; i++)
		r = run_step(merge, merge->steps[i]);
	return r == SQLITE_OK ? sqlite3_reset(merge->offsets) : r; /* a reset would replace the error's text */
}

int merge_add(struct merge *merge, bool with_ops, int64_t shift_ns)
{
	int r = prepare(merge);

	if (r == SQLITE_OK)
		r = exec(merge->sqlite, "BEGIN");
	if (r == SQLITE_OK)
		r = run_steps(merge, with_ops, shift_ns);
	/* At each commit SQLite goes through all pages that are not in the temporary file. */
	if (r == SQLITE_OK && merge->n_traces % 16 == 0)
		r = sqlite3_db_cacheflush(merge->sqlite);
	return r == SQLITE_OK ? exec(merge->sqlite, "COMMIT") : r;
}

int merge_end(struct merge *merge)
{
	/* One transaction: at the end of each, SQLite goes through its pages. */
	int r = merge_detach(merge);

	if (r == SQLITE_OK)
		r = exec(merge->sqlite, "BEGIN; INSERT OR REPLACE INTO main.meta SELECT key, CASE"
				    " WHEN key IN ('job', 'xform', 'mixed_file') THEN NULL"
				    " WHEN (key = 'layers' OR key IN (" ORIGIN_KEYS ")) AND count(*) < (SELECT count(*) FROM facts WHERE key = 'start_ns') THEN NULL"
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
			"DELETE FROM main.doubts WHERE verdict = 'files_replaced' AND (SELECT f.state & 2 OR EXISTS (SELECT 1"
			"    FROM main.names m JOIN main.paths q ON q.id = m.path WHERE m.file = f.id AND q.path = d.path"
			"    AND m.to_t NOTNULL) FROM main.paths d JOIN main.paths p ON p.path = d.path JOIN main.names n ON p.id = n.path"
			"    JOIN main.files f ON f.id = n.file"
			"  WHERE d.id = doubts.path AND n.file IN (doubts.file, doubts.other) ORDER BY n.from_t LIMIT 1);"
			"INSERT INTO main.meta SELECT verdict, count(*) FROM main.doubts GROUP BY verdict;"
			"INSERT INTO main.meta SELECT verdict || '_path', min(p.path) FROM main.doubts d JOIN main.paths p ON p.id = d.path"
			"  GROUP BY verdict;"
			"INSERT INTO main.meta SELECT 'merged', count(*) FROM main.parts");
	if (r == SQLITE_OK)
		r = merge_versions(merge->sqlite);
	if (r == SQLITE_OK)
		r = exec(merge->sqlite, "COMMIT");
	if (r == SQLITE_OK)
		r = exec(merge->sqlite, sql_refill);
	if (r == SQLITE_OK)
		r = exec(merge->sqlite, sql_sum);
	if (r == SQLITE_OK)
		r = merge_starts(merge->sqlite);
	return r == SQLITE_OK ? exec(merge->sqlite, sql_finish) : r;
}

void merge_destroy(struct merge *merge)
{
	if (!merge)
		return;
	for (int i = 0; i < merge->n_steps; i++)
		sqlite3_finalize(merge->steps[i]);
	free(merge->steps);
	sqlite3_finalize(merge->offsets);
	relay_finish(&merge->relay);
	free(merge);
}
