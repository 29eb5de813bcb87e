/* SPDX-License-Identifier: MIT */
#include "db/touches.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/queue.h>
#include <uthash.h>

#include "db/files.h"
#include "db/procs.h"
#include "db/store.h"

/* A touch, or a ghost: the row of a path that is not there. */
struct row {
	struct {
		int64_t file; /* 0: a ghost */
		int64_t version_or_path;
	} key;
	struct touch touch;
	int64_t count;
	bool dirty;
	STAILQ_ENTRY(row) next_dirty;
	UT_hash_handle hh;
};

struct touches {
	struct store *store;
	int64_t start_ns;
	STAILQ_HEAD(, row) dirty; /* rows in the order of their ids cost least */
	void *nobody; /* what belongs to no known process */
	int64_t last_touch, last_ghost;
};

int touches_create(struct store *store, int64_t start_ns, struct touches **ret_touches)
{
	struct touches *touches = calloc(1, sizeof(*touches));

	if (!touches)
		return -ENOMEM;
	touches->store = store;
	touches->start_ns = start_ns;
	STAILQ_INIT(&touches->dirty);
	*ret_touches = touches;
	return 0;
}

static void free_rows(void **head)
{
	struct row *rows = *head, *r, *next;

	HASH_ITER(hh, rows, r, next) {
		HASH_DEL(rows, r);
		free(r);
	}
	*head = NULL;
}

void touches_forget(struct touches *touches, struct process *process)
{
	(void)touches;
	free_rows(&process->touches);
}

void touches_destroy(struct touches *touches)
{
	if (!touches)
		return;
	free_rows(&touches->nobody);
	free(touches);
}

/* Who asked goes on without; but without it the trace would be wrong. */
static struct row *no_row(struct touches *touches, struct row *r)
{
	store_fail(touches->store, -ENOMEM);
	free(r);
	return NULL;
}

static struct row *get_row(struct touches *touches, struct process *process, int64_t file,
	int64_t version_or_path)
{
	void **head = process ? &process->touches : &touches->nobody;
	struct row *rows = *head, *r, key = { .key = { file, version_or_path } };

	HASH_FIND(hh, rows, &key.key, sizeof(key.key), r);
	if (!r) {
		r = calloc(1, sizeof(*r));
		if (!r)
			return no_row(touches, NULL);
		r->key = key.key;
		r->touch.id = file ? ++touches->last_touch : ++touches->last_ghost;
		r->touch.process = process ? process->id : 0;
		HASH_ADD(hh, rows, key, sizeof(r->key), r);
		if (!r->hh.tbl)
			return no_row(touches, r);
		*head = rows;
	}
	if (!r->dirty) {
		r->dirty = true;
		STAILQ_INSERT_TAIL(&touches->dirty, r, next_dirty);
	}
	return r;
}

struct touch *touches_get(struct touches *touches, struct process *process,
	const struct file *file, int64_t version, int64_t path, int64_t time_ns)
{
	struct row *r = get_row(touches, process, file->id, version);
	struct touch *t;

	if (!r)
		return NULL;
	t = &r->touch;
	if (!t->file) {
		t->file = file->id;
		t->version = version;
		t->first_ns = time_ns;
	}
	if (path)
		t->path = path;
	t->last_ns = time_ns;
	return t;
}

void touch_in(struct touch *t, int64_t time_ns)
{
	if (!t->first_in_ns || time_ns < t->first_in_ns)
		t->first_in_ns = time_ns;
}

void touch_out(struct touch *t, int64_t time_ns)
{
	if (!t->first_out_ns || time_ns < t->first_out_ns)
		t->first_out_ns = time_ns;
	if (time_ns > t->last_out_ns)
		t->last_out_ns = time_ns;
}

int touches_ghost(struct touches *touches, struct process *process, int64_t path, int64_t time_ns)
{
	struct row *r = get_row(touches, process, 0, path);

	if (!r)
		return -ENOMEM;
	if (r->count++ == 0) {
		r->touch.path = path;
		r->touch.first_ns = time_ns;
	}
	return 0;
}

/* As schema.sql has it. */
static int64_t did(const struct touch *t)
{
	return t->created | t->truncated << 1 | t->renamed << 2 | t->unlinked << 3 |
	       t->executed << 4 | t->mapped << 5 | t->emptied << 6 | t->assumed << 7;
}

static int put_touch(struct touches *touches, const struct touch *t)
{
	return store_put(touches->store, PUT_TOUCH,
		(struct value[]){ V_INT(t->id), V_ID(t->process), V_INT(t->file), V_INT(t->version),
			V_ID(t->path), V_INT(did(t)), V_INT(t->opens), V_INT(t->nmeta),
			V_INT(t->first_ns - touches->start_ns), V_INT(t->last_ns - t->first_ns),
			V_INT(t->io_ns), V_OPT(t->first_in_ns, t->first_in_ns - t->first_ns),
			V_OPT(t->first_out_ns, t->first_out_ns - t->first_ns),
			V_OPT(t->first_out_ns, t->last_out_ns - t->first_out_ns) });
}

static int put_ghost(struct touches *touches, const struct row *r)
{
	return store_put(touches->store, PUT_GHOST,
		(struct value[]){ V_INT(r->touch.id), V_ID(r->touch.process), V_INT(r->touch.path),
			V_INT(r->count), V_INT(r->touch.first_ns - touches->start_ns) });
}

int touches_flush(struct touches *touches)
{
	int r = 0;

	while (r == 0 && !STAILQ_EMPTY(&touches->dirty)) {
		struct row *row = STAILQ_FIRST(&touches->dirty);

		STAILQ_REMOVE_HEAD(&touches->dirty, next_dirty);
		row->dirty = false;
		r = row->key.file ? put_touch(touches, &row->touch) : put_ghost(touches, row);
	}
	return r;
}
