/* SPDX-License-Identifier: MIT */

/* Processes: new ones, those that have ended, their programs and samples. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/saturate.h"
#include "dag/live/collect_internal.h"

#define SAMPLES_NS INT64_C(5000000000) /* samples that are older say nothing of now */

enum { ID, PID, PARENT, IMAGE, START, END, CODE, SIGNAL };
#define TASK_COLUMNS "id, pid, parent, image, start_t, end_t, exit_code, exit_signal"

static int64_t known(const struct query *row, int column)
{
	return query_type(row, column) == QUERY_NULL ? -1 : query_int(row, column);
}

/* A point in time of the row, limited as query_int() limits numbers. */
static int64_t time_of(const struct collect *collect, const struct query *row, int column)
{
	int64_t ns = saturate_add(collect->start_ns, query_int(row, column));

	return ns > QUERY_MOST ? QUERY_MOST : ns < -QUERY_MOST ? -QUERY_MOST : ns;
}

static struct task *make_task(struct collect *collect, int64_t id)
{
	struct task *task = calloc(1, sizeof(*task));

	if (!task) {
		collect->failed = true;
		return NULL;
	}
	*task = (struct task){ .id = id, .cpu_ns = -1, .rss_bytes = -1, .named = -1, .end_ns = -1 };
	HASH_ADD(hh, collect->tasks, id, sizeof(id), task);
	if (!task->hh.tbl) {
		free(task);
		collect->failed = true;
		return NULL;
	}
	collect->n_all++;
	return task;
}

static void take_task(struct collect *collect, const struct query *row)
{
	int64_t id = query_int(row, ID);
	struct task *task = collect_find(collect, id);

	if (!task)
		task = make_task(collect, id);
	if (!task)
		return;
	task->pid = known(row, PID);
	task->parent = known(row, PARENT);
	task->image = known(row, IMAGE);
	task->start_ns = time_of(collect, row, START);
	task->exit_code = known(row, CODE);
	task->exit_signal = known(row, SIGNAL);
	collect->n_ended += task->end_ns < 0 && query_type(row, END) != QUERY_NULL;
	if (query_type(row, END) != QUERY_NULL)
		task->end_ns = time_of(collect, row, END);
	if (id > collect->last_process)
		collect->last_process = id;
}

static void take_image(struct collect *collect, const struct query *row)
{
	struct task *task = collect_find(collect, query_int(row, 1));

	if (!task)
		return;
	free(task->program);
	free(task->command);
	free(task->cwd);
	task->named = query_int(row, 0);
	task->program = collect_text(collect, row, 2);
	task->command = collect_text(collect, row, 3);
	task->cwd = collect_text(collect, row, 4);
}

static void take_sample(struct collect *collect, const struct query *row)
{
	struct task *task = collect_find(collect, query_int(row, 0));
	int64_t t_ns = time_of(collect, row, 1);

	if (!task || t_ns <= task->sample_ns)
		return;
	task->before_ns = task->sample_ns ? task->sample_ns : task->start_ns;
	task->cpu_before_ns = task->sample_ns ? task->cpu_ns : 0;
	task->sample_ns = t_ns;
	task->rss_bytes = known(row, 2);
	task->cpu_ns = known(row, 3);
}

/* What a process has used in its life is known when it has ended. */
static void take_figures(struct collect *collect, const struct query *row)
{
	struct task *task = collect_find(collect, query_int(row, 0));

	if (!task)
		return;
	task->cpu_ns = known(row, 1);
	task->rss_bytes = known(row, 2);
}

/* ---- those that have ended ---- */

static bool has_failed(const struct task *task)
{
	return task->exit_code > 0 || task->exit_signal > 0;
}

static void report(struct collect *collect, const struct task *task)
{
	struct error error = { .process = task->id };

	error.is = (struct live_error){ .time_ns = task->end_ns, .pid = task->pid, .exit_code = task->exit_code,
		.exit_signal = task->exit_signal, .program = task->program ? strdup(task->program) : NULL,
		.path = task->command ? strdup(task->command) : NULL };
	collect_error(collect, &error);
}

static int by_end(const void *one, const void *other)
{
	int64_t a = (*(struct task *const *)one)->end_ns, b = (*(struct task *const *)other)->end_ns;

	return (a < b) - (a > b);
}

/* The newest ones are kept, so that short processes are seen, too. */
static void forget_ended(struct collect *collect)
{
	size_t n = 0, all = HASH_COUNT(collect->tasks);
	cleanup_free struct task **ended = calloc(all + 1, sizeof(*ended));
	struct task *task, *next;

	if (!ended) {
		collect->failed = true;
		return;
	}
	HASH_ITER (hh, collect->tasks, task, next)
		if (task->end_ns >= 0)
			ended[n++] = task;
	qsort(ended, n, sizeof(*ended), by_end);
	for (size_t i = ENDED_KEPT; i < n; i++)
		if (ended[i]->is_told || !has_failed(ended[i]))
			collect_drop_task(collect, ended[i]);
}

/* ---- all of it ---- */

#define IDS_AT_ONCE 20000

struct turn {
	struct collect *collect;
	struct query_db *db;
	struct failure *failure;
	struct ids ids;
};

/* Asks for the ids so far: "FORMAT" has a %s in the place of them. */
static int ask(struct turn *turn, const char *format, collect_row *add)
{
	cleanup_free char *sql = NULL;
	int r = 0;

	if (turn->ids.n && !turn->collect->failed) {
		if (asprintf(&sql, format, turn->ids.text) < 0)
			sql = NULL;
		r = collect_each(turn->collect, turn->db, add, turn->failure, sql);
	}
	turn->ids.len = 0;
	turn->ids.n = 0;
	return r;
}

/* Which of them: 0: not; else the id to ask for. */
typedef int64_t which(const struct task *task);

static int ask_each(struct turn *turn, which *id_of, const char *format, collect_row *add)
{
	struct task *task, *next;
	int r = 0;

	HASH_ITER (hh, turn->collect->tasks, task, next) {
		if (id_of(task) && r == 0)
			ids_add(&turn->ids, id_of(task), &turn->collect->failed);
		if (turn->ids.n >= IDS_AT_ONCE)
			r = ask(turn, format, add);
	}
	return r < 0 ? r : ask(turn, format, add);
}

static int64_t if_running(const struct task *task)
{
	return task->end_ns < 0 ? task->id : 0;
}

static int64_t if_ended(const struct task *task)
{
	return task->end_ns < 0 ? 0 : task->id;
}

static int64_t if_unnamed(const struct task *task)
{
	return task->image > 0 && task->image != task->named ? task->image : 0;
}

static int ask_new(struct collect *collect, struct query_db *db, struct failure *failure)
{
	char sql[256];

	snprintf(sql, sizeof(sql), "SELECT " TASK_COLUMNS " FROM processes WHERE id > %lld ORDER BY id",
		(long long)collect->last_process);
	return collect_each(collect, db, take_task, failure, sql);
}

static void report_ends(struct collect *collect)
{
	struct task *task, *next;

	HASH_ITER (hh, collect->tasks, task, next) {
		if (task->end_ns < 0 || task->is_told)
			continue;
		task->is_told = true;
		if (has_failed(task))
			report(collect, task);
	}
}

int collect_tasks(struct collect *collect, struct query_db *db, struct failure *failure)
{
	struct turn turn = { collect, db, failure, { 0 } };
	char samples[160];
	int r;

	snprintf(samples, sizeof(samples), "SELECT process, t, rss, cpu FROM samples WHERE process IN (%%s) AND t > %lld ORDER BY process, t",
		(long long)(query_fact(db, "end_ns", collect->start_ns) - collect->start_ns - SAMPLES_NS));
	r = ask_each(&turn, if_running, "SELECT " TASK_COLUMNS " FROM processes WHERE id IN (%s)", take_task);
	if (r == 0)
		r = ask_new(collect, db, failure);
	forget_ended(collect);
	if (r == 0)
		r = ask_each(&turn, if_unnamed, "SELECT id, process, program, command, cwd FROM image WHERE id IN (%s)", take_image);
	report_ends(collect);
	if (r == 0)
		r = ask_each(&turn, if_running, samples, take_sample);
	if (r == 0)
		r = ask_each(&turn, if_ended, "SELECT process, cpu_ns, rsspeak_bytes FROM figures WHERE process IN (%s)", take_figures);
	free(turn.ids.text);
	return r;
}
