/* SPDX-License-Identifier: MIT */
#include "db/redact.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "db/sql.h"
#include "db/sql_text.h"

/* ---- what becomes of each column; '$' is the column of the row o ---- */

#define NUMBER "iif(typeof($) IN ('integer', 'real'), $, NULL)"
#define TEXT "hide($)"
#define RAW "CAST(hide($) AS BLOB)"
/* Of closed lists, which ftrac has written itself. */
#define OURS "iif($ GLOB '*[^A-Za-z0-9_|.:/+-]*', NULL, $)"
#define DIGITS "iif($ GLOB '*[^0-9,]*', NULL, $)"
/* Since the epoch. */
#define TIME "iif(typeof($) = 'integer', $ + (SELECT ns FROM temp.shift), NULL)"
#define WORDS "CASE WHEN json_valid($) THEN (SELECT json_group_array(hide(value)) FROM (SELECT value FROM json_each($) ORDER BY key)) ELSE hide($) END"
/* A program's name, which the kernel cut off: cut off as before. */
#define COMM "substr(hide(coalesce((SELECT base FROM (SELECT replace(value, rtrim(value, replace(value, '/', '')), '') AS base FROM"     \
	"	(SELECT (SELECT path FROM one.paths WHERE id = o.exe) AS value UNION ALL"                                                  \
	"	SELECT value FROM json_each(iif(json_valid(o.argv), o.argv, '[]')) WHERE key < 6)) WHERE substr(base, 1, 15) = $), $)), 1, 15)"
#define FACT_KEY "iif($ GLOB '*[^a-z0-9_]*', hide($), $)"
#define FACT                                                                                                                              \
	"CASE WHEN typeof($) = 'integer' AND o.key IN ('start_ns', 'end_ns', 'recording_stopped_ns') THEN $ + (SELECT ns FROM temp.shift)"  \
	"  WHEN o.key IN ('format', 'ftrac_version', 'kernel', 'cpu_model', 'fidelity', 'files', 'layers', 'transport', 'process_tier') THEN $" \
	"  WHEN o.key NOT IN ('mount_namespace', 'mount_connection') THEN hide($) END"


static const struct {
	const char *table, *column, *sql;
} decisions[] = {
	{ "meta", "key", FACT_KEY },
	{ "meta", "value", FACT },
	{ "runs", "host", TEXT },
	{ "runs", "job", TEXT },
	{ "runs", "xform", TEXT },
	{ "runs", "fidelity", OURS },
	{ "part_facts", "key", FACT_KEY },
	{ "part_facts", "value", FACT },
	{ "doubts", "verdict", OURS },
	{ "starts", "reason", OURS },
	{ "clocks", "boot", TIME },
	{ "hosts", "name", TEXT },
	{ "hosts", "boot_id", TEXT },
	{ "op_name", "name", OURS },
	{ "op_name", "paratrac", OURS },
	{ "via_name", "name", OURS },
	{ "fidelity_name", "name", OURS },
	{ "flag_text", "text", OURS },
	/* A path is hidden as a whole: whether it is kept does not depend on its directory alone. */
	{ "directories", "path", "''" },
	{ "path_names", "directory", "NULL" },
	{ "path_names", "name", "coalesce((SELECT hide(path) FROM one.paths p WHERE p.id = o.id), '')" },
	{ "mounts", "fstype", OURS },
	{ "mounts", "path", TEXT },
	{ "mounts", "root", TEXT },
	{ "mounts", "source", TEXT },
	{ "mounts", "fsid", TEXT },
	{ "files", "birth", TIME },
	{ "images", "comm", COMM },
	{ "images", "argv", WORDS },
	{ "images", "argv_raw", RAW },
	{ "environs", "name", TEXT },
	{ "environs", "value", TEXT },
	{ "sockets", "host", TEXT },
	{ "call_name", "name", OURS },
	{ "call_name", "layer", OURS },
	{ "call_name", "class", OURS },
	{ "metrics", "latencies", DIGITS },
	{ "metrics", "sizes", DIGITS },
	{ "outputs", "rule", TEXT },
	{ "rules", "rule", TEXT },
	{ "rules", "task", TEXT },
	{ "jobs", "job", TEXT },
	{ "jobs", "xform", TEXT },
	{ "jobs", "phase", TEXT },
	{ "jobs", "step", TEXT },
	{ "jobs", "task", TEXT },
	{ "jobs", "label", TEXT },
	{ "programs", "name", TEXT },
	{ "programs", "title", TEXT },
};

/* All texts that put() will get, by what they are; numbers that have a meaning stay. */
static const char texts_sql[] =
	"SELECT 'number', CAST(pid AS TEXT) FROM one.processes UNION ALL "
	"SELECT 'path', path FROM one.paths UNION ALL SELECT 'path', path FROM one.mounts"
	" UNION ALL SELECT 'path', root FROM one.mounts UNION ALL SELECT 'text', source FROM one.mounts UNION ALL SELECT 'text', fsid FROM one.mounts"
	" UNION ALL SELECT iif(key IN ('host', 'user'), 'owner', 'text'), value FROM one.meta"
	" UNION ALL SELECT iif(key IN ('host', 'user'), 'owner', 'text'), value FROM one.part_facts"
	" UNION ALL SELECT 'owner', host FROM one.runs UNION ALL SELECT 'owner', name FROM one.hosts UNION ALL SELECT 'owner', host FROM one.sockets"
	" UNION ALL SELECT 'text', boot_id FROM one.hosts"
	" UNION ALL SELECT 'text', job FROM one.runs UNION ALL SELECT 'text', xform FROM one.runs"
	" UNION ALL SELECT 'text', key FROM one.meta WHERE key GLOB '*[^a-z0-9_]*' UNION ALL SELECT 'text', key FROM one.part_facts WHERE key GLOB '*[^a-z0-9_]*'"
	" UNION ALL SELECT 'text', comm FROM one.images UNION ALL SELECT 'text', argv_raw FROM one.images"
	" UNION ALL SELECT 'text', value FROM one.images, json_each(iif(json_valid(argv), argv, '[]'))"
	" UNION ALL SELECT 'text', argv FROM one.images WHERE NOT json_valid(argv)"
	" UNION ALL SELECT 'text', name FROM one.environs"
	" UNION ALL SELECT iif(name GLOB '*_RANK' AND value NOT GLOB '*[^0-9]*', 'number', 'text'), value FROM one.environs"
	" UNION ALL SELECT 'text', rule FROM one.outputs UNION ALL SELECT 'text', rule FROM one.rules UNION ALL SELECT 'text', task FROM one.rules"
	" UNION ALL SELECT iif(job NOT GLOB '*[^0-9]*' AND CAST(job AS INTEGER) IN (SELECT id FROM one.processes), 'number', 'text'), job FROM one.jobs"
	" UNION ALL SELECT 'text', xform FROM one.jobs UNION ALL SELECT 'text', phase FROM one.jobs UNION ALL SELECT 'text', step FROM one.jobs"
	" UNION ALL SELECT 'text', task FROM one.jobs UNION ALL SELECT 'text', label FROM one.jobs"
	" UNION ALL SELECT 'text', name FROM one.programs UNION ALL SELECT 'text', title FROM one.programs";

const char *redact_entry(int i, const char **ret_column)
{
	if ((size_t)i >= sizeof(decisions) / sizeof(decisions[0]))
		return NULL;
	*ret_column = decisions[i].column;
	return decisions[i].table;
}

const char *redact_decision(const char *table, const char *column, const char *type)
{
	for (size_t i = 0; i < sizeof(decisions) / sizeof(decisions[0]); i++)
		if (strcmp(decisions[i].table, table) == 0 && strcmp(decisions[i].column, column) == 0)
			return decisions[i].sql;
	return strcmp(type, "INTEGER") == 0 ? NUMBER : NULL;
}

/* ---- the new trace ---- */

static int exec(sqlite3 *sqlite, const char *sql)
{
	return sqlite3_exec(sqlite, sql, NULL, NULL, NULL);
}

/* finish.sql puts the views of a complete trace in the place of others. */
int redact_begin(sqlite3 *sqlite)
{
	const char *sql[] = { "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA temp_store = FILE; PRAGMA cache_size = -65536",
		sql_schema, sql_views, sql_steps, sql_refill, sql_finish, "CREATE TEMP TABLE shift (ns INTEGER)" };
	int r = SQLITE_OK;

	for (size_t i = 0; i < sizeof(sql) / sizeof(sql[0]) && r == SQLITE_OK; i++)
		r = exec(sqlite, sql[i]);
	return r;
}

/* ---- texts ---- */

static bool is_text(const char *bytes, size_t len)
{
	for (size_t at = 0, n; at < len; at += n) {
		n = bytes[at] ? utf8_char(bytes + at, len - at) : 0;
		if (!n)
			return false;
	}
	return true;
}

/* hide(X): what stands for it; numbers and NULL stand for themselves.  What is no UTF-8 is a BLOB. */
static void hide(sqlite3_context *context, int n, sqlite3_value **values)
{
	const struct query_texts *texts = sqlite3_user_data(context);
	int type = sqlite3_value_type(values[0]);
	const char *bytes;
	size_t len;

	(void)n;
	if (type != SQLITE_TEXT && type != SQLITE_BLOB) {
		sqlite3_result_value(context, values[0]);
		return;
	}
	bytes = sqlite3_value_blob(values[0]);
	len = sqlite3_value_bytes(values[0]);
	if (len && (!bytes || texts->put(texts->arg, bytes, len, &bytes, &len) < 0))
		sqlite3_result_error_nomem(context);
	else if (len ? is_text(bytes, len) : type == SQLITE_TEXT)
		sqlite3_result_text64(context, len ? bytes : "", len, SQLITE_TRANSIENT, SQLITE_UTF8);
	else
		sqlite3_result_blob64(context, len ? bytes : "", len, SQLITE_TRANSIENT);
}

static enum query_text_kind kind_of(const char *name)
{
	return name[0] == 'p' ? QUERY_TEXT_PATH : name[0] == 'o' ? QUERY_TEXT_OWNER : name[0] == 'n' ? QUERY_TEXT_NUMBER : QUERY_TEXT_OTHER;
}

static int see_one(const struct query_texts *texts, sqlite3_stmt *row)
{
	int type = sqlite3_column_type(row, 1);
	const char *bytes;

	if (type != SQLITE_TEXT && type != SQLITE_BLOB)
		return SQLITE_OK;
	bytes = sqlite3_column_blob(row, 1);
	if (!bytes)
		return sqlite3_errcode(sqlite3_db_handle(row)) == SQLITE_NOMEM ? SQLITE_NOMEM : SQLITE_OK;
	return texts->see(texts->arg, kind_of((const char *)sqlite3_column_text(row, 0)), bytes, sqlite3_column_bytes(row, 1)) < 0 ? SQLITE_NOMEM
																 : SQLITE_OK;
}

static int see(sqlite3 *sqlite, const struct query_texts *texts)
{
	sqlite3_stmt *rows = NULL;
	int r = sqlite3_prepare_v2(sqlite, texts_sql, -1, &rows, NULL);

	while (r == SQLITE_OK && (r = sqlite3_step(rows)) == SQLITE_ROW)
		r = see_one(texts, rows);
	sqlite3_finalize(rows);
	return r == SQLITE_DONE ? SQLITE_OK : r;
}

/* ---- tables ---- */

static void put_decision(struct sql_text *out, const char *sql, const char *column)
{
	for (; *sql; sql++)
		if (*sql == '$')
			sql_text_format(out, "o.\"%w\"", column);
		else
			sql_text_put_bytes(out, sql, 1);
}

/* INSERT INTO the table, column by column; NULL: out of memory, or *ret_undecided is set. */
static char *copy_sql(sqlite3 *sqlite, const char *table, bool *ret_undecided)
{
	sqlite3_stmt *columns = NULL;
	struct sql_text *out = sql_text_create();
	int r = sqlite3_prepare_v2(sqlite, "SELECT name, type FROM pragma_table_info(?1, 'main')", -1, &columns, NULL);

	sqlite3_bind_text(columns, 1, table, -1, SQLITE_STATIC);
	sql_text_format(out, "INSERT INTO main.\"%w\" SELECT ", table);
	for (const char *between = ""; r == SQLITE_OK && (r = sqlite3_step(columns)) == SQLITE_ROW; r = SQLITE_OK, between = ", ") {
		const char *column = (const char *)sqlite3_column_text(columns, 0), *type = (const char *)sqlite3_column_text(columns, 1);
		const char *sql = column && type ? redact_decision(table, column, type) : NULL;

		sql_text_put(out, between);
		put_decision(out, sql ? sql : "NULL", column ? column : "");
		*ret_undecided |= !sql;
	}
	sqlite3_finalize(columns);
	sql_text_format(out, " FROM one.\"%w\" o", table);
	if (r == SQLITE_DONE && !*ret_undecided)
		return sql_text_finish(out);
	free(sql_text_finish(out));
	return NULL;
}

static int add_table(sqlite3 *sqlite, const char *table, struct sql_text *out)
{
	bool undecided = false;
	char *sql = copy_sql(sqlite, table, &undecided);

	if (!sql)
		return undecided ? SQLITE_MISUSE : SQLITE_NOMEM;
	sql_text_format(out, "%s;\n", sql);
	free(sql);
	return SQLITE_OK;
}

/* All in one text, which is run when no other statement is left: the end of that would replace the text of an error. */
static int copy_tables(sqlite3 *sqlite)
{
	sqlite3_stmt *tables = NULL;
	struct sql_text *out = sql_text_create();
	char *sql;
	int r = sqlite3_prepare_v2(sqlite, "SELECT name FROM main.sqlite_schema WHERE type = 'table' AND name NOT GLOB 'sqlite_*'", -1, &tables, NULL);

	while (r == SQLITE_OK && (r = sqlite3_step(tables)) == SQLITE_ROW)
		r = add_table(sqlite, (const char *)sqlite3_column_text(tables, 0), out);
	sqlite3_finalize(tables);
	sql = sql_text_finish(out);
	if (r == SQLITE_DONE)
		r = sql ? exec(sqlite, sql) : SQLITE_NOMEM;
	free(sql);
	return r;
}

int redact_copy(sqlite3 *sqlite, const struct query_texts *texts)
{
	char *shift = sqlite3_mprintf("BEGIN; INSERT INTO temp.shift VALUES (%lld)", (long long)texts->shift_ns);
	int r = shift ? SQLITE_OK : SQLITE_NOMEM;

	if (r == SQLITE_OK)
		r = sqlite3_create_function_v2(sqlite, "hide", 1, SQLITE_UTF8 | SQLITE_DIRECTONLY, (void *)texts, hide, NULL, NULL, NULL);
	if (r == SQLITE_OK)
		r = exec(sqlite, shift);
	if (r == SQLITE_OK)
		r = see(sqlite, texts);
	if (r == SQLITE_OK)
		r = copy_tables(sqlite);
	if (r == SQLITE_OK)
		r = exec(sqlite, "DELETE FROM main.directories; DELETE FROM main.meta WHERE key IN ('mount_namespace', 'mount_connection');"
				 "DELETE FROM main.part_facts WHERE key IN ('mount_namespace', 'mount_connection'); COMMIT");
	sqlite3_free(shift);
	return r;
}
