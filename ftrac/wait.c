/* SPDX-License-Identifier: MIT */
#include "ftrac/wait.h"

#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/cli.h"
#include "base/clock.h"
#include "base/complete.h"
#include "base/err.h"
#include "base/watched.h"
#include "db/about.h"
#include "db/query.h"

#define POLL_NS INT64_C(500000000)
#define COMPLETES_NS INT64_C(100000000)
#define SHARE 10 /* of the time that looking took: the pause, if that is longer */

struct wait {
	const char *trace, *until;
	int timeout_ms; /* -1: none */
	bool foreign;
	struct query_db *db;
	struct query *query, *ending; /* the condition; whether the writer has begun to complete the trace */
	int mark; /* on the trace, so that its writer writes at once; < 0: none */
};

enum long_option { LONG_UNTIL = 256, LONG_TIMEOUT, LONG_FOREIGN };

static const struct option long_options[] = {
	{ "until", required_argument, NULL, LONG_UNTIL },
	{ "timeout", required_argument, NULL, LONG_TIMEOUT },
	{ "foreign", no_argument, NULL, LONG_FOREIGN },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ NULL, 0, NULL, 0 },
};

static const char help[] =
"Usage: ftrac wait --until CONDITION [--timeout SECONDS] [TRACE]\n"
"\n"
"Waits until a condition is true of a run that goes on, by its trace (default:\n"
"trace.db in the current directory).\n"
"\n"
"Examples:\n"
"  ftrac wait --until 'errors > 0'          an operation has failed\n"
"  ftrac wait --until 'idle_s > 60'         nothing has happened for a minute\n"
"  ftrac wait --until 'bytes > 1e12' run.db --timeout 3600\n"
"  ftrac wait --until \"EXISTS (SELECT 1 FROM process WHERE exit_code > 0)\"\n"
"\n"
"      --until CONDITION  SQL that is true or false. It may use the views of\n"
"                       ftrac-db(5), and operations, errors, bytes and lost (so\n"
"                       far), elapsed_s, and idle_s, the seconds since the last\n"
"                       operation began (all to a second)\n"
"      --timeout SECONDS  wait no longer; inf: without limit (default)\n"
"      --foreign        read a trace that belongs to another user, too\n"
"\n"
CLI_COMPLETE_HELP
"  -h, --help           print this\n"
"  -V, --version        print the version\n"
"\n"
"Exit status: 0 (it is true), 1 (an error), 2 (wrong usage, or it is no SQL),\n"
"4 (the run has ended without it), 124 (timeout).  See ftrac(1).\n";

/* ---- options ---- */

static int apply(void *options, int option, const char *value)
{
	struct wait *w = options;

	switch (option) {
	case LONG_UNTIL: w->until = value; return 0;
	case LONG_TIMEOUT:
		return cli_parse_wait(value, &w->timeout_ms) == 0 ? 0 : err_status(EXIT_USAGE,
			"invalid value '%s' for --timeout (a number of seconds from 0 on, or inf)", value);
	case LONG_FOREIGN: w->foreign = true; return 0;
	default: return -1;
	}
}

static int finish(void *options, char **words)
{
	struct wait *w = options;

	if (words[0] && words[1])
		return err_status(EXIT_USAGE, "unexpected argument '%s': there is one trace, '%s'", words[1], words[0]);
	if (words[0])
		w->trace = words[0];
	return w->until ? 0 : err_status(EXIT_USAGE, "--until is missing: it says what to wait for, such as 'errors > 0'");
}

static void print_help(void)
{
	fputs(help, stdout);
}

static bool parse(int argc, char **argv, struct wait *w, int *ret_status)
{
	static const char *const timeouts[] = { "inf", NULL };
	static const struct complete_value values[] = { { "timeout", COMPLETE_WORDS, false, timeouts, NULL }, { NULL, 0, false, NULL, NULL } };
	static const struct completions completions = { values, NULL, COMPLETE_FILES };
	static const struct cli cli = { "ftrac wait", about_print, long_options, print_help, apply, finish, &completions };

	return cli_parse(&cli, argc, argv, w, ret_status);
}

/* ---- the condition ---- */

/* SQLite puts these expressions where the condition has their names, and computes no others. */
#define NOW_NS "CAST((julianday('now') - 2440587.5) * 86400 AS INTEGER) * 1000000000"
static const char query_text[] =
	"SELECT (%s\n) FROM (SELECT (SELECT coalesce(sum(count), 0) FROM process_metric) AS operations,"
	" (SELECT coalesce(sum(errors), 0) FROM process_metric) AS errors, (SELECT coalesce(sum(bytes), 0) FROM process_metric) AS bytes,"
	" (SELECT value FROM trace WHERE key = 'ops_lost') AS lost,"
	" (" NOW_NS " - (SELECT value FROM trace WHERE key = 'start_ns')) / 1000000000 AS elapsed_s,"
	" max(0, (" NOW_NS " - coalesce((SELECT max(t_ns + interval_ns) FROM process_metric),"
	" (SELECT value FROM trace WHERE key = 'start_ns'))) / 1000000000) AS idle_s)";

static int complain(const struct wait *w)
{
	return err_status(EXIT_OWN, "cannot look at '%s': %s", w->trace, query_error(w->db));
}

static void nap(int64_t ns)
{
	const struct timespec pause = { .tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000 };

	nanosleep(&pause, NULL);
}

static int prepare(struct wait *w)
{
	cleanup_free char *sql = NULL;

	if (asprintf(&sql, query_text, w->until) < 0) {
		sql = NULL;
		return err_status(EXIT_OWN, "out of memory");
	}
	if (query_start(w->db, sql, &w->query) < 0)
		return err_status(EXIT_USAGE, "'%s' is no condition: %s", w->until, query_error(w->db));
	if (query_columns(w->query) != 1)
		return err_status(EXIT_USAGE, "'%s' is no condition: it has %d values", w->until, query_columns(w->query));
	return query_start(w->db, "SELECT 1 FROM trace WHERE key = 'ending' AND value = 1", &w->ending) == 0 ? 0 : complain(w);
}

static void close_trace(struct wait *w)
{
	query_end(w->query);
	query_end(w->ending);
	query_close(w->db);
	w->query = w->ending = NULL;
	w->db = NULL;
}

/* 1, 0 or -errno. */
static int is_true(struct wait *w)
{
	int r = query_next(w->query);

	return r > 0 ? query_real(w->query, 0) != 0 : r;
}

static int open_trace(struct wait *w, unsigned how)
{
	return query_open(&w->trace, 1, QUERY_OPS | how | (w->foreign ? QUERY_FOREIGN : 0), &w->db);
}

static int open_status(struct wait *w, int r)
{
	int status = r < 0 ? err_status(EXIT_OWN, "%s", query_error(w->db)) : prepare(w);

	if (status == 0)
		w->mark = w->mark < 0 ? watched_mark(w->trace) : w->mark;
	return status;
}

/* A reader that has the trace open would keep its writer from leaving the log. */
static int open_again_when_complete(struct wait *w, int64_t until_ns)
{
	int r = -EINPROGRESS;

	close_trace(w);
	while ((r == -EINPROGRESS || r == -EAGAIN) && clock_now_ns() < until_ns) {
		nap(COMPLETES_NS);
		r = open_trace(w, QUERY_ENDED);
		if (r == 0 && query_is_written(w->db))
			r = -EINPROGRESS;
		if (r == -EINPROGRESS || r == -EAGAIN)
			close_trace(w);
	}
	return open_status(w, w->db ? r : open_trace(w, 0));
}

/* Looks for the last time when nothing is written any more. */
static int watch(struct wait *w, int64_t until_ns)
{
	for (;;) {
		int64_t before = clock_now_ns(), now, pause;
		bool is_written = query_is_written(w->db);
		int r = is_true(w), ending = query_next(w->ending), status = 0;

		query_rest(w->query);
		query_rest(w->ending);
		now = clock_now_ns();
		if (r != 0)
			return r < 0 ? complain(w) : 0;
		if (!is_written)
			return err_status(WAIT_ENDED, "the run of '%s' has ended, and the condition is not true", w->trace);
		if (now >= until_ns)
			return err_status(WAIT_TIMEOUT, "the condition is not true of '%s' within the time of --timeout", w->trace);
		if (ending > 0 && (status = open_again_when_complete(w, until_ns)) != 0)
			return status;
		pause = (now - before) * SHARE > POLL_NS ? (now - before) * SHARE : POLL_NS;
		nap(pause < until_ns - now ? pause : until_ns - now);
	}
}

static int wait_for(struct wait *w)
{
	int64_t until_ns = w->timeout_ms < 0 ? INT64_MAX : clock_now_ns() + (int64_t)w->timeout_ms * 1000000;
	int status;

	status = open_status(w, open_trace(w, 0));
	if (status == 0)
		status = watch(w, until_ns);
	close_trace(w);
	return status;
}

int wait_main(int argc, char **argv)
{
	struct wait w = { .trace = "trace.db", .timeout_ms = -1, .mark = -1 };
	int status;

	cli_begin();
	if (parse(argc, argv, &w, &status))
		status = wait_for(&w);
	if (w.mark >= 0)
		close(w.mark);
	return status;
}
