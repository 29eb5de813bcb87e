/* SPDX-License-Identifier: MIT */
#include "dag/diff/pair.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/failure.h"
#include "dag/diff/options.h"
#include "dag/trace/traces.h"
#include "db/query.h"


/* ---- reading ---- */

/* Where the command was started; what ran through a mount may have been started anywhere, and begins where its first
 * program does. */
static int find_root(struct run *run, const char *given, struct failure *failure)
{
	struct query *query = NULL;
	const char *bytes;
	size_t len;
	int r;

	if (given || !run->mountpoint || !*run->mountpoint) {
		if (!given)
			given = query_fact_text(run->db, "cwd");
		run->root = given ? strdup(given) : NULL;
		return given && !run->root ? failure_memory(failure) : 0;
	}
	r = traces_query(run->db, "graph.root", NULL, &(struct choice){ .step_ns = 1 }, &query,
		NULL, failure);
	if (r == 0 && (r = traces_next(run->db, query, failure)) > 0) {
		bytes = query_bytes(query, 0, &len);
		run->root = strndup(bytes, len);
		r = run->root ? 0 : failure_memory(failure);
	}
	query_end(query);
	return r;
}

int pair_load_run(struct run *run, const struct diff_options *o, const char *trace, int side, struct failure *failure)
{
	const struct workflow_options options = { &o->choice, false, false };
	const char *word[] = { trace, NULL };
	int r = traces_open(&(struct words){ .word = word, .n = 1 }, o->foreign ? QUERY_FOREIGN : 0, err_print, &run->db,
		failure);

	if (r < 0)
		return r;
	run->trace = trace;
	run->whole = traces_are_whole(run->db, err_print);
	if (!run->whole)
		err_print("the warning above is about '%s'", trace);
	run->mountpoint = query_fact_text(run->db, "mountpoint");
	run->source = query_fact_text(run->db, "source");
	r = find_root(run, o->root[side], failure);
	return r < 0 ? r : workflow_load(run->db, &options, &run->workflow, failure);
}

void pair_finish_run(struct run *run)
{
	workflow_destroy(run->workflow);
	query_close(run->db);
	free(run->root);
}

/* ---- comparing ---- */

static int match(struct pair *pair, const struct run *const runs[2], const struct diff_options *o)
{
	struct names_run named[2];
	int r;

	for (int i = 0; i < 2; i++)
		named[i] = (struct names_run){ runs[i]->workflow, runs[i]->root, runs[i]->mountpoint, runs[i]->source };
	r = names_create(named, &pair->comparison.names);
	for (int i = 0; i < 2 && r == 0; i++)
		r = side_create(runs[i]->workflow, pair->comparison.names, i,
			o->data ? SIDE_DATA : o->choice.include.n > 0 ? SIDE_USERS : SIDE_ALL, &pair->side[i]);
	if (r == 0)
		r = match_create((const struct side *const[]){ pair->side[0], pair->side[1] }, pair->comparison.names, &pair->match);
	pair->comparison.match = pair->match;
	return r;
}

int pair_compare(struct pair *pair, const struct run *const runs[2], const struct diff_options *o, struct failure *failure)
{
	struct comparison *c = &pair->comparison;
	int r;

	for (int i = 0; i < 2; i++) {
		const char *fidelity = query_fact_text(runs[i]->db, "fidelity");

		c->trace[i] = runs[i]->trace;
		c->command[i] = query_fact_text(runs[i]->db, "command");
		c->cached[i] = fidelity && strcmp(fidelity, "cached") == 0;
	}
	r = match(pair, runs, o);
	if (r == 0)
		r = find_differences(c->match, c->names, &c->found);
	if (r == 0)
		r = measure_create(c->match, &c->measurement);
	if (r == 0)
		r = diff_path_create(c->match, &c->paths);
	return failure_of_memory(failure, r);
}

void pair_finish(struct pair *pair)
{
	diff_path_destroy(pair->comparison.paths);
	measure_destroy(pair->comparison.measurement);
	found_destroy(pair->comparison.found);
	match_destroy(pair->match);
	side_destroy(pair->side[0]);
	side_destroy(pair->side[1]);
	names_destroy(pair->comparison.names);
}
