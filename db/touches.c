/* SPDX-License-Identifier: MIT */
#include "db/touches.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/queue.h>
#include <uthash.h>

#include "db/files.h"
#include "db/procs.h"
#include "db/store.h"

struct row {
	struct touch touch;
	bool dirty;
	TAILQ_ENTRY(row) next;
	UT_hash_handle hh;
};

#define ROW_BYTES (sizeof(struct row) + 48) /* with its part of the hash table and malloc()'s overhead */

struct touches {
	struct store *store;
	int64_t start_ns;
	size_t most; /* rows in memory */
	struct row *rows;
	/* Unchanged rows first, then changed ones, of which new ones are in the order of their ids: that is cheapest to write. */
	TAILQ_HEAD(row_list, row) order;
	struct row *dirty; /* the first changed one */
	int64_t last_id;
};

int touches_create(struct store *store, int64_t start_ns, size_t kept, struct touches **ret_touches)
{
	struct touches *touches = calloc(1, sizeof(*touches));

	if (!touches)
		return -ENOMEM;
	touches->store = store;
	touches->start_ns = start_ns;
	touches->most = kept > ROW_BYTES ? kept / ROW_BYTES : 1;
	TAILQ_INIT(&touches->order);
	*ret_touches = touches;
	return 0;
}

static void forget_all(struct touches *touches)
{
	struct row *r;

	HASH_CLEAR(hh, touches->rows);
	while ((r = TAILQ_FIRST(&touches->order))) {
		TAILQ_REMOVE(&touches->order, r, next);
		free(r);
	}
}

void touches_destroy(struct touches *touches)
{
	if (touches)
		forget_all(touches);
	free(touches);
}

/* ---- rows of the database ---- */

/* The bits of schema.sql. */
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
			V_OPT(t->first_in_ns, t->first_in_ns - t->first_ns),
			V_OPT(t->first_out_ns, t->first_out_ns - t->first_ns),
			V_OPT(t->first_out_ns, t->last_out_ns - t->first_out_ns) });
}

static int put_first_dirty(struct touches *touches)
{
	struct row *r = touches->dirty;

	touches->dirty = TAILQ_NEXT(r, next);
	r->dirty = false;
	return put_touch(touches, &r->touch);
}

int touches_flush(struct touches *touches)
{
	int r = 0;

	while (r == 0 && touches->dirty)
		r = put_first_dirty(touches);
	return r;
}

int touches_complete(struct touches *touches)
{
	int r = touches_flush(touches);

	if (r == 0)
		forget_all(touches);
	return r;
}

/* ---- rows in memory ---- */

/* If a row cannot be written, the store fails the transaction. */
static void let_go(struct touches *touches, struct row *r)
{
	if (r->dirty)
		put_first_dirty(touches);
	TAILQ_REMOVE(&touches->order, r, next);
	HASH_DEL(touches->rows, r);
	free(r);
}

static struct row *add_row(struct touches *touches, int64_t process, int64_t file, int64_t version,
	int64_t time_ns)
{
	struct row *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->touch = (struct touch){ .id = touches->last_id + 1, .process = process, .file = file,
		.version = version, .first_ns = time_ns, .last_ns = time_ns };
	HASH_ADD(hh, touches->rows, touch.process, TOUCH_KEY_BYTES, r);
	if (!r->hh.tbl) {
		free(r);
		return NULL;
	}
	touches->last_id++;
	TAILQ_INSERT_TAIL(&touches->order, r, next);
	return r;
}

static struct row *get_row(struct touches *touches, int64_t process, int64_t file, int64_t version,
	int64_t time_ns)
{
	const int64_t key[] = { process, file, version };
	struct row *r;

	HASH_FIND(hh, touches->rows, key, TOUCH_KEY_BYTES, r);
	if (r && !r->dirty) {
		TAILQ_REMOVE(&touches->order, r, next);
		TAILQ_INSERT_TAIL(&touches->order, r, next);
	}
	while (!r && HASH_COUNT(touches->rows) >= touches->most)
		let_go(touches, TAILQ_FIRST(&touches->order));
	return r ? r : add_row(touches, process, file, version, time_ns);
}

struct touch *touches_get(struct touches *touches, const struct process *process,
	const struct file *file, int64_t version, int64_t path, int64_t time_ns)
{
	struct row *r = get_row(touches, process ? process->id : 0, file->id, version, time_ns);
	struct touch *t;

	if (!r) { /* fail the transaction; the traced program is unaffected */
		store_fail(touches->store, -ENOMEM);
		return NULL;
	}
	r->dirty = true;
	if (!touches->dirty)
		touches->dirty = r;
	t = &r->touch;
	if (path)
		t->path = path;
	if (time_ns < t->first_ns)
		t->first_ns = time_ns;
	if (time_ns > t->last_ns)
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
