/* SPDX-License-Identifier: MIT */

/* ftrac import: options -> a source -> the world -> events -> a trace, by the writer of a recording. */

#include "import/import.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/complete.h"
#include "base/err.h"
#include "base/failure.h"
#include "db/about.h"
#include "db/event.h"
#include "db/facts.h"
#include "db/recording.h"
#include "db/store.h"
#include "db/writer.h"
#include "import/source.h"

#define RING_SLOTS 65536 /* of 128 bytes */

struct import_options {
	const struct source_format *format;
	const char *output, *cwd;
	struct words files;
	bool force;
};

struct import {
	const struct import_options *options;
	struct source *source;
	struct source_facts facts;
	struct complaints complaints;
	struct recording recording;
	struct world *world;
};

/* ---- the command line ---- */

enum long_option { LONG_STRACE = 256, LONG_CWD, LONG_FORCE };

static const struct option long_options[] = {
	{ "strace", no_argument, NULL, LONG_STRACE },
	{ "output", required_argument, NULL, 'o' },
	{ "cwd", required_argument, NULL, LONG_CWD },
	{ "force", no_argument, NULL, LONG_FORCE },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ NULL, 0, NULL, 0 },
};

static const char help[] =
"Usage: ftrac import --strace -o OUT.db FILE...\n"
"\n"
"Makes a trace of what another program has recorded of a run, for wfstat, wfdag\n"
"and wfreport. What the record does not say is not known in the trace.\n"
"\n"
"Examples:\n"
"  strace -f -ttt -T -yy -s 4096 -o run.txt make\n"
"  ftrac import --strace -o run.db run.txt\n"
"\n"
"Formats:\n"
"      --strace         what strace -o has written: one file of all processes\n"
"                       (-f), or the files of all (-ff). It takes -ttt; -T, -yy\n"
"                       and -s 4096 say more\n"
"\n"
"Options:\n"
"  -o, --output FILE    the new trace\n"
"      --cwd DIR        where the command was started, if the record does not say\n"
"                       it\n"
"      --force          replace a trace that is there\n"
CLI_COMPLETE_HELP
"  -h, --help           print this\n"
"  -V, --version        print the version\n"
"\n"
"Exit status: 0, 1 (an error), 2 (wrong usage).  See ftrac(1), IMPORT.\n";

static int apply(void *options, int option, const char *value)
{
	struct import_options *o = options;

	switch (option) {
	case LONG_STRACE: o->format = &source_strace; return 0;
	case 'o': o->output = value; return 0;
	case LONG_CWD: o->cwd = value; return 0;
	case LONG_FORCE: o->force = true; return 0;
	default: return -1;
	}
}

static int finish(void *options, char **words)
{
	struct import_options *o = options;
	int status = words_add_all(&o->files, words);

	if (status)
		return status;
	if (!o->format)
		return err_status(EXIT_USAGE, "no format is given: say by --strace what the files are");
	if (!o->output)
		return err_status(EXIT_USAGE, "-o is missing: name the file for the new trace");
	if (o->cwd && o->cwd[0] != '/')
		return err_status(EXIT_USAGE, "--cwd '%s' is no absolute path", o->cwd);
	return o->files.n ? 0 : err_status(EXIT_USAGE, "no file is given: name what was recorded");
}

static void print_help(void)
{
	fputs(help, stdout);
}

static bool parse(int argc, char **argv, struct import_options *options, int *ret_status)
{
	static const struct complete_value values[] = { { "output", COMPLETE_FILE, false, NULL, NULL },
		{ "cwd", COMPLETE_DIRECTORY, false, NULL, NULL }, { NULL, 0, false, NULL, NULL } };
	static const struct completions completions = { values, NULL, COMPLETE_FILES };
	static const struct cli cli = { "ftrac import", about_print, long_options, print_help, apply, finish, &completions };

	return cli_parse(&cli, argc, argv, options, ret_status);
}

/* ---- the trace ---- */

static uint64_t count_lost(void *arg)
{
	return ((const struct import *)arg)->complaints.n;
}

static int put_facts(void *arg, struct store *store)
{
	const struct import *import = arg;
	int r = import->facts.has_latencies ? 0 : store_forget_latencies(store);

	return r < 0 ? r : store_put_meta(store, "imported_lost", V_INT((int64_t)import->complaints.n));
}

static int start(struct import *import)
{
	const struct import_options *o = import->options;
	int status = recording_open(&import->recording, &(struct recording_options){ .db = o->output, .option = "-o", .force = o->force,
		.slots = RING_SLOTS });
	struct writer_options writer = { .is_past = true, .ops_lost = count_lost, .put_facts = put_facts, .arg = import,
		.record = { .start_ns = import->facts.start_ns, .ops = true, .paths = { .source = "/" } } };
	struct facts facts = { .source = "/", .files = "kernel", .process_tier = o->format->name, .fidelity = event_fidelity_names[FIDELITY_CALL], .command = import->facts.command,
		.cwd = import->facts.cwd, .imported = o->format->name };

	if (status == 0 && recording_start(&import->recording, &facts, &writer) < 0)
		status = EXIT_OWN;
	return status;
}

static int feed(struct import *import, struct failure *failure)
{
	const struct world_options options = { import->recording.ring, import->options->format->tier, import->facts.cwd };
	int r = failure_of_memory(failure, world_create(&options, &import->world));

	if (r == 0)
		r = import->options->format->feed(import->source, import->world, &import->facts, &import->complaints, failure);
	return r;
}

static int finish_trace(struct import *import, int r)
{
	if (r < 0)
		recording_abandon(&import->recording);
	else if (import->facts.exit_status >= 0)
		writer_exit_status(import->recording.writer, cli_exit_status(import->facts.exit_status));
	if (recording_stop(&import->recording) < 0)
		r = r < 0 ? r : -EIO;
	return r < 0 ? EXIT_OWN : 0;
}

static void summarize(const struct import *import)
{
	const struct source_facts *facts = &import->facts;
	uint64_t unplaced = world_unplaced(import->world);

	complaints_end(&import->complaints);
	if (unplaced)
		err_print("%" PRIu64 " relative paths begin at a directory that is not known: name it by --cwd", unplaced);
	err_print("%" PRIu64 " calls in '%s'; not known: users, resources and environment of processes, inode numbers%s", facts->calls,
		import->options->output, facts->lacks);
}

static int import_all(struct import *import)
{
	const struct import_options *o = import->options;
	struct failure failure = { 0 };
	int status, r = o->format->prepare(o->files.word, o->files.n, &import->facts, &import->source, &failure);

	if (r < 0)
		return failure_status(&failure);
	if (!import->facts.cwd && o->cwd)
		import->facts.cwd = strdup(o->cwd);
	status = start(import);
	if (status == 0) {
		r = feed(import, &failure);
		status = finish_trace(import, r);
	}
	if (failure.code)
		return failure_status(&failure);
	if (status == 0)
		summarize(import);
	return status;
}

static int import_files(const struct import_options *options)
{
	struct import import = { .options = options };
	int status = import_all(&import);

	recording_close(&import.recording);
	world_destroy(import.world);
	options->format->destroy(import.source);
	free(import.facts.cwd);
	free(import.facts.command);
	return status;
}

int import_main(int argc, char **argv)
{
	struct import_options options = { 0 };
	int status;

	cli_begin();
	if (parse(argc, argv, &options, &status))
		status = import_files(&options);
	words_free(&options.files);
	return status;
}
