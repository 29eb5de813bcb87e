/* SPDX-License-Identifier: MIT */
#include "dag/stat/stat.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/failure.h"
#include "dag/stat/tables.h"
#include "dag/trace/compose.h"
#include "dag/trace/traces.h"
#include "db/event.h"
#include "db/query.h"

#define DECLARE(name) extern const struct stat_table stat_##name##_table;
STAT_TABLES(DECLARE)
#define POINTER(name) &stat_##name##_table,
static const struct stat_table *const tables[] = { STAT_TABLES(POINTER) };
#define TABLE_MAX (sizeof(tables) / sizeof(tables[0]))

const char *const stat_values[] = { "latency", "read-size", "write-size", "bytes-read",
	"bytes-written", "lifetime", "file-size", "rss", NULL };
#define VALUES_OF_OPS 3 /* the first ones */

const struct stat_table *stat_find_table(const char *name)
{
	for (size_t i = 0; i < TABLE_MAX; i++)
		if (strcmp(tables[i]->name, name ? name : "overview") == 0)
			return tables[i];
	return NULL;
}

void stat_print_tables(FILE *out)
{
	for (size_t i = 0; i < TABLE_MAX; i++)
		fprintf(out, "  %-10s %s\n", tables[i]->name, tables[i]->help);
}

int stat_find_value(const char *of)
{
	for (int i = 0; stat_values[i]; i++)
		if (strcmp(stat_values[i], of) == 0)
			return i;
	return -1;
}

bool stat_needs_ops(const struct stat_options *o)
{
	const struct stat_table *table = stat_find_table(o->table);

	return table->needs_ops && (!o->of || stat_find_value(o->of) < VALUES_OF_OPS);
}

int stat_table(struct stat_run *run)
{
	const struct stat_table *table = stat_find_table(run->options->table);

	table_narrow(run->table, table->narrow);
	return table->fill(run);
}

int stat_look(struct stat_run *run)
{
	struct query *query;
	int r = traces_query(run->db, "any-op", "has_ops", &run->options->choice, &query, NULL,
		run->failure);

	if (r == 0)
		r = traces_next(run->db, query, run->failure);
	run->has_files = query_fact_text(run->db, "fidelity") != NULL;
	/* A run without operations is known to have none. */
	run->has_ops = (r > 0 && query_int(query, 0)) ||
		       (run->has_files && query_fact(run->db, "ops_recorded", -1) == 0);
	query_end(query);
	return r < 0 ? r : 0;
}

/* ---- queries ---- */

void stat_columns(struct table *table, const struct query *query, int first, int last)
{
	for (int i = first; i <= last; i++)
		table_column(table, query_name(query, i), strlen(query_name(query, i)));
}

void stat_put(struct table *table, const struct query *query, int first, int last)
{
	const char *bytes;
	size_t len;

	for (int i = first; i <= last; i++)
		switch (query_type(query, i)) {
		case QUERY_INT:
			table_int(table, query_int(query, i));
			break;
		case QUERY_REAL:
			table_real(table, query_real(query, i));
			break;
		case QUERY_NULL:
			table_null(table);
			break;
		default:
			bytes = query_bytes(query, i, &len);
			table_text(table, bytes, len);
		}
}

int stat_rows(struct stat_run *run, const char *name, bool changes)
{
	struct query *query;
	int r = traces_query(run->db, name, NULL, &run->options->choice, &query, NULL,
		run->failure);
	int last = r == 0 ? query_columns(query) - 1 : -1;

	stat_columns(run->table, query, 0, last);
	if (r == 0 && !changes)
		stat_stream(run);
	while (r == 0 && (r = traces_next(run->db, query, run->failure)) > 0) {
		stat_put(run->table, query, 0, last);
		r = 0;
	}
	query_end(query);
	return r;
}

int stat_rows_total(struct stat_run *run, const char *name)
{
	int r = stat_rows(run, name, false);

	if (r == 0 && table_rows(run->table))
		table_total(run->table);
	return r;
}

void stat_stream(struct stat_run *run)
{
	if (run->to_stdout && !run->options->sort && !run->options->columns && run->options->top < 0)
		table_stream(run->table, &run->style, stdout);
}

static int print_query(const struct stat_options *o, const char *name, size_t len, bool last,
	FILE *out, struct failure *failure)
{
	char text[64];
	cleanup_free char *sql = NULL;
	int r;

	snprintf(text, sizeof(text), "%.*s%s", (int)len, name, name[len - 1] == '.' ? o->of : "");
	r = compose(text, &o->choice, &sql, NULL, failure);
	if (r == 0)
		fprintf(out, "-- %s\n%s;\n%s", text, sql, last ? "" : "\n");
	return r;
}

bool stat_is_by_step(const struct stat_options *o)
{
	const struct stat_table *table = stat_find_table(o->table);

	return table->steps && !o->long_form && !o->per_given;
}

int stat_sql(const struct stat_options *o, FILE *out, struct failure *failure)
{
	const struct stat_table *table = stat_find_table(o->table);
	const char *name = table->options & STAT_TIME ? stat_time_query(o) : stat_is_by_step(o) ? table->steps : table->queries;
	int r = 0;

	while (*name && r == 0) {
		size_t len = strcspn(name, " ");

		r = print_query(o, name, len, !name[len], out, failure);
		name += len + strspn(name + len, " ");
	}
	return r;
}

/* ---- notes ---- */

void stat_blank(struct stat_run *run, const char *columns)
{
	char name[64];

	for (size_t len; *columns; columns += len + (columns[len] == ' ')) {
		len = strcspn(columns, " ");
		snprintf(name, sizeof(name), "%.*s", (int)len, columns);
		for (size_t row = 0; row < table_rows(run->table); row++)
			table_set_null(run->table, row, table_find(run->table, name));
	}
}

void stat_note_fidelity(struct stat_run *run)
{
	static const char *const meaning[FIDELITY_MAX] = {
		[FIDELITY_EXACT] = "reads and writes as the programs made them; of mapped files, as the page "
				   "cache made them.",
		[FIDELITY_CACHED] = "reads as the page cache made them, not the programs; data that it had already "
				    "are not counted.",
		[FIDELITY_OPEN] = "reads and writes were not seen; '-' is not 0.",
		[FIDELITY_CALL] = "reads and writes as the programs made them; accesses to mapped files were not "
				  "seen.",
	};
	const char *name = query_fact_text(run->db, "fidelity");
	int fidelity = name ? event_parse_fidelity(name) : -EINVAL;

	if (!name)
		table_note(run->table, "Files were not traced.");
	else if (fidelity >= 0)
		table_note(run->table, "Fidelity %s: %s", name, meaning[fidelity]);
	else
		table_note(run->table,
			"Fidelity %s: not all numbers of reads and writes mean the same.", name);
}

void stat_note_no_calls(struct stat_run *run)
{
	if (!query_fact_text(run->db, "layers"))
		table_note(run->table, "No calls of libraries were recorded: ftrac run --layer lib,mpi records them.");
}

void stat_note_no_ops(struct stat_run *run, const char *what)
{
	table_note(run->table,
		"%s unknown: single operations were not recorded (--no-ops, or a trace of "
		"procmon).",
		what);
}
