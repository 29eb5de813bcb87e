/* SPDX-License-Identifier: MIT */
#include "db/files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/stat.h>

#include "db/tuples.h"
#include "db/event.h"
#include "db/procs.h"
#include "db/store.h"

/* How many names a forgotten file keeps at least.  Renames outside the mount can make any number. */
#define NAMES_KEPT 16
/* Ids of nodes that files_make_node() made; the kernel's are smaller. */
#define OWN_IDS (UINT64_C(1) << 63)

/* A name that leads to a node.  The key is the 'key' of the directory's node and the name. */
struct dentry {
	struct node *dir, *node; /* dir NULL: the name is the whole path */
	TAILQ_ENTRY(dentry) of_node;
	bool unhashed; /* removed, but the last name of its node */
	int64_t path; /* at the time of the binding; 0: not recorded */
	struct known_path *known; /* held while the name exists */
	int64_t from_ns;
	UT_hash_handle hh;
	size_t key_len;
	struct {
		uint64_t dir;
		char name[];
	} key;
};

struct node {
	uint64_t id;
	uint64_t key; /* in the keys of dentries: the id that it had first */
	struct file *file;
	struct dentry *dentry; /* the last used */
	TAILQ_HEAD(dentry_list, dentry) dentries; /* the oldest first */
	unsigned n_dentries;
	int references; /* one of the kernel, one of each dentry in it */
	int64_t moved_ns; /* end of its last rename */
	unsigned path_epoch;
	struct path path; /* cached while path_epoch is that of files; without 'known' */
	UT_hash_handle hh;
};

struct files {
	struct store *store;
	struct paths *paths;
	struct tuples *kinds;
	int64_t start_ns;
	struct node *nodes;
	struct file *files; /* by key */
	struct dentry *dentries;
	STAILQ_HEAD(, file) dirty; /* rows are cheapest in the order of ids */
	SLIST_HEAD(, file) made;   /* all files */
	int64_t last_file;
	uint64_t last_own; /* node of files_make_node() */
	unsigned epoch;
};

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

static size_t name_len(const struct dentry *d)
{
	return d->key_len - sizeof(uint64_t);
}

static void node_unref(struct files *files, struct node *node);

static void dentry_free(struct files *files, struct dentry *d)
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
static void dentry_unhash(struct files *files, struct dentry *d)
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

/* When the kernel forgets the node.  Without memory the name is not kept. */
static void keep_name(const struct dentry *d)
{
	struct file *file = d->node->file;
	size_t len = name_len(d);
	struct kept_name *l;

	if (d->unhashed || !d->path || file->deleted || !(l = malloc(sizeof(*l) + len)))
		return;
	*l = (struct kept_name){ .dir = d->dir->file, .path = d->path, .from_ns = d->from_ns, .len = len };
	memcpy(l->name, d->key.name, len);
	SLIST_INSERT_HEAD(&file->kept_names, l, next);
}

static void node_unref(struct files *files, struct node *node)
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

static void free_kept_names(struct file *file)
{
	struct kept_name *l;

	while ((l = SLIST_FIRST(&file->kept_names))) {
		SLIST_REMOVE_HEAD(&file->kept_names, next);
		free(l);
	}
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
		free_kept_names(f);
		free(f->target);
		free(f);
	}
	tuples_destroy(files->kinds);
	free(files);
}

static int put_file(struct files *files, const struct file *f)
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

static struct file *make_file(struct files *files, const struct event_node *e)
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

static struct file *find_file(struct files *files, const struct event_node *e)
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
	f = make_file(files, e);
	if (!f)
		return NULL;
	HASH_ADD(hh, files->files, key, sizeof(f->key), f);
	return f->hh.tbl ? f : NULL;
}

static struct node *add_node(struct files *files, uint64_t id, struct file *file)
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

static void update_file(struct files *files, struct file *file, const struct event_node *e)
{
	file->nlink = e->nlink;
	if (file->size_last == e->size || e->size < 0 || file->write_handles)
		return;
	file->size_last = e->size;
	files_dirty(files, file);
}

int files_add_node(struct files *files, const struct event_node *e)
{
	struct file *file = find_file(files, e);

	if (!file || !add_node(files, e->id, file))
		return -ENOMEM;
	update_file(files, file, e);
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

int files_add_mount(struct files *files, uint64_t id, const char *fstype, const char *path)
{
	return store_put(files->store, PUT_MOUNT,
		(struct value[]){ V_INT(id), V_STR(fstype), V_STR(path) });
}

struct file *node_file(const struct node *node)
{
	return node->file;
}

/* ---- paths ---- */

/* Allocates the path of node with extra bytes after it; *ret_len is its length. */
static char *build_path(const struct node *node, size_t extra, size_t *ret_len)
{
	const struct node *n;
	size_t len = 0, at;
	char *path;

	for (n = node; n && n->dentry; n = n->dentry->dir)
		len += (n->dentry->dir != NULL) + name_len(n->dentry);
	path = malloc(len + extra + 1);
	if (!path)
		return NULL;
	at = len;
	for (n = node; n && n->dentry; n = n->dentry->dir) {
		at -= name_len(n->dentry);
		memcpy(path + at, n->dentry->key.name, name_len(n->dentry));
		if (n->dentry->dir)
			path[--at] = '/';
	}
	*ret_len = len;
	return path;
}

/* Whether names lead to the node from the root, or its name is the whole path. */
static bool has_path(const struct node *node)
{
	while (node->dentry && node->dentry->dir)
		node = node->dentry->dir;
	return node->dentry || node->key == NODE_ROOT;
}

char *files_text(const struct node *dir, const char *name, size_t len)
{
	size_t used;
	char *path = has_path(dir) ? build_path(dir, len + 1, &used) : NULL;

	if (!path)
		return NULL;
	path[used++] = '/';
	memcpy(path + used, name, len);
	path[used + len] = '\0';
	return path;
}

/* path: as returned by the last call. */
static void hold_path(struct files *files, struct dentry *d, const struct path *path)
{
	if (d->unhashed || d->known == path->known)
		return;
	paths_hold(files->paths, path->known);
	paths_release(files->paths, d->known);
	d->known = path->known;
}

int files_path(struct files *files, struct node *node, const char *name, size_t len,
	struct path *ret_path)
{
	size_t used;
	char *path;
	int r;

	if (!name && node->path_epoch == files->epoch) {
		*ret_path = node->path;
		return 0;
	}
	if (!has_path(node)) {
		*ret_path = (struct path){ .recorded = true };
		return 0;
	}
	path = build_path(node, len + 1, &used);
	if (!path)
		return store_fail(files->store, -ENOMEM);
	if (name) {
		path[used++] = '/';
		memcpy(path + used, name, len);
		used += len;
	} else if (used == 0) {
		path[used++] = '/';
	}
	r = path[0] == '/' ? paths_intern_mirrored(files->paths, path, used, ret_path)
			   : paths_intern(files->paths, path, used, ret_path);
	free(path);
	if (r < 0 || name)
		return r;
	if (node->dentry)
		hold_path(files, node->dentry, ret_path);
	ret_path->known = NULL;
	node->path = *ret_path;
	node->path_epoch = files->epoch;
	if (ret_path->recorded && node->file->path != ret_path->id) {
		node->file->path = ret_path->id;
		files_dirty(files, node->file);
	}
	return 0;
}

/* ---- names ---- */

static struct dentry *find_dentry(struct files *files, struct node *dir, const char *name,
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
static struct dentry *make_dentry(struct files *files, struct node *dir, const char *name,
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
	size_t len = name_len(d);
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
	struct dentry *d = find_dentry(files, dir, name, len), *last;
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
	d = make_dentry(files, dir, name, len, node, time_ns);
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
	d = make_dentry(files, dir, name, len, node, time_ns);
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
	int r = files_path(files, d->dir, d->key.name, name_len(d), &path);

	if (r == 0)
		hold_path(files, d, &path);
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
		return build_path(dir->node, extra, ret_len);
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
	struct dentry *d = find_dentry(files, dir, name, len);
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
		free_kept_names(file);
		files_dirty(files, file);
	}
	dentry_unhash(files, d);
	files_path(files, node, NULL, 0, &path); /* of another name of the node, if there is one */
	return file;
}

struct node *files_resolve(struct files *files, struct node *dir, const char *name, size_t len)
{
	struct dentry *d = find_dentry(files, dir, name, len);

	return d ? d->node : NULL;
}

/* ---- system calls ---- */

int files_make_node(struct files *files, const struct event_node *e, struct node **ret_node)
{
	struct file *file = e->ino ? find_file(files, e) : make_file(files, e);

	if (!file)
		return -ENOMEM;
	if (e->ino) {
		update_file(files, file, e);
	} else {
		file->unidentified = true;
		file->nlink = e->nlink;
	}
	/* A directory may be reached in several ways, by mounts: each has a node. */
	*ret_node = !S_ISDIR(file->mode) && file->node ? file->node
						       : add_node(files, OWN_IDS | ++files->last_own, file);
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
	struct dentry *d = find_dentry(files, dir, name, len);
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
	node->dentry = make_dentry(files, NULL, text, len, node, 0);
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
	*ret_len = name_len(d);
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
	const struct dentry *d = find_dentry(files, dir, name, len);

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

/* ---- versions ---- */

/* Adds a process to a set of which only none (0), one (its id) and several or unknown (-1) are distinguished. */
static void add_user(int64_t *user, int64_t id)
{
	if (*user == 0)
		*user = id;
	else if (*user != id)
		*user = -1;
}

static void next_version(struct file *file)
{
	file->version++;
	file->writer = file->reader = 0;
	file->foreign_read = file->used = false;
}

bool file_is_stream(const struct file *file)
{
	return S_ISFIFO(file->mode) || S_ISSOCK(file->mode) || S_ISCHR(file->mode);
}

int64_t file_read(struct file *file, const struct process *process)
{
	int64_t id = process ? process->id : -1;

	add_user(&file->reader, id);
	if (id < 0 || file->writer != id)
		file->foreign_read = true;
	file->used = true;
	return file->version;
}

/*
 * A process that reads back a version of which it is the only writer continues that version; linkers do that.  A version
 * ends if another process has read it, or if this process has read in it what others wrote.
 */
int64_t file_write(struct file *file, const struct process *process)
{
	int64_t id = process ? process->id : -1;

	if ((file->foreign_read || (file->reader && (id < 0 || file->reader != id))) && !file_is_stream(file))
		next_version(file);
	add_user(&file->writer, id);
	file->used = true;
	return file->version + S_ISCHR(file->mode);
}

int64_t file_truncate(struct file *file)
{
	if (file->used && !file_is_stream(file))
		next_version(file);
	file->size_last = 0;
	return file->version;
}

/*
 * What was left in a FIFO is gone with its last end.  An open that began before that is an end, too: it waits for the other
 * end, and may return after the other end is closed again.
 */
void file_open(struct file *file, int64_t time_ns)
{
	if (S_ISFIFO(file->mode) && !file->open_handles && file->closed_ns && time_ns > file->closed_ns)
		next_version(file);
	file->open_handles++;
}

void file_close(struct file *file, int64_t time_ns)
{
	if (--file->open_handles == 0)
		file->closed_ns = time_ns;
}

void files_dirty(struct files *files, struct file *file)
{
	if (file->dirty)
		return;
	file->dirty = true;
	STAILQ_INSERT_TAIL(&files->dirty, file, next_dirty);
}

int files_flush(struct files *files)
{
	int r = 0;

	while (r == 0 && !STAILQ_EMPTY(&files->dirty)) {
		struct file *f = STAILQ_FIRST(&files->dirty);

		STAILQ_REMOVE_HEAD(&files->dirty, next_dirty);
		f->dirty = false;
		r = put_file(files, f);
	}
	return r;
}
