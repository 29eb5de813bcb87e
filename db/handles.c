/* SPDX-License-Identifier: MIT */
#include "db/handles.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "db/event.h"
#include "db/files.h"
#include "db/procs.h"
#include "db/store.h"

struct use {
	int64_t id;
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
	struct handle *dirty;
	int64_t last_use;
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
	*ret_handles = handles;
	return 0;
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
	while ((h = handles->dirty)) { /* closed ones are only there */
		handles->dirty = h->next_dirty;
		if (h->close_ns)
			handle_free(handles, h);
	}
	HASH_ITER(hh, handles->open, h, next) {
		HASH_DEL(handles->open, h);
		handle_free(handles, h);
	}
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
	handle->next_dirty = handles->dirty;
	handles->dirty = handle;
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

static struct use *get_use(struct handles *handles, struct handle *handle, struct image *image,
	int64_t version)
{
	struct use *use;

	for (use = handle->uses; use; use = use->next)
		if (use->image == image && use->version == version)
			return use;
	use = calloc(1, sizeof(*use));
	if (!use)
		return NULL;
	use->id = ++handles->last_use;
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
	struct use *use = get_use(handles, handle, image, d->version);
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

static struct value time_value(const struct handles *handles, int64_t time_ns)
{
	return V_OPT(time_ns != 0, time_ns - handles->start_ns);
}

static int put_handle(struct handles *handles, const struct handle *h)
{
	/* Counts of what the kernel does behind our back are not known. */
	bool k = h->fidelity != FIDELITY_OPEN;

	return store_put(handles->store, PUT_HANDLE,
		(struct value[]){ V_INT(h->id), h->opener ? V_INT(h->opener->id) : V_NULL,
			V_INT(h->file->id), V_ID(h->path), V_INT(h->version), V_INT(h->flags),
			V_OPT(h->created, h->mode), V_INT(h->fidelity),
			time_value(handles, h->open_ns), time_value(handles, h->close_ns),
			V_OPT(k, h->sum.nread), V_OPT(k, h->sum.bread), V_OPT(k, h->sum.nwrite),
			V_OPT(k, h->sum.bwrite), V_OPT(k, h->sum.nseek), V_OPT(k, h->sum.read_ns),
			V_OPT(k, h->sum.write_ns), V_OPT(k, h->sequential_reads),
			V_OPT(k, h->sequential_writes), V_OPT(k, h->consecutive_reads),
			V_OPT(k, h->consecutive_writes), V_OPT(h->mapped >= 0, h->mapped) });
}

static int put_use(struct handles *handles, const struct handle *h, const struct use *u)
{
	return store_put(handles->store, PUT_USE,
		(struct value[]){ V_INT(u->id), V_INT(h->id), u->image ? V_INT(u->image->id) : V_NULL,
			V_INT(h->file->id), V_INT(u->version), V_INT(u->sum.nread),
			V_INT(u->sum.bread), V_INT(u->sum.nwrite), V_INT(u->sum.bwrite),
			V_INT(u->sum.nseek), time_value(handles, u->first_read),
			time_value(handles, u->last_read), time_value(handles, u->first_write),
			time_value(handles, u->last_write), V_INT(u->sum.read_ns),
			V_INT(u->sum.write_ns) });
}

static int flush_one(struct handles *handles, struct handle *h)
{
	int r = 0;

	if (!h->recorded)
		return 0;
	r = put_handle(handles, h);
	for (struct use *u = h->uses; u && r == 0; u = u->next) {
		if (u->dirty)
			r = put_use(handles, h, u);
		u->dirty = false;
	}
	return r;
}

int handles_flush(struct handles *handles)
{
	int r = 0;

	while (handles->dirty && r == 0) {
		struct handle *h = handles->dirty;

		handles->dirty = h->next_dirty;
		h->dirty = false;
		r = flush_one(handles, h);
		if (h->close_ns)
			handle_free(handles, h);
	}
	return r;
}
