/* SPDX-License-Identifier: MIT */
#include "dag/trace/compose_internal.h"

#include <string.h>

static bool is_word(const char *words, size_t len, const char *word)
{
	size_t n = strlen(word);

	for (const char *at = words; at + n <= words + len; at++)
		if (strncmp(at, word, n) == 0 && (at == words || at[-1] == ' ') &&
			(at + n == words + len || at[n] == ' '))
			return true;
	return false;
}

/* Processes that a launcher of MPI has given a rank, and what they have started. */
#define RANKED                                                                                                          \
	"(SELECT i.process FROM environ e JOIN image i ON i.id = e.image "                                              \
	"WHERE e.name IN ('OMPI_COMM_WORLD_RANK', 'PMIX_RANK', 'PMI_RANK'))"

/* What all ranks of one program of one launcher have in common; NULL for other processes. */
#define RANKS                                                                                                           \
	", iif(p.id IN " RANKED " AND coalesce(p.parent NOT IN " RANKED ", 1), coalesce(p.program, '') || "            \
	"coalesce(' (ranks of p' || p.parent || ')', ' (ranks)'), NULL) AS ranks"

/* A column of proc, if the query or an option needs it. */
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
		needed |= (o->from_ns || o->to_ns) && c->level != LEVEL_OP && c->level != LEVEL_METRIC;
	if (!strcmp(column, "job"))
		needed |= o->job || o->per_job;
	if (!strcmp(column, "phase"))
		needed |= o->phase != NULL;
	if (needed && o->phases.n && (strcmp(column, "phase") == 0 || strcmp(column, "step") == 0))
		sql_text_format(c->out, ", coalesce(hand.phase, p.%s) AS %s", column, column);
	else if (needed && strcmp(column, "ranks") == 0)
		sql_text_put(c->out, RANKS);
	else if (needed)
		sql_text_format(c->out, ", p.%s", column);
}

static const char *const process_columns[] = { "end_ns", "image", "host", "pid", "ppid", "parent", "uid",
	"job", "xform", "phase", "program", "command", "exe", "lstart", "lstop", "exit_code",
	"exit_signal", "cpu_ns", "utime_ns", "stime_ns", "vmpeak_bytes", "rsspeak_bytes",
	"read_char", "write_char", "read_bytes", "write_bytes", "nvcsw", "nivcsw", "minflt",
	"majflt", "cpu_delay_ns", "blkio_delay_ns", "swapin_delay_ns", "reclaim_delay_ns", "tier",
	"state", "ops", "ops_ns", "step", "task", "part", "label", "ranks" };

/* Phases that the user defines: a job is of the first one that matches one of its processes. */
static void put_phases(struct composer *c)
{
	const struct words *phases = &c->choice->phases;

	sql_text_put(c->out, "hand AS MATERIALIZED (SELECT unit, CASE min(n)");
	for (int i = 0; i < phases->n; i++)
		sql_text_format(c->out, " WHEN %d THEN '%.*q'", i,
			(int)strcspn(phases->word[i], "="), phases->word[i]);
	sql_text_put(c->out,
		" END AS phase\n\tFROM (SELECT coalesce(p.job, p.id) AS unit, CASE");
	for (int i = 0; i < phases->n; i++) {
		sql_text_put(c->out, " WHEN ");
		composer_put_process_match(c, phases->word[i] + strcspn(phases->word[i], "=") + 1, true);
		sql_text_format(c->out, " THEN %d", i);
	}
	sql_text_put(c->out,
		" END AS n FROM process p)\n\tWHERE n IS NOT NULL GROUP BY unit),\n");
}

static void put_processes(struct composer *c, const char *columns, size_t len)
{
	sql_text_put(c->out,
		"proc AS MATERIALIZED (SELECT * FROM (SELECT p.id, p.start_ns");
	for (size_t i = 0; i < sizeof(process_columns) / sizeof(process_columns[0]); i++)
		put_column(c, process_columns[i], columns, len);
	sql_text_put(c->out, " FROM process p");
	if (c->choice->phases.n)
		sql_text_put(c->out,
			" LEFT JOIN hand ON hand.unit = coalesce(p.job, p.id)");
	sql_text_put(c->out, ") p");
	composer_put_process_conditions(c);
	sql_text_put(c->out, ")");
}

#define DIRECTORY                                                                               \
	", iif(path IS NULL, NULL, coalesce(nullif(rtrim(rtrim(path, " NAME_BYTES "), '/'), ''), " \
	"'/')) AS directory"

/* {with COLUMNS}: the tables that the query needs. */
void composer_put_with(struct composer *c, const char *columns, size_t len, bool others_follow)
{
	const char *between = "WITH ";

	if (others_follow || (c->needs & NEED_PROC)) {
		sql_text_put(c->out, between);
		if (c->choice->phases.n)
			put_phases(c);
		put_processes(c, columns, len);
		between = ",\n";
	}
	if (c->needs & NEED_IMG)
		/* SQLite takes longer for a program's name than for its path. */
		sql_text_format(c->out, "%simg AS MATERIALIZED (SELECT id, exe%s FROM image)",
			between, composer_has_key(c, "command") ? ", program" : ""),
			between = ",\n";
	if (c->needs & NEED_FIL)
		sql_text_format(c->out,
			"%sfil AS MATERIALIZED (SELECT id, path, kind, fstype, mount, "
			"size_first, size_last%s FROM file)",
			between, composer_has_key(c, "directory") ? DIRECTORY : ""),
			between = ",\n";
	if (!others_follow && *between == ',')
		sql_text_put(c->out, "\n");
}

/* {joins U [p] [i] [f]}: composer_find_needs() has read the words behind U. */
void composer_put_joins(struct composer *c, const char *args)
{
	int n = (int)strcspn(args, " }");

	if (c->needs & NEED_PROC)
		sql_text_format(c->out, "LEFT JOIN proc p ON p.id = %.*s.process ", n, args);
	if (c->needs & NEED_IMG)
		sql_text_format(c->out, "LEFT JOIN img i ON i.id = %.*s.image ", n, args);
	if (c->needs & NEED_FIL)
		sql_text_format(c->out, "LEFT JOIN fil f ON f.id = %.*s.file ", n, args);
}

/* {op COLUMNS | CONDITION} */
void composer_put_op(struct composer *c, const char *args, size_t len)
{
	static const struct {
		const char *column;
		int need;
	} more[] = { { "process", NEED_PROC }, { "image", NEED_IMG }, { "file", NEED_FIL } };
	const char *bar = memchr(args, '|', len);
	size_t columns = bar ? (size_t)(bar - args) : len;
	const char *between = "";

	sql_text_put(c->out, "(SELECT ");
	for (size_t at = 0, n; at < columns; at += n + 1) {
		n = strcspn(args + at, " |");
		n = n < columns - at ? n : columns - at;
		if (n)
			sql_text_format(c->out, "%so.%.*s", between, (int)n, args + at),
				between = ", ";
	}
	for (size_t i = 0; i < sizeof(more) / sizeof(more[0]); i++)
		if ((c->needs & more[i].need || (c->by_image && more[i].need == NEED_IMG)) && !is_word(args, columns, more[i].column))
			sql_text_format(c->out, ", o.%s", more[i].column);
	if (c->choice->operations.n && !is_word(args, columns, "name"))
		sql_text_put(c->out, ", o.name");
	if (c->choice->layer && !is_word(args, columns, "via"))
		sql_text_put(c->out, ", o.via");
	if (c->choice->layer && !is_word(args, columns, "layer"))
		sql_text_put(c->out, ", o.layer");
	if ((c->choice->from_ns || c->choice->to_ns) && !is_word(args, columns, "start_ns"))
		sql_text_put(c->out, ", o.start_ns");
	sql_text_put(c->out, " FROM op o");
	if (bar)
		sql_text_format(c->out, " WHERE%.*s", (int)(len - columns - 1), bar + 1);
	sql_text_put(c->out, " LIMIT -1) o");
}

/* {filters U}: only the joins that conditions need, not those of keys. */
void composer_put_filters(struct composer *c, const char *args, size_t len)
{
	if (composer_chooses_processes(c) || composer_chooses_either(c))
		sql_text_format(c->out, "LEFT JOIN proc p ON p.id = %.*s.process ", (int)len,
			args);
	if (composer_filters_files(c))
		sql_text_format(c->out, "LEFT JOIN fil f ON f.id = %.*s.file ", (int)len, args);
}

void composer_find_needs(struct composer *c, const char *text, const char *end)
{
	for (const char *at = text; (at = strstr(at, "{joins ")) && at < end; at++) {
		size_t len = strcspn(at, "}");

		c->needs |= is_word(at, len, "p") ? NEED_PROC : 0;
		c->needs |= is_word(at, len, "i") ? NEED_IMG : 0;
		c->needs |= is_word(at, len, "f") ? NEED_FIL : 0;
	}
	if (c->level == LEVEL_PROCESS)
		c->needs |= NEED_PROC;
	if (composer_chooses_processes(c) || composer_chooses_either(c))
		c->needs |= composer_has_processes(c) ? NEED_PROC : 0;
	if (composer_filters_files(c))
		c->needs |= NEED_FIL;
}
