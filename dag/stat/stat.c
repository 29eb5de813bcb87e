/* SPDX-License-Identifier: MIT */
#include "dag/stat/stat.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "dag/stat/tables.h"
#include "dag/trace/choice.h"
#include "dag/trace/compose.h"
#include "db/event.h"
#include "db/query.h"

#define DECLARE(name) extern const struct stat_table stat_##name##_table;
STAT_TABLES(DECLARE)
#define POINTER(name) &stat_##name##_table,
static const struct stat_table *const tables[] = { STAT_TABLES(POINTER) };
#define TABLE_MAX (sizeof(tables) / sizeof(tables[0]))

static const char *const values[] = { "latency", "read-size", "write-size", "bytes-read",
	"bytes-written", "lifetime", "file-size", "rss", NULL };
#define VALUES_OF_OPS 3 /* the first ones */

static const struct stat_table *find_table(const char *name)
{
	for (size_t i = 0; i < TABLE_MAX; i++)
		if (strcmp(tables[i]->name, name ? name : "overview") == 0)
			return tables[i];
	return NULL;
}

bool stat_is_table(const char *name)
{
	return find_table(name) != NULL;
}

void stat_print_tables(FILE *out)
{
	for (size_t i = 0; i < TABLE_MAX; i++)
		fprintf(out, "  %-18s %s\n", tables[i]->name, tables[i]->help);
}

static int find_value(const char *of)
{
	for (int i = 0; values[i]; i++)
		if (strcmp(values[i], of) == 0)
			return i;
	return -1;
}

/* Is it one of the things to group by? */
static bool has_by(const struct stat_options *o, const char *name)
{
	size_t len = strlen(name);

	for (int i = 0; i < o->by.n; i++)
		for (const char *at = o->by.word[i]; *at; at += strcspn(at, ","), at += *at == ',')
			if (strcspn(at, ",") == len && strncmp(at, name, len) == 0)
				return true;
	return false;
}

static int check_of(const struct stat_options *o, const struct stat_table *table)
{
	if (!(table->options & STAT_OF))
		return o->of ? err_status(EXIT_USAGE, "--of is for hist and cdf, not for %s",
				       table->name)
			     : 0;
	if (!o->of)
		return err_status(EXIT_USAGE,
			"%s needs --of: latency, read-size, write-size, bytes-read, "
			"bytes-written, lifetime, file-size or rss",
			table->name);
	return find_value(o->of) >= 0 ? 0
				      : err_status(EXIT_USAGE,
						"no distribution of '%s': --of must be "
						"latency, read-size, write-size, bytes-read, "
						"bytes-written, lifetime, file-size or rss",
						o->of);
}

static bool has_own_key(const struct stat_options *o, const struct stat_table *table)
{
	char name[32];

	for (const char *at = table->own_keys; *at; at += strcspn(at, " "), at += *at == ' ') {
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(at, " "), at);
		if (has_by(o, name))
			return true;
	}
	return false;
}

/* An option that a table does not have is an error: it would be thought to have done something. */
int stat_check(const struct stat_options *o)
{
	const struct stat_table *table = find_table(o->table);
	const struct {
		int option;
		bool given;
		const char *complaint;
	} checks[] = {
		{ STAT_BY, o->by.n, "%s cannot be grouped: leave --by out" },
		{ STAT_PER, o->per_given, "--per is for io, mem, run and util, not for %s" },
		{ STAT_PICTURE, o->svg || o->png || o->gnuplot,
			"there are pictures of hist, cdf and time, not of %s" },
		{ STAT_MEMORY, o->memory_bytes, "--memory is for mem, not for %s" },
		{ STAT_SIZES, o->sizes_given, "--sizes is for pattern, not for %s" },
		{ STAT_TIME, o->interval_given, "--interval is for time, not for %s" },
		{ STAT_TIME, o->files, "--files is for time, not for %s" },
		{ STAT_CHOICE, choice_is_any(&o->choice),
			"%s is of the whole run: leave out what chooses from it" },
		{ STAT_OPERATION, o->choice.operations.n,
			"--operation is for tables of single operations, not for %s" },
	};

	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++)
		if (checks[i].given && !(table->options & checks[i].option))
			return err_status(EXIT_USAGE, checks[i].complaint, table->name);
	if (o->choice.operations.n && !stat_needs_ops(o))
		return err_status(EXIT_USAGE,
			"--operation is for distributions of single operations, not of %s", o->of);
	if (table->own_keys && has_own_key(o, table))
		return err_status(EXIT_USAGE, "%s has a row for each of these anyway: leave them out of --by (%s)",
			table->name, table->own_keys);
	if (o->files && (o->svg || o->png || o->gnuplot))
		return err_status(EXIT_USAGE,
			"there is no picture of the files of each interval: leave --files "
			"or the picture out");
	return check_of(o, table);
}

bool stat_needs_ops(const struct stat_options *o)
{
	const struct stat_table *table = find_table(o->table);

	return table->needs_ops && (!o->of || find_value(o->of) < VALUES_OF_OPS);
}

int stat_table(struct stat_run *run)
{
	return find_table(run->options->table)->fill(run);
}

int stat_look(struct stat_run *run)
{
	struct query *query;
	const char *fidelity = query_fact_text(run->db, "fidelity");
	int status = stat_query(run, "any-op", "has_ops", &run->options->choice, &query, NULL), r = 0;

	run->has_files = fidelity != NULL;
	if (status == 0 && (r = stat_next(run, query)) < 0)
		status = EXIT_FAILURE;
	run->has_ops = r > 0 && query_int(query, 0);
	/* Nothing happened, and that is known. */
	if (run->has_files && query_fact(run->db, "ops_recorded", -1) == 0)
		run->has_ops = true;
	query_end(query);
	return status;
}

/* ---- queries ---- */

int stat_out_of_memory(void)
{
	return err_status(EXIT_OWN, "out of memory");
}

static int compose_or_complain(const char *name, const struct choice *choice, struct composed *ret)
{
	int r = compose(name, choice, ret);

	if (r == -EINVAL)
		return err_status(EXIT_USAGE, "%s", ret->error);
	return r < 0 ? stat_out_of_memory() : 0;
}

int stat_query(struct stat_run *run, const char *name, const char *columns, const struct choice *choice,
	struct query **ret_query, int *ret_keys)
{
	struct composed composed;
	int status = compose_or_complain(name, choice, &composed);

	*ret_query = NULL;
	if (status)
		return status;
	if (query_start(run->db, composed.sql, ret_query) < 0 ||
		(columns && query_bind(*ret_query, composed.keys, columns) < 0))
		status = err_status(EXIT_OWN, "query '%s' failed: %s", name, query_error(run->db));
	free(composed.sql);
	if (ret_keys)
		*ret_keys = composed.keys;
	return status;
}

int stat_next(struct stat_run *run, struct query *query)
{
	int r = query_next(query);

	if (r < 0)
		err_status(EXIT_OWN, "cannot read the trace: %s", query_error(run->db));
	return r < 0 ? -1 : r;
}

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
	int status = stat_query(run, name, NULL, &run->options->choice, &query, NULL), r = 1, last;

	if (status)
		return status;
	last = query_columns(query) - 1;
	stat_columns(run->table, query, 0, last);
	if (!changes)
		stat_stream(run);
	while ((r = stat_next(run, query)) > 0)
		stat_put(run->table, query, 0, last);
	query_end(query);
	return r < 0 ? EXIT_FAILURE : 0;
}

void stat_stream(struct stat_run *run)
{
	if (run->style.format != TABLE_TEXT && !run->options->sort && run->options->top < 0)
		table_stream(run->table, &run->style, stdout);
}

/* The queries of a table, with what stat_io() and its like ask for. */
static int print_query(const struct stat_options *o, const char *name, size_t len, bool last,
	FILE *out)
{
	char text[64];
	struct composed composed;
	int status;

	snprintf(text, sizeof(text), "%.*s%s", (int)len, name, name[len - 1] == '.' ? o->of : "");
	status = compose_or_complain(text, &o->choice, &composed);
	if (status == 0)
		fprintf(out, "-- %s\n%s;\n%s", text, composed.sql, last ? "" : "\n");
	free(composed.sql);
	return status;
}

int stat_sql(const struct stat_options *o, FILE *out)
{
	const char *name = o->files ? "time.files" : find_table(o->table)->queries;
	int status = 0;

	while (*name && status == 0) {
		size_t len = strcspn(name, " ");

		status = print_query(o, name, len, !name[len], out);
		name += len + strspn(name + len, " ");
	}
	return status;
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
		[FIDELITY_CACHED] = "reads as the page cache made them, not the programs; what it had already is "
				    "not counted.",
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

void stat_note_no_ops(struct stat_run *run, const char *what)
{
	table_note(run->table,
		"%s not known: single operations were not recorded (--no-ops, or a trace of "
		"procmon).",
		what);
}
