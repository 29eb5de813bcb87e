/* SPDX-License-Identifier: MIT */
#include "db/compose.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/sql.h"

/* What the rows of a query are made of. */
enum level {
	LEVEL_NONE,
	LEVEL_PROCESS,
	LEVEL_PART,
	LEVEL_USE,
	LEVEL_IMAGE,
	LEVEL_OP,
	LEVEL_FILE,
	LEVEL_MAX
};

static const char *const level_names[] = { "none", "process", "part", "use", "image", "op",
	"file" };
_Static_assert(sizeof(level_names) / sizeof(level_names[0]) == LEVEL_MAX, "a name for each level");

/* Tables that a query needs beside its own. */
enum need { NEED_PROC = 1, NEED_IMG = 2, NEED_FIL = 4 };

/*
 * What rows can be grouped by: the expression where there are processes only, where the program of the
 * moment is known, where there are files, where there are operations; and the columns that it needs.
 */
static const struct dimension {
	const char *name, *process, *image, *file, *op;
	const char *columns;
} dimensions[] = {
	{ "command", "p.program", "i.program", NULL, NULL, "program" },
	{ "exe", "p.exe", "i.exe", NULL, NULL, "exe" },
	{ "xform", "p.xform", NULL, NULL, NULL, "xform" },
	{ "job", "p.job", NULL, NULL, NULL, "job" },
	{ "phase", "p.phase", NULL, NULL, NULL, "phase" },
	{ "process", "p.id", NULL, NULL, NULL, "id" },
	{ "pid", "p.pid", NULL, NULL, NULL, "pid" },
	{ "host", "p.host", NULL, NULL, NULL, "host" },
	{ "file", NULL, NULL, "f.id", NULL, "id" },
	{ "path", NULL, NULL, "f.path", NULL, "path" },
	{ "directory", NULL, NULL, "f.directory", NULL, "directory" },
	{ "fstype", NULL, NULL, "f.fstype", NULL, "fstype" },
	{ "mount", NULL, NULL, "f.mount", NULL, "mount" },
	{ "operation", NULL, NULL, NULL, "o.name", "" },
	{ "all", "'all'", NULL, NULL, NULL, "" },
};

/* What is shown beside an id. */
static const struct {
	const char *name;
	const char *more[3];
} spread[] = { { "process", { "pid", "command" } }, { "file", { "path" } } };
#define SPREAD_MAX (sizeof(spread) / sizeof(spread[0]))

struct key {
	const struct dimension *dimension; /* NULL: a variable of the environment */
	const char *name;                  /* of the column */
	size_t len;
};

struct composer {
	const struct choice *choice;
	struct composed *ret;
	sqlite3_str *out;
	enum level level;
	struct key keys[4 * COMPOSE_BY_MAX];
	int n_keys;
	int needs;
	int failed; /* -errno */
};

/* ---- the queries of tables.sql ---- */

#define SECTION "\n--- "
#define PART "\n--+ "

const char *compose_name(int n, size_t *ret_len)
{
	const char *at = strstr(sql_tables, SECTION);

	for (; at && n > 0; n--)
		at = strstr(at + 1, SECTION);
	if (!at)
		return NULL;
	at += strlen(SECTION);
	*ret_len = strcspn(at, "\n");
	return at;
}

/* The head of a query, "NAME of WHAT by DIMENSIONS: ...". */
static const char *find_section(const char *name)
{
	size_t name_len = strlen(name), len;
	const char *head;

	for (int i = 0; (head = compose_name(i, &len)); i++)
		if (strncmp(head, name, name_len) == 0 && head[name_len] == ' ')
			return head;
	return NULL;
}

static enum level section_level(const char *head)
{
	const char *what = strstr(head, " of ") + 4;

	for (int i = 0; i < LEVEL_MAX; i++)
		if (strncmp(what, level_names[i], strlen(level_names[i])) == 0)
			return i;
	return LEVEL_NONE;
}

/* ---- what rows are grouped by ---- */

static bool has_processes(const struct composer *c)
{
	return c->level != LEVEL_NONE;
}

static bool has_files(const struct composer *c)
{
	return c->level == LEVEL_PART || c->level == LEVEL_USE || c->level == LEVEL_IMAGE ||
	       c->level == LEVEL_OP || c->level == LEVEL_FILE;
}

static bool has_images(const struct composer *c)
{
	return c->level == LEVEL_IMAGE || c->level == LEVEL_OP;
}

/* How a key is written here; NULL: it cannot be had. */
static const char *expression(const struct composer *c, const struct dimension *d)
{
	if (d->image && has_images(c))
		return d->image;
	if (d->process && has_processes(c))
		return d->process;
	if (d->file && has_files(c) && c->level != LEVEL_PART)
		return d->file;
	return c->level == LEVEL_OP ? d->op : NULL;
}

static void complain(struct composer *c, const char *format, const char *word, size_t len)
{
	if (c->failed == 0)
		snprintf(c->ret->error, sizeof(c->ret->error), format, (int)len, word);
	c->failed = -EINVAL;
}

static void add_need(struct composer *c, const char *expression_)
{
	c->needs |= strncmp(expression_, "p.", 2) == 0   ? NEED_PROC
		    : strncmp(expression_, "i.", 2) == 0 ? NEED_IMG
		    : strstr(expression_, "f.")          ? NEED_FIL
							 : 0;
}

/* NULL after a complaint. */
static const struct dimension *find_dimension(struct composer *c, const char *name, size_t len)
{
	const struct dimension *d = NULL;

	for (size_t i = 0; i < sizeof(dimensions) / sizeof(dimensions[0]); i++)
		if (strncmp(dimensions[i].name, name, len) == 0 && !dimensions[i].name[len])
			d = &dimensions[i];
	if (d && expression(c, d))
		return d;
	complain(c,
		!d ? "cannot group by '%.*s': it must be command, exe, xform, job, phase, process, "
		     "file, "
		     "directory, fstype, mount, host, operation, env:NAME or all"
		: d->op ? "cannot group by '%.*s' here: these are no single operations"
			: "cannot group by '%.*s' here: what belongs to a process has no file; see "
			  "'io', 'file' or "
			  "'handle'",
		name, len);
	return NULL;
}

static void add_key(struct composer *c, const char *name, size_t len)
{
	bool variable = len > 4 && strncmp(name, "env:", 4) == 0;
	const struct dimension *d = variable ? NULL : find_dimension(c, name, len);

	if (c->failed)
		return;
	for (int i = 0; i < c->n_keys; i++)
		if (d && c->keys[i].dimension == d)
			return;
	if (c->n_keys == sizeof(c->keys) / sizeof(c->keys[0])) {
		complain(c, "too many things to group by, from '%.*s' on", name, len);
		return;
	}
	if (variable)
		c->needs |= NEED_PROC;
	else
		add_need(c, expression(c, d));
	c->keys[c->n_keys++] = (struct key){ d, name, len };
}

/* NAME[,NAME...] */
static void add_keys(struct composer *c, const char *names, size_t len)
{
	const char *end = names + len, *comma;

	for (; names <= end && c->failed == 0; names = comma + 1) {
		size_t n;

		comma = memchr(names, ',', end - names);
		comma = comma ? comma : end;
		n = comma - names;
		add_key(c, names, n);
		for (size_t i = 0; i < SPREAD_MAX; i++)
			if (n == strlen(spread[i].name) && strncmp(names, spread[i].name, n) == 0)
				for (int k = 0; spread[i].more[k]; k++)
					add_key(c, spread[i].more[k], strlen(spread[i].more[k]));
	}
}

static void take_keys(struct composer *c, const char *head)
{
	const char *by = strstr(head, " by "), *end = strchr(head, ':');

	for (int i = 0; c->level != LEVEL_NONE && c->choice->by[i]; i++)
		add_keys(c, c->choice->by[i], strlen(c->choice->by[i]));
	if (!c->choice->by[0] && by && by < end)
		add_keys(c, by + 4, end - by - 4);
}

static void put_key(struct composer *c, const struct key *key)
{
	if (key->dimension)
		sqlite3_str_appendall(c->out, expression(c, key->dimension));
	else
		sqlite3_str_appendf(c->out,
			"(SELECT e.value FROM environ e WHERE e.image = p.image AND "
			"e.name = '%.*q')",
			(int)key->len - 4, key->name + 4);
}

static void put_name(struct composer *c, const struct key *key)
{
	sqlite3_str_appendf(c->out, "\"%.*w\"", (int)key->len, key->name);
}

static void put_keys(struct composer *c)
{
	for (int i = 0; i < c->n_keys; i++) {
		sqlite3_str_appendall(c->out, i ? ", " : "");
		put_key(c, &c->keys[i]);
		sqlite3_str_appendall(c->out, " AS ");
		put_name(c, &c->keys[i]);
	}
}

static void put_names(struct composer *c)
{
	for (int i = 0; i < c->n_keys; i++) {
		sqlite3_str_appendall(c->out, i ? ", " : "");
		put_name(c, &c->keys[i]);
	}
}

static void put_total(struct composer *c)
{
	sqlite3_str_appendall(c->out, "'Total'");
	for (int i = 1; i < c->n_keys; i++)
		sqlite3_str_appendall(c->out, ", NULL");
}

static void put_group(struct composer *c, int first)
{
	for (int i = 0; i < c->n_keys; i++)
		sqlite3_str_appendf(c->out, i ? ", %d" : "%d", first + i);
}

/* ---- conditions ---- */

enum subject { SUBJECT_FILE = 1, SUBJECT_PROCESS = 2, SUBJECT_EITHER = 3 };

static enum subject subject_of(const char **glob)
{
	if (strncmp(*glob, "path:", 5) == 0) {
		*glob += 5;
		return SUBJECT_FILE;
	}
	if (strncmp(*glob, "command:", 8) == 0) {
		*glob += 8;
		return SUBJECT_PROCESS;
	}
	return SUBJECT_EITHER;
}

static void put_file_match(struct composer *c, const char *glob)
{
	/* Names that are not UTF-8 are BLOBs, which match nothing. */
	sqlite3_str_appendf(c->out,
		strchr(glob, '/') ? "CAST(f.path AS TEXT) GLOB %Q"
				  : "replace(CAST(f.path AS TEXT), rtrim(f.path, replace(f.path, "
				    "'/', '')), '') GLOB %Q",
		glob);
}

static void put_process_match(struct composer *c, const char *glob, bool whole)
{
	sqlite3_str_appendf(c->out,
		whole || strchr(glob, ' ') ? "p.program GLOB %Q OR p.command GLOB %Q"
					   : "p.program GLOB %Q",
		glob, glob);
}

/* A condition on p and f; files: f is at hand, else the process is asked which files it used. */
static void put_match(struct composer *c, enum subject subject, const char *glob, bool files)
{
	sqlite3_str_appendall(c->out, "coalesce(");
	if (subject & SUBJECT_PROCESS)
		put_process_match(c, glob, subject == SUBJECT_PROCESS);
	if (subject == SUBJECT_EITHER)
		sqlite3_str_appendall(c->out, ", 0) OR coalesce(");
	if ((subject & SUBJECT_FILE) && !files)
		sqlite3_str_appendall(c->out,
			"p.id IN (SELECT a.process FROM access a JOIN file f ON "
			"f.id = a.file WHERE ");
	if (subject & SUBJECT_FILE)
		put_file_match(c, glob);
	sqlite3_str_appendall(c->out, (subject & SUBJECT_FILE) && !files ? "), 0)" : ", 0)");
}

static bool names_subject(const struct words *globs, int subjects)
{
	for (int i = 0; i < globs->n; i++) {
		const char *glob = globs->word[i];

		if ((1 << subject_of(&glob)) & subjects)
			return true;
	}
	return false;
}

#define ONLY(subject) (1 << (subject))
#define FILES_TOO (ONLY(SUBJECT_FILE) | ONLY(SUBJECT_EITHER))

static bool filters_files(const struct composer *c)
{
	return has_files(c) && (names_subject(&c->choice->include, FILES_TOO) ||
				       names_subject(&c->choice->exclude, FILES_TOO));
}

/* Do files make a difference? */
static bool chooses_files(const struct composer *c)
{
	if (!has_files(c))
		return false;
	for (int i = 0; i < c->n_keys; i++)
		if (c->keys[i].dimension && c->keys[i].dimension->file)
			return true;
	return filters_files(c) || (c->level == LEVEL_OP && c->choice->operations.n);
}

static bool chooses_processes(const struct composer *c)
{
	const struct choice *o = c->choice;
	int kinds = has_files(c) ? ONLY(SUBJECT_PROCESS) : -1;

	return has_processes(c) &&
	       (o->phase || o->job || o->process || names_subject(&o->include, kinds) ||
		       names_subject(&o->exclude, kinds));
}

static bool chooses_either(const struct composer *c)
{
	return names_subject(&c->choice->include, ONLY(SUBJECT_EITHER)) ||
	       names_subject(&c->choice->exclude, ONLY(SUBJECT_EITHER));
}

/* The globs of some kinds: one of those that include, none of those that exclude. */
static void put_globs(struct composer *c, const struct words *globs, int subjects, bool exclude,
	const char **between)
{
	const char *inner = "";

	if (!names_subject(globs, subjects))
		return;
	sqlite3_str_appendf(c->out, exclude ? "%sNOT (" : "%s(", *between);
	for (int i = 0; i < globs->n; i++) {
		const char *glob = globs->word[i];
		enum subject subject = subject_of(&glob);

		if (!(ONLY(subject) & subjects))
			continue;
		sqlite3_str_appendall(c->out, inner);
		put_match(c, subject, glob, has_files(c));
		inner = " OR ";
	}
	sqlite3_str_appendall(c->out, ")");
	*between = " AND ";
}

static void put_time(struct composer *c, const char *args, size_t len, const char **between)
{
	const struct choice *o = c->choice;
	const char *bar = memchr(args, '|', len);
	int first = bar ? (int)(bar - args) : (int)len;

	if (!bar || (!o->from_ns && !o->to_ns))
		return;
	while (first > 0 && args[first - 1] == ' ')
		first--;
	for (bar++; *bar == ' '; bar++)
		;
	/* What belongs to no time is not in it. */
	sqlite3_str_appendf(c->out,
		"%s%.*s >= (SELECT value FROM trace WHERE key = 'start_ns') + %lld", *between,
		(int)(args + len - bar), bar, (long long)o->from_ns);
	if (o->to_ns)
		sqlite3_str_appendf(c->out,
			" AND %.*s < (SELECT value FROM trace WHERE "
			"key = 'start_ns') + %lld",
			first, args, (long long)o->to_ns);
	*between = " AND ";
}

/* What is asked of processes alone; inside of proc. */
static void put_process_conditions(struct composer *c)
{
	static const char life[] = "p.start_ns | coalesce(p.end_ns, 9223372036854775807)";
	const struct choice *o = c->choice;
	const char *between = "\n\tWHERE ";

	if (o->phase)
		sqlite3_str_appendf(c->out, "%sp.phase = %Q", between, o->phase), between = " AND ";
	if (o->job)
		sqlite3_str_appendf(c->out, "%sp.job = %Q", between, o->job), between = " AND ";
	if (o->process)
		sqlite3_str_appendf(c->out, "%sp.id = %lld", between, (long long)o->process),
			between = " AND ";
	put_globs(c, &o->include, ONLY(SUBJECT_PROCESS), false, &between);
	put_globs(c, &o->exclude, ONLY(SUBJECT_PROCESS), true, &between);
	if (!has_files(c)) {
		put_globs(c, &o->include, ONLY(SUBJECT_FILE), false, &between);
		put_globs(c, &o->include, ONLY(SUBJECT_EITHER), false, &between);
		put_globs(c, &o->exclude, FILES_TOO, true, &between);
		put_time(c, life, strlen(life), &between);
	}
}

static void put_operations(struct composer *c, const char **between)
{
	const struct words *operations = &c->choice->operations;

	if (c->level != LEVEL_OP || !operations->n)
		return;
	sqlite3_str_appendf(c->out, "%so.name IN (", *between);
	for (int i = 0; i < operations->n; i++)
		sqlite3_str_appendf(c->out, i ? ", %Q" : "%Q", operations->word[i]);
	sqlite3_str_appendall(c->out, ")");
	*between = " AND ";
}

/* What is asked of the other rows. */
static void put_conditions(struct composer *c, const char *args, size_t len, const char *between)
{
	if (chooses_processes(c))
		sqlite3_str_appendf(c->out, "%sp.id IS NOT NULL", between), between = " AND ";
	if (has_files(c)) {
		put_globs(c, &c->choice->include, ONLY(SUBJECT_FILE), false, &between);
		put_globs(c, &c->choice->include, ONLY(SUBJECT_EITHER), false, &between);
		put_globs(c, &c->choice->exclude, FILES_TOO, true, &between);
	}
	put_operations(c, &between);
	put_time(c, args, len, &between);
}

/* The same as a value. */
static void put_chosen(struct composer *c, const char *args, size_t len)
{
	sqlite3_str *outer = c->out;
	char *conditions;

	c->out = sqlite3_str_new(NULL);
	put_conditions(c, args, len, "");
	conditions = sqlite3_str_finish(c->out);
	c->out = outer;
	sqlite3_str_appendf(c->out, conditions ? "(%s)" : "%s", conditions ? conditions : "1");
	sqlite3_free(conditions);
}

/* ---- the tables that others are joined with ---- */

static bool is_word(const char *words, size_t len, const char *word)
{
	size_t n = strlen(word);

	for (const char *at = words; at + n <= words + len; at++)
		if (strncmp(at, word, n) == 0 && (at == words || at[-1] == ' ') &&
			(at + n == words + len || at[n] == ' '))
			return true;
	return false;
}

/* A column of proc, if anybody needs it. */
static void put_column(struct composer *c, const char *column, const char *wanted, size_t len)
{
	bool needed = is_word(wanted, len, column) || is_word(wanted, len, "*");
	const struct choice *o = c->choice;

	for (int i = 0; i < c->n_keys && !needed; i++) {
		const struct dimension *d = c->keys[i].dimension;

		needed = d ? d->process && strcmp(d->columns, column) == 0
			   : !strcmp(column, "image");
	}
	if (!strcmp(column, "program") || !strcmp(column, "command"))
		needed |= o->include.n || o->exclude.n;
	if (!strcmp(column, "end_ns"))
		needed |= (o->from_ns || o->to_ns) && c->level != LEVEL_OP;
	if (!strcmp(column, "job"))
		needed |= o->job || o->per_job;
	if (!strcmp(column, "phase"))
		needed |= o->phase != NULL;
	if (needed && strcmp(column, "phase") == 0 && o->phases.n)
		sqlite3_str_appendall(c->out, ", coalesce(hand.phase, p.phase) AS phase");
	else if (needed)
		sqlite3_str_appendf(c->out, ", p.%s", column);
}

static const char *const process_columns[] = { "end_ns", "image", "host", "pid", "ppid", "parent",
	"job", "xform", "phase", "program", "command", "exe", "lstart", "lstop", "exit_code",
	"exit_signal", "cpu_ns", "utime_ns", "stime_ns", "vmpeak_bytes", "rsspeak_bytes",
	"read_char", "write_char", "read_bytes", "write_bytes", "nvcsw", "nivcsw", "minflt",
	"majflt", "cpu_delay_ns", "blkio_delay_ns", "swapin_delay_ns", "reclaim_delay_ns", "tier",
	"state", "ops", "ops_ns" };

/* Phases that are defined by hand: that of a job is the first that one of its processes fits. */
static void put_phases(struct composer *c)
{
	const struct words *phases = &c->choice->phases;

	sqlite3_str_appendall(c->out, "hand AS MATERIALIZED (SELECT unit, CASE min(n)");
	for (int i = 0; i < phases->n; i++)
		sqlite3_str_appendf(c->out, " WHEN %d THEN '%.*q'", i,
			(int)strcspn(phases->word[i], "="), phases->word[i]);
	sqlite3_str_appendall(c->out,
		" END AS phase\n\tFROM (SELECT coalesce(p.job, p.id) AS unit, CASE");
	for (int i = 0; i < phases->n; i++) {
		sqlite3_str_appendall(c->out, " WHEN ");
		put_process_match(c, phases->word[i] + strcspn(phases->word[i], "=") + 1, true);
		sqlite3_str_appendf(c->out, " THEN %d", i);
	}
	sqlite3_str_appendall(c->out,
		" END AS n FROM process p)\n\tWHERE n IS NOT NULL GROUP BY unit),\n");
}

static void put_processes(struct composer *c, const char *columns, size_t len)
{
	sqlite3_str_appendall(c->out,
		"proc AS MATERIALIZED (SELECT * FROM (SELECT p.id, p.start_ns");
	for (size_t i = 0; i < sizeof(process_columns) / sizeof(process_columns[0]); i++)
		put_column(c, process_columns[i], columns, len);
	sqlite3_str_appendall(c->out, " FROM process p");
	if (c->choice->phases.n)
		sqlite3_str_appendall(c->out,
			" LEFT JOIN hand ON hand.unit = coalesce(p.job, p.id)");
	sqlite3_str_appendall(c->out, ") p");
	put_process_conditions(c);
	sqlite3_str_appendall(c->out, ")");
}

static bool has_key(const struct composer *c, const char *name)
{
	for (int i = 0; i < c->n_keys; i++)
		if (c->keys[i].dimension && strcmp(c->keys[i].dimension->name, name) == 0)
			return true;
	return false;
}

#define DIRECTORY                                                                               \
	", iif(path IS NULL, NULL, coalesce(nullif(rtrim(rtrim(path, replace(path, '/', '')), " \
	"'/'), ''), '/')) "                                                                     \
	"AS directory"

/* {with COLUMNS}: must there be a table? */
static void put_with(struct composer *c, const char *columns, size_t len, bool others_follow)
{
	const char *between = "WITH ";

	if (others_follow || (c->needs & NEED_PROC)) {
		sqlite3_str_appendall(c->out, between);
		if (c->choice->phases.n)
			put_phases(c);
		put_processes(c, columns, len);
		between = ",\n";
	}
	if (c->needs & NEED_IMG)
		/* A program's name costs more than its path. */
		sqlite3_str_appendf(c->out, "%simg AS MATERIALIZED (SELECT id, exe%s FROM image)",
			between, has_key(c, "command") ? ", program" : ""),
			between = ",\n";
	if (c->needs & NEED_FIL)
		sqlite3_str_appendf(c->out,
			"%sfil AS MATERIALIZED (SELECT id, path, kind, fstype, mount, "
			"size_first, size_last%s FROM file)",
			between, has_key(c, "directory") ? DIRECTORY : ""),
			between = ",\n";
	if (!others_follow && *between == ',')
		sqlite3_str_appendall(c->out, "\n");
}

/* {joins U [p] [i] [f]}: what stands behind U was seen by find_needs(). */
static void put_joins(struct composer *c, const char *args)
{
	int n = (int)strcspn(args, " }");

	if (c->needs & NEED_PROC)
		sqlite3_str_appendf(c->out, "LEFT JOIN proc p ON p.id = %.*s.process ", n, args);
	if (c->needs & NEED_IMG)
		sqlite3_str_appendf(c->out, "LEFT JOIN img i ON i.id = %.*s.image ", n, args);
	if (c->needs & NEED_FIL)
		sqlite3_str_appendf(c->out, "LEFT JOIN fil f ON f.id = %.*s.file ", n, args);
}

/* {op COLUMNS | CONDITION} */
static void put_op(struct composer *c, const char *args, size_t len)
{
	static const struct {
		const char *column;
		int need;
	} more[] = { { "process", NEED_PROC }, { "image", NEED_IMG }, { "file", NEED_FIL } };
	const char *bar = memchr(args, '|', len);
	size_t columns = bar ? (size_t)(bar - args) : len;
	const char *between = "";

	sqlite3_str_appendall(c->out, "(SELECT ");
	for (size_t at = 0, n; at < columns; at += n + 1) {
		n = strcspn(args + at, " |");
		n = n < columns - at ? n : columns - at;
		if (n)
			sqlite3_str_appendf(c->out, "%so.%.*s", between, (int)n, args + at),
				between = ", ";
	}
	for (size_t i = 0; i < sizeof(more) / sizeof(more[0]); i++)
		if ((c->needs & more[i].need) && !is_word(args, columns, more[i].column))
			sqlite3_str_appendf(c->out, ", o.%s", more[i].column);
	if (c->choice->operations.n && !is_word(args, columns, "name"))
		sqlite3_str_appendall(c->out, ", o.name");
	if ((c->choice->from_ns || c->choice->to_ns) && !is_word(args, columns, "start_ns"))
		sqlite3_str_appendall(c->out, ", o.start_ns");
	sqlite3_str_appendall(c->out, " FROM op o");
	if (bar)
		sqlite3_str_appendf(c->out, " WHERE%.*s", (int)(len - columns - 1), bar + 1);
	sqlite3_str_appendall(c->out, " LIMIT -1) o");
}

/* {filters U}: the same, but of the keys nothing. */
static void put_filters(struct composer *c, const char *args, size_t len)
{
	if (chooses_processes(c) || chooses_either(c))
		sqlite3_str_appendf(c->out, "LEFT JOIN proc p ON p.id = %.*s.process ", (int)len,
			args);
	if (filters_files(c))
		sqlite3_str_appendf(c->out, "LEFT JOIN fil f ON f.id = %.*s.file ", (int)len, args);
}

/* Before a word is written it must be known which tables all of it needs. */
static void find_needs(struct composer *c, const char *text, const char *end)
{
	for (const char *at = text; (at = strstr(at, "{joins ")) && at < end; at++) {
		size_t len = strcspn(at, "}");

		c->needs |= is_word(at, len, "p") ? NEED_PROC : 0;
		c->needs |= is_word(at, len, "i") ? NEED_IMG : 0;
		c->needs |= is_word(at, len, "f") ? NEED_FIL : 0;
	}
	if (c->level == LEVEL_PROCESS)
		c->needs |= NEED_PROC;
	if (chooses_processes(c) || chooses_either(c))
		c->needs |= has_processes(c) ? NEED_PROC : 0;
	if (filters_files(c))
		c->needs |= NEED_FIL;
}

/* ---- the text ---- */

static void expand(struct composer *c, const char *text, size_t len);

#define T0 "(SELECT value FROM trace WHERE key = 'start_ns')"

static void put_part(struct composer *c, const char *name, size_t len)
{
	const char *at = sql_tables, *text;

	while ((at = strstr(at, PART))) {
		at += strlen(PART);
		if (strncmp(at, name, len) == 0 && at[len] == '\n') {
			text = at + len + 1;
			expand(c, text, strstr(text, "\n\n--") - text);
			return;
		}
	}
	complain(c, "tables.sql: there is no part {%.*s}?", name, len);
}

static void put_argument(struct composer *c, const char *name, size_t len, bool others_follow)
{
	size_t word = strcspn(name, " }");
	const char *args = name + word + (word < len), *between = "WHERE ";
	size_t args_len = len - (args - name);

#define IS(text) (word == strlen(text) && strncmp(name, text, word) == 0)
	if (IS("with"))
		put_with(c, args, args_len, others_follow);
	else if (IS("keys"))
		put_keys(c);
	else if (IS("names"))
		put_names(c);
	else if (IS("total"))
		put_total(c);
	else if (IS("group"))
		put_group(c, args_len ? atoi(args) : 1);
	else if (IS("joins"))
		put_joins(c, args);
	else if (IS("op"))
		put_op(c, args, args_len);
	else if (IS("filters"))
		put_filters(c, args, args_len);
	else if (IS("where"))
		put_conditions(c, args, args_len, "WHERE ");
	else if (IS("chosen"))
		put_chosen(c, args, args_len);
	else if (IS("and"))
		put_conditions(c, args, args_len, "AND ");
	else if (IS("time"))
		put_time(c, args, args_len, &between);
	else if (IS("and_time"))
		put_time(c, args, args_len, &(const char *){ "AND " });
	else if (IS("order"))
		sqlite3_str_appendf(c->out, c->needs ? "ORDER BY %.*s" : "", (int)args_len, args);
	else if (IS("unit"))
		sqlite3_str_appendall(c->out,
			c->choice->per_job ? "coalesce(p.job, 'process ' || p.id)" : "p.id");
	else if (IS("of"))
		sqlite3_str_appendall(c->out,
			c->choice->per_job ? "iif(p.job IS NULL, 'process', 'job')" : "'process'");
	else if (IS("t0"))
		sqlite3_str_appendall(c->out, T0);
	else if (IS("step"))
		sqlite3_str_appendf(c->out, "%lld", (long long)c->choice->step_ns);
	else if (IS("part"))
		put_part(c, args, args_len);
	else
		complain(c, "tables.sql: what is {%.*s}?", name, word);
#undef IS
}

/* From the brace that opens to behind the one that closes it. */
static size_t braced(const char *text)
{
	int depth = 0;
	const char *at = text;

	do
		depth += *at == '{' ? 1 : *at == '}' ? -1 : 0;
	while (*++at && depth > 0);
	return at - text;
}

/* {where ...} may have braces inside. */
static void expand_argument(struct composer *c, const char *text, size_t len, bool others_follow)
{
	sqlite3_str *outer = c->out;
	char *inner;

	c->out = sqlite3_str_new(NULL);
	expand(c, text, len);
	inner = sqlite3_str_finish(c->out);
	c->out = outer;
	if (inner)
		put_argument(c, inner, strlen(inner), others_follow);
	else if (c->failed == 0)
		c->failed = -ENOMEM; /* no argument is empty */
	sqlite3_free(inner);
}

static bool is_mark(const char *text, const char *mark)
{
	return strncmp(text, mark, strlen(mark)) == 0;
}

static void expand(struct composer *c, const char *text, size_t len)
{
	const char *end = text + len;

	while (text < end && c->failed == 0) {
		size_t plain = strcspn(text, "{");
		size_t n = (size_t)(end - text) < plain ? (size_t)(end - text) : plain;

		sqlite3_str_append(c->out, text, (int)n);
		text += n;
		if (text == end)
			return;
		n = braced(text);
		if (is_mark(text, "{[}") && chooses_files(c))
			text = strstr(text, "{]}") + strlen("{]}");
		else if (is_mark(text, "{file}") && !chooses_files(c))
			text = strstr(text, "{/file}") + strlen("{/file}");
		else if (is_mark(text, "{[}") || is_mark(text, "{]}") || is_mark(text, "{file}") ||
			 is_mark(text, "{/file}"))
			text += n;
		else {
			expand_argument(c, text + 1, n - 2, text[n] == ',');
			text += n;
		}
	}
}

/* Empty conditions leave blanks behind. */
static void tidy(char *sql)
{
	char *to = sql;

	for (const char *from = sql; *from; from++) {
		if (*from == '\n') {
			while (to > sql && (to[-1] == ' ' || to[-1] == '\t'))
				to--;
			if (to > sql && to[-1] == '\n')
				continue;
		}
		*to++ = *from;
	}
	while (to > sql && strchr(" \t\n", to[-1]))
		to--;
	*to = '\0';
}

int compose(const char *name, const struct choice *choice, struct composed *ret)
{
	const char *head = find_section(name), *text, *end;
	char *sql;
	struct composer c = { .choice = choice, .ret = ret };

	*ret = (struct composed){ 0 };
	if (!head)
		return -ENOENT;
	text = strchr(head, '\n') + 1;
	end = strstr(text, SECTION);
	end = end ? end : text + strlen(text);
	c.level = section_level(head);
	take_keys(&c, head);
	find_needs(&c, text, end);
	c.out = sqlite3_str_new(NULL);
	expand(&c, text, end - text);
	sql = sqlite3_str_finish(c.out);
	ret->keys = c.n_keys;
	if (c.failed == 0)
		ret->sql = sql ? strdup(sql) : NULL;
	sqlite3_free(sql);
	if (c.failed == 0 && !ret->sql)
		c.failed = -ENOMEM;
	if (ret->sql)
		tidy(ret->sql);
	return c.failed;
}
