/* SPDX-License-Identifier: MIT */
#include "dag/change/changes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/failure.h"
#include "base/vector.h"
#include "dag/change/changes_internal.h"
#include "dag/trace/traces.h"
#include "db/query.h"

const char *const change_kinds[] = { "created", "changed", "attributes", "renamed", "removed", "temporary", NULL };
_Static_assert(sizeof(change_kinds) / sizeof(change_kinds[0]) == CHANGE_MAX + 1, "a name for each kind");

static int put(struct changes *c, enum change_kind kind, const struct entry *e, struct change change)
{
	change.kind = kind;
	change.is_dir = e->is_dir;
	change.is_doubtful = e->is_doubtful && !change.is_replaced && (kind == CHANGE_CREATED || kind == CHANGE_RENAMED);
	change.file = e->file ? changes_file(c, e->file) : NULL;
	change.path = kind == CHANGE_TEMPORARY && e->last ? e->last : tree_path(&c->tree, e, kind == CHANGE_REMOVED);
	if (kind == CHANGE_RENAMED)
		change.from = tree_path(&c->tree, e, true);
	if (c->tree.failed || vector_push(c->list, c->n_list, change) < 0)
		return -ENOMEM;
	c->counts[kind]++;
	return 0;
}

static const struct changed_file *file_of(const struct changes *c, const struct entry *e)
{
	return e && e->file ? changes_file(c, e->file) : NULL;
}

/* ---- what is there ---- */

/* What had the place of the entry before, and has left it; base: what stands for its directory, NULL: it is new. */
static struct entry *former(const struct entry *e, const struct entry *base)
{
	struct entry *was = base ? tree_was(base, e->name) : NULL;

	return was && was != e ? was : NULL;
}

static int compare_old(struct changes *c, struct entry *e, const struct entry *base)
{
	const struct changed_file *file = file_of(c, e);
	struct entry *was = former(e, base);
	bool moved = e->home && (e->home != base || strcmp(e->home_name, e->name) != 0);

	if (was && was->is_gone && was->is_dir == e->is_dir)
		was->is_covered = true;
	if (moved)
		return put(c, CHANGE_RENAMED, e,
			(struct change){ .is_replaced = was && was->is_covered, .before = was && was->is_covered ? file_of(c, was) : NULL });
	if (e->is_written || (file && file->is_written))
		return put(c, CHANGE_CHANGED, e, (struct change){ 0 });
	return e->is_set || (file && file->is_set) ? put(c, CHANGE_ATTRIBUTES, e, (struct change){ 0 }) : 0;
}

/* *ret_base: what its entries are compared with. */
static int compare_new(struct changes *c, struct entry *e, const struct entry *base, const struct entry **ret_base)
{
	struct entry *was = former(e, base);

	if (!was || was->is_dir != e->is_dir || (e->is_dir && !was->is_gone))
		return put(c, CHANGE_CREATED, e, (struct change){ 0 });
	was->is_covered = true;
	if (e->is_dir) {
		*ret_base = was;
		return 0;
	}
	return put(c, CHANGE_CHANGED, e,
		(struct change){ .is_replaced = true, .before = file_of(c, was) });
}

static int compare_dir(struct changes *c, const struct entry *dir, const struct entry *base, int depth)
{
	int r = 0;

	for (struct entry *e = dir->now; e && r == 0 && depth < TREE_DEPTH; e = e->hh_now.next) {
		const struct entry *stands = e->is_old ? e : NULL;

		r = e->is_old ? compare_old(c, e, base) : compare_new(c, e, base, &stands);
		if (r == 0)
			r = compare_dir(c, e, stands, depth + 1);
	}
	return r;
}

/* ---- what is not there any more ---- */

static int list_gone(struct changes *c)
{
	int r = 0;

	for (struct entry *e = c->tree.all; e && r == 0; e = e->next) {
		if (!e->is_gone || e->is_covered)
			continue;
		if (!e->is_old)
			r = put(c, CHANGE_TEMPORARY, e, (struct change){ 0 });
		else if (e->home)
			r = put(c, CHANGE_REMOVED, e, (struct change){ 0 });
	}
	return r;
}

static int by_kind_and_path(const void *a, const void *b)
{
	const struct change *x = a, *y = b;
	int r = (int)x->kind - (int)y->kind;

	if (r == 0)
		r = strcmp(x->path, y->path);
	return r || !x->from || !y->from ? r : strcmp(x->from, y->from);
}

int changes_compare(struct changes *c)
{
	int r = compare_dir(c, &c->tree.root, &c->tree.root, 0);

	if (r == 0)
		r = list_gone(c);
	if (r == 0 && c->n_list)
		qsort(c->list, (size_t)c->n_list, sizeof(*c->list), by_kind_and_path);
	return r;
}

/* ---- all ---- */

static int note_kept(void *arg, const struct query *q)
{
	*(bool *)arg = query_int(q, 0);
	return 0;
}

static int check_operations(struct query_db *db, const struct choice *choice, struct failure *failure)
{
	bool kept = false;
	int r;

	if (!query_fact(db, "ops_recorded", 0))
		return 0;
	r = traces_each(db, "change.kept", "kept", choice, note_kept, &kept, failure);
	if (r < 0 || kept)
		return r;
	return failure_set(failure, -ENODATA,
		"the trace has no single operations, from which changes follow: record it without --no-ops");
}

int changes_load(struct query_db *db, const struct choice *choice, struct changes **ret_changes, struct failure *failure)
{
	struct changes *c = *ret_changes = calloc(1, sizeof(*c));
	int r = check_operations(db, choice, failure);

	if (!c)
		return failure_memory(failure);
	tree_init(&c->tree);
	if (r == 0)
		r = changes_read(c, db, choice, failure);
	return r < 0 ? r : failure_of_memory(failure, changes_compare(c));
}

void changes_destroy(struct changes *c)
{
	if (!c)
		return;
	tree_finish(&c->tree);
	free(c->files);
	free(c->list);
	free(c);
}
