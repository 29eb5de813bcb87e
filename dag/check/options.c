/* SPDX-License-Identifier: MIT */
#include "dag/check/options.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "base/complete.h"
#include "base/err.h"
#include "dag/check/check.h"
#include "dag/trace/choice.h"
#include "dag/trace/traces.h"
#include "db/about.h"

enum long_option {
	LONG_ALL = 256,
	LONG_DECLARED,
	LONG_FAIL_ON,
	LONG_FORMAT,
	LONG_CSV,
	LONG_TSV,
	LONG_JSON,
	LONG_MARKDOWN,
	LONG_SARIF,
	LONG_GITHUB,
	LONG_KINDS,
	LONG_NINJA,
	LONG_ROOT,
};

static const struct option long_options[] = {
	{ "all", no_argument, NULL, LONG_ALL },
	{ "declared", required_argument, NULL, LONG_DECLARED },
	{ "fail-on", required_argument, NULL, LONG_FAIL_ON },
	{ "format", required_argument, NULL, LONG_FORMAT },
	{ "csv", no_argument, NULL, LONG_CSV },
	{ "tsv", no_argument, NULL, LONG_TSV },
	{ "json", no_argument, NULL, LONG_JSON },
	{ "markdown", no_argument, NULL, LONG_MARKDOWN },
	{ "sarif", no_argument, NULL, LONG_SARIF },
	{ "github", no_argument, NULL, LONG_GITHUB },
	{ "output", required_argument, NULL, 'o' },
	{ "kinds", required_argument, NULL, LONG_KINDS },
	{ "ninja", required_argument, NULL, LONG_NINJA },
	{ "root", required_argument, NULL, LONG_ROOT },
	TRACES_OPTIONS,
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ NULL, 0, NULL, 0 },
};

static const char help[] =
"Usage: wfdag check [options] [TRACE...]\n"
"\n"
"Compares the dependencies that a build declares with the files that its recipes\n"
"used. Each finding has its evidence (process, file and time) and the line that\n"
"fixes it.\n"
"\n"
"Examples:\n"
"  ftrac run --make -- make -j8 && wfdag check     a build from scratch by make\n"
"  ftrac run -- ninja && wfdag check --ninja .     by ninja\n"
"  wfdag check --declared edges.csv                by another tool\n"
"\n"
"Kinds of findings:\n"
"  missing    a recipe uses a file that another recipe makes, or a source, and\n"
"             does not declare it\n"
"  redundant  the recipe does not use a prerequisite\n"
"  unordered  two recipes use a file, one of them writes it, and nothing orders\n"
"             the two\n"
"  ghost      a file of this name, if it appeared, would be used instead of the\n"
"             one that was found\n"
"\n"
"      --ninja DIR        take the dependencies from the build.ninja in DIR, by\n"
"                         'ninja -t'\n"
"      --declared FILE    take further dependencies from FILE: CSV with the\n"
"                         columns target, prerequisite and optionally kind\n"
"                         (normal, order-only); or the output of 'bazel aquery\n"
"                         --output=jsonproto'\n"
"      --root DIR         the directory of the project; other files are ignored\n"
"                         (default: the directory of the traced command)\n"
"      --all              check files elsewhere, too\n"
"      --kinds KIND[,KIND...]    the kinds of findings (default:\n"
"                         missing,redundant,unordered)\n"
"      --fail-on KIND[,KIND...]  the kinds that make the exit status 1 (default:\n"
"                         missing, redundant and unordered, if they are chosen)\n"
"      --format FORMAT    table, markdown, csv, tsv, json; for lines of\n"
"                         makefiles: sarif (2.1.0), github (commands of its\n"
"                         actions); also: --markdown --csv --tsv --json --sarif\n"
"                         --github\n"
"  -o, --output FILE      there instead of stdout\n"
"\n"
TRACES_HELP
"  -h, --help             print this\n"
"  -V, --version          print the version\n"
"\n"
"Exit status: 0 (nothing was found), 1 (something was found), 2 (failure, or\n"
"wrong usage), 3 (--strict). See wfdag(1).\n";

static const char *const formats[] = { "table", "csv", "tsv", "json", "markdown", "sarif", "github", NULL };
_Static_assert(sizeof(formats) / sizeof(formats[0]) == CHECK_GITHUB + 2, "a name for each");

static int add_kind(const char *option, const char *name, size_t len, unsigned *kinds)
{
	for (int i = 0; check_kinds[i]; i++)
		if (strlen(check_kinds[i]) == len && strncmp(check_kinds[i], name, len) == 0) {
			*kinds |= 1u << i;
			return 0;
		}
	return err_status(EXIT_USAGE, "unknown kind '%.*s' of %s: it must be missing, redundant, unordered "
		"or ghost", (int)len, name, option);
}

static int parse_kinds(const char *option, const char *text, unsigned *ret_kinds)
{
	int status = 0;

	*ret_kinds = 0;
	for (const char *at = text; status == 0; at++) {
		size_t len = strcspn(at, ",");

		status = add_kind(option, at, len, ret_kinds);
		at += len;
		if (*at == '\0')
			break;
	}
	return status;
}

static int apply(void *options, int option, const char *value)
{
	struct check_cli *o = options;

	switch (option) {
	case LONG_ALL: o->all = true; return 0;
	case LONG_DECLARED: o->declared = value; return 0;
	case LONG_FAIL_ON: return parse_kinds("--fail-on", value, &o->fail_on);
	case LONG_CSV: o->format = TABLE_CSV; return 0;
	case LONG_TSV: o->format = TABLE_TSV; return 0;
	case LONG_JSON: o->format = TABLE_JSON; return 0;
	case LONG_MARKDOWN: o->format = TABLE_MARKDOWN; return 0;
	case LONG_SARIF: o->format = CHECK_SARIF; return 0;
	case LONG_GITHUB: o->format = CHECK_GITHUB; return 0;
	case 'o': o->output = value; return 0;
	case LONG_FORMAT:
		return choice_parse_name("format", value, formats, &o->format);
	case LONG_KINDS: return parse_kinds("--kinds", value, &o->kinds);
	case LONG_NINJA: o->ninja = value; return 0;
	case LONG_ROOT: o->root = value; return 0;
	case TRACES_FOREIGN: o->foreign = true; return 0;
	case TRACES_STRICT: o->strict = true; return 0;
	default: return -1;
	}
}

static int finish(void *options, char **words)
{
	struct check_cli *o = options;
	int status;

	if (o->all && o->root)
		return err_status(EXIT_USAGE, "--root and --all exclude each other: leave one out");
	status = words_add_all(&o->traces, words);
	if (status == 0 && o->traces.n == 0)
		status = words_add(&o->traces, "trace.db");
	return status;
}

static const struct complete_value completed[] = {
	{ "ninja", COMPLETE_DIRECTORY, false, NULL, NULL },
	{ "declared", COMPLETE_FILE, false, NULL, NULL },
	{ "root", COMPLETE_DIRECTORY, false, NULL, NULL },
	{ "kinds", COMPLETE_WORDS, true, check_kinds, NULL },
	{ "fail-on", COMPLETE_WORDS, true, check_kinds, NULL },
	{ "format", COMPLETE_WORDS, false, formats, NULL },
	{ "output", COMPLETE_FILE, false, NULL, NULL },
	{ NULL, COMPLETE_WORDS, false, NULL, NULL },
};
static const struct completions completions = { completed, NULL, COMPLETE_FILES };

static void print_help(void)
{
	fputs(help, stdout);
}

bool check_options_parse(int argc, char **argv, struct check_cli *options, int *ret_status)
{
	static const struct cli cli = { "wfdag check", about_print, long_options, print_help, apply, finish, &completions };

	*options = (struct check_cli){ .kinds = (1u << CHECK_MISSING_NAME) - 1,
		.fail_on = (1u << CHECK_MISSING_NAME) - 1 };
	return cli_parse(&cli, argc, argv, options, ret_status);
}

void check_options_finish(struct check_cli *options)
{
	words_free(&options->traces);
}
