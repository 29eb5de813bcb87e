/* SPDX-License-Identifier: MIT */
#ifndef DB_SPILL_H
#define DB_SPILL_H

/*
 * Pairs of a hash and a number for which memory has no room, in a temporary file without a name.  Part of the store: it
 * uses SQLite, too.
 *
 * Errors are SQLite's codes.  One thread.  Memory: SQLite's page cache, 2 MiB.
 */

#include <stdint.h>

struct spill;

/* vfs: SQLite's; SQLite creates the file when its cache is full. */
int spill_create(const char *vfs, struct spill **ret_spill);
void spill_destroy(struct spill *spill); /* NULL is fine */

/* Adds a pair; no effect if it is there already. */
int spill_put(struct spill *spill, uint32_t hash, int64_t number);

/* The smallest number above 'after' with that hash; 0 if there is none.  Numbers are positive. */
int spill_find(struct spill *spill, uint32_t hash, int64_t after, int64_t *ret_number);

#endif
