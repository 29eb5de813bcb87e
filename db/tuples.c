/* SPDX-License-Identifier: MIT */
#include "db/tuples.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

struct tuple {
	int64_t values[TUPLE_COLUMNS]; /* 0 after the columns in use */
	int64_t id;
	UT_hash_handle hh;
};

#define TUPLE_BYTES \
	(sizeof(struct tuple) + 48) /* with its part of the hash table and malloc()'s overhead */

#define TUPLES_PART 4 /* of 'kept': tuples are few, and there are three tables */

struct tuples {
	struct store *store;
	enum put put;
	int columns;
	size_t most;
	struct tuple *all, *last; /* last: the last one used, which is often used again */
	int64_t last_id;
};

int tuples_create(struct store *store, enum put put, int columns, size_t kept,
	struct tuples **ret_tuples)
{
	struct tuples *tuples = calloc(1, sizeof(*tuples));

	if (!tuples)
		return -ENOMEM;
	tuples->store = store;
	tuples->put = put;
	tuples->columns = columns;
	tuples->most = kept / TUPLES_PART > TUPLE_BYTES ? kept / TUPLES_PART / TUPLE_BYTES : 1;
	*ret_tuples = tuples;
	return 0;
}

static void drop_all(struct tuples *tuples)
{
	struct tuple *c = tuples->all, *next;

	HASH_CLEAR(hh, tuples->all);
	for (; c; c = next) {
		next = c->hh.next;
		free(c);
	}
	tuples->last = NULL;
}

void tuples_destroy(struct tuples *tuples)
{
	if (!tuples)
		return;
	drop_all(tuples);
	free(tuples);
}

static int add(struct tuples *tuples, const int64_t *values, struct tuple **ret_tuple)
{
	struct value row[1 + TUPLE_COLUMNS] = { V_INT(tuples->last_id + 1) };
	struct tuple *c = calloc(1, sizeof(*c));
	int r;

	if (!c)
		return store_fail(tuples->store, -ENOMEM);
	if (HASH_COUNT(tuples->all) >= tuples->most)
		drop_all(tuples);
	for (int i = 0; i < tuples->columns; i++)
		row[1 + i] = V_OPT(values[i] != TUPLE_NULL, values[i]);
	r = store_put(tuples->store, tuples->put, row);
	if (r < 0) {
		free(c);
		return r;
	}
	memcpy(c->values, values, tuples->columns * sizeof(*values));
	c->id = ++tuples->last_id;
	HASH_ADD(hh, tuples->all, values, sizeof(c->values), c);
	if (!c->hh.tbl) {
		free(c);
		return store_fail(tuples->store, -ENOMEM);
	}
	*ret_tuple = c;
	return 0;
}

int tuples_intern(struct tuples *tuples, const int64_t *values, int64_t *ret_id)
{
	int64_t key[TUPLE_COLUMNS] = { 0 };
	struct tuple *c = tuples->last;
	int r = 0;

	memcpy(key, values, tuples->columns * sizeof(*values));
	if (!c || memcmp(c->values, key, sizeof(key)) != 0)
		HASH_FIND(hh, tuples->all, key, sizeof(key), c);
	if (!c)
		r = add(tuples, values, &c);
	if (r < 0)
		return r;
	tuples->last = c;
	*ret_id = c->id;
	return 0;
}
