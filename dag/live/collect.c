/* SPDX-License-Identifier: MIT */
#include "dag/live/collect.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/vector.h"
#include "dag/live/collect_internal.h"

/* ---- what is kept ---- */

int collect_create(const char *path, unsigned how, live_waits *waits, struct collect **ret_collect)
{
	struct collect *collect = *ret_collect = calloc(1, sizeof(*collect));

	if (!collect)
		return -ENOMEM;
	collect->path = path;
	collect->how = how;
	collect->waits_of = waits;
	return 0;
}

static void error_free(struct error *error)
{
	if (!error)
		return;
	free((char *)error->is.program);
	free((char *)error->is.what);
	free((char *)error->is.path);
	free(error);
}

void collect_error(struct collect *collect, const struct error *error)
{
	struct error *copy = malloc(sizeof(*copy)), **place = &collect->errors[collect->n_errors % ERRORS_KEPT];

	if (!copy) {
		collect->failed = true;
		return;
	}
	*copy = *error;
	error_free(*place);
	*place = copy;
	collect->n_errors++;
}

void collect_drop_task(struct collect *collect, struct task *task)
{
	HASH_DEL(collect->tasks, task);
	free(task->program);
	free(task->command);
	free(task->cwd);
	free(task->recent);
	free(task);
}

static void drop_files(struct collect *collect)
{
	struct used_file *file, *next;

	HASH_ITER (hh, collect->files, file, next) {
		HASH_DEL(collect->files, file);
		free(file);
	}
}

void collect_destroy(struct collect *collect)
{
	struct open_handle *handle, *next;

	if (!collect)
		return;
	while (collect->tasks)
		collect_drop_task(collect, collect->tasks);
	drop_files(collect);
	HASH_ITER (hh, collect->open, handle, next) {
		HASH_DEL(collect->open, handle);
		free(handle);
	}
	collect_drop_sums(collect);
	collect_drop_waits(collect, INT64_MAX);
	for (int i = 0; i < ERRORS_KEPT; i++)
		error_free(collect->errors[i]);
	free(collect);
}

struct task *collect_find(const struct collect *collect, int64_t process)
{
	struct task *task;

	HASH_FIND(hh, collect->tasks, &process, sizeof(process), task);
	return task;
}

/* ---- queries ---- */

char *collect_text(struct collect *collect, const struct query *row, int column)
{
	size_t len;
	const char *bytes = query_bytes(row, column, &len);
	char *copy;

	if (query_type(row, column) == QUERY_NULL)
		return NULL;
	copy = strndup(bytes, len);
	collect->failed |= !copy;
	return copy;
}

int collect_each(struct collect *collect, struct query_db *db, collect_row *add, struct failure *failure, const char *sql)
{
	struct query *query = NULL;
	int r = sql ? query_start(db, sql, &query) : -ENOMEM;

	while (r >= 0 && (r = query_next(query)) > 0)
		add(collect, query);
	query_end(query);
	if (r == 0 && collect->failed)
		return failure_memory(failure);
	return r < 0 ? failure_set(failure, r, "cannot read '%s': %s", collect->path, query_error(db)) : 0;
}

void ids_add(struct ids *ids, int64_t id, bool *failed)
{
	if (vector_fit(ids->text, ids->room, ids->len + 24) < 0) {
		*failed = true;
		return;
	}
	ids->len += (size_t)snprintf(ids->text + ids->len, 24, ids->n ? ", %lld" : "%lld", (long long)id);
	ids->n++;
}

/* ---- a look ---- */

void collect_begin(struct collect *collect)
{
	struct task *task, *next;

	HASH_ITER (hh, collect->tasks, task, next)
		task->operations = task->read = task->written = 0;
	for (int i = 0; i < collect->n_kinds; i++) {
		struct kind *kind = &collect->kinds[i];

		kind->count = kind->failed = kind->bytes = 0;
		kind->latencies = (struct latencies){ 0 };
	}
	drop_files(collect);
	collect->read = collect->written = 0;
}

static int check_same(struct collect *collect, const struct query_db *db, struct failure *failure)
{
	int64_t start_ns = query_fact(db, "start_ns", 1);

	if (collect->start_ns && collect->start_ns != start_ns)
		return failure_set(failure, -ESTALE, "'%s' was replaced by the trace of another run", collect->path);
	collect->start_ns = start_ns;
	return 0;
}

/* The interval that ends now: the first one begins with the run, or with the first operation that was read. */
static double interval_of(const struct collect *collect, const struct query_db *db, bool is_first)
{
	int64_t from_ns = collect->is_whole || collect->first_op_ns <= 0 ? collect->start_ns : collect->first_op_ns;
	double s = is_first ? (double)(query_fact(db, "end_ns", from_ns) - from_ns) / 1e9 : (double)(clock_now_ns() - collect->last_ns) / 1e9;

	return s > 0 ? s : NAN;
}

static enum live_is what_is(const struct query_db *db)
{
	if (query_fact(db, "complete", 0))
		return LIVE_FINISHED;
	return !query_is_written(db) ? LIVE_ABANDONED : query_fact(db, "ending", 0) ? LIVE_COMPLETES : LIVE_RUNS;
}

static const char *fact_text(struct live_state *state, const struct query_db *db, const char *key)
{
	const char *text = query_fact_text(db, key);

	return text ? arena_text(&state->memory, text, strlen(text)) : NULL;
}

static void take_facts(struct collect *collect, const struct query_db *db, struct live_state *state)
{
	const char *fidelity = query_fact_text(db, "fidelity"), *files = query_fact_text(db, "files");

	state->is = what_is(db);
	state->trace = arena_text(&state->memory, query_path(db), strlen(query_path(db)));
	state->command = fact_text(state, db, "command");
	state->host = fact_text(state, db, "host");
	state->stopped = fact_text(state, db, "recording_error");
	state->exit_status = query_fact(db, "exit_status", -1);
	state->start_ns = collect->start_ns;
	state->end_ns = query_fact(db, "end_ns", collect->start_ns);
	state->operations = query_fact(db, "ops_recorded", -1);
	state->lost = query_fact(db, "ops_lost", -1);
	state->has_files = files && strcmp(files, "none") != 0;
	state->has_bytes = state->has_files && !(fidelity && strcmp(fidelity, "open") == 0);
}

static int look(struct collect *collect, struct query_db *db, struct live_state *state, struct failure *failure)
{
	bool is_first = collect->last_ns == 0;
	double interval_s;
	int r = check_same(collect, db, failure);

	collect_begin(collect);
	if (r == 0)
		r = collect_tasks(collect, db, failure);
	if (r == 0)
		r = collect_operations(collect, db, failure);
	if (r < 0)
		return r;
	take_facts(collect, db, state);
	interval_s = interval_of(collect, db, is_first);
	state->is_whole_run = is_first && collect->is_whole;
	state->rate = state->has_files ? (double)(state->operations - collect->recorded) / interval_s : NAN;
	collect->recorded = state->operations;
	collect->last_ns = clock_now_ns();
	state->seen_ns = collect->last_ns;
	r = collect_state(collect, db, interval_s, state, failure);
	return r < 0 ? r : collect_waits(collect, state, failure);
}

int collect_look(struct collect *collect, struct live_state **ret_state, struct failure *failure)
{
	struct query_db *db = NULL;
	struct live_state *state = calloc(1, sizeof(*state));
	int r = state ? query_open(&collect->path, 1, collect->how, &db) : failure_memory(failure);

	if (state && r < 0)
		failure_set(failure, r, "%s", query_error(db));
	if (r == 0)
		r = look(collect, db, state, failure);
	query_close(db);
	if (r < 0) {
		live_state_free(state);
		return r;
	}
	*ret_state = state;
	return 0;
}
