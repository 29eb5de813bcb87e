/* SPDX-License-Identifier: MIT */
#include "import/presence.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <uthash.h>

#include "base/cleanup.h"
#include "import/path.h"

struct known {
	enum presence_state state;
	uint32_t type;
	bool is_fresh; /* a directory of which all names are known */
	UT_hash_handle hh;
	char path[]; /* clean */
};

struct presence {
	struct known *all;
};

int presence_create(struct presence **ret_presence)
{
	*ret_presence = calloc(1, sizeof(**ret_presence));
	return *ret_presence ? 0 : -ENOMEM;
}

static void forget(struct presence *presence, struct known *known)
{
	HASH_DEL(presence->all, known);
	free(known);
}

void presence_destroy(struct presence *presence)
{
	struct known *known, *next;

	if (!presence)
		return;
	HASH_ITER(hh, presence->all, known, next)
		forget(presence, known);
	free(presence);
}

static struct known *find(const struct presence *presence, const char *path)
{
	struct known *known;

	HASH_FIND_STR(presence->all, path, known);
	return known;
}

static struct known *find_or_add(struct presence *presence, const char *path)
{
	struct known *known = find(presence, path);
	size_t len = strlen(path);

	if (known)
		return known;
	known = calloc(1, sizeof(*known) + len + 1);
	if (!known)
		return NULL;
	memcpy(known->path, path, len);
	HASH_ADD_STR(presence->all, path, known);
	if (known->hh.tbl)
		return known;
	free(known);
	return NULL;
}

static bool is_in_fresh(const struct presence *presence, char *path)
{
	char *slash = strrchr(path, '/');
	const struct known *above;

	if (!slash)
		return false;
	*slash = '\0';
	above = find(presence, path);
	*slash = '/';
	return above && above->is_fresh;
}

enum presence_state presence_look(const struct presence *presence, const char *path, uint32_t *ret_type)
{
	cleanup_free char *at = path_clean(path);
	const struct known *known = at ? find(presence, at) : NULL;

	*ret_type = known ? known->type : 0;
	if (known)
		return known->state;
	return at && is_in_fresh(presence, at) ? PRESENCE_MISSING : PRESENCE_UNKNOWN;
}

static int set(struct presence *presence, const char *path, enum presence_state state, uint32_t type, bool is_fresh)
{
	cleanup_free char *at = path_clean(path);
	struct known *known = at ? find_or_add(presence, at) : NULL;

	if (!known)
		return -ENOMEM;
	if (known->state != PRESENCE_THERE || state != PRESENCE_THERE || is_fresh) {
		known->type = 0;
		known->is_fresh = is_fresh;
	}
	known->state = state;
	if (type)
		known->type = type;
	return 0;
}

/* What is above something is a directory. */
static int set_above(struct presence *presence, const char *path)
{
	cleanup_free char *at = path_clean(path);
	char *slash;
	int r = at ? 0 : -ENOMEM;

	while (r == 0 && (slash = strrchr(at, '/')) && slash > at) {
		const struct known *known;

		*slash = '\0';
		known = find(presence, at);
		if (known && known->state == PRESENCE_THERE && S_ISDIR(known->type))
			return 0;
		r = set(presence, at, PRESENCE_THERE, S_IFDIR, false);
	}
	return r;
}

int presence_there(struct presence *presence, const char *path, uint32_t type)
{
	int r = set(presence, path, PRESENCE_THERE, type, false);

	return r < 0 ? r : set_above(presence, path);
}

int presence_fresh(struct presence *presence, const char *path)
{
	return set(presence, path, PRESENCE_THERE, S_IFDIR, true);
}

int presence_missing(struct presence *presence, const char *path)
{
	return set(presence, path, PRESENCE_MISSING, 0, false);
}

static bool is_below(const char *path, const char *top)
{
	size_t len = strlen(top);

	return strncmp(path, top, len) == 0 && path[len] == '/';
}

static void forget_below(struct presence *presence, const char *top)
{
	struct known *known, *next;

	HASH_ITER(hh, presence->all, known, next)
		if (is_below(known->path, top))
			forget(presence, known);
}

/* Below the new name; what is known of it goes along. */
static int move_below(struct presence *presence, const char *from, const char *to)
{
	struct known *known, *next, *copy;
	int r = 0;

	HASH_ITER(hh, presence->all, known, next) {
		cleanup_free char *path = NULL;

		if (r < 0 || !is_below(known->path, from) || is_below(known->path, to))
			continue;
		path = malloc(strlen(known->path) + strlen(to) + 1);
		copy = path ? find_or_add(presence, strcat(strcpy(path, to), known->path + strlen(from))) : NULL;
		if (copy) {
			copy->state = known->state;
			copy->type = known->type;
			copy->is_fresh = known->is_fresh;
		}
		r = copy ? 0 : -ENOMEM;
	}
	return r;
}

int presence_moved(struct presence *presence, const char *from, const char *to)
{
	cleanup_free char *a = path_clean(from), *b = path_clean(to);
	const struct known *moved = a ? find(presence, a) : NULL;
	struct known was = moved ? *moved : (struct known){ 0 };
	int r = 0;

	if (!a || !b)
		return -ENOMEM;
	if (strcmp(a, b) == 0)
		return 0;
	if (was.type == 0 || S_ISDIR(was.type)) {
		forget_below(presence, b);
		r = move_below(presence, a, b);
		forget_below(presence, a);
	}
	if (r == 0)
		r = presence_missing(presence, a);
	if (r == 0)
		r = presence_missing(presence, b);
	return r < 0 ? r : set(presence, b, PRESENCE_THERE, was.type, was.is_fresh);
}
