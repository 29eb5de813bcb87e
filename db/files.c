/* SPDX-License-Identifier: MIT */
#include "db/files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "db/event.h"
#include "db/files_internal.h"
#include "db/paths.h"
#include "db/store.h"
#include "db/tuples.h"

int files_create(struct store *store, struct paths *paths, int64_t start_ns, size_t kept,
	struct files **ret_files)
{
	struct files *files = calloc(1, sizeof(*files));

	if (!files)
		return -ENOMEM;
	files->store = store;
	files->paths = paths;
	files->start_ns = start_ns;
	files->epoch = 1;
	STAILQ_INIT(&files->dirty);
	SLIST_INIT(&files->made);
	*ret_files = files;
	return tuples_create(store, PUT_KIND, 3, kept, &files->kinds);
}

/* When the kernel forgets the node.  Without memory the name is not kept. */
static void keep_name(const struct dentry *d)
{
	struct file *file = d->node->file;
	size_t len = dentry_name_len(d);
	struct kept_name *l;

	if (d->unhashed || !d->path || file->deleted || !(l = malloc(sizeof(*l) + len)))
		return;
	*l = (struct kept_name){ .dir = d->dir->file, .path = d->path, .from_ns = d->from_ns, .len = len };
	memcpy(l->name, d->key.name, len);
	SLIST_INSERT_HEAD(&file->kept_names, l, next);
}

void node_unref(struct files *files, struct node *node)
{
	struct dentry *d;

	if (--node->references > 0)
		return;
	node->references = 1; /* freeing its names may come back to it */
	while ((d = TAILQ_FIRST(&node->dentries))) {
		keep_name(d);
		dentry_free(files, d);
	}
	if (node->file->node == node)
		node->file->node = NULL;
	HASH_DEL(files->nodes, node);
	free(node);
}

void files_destroy(struct files *files)
{
	struct node *n, *next_node;
	struct file *f;
	struct dentry *d;

	if (!files)
		return;
	HASH_CLEAR(hh, files->dentries);
	HASH_ITER(hh, files->nodes, n, next_node) {
		while ((d = TAILQ_FIRST(&n->dentries))) {
			TAILQ_REMOVE(&n->dentries, d, of_node);
			free(d);
		}
		HASH_DEL(files->nodes, n);
		free(n);
	}
	HASH_CLEAR(hh, files->files);
	while ((f = SLIST_FIRST(&files->made))) {
		SLIST_REMOVE_HEAD(&files->made, next_made);
		file_drop_kept_names(f);
		free(f->target);
		free(f);
	}
	tuples_destroy(files->kinds);
	free(files);
}

int file_put(struct files *files, const struct file *f)
{
	int64_t kind;
	int r;

	if (!f->path) /* the file is not recorded */
		return 0;
	r = tuples_intern(files->kinds,
		(int64_t[]){ f->unidentified ? TUPLE_NULL : (int64_t)f->key.dev, f->mode, f->mount }, &kind);
	if (r < 0)
		return r;
	return store_put(files->store, PUT_FILE,
		(struct value[]){ V_INT(f->id), V_INT(f->path), V_INT(kind),
			V_OPT(!f->unidentified, f->key.ino), V_OPT(f->size_first >= 0, f->size_first),
			V_OPT(f->size_last != f->size_first, f->size_last),
			V_INT(f->created | f->deleted << 1), V_OPT(f->key.birth_ns, f->key.birth_ns) });
}

/* Two types, of which none is unknown. */
static bool is_other_type(uint32_t a, uint32_t b)
{
	return (a & S_IFMT) && (b & S_IFMT) && (a & S_IFMT) != (b & S_IFMT);
}

/* Whether the file with that key is the one of the event.  Without birth time and generation only the deletion, or the
 * type, shows that the inode number is used again. */
static bool is_same(const struct file *file, const struct event_node *e)
{
	if (is_other_type(file->mode, e->mode))
		return false;
	if (e->birth_ns)
		return true;
	if (file->generation && e->generation)
		return file->generation == e->generation;
	return !file->deleted;
}

struct file *file_make(struct files *files, const struct event_node *e)
{
	struct file *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	*f = (struct file){ .id = ++files->last_file, .key = { e->dev, e->ino, e->birth_ns },
		.size_first = e->size, .size_last = e->size, .mount = e->mount, .mode = e->mode,
		.generation = e->generation, .version = 1 };
	SLIST_INSERT_HEAD(&files->made, f, next_made);
	return f;
}

struct file *file_find(struct files *files, const struct event_node *e)
{
	struct file_key key = { e->dev, e->ino, e->birth_ns };
	struct file *f;

	HASH_FIND(hh, files->files, &key, sizeof(key), f);
	if (f && is_same(f, e)) {
		if (e->generation)
			f->generation = e->generation;
		return f;
	}
	if (f) /* nodes may still lead to it */
		HASH_DEL(files->files, f);
	f = file_make(files, e);
	if (!f)
		return NULL;
	HASH_ADD(hh, files->files, key, sizeof(f->key), f);
	return f->hh.tbl ? f : NULL;
}

struct node *node_add(struct files *files, uint64_t id, struct file *file)
{
	struct node *node = calloc(1, sizeof(*node));

	if (!node)
		return NULL;
	node->id = node->key = id;
	node->file = file;
	node->references = 1;
	TAILQ_INIT(&node->dentries);
	HASH_ADD(hh, files->nodes, id, sizeof(node->id), node);
	if (!node->hh.tbl) {
		free(node);
		return NULL;
	}
	file->node = node;
	return node;
}

void file_update(struct files *files, struct file *file, const struct event_node *e)
{
	file->nlink = e->nlink;
	if (file->size_last == e->size || e->size < 0 || file->write_handles)
		return;
	file->size_last = e->size;
	files_dirty(files, file);
}

int files_add_node(struct files *files, const struct event_node *e)
{
	struct file *file = e->ino ? file_find(files, e) : file_make(files, e);

	if (file && !e->ino)
		file->unidentified = true;
	if (!file || !node_add(files, e->id, file))
		return -ENOMEM;
	file_update(files, file, e);
	return 0;
}

struct node *files_node(struct files *files, uint64_t id)
{
	struct node *node;

	HASH_FIND(hh, files->nodes, &id, sizeof(id), node);
	return node;
}

void files_forget_node(struct files *files, uint64_t id)
{
	struct node *node = files_node(files, id);

	if (node)
		node_unref(files, node);
}

int files_add_mount(struct files *files, uint64_t id, const char *const texts[MOUNT_TEXTS])
{
	return store_put(files->store, PUT_MOUNT,
		(struct value[]){ V_INT(id), V_STR(texts[MOUNT_TYPE]), V_STR(texts[MOUNT_PATH]), V_STR(texts[MOUNT_ROOT]),
			V_STR(texts[MOUNT_SOURCE]), V_STR(texts[MOUNT_FSID]) });
}

struct file *node_file(const struct node *node)
{
	return node->file;
}
