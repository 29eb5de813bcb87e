/* SPDX-License-Identifier: MIT */
#include "dag/trace/traces.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "dag/trace/compose.h"
#include "db/query.h"

/* What traces that were put together do not agree about: the fact counts files, its _path is one of them. */
static const struct {
	const char *fact, *path, *text;
} doubts[] = {
	{ "files_replaced", "files_replaced_path",
		"warning: files replaced between the traces: %lld, such as '%s'; each counts as two files" },
	{ "files_on_other_devices", "files_on_other_devices_path",
		"warning: files whose device number changed between the traces: %lld, such as '%s'; each counts as two" },
	{ "files_before_their_time", "files_before_their_time_path",
		"warning: files that by the clock were used before another trace made them: %lld, such as '%s'; each counts as two" },
};

static void print_doubts(struct query_db *db)
{
	for (size_t i = 0; i < sizeof(doubts) / sizeof(doubts[0]); i++) {
		int64_t n = query_fact(db, doubts[i].fact, 0);
		const char *path = query_fact_text(db, doubts[i].path);

		if (n)
			err_print(doubts[i].text, (long long)n, path ? path : "?");
	}
}

int traces_open(const struct words *traces, unsigned how, struct query_db **ret_db)
{
	int r = query_open(traces->word, traces->n, how, ret_db);

	if (r == -ENOENT && traces->n == 1 && strcmp(traces->word[0], "trace.db") == 0)
		return err_status(EXIT_OWN,
			"there is no trace.db here: name the trace, or make one with "
			"'ftrac run -- COMMAND'");
	if (r < 0)
		return err_status(EXIT_OWN, "%s", query_error(*ret_db));
	print_doubts(*ret_db);
	return 0;
}

bool traces_are_whole(struct query_db *db)
{
	int64_t complete = query_fact(db, "complete", 0);
	int64_t ops = query_fact(db, "ops_lost", 0),
		events = query_fact(db, "process_events_lost", 0),
		notes = query_fact(db, "notes_lost", 0);
	const char *stopped = query_fact_text(db, "recording_error");

	if (stopped)
		err_print("warning: the recording stopped before the run did: %s; numbers are too "
			  "small",
			stopped);
	else if (!complete)
		err_print("warning: the trace is incomplete: it is still being written, or its "
			  "writer was "
			  "killed; numbers are those so far");
	if (ops)
		err_print("warning: %lld operations were lost; numbers are too small",
			(long long)ops);
	if (events)
		err_print("warning: the kernel dropped process events %lld times; processes may be "
			  "missing",
			(long long)events);
	if (notes)
		err_print("warning: %lld notes of make could not be read; dependencies that it "
			  "declares may be missing",
			(long long)notes);
	return complete && !stopped && !ops && !events && !notes;
}

int traces_each(struct query_db *db, const char *name, const char *columns, const struct choice *choice,
	int (*add)(void *arg, const struct query *query), void *arg)
{
	struct composed composed;
	struct query *query = NULL;
	int r = compose(name, choice, &composed);

	if (r < 0)
		return composed.error[0] ? err_status(EXIT_USAGE, "%s", composed.error)
					 : err_status(EXIT_OWN, "out of memory");
	r = query_start(db, composed.sql, &query);
	free(composed.sql);
	if (r >= 0 && columns)
		r = query_bind(query, composed.keys, columns);
	while (r >= 0 && (r = query_next(query)) > 0)
		if (add(arg, query) < 0) {
			query_end(query);
			return err_status(EXIT_OWN, "out of memory");
		}
	query_end(query);
	return r < 0 ? err_status(EXIT_OWN, "cannot read the trace: %s", query_error(db)) : 0;
}
