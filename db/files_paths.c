/* SPDX-License-Identifier: MIT */
/* Paths of nodes. */
#include "db/files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "db/event.h"
#include "db/files_internal.h"
#include "db/paths.h"
#include "db/store.h"

/* Allocates the path of node with extra bytes after it; *ret_len is its length. */
char *node_build_path(const struct node *node, size_t extra, size_t *ret_len)
{
	const struct node *n;
	size_t len = 0, at;
	char *path;

	for (n = node; n && n->dentry; n = n->dentry->dir)
		len += (n->dentry->dir != NULL) + dentry_name_len(n->dentry);
	path = malloc(len + extra + 1);
	if (!path)
		return NULL;
	at = len;
	for (n = node; n && n->dentry; n = n->dentry->dir) {
		at -= dentry_name_len(n->dentry);
		memcpy(path + at, n->dentry->key.name, dentry_name_len(n->dentry));
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
	char *path = has_path(dir) ? node_build_path(dir, len + 1, &used) : NULL;

	if (!path)
		return NULL;
	path[used++] = '/';
	memcpy(path + used, name, len);
	path[used + len] = '\0';
	return path;
}

/* path: as returned by the last call. */
void dentry_hold_path(struct files *files, struct dentry *d, const struct path *path)
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
	path = node_build_path(node, len + 1, &used);
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
		dentry_hold_path(files, node->dentry, ret_path);
	ret_path->known = NULL;
	node->path = *ret_path;
	node->path_epoch = files->epoch;
	if (ret_path->recorded && node->file->path != ret_path->id) {
		node->file->path = ret_path->id;
		files_dirty(files, node->file);
	}
	return 0;
}
