/* SPDX-License-Identifier: MIT */
/* Names that lead to nodes. */
#include "db/files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "db/event.h"
#include "db/files_internal.h"
#include "db/paths.h"
#include "db/store.h"

size_t dentry_name_len(const struct dentry *d)
{
	return d->key_len - sizeof(uint64_t);
}

void dentry_free(struct files *files, struct dentry *d)
{
	struct node *dir = d->dir;

	TAILQ_REMOVE(&d->node->dentries, d, of_node);
	d->node->n_dentries--;
	if (!d->unhashed)
		HASH_DEL(files->dentries, d);
	if (d->node->dentry == d)
		d->node->dentry = NULL;
	paths_release(files->paths, d->known);
	free(d);
	if (dir)
		node_unref(files, dir);
}

/* A removed name stays with its node if the node has no other name: later operations on the node are recorded under it. */
void dentry_unhash(struct files *files, struct dentry *d)
{
	struct node *node = d->node;
	struct dentry *other = TAILQ_LAST(&node->dentries, dentry_list);

	if (other == d)
		other = TAILQ_PREV(d, dentry_list, of_node);
	if (other) {
		dentry_free(files, d);
		node->dentry = other;
		node->path_epoch = 0;
		return;
	}
	HASH_DEL(files->dentries, d);
	d->unhashed = true;
	paths_release(files->paths, d->known);
	d->known = NULL;
}

void file_drop_kept_names(struct file *file)
{
	struct kept_name *l;

	while ((l = SLIST_FIRST(&file->kept_names))) {
		SLIST_REMOVE_HEAD(&file->kept_names, next);
		free(l);
	}
}

struct dentry *dentry_find(struct files *files, struct node *dir, const char *name,
	size_t len)
{
	char key[sizeof(uint64_t) + 256];
	struct dentry *d;

	if (len > 255)
		return NULL;
	memcpy(key, &dir->key, sizeof(dir->key));
	if (len)
		memcpy(key + sizeof(dir->key), name, len);
	HASH_FIND(hh, files->dentries, key, sizeof(dir->key) + len, d);
	return d;
}

static int put_name(struct files *files, const struct dentry *d, int64_t to_ns)
{
	return store_put(files->store, PUT_NAME,
		(struct value[]){ V_INT(d->node->file->id), V_INT(d->path),
			V_INT(d->from_ns - files->start_ns),
			V_OPT(to_ns != 0, to_ns - files->start_ns) });
}

/* dir NULL: the name is the whole path, and does not lead to the node. */
struct dentry *dentry_make(struct files *files, struct node *dir, const char *name,
	size_t len, struct node *node, int64_t time_ns)
{
	struct dentry *d = calloc(1, sizeof(*d) + len);

	if (!d)
		return NULL;
	d->dir = dir;
	d->node = node;
	d->from_ns = time_ns;
	d->key.dir = dir ? dir->key : 0;
	memcpy(d->key.name, name, len);
	d->key_len = sizeof(uint64_t) + len;
	d->unhashed = !dir;
	if (dir)
		HASH_ADD_KEYPTR(hh, files->dentries, &d->key, d->key_len, d);
	if (dir && !d->hh.tbl) {
		free(d);
		return NULL;
	}
	TAILQ_INSERT_TAIL(&node->dentries, d, of_node);
	node->n_dentries++;
	if (dir)
		dir->references++;
	return d;
}

/*
 * Whether node is dir or above it.  If the source contains a mount that mirrors the source again, a directory may seem to
 * be below itself.  Such a binding is refused, because building a path, upwards, must end.
 */
static bool is_above(const struct node *node, const struct node *dir)
{
	const struct node *n = dir;

	if (!S_ISDIR(node->file->mode))
		return false;
	while (n && n != node)
		n = n->dentry ? n->dentry->dir : NULL;
	return n == node;
}

/* A directory has one name.  A second one, from a late event, would make cycles. */
static void drop_names(struct files *files, struct node *node, int64_t time_ns)
{
	struct dentry *d;

	while ((d = TAILQ_FIRST(&node->dentries))) {
		if (d->path && !d->unhashed)
			put_name(files, d, time_ns);
		dentry_free(files, d);
	}
}

static int put_kept_name(struct files *files, const struct file *file, const struct kept_name *l, int64_t to_ns)
{
	return store_put(files->store, PUT_NAME,
		(struct value[]){ V_INT(file->id), V_INT(l->path), V_INT(l->from_ns - files->start_ns),
			V_OPT(to_ns != 0, to_ns - files->start_ns) });
}

/* The kernel looks up a file that it had forgotten; d is a kept name, or another one.  A file with one link has no other
 * name. */
static void restore_kept_names(struct files *files, struct dentry *d, int64_t time_ns)
{
	struct file *file = d->node->file;
	bool is_only = S_ISDIR(file->mode) || file->nlink <= 1;
	size_t len = dentry_name_len(d);
	struct kept_name *l, *next;

	for (l = SLIST_FIRST(&file->kept_names); l; l = next) {
		bool is_this = l->dir == d->dir->file && l->len == len && memcmp(l->name, d->key.name, len) == 0;

		next = SLIST_NEXT(l, next);
		if (!is_this && !is_only)
			continue;
		if (is_this)
			d->from_ns = l->from_ns;
		else
			put_kept_name(files, file, l, time_ns);
		SLIST_REMOVE(&file->kept_names, l, kept_name, next);
		free(l);
	}
}

bool files_is_late(const struct node *node, int64_t time_ns)
{
	return node->moved_ns > time_ns && node->dentry && !node->dentry->unhashed;
}

void files_set_moved(struct node *node, int64_t time_ns)
{
	node->moved_ns = time_ns;
}

int files_bind(struct files *files, struct node *dir, const char *name, size_t len,
	struct node *node, int64_t time_ns)
{
	struct dentry *d = dentry_find(files, dir, name, len), *last;
	struct path path;
	int r;

	if (d && d->node == node) {
		if (node->dentry != d) {
			node->dentry = d;
			node->path_epoch = 0;
		}
		return files_path(files, node, NULL, 0, &path);
	}
	if (!S_ISDIR(dir->file->mode) || is_above(node, dir))
		return 0;
	if (d)
		files_unbind(files, dir, name, len, false, time_ns);
	if (S_ISDIR(node->file->mode))
		drop_names(files, node, time_ns);
	last = node->dentry;
	d = dentry_make(files, dir, name, len, node, time_ns);
	if (!d)
		return -ENOMEM;
	restore_kept_names(files, d, time_ns);
	if (last && last->unhashed)
		dentry_free(files, last);
	if (node->n_dentries > NAMES_KEPT && node->n_dentries > node->file->nlink)
		dentry_free(files, TAILQ_FIRST(&node->dentries));
	node->dentry = d;
	node->path_epoch = 0;
	r = files_path(files, node, NULL, 0, &path);
	if (r < 0 || !path.recorded)
		return r;
	d->path = path.id;
	return put_name(files, d, 0);
}

int files_bind_unnamed(struct files *files, struct node *dir, const char *name, size_t len,
	struct node *node, int64_t time_ns)
{
	struct dentry *d;

	if (!S_ISDIR(dir->file->mode) || is_above(node, dir))
		return 0;
	d = dentry_make(files, dir, name, len, node, time_ns);
	if (!d)
		return -ENOMEM;
	node->dentry = d;
	node->path_epoch = 0;
	dentry_unhash(files, d);
	return 0;
}

/* Updates the row of a name if its path has changed; most have not. */
static int renew_name(struct files *files, struct dentry *d, int64_t time_ns)
{
	struct path path;
	int r = files_path(files, d->dir, d->key.name, dentry_name_len(d), &path);

	if (r == 0)
		dentry_hold_path(files, d, &path);
	if (r == 0 && d->node->dentry == d)
		r = files_path(files, d->node, NULL, 0, &(struct path){ 0 });
	if (r < 0 || path.id == d->path || (!d->path && !path.recorded))
		return r;
	if (d->path)
		r = put_name(files, d, time_ns);
	d->path = path.recorded ? path.id : 0;
	d->from_ns = time_ns;
	return r < 0 || !d->path ? r : put_name(files, d, 0);
}

#define DEPTH 2048 /* more than a path can have names */

/* Allocates the path of a directory, which the kernel may have forgotten, with extra bytes after it.  NULL: out of memory,
 * or the path is not known. */
static char *build_dir_path(const struct file *dir, size_t extra, size_t *ret_len, int depth)
{
	const struct kept_name *l = SLIST_FIRST(&dir->kept_names);
	char *path;

	if (dir->node)
		return node_build_path(dir->node, extra, ret_len);
	if (!l || depth == 0)
		return NULL;
	path = build_dir_path(l->dir, extra + l->len + 1, ret_len, depth - 1);
	if (!path)
		return NULL;
	path[(*ret_len)++] = '/';
	memcpy(path + *ret_len, l->name, l->len);
	*ret_len += l->len;
	return path;
}

static int renew_kept_name(struct files *files, struct file *file, struct kept_name *l, int64_t time_ns)
{
	size_t len;
	char *text = build_dir_path(l->dir, l->len + 1, &len, DEPTH);
	struct path path;
	int r;

	if (!text)
		return 0;
	text[len++] = '/';
	memcpy(text + len, l->name, l->len);
	r = paths_intern_mirrored(files->paths, text, len + l->len, &path);
	free(text);
	if (r < 0 || path.id == l->path || !path.recorded)
		return r;
	if (file->path == l->path) {
		file->path = path.id;
		files_dirty(files, file);
	}
	r = put_kept_name(files, file, l, time_ns);
	l->path = path.id;
	l->from_ns = time_ns;
	return r < 0 ? r : put_kept_name(files, file, l, 0);
}

static int renew_kept_names(struct files *files, int64_t time_ns)
{
	struct kept_name *l;
	struct file *f;
	int r = 0;

	SLIST_FOREACH(f, &files->made, next_made)
		SLIST_FOREACH(l, &f->kept_names, next)
			if (r == 0)
				r = renew_kept_name(files, f, l, time_ns);
	return r;
}

/* Visits every name; renames of directories are rare. */
int files_moved(struct files *files, int64_t time_ns)
{
	struct dentry *d, *next;
	int r = 0;

	files->epoch++;
	HASH_ITER(hh, files->dentries, d, next) {
		if (r == 0)
			r = renew_name(files, d, time_ns);
	}
	return r < 0 ? r : renew_kept_names(files, time_ns);
}

struct file *files_unbind(struct files *files, struct node *dir, const char *name, size_t len,
	bool gone, int64_t time_ns)
{
	struct dentry *d = dentry_find(files, dir, name, len);
	struct node *node;
	struct path path;
	struct file *file;

	if (!d)
		return NULL;
	file = d->node->file;
	node = d->node;
	if (d->path)
		put_name(files, d, time_ns);
	if (gone && file->nlink > 0)
		file->nlink--;
	if (gone && (file->nlink == 0 || S_ISDIR(file->mode))) {
		file->deleted = true;
		file_drop_kept_names(file);
		files_dirty(files, file);
	}
	dentry_unhash(files, d);
	files_path(files, node, NULL, 0, &path); /* of another name of the node, if there is one */
	return file;
}

struct node *files_resolve(struct files *files, struct node *dir, const char *name, size_t len)
{
	struct dentry *d = dentry_find(files, dir, name, len);

	return d ? d->node : NULL;
}
