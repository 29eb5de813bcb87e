/* SPDX-License-Identifier: MIT */
#ifndef DB_TUPLES_H
#define DB_TUPLES_H

/*
 * Combinations of numbers that many rows have in common - how a file was opened, on which device it
 * lies -, each once: a row of its own table, and one small number everywhere else.
 *
 * A client may make as many as it likes (open flags, threads): when there is no room for another one, all are
 * forgotten, and what comes again is another row that says the same.
 *
 * One thread.  Memory: a quarter of what tuples_create() is given; some 120 bytes for each combination.
 */

#include <stddef.h>
#include <stdint.h>

#include "db/store.h"

#define TUPLE_COLUMNS 4
#define TUPLE_NULL INT64_MIN

struct tuples;

/* Of the table that put fills: an id and as many columns.  kept: bytes of memory, of which a quarter
 * is used; one is kept in any case.  0 or -ENOMEM. */
int tuples_create(struct store *store, enum put put, int columns, size_t kept,
	struct tuples **ret_tuples);
void tuples_destroy(struct tuples *tuples); /* NULL is fine */

/* The number of a combination; its row is written when it is new.  values: as many as there are
 * columns.  0 or -errno. */
int tuples_intern(struct tuples *tuples, const int64_t *values, int64_t *ret_id);

#endif
