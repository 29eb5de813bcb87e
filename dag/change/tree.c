/* SPDX-License-Identifier: MIT */
#include "dag/change/tree.h"

#include <string.h>

void tree_init(struct tree *tree)
{
	*tree = (struct tree){ .root = { .name = "", .is_dir = true, .is_old = true } };
}

void tree_finish(struct tree *tree)
{
	for (struct entry *e = tree->all; e; e = e->next) {
		HASH_CLEAR(hh_now, e->now);
		HASH_CLEAR(hh_was, e->was);
	}
	HASH_CLEAR(hh_now, tree->root.now);
	HASH_CLEAR(hh_was, tree->root.was);
	arena_free(&tree->arena);
}

struct entry *tree_now(const struct entry *dir, const char *name)
{
	struct entry *found;

	HASH_FIND(hh_now, dir->now, name, strlen(name), found);
	return found;
}

struct entry *tree_was(const struct entry *dir, const char *name)
{
	struct entry *found;

	HASH_FIND(hh_was, dir->was, name, strlen(name), found);
	return found;
}

/* ---- one entry ---- */

static void attach(struct tree *tree, struct entry *dir, const char *name, struct entry *e)
{
	e->parent = dir;
	e->name = name;
	e->is_gone = false;
	dir->is_dir = true;
	HASH_ADD_KEYPTR(hh_now, dir->now, e->name, strlen(e->name), e);
	tree->failed |= !e->hh_now.tbl;
}

static void detach(struct entry *e)
{
	HASH_DELETE(hh_now, e->parent->now, e);
}

static void set_gone(struct entry *e, int depth)
{
	e->is_gone = true;
	for (struct entry *c = e->now; c && depth < TREE_DEPTH; c = c->hh_now.next)
		set_gone(c, depth + 1);
}

static void leave_home(struct entry *e)
{
	if (e->home)
		HASH_DELETE(hh_was, e->home->was, e);
	e->home = NULL;
}

/* Here it was before.  Whatever had this home before counts for nothing. */
static void make_home(struct tree *tree, struct entry *e)
{
	struct entry *other = tree_was(e->parent, e->name);

	if (other && other != e)
		leave_home(other);
	leave_home(e);
	e->is_old = true;
	e->home = e->parent;
	e->home_name = e->name;
	HASH_ADD_KEYPTR(hh_was, e->home->was, e->home_name, strlen(e->home_name), e);
	tree->failed |= !e->hh_was.tbl;
}

/* Can entries have their home here? */
static bool was_there(const struct entry *dir)
{
	return dir->is_old && (dir->home || !dir->parent);
}

static bool is_at_home(const struct entry *e)
{
	return e->is_old && e->home == e->parent && strcmp(e->home_name, e->name) == 0;
}

static struct entry *add(struct tree *tree, struct entry *dir, const char *name, int64_t file, bool is_dir)
{
	struct entry *e = arena_alloc(&tree->arena, sizeof(*e));

	if (!e) {
		tree->failed = true;
		return NULL;
	}
	*e = (struct entry){ .file = file, .is_dir = is_dir, .next = tree->all };
	tree->all = e;
	attach(tree, dir, name, e);
	return e;
}

/* ---- paths ---- */

static const char *keep(struct tree *tree, const char *bytes, size_t len)
{
	const char *copy = arena_text(&tree->arena, bytes, len);

	tree->failed |= !copy;
	return copy;
}

/* A name that is not known there was there before, unless another one was (unseen makes it new). */
static struct entry *step(struct tree *tree, struct entry *dir, const char *name, bool unseen)
{
	struct entry *e = tree_now(dir, name);
	bool is_taken = !e && tree_was(dir, name);

	if (e || (is_taken && !unseen))
		return e;
	e = add(tree, dir, name, 0, false);
	if (e && was_there(dir) && !is_taken)
		make_home(tree, e);
	return e;
}

/* The directory of a path, and the last name in it. */
static struct entry *find_dir(struct tree *tree, const char *path, bool unseen, const char **ret_name)
{
	struct entry *dir = &tree->root;
	const char *name = NULL;

	if (!path || *path != '/')
		return NULL;
	while (*(path += strspn(path, "/"))) {
		size_t len = strcspn(path, "/");

		if (name && (dir = step(tree, dir, name, unseen)))
			dir->is_dir = true;
		name = dir ? keep(tree, path, len) : NULL;
		if (!name)
			return NULL;
		path += len;
	}
	*ret_name = name;
	return name ? dir : NULL;
}

struct entry *tree_find(struct tree *tree, const char *path)
{
	const char *name;
	struct entry *dir = find_dir(tree, path, false, &name);

	return dir ? step(tree, dir, name, false) : NULL;
}

static size_t measure(const struct entry *e, bool home)
{
	size_t len = 0;

	for (; e && (home ? e->home : e->parent); e = home ? e->home : e->parent)
		len += strlen(home ? e->home_name : e->name) + 1;
	return len;
}

const char *tree_path(struct tree *tree, const struct entry *e, bool home)
{
	size_t len = measure(e, home);
	char *text = arena_alloc(&tree->arena, len + 1);

	tree->failed |= !text;
	if (!text)
		return NULL;
	text[len] = '\0';
	for (; (home ? e->home : e->parent); e = home ? e->home : e->parent) {
		const char *name = home ? e->home_name : e->name;

		len -= strlen(name);
		memcpy(text + len, name, strlen(name));
		text[--len] = '/';
	}
	return text;
}

/* ---- operations ---- */

static void drop(struct tree *tree, struct entry *e, bool ours)
{
	struct entry *former = tree_was(e->parent, e->name);

	if (!e->is_old)
		e->last = tree_path(tree, e, false);
	detach(e);
	set_gone(e, 0);
	if (ours)
		return;
	leave_home(e);
	if (former && former->is_gone) /* would have gone now */
		leave_home(former);
}

void tree_make(struct tree *tree, const char *path, int64_t file, bool is_dir, bool ours)
{
	const char *name;
	struct entry *dir = find_dir(tree, path, true, &name), *e = dir ? tree_now(dir, name) : NULL;

	if (!dir || (e && e->file == file && file))
		return;
	if (e)
		drop(tree, e, ours);
	e = add(tree, dir, name, file, is_dir);
	if (e && !ours && was_there(dir))
		make_home(tree, e);
	else if (e && !ours)
		e->is_old = true;
}

void tree_remove(struct tree *tree, const char *path, int64_t file, bool is_dir, bool ours)
{
	const char *name;
	struct entry *dir = find_dir(tree, path, true, &name), *e = dir ? step(tree, dir, name, true) : NULL;

	if (!e)
		return;
	if (!e->file)
		e->file = file;
	e->is_dir |= is_dir;
	drop(tree, e, ours);
}

static bool is_inside(const struct entry *dir, const struct entry *e)
{
	while (dir && dir != e)
		dir = dir->parent;
	return dir;
}

/* Was the directory in e before? */
static bool was_inside(const struct entry *dir, const struct entry *e)
{
	while (dir && dir != e)
		dir = dir->home;
	return dir;
}

static void put(struct tree *tree, struct entry *dir, const char *name, struct entry *e, bool ours)
{
	bool follows = !ours && is_at_home(e) && was_there(dir) && !was_inside(dir, e);

	attach(tree, dir, name, e);
	if (follows)
		make_home(tree, e);
}

void tree_move(struct tree *tree, const struct tree_move *m, bool ours)
{
	const char *name, *name2;
	struct entry *dir = find_dir(tree, m->from, true, &name), *e = dir ? step(tree, dir, name, true) : NULL;
	struct entry *dir2 = e ? find_dir(tree, m->to, true, &name2) : NULL, *other;

	if (!dir2 || is_inside(dir2, e))
		return;
	other = m->file2 ? step(tree, dir2, name2, true) : tree_now(dir2, name2);
	if (m->file)
		e->file = m->file;
	if (other && !other->file)
		other->file = m->file2;
	/* Two links of one file: rename(2) does nothing. */
	if (other == e || (other && other->file && other->file == e->file) || (other && is_inside(dir, other)))
		return;
	e->is_doubtful = m->is_doubtful && !other && was_there(dir2) && !tree_was(dir2, name2);
	detach(e);
	if (other && m->is_exchange)
		detach(other);
	else if (other)
		drop(tree, other, ours);
	put(tree, dir2, name2, e, ours);
	if (other && m->is_exchange)
		put(tree, dir, name, other, ours);
}
