/* SPDX-License-Identifier: MIT */
#include "db/missing_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "db/store.h"

#define PART 8         /* of 'kept': names stay only until the next batch */
#define MOST (1 << 20) /* with any amount of memory */

struct missing_name {
	int64_t process, path, count, first_ns;
};

struct missing_names {
	struct store *store;
	int64_t start_ns;
	struct missing_name *all;
	size_t n, most;
	uint32_t *slots; /* by hash: 0, or 1 + the index in all; a power of two, never full */
	unsigned bits;
};

int missing_names_create(struct store *store, int64_t start_ns, size_t kept,
	struct missing_names **ret_names)
{
	struct missing_names *names = calloc(1, sizeof(*names));

	if (!names)
		return -ENOMEM;
	*ret_names = names;
	names->store = store;
	names->start_ns = start_ns;
	names->most = kept / PART / (sizeof(struct missing_name) + 4 * sizeof(*names->slots));
	if (names->most < 1)
		names->most = 1;
	if (names->most > MOST)
		names->most = MOST;
	for (names->bits = 1; 1u << names->bits < 2 * names->most;)
		names->bits++;
	names->all = malloc(names->most * sizeof(*names->all));
	names->slots = calloc(1u << names->bits, sizeof(*names->slots));
	return names->all && names->slots ? 0 : -ENOMEM;
}

void missing_names_destroy(struct missing_names *names)
{
	if (!names)
		return;
	free(names->all);
	free(names->slots);
	free(names);
}

/* The slot of a process and path, or the free slot for it. */
static uint32_t *slot_of(struct missing_names *names, int64_t process, int64_t path)
{
	uint64_t hash =
		((uint64_t)process * 0x9e3779b97f4a7c15u ^ (uint64_t)path) * 0xbf58476d1ce4e5b9u;
	uint32_t mask = (1u << names->bits) - 1, i = hash >> (64 - names->bits);

	while (names->slots[i]) {
		const struct missing_name *g = &names->all[names->slots[i] - 1];

		if (g->process == process && g->path == path)
			break;
		i = (i + 1) & mask;
	}
	return &names->slots[i];
}

int missing_names_add(struct missing_names *names, int64_t process, int64_t path, int64_t time_ns)
{
	uint32_t *slot = slot_of(names, process, path);
	struct missing_name *g;

	if (!*slot && names->n == names->most) {
		int r = missing_names_flush(names);

		if (r < 0)
			return r;
		slot = slot_of(names, process, path);
	}
	if (!*slot) {
		names->all[names->n] = (struct missing_name){
			.process = process, .path = path, .first_ns = time_ns
		};
		*slot = ++names->n;
	}
	g = &names->all[*slot - 1];
	g->count++;
	if (time_ns < g->first_ns)
		g->first_ns = time_ns;
	return 0;
}

static int compare(const void *x, const void *y)
{
	const struct missing_name *a = x, *b = y;

	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	return a->path < b->path ? -1 : a->path > b->path;
}

/* Rows are cheapest in the order of the table. */
int missing_names_flush(struct missing_names *names)
{
	int r = 0;

	if (!names->n)
		return 0;
	qsort(names->all, names->n, sizeof(*names->all), compare);
	for (const struct missing_name *g = names->all; g < names->all + names->n && r == 0; g++)
		r = store_put(names->store, PUT_MISSING_NAME,
			(struct value[]){ V_INT(g->process), V_INT(g->path), V_INT(g->count),
				V_INT(g->first_ns - names->start_ns) });
	names->n = 0;
	memset(names->slots, 0, sizeof(*names->slots) << names->bits);
	return r;
}
