/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "dag/load/plan_internal.h"

struct names_entry {
	const char *text; /* relative */
	int32_t path;
	UT_hash_handle hh;
};

/* A path as a file can have it: absolute, of names that are no "." or "..", each as long as file systems allow. */
static bool is_possible(const char *text, size_t len)
{
	size_t at = 0;

	if (len == 0 || len >= PATH_MAX || text[0] != '/' || memchr(text, '\0', len))
		return false;
	if (len == 1)
		return true;
	while (at < len) {
		const char *name = text + at + 1, *end = memchr(name, '/', len - at - 1);
		size_t n = end ? (size_t)(end - name) : len - at - 1;

		if (n == 0 || n > NAME_MAX || (n == 1 && name[0] == '.') || (n == 2 && name[0] == '.' && name[1] == '.'))
			return false;
		at += n + 1;
	}
	return true;
}

static int grow(struct names *names, size_t n)
{
	size_t before = names->room_states;

	if (vector_fit(names->things, names->room_things, n) < 0 || vector_fit(names->states, names->room_states, n) < 0 ||
		vector_fit(names->moved_from, names->room_moved, n) < 0)
		return -ENOMEM;
	if (before < n) {
		memset(names->things + before, 0, (names->room_things - before) * sizeof(*names->things));
		memset(names->states + before, STATE_UNKNOWN, names->room_states - before);
		for (size_t i = before; i < names->room_moved; i++)
			names->moved_from[i] = PLAN_NONE;
	}
	return 0;
}

/* text: relative, of that length. */
static int add(struct names *names, const char *text, size_t len, int32_t parent, int32_t *ret_path)
{
	struct plan *plan = names->plan;
	struct names_entry *entry = arena_alloc(&plan->texts, sizeof(*entry));
	const char *copy = arena_text(&plan->texts, text, len);

	if (!entry || !copy || grow(names, (size_t)plan->n_paths + 1) < 0)
		return -ENOMEM;
	*entry = (struct names_entry){ .text = copy, .path = plan->n_paths };
	if (vector_push(plan->paths, plan->n_paths, (struct plan_path){ .text = copy, .parent = parent, .file = PLAN_NONE }) < 0)
		return -ENOMEM;
	HASH_ADD_KEYPTR(hh, names->by_text, entry->text, len, entry);
	if (!entry->hh.tbl) /* the hash cannot grow */
		return -ENOMEM;
	*ret_path = entry->path;
	return 0;
}

/* The root is path 0. */
static int add_root(struct names *names)
{
	int32_t root;
	int r = names->plan->n_paths ? 0 : add(names, ".", 1, PLAN_NONE, &root);

	if (r == 0) {
		names->plan->paths[0].is_there = names->plan->paths[0].is_directory = true;
		names->states[0] = STATE_THERE;
	}
	return r;
}

int load_names_find(struct names *names, const char *text, size_t len, int32_t *ret_path)
{
	int r = add_root(names);
	int32_t path = 0;

	*ret_path = PLAN_NONE;
	if (r < 0 || !is_possible(text, len))
		return r;
	for (size_t end = 1; end < len; end++) {
		struct names_entry *entry;
		const char *slash = memchr(text + end, '/', len - end);

		end = slash ? (size_t)(slash - text) : len;
		HASH_FIND(hh, names->by_text, text + 1, end - 1, entry);
		if (entry)
			path = entry->path;
		else if ((r = add(names, text + 1, end - 1, path, &path)) < 0)
			return r;
	}
	*ret_path = path;
	return 0;
}

/* The path that this one had at the begin, if a directory above it was moved since; PLAN_NONE: that is not known. */
static int32_t path_before(struct names *names, int32_t path)
{
	struct plan *plan = names->plan;
	int32_t above = plan->paths[path].parent;
	const char *text = plan->paths[path].text;
	char before[2 * PATH_MAX];

	while (above > 0 && names->moved_from[above] < 0)
		above = plan->paths[above].parent;
	if (above <= 0)
		return path;
	snprintf(before, sizeof(before), "/%s%s", plan->paths[names->moved_from[above]].text, text + strlen(plan->paths[above].text));
	if (load_names_find(names, before, strlen(before), &path) < 0)
		return PLAN_NONE;
	return path;
}

static void is_there_at_begin(struct names *names, int32_t path, int32_t file)
{
	struct plan *plan = names->plan;
	int32_t before = path_before(names, path);

	/* By its old name it may be known already. */
	if (before < 0 || plan->paths[before].is_there || (before != path && names->states[before] != STATE_UNKNOWN))
		return;
	path = before;
	plan->paths[path].is_there = true;
	plan->paths[path].file = file;
	names->states[path] = names->states[path] == STATE_UNKNOWN ? STATE_THERE : names->states[path];
	for (int32_t above = plan->paths[path].parent; above >= 0 && !plan->paths[above].is_directory; above = plan->paths[above].parent) {
		plan->paths[above].is_directory = true;
		if (names->states[above] == STATE_UNKNOWN)
			plan->paths[above].is_there = true;
	}
}

/* A directory above it that is not known yet was there at the begin. */
static void are_above(struct names *names, int32_t path)
{
	struct plan *plan = names->plan;

	for (int32_t above = plan->paths[path].parent; above > 0; above = plan->paths[above].parent)
		if (names->states[above] == STATE_UNKNOWN) {
			is_there_at_begin(names, above, PLAN_NONE);
			names->states[above] = STATE_THERE;
			plan->paths[above].is_directory = true;
		}
}

void load_names_found(struct names *names, int32_t path, int32_t file, bool is_there)
{
	if (path < 0)
		return;
	if (is_there && names->states[path] == STATE_UNKNOWN) {
		is_there_at_begin(names, path, file);
		are_above(names, path);
	}
	if (names->states[path] == STATE_UNKNOWN)
		names->states[path] = is_there ? STATE_THERE : STATE_ABSENT;
}

void load_names_made(struct names *names, int32_t path, int32_t file)
{
	(void)file;
	if (path < 0)
		return;
	are_above(names, path);
	names->states[path] = STATE_THERE;
	names->moved_from[path] = PLAN_NONE;
}

void load_names_removed(struct names *names, int32_t path)
{
	if (path < 0)
		return;
	load_names_found(names, path, PLAN_NONE, true);
	names->states[path] = STATE_ABSENT;
}

void load_names_moved(struct names *names, int32_t from, int32_t to, int32_t file)
{
	if (from < 0 || to < 0)
		return;
	load_names_found(names, from, file, true);
	names->states[from] = STATE_ABSENT;
	are_above(names, to);
	names->states[to] = STATE_THERE;
	names->moved_from[to] = names->moved_from[from] >= 0 ? names->moved_from[from] : from;
}

void load_names_finish(struct names *names)
{
	struct names_entry *entry, *next;

	HASH_ITER(hh, names->by_text, entry, next)
		HASH_DEL(names->by_text, entry);
	for (size_t i = 0; i < names->room_things; i++)
		free(names->things[i].users);
	free(names->things);
	free(names->states);
	free(names->moved_from);
}
