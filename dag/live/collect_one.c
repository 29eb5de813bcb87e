/* SPDX-License-Identifier: MIT */

/*
 * One process: its open files and its last operations.  Of each process that runs the last operations are kept, and of each open handle
 * what went through it, so that whatever process the user chooses can be shown at once; names of files are looked up then.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/saturate.h"
#include "dag/live/collect_internal.h"

#define OPEN_MOST 200 /* that are shown */

/* ---- what is kept ---- */

/* Operations come in no order of time. */
void collect_keep_operation(struct collect *collect, struct task *task, const struct recent *operation)
{
	int oldest = 0;

	if (!task->recent && !(task->recent = calloc(RECENT, sizeof(*task->recent)))) {
		collect->failed = true;
		return;
	}
	if (task->n_recent < RECENT) {
		task->recent[task->n_recent++] = *operation;
		return;
	}
	for (int i = 1; i < RECENT; i++)
		if (task->recent[i].start_ns < task->recent[oldest].start_ns)
			oldest = i;
	if (operation->start_ns >= task->recent[oldest].start_ns)
		task->recent[oldest] = *operation;
}

static struct handle_sum *find_sum(const struct collect *collect, int64_t handle)
{
	struct handle_sum *sum;

	HASH_FIND(hh, collect->sums, &handle, sizeof(handle), sum);
	return sum;
}

static struct handle_sum *make_sum(struct collect *collect, int64_t handle)
{
	struct handle_sum *sum = calloc(1, sizeof(*sum));

	if (sum) {
		sum->handle = handle;
		HASH_ADD(hh, collect->sums, handle, sizeof(handle), sum);
	}
	if (sum && sum->hh.tbl)
		return sum;
	free(sum);
	collect->failed = true;
	return NULL;
}

void collect_add_to_handle(struct collect *collect, const struct recent *operation, bool writes)
{
	struct handle_sum *sum = find_sum(collect, operation->handle);
	int64_t *bytes;

	if (!sum && !(sum = make_sum(collect, operation->handle)))
		return;
	bytes = writes ? &sum->written : &sum->read;
	*bytes = saturate_add(*bytes, operation->bytes);
	if (operation->id < sum->op)
		return;
	sum->op = operation->id;
	sum->at = operation->offset < 0 ? -1 : saturate_add(operation->offset, operation->bytes);
}

void collect_drop_sum(struct collect *collect, int64_t handle)
{
	struct handle_sum *sum = find_sum(collect, handle);

	if (!sum)
		return;
	HASH_DEL(collect->sums, sum);
	free(sum);
}

void collect_drop_sums(struct collect *collect)
{
	while (collect->sums)
		collect_drop_sum(collect, collect->sums->handle);
}

void live_one_free(struct live_one *one)
{
	if (!one)
		return;
	arena_free(&one->memory);
	free(one);
}

/* ---- open files ---- */

struct used {
	int64_t handle, op;
	const struct handle_sum *sum; /* NULL: nothing was read or written */
};

static int by_use(const void *one, const void *other)
{
	const struct used *a = one, *b = other;

	return a->op != b->op ? (a->op < b->op) - (a->op > b->op) : (a->handle < b->handle) - (a->handle > b->handle);
}

/* Those that a process has opened, the ones used last first. */
static struct used *find_open(const struct collect *collect, int64_t process, size_t *ret_n)
{
	struct used *all = calloc(HASH_COUNT(collect->open) + 1, sizeof(*all));
	struct open_handle *handle, *next;

	*ret_n = 0;
	if (!all)
		return NULL;
	HASH_ITER (hh, collect->open, handle, next) {
		const struct handle_sum *sum = handle->process == process ? find_sum(collect, handle->id) : NULL;

		if (handle->process == process)
			all[(*ret_n)++] = (struct used){ handle->id, sum ? sum->op : 0, sum };
	}
	qsort(all, *ret_n, sizeof(*all), by_use);
	return all;
}

#define HANDLE_PATH "SELECT p.path FROM handles h JOIN paths p ON p.id = h.path WHERE h.id = %lld"

/* has_bytes: reads and writes are recorded one by one.  Of a handle that was open before the first of them was read, the sums are not known. */
static void put_open(struct collect *collect, struct query_db *db, struct live_one *one, const struct used *used, bool has_bytes)
{
	const struct handle_sum *sum = used->sum;
	bool is_known = has_bytes && used->handle > collect->late_handle;

	one->open[one->n_open++] = (struct live_open){ .handle = used->handle, .read = !is_known ? -1 : sum ? sum->read : 0,
		.written = !is_known ? -1 : sum ? sum->written : 0, .at = !has_bytes || !sum ? -1 : sum->at,
		.path = collect_path(collect, db, HANDLE_PATH, used->handle, &one->memory) };
}

static bool put_all_open(struct collect *collect, struct query_db *db, struct live_one *one)
{
	const char *fidelity = query_fact_text(db, "fidelity");
	bool has_bytes = collect->n_kinds > 0 && !(fidelity && strcmp(fidelity, "open") == 0);
	size_t n;
	cleanup_free struct used *all = find_open(collect, one->process, &n);

	one->open = arena_alloc(&one->memory, (OPEN_MOST + 1) * sizeof(*one->open));
	one->all_open = (int64_t)n;
	if (!all || !one->open)
		return false;
	for (size_t i = 0; i < n && i < OPEN_MOST; i++)
		put_open(collect, db, one, &all[i], has_bytes);
	return true;
}

/* ---- operations ---- */

static int by_time(const void *one, const void *other)
{
	const struct recent *a = one, *b = other;

	return a->start_ns != b->start_ns ? (a->start_ns < b->start_ns) - (a->start_ns > b->start_ns) : (a->id < b->id) - (a->id > b->id);
}

static void put_operation(struct collect *collect, struct query_db *db, struct live_one *one, const struct recent *r)
{
	one->operations[one->n_operations++] = (struct live_operation){ .start_ns = r->start_ns, .latency_ns = r->latency_ns, .bytes = r->bytes,
		.offset = r->offset, .result = r->result, .name = arena_text(&one->memory, r->name, strlen(r->name)),
		.path = r->handle ? collect_path(collect, db, HANDLE_PATH, r->handle, &one->memory)
			: collect_path(collect, db, "SELECT path FROM name_op WHERE id = %lld", r->id, &one->memory) };
}

static bool put_operations(struct collect *collect, struct query_db *db, struct live_one *one)
{
	struct task *task = collect_find(collect, one->process);

	one->operations = arena_alloc(&one->memory, RECENT * sizeof(*one->operations));
	if (!one->operations)
		return false;
	if (task && task->n_recent)
		qsort(task->recent, (size_t)task->n_recent, sizeof(*task->recent), by_time);
	for (int i = 0; task && i < task->n_recent; i++)
		put_operation(collect, db, one, &task->recent[i]);
	return true;
}

int collect_one(struct collect *collect, int64_t process, struct live_one **ret_one, struct failure *failure)
{
	struct query_db *db = NULL;
	struct live_one *one = calloc(1, sizeof(*one));
	int r = one ? query_open(&collect->path, 1, collect->how, &db) : failure_memory(failure);

	if (one && r < 0)
		failure_set(failure, r, "%s", query_error(db));
	if (r == 0 && query_fact(db, "start_ns", 1) != collect->start_ns)
		r = failure_set(failure, -ESTALE, "'%s' was replaced by the trace of another run", collect->path);
	if (r == 0) {
		one->process = process;
		if (!put_all_open(collect, db, one) || !put_operations(collect, db, one) || collect->failed)
			r = failure_memory(failure);
	}
	query_close(db);
	if (r < 0) {
		live_one_free(one);
		one = NULL;
	}
	*ret_one = one;
	return r;
}
