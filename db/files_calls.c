/* SPDX-License-Identifier: MIT */
/* What records of system calls need: nodes of our own, and what the kernel tells later of them. */
#include "db/files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "db/event.h"
#include "db/files_internal.h"
#include "db/store.h"

int files_make_node(struct files *files, const struct event_node *e, struct node **ret_node)
{
	struct file *file = e->ino ? file_find(files, e) : file_make(files, e);

	if (!file)
		return -ENOMEM;
	if (e->ino) {
		file_update(files, file, e);
	} else {
		file->unidentified = true;
		file->nlink = e->nlink;
	}
	/* A directory may be reached in several ways, by mounts: each has a node. */
	*ret_node = !S_ISDIR(file->mode) && file->node ? file->node
						       : node_add(files, OWN_IDS | ++files->last_own, file);
	return *ret_node ? 0 : -ENOMEM;
}

bool node_is_own(const struct node *node)
{
	return node->id & OWN_IDS;
}

/* Nothing of it is recorded yet, and no name leads to it. */
static bool is_fresh(const struct node *node)
{
	const struct file *file = node->file;

	return node->references == 1 && !node->dentry && file->node == node && !file->path &&
	       !file->used && SLIST_EMPTY(&file->kept_names);
}

/* Whether the file is found by its key: no other file has got it since. */
static bool is_current(const struct files *files, const struct file *file)
{
	const struct file *found;

	HASH_FIND(hh, files->files, &file->key, sizeof(file->key), found);
	return found == file;
}

/* The file of own, of which the inode is not known, is that of node. */
static void identify(struct files *files, struct node *own, const struct node *node)
{
	struct file *file = own->file, *other = node->file;

	HASH_DEL(files->files, other);
	file->key = other->key;
	file->generation = other->generation;
	file->mount = other->mount;
	file->mode = other->mode;
	file->nlink = other->nlink;
	file->unidentified = false;
	if (file->size_first < 0)
		file->size_first = other->size_first;
	if (other->size_last >= 0)
		file->size_last = other->size_last;
	HASH_ADD(hh, files->files, key, sizeof(file->key), file);
	if (!file->hh.tbl)
		store_fail(files->store, -ENOMEM);
	files_dirty(files, file);
}

static bool may_be_one(const struct file *file, uint32_t mode)
{
	return !(file->mode & S_IFMT) || (file->mode & S_IFMT) == (mode & S_IFMT);
}

struct node *files_adopt(struct files *files, struct node *dir, const char *name, size_t len,
	struct node *node)
{
	struct dentry *d = dentry_find(files, dir, name, len);
	struct node *own = d ? d->node : NULL;
	uint64_t id = node->id;

	if (!own || own == node || !node_is_own(own) || node->references > 1 || node->dentry)
		return node;
	if (own->file->unidentified && may_be_one(own->file, node->file->mode) && is_fresh(node) &&
		is_current(files, node->file))
		identify(files, own, node);
	else if (own->file != node->file)
		return node;
	HASH_DEL(files->nodes, node);
	HASH_DEL(files->nodes, own);
	free(node);
	own->id = id;
	own->file->node = own;
	HASH_ADD(hh, files->nodes, id, sizeof(own->id), own);
	if (!own->hh.tbl)
		store_fail(files->store, -ENOMEM);
	return own;
}

static int swap_ids(struct files *files, struct node *a, struct node *b)
{
	uint64_t id = a->id;

	HASH_DEL(files->nodes, a);
	HASH_DEL(files->nodes, b);
	a->id = b->id;
	b->id = id;
	HASH_ADD(hh, files->nodes, id, sizeof(a->id), a);
	HASH_ADD(hh, files->nodes, id, sizeof(b->id), b);
	return a->hh.tbl && b->hh.tbl ? 0 : store_fail(files->store, -ENOMEM);
}

int files_renew(struct files *files, struct node *node, int64_t size, uint32_t nlink, struct node **ret_node)
{
	const struct file *former = node->file;
	const struct event_node now = { .dev = former->key.dev, .ino = former->key.ino, .size = size,
		.mount = former->mount, .mode = former->mode, .nlink = nlink };
	int r = files_make_node(files, &now, ret_node);

	return r < 0 || !node_is_own(*ret_node) ? r : swap_ids(files, node, *ret_node);
}

int files_bind_bare(struct files *files, struct node *node, const char *text, size_t len)
{
	struct path path;

	if (node->dentry)
		return 0;
	node->dentry = dentry_make(files, NULL, text, len, node, 0);
	node->path_epoch = 0;
	return node->dentry ? files_path(files, node, NULL, 0, &path) : store_fail(files->store, -ENOMEM);
}

bool node_name(const struct node *node, struct node **ret_dir, const char **ret_name, size_t *ret_len)
{
	const struct dentry *d = node->dentry;

	if (!d || !d->dir)
		return false;
	*ret_dir = d->dir;
	*ret_name = d->key.name;
	*ret_len = dentry_name_len(d);
	return true;
}

bool node_is_named(const struct node *node)
{
	return node->dentry;
}

struct node *file_node(const struct file *file)
{
	return file->node;
}

bool files_bound_since(struct files *files, struct node *dir, const char *name, size_t len,
	int64_t time_ns)
{
	const struct dentry *d = dentry_find(files, dir, name, len);

	return d && d->from_ns >= time_ns;
}

int file_set_target(struct file *file, const char *target, size_t len)
{
	char *copy;

	if (file->target && strlen(file->target) == len && memcmp(file->target, target, len) == 0)
		return 0;
	copy = strndup(target, len);
	if (!copy)
		return -ENOMEM;
	free(file->target);
	file->target = copy;
	return 0;
}

void files_set_type(struct files *files, struct file *file, uint32_t type)
{
	if (file->mode & S_IFMT)
		return;
	file->mode |= type;
	files_dirty(files, file);
}

void files_drop_type(struct files *files, struct file *file)
{
	file->mode &= ~(uint32_t)S_IFMT;
	files_dirty(files, file);
}
