/* SPDX-License-Identifier: MIT */
#include "dag/trace/traces.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/failure.h"
#include "dag/trace/compose.h"
#include "db/query.h"

#define SAY_NS INT64_C(1000000000)
#define BEGIN_NS (10 * SAY_NS) /* in which a writer begins to complete its trace */
#define NAP_NS 20000000

/* Whether it is too early to read a trace: r is what query_open() has returned, at first at since_ns. */
static bool is_too_early(int r, int64_t since_ns)
{
	return r == -EINPROGRESS || (r == -EAGAIN && clock_now_ns() - since_ns < BEGIN_NS);
}

static int open_once(const struct words *traces, unsigned how, const struct query_into *into, struct query_db **ret_db)
{
	return into ? query_merge(traces->word, traces->n, how, into, ret_db) : query_open(traces->word, traces->n, how, ret_db);
}

static int open_ended(const struct words *traces, unsigned how, const struct query_into *into, traces_warn *say,
	struct query_db **ret_db)
{
	const struct timespec nap = { .tv_nsec = NAP_NS };
	int64_t since_ns = clock_now_ns();
	int r;

	while (is_too_early(r = open_once(traces, how | QUERY_ENDED, into, ret_db), since_ns)) {
		if (say && clock_now_ns() - since_ns > SAY_NS) {
			say("waiting: %s", query_error(*ret_db));
			say = NULL;
		}
		query_close(*ret_db);
		nanosleep(&nap, NULL);
	}
	if (r != -EAGAIN)
		return r;
	query_close(*ret_db);
	return open_once(traces, how, into, ret_db);
}

int traces_merge(const struct words *traces, unsigned how, const struct query_into *into, traces_warn *say,
	struct query_db **ret_db, struct failure *failure)
{
	int r = open_ended(traces, how, into, say, ret_db);

	return r < 0 ? failure_set(failure, r, "%s", query_error(*ret_db)) : 0;
}

int traces_open(const struct words *traces, unsigned how, traces_warn *say, struct query_db **ret_db,
	struct failure *failure)
{
	int r = open_ended(traces, how, NULL, say, ret_db);

	if (r == -ENOENT && traces->n == 1 && strcmp(traces->word[0], "trace.db") == 0)
		return failure_set(failure, r,
			"there is no trace.db here: name the trace, or make one with "
			"'ftrac run -- COMMAND'");
	return r < 0 ? failure_set(failure, r, "%s", query_error(*ret_db)) : 0;
}

/* ---- what is missing ---- */

/* Contradictions between several traces: the fact counts files, its _path is one of them. */
static const struct {
	const char *fact, *path, *text;
} doubts[] = {
	{ "files_replaced", "files_replaced_path",
		"warning: files replaced between the traces: %lld, such as '%s'; each counts as two files" },
	{ "files_on_other_devices", "files_on_other_devices_path",
		"warning: files whose device number changed between the traces: %lld, such as '%s'; each counts as two" },
	{ "files_before_their_time", "files_before_their_time_path",
		"warning: files that by the clock were used before another trace made them: %lld, such as '%s'; each counts as two" },
	{ "files_not_known", "files_not_known_path",
		"warning: files of which it is not known whether they are one: %lld, such as '%s'; each counts as two (ftrac merge --same)" },
	{ "starts_not_known", "starts_not_known_path",
		"warning: runs of which it is not known which process of another one started them: %lld, such as '%s' (view start)" },
	{ "clocks_contradict_ms", "clocks_contradict",
		"warning: what machines read of each other contradicts their clocks by %lld ms, whatever these showed, such as '%s'; these "
		"clocks are believed" },
};

static void warn_of_doubts(struct query_db *db, traces_warn *warn)
{
	for (size_t i = 0; i < sizeof(doubts) / sizeof(doubts[0]); i++) {
		int64_t n = query_fact(db, doubts[i].fact, 0);
		const char *path = query_fact_text(db, doubts[i].path);

		if (n)
			warn(doubts[i].text, (long long)n, path ? path : "?");
	}
}

/* What was lost while the trace was recorded. */
static const struct {
	const char *fact, *text;
} losses[] = {
	{ "ops_lost", "warning: %lld operations were lost; numbers are too small" },
	{ "process_events_lost",
		"warning: the kernel dropped process events %lld times; processes may be missing" },
	{ "notes_lost", "warning: %lld notes of make could not be read; dependencies that it "
			"declares may be missing" },
};

int64_t traces_mount_bytes(struct query_db *db)
{
	int64_t all = query_fact(db, "bytes_mount", 0), paged = query_fact(db, "bytes_paged", 0);

	return paged > 0 && paged <= all ? all - paged : all;
}

bool traces_are_whole(struct query_db *db, traces_warn *warn)
{
	const char *stopped = query_fact_text(db, "recording_error");
	bool whole = query_fact(db, "complete", 0) && !stopped;

	warn_of_doubts(db, warn);
	if (stopped)
		warn("warning: the recording stopped before the run did: %s; numbers are too small",
			stopped);
	else if (!whole)
		warn("warning: the trace is incomplete: it is still being written, or its writer "
		     "was killed; "
		     "numbers are those so far");
	for (size_t i = 0; i < sizeof(losses) / sizeof(losses[0]); i++) {
		int64_t n = query_fact(db, losses[i].fact, 0);

		if (n)
			warn(losses[i].text, (long long)n);
		whole &= n == 0;
	}
	return whole;
}

/* ---- queries ---- */

int traces_fail(const struct query_db *db, int error, struct failure *failure)
{
	const char *path = query_path(db);

	if (path)
		return failure_set(failure, error, "cannot read '%s': %s", path, query_error(db));
	return failure_set(failure, error, "cannot read the traces together: %s", query_error(db));
}

int traces_start(struct query_db *db, const char *sql, int first, const char *columns, struct query **ret_query,
	struct failure *failure)
{
	int r = query_start(db, sql, ret_query);

	if (r == 0 && columns)
		r = query_bind(*ret_query, first, columns);
	return r < 0 ? traces_fail(db, r, failure) : 0;
}

int traces_query(struct query_db *db, const char *name, const char *columns,
	const struct choice *choice, struct query **ret_query, int *ret_keys,
	struct failure *failure)
{
	cleanup_free char *sql = NULL;
	int keys, r = compose(name, choice, &sql, &keys, failure);

	*ret_query = NULL;
	if (r < 0)
		return r;
	if (ret_keys)
		*ret_keys = keys;
	return traces_start(db, sql, keys, columns, ret_query, failure);
}

int traces_next(struct query_db *db, struct query *query, struct failure *failure)
{
	int r = query_next(query);

	return r < 0 ? traces_fail(db, r, failure) : r;
}

char *traces_text(const struct query *query, int column, struct arena *texts, bool *failed)
{
	size_t len;
	const char *bytes = query_bytes(query, column, &len);
	char *copy;

	if (query_type(query, column) == QUERY_NULL)
		return NULL;
	copy = arena_text(texts, bytes, len);
	*failed |= !copy;
	return copy;
}

int traces_each(struct query_db *db, const char *name, const char *columns,
	const struct choice *choice, int (*add)(void *arg, const struct query *query), void *arg,
	struct failure *failure)
{
	struct query *query;
	int r = traces_query(db, name, columns, choice, &query, NULL, failure);

	while (r == 0 && (r = traces_next(db, query, failure)) > 0)
		r = failure_of_memory(failure, add(arg, query));
	query_end(query);
	return r;
}
