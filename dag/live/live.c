/* SPDX-License-Identifier: MIT */
#include "dag/live/live.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/complete.h"
#include "base/err.h"
#include "base/failure.h"
#include "dag/live/batch.h"
#include "dag/live/collect.h"
#include "dag/live/estimate.h"
#include "dag/live/watcher.h"
#include "dag/live/screen.h"
#include "dag/trace/traces.h"
#include "db/about.h"
#include "db/query.h"

#define DELAY_NS INT64_C(2000000000)
#define SHOW_NS INT64_C(1000000000)
#define DELAY_LEAST_S 0.1
#define DELAY_MOST_S 86400.0

struct live_cli {
	struct watcher_options watcher;
	const char *like;
	bool batch;
	int count;
};

static const struct option long_options[] = {
	{ "batch", no_argument, NULL, 'b' },
	{ "count", required_argument, NULL, 'n' },
	{ "delay", required_argument, NULL, 'd' },
	{ "foreign", no_argument, NULL, TRACES_FOREIGN },
	{ "help", no_argument, NULL, 'h' },
	{ "like", required_argument, NULL, 'l' },
	{ "version", no_argument, NULL, 'V' },
	{ 0 },
};

static const char help[] =
"Usage: ftrac top [options] [TRACE]\n"
"\n"
"Shows a run while it goes on: its processes, phases, files, operations, what is\n"
"slow, and errors. TRACE: trace.db if not given. The run is not touched, and goes\n"
"on when the view is left.\n"
"\n"
"  -b, --batch          plain lines instead of a full screen; without a terminal\n"
"                       always\n"
"  -d, --delay SECONDS  look at the trace so often (default: 2)\n"
"  -n, --count N        with --batch: end after N looks\n"
"      --like TRACE     of an earlier run: how many jobs are to come, and when\n"
"                       the run will end\n"
"      --foreign        read a trace that belongs to another user, too\n"
CLI_COMPLETE_HELP
"  -h, --help           this text\n"
"  -V, --version        the version\n"
"\n"
"Keys: ? shows them, q quits.\n";

static void print_help(void)
{
	fputs(help, stdout);
}

static int parse_delay(const char *text, int64_t *ret_ns)
{
	char *end;
	double s = strtod(text, &end);

	if (end == text || *end || !(s >= DELAY_LEAST_S && s <= DELAY_MOST_S))
		return err_status(EXIT_USAGE, "'%s' is no delay: give seconds from 0.1 to 86400", text);
	*ret_ns = (int64_t)(s * 1e9);
	return 0;
}

static int parse_count(const char *text, int *ret_count)
{
	char *end;
	long n = strtol(text, &end, 10);

	if (end == text || *end || n < 1 || n > 1000000000)
		return err_status(EXIT_USAGE, "'%s' is no count: give a number from 1 on", text);
	*ret_count = (int)n;
	return 0;
}

static int apply(void *options, int option, const char *value)
{
	struct live_cli *o = options;

	switch (option) {
	case 'b': o->batch = true; return 0;
	case 'n': return parse_count(value, &o->count);
	case 'd': return parse_delay(value, &o->watcher.delay_ns);
	case 'l': o->like = value; return 0;
	case TRACES_FOREIGN: o->watcher.how |= QUERY_FOREIGN; return 0;
	default: return -1;
	}
}

static int finish(void *options, char **words)
{
	struct live_cli *o = options;

	o->watcher.path = *words ? *words : "trace.db";
	if (*words && words[1])
		return err_status(EXIT_USAGE, "one run is shown, so give one trace");
	o->batch |= !isatty(STDOUT_FILENO) || !isatty(STDIN_FILENO);
	if (!LIVE_HAS_SCREEN && !o->batch)
		err_print("plain lines instead of a full screen: this program was built without ncurses");
	o->batch |= !LIVE_HAS_SCREEN;
	if (o->count && !o->batch)
		return err_status(EXIT_USAGE, "--count needs --batch");
	return 0;
}

static int open_status(const struct live_cli *o, int error, const struct failure *failure)
{
	if (error == -ENOENT && strcmp(o->watcher.path, "trace.db") == 0)
		return err_status(EXIT_OWN, "there is no trace.db here: name the trace of the run, or start one with 'ftrac run -- COMMAND'");
	return failure_status(failure);
}

bool live_has_screen(void)
{
	return LIVE_HAS_SCREEN;
}

int live_like(const char *path, struct estimate **ret_like, struct failure *failure)
{
	*ret_like = NULL;
	return collect_like(path, 0, ret_like, failure);
}

void live_like_free(struct estimate *like)
{
	estimate_destroy(like);
}

#if LIVE_HAS_SCREEN
static int show_screen(struct watcher *watcher)
{
	struct failure failure = { 0 };
	int ended_by = screen_run(watcher, &(struct live_show){ 0 }, &failure);

	if (ended_by > 0) {
		signal(ended_by, SIG_DFL);
		raise(ended_by);
	}
	return failure_status(&failure);
}

int live_show(const struct live_show *show, struct failure *failure)
{
	struct watcher *watcher;
	int r = watcher_start(&(struct watcher_options){ .path = show->path, .like = show->like, .delay_ns = SHOW_NS, .waits = show->waits }, &watcher, failure);

	if (r < 0)
		return r;
	r = screen_run(watcher, show, failure);
	watcher_stop(watcher);
	return r;
}
#else
static int show_screen(struct watcher *watcher)
{
	return batch_run(watcher, 0);
}

int live_show(const struct live_show *show, struct failure *failure)
{
	(void)show;
	return failure_set(failure, -ENOSYS, "this program was built without ncurses");
}
#endif

int live_main(int argc, char **argv, live_waits *waits)
{
	static const struct completions completions = { NULL, NULL, COMPLETE_FILES };
	static const struct cli cli = { "ftrac top", about_print, long_options, print_help, apply, finish, &completions };
	struct live_cli options = { .watcher = { .delay_ns = DELAY_NS, .waits = waits } };
	struct failure failure = { 0 };
	struct watcher *watcher;
	int status, r;

	cli_begin();
	if (!cli_parse(&cli, argc, argv, &options, &status))
		return status;
	if (options.like && collect_like(options.like, options.watcher.how, &options.watcher.like, &failure) < 0)
		return failure_status(&failure);
	options.watcher.waits_for_phases = options.batch;
	r = watcher_start(&options.watcher, &watcher, &failure);
	if (r < 0) {
		estimate_destroy(options.watcher.like);
		return open_status(&options, r, &failure);
	}
	status = options.batch ? batch_run(watcher, options.count) : show_screen(watcher);
	watcher_stop(watcher);
	estimate_destroy(options.watcher.like);
	return status;
}
