/* SPDX-License-Identifier: MIT */
#ifndef TESTS_UNIT_STORED_H
#define TESTS_UNIT_STORED_H

/* A new trace in a directory of its own: the part that the fixtures of all writers share. */

#include "db/store.h"
#include "test.h"

struct stored {
	struct temp temp;
	char db[64 + 16];
	struct store *store;
};

static inline void stored_begin(struct stored *s)
{
	temp_make(&s->temp);
	snprintf(s->db, sizeof(s->db), "%s/trace.db", s->temp.dir);
	assert_int_equal(store_create(s->db, false, &s->store), 0);
}

static inline void stored_end(struct stored *s)
{
	store_destroy(s->store);
	temp_take_away(&s->temp);
}

/* In a transaction: commits it, and begins another one. */
TEST_UNUSED static inline void stored_commit(struct stored *s)
{
	assert_int_equal(store_commit(s->store), 0);
	assert_int_equal(store_begin(s->store), 0);
}

#endif
