/* SPDX-License-Identifier: MIT */
#ifndef DB_TUPLES_H
#define DB_TUPLES_H

/*
 * Tuples of numbers that many rows share, such as how a file was opened or on which device it lies.  A tuple is one row of
 * its own table; other rows refer to it by its id.
 *
 * The number of tuples is not limited (open flags, threads).  When memory is full, all tuples are dropped from memory; a
 * tuple that comes again gets a second row with the same values.
 *
 * One thread.  Memory: a quarter of the bytes given to tuples_create(); some 140 bytes for each tuple.
 */

#include <stddef.h>
#include <stdint.h>

#include "db/store.h"

#define TUPLE_COLUMNS 9
#define TUPLE_NULL INT64_MIN

struct tuples;

/* For the table that put fills, which has an id and that many columns.  kept: bytes of memory, of which a quarter is
 * used; there is always room for one tuple.  0 or -ENOMEM. */
int tuples_create(struct store *store, enum put put, int columns, size_t kept,
	struct tuples **ret_tuples);
void tuples_destroy(struct tuples *tuples); /* NULL is fine */

/* The id of a tuple; writes the row of a new one.  values: one for each column, TUPLE_NULL for NULL.  0 or -errno. */
int tuples_intern(struct tuples *tuples, const int64_t *values, int64_t *ret_id);

#endif
