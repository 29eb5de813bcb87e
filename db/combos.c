/* SPDX-License-Identifier: MIT */
#include "db/combos.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

struct combo {
	int64_t values[COMBO_COLUMNS]; /* 0 behind those that there are */
	int64_t id;
	UT_hash_handle hh;
};

#define COMBO_BYTES (sizeof(struct combo) + 48) /* with its part of the hash table, and what malloc() adds */

#define COMBOS_PART 4 /* of what is kept: there are few as a rule, and three tables of them */

struct combos {
	struct store *store;
	enum put put;
	int columns;
	size_t most;
	struct combo *all, *last; /* last: the one asked for last, mostly asked for again */
	int64_t last_id;
};

int combos_create(struct store *store, enum put put, int columns, size_t kept,
	struct combos **ret_combos)
{
	struct combos *combos = calloc(1, sizeof(*combos));

	if (!combos)
		return -ENOMEM;
	combos->store = store;
	combos->put = put;
	combos->columns = columns;
	combos->most = kept / COMBOS_PART > COMBO_BYTES ? kept / COMBOS_PART / COMBO_BYTES : 1;
	*ret_combos = combos;
	return 0;
}

static void forget(struct combos *combos)
{
	struct combo *c = combos->all, *next;

	HASH_CLEAR(hh, combos->all);
	for (; c; c = next) {
		next = c->hh.next;
		free(c);
	}
	combos->last = NULL;
}

void combos_destroy(struct combos *combos)
{
	if (!combos)
		return;
	forget(combos);
	free(combos);
}

static int add(struct combos *combos, const int64_t *values, struct combo **ret_combo)
{
	struct value row[1 + COMBO_COLUMNS] = { V_INT(combos->last_id + 1) };
	struct combo *c = calloc(1, sizeof(*c));
	int r;

	if (!c)
		return store_fail(combos->store, -ENOMEM);
	if (HASH_COUNT(combos->all) >= combos->most)
		forget(combos);
	for (int i = 0; i < combos->columns; i++)
		row[1 + i] = V_OPT(values[i] != COMBO_NULL, values[i]);
	r = store_put(combos->store, combos->put, row);
	if (r < 0) {
		free(c);
		return r;
	}
	memcpy(c->values, values, combos->columns * sizeof(*values));
	c->id = ++combos->last_id;
	HASH_ADD(hh, combos->all, values, sizeof(c->values), c);
	if (!c->hh.tbl) {
		free(c);
		return store_fail(combos->store, -ENOMEM);
	}
	*ret_combo = c;
	return 0;
}

int combos_intern(struct combos *combos, const int64_t *values, int64_t *ret_id)
{
	int64_t key[COMBO_COLUMNS] = { 0 };
	struct combo *c = combos->last;
	int r = 0;

	memcpy(key, values, combos->columns * sizeof(*values));
	if (!c || memcmp(c->values, key, sizeof(key)) != 0)
		HASH_FIND(hh, combos->all, key, sizeof(key), c);
	if (!c)
		r = add(combos, values, &c);
	if (r < 0)
		return r;
	combos->last = c;
	*ret_id = c->id;
	return 0;
}
