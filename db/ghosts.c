/* SPDX-License-Identifier: MIT */
#include "db/ghosts.h"

#include <errno.h>
#include <stdlib.h>
#include <uthash.h>

#include "db/store.h"

struct ghost {
	struct {
		int64_t process, path;
	} key;
	int64_t count, first_ns;
	UT_hash_handle hh;
};

#define GHOST_BYTES (sizeof(struct ghost) + 48) /* with its part of the hash table, and what malloc() adds */

struct ghosts {
	struct store *store;
	int64_t start_ns;
	size_t most;
	struct ghost *all;
};

int ghosts_create(struct store *store, int64_t start_ns, size_t kept, struct ghosts **ret_ghosts)
{
	struct ghosts *ghosts = calloc(1, sizeof(*ghosts));

	if (!ghosts)
		return -ENOMEM;
	ghosts->store = store;
	ghosts->start_ns = start_ns;
	ghosts->most = kept > GHOST_BYTES ? kept / GHOST_BYTES : 1;
	*ret_ghosts = ghosts;
	return 0;
}

static void forget(struct ghosts *ghosts)
{
	struct ghost *g = ghosts->all, *next;

	HASH_CLEAR(hh, ghosts->all);
	for (; g; g = next) {
		next = g->hh.next;
		free(g);
	}
}

void ghosts_destroy(struct ghosts *ghosts)
{
	if (!ghosts)
		return;
	forget(ghosts);
	free(ghosts);
}

static struct ghost *add(struct ghosts *ghosts, int64_t process, int64_t path, int64_t time_ns)
{
	struct ghost *g = calloc(1, sizeof(*g));

	if (!g)
		return NULL;
	g->key.process = process;
	g->key.path = path;
	g->first_ns = time_ns;
	HASH_ADD(hh, ghosts->all, key, sizeof(g->key), g);
	if (g->hh.tbl)
		return g;
	free(g);
	return NULL;
}

int ghosts_add(struct ghosts *ghosts, int64_t process, int64_t path, int64_t time_ns)
{
	struct ghost *g, key = { .key = { process, path } };
	int r = 0;

	HASH_FIND(hh, ghosts->all, &key.key, sizeof(key.key), g);
	if (!g && HASH_COUNT(ghosts->all) >= ghosts->most)
		r = ghosts_flush(ghosts);
	if (!g && r == 0)
		g = add(ghosts, process, path, time_ns);
	if (!g)
		return r < 0 ? r : store_fail(ghosts->store, -ENOMEM);
	g->count++;
	if (time_ns < g->first_ns)
		g->first_ns = time_ns;
	return 0;
}

static int compare(const struct ghost *a, const struct ghost *b)
{
	if (a->key.process != b->key.process)
		return a->key.process < b->key.process ? -1 : 1;
	return a->key.path < b->key.path ? -1 : a->key.path > b->key.path;
}

/* In the order in which the table has them. */
int ghosts_flush(struct ghosts *ghosts)
{
	int r = 0;

	HASH_SORT(ghosts->all, compare);
	for (const struct ghost *g = ghosts->all; g && r == 0; g = g->hh.next)
		r = store_put(ghosts->store, PUT_GHOST,
			(struct value[]){ V_INT(g->key.process), V_INT(g->key.path), V_INT(g->count),
				V_INT(g->first_ns - ghosts->start_ns) });
	forget(ghosts);
	return r;
}
