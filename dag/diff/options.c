/* SPDX-License-Identifier: MIT */
#include "dag/diff/options.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/complete.h"
#include "base/err.h"
#include "dag/trace/choice.h"
#include "dag/trace/trace_words.h"
#include "dag/trace/traces.h"
#include "db/about.h"

#define TOP 20 /* rows of each part without --top */

enum long_option {
	LONG_ALL = 256,
	LONG_DATA,
	LONG_FAIL_ON,
	LONG_FORMAT,
	LONG_CSV,
	LONG_TSV,
	LONG_JSON,
	LONG_MARKDOWN,
	LONG_RAW,
	LONG_WIDE,
	LONG_ROOT,
	LONG_TOP,
};

static const struct option long_options[] = {
	{ "all", no_argument, NULL, LONG_ALL },
	{ "data", no_argument, NULL, LONG_DATA },
	{ "exclude", required_argument, NULL, CHOICE_EXCLUDE },
	{ "fail-on", required_argument, NULL, LONG_FAIL_ON },
	{ "format", required_argument, NULL, LONG_FORMAT },
	{ "csv", no_argument, NULL, LONG_CSV },
	{ "tsv", no_argument, NULL, LONG_TSV },
	{ "json", no_argument, NULL, LONG_JSON },
	{ "markdown", no_argument, NULL, LONG_MARKDOWN },
	{ "output", required_argument, NULL, 'o' },
	{ "include", required_argument, NULL, CHOICE_INCLUDE },
	{ "phase", required_argument, NULL, CHOICE_PHASE },
	{ "raw", no_argument, NULL, LONG_RAW },
	{ "wide", no_argument, NULL, LONG_WIDE },
	{ "root", required_argument, NULL, LONG_ROOT },
	TRACES_OPTIONS,
	{ "top", required_argument, NULL, LONG_TOP },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ NULL, 0, NULL, 0 },
};

static const char help[] =
"Usage: wfdag diff [options] A.db B.db\n"
"       wfdag diff [options] A1.db A2.db ... -- B1.db B2.db ...\n"
"\n"
"Compares two runs of a workflow: processes, files and edges of the graph that\n"
"only one of them has, commands that changed, and how much time, CPU, memory and\n"
"I/O each run took. It ignores process ids, times, the order of jobs, the\n"
"directory of the run, and generated names as those of mkstemp(3). With several\n"
"runs of each side, what differs among runs of one side is noise: it does not\n"
"count.\n"
"\n"
"Examples:\n"
"  wfdag diff before.db after.db\n"
"  wfdag diff --fail-on graph,time:10% good.db new.db\n"
"                                       for a test: fails if the second is slower\n"
"  wfdag diff --fail-on processes,bytes:1% --markdown a1.db a2.db -- b1.db b2.db\n"
"                                       for a pull request\n"
"\n"
"Output:\n"
"      --format FORMAT    table, markdown (a summary for a pull request), csv,\n"
"                         tsv or json (these with all results); also: --markdown\n"
"                         --csv --tsv --json\n"
"  -o, --output FILE      there instead of stdout\n"
"      --top N            the first N rows of each part of the table (default 20;\n"
"                         0: all rows)\n"
"      --raw              plain numbers in tables: ns, bytes, parts of 1\n"
"      --wide             all columns of a table, also if the terminal is too\n"
"                         narrow\n"
"      --fail-on WHAT[,WHAT]   the exit status is 1 if one of these holds, else\n"
"                         0: graph (the graphs differ), exit (a process exited\n"
"                         with another status), time:10%, cpu:10%, memory:10%,\n"
"                         bytes:10% (the second run used more than 10 % more),\n"
"                         processes, files, edges, operations, bytes: more by\n"
"                         one, or by a percentage, as bytes:1%\n"
"\n"
"What is compared:\n"
"      --data             only the flow of data, without drivers, processes that\n"
"                         use no file, and the edges between a process and those\n"
"                         that it started; for runs of the same workflow by make,\n"
"                         ninja, snakemake ...\n"
"      --all              also files of the system (/usr, /lib, /etc, /dev and\n"
"                         others)\n"
"      --root DIR         paths relative to DIR (default: the directory in which\n"
"                         the run was started); if given twice, the first is for\n"
"                         A, the second for B\n"
"      --include GLOB     only files, or processes, that GLOB matches:\n"
"                         'path:GLOB' files by path, 'command:GLOB' processes by\n"
"                         program or command line, GLOB alone either\n"
"      --exclude GLOB     not these; both may be repeated\n"
"      --phase NAME, --phase NAME=GLOB   only this phase; jobs that GLOB matches\n"
"                         are the phase NAME\n"
"\n"
TRACES_HELP
"  -h, --help             print this\n"
"  -V, --version          print the version\n"
"\n"
"Exit status: 0 (same graph), 1 (different graphs, or --fail-on), 2 (failure), 3\n"
"(--strict). See wfdag(1).\n";

const char *const fails[] = { "graph", "exit", "time", "cpu", "memory", "bytes", "processes", "operations", "files", "edges", NULL };
_Static_assert(sizeof(fails) / sizeof(fails[0]) == FAIL_MAX + 1, "a name for each reason to fail");

static const char *const formats[] = { "table", "csv", "tsv", "json", "markdown", NULL };
_Static_assert(sizeof(formats) / sizeof(formats[0]) == TABLE_MARKDOWN + 2, "a name for each");

/* ---- values ---- */

static int complain_of(const char *text, size_t len)
{
	return err_status(EXIT_USAGE, "cannot use '%.*s' for --fail-on: it must be graph, exit, processes, operations, files, "
		"edges or bytes, these with or without a percentage, or time:, cpu: or memory: with one, as time:10%%", (int)len, text);
}

static int parse_fail(struct diff_options *o, const char *text, size_t len)
{
	const char *colon = memchr(text, ':', len);
	size_t name = colon ? (size_t)(colon - text) : len;
	char *end;
	int i = 0;

	while (fails[i] && (strlen(fails[i]) != name || strncmp(fails[i], text, name) != 0))
		i++;
	if (!fails[i] || (colon ? i < FAIL_TIME : i >= FAIL_TIME && i < FAIL_BYTES))
		return complain_of(text, len);
	o->fail_given = o->fail_on[i] = true;
	if (!colon)
		return 0;
	o->percent[i] = strtod(colon + 1, &end);
	if (end == colon + 1 || *end != '%' || end + 1 != text + len || !isfinite(o->percent[i]) || o->percent[i] < 0)
		return complain_of(text, len);
	return 0;
}

static int parse_fails(struct diff_options *o, const char *text)
{
	int status;

	do {
		size_t len = strcspn(text, ",");

		status = parse_fail(o, text, len);
		text += len;
	} while (status == 0 && *text++);
	return status;
}

static int parse_root(struct diff_options *o, const char *dir)
{
	if (*dir != '/')
		return err_status(EXIT_USAGE, "cannot use '%s' for --root: it must be absolute, as paths in a trace are", dir);
	if (o->root[1])
		return err_status(EXIT_USAGE, "--root is given too often: once for both runs, or once for each");
	o->root[o->root[0] ? 1 : 0] = dir;
	return 0;
}

static int apply(void *options, int option, const char *value)
{
	struct diff_options *o = options;
	int n = 0, status;

	switch (option) {
	case LONG_ALL: o->all = true; return 0;
	case LONG_DATA: o->data = true; return 0;
	case LONG_FAIL_ON: return parse_fails(o, value);
	case LONG_CSV: o->format = TABLE_CSV; return 0;
	case LONG_TSV: o->format = TABLE_TSV; return 0;
	case LONG_JSON: o->format = TABLE_JSON; return 0;
	case LONG_MARKDOWN: o->format = TABLE_MARKDOWN; return 0;
	case 'o': o->output = value; return 0;
	case LONG_FORMAT:
		status = choice_parse_name("format", value, formats, &n);
		o->format = n;
		return status;
	case LONG_RAW: o->raw = true; return 0;
	case LONG_WIDE: o->wide = true; return 0;
	case LONG_ROOT: return parse_root(o, value);
	case TRACES_FOREIGN: o->foreign = true; return 0;
	case TRACES_STRICT: o->strict = true; return 0;
	case LONG_TOP: return choice_parse_count("--top", value, &o->top);
	default: return choice_apply(&o->choice, option, value);
	}
}

/* ---- the whole ---- */

int diff_options_sides(struct diff_options *o, const char **words, const char *program)
{
	int n = 0;

	while (words[n])
		n++;
	o->traces = words;
	o->n[0] = o->behind > 0 && o->behind < n ? n - o->behind : n / 2;
	o->n[1] = n - o->n[0];
	if (n == 2 || (o->behind > 0 && o->behind < n))
		return 0;
	return err_status(EXIT_USAGE, "two traces are compared, but %d %s given: %s A.db B.db; several runs of each side have '--' between "
		"the sides: %s A1.db A2.db -- B1.db B2.db", n, n == 1 ? "is" : "are", program, program);
}

/* getopt_long() takes the first "--" away. */
int diff_options_behind(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "--") == 0)
			return argc - 1 - i;
	return -1;
}

static int finish(void *options, char **words)
{
	struct diff_options *o = options;
	int status = diff_options_sides(o, (const char **)words, "wfdag diff");

	if (status)
		return status;
	if (!o->root[1])
		o->root[1] = o->root[0];
	return o->all ? 0 : choice_hide_system(&o->choice);
}

/* Some need a percentage. */
static void ask_fails(const struct cli *cli)
{
	(void)cli;
	for (int i = 0; fails[i]; i++) {
		char text[32];

		snprintf(text, sizeof(text), "%s%s", fails[i], i >= FAIL_TIME && i < FAIL_BYTES ? ":" : "");
		complete_add(text, strlen(text), NULL);
	}
}

static const struct complete_value completed[] = {
	{ "phase", COMPLETE_WORDS, false, NULL, trace_words_phases },
	{ "include", COMPLETE_FILE, false, NULL, NULL },
	{ "exclude", COMPLETE_FILE, false, NULL, NULL },
	{ "root", COMPLETE_DIRECTORY, false, NULL, NULL },
	{ "fail-on", COMPLETE_WORDS, true, NULL, ask_fails },
	{ "format", COMPLETE_WORDS, false, formats, NULL },
	{ "output", COMPLETE_FILE, false, NULL, NULL },
	{ NULL, COMPLETE_WORDS, false, NULL, NULL },
};
static const struct completions completions = { completed, NULL, COMPLETE_FILES };

static void print_help(void)
{
	fputs(help, stdout);
}

bool diff_options_parse(int argc, char **argv, struct diff_options *options, int *ret_status)
{
	static const struct cli cli = { "wfdag diff", about_print, long_options, print_help, apply, finish, &completions };

	*options = (struct diff_options){ .choice.step_ns = 1, .top = TOP, .behind = diff_options_behind(argc, argv) };
	return cli_parse(&cli, argc, argv, options, ret_status);
}

void diff_options_finish(struct diff_options *options)
{
	choice_finish(&options->choice);
}
