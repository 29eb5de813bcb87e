/* SPDX-License-Identifier: MIT */
#include "db/paths.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "db/store.h"
#include "db/text.h"

struct entry {
	struct path path;
	UT_hash_handle hh;
	char text[];
};

struct paths {
	struct store *store;
	const struct paths_options *options;
	struct entry *entries;
	int64_t last_id;
};

int paths_create(struct store *store, const struct paths_options *options,
	struct paths **ret_paths)
{
	struct paths *paths = calloc(1, sizeof(*paths));

	if (!paths)
		return -ENOMEM;
	paths->store = store;
	paths->options = options;
	*ret_paths = paths;
	return 0;
}

void paths_destroy(struct paths *paths)
{
	struct entry *e, *next;

	if (!paths)
		return;
	HASH_ITER(hh, paths->entries, e, next) {
		HASH_DEL(paths->entries, e);
		free(e);
	}
	free(paths);
}

static bool matches(const char *const *patterns, const char *path)
{
	for (; patterns && *patterns; patterns++)
		if (fnmatch(*patterns, path, 0) == 0)
			return true;
	return false;
}

bool paths_are_recorded(const struct paths_options *options, const char *path)
{
	if (options->include && *options->include && !matches(options->include, path))
		return false;
	return !matches(options->exclude, path);
}

int paths_intern(struct paths *paths, const char *path, size_t len, struct path *ret_path)
{
	struct entry *e;
	int r;

	HASH_FIND(hh, paths->entries, path, len, e);
	if (e) {
		*ret_path = e->path;
		return 0;
	}
	e = malloc(sizeof(*e) + len + 1);
	if (!e)
		return store_fail(paths->store, -ENOMEM);
	memcpy(e->text, path, len);
	e->text[len] = '\0';
	e->path.id = paths->last_id + 1;
	e->path.recorded = paths_are_recorded(paths->options, e->text);
	r = store_put(paths->store, PUT_PATH,
		(struct value[]){ V_INT(e->path.id), text_value(e->text, len) });
	if (r < 0) {
		free(e);
		return r;
	}
	HASH_ADD_KEYPTR(hh, paths->entries, e->text, len, e);
	if (!e->hh.tbl) {
		free(e);
		return store_fail(paths->store, -ENOMEM);
	}
	paths->last_id = e->path.id;
	*ret_path = e->path;
	return 0;
}

int paths_intern_mirrored(struct paths *paths, const char *path, size_t len,
	struct path *ret_path)
{
	const char *source = paths->options->source;
	size_t n = strlen(source);
	char *native;
	int r;

	if (n == 1) /* the source is "/" */
		return paths_intern(paths, path, len, ret_path);
	if (len == 1)
		return paths_intern(paths, source, n, ret_path);
	native = malloc(n + len);
	if (!native)
		return store_fail(paths->store, -ENOMEM);
	memcpy(native, source, n);
	memcpy(native + n, path, len);
	r = paths_intern(paths, native, n + len, ret_path);
	free(native);
	return r;
}

int paths_intern_native(struct paths *paths, const char *path, size_t len, struct path *ret_path)
{
	const char *mount = paths->options->mountpoint;
	size_t n = mount ? strlen(mount) : 0;

	if (!mount || len < n || memcmp(path, mount, n) || (len > n && path[n] != '/'))
		return paths_intern(paths, path, len, ret_path);
	if (len == n)
		return paths_intern_mirrored(paths, "/", 1, ret_path);
	return paths_intern_mirrored(paths, path + n, len - n, ret_path);
}
