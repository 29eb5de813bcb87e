/* SPDX-License-Identifier: MIT */
#include "dag/darshan/calls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/failure.h"
#include "dag/darshan/calls_internal.h"
#include "dag/trace/traces.h"
#include "db/query.h"

enum column { PROCESS, OF_MPI, NAME, FD, CALLS, OFFSET, LENGTH, BYTES, BEGIN, END, LATENCY, SIZE, PATH };
static const char columns[] = "process of_mpi name fd calls offset length bytes begin_ns end_ns latency_ns size path";

struct call_record *calls_record(struct calls *calls, int32_t process, bool is_mpi, const char *name, size_t len)
{
	struct call_key key;
	struct call_record *r;

	memset(&key, 0, sizeof(key));
	key.process = process;
	key.is_mpi = is_mpi;
	if (log_name(calls->log, name, len, &key.id) < 0)
		return NULL;
	HASH_FIND(hh, calls->records, &key, sizeof(key), r);
	if (r)
		return r;
	r = calloc(1, sizeof(*r));
	if (!r)
		return NULL;
	r->key = key;
	HASH_ADD(hh, calls->records, key, sizeof(key), r);
	if (r->hh.tbl)
		return r;
	free(r); /* the hash cannot grow */
	return NULL;
}

void calls_time_meta(struct call_record *r, const struct made *made, struct stretch *stretch)
{
	if (stretch)
		stretch_add(stretch, &made->work);
	if (made->is_timed)
		spent_add(&r->meta, &made->work);
}

static int64_t number_or(const struct query *q, int column, int64_t unknown)
{
	return query_type(q, column) == QUERY_NULL ? unknown : query_int(q, column);
}

/* Of calls that were added up, the time is a sum, which ends with the last of them. */
static struct work work_of(const struct query *q)
{
	struct work w = { query_int(q, BEGIN), query_int(q, END), number_or(q, BYTES, -1), number_or(q, OFFSET, -1), query_int(q, CALLS) };
	int64_t took = query_int(q, LATENCY);

	if (w.n < 1)
		w.n = 1; /* of a trace that is not ours */
	if (w.n > 1 && took < w.end_ns - w.begin_ns)
		w.begin_ns = w.end_ns - took;
	return w;
}

static int add(void *arg, const struct query *q)
{
	struct calls *calls = arg;
	int32_t process = query_type(q, PROCESS) == QUERY_NULL ? -1 : ranks_find(calls->ranks, query_int(q, PROCESS));
	struct made made = { .fd = number_or(q, FD, -1), .size = number_or(q, SIZE, -1), .length = number_or(q, LENGTH, -1),
		.is_timed = query_type(q, LATENCY) != QUERY_NULL, .work = work_of(q) };
	size_t len;
	const char *name = query_bytes(q, NAME, &len);

	if (process < 0 || !name || len >= sizeof(made.name))
		return 0;
	memcpy(made.name, name, len);
	made.path = query_bytes(q, PATH, &made.path_len);
	return query_int(q, OF_MPI) ? calls_add_mpiio(calls, process, &made) : calls_add_stdio(calls, process, &made);
}

/* By rank and name, so that the same trace gives the same bytes. */
static int compare(const struct call_record *a, const struct call_record *b)
{
	if (a->key.process != b->key.process)
		return a->key.process < b->key.process ? -1 : 1;
	return (a->key.id > b->key.id) - (a->key.id < b->key.id);
}

static int put_all(struct calls *calls)
{
	int r = 0;

	HASH_SRT(hh, calls->records, compare);
	for (struct call_record *one = calls->records; one && r == 0; one = one->hh.next)
		r = one->key.is_mpi ? calls_put_mpiio(calls, one) : calls_put_stdio(calls, one);
	return r;
}

static void destroy(struct calls *calls)
{
	struct call_record *one, *next;

	HASH_ITER(hh, calls->records, one, next) {
		HASH_DEL(calls->records, one);
		free(one->accesses.of);
		for (int side = READS; side < SIDES; side++)
			free(one->transfers[side].segments);
		free(one);
	}
	streams_destroy(calls->streams);
}

int calls_read(struct query_db *db, const struct choice *choice, const struct ranks *ranks, struct log *log, int64_t *ret_sums,
	struct failure *failure)
{
	struct calls calls = { .log = log, .ranks = ranks, .streams = streams_create(ranks) };
	int r = calls.streams ? traces_each(db, "darshan.calls", columns, choice, add, &calls, failure) : failure_memory(failure);

	if (r == 0)
		r = failure_of_memory(failure, put_all(&calls));
	*ret_sums = calls.sums;
	destroy(&calls);
	return r;
}
