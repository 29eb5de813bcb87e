/* SPDX-License-Identifier: MIT */
#include "db/handles.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "db/combos.h"
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

struct handles {
	struct store *store;
	struct procs *procs;
	int64_t start_ns;
	struct handle *open;
	STAILQ_HEAD(, handle) dirty; /* rows in the order of their ids cost least */
	struct combos *ways;
};

int handles_create(struct store *store, struct procs *procs, int64_t start_ns,
	struct handles **ret_handles)
{
	struct handles *handles = calloc(1, sizeof(*handles));

	if (!handles)
		return -ENOMEM;
	handles->store = store;
	handles->procs = procs;
	handles->start_ns = start_ns;
	STAILQ_INIT(&handles->dirty);
	*ret_handles = handles;
	return combos_create(store, PUT_WAY, 4, &handles->ways);
}

static void unref_image(struct handles *handles, struct image *image)
{
	if (image)
		procs_unref(handles->procs, image->process);
}

static void handle_free(struct handles *handles, struct handle *handle)
{
	while (handle->uses) {
		struct use *next = handle->uses->next;

		unref_image(handles, handle->uses->image);
		free(handle->uses);
		handle->uses = next;
	}
	unref_image(handles, handle->opener);
	unref_image(handles, handle->last);
	free(handle);
}

void handles_destroy(struct handles *handles)
{
	struct handle *h, *next;

	if (!handles)
		return;
	while ((h = STAILQ_FIRST(&handles->dirty))) { /* closed ones are only there */
		STAILQ_REMOVE_HEAD(&handles->dirty, next_dirty);
		if (h->close_ns)
			handle_free(handles, h);
	}
	HASH_ITER(hh, handles->open, h, next) {
		HASH_DEL(handles->open, h);
		handle_free(handles, h);
	}
	combos_destroy(handles->ways);
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
	if (opener)
		procs_ref(opener->process);
	handles_used_by(handles, handle, opener);
	HASH_ADD(hh, handles->open, id, sizeof(handle->id), handle);
	if (!handle->hh.tbl) {
		handle_free(handles, handle);
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

void handles_close(struct handles *handles, struct handle *handle, int64_t time_ns)
{
	handle->close_ns = time_ns;
	HASH_DEL(handles->open, handle);
	handles_dirty(handles, handle);
}

void handles_used_by(struct handles *handles, struct handle *handle, struct image *image)
{
	if (!image || handle->last == image)
		return;
	procs_ref(image->process);
	unref_image(handles, handle->last);
	handle->last = image;
}

void handles_each(struct handles *handles, void (*call)(void *arg, struct handle *handle),
	void *arg)
{
	struct handle *h, *next;

	HASH_ITER(hh, handles->open, h, next)
		call(arg, h);
}

static struct use *get_use(struct handle *handle, struct image *image, int64_t version)
{
	struct use *use;

	for (use = handle->uses; use; use = use->next)
		if (use->image == image && use->version == version)
			return use;
	use = calloc(1, sizeof(*use));
	if (!use)
		return NULL;
	use->image = image;
	if (image)
		procs_ref(image->process);
	use->version = version;
	use->next = handle->uses;
	handle->uses = use;
	return use;
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

/* Whether it went somewhere else than where the last one ended. */
static bool take_position(struct handle *h, const struct data *d)
{
	bool known = d->offset >= 0 && h->position >= 0;
	/* Who appends goes forward, even if it is not known how far. */
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

int handles_data(struct handles *handles, struct handle *handle, struct image *image,
	const struct data *d)
{
	struct use *use = get_use(handle, image, d->version);
	bool seek;
	int64_t *first, *last;

	if (!use)
		return -ENOMEM;
	seek = take_position(handle, d);
	count(&handle->sum, d, seek);
	count(&use->sum, d, seek);
	first = d->is_write ? &use->first_write : &use->first_read;
	last = d->is_write ? &use->last_write : &use->last_read;
	if (!*first || d->time_ns < *first)
		*first = d->time_ns;
	if (d->time_ns > *last)
		*last = d->time_ns;
	use->dirty = true;
	handles_used_by(handles, handle, image);
	handles_dirty(handles, handle);
	return 0;
}

/* ---- rows ---- */

/* Times of reads or writes: the first since the open, the last since the first. */
#define SPAN(first, last, h) V_OPT((first) != 0, (first) - (h)->open_ns), V_OPT((first) != 0, (last) - (first))

static int put_handle(struct handles *handles, const struct handle *h)
{
	int64_t way;
	int r = combos_intern(handles->ways,
		(int64_t[]){ h->flags, h->created ? h->mode : COMBO_NULL, h->fidelity,
			h->mapped >= 0 ? h->mapped : COMBO_NULL },
		&way);

	return r < 0 ? r
		     : store_put(handles->store, PUT_HANDLE,
			       (struct value[]){ V_INT(h->id),
				       h->opener ? V_INT(h->opener->id) : V_NULL,
				       V_INT(h->file->id), V_ID(h->path), V_INT(h->version),
				       V_INT(way), V_INT(h->open_ns - handles->start_ns),
				       V_OPT(h->close_ns != 0, h->close_ns - h->open_ns) });
}

static int64_t image_id(const struct image *image)
{
	return image ? image->id : 0;
}

/* Sums, and whose they are if they are one's. */
static int put_moved(struct handles *handles, const struct handle *h)
{
	const struct io_counters *s = &h->sum;
	const struct use *u = h->uses;
	int64_t first_read = 0, last_read = 0, first_write = 0, last_write = 0;

	if (!u->next) {
		first_read = u->first_read, last_read = u->last_read;
		first_write = u->first_write, last_write = u->last_write;
	}
	return store_put(handles->store, PUT_MOVED,
		(struct value[]){ V_INT(h->id),
			V_OPT(u->next || u->image != h->opener, u->next ? -1 : image_id(u->image)),
			V_OPT(!u->next && u->version != h->version, u->version), V_INT(s->nread),
			V_INT(s->bread), V_INT(s->nwrite), V_INT(s->bwrite), V_INT(s->nseek),
			V_INT(s->read_ns), V_INT(s->write_ns),
			V_INT(s->nread - h->sequential_reads),
			V_INT(s->nwrite - h->sequential_writes),
			V_INT(s->nread - h->consecutive_reads),
			V_INT(s->nwrite - h->consecutive_writes), SPAN(first_read, last_read, h),
			SPAN(first_write, last_write, h) });
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

/* A use by itself stands in the row of what was moved; it is put beside the second one that comes. */
static int put_uses(struct handles *handles, struct handle *h)
{
	int r = put_moved(handles, h);

	for (struct use *u = h->uses; h->uses->next && u && r == 0; u = u->next) {
		if (u->dirty)
			r = put_use(handles, h, u);
		u->dirty = false;
	}
	return r;
}

static int flush_one(struct handles *handles, struct handle *h)
{
	int r = 0;

	if (!h->recorded)
		return 0;
	r = put_handle(handles, h);
	return r == 0 && h->uses ? put_uses(handles, h) : r;
}

int handles_flush(struct handles *handles)
{
	int r = 0;

	while (r == 0 && !STAILQ_EMPTY(&handles->dirty)) {
		struct handle *h = STAILQ_FIRST(&handles->dirty);

		STAILQ_REMOVE_HEAD(&handles->dirty, next_dirty);
		h->dirty = false;
		r = flush_one(handles, h);
		if (h->close_ns)
			handle_free(handles, h);
	}
	return r;
}
