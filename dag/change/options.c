/* SPDX-License-Identifier: MIT */
#include "dag/change/options.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/output.h"
#include "dag/trace/choice.h"
#include "dag/trace/traces.h"
#include "db/about.h"

enum long_option {
	LONG_ALL = 256,
	LONG_BUILDER,
	LONG_COLUMNS,
	LONG_CSV,
	LONG_FORMAT,
	LONG_IN_TOTO,
	LONG_JSON,
	LONG_RAW,
	LONG_SORT,
	LONG_TEMPORARY,
	LONG_TOP,
	LONG_TSV,
	LONG_WIDE,
};

static const struct option long_options[] = {
	CHOICE_OPTIONS,
	{ "all", no_argument, NULL, LONG_ALL },
	{ "builder", required_argument, NULL, LONG_BUILDER },
	{ "columns", required_argument, NULL, LONG_COLUMNS },
	{ "csv", optional_argument, NULL, LONG_CSV },
	{ "format", required_argument, NULL, LONG_FORMAT },
	{ "in-toto", optional_argument, NULL, LONG_IN_TOTO },
	{ "json", optional_argument, NULL, LONG_JSON },
	{ "output", required_argument, NULL, 'o' },
	{ "raw", no_argument, NULL, LONG_RAW },
	{ "sort", required_argument, NULL, LONG_SORT },
	{ "temporary", no_argument, NULL, LONG_TEMPORARY },
	TRACES_OPTIONS, TRACES_OUTPUT_OPTIONS,
	{ "top", required_argument, NULL, LONG_TOP },
	{ "tsv", optional_argument, NULL, LONG_TSV },
	{ "wide", no_argument, NULL, LONG_WIDE },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ NULL, 0, NULL, 0 },
};

static const char help_head[] =
"Usage: wfdag changes [options] [TRACE...]\n"
"\n"
"Lists what the run created, changed, renamed and removed: the difference between\n"
"its begin and its end, as the trace tells it. A file is changed if data went to\n"
"it, whether or not its content is another one now, or if another file has taken\n"
"its place.\n"
"\n"
"Examples:\n"
"  wfdag changes                                what the run changed\n"
"  wfdag changes --phase gcc --csv -o new.csv   what a phase of it changed, for\n"
"                         other programs\n"
"  wfdag changes --in-toto -o build.json   what it made, and of what\n"
"\n";

static const char help_tail[] =
"\n"
"Output:\n"
"      --all              in the table, also each file of directories that are\n"
"                         new or gone\n"
"      --temporary        also what the run made and removed again\n"
"      --format FORMAT    table, csv, tsv or json; also:\n"
"      --csv  --tsv  --json\n"
"      --in-toto          a statement (in-toto v1, SLSA provenance v1) with the\n"
"                         SHA-256 of what was made and of what was read, as both\n"
"                         lie on disk now; not of what has changed since the run\n"
"      --builder URI      what the statement names as the builder (default:\n"
"                         file://HOST/)\n"
"  -o, --output FILE      there instead of stdout; its ending tells the format,\n"
"                         if no option does\n"
"      --columns NAME[,NAME...]   only these columns, in this order; by the names\n"
"                         that --csv has\n"
"      --sort COLUMN      numbers from the largest on, text from A on; -COLUMN:\n"
"                         in reverse order\n"
"      --top N            the first N rows\n"
"      --raw              plain numbers in tables\n"
"      --wide             all columns of a table, also if the terminal is too\n"
"                         narrow\n"
"\n"
TRACES_HELP TRACES_OUTPUT_HELP
"  -h, --help             print this\n"
"  -V, --version          print the version\n"
"\n"
"Exit status: 0, 1 (an error), 2 (wrong usage), 3 (--strict).  See wfdag(1).\n";

static const struct format formats[] = { { "csv", NULL, false }, { "tsv", NULL, false }, { "json", NULL, false },
	{ "in-toto", "intoto.json", false }, { NULL, NULL, false } };
_Static_assert(sizeof(formats) / sizeof(formats[0]) == CHANGES_FORMATS + 1, "a file for each");

/* A name that tells no format is that of the table as text, or of --format. */
static int take_file(struct changes_options *o, const char *file)
{
	size_t n = strlen(file);

	if (o->formats.pending < 0 && n > 12 && strcmp(file + n - 12, ".intoto.json") == 0)
		o->formats.pending = CHANGES_IN_TOTO;
	if (o->formats.pending >= 0 || formats_find(formats, file) >= 0)
		return formats_file(&o->formats, file);
	o->output = file;
	o->list = true;
	return 0;
}

static int parse_format(struct changes_options *o, const char *text)
{
	int format = 0, status = choice_parse_name("format", text, table_formats, &format);

	o->format = format;
	o->list = true;
	return status;
}

static int apply(void *options, int option, const char *value)
{
	struct changes_options *o = options;

	switch (option) {
	case LONG_ALL: o->all = true; return 0;
	case LONG_BUILDER: o->builder = value; return 0;
	case LONG_COLUMNS: o->columns = value; return 0;
	case LONG_CSV: return formats_option(&o->formats, CHANGES_CSV, value);
	case LONG_FORMAT: return parse_format(o, value);
	case LONG_IN_TOTO: return formats_option(&o->formats, CHANGES_IN_TOTO, value);
	case LONG_JSON: return formats_option(&o->formats, CHANGES_JSON, value);
	case 'o': return take_file(o, value);
	case LONG_RAW: o->raw = true; return 0;
	case LONG_SORT: o->sort = value; return 0;
	case LONG_TEMPORARY: o->temporary = true; return 0;
	case LONG_TOP: return choice_parse_count("--top", value, &o->top);
	case LONG_TSV: return formats_option(&o->formats, CHANGES_TSV, value);
	case LONG_WIDE: o->wide = true; return 0;
	case TRACES_FOREIGN: o->foreign = true; return 0;
	case TRACES_STRICT: o->strict = true; return 0;
	case TRACES_FORCE: output_force(); return 0;
	default: return choice_apply(&o->choice, option, value);
	}
}

static void take_formats(struct changes_options *o)
{
	static const enum table_format of[] = { [CHANGES_CSV] = TABLE_CSV, [CHANGES_TSV] = TABLE_TSV, [CHANGES_JSON] = TABLE_JSON };

	o->statement = o->files[CHANGES_IN_TOTO];
	for (int i = 0; i < CHANGES_IN_TOTO; i++)
		if (o->files[i]) {
			o->format = of[i];
			o->output = o->files[i];
			o->list = true;
		}
	o->list |= !o->statement;
}

static int check(const struct changes_options *o)
{
	const char *colon = o->builder ? strchr(o->builder, ':') : NULL;

	if (o->builder && (!colon || colon == o->builder || !colon[1] || strpbrk(o->builder, " \t\n\"<>")))
		return err_status(EXIT_USAGE, "cannot use '%s' for --builder: it must be a URI, such as https://ci.example.org/runner",
			o->builder);
	if (o->builder && !o->statement)
		return err_status(EXIT_USAGE, "--builder is for the statement: give --in-toto, too");
	return choice_check(&o->choice);
}

static int finish(void *options, char **words)
{
	struct changes_options *o = options;
	int status = formats_finish(&o->formats, words);

	take_formats(o);
	if (status == 0)
		status = words_add_all(&o->traces, words);
	if (status == 0 && o->traces.n == 0)
		status = words_add(&o->traces, "trace.db");
	return status ? status : check(o);
}

static void print_help(void)
{
	fputs(help_head, stdout);
	fputs(choice_help, stdout);
	fputs(help_tail, stdout);
}

bool changes_options_parse(int argc, char **argv, struct changes_options *options, int *ret_status)
{
	static const struct cli cli = { "wfdag changes", about_print, long_options, print_help, apply, finish, NULL };

	*options = (struct changes_options){ .top = -1, .choice.step_ns = 1 };
	options->formats = (struct formats){ formats, options->files, -1 };
	return cli_parse(&cli, argc, argv, options, ret_status);
}

void changes_options_finish(struct changes_options *options)
{
	words_free(&options->traces);
	choice_finish(&options->choice);
}
