/* SPDX-License-Identifier: MIT */
#include "db/directories.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

struct directory {
	int64_t id;
	size_t len;
	UT_hash_handle hh;
	char text[];
};

/* With its part of the hash table and malloc()'s overhead. */
#define DIRECTORY_BYTES(len) (sizeof(struct directory) + 48 + (len))

#define DIRECTORIES_PART 4 /* of 'kept' */
#define SHORTEST 4	   /* a shorter text takes no more than its id */

struct directories {
	struct store *store;
	struct directory *all;
	size_t bytes, most;
	int64_t last_id;
};

int directories_create(struct store *store, size_t kept, struct directories **ret_directories)
{
	struct directories *directories = calloc(1, sizeof(*directories));

	if (!directories)
		return -ENOMEM;
	directories->store = store;
	directories->most = kept / DIRECTORIES_PART;
	*ret_directories = directories;
	return 0;
}

static void drop_all(struct directories *directories)
{
	struct directory *d = directories->all, *next;

	HASH_CLEAR(hh, directories->all);
	for (; d; d = next) {
		next = d->hh.next;
		free(d);
	}
	directories->bytes = 0;
}

void directories_destroy(struct directories *directories)
{
	if (!directories)
		return;
	drop_all(directories);
	free(directories);
}

static int add(struct directories *directories, const char *text, size_t len, struct directory **ret_directory)
{
	struct directory *d = malloc(sizeof(*d) + len);
	int r;

	if (!d)
		return store_fail(directories->store, -ENOMEM);
	*d = (struct directory){ .id = directories->last_id + 1, .len = len };
	memcpy(d->text, text, len);
	r = store_put(directories->store, PUT_DIRECTORY, (struct value[]){ V_INT(d->id), V_BYTES(VALUE_TEXT, d->text, len) });
	if (r == 0) {
		directories->last_id++;
		if (directories->bytes + DIRECTORY_BYTES(len) > directories->most)
			drop_all(directories);
		HASH_ADD_KEYPTR(hh, directories->all, d->text, len, d);
		if (!d->hh.tbl)
			r = store_fail(directories->store, -ENOMEM);
	}
	if (r < 0) {
		free(d);
		return r;
	}
	directories->bytes += DIRECTORY_BYTES(len);
	*ret_directory = d;
	return 0;
}

/* Of an absolute path: up to its last slash. */
static size_t directory_length(const struct value *text)
{
	const char *path = text->data, *slash;

	if (text->type != VALUE_TEXT || text->number == 0 || path[0] != '/')
		return 0;
	slash = memrchr(path, '/', text->number);
	return slash - path + 1 < SHORTEST ? 0 : slash - path + 1;
}

int directories_put_path(struct directories *directories, int64_t id, const struct value *text)
{
	size_t len = directory_length(text);
	const char *path = text->data;
	struct directory *d = NULL;
	int r = 0;

	if (len) {
		HASH_FIND(hh, directories->all, path, len, d);
		if (!d)
			r = add(directories, path, len, &d);
	}
	if (r < 0)
		return r;
	return store_put(directories->store, PUT_PATH_NAME,
		(struct value[]){ V_INT(id), V_ID(d ? d->id : 0), V_BYTES(text->type, path + len, text->number - len) });
}
