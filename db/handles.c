/* SPDX-License-Identifier: MIT */
#include "db/handles.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "db/tuples.h"
#include "db/event.h"
#include "db/files.h"
#include "db/procs.h"
#include "db/store.h"

struct use {
	struct image *image;
	int64_t version;
	struct io_counters sum;
	int64_t first_read, last_read, first_write, last_write; /* 0: none */
	bool dirty;
	struct use *next;
};

#define USE_BYTES (sizeof(struct use) + 16) /* with malloc()'s overhead */
#define HANDLE_BYTES (sizeof(struct handle) + 48 + USE_BYTES)
#define USES_PART 1024 /* part of 'kept' for the uses of one handle */

struct handles {
	struct store *store;
	int64_t start_ns;
	size_t most_closed, n_closed; /* not written yet */
	size_t most_uses; /* of one handle */
	bool is_over; /* the uses of open handles are complete, too */
	struct handle *open;
	STAILQ_HEAD(, handle) dirty; /* rows are cheapest in the order of ids */
	struct tuples *ways;
};

/* How many of that size fit. */
static size_t room_for(size_t bytes, size_t size)
{
	return bytes > size ? bytes / size : 1;
}

int handles_create(struct store *store, int64_t start_ns, size_t kept,
	struct handles **ret_handles)
{
	struct handles *handles = calloc(1, sizeof(*handles));

	if (!handles)
		return -ENOMEM;
	handles->store = store;
	handles->start_ns = start_ns;
	handles->most_closed = room_for(kept, HANDLE_BYTES);
	handles->most_uses = room_for(kept / USES_PART, USE_BYTES);
	STAILQ_INIT(&handles->dirty);
	*ret_handles = handles;
	return tuples_create(store, PUT_WAY, 9, kept, &handles->ways);
}

static void forget_uses(struct handle *handle)
{
	while (handle->uses) {
		struct use *next = handle->uses->next;

		procs_unref(handle->uses->image);
		free(handle->uses);
		handle->uses = next;
	}
	handle->n_uses = 0;
}

static void handle_free(struct handle *handle)
{
	forget_uses(handle);
	procs_unref(handle->opener);
	procs_unref(handle->last);
	procs_unref(handle->mapper);
	free(handle);
}

void handles_destroy(struct handles *handles)
{
	struct handle *h, *next;

	if (!handles)
		return;
	while ((h = STAILQ_FIRST(&handles->dirty))) { /* all closed ones are in it */
		STAILQ_REMOVE_HEAD(&handles->dirty, next_dirty);
		if (h->close_ns)
			handle_free(h);
	}
	HASH_ITER(hh, handles->open, h, next) {
		HASH_DEL(handles->open, h);
		handle_free(h);
	}
	tuples_destroy(handles->ways);
	free(handles);
}

struct handle *handles_open(struct handles *handles, int64_t id, struct image *opener)
{
	struct handle *handle = calloc(1, sizeof(*handle));

	if (!handle)
		return NULL;
	handle->id = id;
	handle->mapped = -1;
	handle->opener = opener;
	procs_ref(opener);
	handles_used_by(handle, opener);
	HASH_ADD(hh, handles->open, id, sizeof(handle->id), handle);
	if (!handle->hh.tbl) {
		handle_free(handle);
		return NULL;
	}
	handles_dirty(handles, handle);
	return handle;
}

struct handle *handles_find(struct handles *handles, int64_t id)
{
	struct handle *handle;

	HASH_FIND(hh, handles->open, &id, sizeof(id), handle);
	return handle;
}

void handles_dirty(struct handles *handles, struct handle *handle)
{
	if (handle->dirty)
		return;
	handle->dirty = true;
	STAILQ_INSERT_TAIL(&handles->dirty, handle, next_dirty);
}

int handles_close(struct handles *handles, struct handle *handle, int64_t time_ns)
{
	handle->close_ns = time_ns;
	HASH_DEL(handles->open, handle);
	handles_dirty(handles, handle);
	return ++handles->n_closed < handles->most_closed ? 0 : handles_flush(handles);
}

void handles_used_by(struct handle *handle, struct image *image)
{
	if (!image || handle->last == image)
		return;
	procs_ref(image);
	procs_unref(handle->last);
	handle->last = image;
}

void handles_each(struct handles *handles, void (*call)(void *arg, struct handle *handle),
	void *arg)
{
	struct handle *h, *next;

	HASH_ITER(hh, handles->open, h, next)
		call(arg, h);
}

static int put_uses(struct handles *handles, struct handle *h);

static int get_use(struct handles *handles, struct handle *handle, struct image *image, int64_t version,
	struct use **ret_use)
{
	struct use *use;
	int r = 0;

	for (use = handle->uses; use; use = use->next)
		if (use->image == image && use->version == version) {
			*ret_use = use;
			return 0;
		}
	use = malloc(sizeof(*use));
	if (!use)
		return -ENOMEM;
	handle->shared |= handle->uses != NULL;
	if (handle->n_uses >= handles->most_uses) {
		r = put_uses(handles, handle);
		forget_uses(handle);
	}
	*use = (struct use){ .image = image, .version = version, .next = handle->uses };
	procs_ref(image);
	handle->uses = use;
	handle->n_uses++;
	*ret_use = use;
	return r;
}

static void count(struct io_counters *sum, const struct data *d, bool seek)
{
	if (d->is_write) {
		sum->nwrite++;
		sum->bwrite += d->bytes;
		sum->write_ns += d->latency_ns;
	} else {
		sum->nread++;
		sum->bread += d->bytes;
		sum->read_ns += d->latency_ns;
	}
	sum->nseek += seek;
}

/* Whether the read or write begins elsewhere than the last one ended. */
static bool take_position(struct handle *h, const struct data *d)
{
	bool known = d->offset >= 0 && h->position >= 0;
	/* Appends go forward, even if the offset is not known. */
	bool forward = d->offset < 0 || h->position < 0 || d->offset >= h->position;
	bool consecutive = known && d->offset == h->position;

	if (d->is_write) {
		h->sequential_writes += forward;
		h->consecutive_writes += consecutive;
	} else {
		h->sequential_reads += forward;
		h->consecutive_reads += consecutive;
	}
	h->position = d->offset < 0 ? -1 : d->offset + d->bytes;
	return known && !consecutive;
}

/* A read of a stream may have waited for what it got: its end counts. */
static int64_t last_time(const struct file *file, const struct data *d)
{
	return d->time_ns + (!d->is_write && file_is_stream(file) ? d->latency_ns : 0);
}

int handles_data(struct handles *handles, struct handle *handle, struct image *image,
	const struct data *d)
{
	struct use *use;
	bool seek;
	int64_t *first, *last;
	int r = get_use(handles, handle, image, d->version, &use);

	if (r < 0)
		return r;
	seek = take_position(handle, d);
	count(&handle->sum, d, seek);
	count(&use->sum, d, seek);
	first = d->is_write ? &use->first_write : &use->first_read;
	last = d->is_write ? &use->last_write : &use->last_read;
	if (!*first || d->time_ns < *first)
		*first = d->time_ns;
	if (last_time(handle->file, d) > *last)
		*last = last_time(handle->file, d);
	use->dirty = true;
	handles_used_by(handle, image);
	handles_dirty(handles, handle);
	return 0;
}

/* ---- rows ---- */

/* Times of reads or writes: the first since the open, the last since the first. */
#define SPAN(first, last, h) V_OPT((first) != 0, (first) - (h)->open_ns), V_OPT((first) != 0, (last) - (first))

static int64_t code_of(const struct end *end)
{
	return end->op ? end->code : TUPLE_NULL;
}

static int put_handle(struct handles *handles, const struct handle *h)
{
	const struct end *open = &h->open, *close = &h->close, *stat = &h->stat;
	int64_t close_t = h->close_ns ? h->close_ns - close->time_ns : close->time_ns - h->open_ns;
	bool ends = h->close_ns && close_t == close->latency_ns;
	int64_t way;
	int r = tuples_intern(handles->ways,
		(int64_t[]){ h->flags, h->created ? h->mode : TUPLE_NULL, h->fidelity,
			h->mapped >= 0 ? h->mapped : TUPLE_NULL, code_of(open), code_of(close),
			code_of(&h->data), h->thread ? h->thread : TUPLE_NULL,
			open->op ? open->result : TUPLE_NULL },
		&way);

	return r < 0 ? r
		     : store_put(handles->store, PUT_HANDLE,
			       (struct value[]){ V_INT(h->id),
				       h->opener ? V_INT(h->opener->id) : V_NULL,
				       V_INT(h->file->id), V_ID(h->path), V_INT(h->version),
				       V_INT(way), V_INT(h->open_ns - handles->start_ns),
				       V_OPT(h->close_ns != 0, h->close_ns - h->open_ns),
				       V_ID(open->op), V_OPT(open->op, open->latency_ns),
				       V_OPT(close->op, close->op - open->op), V_OPT(close->op && !ends, close_t),
				       V_OPT(close->op, close->latency_ns), V_OPT(stat->op, stat->op - open->op),
				       V_OPT(stat->op, stat->time_ns - h->open_ns), V_OPT(stat->op, stat->latency_ns) });
}

static int64_t image_id(const struct image *image)
{
	return image ? image->id : 0;
}

static int64_t earlier(int64_t a, int64_t b)
{
	return !a || (b && b < a) ? b : a;
}

/* The sums, with the times if there is only one use, and the first operation. */
static int put_sums(struct handles *handles, const struct handle *h)
{
	static const struct use none;
	const struct io_counters *s = &h->sum;
	const struct use *u = h->shared ? &none : h->uses;
	const struct end *data = &h->data;

	return store_put(handles->store, PUT_MOVED,
		(struct value[]){ V_INT(h->id), V_INT(s->nread), V_INT(s->bread), V_INT(s->nwrite), V_INT(s->bwrite),
			V_INT(s->read_ns), V_INT(s->write_ns), SPAN(u->first_read, u->last_read, h),
			SPAN(u->first_write, u->last_write, h), V_OPT(data->op, data->op - h->open.op),
			V_OPT(data->op && data->time_ns != earlier(u->first_read, u->first_write), data->time_ns - h->open_ns),
			V_OPT(data->op && data->latency_ns != s->read_ns + s->write_ns, data->latency_ns),
			V_OPT(data->op && data->result != s->bread + s->bwrite, data->result), h->data_offset, h->data_length });
}

static int put_otherwise(struct handles *handles, const struct handle *h)
{
	const struct io_counters *s = &h->sum;
	const struct use *u = h->uses;
	bool by_other = h->shared || u->image != h->opener, of_other = !h->shared && u->version != h->version;
	int64_t back_reads = s->nread - h->sequential_reads, back_writes = s->nwrite - h->sequential_writes;
	int64_t skip_reads = s->nread - h->consecutive_reads, skip_writes = s->nwrite - h->consecutive_writes;

	if (!by_other && !of_other && !s->nseek && !back_reads && !back_writes && !skip_reads && !skip_writes)
		return 0;
	return store_put(handles->store, PUT_MOVED_OTHERWISE,
		(struct value[]){ V_INT(h->id), V_OPT(by_other, h->shared ? -1 : image_id(u->image)), V_OPT(of_other, u->version),
			V_INT(s->nseek), V_INT(back_reads), V_INT(back_writes), V_INT(skip_reads), V_INT(skip_writes) });
}

static int put_moved(struct handles *handles, const struct handle *h)
{
	int r = put_sums(handles, h);

	return r < 0 ? r : put_otherwise(handles, h);
}

static int put_use(struct handles *handles, const struct handle *h, const struct use *u)
{
	const struct io_counters *s = &u->sum;

	return store_put(handles->store, PUT_USE,
		(struct value[]){ V_INT(h->id), V_INT(image_id(u->image)), V_INT(u->version),
			V_INT(s->nread), V_INT(s->bread), V_INT(s->nwrite), V_INT(s->bwrite),
			V_INT(s->nseek), V_INT(s->read_ns), V_INT(s->write_ns),
			SPAN(u->first_read, u->last_read, h), SPAN(u->first_write, u->last_write, h) });
}

/* A single use is part of the handle's row.  As soon as there is a second one, each use gets a row, to which later sums
 * are added. */
static int put_uses(struct handles *handles, struct handle *h)
{
	int r = 0;

	for (struct use *u = h->uses; h->shared && u && r == 0; u = u->next) {
		if (u->dirty)
			r = put_use(handles, h, u);
		*u = (struct use){ .image = u->image, .version = u->version, .next = u->next };
	}
	return r;
}

static int flush_one(struct handles *handles, struct handle *h)
{
	int r = 0;

	if (!h->recorded)
		return 0;
	r = put_handle(handles, h);
	if (r == 0 && h->uses)
		r = put_moved(handles, h);
	if (r == 0 && h->uses)
		r = store_put(handles->store, PUT_FRESH_HANDLE,
			(struct value[]){ V_INT(h->id), V_INT(h->close_ns || handles->is_over) });
	return r < 0 ? r : put_uses(handles, h);
}

void handles_end(struct handles *handles)
{
	handles->is_over = true;
	for (struct handle *h = handles->open; h; h = h->hh.next)
		if (h->uses)
			handles_dirty(handles, h);
}

int handles_flush(struct handles *handles)
{
	int r = 0;

	while (r == 0 && !STAILQ_EMPTY(&handles->dirty)) {
		struct handle *h = STAILQ_FIRST(&handles->dirty);

		STAILQ_REMOVE_HEAD(&handles->dirty, next_dirty);
		h->dirty = false;
		r = flush_one(handles, h);
		if (h->close_ns) {
			handles->n_closed--;
			handle_free(h);
		}
	}
	return r;
}
