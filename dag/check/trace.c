/* SPDX-License-Identifier: MIT */
#include "dag/check/trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/failure.h"
#include "base/vector.h"
#include "dag/check/ninja.h"
#include "dag/check/uses.h"
#include "dag/trace/compose.h"
#include "dag/trace/traces.h"
#include "db/query.h"

struct rows {
	struct check_trace *trace;
	int (*add)(struct check_trace *t, const struct query *q);
};

static int add_row(void *arg, const struct query *q)
{
	const struct rows *rows = arg;

	return rows->add(rows->trace, q);
}

int check_trace_each(struct check_trace *t, struct query_db *db, const char *name, const char *columns,
	int (*add)(struct check_trace *t, const struct query *q), struct failure *failure)
{
	struct rows rows = { t, add };

	return traces_each(db, name, columns, &(struct choice){ 0 }, add_row, &rows, failure);
}

/* NULL for NULL, and when memory is exhausted: *ret_r says so. */
static char *text_of(const struct query *q, int column, int *ret_r)
{
	size_t len;
	const char *bytes = query_bytes(q, column, &len);
	char *text;

	if (query_type(q, column) == QUERY_NULL)
		return NULL;
	text = strndup(bytes, len);
	if (!text)
		*ret_r = -ENOMEM;
	return text;
}

/* ---- what make has noted ---- */

enum note_column { N_KEY, N_DIRECTORY, N_TARGET, N_PREREQUISITE, N_ORDER_ONLY };
#define NOTE_COLUMNS "key directory target prerequisite order_only"

static int32_t node_in(struct build *build, const char *directory, const struct query *q,
	int column)
{
	size_t len;
	const char *name = query_bytes(q, column, &len);
	cleanup_free char *path = path_names_join(directory, name, len);

	return path ? build_node(build, path) : -ENOMEM;
}

static int add_key(struct check_trace *t, const struct query *q, int32_t node)
{
	size_t len;
	const char *key = query_bytes(q, N_KEY, &len);
	int32_t before = path_names_count(t->keys), number = path_names_add(t->keys, key, len);

	if (number < before)
		return number < 0 ? -ENOMEM : 0;
	if (vector_reserve(t->of_key, number) < 0)
		return -ENOMEM;
	t->of_key[number] = node;
	return 0;
}

/* The target of a row, which has a row for each prerequisite; they are together. */
static int32_t target_of(struct check_trace *t, const struct query *q)
{
	size_t len;
	const char *key = query_bytes(q, N_KEY, &len);
	int32_t number = path_names_find(t->keys, key, len), node;
	int r = 0;
	cleanup_free char *directory =
		number == PATH_NAMES_NONE ? text_of(q, N_DIRECTORY, &r) : NULL;
	cleanup_free char *name = number == PATH_NAMES_NONE ? text_of(q, N_TARGET, &r) : NULL;

	if (number != PATH_NAMES_NONE)
		return t->of_key[number];
	if (!directory || !name)
		return r < 0 ? r : BUILD_NONE;
	node = node_in(t->build, directory, q, N_TARGET);
	if (node < 0 || add_key(t, q, node) < 0 || build_call(t->build, node, directory, name) < 0)
		return -ENOMEM;
	return node;
}

static int add_note(struct check_trace *t, const struct query *q)
{
	int32_t node = target_of(t, q), to;

	if (node < 0)
		return node == BUILD_NONE ? 0 : node;
	t->has_notes = true;
	if (query_type(q, N_PREREQUISITE) == QUERY_NULL)
		return 0;
	to = node_in(t->build, path_names_text(t->build->texts, t->build->nodes[node].directory), q,
		N_PREREQUISITE);
	return to < 0 ? -ENOMEM
		      : build_declare(t->build, node, to,
				query_int(q, N_ORDER_ONLY) ? BUILD_ORDER : BUILD_NORMAL);
}

/* Traces of older versions have no such view: 1, 0, negative: not known. */
static int may_have_notes(struct query_db *db)
{
	struct query *query = NULL;
	int r = query_start(db, "SELECT 1 FROM sqlite_master WHERE name = 'declared'", &query);

	if (r == 0)
		r = query_next(query);
	query_end(query);
	return r;
}

int check_trace_notes(struct check_trace *t, struct query_db *db, struct failure *failure)
{
	int r = may_have_notes(db);

	t->keys = path_names_create();
	if (!t->keys)
		return failure_memory(failure);
	if (r < 0)
		return traces_fail(db, r, failure);
	return r ? check_trace_each(t, db, "check.declared", NOTE_COLUMNS, add_note, failure) : 0;
}

/* ---- processes ---- */

enum process_column {
	P_ID,
	P_PARENT,
	P_PID,
	P_START,
	P_END,
	P_COMMAND,
	P_CWD,
	P_JOB,
	P_FAILED,
	P_DRIVER,
	P_TARGET,
	P_SHELL_LINE
};
#define PROCESS_COLUMNS "id parent pid start_ns end_ns command cwd job failed driver target shell_line"

static int add_actor(struct check_trace *t, const struct query *q)
{
	int r = 0;

	if (vector_reserve(t->actors, t->n_actors) < 0)
		return -ENOMEM;
	t->actors[t->n_actors++] = (struct actor){ .id = query_int(q, P_ID),
		.parent = query_int(q, P_PARENT),
		.pid = query_int(q, P_PID),
		.start_ns =
			query_type(q, P_START) == QUERY_NULL ? t->begin_ns : query_int(q, P_START),
		.end_ns = query_type(q, P_END) == QUERY_NULL ? t->begin_ns : query_int(q, P_END),
		.command = text_of(q, P_COMMAND, &r),
		.cwd = text_of(q, P_CWD, &r),
		.job = text_of(q, P_JOB, &r),
		.target = text_of(q, P_TARGET, &r),
		.shell_line = text_of(q, P_SHELL_LINE, &r),
		.failed = query_int(q, P_FAILED),
		.is_driver = query_int(q, P_DRIVER),
		.recipe = BUILD_NONE };
	return r;
}

static int compare_actors(const void *x, const void *y)
{
	const struct actor *a = x, *b = y;

	return (a->id > b->id) - (a->id < b->id);
}

const struct actor *check_trace_actor(const struct check_trace *t, int64_t process)
{
	const struct actor key = { .id = process };

	return vector_find(&key, t->actors, (size_t)t->n_actors, sizeof(key), compare_actors);
}

/* ---- which process belongs to which recipe ---- */

/* The target that a process is the first one for; BUILD_NONE: it is not. */
static int32_t begins(const struct check_trace *t, const struct actor *a,
	const struct actor *parent)
{
	int32_t key;

	if (t->ninja)
		return parent && parent->is_driver && a->shell_line ? ninja_find(t->ninja, a->shell_line)
							      : BUILD_NONE;
	if (!a->target || (parent && parent->target && strcmp(parent->target, a->target) == 0))
		return BUILD_NONE;
	key = path_names_find(t->keys, a->target, strlen(a->target));
	return key == PATH_NAMES_NONE ? BUILD_NONE : t->of_key[key];
}

/* A driver waits for the processes that it has started; what they leave behind does not count. */
static void stretch(struct check_trace *t, const struct actor *a)
{
	struct build_recipe *recipe = &t->build->recipes[a->recipe];

	if (a->start_ns < recipe->start_ns)
		recipe->start_ns = a->start_ns;
	if (a->end_ns > recipe->end_ns)
		recipe->end_ns = a->end_ns;
}

static int begin_recipe(struct check_trace *t, struct actor *a, const struct actor *parent,
	int32_t node)
{
	struct build_recipe *recipe;

	a->recipe = build_recipe(t->build, node, parent ? parent->id : 0);
	if (a->recipe < 0)
		return -ENOMEM;
	recipe = &t->build->recipes[a->recipe];
	if (parent && parent->recipe != a->recipe)
		recipe->outer = parent->recipe;
	recipe->failed |= a->failed;
	stretch(t, a);
	return 0;
}

/* What make itself starts that has no target, $(shell) say, is of the recipe that this make is of. */
static int assign(struct check_trace *t, struct actor *a)
{
	struct actor *parent = a->parent && a->parent < a->id
				       ? (struct actor *)check_trace_actor(t, a->parent)
				       : NULL;
	int32_t node = begins(t, a, parent);
	int r = 0;

	if (node >= 0)
		r = begin_recipe(t, a, parent, node);
	else if (parent)
		a->recipe = parent->recipe;
	return r;
}

/* A job belongs to the declared target that it writes; to the first, if there are several. */
static int assign_jobs(struct check_trace *t, struct query_db *db, struct failure *failure)
{
	int r = 0;

	t->keys = t->keys ? t->keys : path_names_create();
	if (!t->keys)
		return failure_memory(failure);
	r = check_trace_each(t, db, "check.accesses", check_access_columns, check_uses_of_jobs, failure);
	for (int32_t i = 0; i < t->n_actors && r == 0; i++) {
		struct actor *a = &t->actors[i];
		int32_t key =
			a->job ? path_names_find(t->keys, a->job, strlen(a->job)) : PATH_NAMES_NONE;

		if (key == PATH_NAMES_NONE)
			continue;
		if (begin_recipe(t, a, NULL, t->of_key[key]) < 0)
			return failure_memory(failure);
	}
	return r;
}

static int assign_all(struct check_trace *t, struct query_db *db, struct failure *failure)
{
	int r = 0;

	if (t->build->is_complete && !t->ninja)
		return assign_jobs(t, db, failure);
	for (int32_t i = 0; i < t->n_actors && r == 0; i++)
		r = assign(t, &t->actors[i]);
	return failure_of_memory(failure, r);
}

/* ---- the whole ---- */

int check_trace_load(struct check_trace *t, struct query_db *db, struct failure *failure)
{
	int r = check_trace_each(t, db, "check.processes", PROCESS_COLUMNS, add_actor, failure);

	if (r == 0)
		r = check_uses_files(t, db, failure);
	if (r == 0)
		r = assign_all(t, db, failure);
	if (r == 0)
		r = check_uses_load(t, db, failure);
	return r < 0 ? r : failure_of_memory(failure, build_finish(t->build));
}

void check_trace_finish(struct check_trace *t)
{
	for (int32_t i = 0; i < t->n_actors; i++) {
		free(t->actors[i].command);
		free(t->actors[i].cwd);
		free(t->actors[i].job);
		free(t->actors[i].target);
		free(t->actors[i].shell_line);
	}
	free(t->actors);
	path_names_destroy(t->keys);
	free(t->of_key);
	check_uses_finish(t);
}
