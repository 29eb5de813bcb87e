/* SPDX-License-Identifier: MIT */
#include "db/paths.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <uthash.h>

#include "base/trace_file.h"
#include "db/directories.h"
#include "db/store.h"
#include "db/text.h"

struct known_path {
	int64_t id;
	bool recorded;
	bool spilled; /* its id is in the store's temporary file */
	unsigned holds;
	size_t len;
	TAILQ_ENTRY(known_path) next; /* of paths that are not held */
	UT_hash_handle hh;
	char text[];
};

/* With its part of the hash table and malloc()'s overhead. */
#define PATH_BYTES(len) (sizeof(struct known_path) + 48 + (len))

struct paths {
	struct store *store;
	struct directories *directories;
	const struct paths_options *options;
	struct known_path *all;
	TAILQ_HEAD(path_list, known_path) free; /* not held, the least recently used first */
	size_t free_bytes, kept;
	bool spilled; /* there are spilled paths */
	int64_t last_id;
};

int paths_create(struct store *store, const struct paths_options *options, size_t kept,
	struct paths **ret_paths)
{
	struct paths *paths = calloc(1, sizeof(*paths));
	int r;

	if (!paths)
		return -ENOMEM;
	r = directories_create(store, kept, &paths->directories);
	if (r < 0) {
		free(paths);
		return r;
	}
	paths->store = store;
	paths->options = options;
	paths->kept = kept;
	TAILQ_INIT(&paths->free);
	*ret_paths = paths;
	return 0;
}

void paths_destroy(struct paths *paths)
{
	struct known_path *p, *next;

	if (!paths)
		return;
	p = paths->all;
	HASH_CLEAR(hh, paths->all);
	for (; p; p = next) {
		next = p->hh.next;
		free(p);
	}
	directories_destroy(paths->directories);
	free(paths);
}

static bool matches(const char *const *patterns, const char *path)
{
	for (; patterns && *patterns; patterns++)
		if (fnmatch(*patterns, path, 0) == 0)
			return true;
	return false;
}

static bool is_below(const char *top, const char *path)
{
	size_t len = strcmp(top, "/") == 0 ? 0 : strlen(top);

	return strncmp(top, path, len) == 0 && (path[len] == '/' || path[len] == '\0');
}

static bool is_in(const char *const *places, const char *path)
{
	bool found = false;

	for (; places && *places && !found; places++)
		found = is_below(*places, path);
	return found;
}

/* The root is all: what has no place in it, as pipes and sockets, too. */
static bool in_scope(const char *const *scope, const char *path)
{
	bool found = !scope || !*scope;

	for (; scope && *scope && !found; scope++)
		found = strcmp(*scope, "/") == 0 || is_below(*scope, path);
	return found;
}

/* A file of the trace. */
static bool is_own(const char *own, const char *path)
{
	size_t len = own ? strlen(own) : 0;

	if (!len || strncmp(path, own, len) != 0)
		return false;
	for (int i = 0; i < TRACE_FILE_USED; i++)
		if (strcmp(path + len, trace_file_suffix[i]) == 0)
			return true;
	return false;
}

bool paths_are_recorded(const struct paths_options *options, const char *path)
{
	if (is_own(options->own, path) || is_in(options->ours, path))
		return false;
	if (!in_scope(options->scope, path))
		return false;
	if (options->include && *options->include && !matches(options->include, path))
		return false;
	return !matches(options->exclude, path);
}

/* ---- paths in memory ---- */

static void add_free(struct paths *paths, struct known_path *p)
{
	TAILQ_INSERT_TAIL(&paths->free, p, next);
	paths->free_bytes += PATH_BYTES(p->len);
}

static void remove_free(struct paths *paths, struct known_path *p)
{
	TAILQ_REMOVE(&paths->free, p, next);
	paths->free_bytes -= PATH_BYTES(p->len);
}

/* If that fails, the store fails the transaction. */
static void let_go(struct paths *paths, struct known_path *p)
{
	if (!p->spilled)
		store_spill_path(paths->store, p->hh.hashv, p->id);
	paths->spilled = true;
	remove_free(paths, p);
	HASH_DEL(paths->all, p);
	free(p);
}

/* The last one stays: it is in use. */
static void make_room(struct paths *paths)
{
	struct known_path *p;

	while (paths->free_bytes > paths->kept && (p = TAILQ_FIRST(&paths->free)) &&
		TAILQ_NEXT(p, next))
		let_go(paths, p);
}

void paths_hold(struct paths *paths, struct known_path *known)
{
	if (known && known->holds++ == 0)
		remove_free(paths, known);
}

void paths_release(struct paths *paths, struct known_path *known)
{
	if (!known || --known->holds > 0)
		return;
	add_free(paths, known);
	make_room(paths);
}

/* ---- all paths ---- */

/* The id of the path; adds a row if there is none. */
static int number(struct paths *paths, struct known_path *p, unsigned hash)
{
	const struct value text = text_value(p->text, p->len);
	int r = paths->spilled ? store_find_path(paths->store, hash, &text, &p->id) : 0;

	p->spilled = p->id;
	if (r < 0 || p->id)
		return r;
	p->id = paths->last_id + 1;
	r = directories_put_path(paths->directories, p->id, &text);
	if (r == 0)
		paths->last_id = p->id;
	return r;
}

static int add(struct paths *paths, const char *path, size_t len, unsigned hash,
	struct known_path **ret_path)
{
	struct known_path *p = malloc(sizeof(*p) + len + 1);
	int r;

	if (!p)
		return store_fail(paths->store, -ENOMEM);
	*p = (struct known_path){ .len = len };
	memcpy(p->text, path, len);
	p->text[len] = '\0';
	p->recorded = paths_are_recorded(paths->options, p->text);
	r = number(paths, p, hash);
	if (r == 0) {
		HASH_ADD_KEYPTR_BYHASHVALUE(hh, paths->all, p->text, len, hash, p);
		if (!p->hh.tbl)
			r = store_fail(paths->store, -ENOMEM);
	}
	if (r < 0) {
		free(p);
		return r;
	}
	add_free(paths, p);
	make_room(paths);
	*ret_path = p;
	return 0;
}

int paths_intern(struct paths *paths, const char *path, size_t len, struct path *ret_path)
{
	struct known_path *p;
	unsigned hash;
	int r = 0;

	HASH_VALUE(path, len, hash);
	HASH_FIND_BYHASHVALUE(hh, paths->all, path, len, hash, p);
	if (!p) {
		r = add(paths, path, len, hash, &p);
	} else if (!p->holds) {
		TAILQ_REMOVE(&paths->free, p, next);
		TAILQ_INSERT_TAIL(&paths->free, p, next);
	}
	if (r == 0)
		*ret_path = (struct path){ p->id, p->recorded, p };
	return r;
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
