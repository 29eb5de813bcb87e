/* SPDX-License-Identifier: MIT */
#include "dag/stat/options.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/complete.h"
#include "base/err.h"
#include "base/failure.h"
#include "base/output.h"
#include "dag/stat/stat.h"
#include "dag/trace/choice.h"
#include "dag/trace/trace_words.h"
#include "dag/trace/traces.h"
#include "db/about.h"
#include "db/event.h"
#include "db/query.h"

enum long_option {
	LONG_BY = 256,
	LONG_COLUMNS,
	LONG_CSV,
	LONG_DARSHAN,
	LONG_FILES,
	LONG_FORMAT,
	LONG_GNUPLOT,
	LONG_INTERVAL,
	LONG_LAYER,
	LONG_LONG,
	LONG_JSON,
	LONG_MEMORY,
	LONG_OF,
	LONG_OPERATION,
	LONG_PER,
	LONG_PNG,
	LONG_RAW,
	LONG_WIDE,
	LONG_SIZES,
	LONG_SORT,
	LONG_SQL,
	LONG_SVG,
	LONG_TOP,
	LONG_TSV,
};

static const struct option long_options[] = {
	CHOICE_OPTIONS,
	{ "by", required_argument, NULL, LONG_BY },
	{ "columns", required_argument, NULL, LONG_COLUMNS },
	{ "csv", optional_argument, NULL, LONG_CSV },
	{ "darshan", optional_argument, NULL, LONG_DARSHAN },
	{ "files", no_argument, NULL, LONG_FILES },
	{ "format", required_argument, NULL, LONG_FORMAT },
	{ "gnuplot", required_argument, NULL, LONG_GNUPLOT },
	{ "interval", required_argument, NULL, LONG_INTERVAL },
	{ "layer", required_argument, NULL, LONG_LAYER },
	{ "json", optional_argument, NULL, LONG_JSON },
	{ "memory", required_argument, NULL, LONG_MEMORY },
	{ "operation", required_argument, NULL, LONG_OPERATION },
	{ "of", required_argument, NULL, LONG_OF },
	{ "output", required_argument, NULL, 'o' },
	{ "per", required_argument, NULL, LONG_PER },
	{ "png", optional_argument, NULL, LONG_PNG },
	{ "raw", no_argument, NULL, LONG_RAW },
	{ "wide", no_argument, NULL, LONG_WIDE },
	{ "long", no_argument, NULL, LONG_LONG },
	{ "sizes", required_argument, NULL, LONG_SIZES },
	{ "sort", required_argument, NULL, LONG_SORT },
	{ "sql", no_argument, NULL, LONG_SQL },
	TRACES_OPTIONS, TRACES_OUTPUT_OPTIONS,
	{ "svg", optional_argument, NULL, LONG_SVG },
	{ "top", required_argument, NULL, LONG_TOP },
	{ "tsv", optional_argument, NULL, LONG_TSV },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ NULL, 0, NULL, 0 },
};

static const char help_head[] =
"Usage: wfstat [TABLE] [options] [TRACE...]\n"
"\n"
"Statistics of a workflow, from its trace (default: trace.db in the current\n"
"directory). Several traces count as one workflow. Without TABLE: the overview.\n"
"\n"
"Examples:\n"
"  wfstat io                           what each step read and wrote\n"
"  wfstat sys --by phase,operation     latency of each operation, phase by phase\n"
"  wfstat file --sort reread --top 10  the files that were read again and again\n"
"  wfstat mem --memory 64G             how many jobs of a kind fit into 64 GB\n"
"  wfstat cdf --of latency -o x.svg    its distribution as a picture\n"
"  wfstat run --csv job1.db job2.db    several traces, for other programs\n"
"\n"
"Tables:\n";

static const char help_counted[] =
"\n"
"What is counted:\n"
"      --by WHAT[,WHAT]   rows by step, task, command (program), exe, xform, job,\n"
"                         phase, process, rank, ranks (of one MPI job), file,\n"
"                         directory, fstype, mount, host, operation, class,\n"
"                         env:NAME or all\n"
"      --long             io, mem, run, util: distributions of the numbers of\n"
"                         jobs and processes\n"
"      --per job|process  what counts as one there: the processes of a job\n"
"                         together, or each\n"
"      --operation NAME   only operations of this name (read, write, lookup ...);\n"
"                         may be repeated\n"
"      --layer LAYER      calls or requests: only calls of programs, or only\n"
"                         requests to a mount; hierarchy, slowest: mpi or lib\n";

static const char help_tail[] =
"\n"
"Output:\n"
"      --sort COLUMN      numbers from the largest on, text from A on; -COLUMN:\n"
"                         in reverse order\n"
"      --top N            the first N rows\n"
"      --format FORMAT    table, csv, tsv or json; also:\n"
"      --csv  --tsv  --json\n"
"      --darshan          no table, but a log for the tools of Darshan\n"
"  -o, --output FILE      there instead of stdout; its ending tells the format,\n"
"                         if no option does\n"
"      --raw              plain numbers in tables: ns, bytes, parts of 1\n"
"      --columns NAME[,NAME...]   only these columns, in this order; by the names\n"
"                         that --csv has\n"
"      --wide             all columns of a table, also if the terminal is too\n"
"                         narrow\n"
"      --sql              print the query behind the table, with all options in\n"
"                         it, and nothing else; it needs no trace\n"
TRACES_HELP TRACES_OUTPUT_HELP
"\n"
"Of some tables only:\n"
"      --of VALUE         hist, cdf: latency, read-size, write-size, bytes-read,\n"
"                         bytes-written, lifetime, file-size or rss; time:\n"
"                         operations by size or latency, or bytes by size;\n"
"                         hierarchy, slowest: only calls of this name\n"
"      --svg  --png       hist, cdf, time, sys: a picture, made by gnuplot\n"
"      --gnuplot NAME     hist, cdf, time, sys: its data, NAME.dat, and its\n"
"                         script, NAME.gp\n"
"      --interval SECONDS time: length of an interval (default 1)\n"
"      --files            time: the files that were touched in each interval\n"
"      --memory SIZE      mem: that of a node (default: of the host)\n"
"      --sizes CLASSES    pattern: darshan or powers (of two); hist, time --of:\n"
"                         powers or tens\n"
"\n"
CLI_COMPLETE_HELP
"  -h, --help             print this\n"
"  -V, --version          print the version\n"
"\n"
"Exit status: 0, 1 (an error), 2 (wrong usage), 3 (--strict).  See wfstat(1).\n";

/* ---- values ---- */

/* 64G, 512M, 1.5T: powers of 1024, as memory is sold. */
static int parse_size(const char *text, int64_t *ret_bytes)
{
	static const char letters[] = "KMGTP";
	char *end;
	double size = strtod(text, &end);
	const char *letter = *end ? memchr(letters, *end & ~0x20, sizeof(letters) - 1) : NULL;

	if (letter) {
		size *= pow(1024, (double)(letter - letters + 1));
		end++;
		if (end[0] == 'i' && end[1] == 'B')
			end += 2;
		else if (end[0] == 'B')
			end++;
	}
	if (end == text || *end || !(size >= 1) || size > 9e18)
		return err_status(EXIT_USAGE, "cannot use '%s' for --memory: it must be a size like 64G, "
			"512M or a number of bytes", text);
	*ret_bytes = (int64_t)size;
	return 0;
}

static int parse_format(struct stat_options *o, const char *text)
{
	int format = 0, status = choice_parse_name("format", text, table_formats, &format);

	o->style.format = format;
	return status;
}

static const char *const pers[] = { "job", "process", NULL };

static int parse_per(struct stat_options *o, const char *text)
{
	o->per_given = true;
	o->choice.per_job = strcmp(text, "job") == 0;
	if (o->choice.per_job || strcmp(text, "process") == 0)
		return 0;
	return err_status(EXIT_USAGE, "cannot count per '%s': it must be job or process", text);
}

static const char *const size_classes[] = { "darshan", "powers", "tens", NULL };

static int parse_sizes(struct stat_options *o, const char *text)
{
	int n = 0, status = choice_parse_name("size classes", text, size_classes, &n);

	o->sizes = n;
	o->sizes_given = true;
	return status;
}

static const char *const layers[] = { "calls", "requests", "mpi", "lib", NULL };

static int parse_layer(struct stat_options *o, const char *text)
{
	int n = 0, status = choice_parse_name("layer", text, layers, &n);

	o->choice.layer = LAYER_CALLS + (enum layer)n;
	return status;
}

static int parse_by(struct stat_options *o, const char *text)
{
	if (o->by.n == COMPOSE_BY_MAX)
		return err_status(EXIT_USAGE, "--by is given too often: at most %d times", COMPOSE_BY_MAX);
	o->choice.by[o->by.n] = text;
	return words_add(&o->by, text);
}

enum { FORMAT_SVG, FORMAT_PNG, FORMAT_CSV, FORMAT_TSV, FORMAT_JSON, FORMAT_DARSHAN };
static const struct format formats[] = { { "svg", NULL, false }, { "png", NULL, true }, { "csv", NULL, false }, { "tsv", NULL, false },
	{ "json", NULL, false }, { "darshan", NULL, true }, { NULL, NULL, false } };
_Static_assert(sizeof(formats) / sizeof(formats[0]) == STAT_FORMATS + 1, "a file for each");

/* A name that tells no format is that of a table as text, or of --format. */
static int take_file(struct stat_options *o, const char *file)
{
	if (o->formats.pending >= 0 || formats_find(formats, file) >= 0)
		return formats_file(&o->formats, file);
	o->output = file;
	return 0;
}

static void take_formats(struct stat_options *o)
{
	static const enum table_format of[] = { [FORMAT_CSV] = TABLE_CSV, [FORMAT_TSV] = TABLE_TSV, [FORMAT_JSON] = TABLE_JSON };

	o->svg = o->files_of[FORMAT_SVG];
	o->png = o->files_of[FORMAT_PNG];
	o->darshan = o->files_of[FORMAT_DARSHAN];
	for (int i = FORMAT_CSV; i <= FORMAT_JSON; i++)
		if (o->files_of[i]) {
			o->style.format = of[i];
			o->output = o->files_of[i];
		}
	if (o->darshan && !o->output)
		o->output = o->darshan;
}

static int add_operation(struct stat_options *o, const char *value)
{
	const char *names[OP_MAX + 1] = { NULL };
	int n;

	for (int i = 0; i < OP_MAX; i++)
		names[i] = event_op_names[i];
	return choice_parse_name("operation", value, names, &n) ? EXIT_USAGE : words_add(&o->choice.operations, value);
}

static int apply(void *options, int option, const char *value)
{
	struct stat_options *o = options;

	switch (option) {
	case LONG_BY: return parse_by(o, value);
	case LONG_COLUMNS: o->columns = value; return 0;
	case LONG_CSV: return formats_option(&o->formats, FORMAT_CSV, value);
	case LONG_DARSHAN: return formats_option(&o->formats, FORMAT_DARSHAN, value);
	case 'o': return take_file(o, value);
	case LONG_FILES: o->files = true; return 0;
	case LONG_FORMAT: return parse_format(o, value);
	case LONG_GNUPLOT: o->gnuplot = value; return 0;
	case LONG_INTERVAL:
		o->interval_given = true;
		return choice_parse_seconds("--interval", value, &o->choice.step_ns);
	case LONG_LAYER: return parse_layer(o, value);
	case LONG_JSON: return formats_option(&o->formats, FORMAT_JSON, value);
	case LONG_LONG: o->long_form = true; return 0;
	case LONG_MEMORY: return parse_size(value, &o->memory_bytes);
	case LONG_OPERATION: return add_operation(o, value);
	case LONG_OF: o->of = value; return 0;
	case LONG_PER: return parse_per(o, value);
	case LONG_PNG: return formats_option(&o->formats, FORMAT_PNG, value);
	case LONG_RAW: o->style.raw = true; return 0;
	case LONG_WIDE: o->style.wide = true; return 0;
	case LONG_SIZES: return parse_sizes(o, value);
	case LONG_SORT: o->sort = value; return 0;
	case LONG_SQL: o->sql = true; return 0;
	case TRACES_FOREIGN: o->foreign = true; return 0;
	case TRACES_STRICT: o->strict = true; return 0;
	case TRACES_FORCE: output_force(); return 0;
	case LONG_SVG: return formats_option(&o->formats, FORMAT_SVG, value);
	case LONG_TOP: return choice_parse_count("--top", value, &o->top);
	case LONG_TSV: return formats_option(&o->formats, FORMAT_TSV, value);
	default: return choice_apply(&o->choice, option, value);
	}
}

/* ---- words behind the options ---- */

/* The first word is the name of a table, or a trace as the other words are. */
static int take_words(struct stat_options *o, char **words)
{
	int status;

	if (*words && stat_find_table(*words))
		o->table = *words++;
	else if (*words && !strchr(*words, '/') && access(*words, F_OK) < 0)
		return err_status(EXIT_USAGE, "'%s' is neither a table nor a trace; see 'wfstat --help' for "
			"the tables", *words);
	status = words_add_all(&o->traces, words);
	if (status == 0 && o->traces.n == 0)
		status = words_add(&o->traces, "trace.db");
	return status;
}

/* ---- whether the options fit each other ---- */

bool stat_has_by(const struct stat_options *o, const char *name)
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
	char text[256];
	int n;

	if (o->of && !table->of)
		return err_status(EXIT_USAGE, "--of is for hist, cdf, time and hierarchy, not for %s", table->name);
	if (!o->of && table->options & STAT_OF)
		return err_status(EXIT_USAGE, "%s needs --of: %s", table->name, choice_list_names(table->of, text, sizeof(text)));
	return o->of ? choice_parse_name("--of", o->of, table->of, &n) : 0;
}

static bool has_own_key(const struct stat_options *o, const struct stat_table *table)
{
	char name[32];

	for (const char *at = table->own_keys; *at; at += strcspn(at, " "), at += *at == ' ') {
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(at, " "), at);
		if (stat_has_by(o, name))
			return true;
	}
	return false;
}

static int check_sizes(const struct stat_options *o, const struct stat_table *table)
{
	if (!o->sizes_given)
		return 0;
	if (table->of && !o->of && !(table->options & STAT_OF))
		return err_status(EXIT_USAGE, "%s has size classes with --of only: give --of, or leave --sizes out", table->name);
	if (table->of ? o->sizes != SIZES_DARSHAN : o->sizes != SIZES_TENS)
		return 0;
	return err_status(EXIT_USAGE, "%s has no size classes '%s': they must be %s", table->name,
		size_classes[o->sizes], table->of ? "powers or tens" : "darshan or powers");
}

/* An option that a table does not have is an error: a user would think that it had an effect. */
static int check_table(const struct stat_options *o)
{
	const struct stat_table *table = stat_find_table(o->table);
	const struct {
		int option;
		bool given;
		const char *complaint;
	} checks[] = {
		{ STAT_BY, o->by.n, "%s cannot be grouped: leave --by out" },
		{ STAT_PER, o->long_form, "--long is for io, mem, run and util, not for %s" },
		{ STAT_PER, o->per_given, "--per is for io, mem, run and util, not for %s" },
		{ STAT_PICTURE, o->svg || o->png || o->gnuplot,
			"there are pictures of hist, cdf, time and sys, not of %s" },
		{ STAT_MEMORY, o->memory_bytes, "--memory is for mem, not for %s" },
		{ STAT_SIZES, o->sizes_given, "--sizes is for pattern, hist and time, not for %s" },
		{ STAT_TIME, o->interval_given, "--interval is for time, not for %s" },
		{ STAT_TIME, o->files, "--files is for time, not for %s" },
		{ STAT_CHOICE, choice_is_any(&o->choice),
			"%s is of the whole run: leave out what chooses from it" },
		{ STAT_OPERATION, o->choice.operations.n,
			"--operation is for tables of single operations, not for %s" },
		{ STAT_OPERATION, o->choice.layer, "--layer is for tables of single operations, not for %s" },
	};

	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++)
		if (checks[i].given && !(table->options & checks[i].option))
			return err_status(EXIT_USAGE, checks[i].complaint, table->name);
	if ((o->choice.operations.n || o->choice.layer) && !stat_needs_ops(o) && !(table->options & STAT_CALL))
		return err_status(EXIT_USAGE,
			"--operation and --layer are for distributions of single operations, not of %s", o->of);
	if (o->choice.layer && (o->choice.layer >= LAYER_OF_MPI) != !!(table->options & STAT_CALL))
		return err_status(EXIT_USAGE, table->options & STAT_CALL ? "--layer is mpi or lib for %s"
			: "--layer mpi and lib are for hierarchy and slowest; it is calls or requests for %s", table->name);
	if (table->own_keys && has_own_key(o, table))
		return err_status(EXIT_USAGE, "%s has a row for each of these already: leave them out of --by (%s)",
			table->name, table->own_keys);
	if (o->files && (o->svg || o->png || o->gnuplot))
		return err_status(EXIT_USAGE,
			"--files has no picture: leave it out, or --svg, --png and --gnuplot");
	if (o->files && o->of)
		return err_status(EXIT_USAGE, "--files has no classes: leave it out, or --of");
	if (table->options & STAT_TIME && o->by.n && o->files)
		return err_status(EXIT_USAGE, "--files has no groups: leave it out, or --by");
	return check_sizes(o, table) ? EXIT_USAGE : check_of(o, table);
}

/* --of NAME of a table of calls: only calls of this name; latency is what they are ordered by. */
static int take_call(struct stat_options *o)
{
	const char *name = o->of;

	if (!name || !(stat_find_table(o->table)->options & STAT_CALL))
		return 0;
	o->of = NULL;
	return strcmp(name, "latency") == 0 ? 0 : words_add(&o->choice.operations, name);
}

/* A log is of the run, or of a part of it. */
static int check_darshan(const struct stat_options *o)
{
	const struct {
		bool given;
		const char *option;
	} checks[] = { { o->table, "the table" }, { o->output != o->darshan, "other formats" }, { o->svg || o->png || o->gnuplot, "pictures" },
		{ o->by.n, "--by" }, { o->sort, "--sort" }, { o->top >= 0, "--top" }, { o->columns, "--columns" }, { o->sql, "--sql" },
		{ o->of, "--of" }, { o->long_form, "--long" }, { o->per_given, "--per" }, { o->sizes_given, "--sizes" },
		{ o->memory_bytes, "--memory" }, { o->interval_given, "--interval" }, { o->files, "--files" },
		{ o->choice.operations.n, "--operation" }, { o->choice.layer, "--layer" } };

	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++)
		if (checks[i].given)
			return err_status(EXIT_USAGE, "--darshan is a log of the run, and no table: leave out %s", checks[i].option);
	if (strcmp(o->darshan, "-") == 0 && isatty(STDOUT_FILENO))
		return err_status(EXIT_USAGE, "--darshan is nothing for a terminal; give -o FILE");
	return 0;
}

static int check(const struct stat_options *o)
{
	const struct choice *c = &o->choice;

	if (c->step_ns == 0)
		return err_status(EXIT_USAGE, "cannot use so small a number for --interval: it must be more than 0 seconds");
	return choice_check(c) ? EXIT_USAGE : o->darshan ? check_darshan(o) : check_table(o);
}

/* ---- completions ---- */

static void ask_tables(const struct cli *cli)
{
	if (!complete_word(0))
		complete_add_listed(cli, "Tables:");
}

static bool has_name(const char *const *names, const char *name)
{
	while (*names && strcmp(*names, name) != 0)
		names++;
	return *names;
}

/* Of the table that the line names, as it is without rows. */
static void ask_columns(const struct cli *cli)
{
	struct failure failure = { 0 };
	const char *word = complete_word(0), *of = complete_option("of");
	struct stat_options options = { .top = -1, .choice.step_ns = 1000000000, .table = word && stat_find_table(word) ? word : NULL, .long_form = complete_option("long") != NULL };
	struct stat_run run = { .options = &options, .failure = &failure, .table = table_create(), .db = trace_words_empty() };
	const struct stat_table *table = stat_find_table(options.table);

	(void)cli;
	options.of = table->of && (of || table->options & STAT_OF) ? of ? of : "latency" : NULL;
	if (run.table && run.db && (!options.of || has_name(table->of, options.of)) && stat_look(&run) == 0 && stat_table(&run) == 0)
		for (int i = 0; table_column_name(run.table, i); i++)
			complete_add(table_column_name(run.table, i), strlen(table_column_name(run.table, i)), NULL);
	table_destroy(run.table);
	query_close(run.db);
}

static void ask_of(const struct cli *cli)
{
	const char *word = complete_word(0);
	const struct stat_table *table = word ? stat_find_table(word) : NULL;
	const char *const *of = table && table->of ? table->of : stat_values;

	(void)cli;
	complete_add_all(of);
}

static const struct complete_value completed[] = {
	{ "phase", COMPLETE_WORDS, false, NULL, trace_words_phases },
	{ "job", COMPLETE_WORDS, false, NULL, trace_words_jobs },
	{ "process", COMPLETE_WORDS, false, NULL, trace_words_processes },
	{ "include", COMPLETE_FILE, false, NULL, NULL },
	{ "exclude", COMPLETE_FILE, false, NULL, NULL },
	{ "by", COMPLETE_WORDS, true, trace_words_dimensions, NULL },
	{ "columns", COMPLETE_WORDS, true, NULL, ask_columns },
	{ "sort", COMPLETE_WORDS, false, NULL, ask_columns },
	{ "format", COMPLETE_WORDS, false, table_formats, NULL },
	{ "of", COMPLETE_WORDS, false, NULL, ask_of },
	{ "operation", COMPLETE_WORDS, false, NULL, trace_words_operations },
	{ "layer", COMPLETE_WORDS, false, layers, NULL },
	{ "per", COMPLETE_WORDS, false, pers, NULL },
	{ "sizes", COMPLETE_WORDS, false, size_classes, NULL },
	{ "gnuplot", COMPLETE_FILE, false, NULL, NULL },
	{ "output", COMPLETE_FILE, false, NULL, NULL },
	{ NULL, COMPLETE_WORDS, false, NULL, NULL },
};

static const struct completions completions = { completed, ask_tables, COMPLETE_FILES };

static void print_help(void)
{
	fputs(help_head, stdout);
	stat_print_tables(stdout);
	fputs(help_counted, stdout);
	fputs(choice_help, stdout);
	fputs(help_tail, stdout);
}

static int finish(void *options, char **words)
{
	struct stat_options *o = options;
	int status = formats_finish(&o->formats, *words && stat_find_table(*words) ? words + 1 : words);

	take_formats(o);
	if (status == 0)
		status = take_words(options, words);
	if (status == 0)
		status = take_call(options);
	return status ? status : check(options);
}

bool stat_options_parse(int argc, char **argv, struct stat_options *options, int *ret_status)
{
	static const struct cli cli = { "wfstat", about_print, long_options, print_help, apply, finish, &completions };

	*options = (struct stat_options){ .top = -1, .choice.step_ns = 1000000000,
		.style.program = "ftrac.stat" };
	options->formats = (struct formats){ formats, options->files_of, -1 };
	return cli_parse(&cli, argc, argv, options, ret_status);
}

void stat_options_finish(struct stat_options *options)
{
	words_free(&options->traces);
	words_free(&options->by);
	choice_finish(&options->choice);
}
