/* SPDX-License-Identifier: MIT */
#include "dag/darshan/ranks.h"

#include <stdlib.h>
#include <string.h>

#include "base/failure.h"
#include "base/vector.h"
#include "dag/trace/traces.h"
#include "db/query.h"

enum column { ID, PARENT, UID, PID, END, HOST, RANK, SIZE };
static const char columns[] = "id parent uid pid end_ns host world_rank world_size";

static int64_t number_or(const struct query *q, int column, int64_t unknown)
{
	return query_type(q, column) == QUERY_NULL ? unknown : query_int(q, column);
}

static int add(void *arg, const struct query *q)
{
	struct ranks *ranks = arg;
	bool failed = false;
	struct ranked one = {
		.id = query_int(q, ID),
		.parent = query_int(q, PARENT),
		.uid = query_int(q, UID),
		.pid = query_int(q, PID),
		.end_ns = query_int(q, END),
		.host = traces_text(q, HOST, &ranks->texts, &failed),
		.world_rank = number_or(q, RANK, -1),
		.world_size = number_or(q, SIZE, -1),
		.rank = ranks->n,
	};

	return failed ? -ENOMEM : vector_push(ranks->of, ranks->n, one);
}

static int compare(const void *a, const void *b, void *of)
{
	const struct ranked *all = of;
	int64_t x = all[*(const int32_t *)a].id, y = all[*(const int32_t *)b].id;

	return (x > y) - (x < y);
}

static int sort(struct ranks *ranks)
{
	ranks->by_id = reallocarray(NULL, (size_t)ranks->n + 1, sizeof(*ranks->by_id));
	if (!ranks->by_id)
		return -ENOMEM;
	for (int32_t i = 0; i < ranks->n; i++)
		ranks->by_id[i] = i;
	if (ranks->n)
		qsort_r(ranks->by_id, (size_t)ranks->n, sizeof(*ranks->by_id), compare, ranks->of);
	return 0;
}

#define RANK_MOST (INT64_C(1) << 31)

static int compare_ranks(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* Has each process of MPI another rank?  told: room for as many ranks as there are processes. */
static bool is_one_job(const struct ranks *ranks, int64_t *told)
{
	size_t n = 0;

	for (int32_t i = 0; i < ranks->n; i++)
		if (ranks->of[i].world_rank >= 0)
			told[n++] = ranks->of[i].world_rank;
	qsort(told, n, sizeof(*told), compare_ranks);
	for (size_t i = 0; i + 1 < n; i++)
		if (told[i] == told[i + 1])
			return false;
	return n > 0 && told[n - 1] < RANK_MOST;
}

/* Ranks are below it. */
static int64_t size_of_job(const struct ranks *ranks)
{
	int64_t size = 0;

	for (int32_t i = 0; i < ranks->n; i++) {
		const struct ranked *one = &ranks->of[i];

		if (one->world_rank >= size)
			size = one->world_rank + 1;
		if (one->world_size > size && one->world_size < RANK_MOST)
			size = one->world_size;
	}
	return size;
}

static int number(struct ranks *ranks)
{
	int64_t *told = calloc((size_t)ranks->n + 1, sizeof(*told)), next = 0;

	if (!told)
		return -ENOMEM;
	ranks->mpi = is_one_job(ranks, told);
	free(told);
	if (ranks->mpi)
		next = size_of_job(ranks);
	for (int32_t i = 0; i < ranks->n; i++)
		ranks->of[i].rank = ranks->mpi && ranks->of[i].world_rank >= 0 ? ranks->of[i].world_rank : next++;
	ranks->processes = next;
	return 0;
}

int ranks_read(struct query_db *db, const struct choice *choice, struct ranks *ret_ranks, struct failure *failure)
{
	int r;

	*ret_ranks = (struct ranks){ 0 };
	r = traces_each(db, "darshan.processes", columns, choice, add, ret_ranks, failure);
	if (r == 0)
		r = failure_of_memory(failure, sort(ret_ranks));
	return r ? r : failure_of_memory(failure, number(ret_ranks));
}

void ranks_free(struct ranks *ranks)
{
	free(ranks->of);
	free(ranks->by_id);
	arena_free(&ranks->texts);
}

int32_t ranks_find(const struct ranks *ranks, int64_t process)
{
	int32_t low = 0, n = ranks->n;

	while (n > 0) {
		int32_t half = n / 2;

		if (ranks->of[ranks->by_id[low + half]].id < process) {
			low += half + 1;
			n -= half + 1;
		} else {
			n = half;
		}
	}
	return low < ranks->n && ranks->of[ranks->by_id[low]].id == process ? ranks->by_id[low] : -1;
}
