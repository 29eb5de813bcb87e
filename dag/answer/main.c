/* SPDX-License-Identifier: MIT */
#include "dag/answer/main.h"

#include <getopt.h>
#include <stdio.h>

#include "base/cli.h"
#include "base/err.h"
#include "dag/answer/answer.h"
#include "dag/trace/traces.h"
#include "db/about.h"
#include "db/query.h"

struct answer_cli {
	const char *trace;
	unsigned how;
};

static const struct option long_options[] = {
	{ "foreign", no_argument, NULL, TRACES_FOREIGN },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ 0 },
};

static void print_help(void)
{
	fputs("Usage: wfdag summary [TRACE]\n"
	      "\n"
	      "Prints once more what 'ftrac run' prints at the end of a run: what its time was\n"
	      "spent with, what is worth speeding up, what failed, and what was not seen.\n"
	      "TRACE: trace.db if not given.\n"
	      "\n"
	      "      --foreign          read a trace that belongs to another user, too\n"
	      "  -h, --help             this text\n"
	      "  -V, --version          the version\n"
	      "\n"
	      "Example: wfdag summary trace.db\n",
		stdout);
}

static int apply(void *options, int option, const char *value)
{
	struct answer_cli *o = options;

	(void)value;
	if (option != TRACES_FOREIGN)
		return -1;
	o->how |= QUERY_FOREIGN;
	return 0;
}

static int finish(void *options, char **words)
{
	struct answer_cli *o = options;

	o->trace = *words ? *words : "trace.db";
	if (*words && words[1])
		return err_status(EXIT_USAGE, "a summary is of one trace; 'wfdag diff' compares two");
	return 0;
}

int answer_main(int argc, char **argv)
{
	static const struct cli cli = { "wfdag summary", about_print, long_options, print_help, apply, finish, NULL };
	struct answer_cli options = { 0 };
	int status;

	if (!cli_parse(&cli, argc, argv, &options, &status))
		return status;
	if (answer_print(options.trace, options.how, stdout) < 0)
		return EXIT_OWN;
	return cli_printed();
}
