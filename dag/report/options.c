/* SPDX-License-Identifier: MIT */
#include "dag/report/options.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "base/complete.h"
#include "base/err.h"
#include "base/output.h"
#include "dag/diff/options.h"
#include "dag/trace/choice.h"
#include "dag/trace/trace_words.h"
#include "dag/trace/traces.h"
#include "db/about.h"
#include "db/query.h"

enum long_option { LONG_ABOVE = 256, LONG_DIFF, LONG_MAX_NODES, LONG_PERFETTO, LONG_TITLE };

static const struct option long_options[] = {
	CHOICE_OPTIONS,
	TRACES_OPTIONS, TRACES_OUTPUT_OPTIONS,
	{ "above", required_argument, NULL, LONG_ABOVE },
	{ "diff", no_argument, NULL, LONG_DIFF },
	{ "max-nodes", required_argument, NULL, LONG_MAX_NODES },
	{ "output", required_argument, NULL, 'o' },
	{ "perfetto", optional_argument, NULL, LONG_PERFETTO },
	{ "title", required_argument, NULL, LONG_TITLE },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ NULL, 0, NULL, 0 },
};

static const char help_head[] =
"Usage: wfreport [options] [TRACE...]\n"
"       wfreport --diff [options] A.db B.db\n"
"\n"
"A report of a workflow as one HTML file, from its trace (default: trace.db in\n"
"the current directory). It needs no network and opens from disk. Several traces\n"
"count as one workflow.\n"
"\n"
"Examples:\n"
"  wfreport                              report.html of trace.db\n"
"  wfreport -o run7.html --title 'run 7' run7.db\n"
"  wfreport --phase mDiffFit             of one phase only\n"
"  wfreport --perfetto -o run7.json run7.db\n"
"                  a time line for Perfetto, chrome://tracing or speedscope\n"
"  wfreport --diff -o diff.html before.db after.db     two runs side by side\n"
"\n"
"Output:\n"
"      --diff             a page that compares two traces, or with several runs\n"
"                         of each side: --diff A1.db A2.db -- B1.db B2.db\n"
"  -o, --output FILE      the page (default: report.html; '-': standard output)\n"
"      --title TITLE      its title (default: the command that was traced)\n"
"      --max-nodes N      fold a larger graph or tree of processes to N nodes\n"
"                         (default 150)\n"
"      --perfetto         write the time line instead of the page, as trace\n"
"                         events in JSON, to stdout or -o\n"
"      --above SECONDS    with --perfetto: only operations that took at least so\n"
"                         long (default 0.001)\n"
TRACES_HELP TRACES_OUTPUT_HELP
"\n"
"Which part of the run:\n";

static const char help_tail[] =
"\n"
CLI_COMPLETE_HELP
"  -h, --help             print this\n"
"  -V, --version          print the version\n"
"\n"
"Exit status: 0, 1 (an error), 2 (wrong usage), 3 (--strict).  See wfreport(1).\n";

static int refuse_file(const char *file)
{
	return err_status(EXIT_USAGE, "--perfetto is a format and takes no file; give --perfetto -o %s", file);
}

/* --perfetto x.json, as it was once. */
static bool is_no_trace(const char *file)
{
	size_t len = strlen(file);

	return strcmp(file, "-") == 0 || (len > 5 && strcmp(file + len - 5, ".json") == 0);
}

static int apply(void *options, int option, const char *value)
{
	struct report_options *o = options;

	switch (option) {
	case 'o': o->output = value; return 0;
	case LONG_ABOVE:
		o->above_given = true;
		return choice_parse_seconds("--above", value, &o->above_ns);
	case LONG_DIFF: o->is_diff = true; return 0;
	case LONG_MAX_NODES:
		o->max_given = true;
		return choice_parse_count("--max-nodes", value, &o->max_nodes);
	case LONG_PERFETTO:
		o->is_perfetto = true;
		return value ? refuse_file(value) : 0;
	case TRACES_STRICT: o->strict = true; return 0;
	case TRACES_FORCE: output_force(); return 0;
	case LONG_TITLE: o->title = value; return 0;
	case TRACES_FOREIGN: o->how |= QUERY_FOREIGN; return 0;
	default: return choice_apply(&o->choice, option, value);
	}
}

static int finish(void *options, char **words)
{
	struct report_options *o = options;
	int status = words_add_all(&o->traces, words);

	if (status == 0 && o->is_diff && o->is_perfetto)
		return err_status(EXIT_USAGE, "--diff and --perfetto exclude each other: leave one out");
	if (status == 0 && o->traces.n == 0 && !o->is_diff)
		status = words_add(&o->traces, "trace.db");
	if (status == 0 && o->above_given && !o->is_perfetto)
		return err_status(EXIT_USAGE, "--above is for --perfetto: give that, too, or leave --above out");
	if (status == 0 && o->is_perfetto && o->title)
		return err_status(EXIT_USAGE, "--perfetto writes no page: leave out --title");
	if (status == 0 && o->is_perfetto && !o->output && is_no_trace(o->traces.word[0]))
		return refuse_file(o->traces.word[0]);
	if (o->is_perfetto)
		o->perfetto = o->output ? o->output : "-";
	if (status == 0 && o->max_nodes < 2)
		return err_status(EXIT_USAGE, "cannot use %lld for --max-nodes: it must be 2 or more", (long long)o->max_nodes);
	o->output = o->output ? o->output : "report.html";
	if (status == 0 && o->is_diff)
		status = choice_hide_system(&o->choice);
	return status ? status : choice_check(&o->choice);
}

static const struct complete_value completed[] = {
	{ "phase", COMPLETE_WORDS, false, NULL, trace_words_phases },
	{ "job", COMPLETE_WORDS, false, NULL, trace_words_jobs },
	{ "process", COMPLETE_WORDS, false, NULL, trace_words_processes },
	{ "include", COMPLETE_FILE, false, NULL, NULL },
	{ "exclude", COMPLETE_FILE, false, NULL, NULL },
	{ "output", COMPLETE_FILE, false, NULL, NULL },
	{ NULL, COMPLETE_WORDS, false, NULL, NULL },
};
static const struct completions completions = { completed, NULL, COMPLETE_FILES };

static void print_help(void)
{
	fputs(help_head, stdout);
	fputs(choice_help, stdout);
	fputs(help_tail, stdout);
}

bool report_options_parse(int argc, char **argv, struct report_options *options, int *ret_status)
{
	static const struct cli cli = { "wfreport", about_print, long_options, print_help, apply, finish, &completions };

	*options = (struct report_options){ .max_nodes = REPORT_NODES, .above_ns = REPORT_ABOVE_NS,
		.how = QUERY_OPS, .behind = diff_options_behind(argc, argv), .choice.step_ns = 1000000000 };
	return cli_parse(&cli, argc, argv, options, ret_status);
}

void report_options_finish(struct report_options *options)
{
	words_free(&options->traces);
	choice_finish(&options->choice);
}
