/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "base/saturate.h"
#include "dag/darshan/calls_internal.h"

/* What a function of MPI-IO that moves data is: MPI_File_[i]read|write[_at][_all|_shared|_ordered][_begin]. */
struct kind {
	enum side side;
	int counter; /* of reads; that of writes is the next one */
};

static bool ends_with(const char *name, const char *end)
{
	size_t n = strlen(name), len = strlen(end);

	return n >= len && strcmp(name + n - len, end) == 0;
}

/* A split call counts when it begins, with what it asks for. */
static bool moves(const char *name, struct kind *ret)
{
	const bool is_started = name[0] == 'i';
	const char *rest = name + is_started;

	if (strncmp(rest, "read", 4) == 0)
		ret->side = READS;
	else if (strncmp(rest, "write", 5) == 0)
		ret->side = WRITES;
	else
		return false;
	if (ends_with(name, "_end"))
		return false;
	ret->counter = is_started		      ? MPIIO_NB_READS
		       : ends_with(name, "_begin")    ? MPIIO_SPLIT_READS
		       : ends_with(name, "_all") || ends_with(name, "_ordered") ? MPIIO_COLL_READS
						      : MPIIO_INDEP_READS;
	return true;
}

static void add_to(int64_t *sum, int64_t n)
{
	*sum = saturate_add(*sum, n);
}

/* Sums have no sizes of single calls, nor an order. */
static int add_sum(struct call_record *r, struct kind kind, const struct made *made)
{
	struct transfers *t = &r->transfers[kind.side];

	r->has_sums = true;
	stretch_add(&t->stretch, &made->work);
	if (made->is_timed)
		spent_add(&t->spent, &made->work);
	return 0;
}

static int add_transfer(struct call_record *r, struct kind kind, const struct made *made)
{
	struct work w = made->work;
	const int sizes = kind.side == READS ? MPIIO_SIZE_READ : MPIIO_SIZE_WRITE;

	w.bytes = made->length >= 0 ? made->length : w.bytes;
	add_to(&r->counters[kind.counter + (int)kind.side], w.n);
	if (w.bytes < 0)
		r->is_partial[kind.side] = true;
	else
		add_to(&r->counters[MPIIO_BYTES_READ + (int)kind.side], w.bytes);
	if (w.n > 1)
		return add_sum(r, kind, made);
	if (r->transfers[!kind.side].stretch.any && r->last_side != kind.side)
		r->counters[MPIIO_RW_SWITCHES]++;
	r->last_side = kind.side;
	if (w.bytes >= 0)
		r->counters[sizes + tally_size_class(w.bytes)]++;
	if (w.bytes > 0 && values_add(&r->accesses, w.bytes) < 0)
		return -ENOMEM;
	return transfers_add(&r->transfers[kind.side], &w);
}

static void add_open(struct call_record *r, const struct made *made)
{
	r->counters[made->size == 1 ? MPIIO_INDEP_OPENS : MPIIO_COLL_OPENS]++;
	calls_time_meta(r, made, &r->opens);
}

int calls_add_mpiio(struct calls *calls, int32_t process, const struct made *made)
{
	static const char prefix[] = "MPI_File_";
	const char *name = made->name + sizeof(prefix) - 1;
	struct call_record *r;
	struct kind kind;

	if (strncmp(made->name, prefix, sizeof(prefix) - 1) != 0 || !made->path || !made->path_len)
		return 0;
	r = calls_record(calls, process, true, made->path, made->path_len);
	if (!r)
		return -ENOMEM;
	if (made->work.n > 1)
		add_to(&calls->sums, made->work.n);
	if (moves(name, &kind))
		return add_transfer(r, kind, made);
	if (strcmp(name, "open") == 0)
		add_open(r, made);
	else if (strcmp(name, "close") == 0)
		calls_time_meta(r, made, &r->closes);
	else if (strcmp(name, "set_view") == 0) {
		add_to(&r->counters[MPIIO_VIEWS], made->work.n);
		calls_time_meta(r, made, NULL);
	} else if (strcmp(name, "sync") == 0) {
		add_to(&r->counters[MPIIO_SYNCS], made->work.n);
		if (made->is_timed)
			spent_add(&r->transfers[WRITES].spent, &made->work);
	}
	return 0;
}

static void put_unknown(const struct call_record *r, struct darshan_mpiio *out)
{
	out->counters[MPIIO_HINTS] = out->counters[MPIIO_MODE] = -1;
	for (int side = READS; side < SIDES; side++)
		if (r->is_partial[side])
			out->counters[MPIIO_BYTES_READ + side] = -1;
	for (int i = MPIIO_RW_SWITCHES; i < MPIIO_RANKS && r->has_sums; i++)
		out->counters[i] = -1;
	if (r->has_sums)
		out->times[POSIX_F_MAX_READ_TIME] = out->times[POSIX_F_MAX_WRITE_TIME] = -1;
}

int calls_put_mpiio(struct calls *calls, struct call_record *r)
{
	const struct ranked *process = &calls->ranks->of[r->key.process];
	struct darshan_mpiio out = { .base = { r->key.id, process->rank } };
	int error;

	memcpy(out.counters, r->counters, sizeof(out.counters));
	values_frequent(&r->accesses, &out.counters[MPIIO_ACCESS], &out.counters[MPIIO_ACCESS_COUNT]);
	out.times[POSIX_F_OPEN_START] = stretch_start(&r->opens);
	out.times[POSIX_F_OPEN_END] = stretch_end(&r->opens);
	out.times[POSIX_F_CLOSE_START] = stretch_start(&r->closes);
	out.times[POSIX_F_CLOSE_END] = stretch_end(&r->closes);
	out.times[POSIX_F_META_TIME] = tally_seconds(r->meta.ns);
	for (int side = READS; side < SIDES; side++) {
		const struct transfers *t = &r->transfers[side];

		out.times[POSIX_F_READ_START + side] = stretch_start(&t->stretch);
		out.times[POSIX_F_READ_END + side] = stretch_end(&t->stretch);
		out.times[POSIX_F_READ_TIME + side] = tally_seconds(t->spent.ns);
		out.times[POSIX_F_MAX_READ_TIME + side] = tally_seconds(t->longest.ns);
		out.counters[MPIIO_MAX_READ_TIME_SIZE + side] = t->longest.bytes;
	}
	put_unknown(r, &out);
	error = log_put(calls->log, DARSHAN_MPIIO, DARSHAN_MPIIO_VERSION, &out, sizeof(out));
	if (error || calls->sums)
		return error;
	return log_put_dxt(calls->log, DARSHAN_DXT_MPIIO, DARSHAN_DXT_MPIIO_VERSION, out.base, process->host, &r->transfers[WRITES],
		&r->transfers[READS]);
}
