/* SPDX-License-Identifier: MIT */
#include "dag/container/path_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "base/vector.h"

struct name {
	UT_hash_handle hh;
	int32_t number;
	char text[];
};

struct path_names {
	struct name *hash;
	struct name **all;
	int32_t count;
};

struct path_names *path_names_create(void)
{
	return calloc(1, sizeof(struct path_names));
}

void path_names_destroy(struct path_names *names)
{
	struct name *name, *next;

	if (!names)
		return;
	HASH_ITER(hh, names->hash, name, next) {
		HASH_DEL(names->hash, name);
		free(name);
	}
	free(names->all);
	free(names);
}

int32_t path_names_add(struct path_names *names, const char *text, size_t len)
{
	int32_t found = path_names_find(names, text, len);
	struct name *name;

	if (found != PATH_NAMES_NONE)
		return found;
	name = vector_reserve(names->all, names->count) < 0 ? NULL
							    : malloc(sizeof(*name) + len + 1);
	if (!name)
		return -ENOMEM;
	memcpy(name->text, text, len);
	name->text[len] = '\0';
	name->number = names->count;
	HASH_ADD_KEYPTR(hh, names->hash, name->text, len, name);
	if (!name->hh.tbl) { /* the hash cannot grow */
		free(name);
		return -ENOMEM;
	}
	names->all[names->count] = name;
	return names->count++;
}

int32_t path_names_find(const struct path_names *names, const char *text, size_t len)
{
	struct name *name;

	HASH_FIND(hh, names->hash, text, len, name);
	return name ? name->number : PATH_NAMES_NONE;
}

const char *path_names_text(const struct path_names *names, int32_t name)
{
	return names->all[name]->text;
}

int32_t path_names_count(const struct path_names *names)
{
	return names->count;
}

/* Adds the parts of a path to what is there; the end of that. */
static char *add_parts(char *begin, char *end, const char *path, size_t len)
{
	const char *stop = path + len;

	while (path < stop) {
		const char *slash = memchr(path, '/', stop - path);
		size_t n = (slash ? slash : stop) - path;

		if (n == 2 && memcmp(path, "..", 2) == 0) {
			while (end > begin && *--end != '/')
				;
		} else if (n > 0 && !(n == 1 && *path == '.')) {
			*end++ = '/';
			memcpy(end, path, n);
			end += n;
		}
		path += n + 1;
	}
	return end;
}

char *path_names_join(const char *directory, const char *name, size_t len)
{
	size_t dir_len = strlen(directory);
	char *path = malloc(dir_len + len + 4), *end = path;

	if (!path)
		return NULL;
	if (len == 0 || name[0] != '/')
		end = add_parts(path, end, directory, dir_len);
	end = add_parts(path, end, name, len);
	if (end == path)
		*end++ = '/';
	*end = '\0';
	return path;
}

/* How long the directory is that both have in common, without a slash at its end. */
static size_t common(const char *directory, const char *path)
{
	size_t at = 0, same = 0;

	for (; directory[at] && directory[at] == path[at]; at++)
		if (directory[at] == '/')
			same = at;
	if (directory[at] == '\0' && (path[at] == '/' || path[at] == '\0'))
		same = at;
	return same;
}

char *path_names_relative(const char *directory, const char *path)
{
	size_t same = common(directory, path), ups = 0;
	char *text, *at;

	if (same == 0)
		return strdup(path);
	for (const char *rest = directory + same; *rest; rest++)
		ups += *rest == '/';
	text = at = malloc(3 * ups + strlen(path + same) + 2);
	if (!text)
		return NULL;
	for (size_t i = 0; i < ups; i++)
		at = stpcpy(at, "../");
	strcpy(at, path[same] ? path + same + 1 : ".");
	return text;
}

bool path_names_is_below(const char *directory, const char *path)
{
	size_t len = strlen(directory);

	if (len == 1)
		return true;
	return strncmp(directory, path, len) == 0 && (path[len] == '/' || path[len] == '\0');
}

const char *path_names_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}
