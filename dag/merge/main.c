/* SPDX-License-Identifier: MIT */
#include "dag/merge/merge.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>

#include "base/complete.h"
#include "base/err.h"
#include "base/failure.h"
#include "base/output.h"
#include "base/place.h"
#include "dag/trace/traces.h"
#include "db/about.h"
#include "db/query.h"

struct merge_options {
	const char *output;
	struct words traces, same;
	bool no_ops, foreign, strict;
};

enum long_option { LONG_NO_OPS = 256, LONG_SAME };

static const struct option long_options[] = {
	{ "output", required_argument, NULL, 'o' },
	{ "no-ops", no_argument, NULL, LONG_NO_OPS },
	{ "same", required_argument, NULL, LONG_SAME },
	TRACES_OPTIONS, TRACES_OUTPUT_OPTIONS,
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ NULL, 0, NULL, 0 },
};

static const char help[] =
"Usage: ftrac merge -o FILE TRACE|DIRECTORY...\n"
"\n"
"Makes one trace of several, such as those of the jobs of one workflow on many\n"
"machines. All programs read it like the trace of one run: files that several\n"
"traces have are one, and their versions are numbered anew, in the order of time.\n"
"A directory stands for all traces in it and below. The result is the same in\n"
"whatever order the traces are given.\n"
"\n"
"Examples:\n"
"  ftrac merge -o all.db a.db b.db c.db\n"
"  ftrac merge -o campaign.db traces/   all traces in that directory\n"
"  ftrac merge -o all.db --same /work=/mnt/nfs/work a.db b.db\n"
"\n"
"Options:\n"
"  -o, --output FILE      the new trace; it is there when it is complete\n"
"      --force            replace a trace that is there\n"
"      --no-ops           leave out single operations; which process used which\n"
"                         file stays known\n"
"      --same PREFIX=OTHER  one directory: what some machines call OTHER is\n"
"                         PREFIX to others, and in the new trace; HOST:PREFIX or\n"
"                         HOST:OTHER is the name on that machine. Repeatable\n"
TRACES_HELP
CLI_COMPLETE_HELP
"  -h, --help             print this\n"
"  -V, --version          print the version\n"
"\n"
"Exit status: 0, 1 (an error), 2 (wrong usage), 3 (--strict).  See ftrac(1).\n";

static int add_same(struct merge_options *o, const char *value)
{
	const char *wrong = query_same_wrong(value);

	return wrong ? err_status(EXIT_USAGE, "--same '%s': %s", value, wrong) : words_add(&o->same, value);
}

static int apply(void *options, int option, const char *value)
{
	struct merge_options *o = options;

	switch (option) {
	case 'o': o->output = value; return 0;
	case LONG_NO_OPS: o->no_ops = true; return 0;
	case LONG_SAME: return add_same(o, value);
	case TRACES_FOREIGN: o->foreign = true; return 0;
	case TRACES_STRICT: o->strict = true; return 0;
	case TRACES_FORCE: output_force(); return 0;
	default: return -1;
	}
}

static int finish(void *options, char **words)
{
	struct merge_options *o = options;
	int status = words_add_all(&o->traces, words);

	if (status)
		return status;
	if (!o->output)
		return err_status(EXIT_USAGE, "-o is missing: name the file for the new trace");
	return o->traces.n ? 0 : err_status(EXIT_USAGE, "no trace is given: name traces, or directories with traces");
}

static void print_help(void)
{
	fputs(help, stdout);
}

static bool parse(int argc, char **argv, struct merge_options *options, int *ret_status)
{
	static const struct complete_value values[] = { { "output", COMPLETE_FILE, false, NULL, NULL }, { NULL, 0, false, NULL, NULL } };
	static const struct completions completions = { values, NULL, COMPLETE_FILES };
	static const struct cli cli = { "ftrac merge", about_print, long_options, print_help, apply, finish, &completions };

	return cli_parse(&cli, argc, argv, options, ret_status);
}

/* The result is complete, but without a name. */
static int make(const struct merge_options *o, const struct output *out, bool *ret_whole, struct failure *failure)
{
	const struct query_into into = { out->fd, (const char *const *)o->same.word, o->same.n, out->old.st_nlink ? &out->old : NULL };
	struct query_db *db = NULL;
	int r = traces_merge(&o->traces, (o->no_ops ? 0 : QUERY_OPS) | (o->foreign ? QUERY_FOREIGN : 0), &into, err_print, &db, failure);

	if (r == 0)
		*ret_whole = traces_are_whole(db, err_print);
	query_close(db);
	return r;
}

static int merge(const struct merge_options *o)
{
	struct failure failure = { 0 };
	struct output out;
	bool whole = false;
	int r = output_open_trace(o->output, &out);

	if (r == 0)
		r = output_close(&out, make(o, &out, &whole, &failure));
	if (r < 0 && !failure.code)
		failure_set(&failure, r, "cannot write '%s': %s", o->output, place_explain(r));
	return r < 0 ? failure_status(&failure) : o->strict && !whole ? TRACES_EXIT_STRICT : 0;
}

int merge_main(int argc, char **argv)
{
	struct merge_options options = { 0 };
	int status;

	cli_begin();
	if (parse(argc, argv, &options, &status))
		status = merge(&options);
	words_free(&options.traces);
	words_free(&options.same);
	return status;
}
