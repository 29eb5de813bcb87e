/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/complete.h"
#include "base/err.h"
#include "base/failure.h"
#include "dag/load/load.h"
#include "dag/load/plan.h"
#include "dag/load/prepare.h"
#include "dag/load/report.h"
#include "dag/load/walk.h"
#include "dag/trace/traces.h"
#include "db/about.h"
#include "db/query.h"

#define MOST_THREADS 20000 /* at once, so that a trace that was made for it does not fill the machine */

struct load_options {
	const char *directory;
	struct words traces;
	struct walk_options walk;
	bool fill, prepare_only, prepared, foreign;
};

/* ---- the command line ---- */

enum long_option { LONG_DIRECTORY = 256, LONG_SPEED, LONG_FILL, LONG_PREPARE_ONLY, LONG_PREPARED };

static const struct option long_options[] = {
	{ "directory", required_argument, NULL, LONG_DIRECTORY },
	{ "speed", required_argument, NULL, LONG_SPEED },
	{ "fill", no_argument, NULL, LONG_FILL },
	{ "prepare-only", no_argument, NULL, LONG_PREPARE_ONLY },
	{ "prepared", no_argument, NULL, LONG_PREPARED },
	{ "foreign", no_argument, NULL, TRACES_FOREIGN },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ NULL, 0, NULL, 0 },
};

static const char help[] =
"Usage: ftrac replay --directory DIR [options] TRACE\n"
"\n"
"Does the file operations of a trace once more, as a load, without the programs:\n"
"a process for each traced one, in the same order, with the same sizes, offsets\n"
"and pauses. What waited for what in the trace waits here, too. All paths lie\n"
"below DIR; nothing else is touched. The trace is one of system calls, as the\n"
"kernel or preloaded calls record them.\n"
"\n"
"Examples:\n"
"  ftrac replay --directory /scratch/load trace.db\n"
"  ftrac replay --directory /scratch/load --speed max --fill trace.db\n"
"\n"
"Options:\n"
"      --directory DIR    make the files in DIR, which is new or empty\n"
"      --speed N|max      divide pauses by N; max: make none (default: 1)\n"
"      --fill             fill files that were there with data that cannot be\n"
"                         compressed (default: they are sparse)\n"
"      --prepare-only     make these files, and do nothing with them\n"
"      --prepared         DIR has been made by --prepare-only\n"
"      --foreign          read a trace that belongs to another user, too\n"
CLI_COMPLETE_HELP
"  -h, --help             print this\n"
"  -V, --version          print the version\n"
"\n"
"Exit status: 0, 1 (an error), 2 (wrong usage).  See ftrac(1), REPLAY.\n";

static int set_speed(struct load_options *o, const char *value)
{
	char *end;
	double speed = strtod(value, &end);

	if (strcmp(value, "max") == 0) {
		o->walk.speed = 0;
		return 0;
	}
	if (end == value || *end || !isfinite(speed) || speed < 0.001 || speed > 1e6)
		return err_status(EXIT_USAGE, "--speed '%s': give a number from 0.001 to 1000000, or max", value);
	o->walk.speed = speed;
	return 0;
}

static int apply(void *options, int option, const char *value)
{
	struct load_options *o = options;

	switch (option) {
	case LONG_DIRECTORY: o->directory = value; return 0;
	case LONG_SPEED: return set_speed(o, value);
	case LONG_FILL: o->fill = true; return 0;
	case LONG_PREPARE_ONLY: o->prepare_only = true; return 0;
	case LONG_PREPARED: o->prepared = true; return 0;
	case TRACES_FOREIGN: o->foreign = true; return 0;
	default: return -1;
	}
}

static int finish(void *options, char **words)
{
	struct load_options *o = options;
	int status = words_add_all(&o->traces, words);

	if (status)
		return status;
	if (!o->directory)
		return err_status(EXIT_USAGE, "--directory is missing: name a new or empty directory for the files");
	if (o->prepare_only && o->prepared)
		return err_status(EXIT_USAGE, "--prepare-only and --prepared are given: give one of them");
	if (o->prepared && o->fill)
		return err_status(EXIT_USAGE, "--fill and --prepared are given: fill the files when they are prepared");
	if (o->traces.n > 1)
		return err_status(EXIT_USAGE, "several traces are given: replay one, or make one of them by 'ftrac merge'");
	return o->traces.n ? 0 : err_status(EXIT_USAGE, "no trace is given: name the one to be replayed");
}

static void print_help(void)
{
	fputs(help, stdout);
}

static bool parse(int argc, char **argv, struct load_options *options, int *ret_status)
{
	static const struct complete_value values[] = { { "directory", COMPLETE_DIRECTORY, false, NULL, NULL }, { NULL, 0, false, NULL, NULL } };
	static const struct completions completions = { values, NULL, COMPLETE_FILES };
	static const struct cli cli = { "ftrac replay", about_print, long_options, print_help, apply, finish, &completions };

	return cli_parse(&cli, argc, argv, options, ret_status);
}

/* ---- the directory ---- */

static bool is_empty(int dir)
{
	cleanup_fd int copy = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *entries = copy < 0 ? NULL : fdopendir(steal_fd(&copy));
	struct dirent *entry = NULL;

	while (entries && (entry = readdir(entries)) && (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0))
		;
	if (entries)
		closedir(entries);
	return entries && !entry;
}

/* Makes it, if it is not there.  The descriptor, or -errno. */
static int open_directory(const struct load_options *o, struct failure *failure)
{
	struct stat st;
	int dir;

	if (mkdir(o->directory, 0700) < 0 && errno != EEXIST)
		return failure_set(failure, -errno, "cannot make '%s': %s; name another directory", o->directory, strerror(errno));
	dir = open(o->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0 || fstat(dir, &st) < 0)
		return failure_set(failure, -errno, "cannot open '%s': %s; name another directory", o->directory, strerror(errno));
	if (st.st_uid != geteuid() || st.st_mode & (S_IWGRP | S_IWOTH))
		failure_set(failure, FAILURE_USAGE, "others may write to '%s': name a directory that is yours alone", o->directory);
	else if (!o->prepared && !is_empty(dir))
		failure_set(failure, FAILURE_USAGE, "'%s' has files: name a new or empty directory", o->directory);
	if (failure->code)
		close(dir);
	return failure->code ? failure->code : dir;
}

/* ---- the replay ---- */

static void allow_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

static int run(const struct load_options *o, const struct plan *plan, struct failure *failure)
{
	struct walk_counts *counts = NULL;
	int r;

	if (plan->most_threads > MOST_THREADS)
		return failure_set(failure, -E2BIG, "the trace has %d threads at once, and %d are replayed at most", plan->most_threads, MOST_THREADS);
	allow_files();
	r = load_walk(plan, &o->walk, &counts, failure);
	if (counts)
		load_report_print(plan, counts, stdout);
	return r;
}

static int replay_in(const struct load_options *o, struct query_db *db, int dir, struct failure *failure)
{
	struct prepare_counts prepared = { 0 };
	struct plan plan = { 0 };
	int r = load_plan_read(db, dir, &plan, failure);

	if (r == 0 && fchdir(dir) < 0)
		r = failure_set(failure, -errno, "cannot enter '%s': %s", o->directory, strerror(errno));
	if (r == 0 && !o->prepared) {
		r = load_prepare(&plan, o->fill, &prepared, failure);
		if (r == 0)
			load_report_prepared(&prepared, stdout);
	}
	fflush(stdout);
	if (r == 0 && !o->prepare_only)
		r = run(o, &plan, failure);
	load_plan_finish(&plan);
	return r;
}

static int replay(const struct load_options *o)
{
	struct failure failure = { 0 };
	struct query_db *db = NULL;
	int r = traces_open(&o->traces, QUERY_OPS | (o->foreign ? QUERY_FOREIGN : 0), err_print, &db, &failure);
	cleanup_fd int dir = r == 0 && load_plan_is_possible(db, &failure) ? open_directory(o, &failure) : -1;

	if (dir >= 0) {
		traces_are_whole(db, err_print);
		replay_in(o, db, dir, &failure);
	}
	query_close(db);
	if (!failure.code)
		return cli_printed();
	return failure_status(&failure);
}

int load_main(int argc, char **argv)
{
	struct load_options options = { .walk = { .speed = 1 } };
	int status;

	cli_begin();
	if (parse(argc, argv, &options, &status))
		status = replay(&options);
	words_free(&options.traces);
	return status;
}
