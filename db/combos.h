/* SPDX-License-Identifier: MIT */
#ifndef DB_COMBOS_H
#define DB_COMBOS_H

/*
 * Combinations of numbers that many rows have in common - how a file was opened, on which device it
 * lies -, each once: a row of its own table, and one small number everywhere else.
 *
 * A client may make as many as it likes (open flags, threads): when there is no room for another one, all are
 * forgotten, and what comes again is another row that says the same.
 *
 * One thread.  Memory: a quarter of what combos_create() is given; some 120 bytes for each combination.
 */

#include <stddef.h>
#include <stdint.h>

#include "db/store.h"

#define COMBO_COLUMNS 4
#define COMBO_NULL INT64_MIN

struct combos;

/* Of the table that put fills: an id and as many columns.  kept: bytes of memory, of which a quarter
 * is used; one is kept in any case.  0 or -ENOMEM. */
int combos_create(struct store *store, enum put put, int columns, size_t kept,
	struct combos **ret_combos);
void combos_destroy(struct combos *combos); /* NULL is fine */

/* The number of a combination; its row is written when it is new.  values: as many as there are
 * columns.  0 or -errno. */
int combos_intern(struct combos *combos, const int64_t *values, int64_t *ret_id);

#endif
