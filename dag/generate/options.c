/* SPDX-License-Identifier: MIT */
#include "dag/generate/options.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "base/complete.h"
#include "base/err.h"
#include "base/output.h"
#include "dag/trace/choice.h"
#include "dag/trace/traces.h"
#include "db/about.h"

enum long_option {
	LONG_MAKE = 256, /* the outputs in the order of enum generate_output */
	LONG_NINJA,
	LONG_SNAKEMAKE,
	LONG_DASK,
	LONG_CWL,
	LONG_DAGMAN,
	LONG_PEGASUS,
	LONG_DAX,
	LONG_WFFORMAT,
	LONG_LEVEL,
	LONG_ROOT,
	LONG_WFFORMAT_VERSION,
	LONG_DAX_VERSION,
};
_Static_assert(LONG_LEVEL - LONG_MAKE == GENERATE_MAX, "an option for each output");

static const struct option long_options[] = {
	{ "cwl", optional_argument, NULL, LONG_CWL },
	{ "dagman", optional_argument, NULL, LONG_DAGMAN },
	{ "dask", optional_argument, NULL, LONG_DASK },
	{ "dax", optional_argument, NULL, LONG_DAX },
	{ "dax-version", required_argument, NULL, LONG_DAX_VERSION },
	{ "level", required_argument, NULL, LONG_LEVEL },
	{ "make", optional_argument, NULL, LONG_MAKE },
	{ "ninja", optional_argument, NULL, LONG_NINJA },
	{ "pegasus", optional_argument, NULL, LONG_PEGASUS },
	{ "output", required_argument, NULL, 'o' },
	{ "root", required_argument, NULL, LONG_ROOT },
	{ "snakemake", optional_argument, NULL, LONG_SNAKEMAKE },
	TRACES_OPTIONS, TRACES_OUTPUT_OPTIONS,
	{ "wfformat", optional_argument, NULL, LONG_WFFORMAT },
	{ "wfformat-version", required_argument, NULL, LONG_WFFORMAT_VERSION },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ NULL, 0, NULL, 0 },
};

/* In the order of enum generate_output. */
static const struct format formats[] = {
	{ "make", "mk", false }, { "ninja", "ninja", false }, { "snakemake", "smk", false }, { "dask", "py", false },
	{ "cwl", "cwl", false }, { "dagman", "dag", false },
	{ "pegasus", "yml", false }, { "dax", "xml", false }, { "wfformat", "json", false }, { NULL, NULL, false },
};
_Static_assert(sizeof(formats) / sizeof(formats[0]) == GENERATE_MAX + 1, "a format for each output");

static const char help_text[] =
"Usage: wfdag generate [options] --make -o FILE [TRACE...]\n"
"\n"
"Writes the workflow of a trace (default: trace.db in the current directory) for\n"
"another workflow system. Its jobs are the commands that make, ninja, a script or\n"
"another driver started. Their dependencies come from the files that they read\n"
"and wrote.\n"
"\n"
"Formats; their file by -o (stdout without it):\n"
"  -o, --output FILE      of the format before it, else of that of its ending\n"
"                         (.mk, .ninja, .smk, .py, .cwl, .json, .dag, .yml,\n"
"                         .xml); may be repeated\n"
"      --make             for GNU Make 4.3 and newer\n"
"      --ninja            for Ninja\n"
"      --snakemake        for Snakemake, with the memory and the time that jobs\n"
"                         took\n"
"      --dask             for Dask: a task graph in Python\n"
"      --cwl              Common Workflow Language 1.2; each job runs in a\n"
"                         directory of its own, with the files that it uses\n"
"      --wfformat         WfFormat of WfCommons\n"
"      --dagman           for HTCondor's DAGMan, on a shared file system\n"
"      --pegasus          abstract workflow of Pegasus 5\n"
"      --dax              the same of Pegasus 4, in XML\n"
"\n"
"      --level LEVEL      job (default), or process: each process is a step (not\n"
"                         for --make, --ninja, --snakemake, --dask, --cwl and\n"
"                         --dagman, which run jobs again)\n"
"      --root DIR         the directory of the workflow, to which paths are\n"
"                         relative (default: the directory of the traced command)\n"
"      --wfformat-version VERSION   1.5 or 1.6 (default)\n"
"      --dax-version VERSION   3.6 (default); 2.1, with run times and sizes, for\n"
"                         simulators (SimGrid, WRENCH)\n"
TRACES_HELP TRACES_OUTPUT_HELP
"  -h, --help             print this\n"
"  -V, --version          print the version\n"
"\n"
"Exit status: 0, 1 (an error), 2 (wrong usage), 3 (--strict).\n";

static const char *const levels[] = { "job", "process", NULL };
static const char *const versions[] = { "1.5", "1.6", NULL };
static const char *const dax_versions[] = { "3.6", "2.1", NULL };

static const struct complete_value completed[] = {
	{ "level", COMPLETE_WORDS, false, levels, NULL },
	{ "root", COMPLETE_DIRECTORY, false, NULL, NULL },
	{ "wfformat-version", COMPLETE_WORDS, false, versions, NULL },
	{ "dax-version", COMPLETE_WORDS, false, dax_versions, NULL },
	{ "output", COMPLETE_FILE, false, NULL, NULL },
	{ NULL, COMPLETE_WORDS, false, NULL, NULL },
};
static const struct completions completions = { completed, NULL, COMPLETE_FILES };

static void print_help(void)
{
	fputs(help_text, stdout);
}

static int set_level(struct generate_options *o, const char *value)
{
	int level, status = choice_parse_name("--level", value, levels, &level);

	if (status == 0)
		o->level = level;
	return status;
}

static int set_version(struct generate_options *o, const char *value)
{
	int version, status = choice_parse_name("--wfformat-version", value, versions, &version);

	if (status == 0)
		o->wfformat = 5 + version;
	return status;
}

static int set_dax_version(struct generate_options *o, const char *value)
{
	int version, status = choice_parse_name("--dax-version", value, dax_versions, &version);

	if (status == 0)
		o->simulated = version == 1;
	return status;
}

static int set_root(struct generate_options *o, const char *value)
{
	o->root = value;
	if (value[0] == '/')
		return 0;
	return err_status(EXIT_USAGE, "--root '%s' is no absolute path: give it as it was in the run", value);
}

static int apply(void *options, int option, const char *value)
{
	struct generate_options *o = options;

	if (option >= LONG_MAKE && option < LONG_LEVEL)
		return formats_option(&o->formats, option - LONG_MAKE, value);
	switch (option) {
	case 'o': return formats_file(&o->formats, value);
	case LONG_LEVEL: return set_level(o, value);
	case LONG_ROOT: return set_root(o, value);
	case TRACES_FOREIGN: o->foreign = true; return 0;
	case TRACES_STRICT: o->strict = true; return 0;
	case TRACES_FORCE: output_force(); return 0;
	case LONG_DAX_VERSION: return set_dax_version(o, value);
	case LONG_WFFORMAT_VERSION: return set_version(o, value);
	default: return -1;
	}
}

static int check(const struct generate_options *o)
{
	/* They run jobs again. */
	bool runs = o->outputs[GENERATE_MAKE] || o->outputs[GENERATE_NINJA] || o->outputs[GENERATE_SNAKEMAKE] ||
		    o->outputs[GENERATE_DASK] || o->outputs[GENERATE_CWL] || o->outputs[GENERATE_DAGMAN];
	int outputs = 0;

	for (int i = 0; i < GENERATE_MAX; i++)
		outputs += o->outputs[i] != NULL;
	if (outputs == 0)
		return err_status(EXIT_USAGE, "no output is given: give --make, --wfformat or another format, and -o FILE; see "
			"'wfdag generate --help'");
	if (o->level == JOBS_PROCESS && runs)
		return err_status(EXIT_USAGE, "--level process does not go with --make, --ninja, --snakemake, --dask, --cwl and --dagman, because "
			"a process that another one started cannot be run again by itself; leave one of them out");
	return 0;
}

static int finish(void *options, char **words)
{
	struct generate_options *o = options;
	int status = formats_finish(&o->formats, words);

	if (status == 0)
		status = words_add_all(&o->traces, words);
	if (status == 0 && o->traces.n == 0)
		status = words_add(&o->traces, "trace.db");
	if (status == 0)
		status = check(o);
	return status ? status : choice_hide_system(&o->choice);
}

bool generate_options_parse(int argc, char **argv, struct generate_options *options, int *ret_status)
{
	static const struct cli cli = { "wfdag generate", about_print, long_options, print_help, apply, finish, &completions };

	*options = (struct generate_options){ .choice.step_ns = 1, .wfformat = 6 };
	options->formats = (struct formats){ formats, options->outputs, -1 };
	return cli_parse(&cli, argc, argv, options, ret_status);
}

void generate_options_finish(struct generate_options *options)
{
	words_free(&options->traces);
	choice_finish(&options->choice);
}
