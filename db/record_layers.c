/* SPDX-License-Identifier: MIT */
/* Calls of layers above the operations. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <uthash.h>

#include "base/saturate.h"
#include "db/layers.h"
#include "db/paths.h"
#include "db/record_internal.h"
#include "db/store.h"

/*
 * A call ends after those inside of it, whose rows refer to it.  So it gets its id when the first of them ends.  Of each thread
 * some calls that have not ended are known; a call that never ends has an id without a row, which finish.sql removes.
 */
#define PENDING 8

struct caller {
	uint32_t id;
	size_t next; /* which is replaced if there is no room */
	struct {
		uint32_t number; /* 0: free */
		int64_t id;
	} pending[PENDING];
	UT_hash_handle hh;
};

struct layers {
	bool named; /* the database has the names of calls */
	struct caller *callers; /* with calls inside of others */
};

int record_layers_create(struct layers **ret_layers)
{
	*ret_layers = calloc(1, sizeof(**ret_layers));
	return *ret_layers ? 0 : -ENOMEM;
}

void record_layers_destroy(struct layers *layers)
{
	struct caller *caller, *next;

	if (!layers)
		return;
	HASH_ITER(hh, layers->callers, caller, next) {
		HASH_DEL(layers->callers, caller);
		free(caller);
	}
	free(layers);
}

int record_caller(struct record *record, const struct event *ev)
{
	int r = record->layers->named ? 0 : store_name_calls(record->store);

	record->layers->named = true;
	if (r < 0)
		return r;
	return store_put(record->store, PUT_CALLER, (struct value[]){ V_INT(ev->u.caller.id), V_OPT(ev->u.caller.pid > 0, ev->u.caller.pid),
		V_OPT(ev->tid > 0, ev->tid), V_INT(saturate_subtract(ev->time_ns, record->options.start_ns)), V_NULL });
}

/* NULL: no memory, or not there and not to be made. */
static struct caller *find_caller(struct layers *layers, uint32_t id, bool make)
{
	struct caller *caller;

	HASH_FIND(hh, layers->callers, &id, sizeof(id), caller);
	if (caller || !make)
		return caller;
	caller = calloc(1, sizeof(*caller));
	if (!caller)
		return NULL;
	caller->id = id;
	HASH_ADD(hh, layers->callers, id, sizeof(caller->id), caller);
	if (caller->hh.tbl)
		return caller;
	free(caller);
	return NULL;
}

/* The id of a call that has not ended; 0: no memory. */
static int64_t id_of_parent(struct record *record, uint32_t caller_id, uint32_t number)
{
	struct caller *caller = find_caller(record->layers, caller_id, true);
	size_t i;

	if (!caller)
		return 0;
	for (i = 0; i < PENDING; i++)
		if (caller->pending[i].number == number)
			return caller->pending[i].id;
	i = caller->next++ % PENDING;
	caller->pending[i].number = number;
	caller->pending[i].id = ++record->last_op;
	return caller->pending[i].id;
}

static int64_t id_of(struct record *record, uint32_t caller_id, uint32_t number)
{
	struct caller *caller = find_caller(record->layers, caller_id, false);

	for (size_t i = 0; caller && i < PENDING; i++)
		if (caller->pending[i].number == number && number) {
			caller->pending[i].number = 0;
			return caller->pending[i].id;
		}
	return ++record->last_op;
}

/* A path that is left out is not stored. */
static int find_path(struct record *record, const char *text, size_t len, int64_t *ret_path)
{
	struct path path = { 0 };
	int r;

	*ret_path = 0;
	if (len == 0)
		return 0;
	r = text[0] == '/' ? paths_intern_native(record->paths, text, len, &path) : paths_intern(record->paths, text, len, &path);
	if (r == 0 && path.recorded)
		*ret_path = path.id;
	return r;
}

static int put_mpi(struct record *record, int64_t id, const struct layer_mpi *mpi)
{
	return store_put(record->store, PUT_MPI_CALL, (struct value[]){ V_INT(id), V_OPT(mpi->opened != 0, mpi->opened),
		V_OPT(mpi->order >= 0, mpi->order), V_OPT(mpi->rank >= 0, mpi->rank), V_OPT(mpi->size > 0, mpi->size), V_NULL });
}

static int put_sum(struct record *record, int64_t id, const struct layer_sum *sum)
{
	return store_put(record->store, PUT_CALL_SUM, (struct value[]){ V_INT(id), V_INT(sum->calls < INT64_MAX ? (int64_t)sum->calls : INT64_MAX),
		V_OPT(sum->end_ns > 0, saturate_subtract(sum->end_ns, record->options.start_ns)), V_OPT(sum->measured != MEASURED_NONE, sum->least_ns),
		V_OPT(sum->measured != MEASURED_NONE, sum->most_ns) });
}

/* What stands before the rest of the text.  False: the text is too short. */
static bool take(bool has, void *to, size_t size, const char **text, size_t *len)
{
	if (!has)
		return true;
	if (*len < size)
		return false;
	memcpy(to, *text, size);
	*text += size;
	*len -= size;
	return true;
}

int record_layer_call(struct record *record, const struct event *ev, const char *text, size_t len)
{
	int64_t parent = ev->u.call.parent ? id_of_parent(record, ev->u.call.caller, ev->u.call.parent) : 0;
	int64_t id = id_of(record, ev->u.call.caller, ev->u.call.number), path;
	struct layer_sum sum = { .calls = 1, .measured = MEASURED_ALL };
	struct layer_mpi mpi;
	bool moves = ev->u.call.code < CALL_MAX && layer_calls[ev->u.call.code].moves;
	bool has_all = moves && ev->u.call.has_result && ev->u.call.length == ev->u.call.result;
	int r = 0;

	if (ev->u.call.code >= CALL_MAX || !take(ev->u.call.has_mpi, &mpi, sizeof(mpi), &text, &len) ||
		!take(ev->u.call.has_sum, &sum, sizeof(sum), &text, &len))
		return 0;
	if (ev->u.call.has_mpi)
		r = put_mpi(record, id, &mpi);
	if (r == 0 && (sum.calls != 1 || sum.measured != MEASURED_ALL))
		r = put_sum(record, id, &sum);
	if (r == 0)
		r = find_path(record, text, len, &path);
	if (r < 0)
		return r == -EINVAL ? 0 : r;
	record->counts.calls += sum.calls;
	return store_put(record->store, PUT_CALL, (struct value[]){ V_INT(id), V_INT(ev->u.call.code), V_INT(ev->u.call.caller), V_ID(parent),
		V_INT(saturate_subtract(ev->time_ns, record->options.start_ns)), V_OPT(sum.measured == MEASURED_ALL, ev->u.call.latency_ns),
		V_OPT(ev->u.call.has_fd, ev->u.call.fd), V_ID(path), V_OPT(ev->u.call.has_offset, ev->u.call.offset),
		V_OPT(ev->u.call.has_length && !has_all, ev->u.call.length), V_OPT(ev->u.call.has_result, ev->u.call.result),
		V_NULL, V_NULL });
}
