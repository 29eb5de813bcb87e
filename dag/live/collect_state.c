/* SPDX-License-Identifier: MIT */

/* A state of what was collected. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/saturate.h"
#include "dag/live/collect_internal.h"

void live_state_free(struct live_state *state)
{
	if (!state)
		return;
	arena_free(&state->memory);
	free(state);
}

static const char *copy(struct live_state *state, const char *text)
{
	return text ? arena_text(&state->memory, text, strlen(text)) : NULL;
}

static void *make(struct live_state *state, size_t n, size_t size)
{
	void *array = arena_alloc(&state->memory, (n + 1) * size);

	return array ? memset(array, 0, (n + 1) * size) : NULL;
}

/* ---- processes ---- */

static double cpu_of(const struct task *task)
{
	int64_t ns = task->sample_ns - task->before_ns;

	return task->end_ns >= 0 || !task->sample_ns || task->cpu_ns < 0 || ns <= 0 ? NAN
		: (double)(task->cpu_ns - task->cpu_before_ns) / (double)ns;
}

static void put_task(struct live_state *state, const struct task *task, double interval_s)
{
	struct live_process *p = &state->processes[state->n_processes++];

	*p = (struct live_process){ .id = task->id, .pid = task->pid, .parent = task->parent, .start_ns = task->start_ns,
		.end_ns = task->end_ns, .exit_code = task->exit_code, .exit_signal = task->exit_signal, .cpu_ns = task->cpu_ns,
		.rss_bytes = task->rss_bytes, .cpu = cpu_of(task), .operations = task->operations,
		.read_rate = state->has_bytes ? (double)task->read / interval_s : NAN,
		.write_rate = state->has_bytes ? (double)task->written / interval_s : NAN,
		.program = copy(state, task->program), .command = copy(state, task->command), .cwd = copy(state, task->cwd) };
}

static bool put_tasks(struct collect *collect, struct live_state *state, double interval_s)
{
	struct task *task, *next;

	state->processes = make(state, HASH_COUNT(collect->tasks), sizeof(*state->processes));
	if (!state->processes)
		return false;
	HASH_ITER (hh, collect->tasks, task, next)
		put_task(state, task, interval_s);
	state->n_all = collect->n_all;
	state->n_running = collect->n_all - collect->n_ended;
	return true;
}

/* ---- kinds ---- */

static int by_count(const void *one, const void *other)
{
	const struct live_kind *a = one, *b = other;

	return a->count != b->count ? (a->count < b->count) - (a->count > b->count)
		: a->total != b->total ? (a->total < b->total) - (a->total > b->total) : strcmp(a->name, b->name);
}

static bool put_kinds(struct collect *collect, struct live_state *state, double interval_s)
{
	state->kinds = make(state, (size_t)collect->n_kinds, sizeof(*state->kinds));
	if (!state->kinds)
		return false;
	for (int i = 0; i < collect->n_kinds; i++) {
		const struct kind *kind = &collect->kinds[i];

		state->kinds[state->n_kinds] = (struct live_kind){ .name = copy(state, kind->name), .count = kind->count,
			.failed = kind->failed, .total = kind->total, .bytes = kind->moves ? kind->bytes : -1,
			.rate = (double)kind->count / interval_s, .p50_ns = latencies_quantile(&kind->latencies, 0.5),
			.p99_ns = latencies_quantile(&kind->latencies, 0.99) };
		if (!state->kinds[state->n_kinds++].name)
			return false;
	}
	qsort(state->kinds, (size_t)state->n_kinds, sizeof(*state->kinds), by_count);
	return true;
}

/* ---- files ---- */

static int by_bytes(const void *one, const void *other)
{
	const struct used_file *a = *(struct used_file *const *)one, *b = *(struct used_file *const *)other;
	int64_t x = saturate_add(a->read, a->written), y = saturate_add(b->read, b->written);

	return x != y ? (x < y) - (x > y) : a->operations != b->operations ? (a->operations < b->operations) - (a->operations > b->operations)
		: (a->id > b->id) - (a->id < b->id);
}

const char *collect_path(struct collect *collect, struct query_db *db, const char *format, int64_t id, struct arena *memory)
{
	struct query *query = NULL;
	const char *path = NULL, *bytes;
	char sql[512];
	size_t len;

	snprintf(sql, sizeof(sql), format, (long long)id, (long long)id);
	if (query_start(db, sql, &query) == 0 && query_next(query) > 0) {
		bytes = query_bytes(query, 0, &len);
		path = query_type(query, 0) == QUERY_NULL ? NULL : arena_text(memory, bytes, len);
		collect->failed |= !path && query_type(query, 0) != QUERY_NULL;
	}
	query_end(query);
	return path;
}

static bool put_files(struct collect *collect, struct query_db *db, struct live_state *state, double interval_s)
{
	size_t n = 0, all = HASH_COUNT(collect->files);
	cleanup_free struct used_file **files = calloc(all + 1, sizeof(struct used_file *));
	struct used_file *file, *next;

	state->files = make(state, FILES_SHOWN, sizeof(*state->files));
	if (!files || !state->files)
		return false;
	HASH_ITER (hh, collect->files, file, next)
		files[n++] = file;
	qsort(files, n, sizeof(*files), by_bytes);
	for (size_t i = 0; i < n && i < FILES_SHOWN; i++)
		state->files[state->n_files++] = (struct live_file){ .operations = files[i]->operations,
			.read_rate = (double)files[i]->read / interval_s, .write_rate = (double)files[i]->written / interval_s,
			.path = collect_path(collect, db, "SELECT path FROM file WHERE id = %lld", files[i]->id, &state->memory) };
	return true;
}

/* ---- errors ---- */

/* Asked for once, when it is shown for the first time. */
static void find_path(struct collect *collect, struct query_db *db, struct error *error)
{
	struct arena memory = { 0 };
	const char *path = collect_path(collect, db, "SELECT path FROM (SELECT path FROM other_op WHERE id = %lld"
		" UNION ALL SELECT path FROM name_op WHERE id = %lld)", error->op, &memory);

	error->op = 0;
	error->is.path = path ? strdup(path) : NULL;
	arena_free(&memory);
}

static int by_time(const void *one, const void *other)
{
	const struct live_error *a = one, *b = other;

	return (a->time_ns < b->time_ns) - (a->time_ns > b->time_ns);
}

static bool put_errors(struct collect *collect, struct query_db *db, struct live_state *state)
{
	size_t n = collect->n_errors < ERRORS_KEPT ? collect->n_errors : ERRORS_KEPT;

	state->errors = make(state, n, sizeof(*state->errors));
	for (size_t i = 0; state->errors && i < n; i++) {
		struct error *error = collect->errors[(collect->n_errors - 1 - i) % ERRORS_KEPT];
		struct live_error *put = &state->errors[state->n_errors++];

		if (error->op)
			find_path(collect, db, error);
		*put = error->is;
		put->program = copy(state, error->is.program);
		put->what = copy(state, error->is.what);
		put->path = copy(state, error->is.path);
	}
	if (state->errors)
		qsort(state->errors, n, sizeof(*state->errors), by_time);
	return state->errors;
}

int collect_state(struct collect *collect, struct query_db *db, double interval_s, struct live_state *state, struct failure *failure)
{
	state->interval_s = interval_s;
	state->has_single = state->has_files && (collect->n_kinds > 0 || state->operations <= 0);
	state->has_bytes &= state->has_single;
	state->read_rate = state->has_bytes ? (double)collect->read / interval_s : NAN;
	state->write_rate = state->has_bytes ? (double)collect->written / interval_s : NAN;
	if (!put_tasks(collect, state, interval_s) || !put_kinds(collect, state, interval_s) ||
		!put_files(collect, db, state, interval_s) || !put_errors(collect, db, state) || collect->failed)
		return failure_memory(failure);
	return 0;
}
