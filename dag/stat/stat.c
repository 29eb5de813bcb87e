/* SPDX-License-Identifier: MIT */
#include "dag/stat/stat.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "dag/trace/choice.h"
#include "dag/trace/compose.h"
#include "db/query.h"

/* Options that some tables have. */
enum {
	BY = 1,
	PER = 2,
	OF = 4,
	PICTURE = 8,
	MEMORY = 16,
	SIZES = 32,
	TIME = 64,
	CHOICE = 128,
	OPERATION = 256
};

static const struct stat_kind {
	const char *name;
	int (*fill)(struct stat_run *run);
	bool ops; /* looks at single operations */
	int options;
	const char *queries; /* names; "values." is completed by --of */
	const char *help;
} kinds[] = {
	{ "overview", stat_overview, false, 0, "overview", "the run in a few lines" },
	{ "io", stat_io, false, BY | PER | CHOICE, "io", "bytes and operations, read and written" },
	{ "mem", stat_mem, false, BY | PER | CHOICE | MEMORY, "mem.process mem.job",
		"peak resident memory" },
	{ "run", stat_run_times, false, BY | PER | CHOICE, "run", "run times" },
	{ "util", stat_util, false, BY | PER | CHOICE, "util",
		"use of the processor, and where the rest of the time went" },
	{ "sys", stat_sys, true, BY | CHOICE | OPERATION, "sys",
		"number and latency of operations" },
	{ "phase", stat_phase, false, BY | CHOICE, "phase.processes phase.jobs phase",
		"jobs, bytes, and what was only read, only written, both or neither" },
	{ "file", stat_file, true, CHOICE, "file file.plain file.reads",
		"files: how many processes read and wrote them, how much, how often again" },
	{ "proc", stat_proc, false, CHOICE, "proc",
		"processes, as pprof of wfprof lists them, and more" },
	{ "handle", stat_handle, false, CHOICE, "handle",
		"open files, as ioprof of wfprof lists them, and more" },
	{ "pattern", stat_pattern, true, BY | CHOICE | SIZES | OPERATION, "pattern pattern.handles",
		"how files are accessed: order, sizes, alignment" },
	{ "hist", stat_hist, true, BY | OF | PICTURE | CHOICE | OPERATION, "values.",
		"histogram of --of" },
	{ "cdf", stat_cdf, true, BY | OF | PICTURE | CHOICE | OPERATION, "values.",
		"cumulative distribution of --of" },
	{ "time", stat_time, true, PICTURE | CHOICE | TIME | OPERATION, "time",
		"what went on in each interval" },
	{ "errors", stat_errors, true, BY | CHOICE | OPERATION, "errors",
		"operations that failed" },
	{ "list", stat_list, true, CHOICE | OPERATION, "list",
		"what happened, one thing after the other" },
};
#define KIND_MAX (sizeof(kinds) / sizeof(kinds[0]))

static const char *const values[] = { "latency", "read-size", "write-size", "bytes-read",
	"bytes-written", "lifetime", "file-size", "rss", NULL };
#define VALUES_OF_OPS 3 /* the first ones */

static const struct stat_kind *find_kind(const char *name)
{
	for (size_t i = 0; i < KIND_MAX; i++)
		if (strcmp(kinds[i].name, name ? name : "overview") == 0)
			return &kinds[i];
	return NULL;
}

bool stat_is_table(const char *name)
{
	return find_kind(name) != NULL;
}

void stat_print_tables(FILE *out)
{
	for (size_t i = 0; i < KIND_MAX; i++)
		fprintf(out, "  %-18s %s\n", kinds[i].name, kinds[i].help);
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

static int check_of(const struct stat_options *o, const struct stat_kind *kind)
{
	if (!(kind->options & OF))
		return o->of ? err_status(EXIT_USAGE, "--of is for hist and cdf, not for %s",
				       kind->name)
			     : 0;
	if (!o->of)
		return err_status(EXIT_USAGE,
			"%s needs --of: latency, read-size, write-size, bytes-read, "
			"bytes-written, lifetime, file-size or rss",
			kind->name);
	return find_value(o->of) >= 0 ? 0
				      : err_status(EXIT_USAGE,
						"no distribution of '%s': --of must be "
						"latency, read-size, write-size, bytes-read, "
						"bytes-written, lifetime, file-size or rss",
						o->of);
}

/* An option that a table does not have is an error: it would be thought to have done something. */
int stat_check(const struct stat_options *o)
{
	const struct stat_kind *kind = find_kind(o->table);
	const struct {
		int option;
		bool given;
		const char *complaint;
	} checks[] = {
		{ BY, o->by.n, "%s cannot be grouped: leave --by out" },
		{ PER, o->per_given, "--per is for io, mem, run and util, not for %s" },
		{ PICTURE, o->svg || o->png || o->gnuplot,
			"there are pictures of hist, cdf and time, not of %s" },
		{ MEMORY, o->memory_bytes, "--memory is for mem, not for %s" },
		{ SIZES, o->sizes_given, "--sizes is for pattern, not for %s" },
		{ TIME, o->interval_given, "--interval is for time, not for %s" },
		{ TIME, o->files, "--files is for time, not for %s" },
		{ CHOICE, choice_is_any(&o->choice),
			"%s is of the whole run: leave out what chooses from it" },
		{ OPERATION, o->choice.operations.n,
			"--operation is for tables of single operations, not for %s" },
	};

	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++)
		if (checks[i].given && !(kind->options & checks[i].option))
			return err_status(EXIT_USAGE, checks[i].complaint, kind->name);
	if (o->choice.operations.n && !stat_needs_ops(o))
		return err_status(EXIT_USAGE,
			"--operation is for distributions of single operations, not of %s", o->of);
	if (kind->fill == stat_errors &&
		(has_by(o, "file") || has_by(o, "path") || has_by(o, "operation")))
		return err_status(EXIT_USAGE,
			"errors has a row for each operation and path anyway: leave them "
			"out of --by");
	if (kind->fill == stat_pattern && has_by(o, "operation"))
		return err_status(EXIT_USAGE,
			"pattern has a row for each operation anyway: leave it out of --by");
	if (o->files && (o->svg || o->png || o->gnuplot))
		return err_status(EXIT_USAGE,
			"there is no picture of the files of each interval: leave --files "
			"or the picture out");
	return check_of(o, kind);
}

bool stat_needs_ops(const struct stat_options *o)
{
	const struct stat_kind *kind = find_kind(o->table);

	return kind->ops && (!o->of || find_value(o->of) < VALUES_OF_OPS);
}

int stat_table(struct stat_run *run)
{
	return find_kind(run->options->table)->fill(run);
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
	const char *name = o->files ? "time.files" : find_kind(o->table)->queries;
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
	const char *fidelity = query_fact_text(run->db, "fidelity");

	if (!fidelity)
		table_note(run->table, "Files were not traced.");
	else if (strcmp(fidelity, "exact") == 0)
		table_note(run->table,
			"Fidelity exact: reads and writes as the programs made them; of mapped "
			"files, as the page cache made them.");
	else if (strcmp(fidelity, "cached") == 0)
		table_note(run->table,
			"Fidelity cached: reads as the page cache made them, not the "
			"programs; what it had already is not counted.");
	else if (strcmp(fidelity, "open") == 0)
		table_note(run->table,
			"Fidelity open: reads and writes were not seen; '-' is not 0.");
	else
		table_note(run->table,
			"Fidelity %s: not all numbers of reads and writes mean the same.",
			fidelity);
}

void stat_note_no_ops(struct stat_run *run, const char *what)
{
	table_note(run->table,
		"%s not known: single operations were not recorded (--no-ops, or a trace of "
		"procmon).",
		what);
}
