/* SPDX-License-Identifier: MIT */
#ifndef DB_MISSING_NAMES_H
#define DB_MISSING_NAMES_H

/*
 * Missing names: names that a process looked up and that did not exist; how often, and when first.
 *
 * Memory holds counts until they are written; the database adds them to its rows.  So the number of missing names of a
 * process is not limited.
 *
 * One thread.  Memory: an eighth of the bytes given to missing_names_create(); some 48 bytes for each name.
 */

#include <stddef.h>
#include <stdint.h>

struct missing_names;
struct store;

/* kept: bytes of memory, of which an eighth is used; there is always room for one name.  0 or -ENOMEM. */
int missing_names_create(struct store *store, int64_t start_ns, size_t kept, struct missing_names **ret_names);
void missing_names_destroy(struct missing_names *names); /* NULL is fine */

/* Counts a lookup.  process 0: not known.  0 or -errno. */
int missing_names_add(struct missing_names *names, int64_t process, int64_t path, int64_t time_ns);

/* Writes the counts to the database and clears them.  0 or -errno. */
int missing_names_flush(struct missing_names *names);

#endif
