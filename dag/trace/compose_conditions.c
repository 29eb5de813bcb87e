/* SPDX-License-Identifier: MIT */
#include "dag/trace/compose_internal.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/failure.h"

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

/* SQLite knows [^a], but not [!a]. */
static void put_glob(struct composer *c, const char *glob)
{
	if (strstr(glob, "[!"))
		sql_text_format(c->out, " GLOB replace(%Q, '[!', '[^')", glob);
	else
		sql_text_format(c->out, " GLOB %Q", glob);
}

static void put_file_match(struct composer *c, const char *glob)
{
	/* Names that are not UTF-8 are BLOBs, which match nothing. */
	sql_text_put(c->out, strchr(glob, '/') ? "CAST(f.path AS TEXT)"
					       : "replace(CAST(f.path AS TEXT), rtrim(f.path, " NAME_BYTES "), '')");
	put_glob(c, glob);
}

void composer_put_process_match(struct composer *c, const char *glob, bool whole)
{
	sql_text_put(c->out, "p.program");
	put_glob(c, glob);
	if (!whole && !strchr(glob, ' '))
		return;
	sql_text_put(c->out, " OR p.command");
	put_glob(c, glob);
}

/* A condition on p and f.  files: the query has f; otherwise the condition is that p used such a file. */
static void put_match(struct composer *c, enum subject subject, const char *glob, bool files)
{
	sql_text_put(c->out, "coalesce(");
	if (subject & SUBJECT_PROCESS)
		composer_put_process_match(c, glob, subject == SUBJECT_PROCESS);
	if (subject == SUBJECT_EITHER)
		sql_text_put(c->out, ", 0) OR coalesce(");
	if ((subject & SUBJECT_FILE) && !files)
		sql_text_put(c->out,
			"p.id IN (SELECT a.process FROM access a JOIN file f ON "
			"f.id = a.file WHERE ");
	if (subject & SUBJECT_FILE)
		put_file_match(c, glob);
	sql_text_put(c->out, (subject & SUBJECT_FILE) && !files ? "), 0)" : ", 0)");
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

bool composer_filters_files(const struct composer *c)
{
	return composer_has_files(c) && (names_subject(&c->choice->include, FILES_TOO) ||
				       names_subject(&c->choice->exclude, FILES_TOO));
}

/* Does the query depend on files, or choose operations? */
bool composer_chooses_files(const struct composer *c)
{
	if (!composer_has_files(c))
		return false;
	for (int i = 0; i < c->n_keys; i++)
		if (c->keys[i].dimension && c->keys[i].dimension->file)
			return true;
	return composer_filters_files(c) || (c->level == LEVEL_OP && (c->choice->operations.n || c->choice->layer));
}

bool compose_fits_sums(const struct choice *o)
{
	return !o->layer && !names_subject(&o->include, FILES_TOO) && !names_subject(&o->exclude, FILES_TOO);
}

bool compose_takes_all_calls(const struct choice *o)
{
	return !o->operations.n && !o->layer && !o->from_ns && !o->to_ns && !names_subject(&o->include, FILES_TOO) &&
		!names_subject(&o->exclude, FILES_TOO);
}

bool composer_chooses_processes(const struct composer *c)
{
	const struct choice *o = c->choice;
	int kinds = composer_has_files(c) ? ONLY(SUBJECT_PROCESS) : -1;

	return composer_has_processes(c) &&
	       (o->phase || o->job || o->process || names_subject(&o->include, kinds) ||
		       names_subject(&o->exclude, kinds));
}

bool composer_chooses_either(const struct composer *c)
{
	return names_subject(&c->choice->include, ONLY(SUBJECT_EITHER)) ||
	       names_subject(&c->choice->exclude, ONLY(SUBJECT_EITHER));
}

bool composer_chooses(const struct composer *c)
{
	return composer_chooses_processes(c) || composer_chooses_either(c) || composer_filters_files(c);
}

/* A condition for the globs of some kinds: one of them matches; exclude: none of them matches. */
static void put_globs(struct composer *c, const struct words *globs, int subjects, bool exclude,
	const char **between)
{
	const char *inner = "";

	if (!names_subject(globs, subjects))
		return;
	sql_text_format(c->out, exclude ? "%sNOT (" : "%s(", *between);
	for (int i = 0; i < globs->n; i++) {
		const char *glob = globs->word[i];
		enum subject subject = subject_of(&glob);

		if (!(ONLY(subject) & subjects))
			continue;
		sql_text_put(c->out, inner);
		put_match(c, subject, glob, composer_has_files(c));
		inner = " OR ";
	}
	sql_text_put(c->out, ")");
	*between = " AND ";
}

void composer_put_time(struct composer *c, const char *args, size_t len, const char **between)
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
	/* Rows without a time are left out. */
	sql_text_format(c->out,
		"%s%.*s >= (SELECT value FROM trace WHERE key = 'start_ns') + %lld", *between,
		(int)(args + len - bar), bar, (long long)o->from_ns);
	if (o->to_ns)
		sql_text_format(c->out,
			" AND %.*s < (SELECT value FROM trace WHERE "
			"key = 'start_ns') + %lld",
			first, args, (long long)o->to_ns);
	*between = " AND ";
}

/* The conditions on processes, inside of proc. */
void composer_put_process_conditions(struct composer *c)
{
	static const char life[] = "p.start_ns | coalesce(p.end_ns, 9223372036854775807)";
	const struct choice *o = c->choice;
	const char *between = "\n\tWHERE ";

	if (o->phase)
		sql_text_format(c->out, "%sp.phase = %Q", between, o->phase), between = " AND ";
	if (o->job)
		sql_text_format(c->out, "%sp.job = %Q", between, o->job), between = " AND ";
	if (o->process)
		sql_text_format(c->out, "%sp.id = %lld", between, (long long)o->process),
			between = " AND ";
	put_globs(c, &o->include, ONLY(SUBJECT_PROCESS), false, &between);
	put_globs(c, &o->exclude, ONLY(SUBJECT_PROCESS), true, &between);
	if (!composer_has_files(c) && c->level != LEVEL_METRIC) {
		put_globs(c, &o->include, ONLY(SUBJECT_FILE), false, &between);
		put_globs(c, &o->include, ONLY(SUBJECT_EITHER), false, &between);
		put_globs(c, &o->exclude, FILES_TOO, true, &between);
		composer_put_time(c, life, strlen(life), &between);
	}
}

static void put_operations(struct composer *c, const char **between)
{
	const struct words *operations = &c->choice->operations;

	if (!composer_has_names(c) || !operations->n)
		return;
	sql_text_format(c->out, "%so.name IN (", *between);
	for (int i = 0; i < operations->n; i++)
		sql_text_format(c->out, i ? ", %Q" : "%Q", operations->word[i]);
	sql_text_put(c->out, ")");
	*between = " AND ";
}

/* A mount sees calls that move data, as requests: they are of both layers. */
static void put_layer(struct composer *c, const char **between)
{
	if ((c->level != LEVEL_OP && c->level != LEVEL_CALL) || c->choice->layer == LAYER_ANY)
		return;
	if (c->level == LEVEL_CALL)
		sql_text_format(c->out, "%so.layer = %Q", *between, c->choice->layer == LAYER_OF_MPI ? "mpi" : "lib");
	else if (c->choice->layer == LAYER_CALLS)
		sql_text_format(c->out, "%s(o.layer = 'call' OR coalesce(o.via, '') IN ('direct', 'copy'))", *between);
	else
		sql_text_format(c->out, "%so.layer = 'request'", *between);
	*between = " AND ";
}

/* The conditions on the other rows. */
void composer_put_conditions(struct composer *c, const char *args, size_t len, const char *between)
{
	if (composer_chooses_processes(c))
		sql_text_format(c->out, "%sp.id IS NOT NULL", between), between = " AND ";
	if (composer_has_files(c)) {
		put_globs(c, &c->choice->include, ONLY(SUBJECT_FILE), false, &between);
		put_globs(c, &c->choice->include, ONLY(SUBJECT_EITHER), false, &between);
		put_globs(c, &c->choice->exclude, FILES_TOO, true, &between);
	}
	put_operations(c, &between);
	put_layer(c, &between);
	composer_put_time(c, args, len, &between);
}

/* The same conditions as a value. */
void composer_put_chosen(struct composer *c, const char *args, size_t len)
{
	struct sql_text *outer = c->out;
	cleanup_free char *conditions = NULL;

	c->out = sql_text_create();
	composer_put_conditions(c, args, len, "");
	conditions = sql_text_finish(c->out);
	c->out = outer;
	if (!conditions && c->failed == 0)
		c->failed = failure_memory(c->failure);
	sql_text_format(c->out, conditions && *conditions ? "(%s)" : "1", conditions);
}
