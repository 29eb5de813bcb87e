/* SPDX-License-Identifier: MIT */
#include "dag/wfdag/options.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/complete.h"
#include "base/err.h"
#include "base/output.h"
#include "base/vector.h"
#include "dag/export/stacks.h"
#include "dag/trace/choice.h"
#include "dag/trace/trace_words.h"
#include "dag/trace/traces.h"
#include "dag/wfdag/columns.h"
#include "dag/wfdag/verbs.h"
#include "db/about.h"

enum long_option {
	LONG_EXPORT = 256, /* the first of exports[] */
	LONG_ALL = LONG_EXPORT + EXPORTS_MAX,
	LONG_ANCESTORS_OF,
	LONG_BETWEEN,
	LONG_BY,
	LONG_CLUSTER,
	LONG_COLUMNS,
	LONG_CORES,
	LONG_DAG,
	LONG_DESCENDANTS_OF,
	LONG_EXPAND,
	LONG_FASTER,
	LONG_FILE,
	LONG_FOLD,
	LONG_FORMAT,
	LONG_MISSING_NAMES,
	LONG_GROUP_BY,
	LONG_INTERVAL,
	LONG_JOBS,
	LONG_MAX_NODES,
	LONG_METADATA,
	LONG_NO_LEGEND,
	LONG_PIPES,
	LONG_PRECEDENCE,
	LONG_RAW,
	LONG_WIDE,
	LONG_REDUCE,
	LONG_SORT,
	LONG_STACKS,
	LONG_TOP,
	LONG_TREE,
	LONG_TSV,
	LONG_WIDTH,
};

static const struct option long_options[] = {
	CHOICE_OPTIONS,
	{ "all", no_argument, NULL, LONG_ALL },
	{ "ancestors-of", required_argument, NULL, LONG_ANCESTORS_OF },
	{ "between", required_argument, NULL, LONG_BETWEEN },
	{ "by", required_argument, NULL, LONG_BY },
	{ "cluster", required_argument, NULL, LONG_CLUSTER },
	{ "columns", required_argument, NULL, LONG_COLUMNS },
	{ "cores", required_argument, NULL, LONG_CORES },
	{ "dag", no_argument, NULL, LONG_DAG },
	{ "descendants-of", required_argument, NULL, LONG_DESCENDANTS_OF },
	{ "expand", required_argument, NULL, LONG_EXPAND },
	{ "faster", required_argument, NULL, LONG_FASTER },
	{ "file", required_argument, NULL, LONG_FILE },
	{ "fold", no_argument, NULL, LONG_FOLD },
	{ "format", required_argument, NULL, LONG_FORMAT },
	{ "ghosts", no_argument, NULL, LONG_MISSING_NAMES },
	{ "group-by", required_argument, NULL, LONG_GROUP_BY },
	{ "interval", required_argument, NULL, LONG_INTERVAL },
	{ "jobs", required_argument, NULL, LONG_JOBS },
	{ "max-nodes", required_argument, NULL, LONG_MAX_NODES },
	{ "metadata", no_argument, NULL, LONG_METADATA },
	{ "no-legend", no_argument, NULL, LONG_NO_LEGEND },
	{ "pipes", required_argument, NULL, LONG_PIPES },
	{ "precedence", no_argument, NULL, LONG_PRECEDENCE },
	{ "raw", no_argument, NULL, LONG_RAW },
	{ "wide", no_argument, NULL, LONG_WIDE },
	{ "reduce", no_argument, NULL, LONG_REDUCE },
	{ "sort", required_argument, NULL, LONG_SORT },
	{ "stacks", required_argument, NULL, LONG_STACKS },
	TRACES_OPTIONS, TRACES_OUTPUT_OPTIONS,
	{ "top", required_argument, NULL, LONG_TOP },
	{ "tree", no_argument, NULL, LONG_TREE },
	{ "tsv", no_argument, NULL, LONG_TSV },
	{ "output", required_argument, NULL, 'o' },
	{ "width", required_argument, NULL, LONG_WIDTH },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ NULL, 0, NULL, 0 },
};

static const char help_head[] =
"Usage: wfdag [options] -o FILE [TRACE...]\n"
"       wfdag ANALYSIS [options] [TRACE...]\n"
"\n"
"Writes the graph of a workflow from its trace (default: trace.db in the current\n"
"directory): processes, files, and the data that processes have exchanged by\n"
"files. The graph has no cycle: a rewritten file has a node for each version, a\n"
"process that reads data made from its own output has a node for each part.\n"
"\n"
"Analyses, as a table:\n";

static const char help_analyses[] =
"      --by WHAT          for weight: bytes, time or size\n"
"      --interval SECONDS   for parallelism: length of a row (default: a fiftieth\n"
"                         of the run)\n"
"      --cores N, --jobs J, --faster 'GLOB=2x'   for whatif: number of cores;\n"
"                         number of jobs that a driver runs at a time (default:\n"
"                         the number of cores); commands that GLOB matches take\n"
"                         half the time\n"
"      --format FORMAT    table, csv, tsv or json; also: --csv --tsv --json\n"
"      --sort COLUMN, --top N, --raw   order of the rows (-COLUMN: descending),\n"
"                         only the first N, numbers without units\n"
"      --columns NAME[,NAME...]   only these columns, in this order\n"
"      --wide             all columns, also if the terminal is too narrow\n"
"\n"
"Formats; their file, or that of a table, by -o (stdout without it):\n"
"  -o, --output FILE      of the format before it, else of that of its ending:\n"
"                         -o graph.svg, --json -o -; may be repeated\n";

static const char help_graph[] =
"\n"
"Which graph:\n"
"      --dag              processes and files (default)\n"
"      --tree             processes only, each with the processes that it started\n"
"      --fold             one node for each process and file; the graph may then\n"
"                         have cycles\n"
"      --precedence       as --fold; a process that creates or writes a file does\n"
"                         not read it\n"
"      --pipes edge|node  pipes and sockets as edges between processes (default),\n"
"                         or as files\n"
"      --metadata         also accesses that read only the attributes of a file\n"
"      --ghosts           also missing names: looked up, but not found\n"
"      --reduce           without edges whose ends a longer path connects\n"
"\n"
"How it looks:\n"
"      --width WHAT       width of the edges: bytes, rate or time\n"
"      --cluster WHAT     a frame around each phase or job\n"
"      --max-nodes N      fold a larger graph to N nodes, in DOT and pictures\n"
"                         (default: 2000; 0: no limit); if the option is given,\n"
"                         in all output files\n"
"      --no-legend        without the legend below the picture\n"
"      --stacks WHAT      for --collapsed: wall, cpu, io, read or written of each\n"
"                         process (default: wall); directory-io, directory-read\n"
"                         or directory-written of each directory\n"
"\n"
"Which part:\n"
"      --all              also files of the system (/usr, /lib, /etc, /dev and\n"
"                         others), and private ones of tools (.cache, .snakemake,\n"
"                         __pycache__ and others)\n"
"      --file GLOB        only files of that path and the processes that use\n"
"                         them: --include 'path:GLOB'\n"
"      --group-by WHAT    one node for all processes of the same command, exe,\n"
"                         xform, job, phase, host or env:NAME, and for files with\n"
"                         the same writers and readers; ranks: one node for all\n"
"                         ranks of an MPI job; directory: one for the files of a\n"
"                         directory\n"
"      --expand PHASE     one node for each phase, but not for this one\n"
"      --ancestors-of NODE, --descendants-of NODE   only nodes with a path to\n"
"                         NODE, or from NODE\n"
"      --between A --between B   only nodes on a path from A to B\n"
"                         NODE: an id (p12, f7), or a glob for paths of files\n"
"                         and for programs\n";

static const char help_tail[] =
"\n"
TRACES_HELP TRACES_OUTPUT_HELP
CLI_COMPLETE_HELP
"  -h, --help             print this\n"
"  -V, --version          print the version\n"
"\n"
"Exit status: 0, 1 (an error), 2 (wrong usage), 3 (--strict).\n";

static const char *const pipes[] = { "edge", "node", NULL };
static const char *const widths[] = { "none", "bytes", "rate", "time", NULL };
_Static_assert(sizeof(widths) / sizeof(widths[0]) == DOT_WIDTH_MAX + 1, "a name for each width");
static const char *const clusters[] = { "none", "phase", "job", NULL };
_Static_assert(sizeof(clusters) / sizeof(clusters[0]) == DOT_CLUSTER_MAX + 1, "a name for each cluster");
static const char *const weights[] = { "bytes", "time", "size", NULL };

/* ---- values ---- */

/* Takes the text; dag_options_finish() frees it. */
static int keep(struct dag_options *o, char *text, const char **ret)
{
	int status = text ? words_add(&o->globs, text) : err_status(EXIT_OWN, "out of memory");

	if (status)
		free(text);
	*ret = status ? NULL : text;
	return status;
}

static int add_file(struct dag_options *o, const char *glob)
{
	const char *path;
	char *text = NULL;
	int status;

	if (!*glob)
		return err_status(EXIT_USAGE, "an empty glob matches nothing: leave out --file, or use '*'");
	if (asprintf(&text, "path:%s", glob) < 0)
		text = NULL;
	status = keep(o, text, &path);
	return status ? status : words_add(&o->choice.include, path);
}

/* Adds one name of --group-by. */
static int add_group(struct dag_options *o, const char *name, size_t len)
{
	const char *text;
	int status;

	if (len == strlen("directory") && strncmp(name, "directory", len) == 0) {
		o->fold.directories = true;
		return 0;
	}
	if (len == strlen("process") && strncmp(name, "process", len) == 0) {
		o->shape.fold = true;
		return 0;
	}
	if (o->group_words.n == COMPOSE_BY_MAX)
		return err_status(EXIT_USAGE, "--group-by has too many names: at most %d", COMPOSE_BY_MAX);
	status = keep(o, strndup(name, len), &text);
	if (status)
		return status;
	o->choice.by[o->group_words.n] = text;
	o->fold.groups = true;
	return words_add(&o->group_words, text);
}

static int add_groups(struct dag_options *o, const char *names)
{
	int status;

	do {
		size_t len = strcspn(names, ",");

		status = add_group(o, names, len);
		names += len;
	} while (status == 0 && *names++);
	return status;
}

static int add_between(struct dag_options *o, const char *node)
{
	if (o->reach.between[1])
		return err_status(EXIT_USAGE, "--between is given more than twice: give it once for each end");
	o->reach.between[o->reach.between[0] ? 1 : 0] = node;
	return 0;
}

static int parse_max(struct dag_options *o, const char *text)
{
	o->max_given = true;
	return choice_parse_count("--max-nodes", text, &o->max_nodes);
}

static void is_for(struct dag_options *o, const char *option, const char *analysis)
{
	o->own_option = option;
	o->own_analysis = analysis;
}

static int parse_interval(struct dag_options *o, const char *text)
{
	int status = choice_parse_seconds("--interval", text, &o->analyse.interval_ns);

	is_for(o, "--interval", "parallelism");
	if (status == 0 && o->analyse.interval_ns == 0)
		return err_status(EXIT_USAGE, "invalid value '%s' for --interval: it must be more than 0 seconds", text);
	return status;
}

static int parse_cores(struct dag_options *o, const char *text)
{
	char *end;
	double cores = strtod(text, &end);

	if (end == text || *end || !isfinite(cores) || cores <= 0)
		return err_status(EXIT_USAGE, "invalid value '%s' for --cores: it must be a number above 0", text);
	o->analyse.replay.cores = cores;
	is_for(o, "--cores", "whatif");
	return 0;
}

static int parse_jobs(struct dag_options *o, const char *text)
{
	int status = choice_parse_count("--jobs", text, &o->analyse.replay.jobs);

	is_for(o, "--jobs", "whatif");
	if (status == 0 && o->analyse.replay.jobs == 0)
		return err_status(EXIT_USAGE, "invalid value '%s' for --jobs: it must be 1 or more", text);
	return status;
}

#define FASTER_MIN 1e-6

/* GLOB=FACTORx */
static int add_faster(struct dag_options *o, const char *text)
{
	struct replay_options *replay = &o->analyse.replay;
	const char *equals = strrchr(text, '='), *glob;
	char *end = NULL;
	double factor = equals ? strtod(equals + 1, &end) : 0;
	int status;

	if (!equals || equals == text || end == equals + 1 || (*end && strcmp(end, "x") != 0) || !isfinite(factor) ||
	    factor < FASTER_MIN || factor > 1 / FASTER_MIN)
		return err_status(EXIT_USAGE, "invalid value '%s' for --faster: it must be GLOB=FACTORx, as 'cc1=2x', "
			"from 0.000001 to 1000000", text);
	status = keep(o, strndup(text, equals - text), &glob);
	if (status)
		return status;
	if (vector_push(o->faster, replay->n_faster, (struct replay_faster){ glob, factor }) < 0)
		return err_status(EXIT_OWN, "out of memory");
	replay->faster = o->faster;
	is_for(o, "--faster", "whatif");
	return 0;
}

/* ---- options ---- */

static int apply_name(struct dag_options *o, int option, const char *value)
{
	int n = 0, status;

	switch (option) {
	case LONG_BY:
		is_for(o, "--by", "weight");
		status = choice_parse_name("weight", value, weights, &n);
		o->analyse.by = n;
		return status;
	case LONG_CLUSTER:
		status = choice_parse_name("frame", value, clusters, &n);
		o->dot.cluster = n;
		return status;
	case LONG_FORMAT:
		status = choice_parse_name("format", value, table_formats, &n);
		o->format = n;
		return status;
	case LONG_PIPES:
		status = choice_parse_name("form of pipes", value, pipes, &n);
		o->shape.pipes_are_nodes = n;
		return status;
	case LONG_STACKS:
		o->stacks_given = true;
		return choice_parse_name("kind of stacks", value, stacks_names, &o->stacks);
	case LONG_WIDTH:
		status = choice_parse_name("width", value, widths, &n);
		o->dot.width = n;
		return status;
	default: return choice_apply(&o->choice, option, value);
	}
}

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), len = strlen(end);

	return n >= len && strcmp(text + n - len, end) == 0;
}

/* Of tables alone: .tsv and .txt. */
static int take_file(struct dag_options *o, const char *file)
{
	bool is_tsv = ends_with(file, ".tsv");

	if (o->formats.pending >= 0 || (!is_tsv && !ends_with(file, ".txt") && o->format == TABLE_TEXT))
		return formats_file(&o->formats, file);
	if (is_tsv)
		o->format = TABLE_TSV;
	o->table_file = file;
	return 0;
}

static int apply(void *options, int option, const char *value)
{
	struct dag_options *o = options;

	if (option >= LONG_EXPORT && option < LONG_EXPORT + EXPORTS_MAX)
		return formats_option(&o->formats, option - LONG_EXPORT, value);
	switch (option) {
	case LONG_ALL: o->all = true; return 0;
	case LONG_ANCESTORS_OF: o->reach.ancestors_of = value; return 0;
	case LONG_BETWEEN: return add_between(o, value);
	case LONG_COLUMNS: o->columns = value; return 0;
	case LONG_CORES: return parse_cores(o, value);
	case LONG_DAG: o->shape.what = SHAPE_DAG; return 0;
	case LONG_DESCENDANTS_OF: o->reach.descendants_of = value; return 0;
	case LONG_EXPAND: o->fold.expand = value; return 0;
	case LONG_FASTER: return add_faster(o, value);
	case LONG_FILE: return add_file(o, value);
	case LONG_FOLD: o->shape.fold = true; return 0;
	case LONG_MISSING_NAMES: o->missing_names = true; return 0;
	case LONG_GROUP_BY: return add_groups(o, value);
	case LONG_INTERVAL: return parse_interval(o, value);
	case LONG_JOBS: return parse_jobs(o, value);
	case LONG_MAX_NODES: return parse_max(o, value);
	case LONG_METADATA: o->shape.metadata = true; return 0;
	case LONG_NO_LEGEND: o->dot.no_legend = true; return 0;
	case LONG_PRECEDENCE: o->shape.precedence = true; return 0;
	case LONG_RAW: o->raw = true; return 0;
	case LONG_WIDE: o->wide = true; return 0;
	case LONG_REDUCE: o->reduce = true; return 0;
	case LONG_SORT: o->sort = value; return 0;
	case TRACES_FOREIGN: o->foreign = true; return 0;
	case TRACES_STRICT: o->strict = true; return 0;
	case TRACES_FORCE: output_force(); return 0;
	case LONG_TOP: return choice_parse_count("--top", value, &o->top);
	case 'o': return take_file(o, value);
	case LONG_TSV: o->format = TABLE_TSV; return 0;
	case LONG_TREE: o->shape.what = SHAPE_TREE; return 0;
	default: return apply_name(o, option, value);
	}
}

/* ---- after the last ---- */

static bool has_output(const struct dag_options *o)
{
	for (int i = 0; i < EXPORTS_MAX; i++)
		if (o->outputs[i])
			return true;
	return false;
}

static const struct analysis *find_analysis(const char *name)
{
	for (int i = 0; analyses[i].name; i++)
		if (strcmp(analyses[i].name, name) == 0)
			return &analyses[i];
	return NULL;
}

/* The first word is the name of an analysis; all others are traces. */
static int take_words(struct dag_options *o, char **words)
{
	int status;

	o->analysis = *words ? find_analysis(*words) : NULL;
	if (o->analysis)
		words++;
	else if (*words && !strchr(*words, '/') && access(*words, F_OK) < 0)
		return err_status(EXIT_USAGE, "'%s' is neither an analysis nor a trace; see 'wfdag --help' for the analyses",
			*words);
	status = words_add_all(&o->traces, words);
	if (status == 0 && o->traces.n == 0)
		status = words_add(&o->traces, "trace.db");
	return status;
}

/* One table or one graph on stdout: no program could read two. */
static int check_stdout(const struct dag_options *o)
{
	const char *first = NULL;

	for (int i = 0; exports[i].option; i++) {
		if (!o->outputs[i] || strcmp(o->outputs[i], "-") != 0)
			continue;
		if (o->analysis)
			return err_status(EXIT_USAGE, "the table of %s and the graph of --%s would be in one output: give --%s -o FILE",
				o->analysis->name, exports[i].option, exports[i].option);
		if (first)
			return err_status(EXIT_USAGE, "the graphs of --%s and --%s would be in one output: give --%s -o FILE", first,
				exports[i].option, exports[i].option);
		first = exports[i].option;
	}
	return 0;
}

/* Some formats show each process for itself; of lines there are several kinds. */
static int check_single(const struct dag_options *o)
{
	bool has_lines = false;

	for (int i = 0; exports[i].option; i++) {
		if (!o->outputs[i] || !exports[i].is_single)
			continue;
		has_lines |= exports[i].write_lines != NULL;
		if (o->fold.groups || o->fold.expand || o->max_given)
			return err_status(EXIT_USAGE, "--%s shows each process: leave out --%s", exports[i].option,
				o->max_given ? "max-nodes" : "group-by and --expand");
	}
	return !o->stacks_given || has_lines ? 0
					     : err_status(EXIT_USAGE, "--stacks is for --collapsed: leave it out, or give --collapsed");
}

static int check(const struct dag_options *o)
{
	if (!o->analysis && !has_output(o))
		return err_status(EXIT_USAGE, "no output is given: give -o graph.svg, --dot or another format, or an analysis; see "
			"'wfdag --help'");
	if (!o->analysis && (o->sort || o->columns || o->top >= 0 || o->raw || o->format != TABLE_TEXT))
		return err_status(EXIT_USAGE, "--columns, --format, --raw, --sort and --top are for tables: name an analysis, see "
			"'wfdag --help'");
	if (o->own_analysis && (!o->analysis || strcmp(o->analysis->name, o->own_analysis) != 0))
		return err_status(EXIT_USAGE, "%s is for %s: leave it out, or give 'wfdag %s'", o->own_option, o->own_analysis,
			o->own_analysis);
	if (o->reach.between[0] && !o->reach.between[1])
		return err_status(EXIT_USAGE, "--between needs two ends: --between A --between B");
	return check_single(o) || check_stdout(o) || choice_check(&o->choice) ? EXIT_USAGE : 0;
}

/* CSV and JSON are formats of graphs and of tables. */
static void take_format_of_table(struct dag_options *o)
{
	for (int i = 0; exports[i].option; i++) {
		bool is_csv = strcmp(exports[i].option, "csv") == 0;

		if (!o->outputs[i] || (!is_csv && strcmp(exports[i].option, "json") != 0))
			continue;
		o->format = is_csv ? TABLE_CSV : TABLE_JSON;
		o->table_file = o->outputs[i];
		o->outputs[i] = NULL;
	}
}

/* --format csv and --format json of a graph. */
static void take_format_of_graph(struct dag_options *o)
{
	for (int i = 0; exports[i].option && !has_output(o); i++)
		if ((o->format == TABLE_CSV && strcmp(exports[i].option, "csv") == 0) ||
			(o->format == TABLE_JSON && strcmp(exports[i].option, "json") == 0)) {
			o->outputs[i] = o->table_file ? o->table_file : "-";
			o->format = TABLE_TEXT;
		}
}

static int finish(void *options, char **words)
{
	struct dag_options *o = options;
	int status = formats_finish(&o->formats, *words && find_analysis(*words) ? words + 1 : words);

	if (status == 0)
		status = take_words(o, words);
	if (status == 0 && o->analysis)
		take_format_of_table(o);
	else if (status == 0)
		take_format_of_graph(o);
	if (status == 0)
		status = check(o);
	if (status == 0 && o->fold.expand && !o->fold.groups)
		status = add_groups(o, "phase");
	o->shape.choosy = o->choice.include.n > 0;
	if (o->analyse.replay.cores > 0 && o->analyse.replay.jobs == 0)
		o->analyse.replay.jobs = (int64_t)ceil(fmin(o->analyse.replay.cores, 1e9));
	if (status == 0 && !o->all)
		status = choice_hide_system(&o->choice);
	return status || o->all ? status : choice_hide_private(&o->choice);
}

/* ---- completions ---- */

static void ask_verbs(const struct cli *cli)
{
	(void)cli;
	if (complete_word(0))
		return;
	for (int i = 0; analyses[i].name; i++)
		complete_add(analyses[i].name, strlen(analyses[i].name), analyses[i].help);
	for (const struct verb *verb = verbs; verb->name; verb++)
		complete_add(verb->name, strlen(verb->name), verb->help);
}

static void ask_columns(const struct cli *cli)
{
	const char *word = complete_word(0);
	const struct analysis *analysis = word ? find_analysis(word) : NULL;

	(void)cli;
	if (analysis)
		dag_add_columns(analysis);
}

static const struct complete_value completed[] = {
	{ "phase", COMPLETE_WORDS, false, NULL, trace_words_phases },
	{ "job", COMPLETE_WORDS, false, NULL, trace_words_jobs },
	{ "process", COMPLETE_WORDS, false, NULL, trace_words_processes },
	{ "include", COMPLETE_FILE, false, NULL, NULL },
	{ "exclude", COMPLETE_FILE, false, NULL, NULL },
	{ "by", COMPLETE_WORDS, false, weights, NULL },
	{ "cluster", COMPLETE_WORDS, false, clusters, NULL },
	{ "columns", COMPLETE_WORDS, true, NULL, ask_columns },
	{ "sort", COMPLETE_WORDS, false, NULL, ask_columns },
	{ "expand", COMPLETE_WORDS, false, NULL, trace_words_phases },
	{ "format", COMPLETE_WORDS, false, table_formats, NULL },
	{ "group-by", COMPLETE_WORDS, true, trace_words_dimensions, NULL },
	{ "pipes", COMPLETE_WORDS, false, pipes, NULL },
	{ "stacks", COMPLETE_WORDS, false, stacks_names, NULL },
	{ "width", COMPLETE_WORDS, false, widths, NULL },
	{ "file", COMPLETE_FILE, false, NULL, NULL },
	{ "ancestors-of", COMPLETE_FILE, false, NULL, NULL },
	{ "descendants-of", COMPLETE_FILE, false, NULL, NULL },
	{ "between", COMPLETE_FILE, false, NULL, NULL },
	{ "output", COMPLETE_FILE, false, NULL, NULL },
	{ NULL, COMPLETE_WORDS, false, NULL, NULL },
};

static const struct completions completions = { completed, ask_verbs, COMPLETE_FILES };

static void print_help(void)
{
	fputs(help_head, stdout);
	for (int i = 0; analyses[i].name; i++)
		printf("  %-18s %s\n", analyses[i].name, analyses[i].help);
	for (const struct verb *verb = verbs; verb->name; verb++)
		printf("%s  wfdag %-9s %s\n", verb == verbs ? "\nOther verbs:\n" : "", verb->name, verb->help);
	fputs("\nOptions of analyses:\n", stdout);
	fputs(help_analyses, stdout);
	for (const struct export *e = exports; e->option; e++)
		printf("      --%-16s %s\n", e->option, e->help);
	fputs(help_graph, stdout);
	fputs(choice_help, stdout);
	fputs(help_tail, stdout);
}

static const struct format *list_formats(struct format *ret_formats)
{
	for (int i = 0; exports[i].option; i++)
		ret_formats[i] = (struct format){ exports[i].option, strcmp(exports[i].option, "jpeg") == 0 ? "jpg" : NULL,
			exports[i].picture && strcmp(exports[i].picture, "svg") != 0 };
	return ret_formats;
}

/* The options of exports, then the others. */
static void list_options(struct option *ret_options)
{
	struct option *next = ret_options;

	for (int i = 0; exports[i].option; i++)
		*next++ = (struct option){ exports[i].option, optional_argument, NULL, LONG_EXPORT + i };
	memcpy(next, long_options, sizeof(long_options));
}

bool dag_options_parse(int argc, char **argv, struct dag_options *options, int *ret_status)
{
	static struct format formats[EXPORTS_MAX + 1];
	struct option all[EXPORTS_MAX + sizeof(long_options) / sizeof(long_options[0])];
	const struct cli cli = { "wfdag", about_print, all, print_help, apply, finish, &completions };

	*options = (struct dag_options){ .choice.step_ns = 1, .top = -1, .max_nodes = DAG_MAX_NODES };
	options->formats = (struct formats){ list_formats(formats), options->outputs, -1 };
	list_options(all);
	return cli_parse(&cli, argc, argv, options, ret_status);
}

void dag_options_finish(struct dag_options *options)
{
	for (int i = 0; i < options->globs.n; i++)
		free((void *)(uintptr_t)options->globs.word[i]);
	free(options->faster);
	words_free(&options->globs);
	words_free(&options->group_words);
	words_free(&options->traces);
	choice_finish(&options->choice);
}
