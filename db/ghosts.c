/* SPDX-License-Identifier: MIT */
#include "db/ghosts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "db/store.h"

#define PART 8 /* of what is kept: they wait for the next batch only */
#define MOST (1 << 20) /* however much memory there is */

struct ghost {
	int64_t process, path, count, first_ns;
};

struct ghosts {
	struct store *store;
	int64_t start_ns;
	struct ghost *all;
	size_t n, most;
	uint32_t *slots; /* by hash: 0, or 1 + which of all; a power of two, and never full */
	unsigned bits;
};

int ghosts_create(struct store *store, int64_t start_ns, size_t kept, struct ghosts **ret_ghosts)
{
	struct ghosts *ghosts = calloc(1, sizeof(*ghosts));

	if (!ghosts)
		return -ENOMEM;
	*ret_ghosts = ghosts;
	ghosts->store = store;
	ghosts->start_ns = start_ns;
	ghosts->most = kept / PART / (sizeof(struct ghost) + 4 * sizeof(*ghosts->slots));
	if (ghosts->most < 1)
		ghosts->most = 1;
	if (ghosts->most > MOST)
		ghosts->most = MOST;
	for (ghosts->bits = 1; 1u << ghosts->bits < 2 * ghosts->most;)
		ghosts->bits++;
	ghosts->all = malloc(ghosts->most * sizeof(*ghosts->all));
	ghosts->slots = calloc(1u << ghosts->bits, sizeof(*ghosts->slots));
	return ghosts->all && ghosts->slots ? 0 : -ENOMEM;
}

void ghosts_destroy(struct ghosts *ghosts)
{
	if (!ghosts)
		return;
	free(ghosts->all);
	free(ghosts->slots);
	free(ghosts);
}

/* That of a process and path, or the free one where it would be. */
static uint32_t *slot_of(struct ghosts *ghosts, int64_t process, int64_t path)
{
	uint64_t hash = ((uint64_t)process * 0x9e3779b97f4a7c15u ^ (uint64_t)path) * 0xbf58476d1ce4e5b9u;
	uint32_t mask = (1u << ghosts->bits) - 1, i = hash >> (64 - ghosts->bits);

	while (ghosts->slots[i]) {
		const struct ghost *g = &ghosts->all[ghosts->slots[i] - 1];

		if (g->process == process && g->path == path)
			break;
		i = (i + 1) & mask;
	}
	return &ghosts->slots[i];
}

int ghosts_add(struct ghosts *ghosts, int64_t process, int64_t path, int64_t time_ns)
{
	uint32_t *slot = slot_of(ghosts, process, path);
	struct ghost *g;

	if (!*slot && ghosts->n == ghosts->most) {
		int r = ghosts_flush(ghosts);

		if (r < 0)
			return r;
		slot = slot_of(ghosts, process, path);
	}
	if (!*slot) {
		ghosts->all[ghosts->n] = (struct ghost){ .process = process, .path = path, .first_ns = time_ns };
		*slot = ++ghosts->n;
	}
	g = &ghosts->all[*slot - 1];
	g->count++;
	if (time_ns < g->first_ns)
		g->first_ns = time_ns;
	return 0;
}

static int compare(const void *x, const void *y)
{
	const struct ghost *a = x, *b = y;

	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	return a->path < b->path ? -1 : a->path > b->path;
}

/* Rows cost least in the order in which the table has them. */
int ghosts_flush(struct ghosts *ghosts)
{
	int r = 0;

	if (!ghosts->n)
		return 0;
	qsort(ghosts->all, ghosts->n, sizeof(*ghosts->all), compare);
	for (const struct ghost *g = ghosts->all; g < ghosts->all + ghosts->n && r == 0; g++)
		r = store_put(ghosts->store, PUT_GHOST,
			(struct value[]){ V_INT(g->process), V_INT(g->path), V_INT(g->count),
				V_INT(g->first_ns - ghosts->start_ns) });
	ghosts->n = 0;
	memset(ghosts->slots, 0, sizeof(*ghosts->slots) << ghosts->bits);
	return r;
}
