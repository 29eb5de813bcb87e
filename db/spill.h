/* SPDX-License-Identifier: MIT */
#ifndef DB_SPILL_H
#define DB_SPILL_H

/*
 * Pairs of a hash and a number that memory has no room for, in a file that has no name and goes with us.  For the
 * store alone: it knows SQLite, as that does.
 *
 * Errors are SQLite's codes.  One thread.  Memory: SQLite's cache of a file, 2 MiB.
 */

#include <stdint.h>

struct spill;

/* vfs: of SQLite, which makes the file when its cache is full. */
int spill_create(const char *vfs, struct spill **ret_spill);
void spill_destroy(struct spill *spill); /* NULL is fine */

/* A pair that is there already stays as it is. */
int spill_put(struct spill *spill, uint32_t hash, int64_t number);

/* The smallest number beyond 'after' with that hash; 0 if there is none.  Numbers are positive. */
int spill_find(struct spill *spill, uint32_t hash, int64_t after, int64_t *ret_number);

#endif
