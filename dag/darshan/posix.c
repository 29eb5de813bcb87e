/* SPDX-License-Identifier: MIT */
#include "dag/darshan/posix.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/failure.h"
#include "base/saturate.h"
#include "base/vector.h"
#include "dag/darshan/log.h"
#include "dag/darshan/ranks.h"
#include "dag/darshan/tally.h"
#include "dag/trace/traces.h"
#include "db/query.h"

enum column { PROCESS, PATH, NAME, BY_CALL, OFFSET, BYTES, BEGIN, END, MODE, UNSEEN, ORIGIN };
static const char columns[] = "process path name by_call offset bytes begin_ns end_ns mode unseen origin";

enum side { READS, WRITES, SIDES };

/* One record that is being made. */
struct record {
	struct log *log;
	const struct ranks *ranks;
	int64_t process;
	char *path; /* of path_len bytes; NULL: there is none yet */
	size_t path_len, path_room;
	struct darshan_posix out;
	int64_t last_byte[SIDES];
	enum side last_side;
	struct transfers transfers[SIDES];
	struct stretch opens, closes;
	struct spent meta;
	struct values accesses, strides;
	bool by_call;	  /* system calls were recorded */
	bool unseen;	  /* data may have passed that were not */
	bool unplaced;	  /* of a read or write the offset is not known */
};

/* ---- what is counted ---- */

/* A write that does not follow the one before in the file leaves a gap; a record begins, and goes on after an open, at byte 0. */
static int add_place(struct record *r, enum side side, const struct work *w)
{
	int64_t *last = &r->last_byte[side], stride = 0;

	if (w->offset < 0) {
		r->unplaced = true;
		return 0;
	}
	if (w->offset > *last) {
		r->out.counters[POSIX_SEQ_READS + side]++;
		if (w->offset == *last + 1)
			r->out.counters[POSIX_CONSEC_READS + side]++;
		if (*last != 0)
			stride = w->offset - *last - 1;
	}
	*last = w->offset + w->bytes - 1;
	if (*last > r->out.counters[POSIX_MAX_BYTE_READ + side])
		r->out.counters[POSIX_MAX_BYTE_READ + side] = *last;
	return values_add(&r->strides, stride);
}

static int add_transfer(struct record *r, enum side side, const struct work *w)
{
	int64_t *counters = r->out.counters;

	counters[POSIX_READS + side]++;
	counters[POSIX_BYTES_READ + side] = saturate_add(counters[POSIX_BYTES_READ + side], w->bytes);
	counters[side == READS ? POSIX_SIZE_READ + tally_size_class(w->bytes) : POSIX_SIZE_WRITE + tally_size_class(w->bytes)]++;
	if (r->transfers[!side].n_segments && r->last_side != side)
		counters[POSIX_RW_SWITCHES]++;
	r->last_side = side;
	if (add_place(r, side, w) < 0 || values_add(&r->accesses, w->bytes) < 0)
		return -ENOMEM;
	return transfers_add(&r->transfers[side], w);
}

static void begin_at_0(struct record *r)
{
	r->last_byte[READS] = r->last_byte[WRITES] = 0;
}

static void add_open(struct record *r, const struct query *q, const struct work *w)
{
	size_t len;
	const char *mode = query_bytes(q, MODE, &len);
	char text[16] = "";

	if (mode && len && len < sizeof(text)) {
		memcpy(text, mode, len);
		r->out.counters[POSIX_MODE] = (int64_t)strtoul(text, NULL, 8);
	}
	r->unseen |= query_int(q, UNSEEN) != 0;
	r->out.counters[POSIX_OPENS]++;
	stretch_add(&r->opens, w);
	spent_add(&r->meta, w);
	begin_at_0(r);
}

static void add_close(struct record *r, const struct work *w)
{
	stretch_add(&r->closes, w);
	spent_add(&r->meta, w);
	begin_at_0(r);
}

static void add_dup(struct record *r, const struct work *w)
{
	r->out.counters[POSIX_OPENS]++;
	r->out.counters[POSIX_DUPS]++;
	stretch_add(&r->opens, w);
	spent_add(&r->meta, w);
}

static int add_target(struct record *r, const struct query *q)
{
	size_t len;
	const char *origin = query_bytes(q, ORIGIN, &len);
	uint64_t id;

	r->out.counters[POSIX_RENAME_TARGETS]++;
	if (!origin || !len || r->out.counters[POSIX_RENAMED_FROM])
		return 0;
	if (log_name(r->log, origin, len, &id) < 0)
		return -ENOMEM;
	memcpy(&r->out.counters[POSIX_RENAMED_FROM], &id, sizeof(id));
	return 0;
}

static int add_other(struct record *r, const struct query *q, const char *name, const struct work *w)
{
	static const struct {
		const char *name;
		int counter;
		bool is_meta;
	} kinds[] = { { "lseek", POSIX_SEEKS, true }, { "getattr", POSIX_STATS, true }, { "mmap", POSIX_MMAPS, false },
		{ "fsync", POSIX_FSYNCS, false }, { "rename", POSIX_RENAME_SOURCES, true } };

	if (strcmp(name, "renamed") == 0)
		return add_target(r, q);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(name, kinds[i].name) == 0) {
			r->out.counters[kinds[i].counter]++;
			if (kinds[i].is_meta)
				spent_add(&r->meta, w);
			else if (kinds[i].counter == POSIX_FSYNCS) /* as a part of writing */
				spent_add(&r->transfers[WRITES].spent, w);
		}
	return 0;
}

static int64_t number_or(const struct query *q, int column, int64_t unknown)
{
	return query_type(q, column) == QUERY_NULL ? unknown : query_int(q, column);
}

static int add(struct record *r, const struct query *q)
{
	struct work w = { query_int(q, BEGIN), query_int(q, END), number_or(q, BYTES, 0), number_or(q, OFFSET, -1), 1 };
	char name[16] = "";
	size_t len;
	const char *bytes = query_bytes(q, NAME, &len);

	if (bytes && len < sizeof(name))
		memcpy(name, bytes, len);
	if (w.bytes < 0)
		w.bytes = 0; /* of a trace that is not ours */
	r->by_call |= query_int(q, BY_CALL) != 0;
	if (strcmp(name, "read") == 0 || strcmp(name, "write") == 0)
		return add_transfer(r, *name == 'r' ? READS : WRITES, &w);
	if (strcmp(name, "open") == 0 || strcmp(name, "create") == 0 || strcmp(name, "tmpfile") == 0)
		add_open(r, q, &w);
	else if (strcmp(name, "close") == 0 || strcmp(name, "flush") == 0)
		add_close(r, &w);
	else if (strcmp(name, "dup") == 0)
		add_dup(r, &w);
	else
		return add_other(r, q, name, &w);
	return 0;
}

/* ---- the record ---- */

static void put_unknown(struct record *r)
{
	static const int never[] = { POSIX_FILENOS, POSIX_FDSYNCS, POSIX_MEM_NOT_ALIGNED, POSIX_MEM_ALIGNMENT, POSIX_FILE_NOT_ALIGNED,
		POSIX_FILE_ALIGNMENT };
	static const int of_calls[] = { POSIX_DUPS, POSIX_SEEKS, POSIX_STATS, POSIX_MMAPS };
	int64_t *counters = r->out.counters;

	for (size_t i = 0; i < sizeof(never) / sizeof(never[0]); i++)
		counters[never[i]] = -1;
	for (size_t i = 0; i < sizeof(of_calls) / sizeof(of_calls[0]) && !r->by_call; i++)
		counters[of_calls[i]] = -1;
	if (!r->by_call && counters[POSIX_MODE] == 0)
		counters[POSIX_MODE] = -1;
	for (int i = POSIX_MAX_BYTE_READ; i <= POSIX_SEQ_WRITES && r->unplaced; i++)
		counters[i] = -1;
	for (int i = POSIX_STRIDE; i < POSIX_ACCESS && r->unplaced; i++)
		counters[i] = -1;
	if (!r->unseen)
		return;
	counters[POSIX_READS] = counters[POSIX_WRITES] = -1;
	for (int i = POSIX_BYTES_READ; i < POSIX_RANKS; i++)
		counters[i] = -1;
	for (int i = POSIX_F_READ_TIME; i < POSIX_F_RANKS; i++)
		if (i != POSIX_F_META_TIME)
			r->out.times[i] = -1;
}

static void put_times(struct record *r)
{
	double *times = r->out.times;

	times[POSIX_F_OPEN_START] = stretch_start(&r->opens);
	times[POSIX_F_OPEN_END] = stretch_end(&r->opens);
	times[POSIX_F_CLOSE_START] = stretch_start(&r->closes);
	times[POSIX_F_CLOSE_END] = stretch_end(&r->closes);
	times[POSIX_F_META_TIME] = tally_seconds(r->meta.ns);
	for (int side = READS; side < SIDES; side++) {
		const struct transfers *t = &r->transfers[side];

		times[POSIX_F_READ_START + side] = stretch_start(&t->stretch);
		times[POSIX_F_READ_END + side] = stretch_end(&t->stretch);
		times[POSIX_F_READ_TIME + side] = tally_seconds(t->spent.ns);
		times[POSIX_F_MAX_READ_TIME + side] = tally_seconds(t->longest.ns);
		r->out.counters[POSIX_MAX_READ_TIME_SIZE + side] = t->longest.bytes;
	}
}

static int put(struct record *r)
{
	int32_t at = ranks_find(r->ranks, r->process);
	int error;

	if (at < 0)
		return 0;
	r->out.base.rank = r->ranks->of[at].rank;
	error = log_name(r->log, r->path, r->path_len, &r->out.base.id);
	if (error)
		return error;
	values_frequent(&r->strides, &r->out.counters[POSIX_STRIDE], &r->out.counters[POSIX_STRIDE_COUNT]);
	values_frequent(&r->accesses, &r->out.counters[POSIX_ACCESS], &r->out.counters[POSIX_ACCESS_COUNT]);
	put_times(r);
	put_unknown(r);
	error = log_put(r->log, DARSHAN_POSIX, DARSHAN_POSIX_VERSION, &r->out, sizeof(r->out));
	return error ? error
		     : log_put_dxt(r->log, DARSHAN_DXT_POSIX, DARSHAN_DXT_POSIX_VERSION, r->out.base, r->ranks->of[at].host,
			       &r->transfers[WRITES], &r->transfers[READS]);
}

/* The memory of values and segments is kept for the next one. */
static void clear(struct record *r)
{
	free(r->accesses.of);
	free(r->strides.of);
	for (int side = READS; side < SIDES; side++)
		free(r->transfers[side].segments);
	*r = (struct record){ .log = r->log, .ranks = r->ranks, .path = r->path, .path_room = r->path_room };
}

/* The record that the row belongs to: another one begins, and the last one is put. */
static int turn_to(struct record *r, int64_t process, const char *path, size_t len)
{
	int error;

	if (r->path_len == len && r->process == process && memcmp(r->path, path, len) == 0)
		return 0;
	error = r->path_len ? put(r) : 0;
	clear(r);
	if (error)
		return error;
	if (vector_fit(r->path, r->path_room, len) < 0)
		return -ENOMEM;
	memcpy(r->path, path, len);
	r->path_len = len;
	r->process = process;
	return 0;
}

static int add_row(void *arg, const struct query *q)
{
	struct record *r = arg;
	size_t len;
	const char *path = query_bytes(q, PATH, &len);
	int error;

	if (!path || !len || query_type(q, PROCESS) == QUERY_NULL)
		return 0;
	error = turn_to(r, query_int(q, PROCESS), path, len);
	return error ? error : add(r, q);
}

int posix_read(struct query_db *db, const struct choice *choice, const struct ranks *ranks, struct log *log, struct failure *failure)
{
	struct record record = { .log = log, .ranks = ranks };
	int r = traces_each(db, "darshan.operations", columns, choice, add_row, &record, failure);

	if (r == 0 && record.path_len)
		r = failure_of_memory(failure, put(&record));
	clear(&record);
	free(record.path);
	return r;
}
