/* SPDX-License-Identifier: MIT */
#ifndef DB_MISSING_NAMES_H
#define DB_MISSING_NAMES_H

/*
 * Names that processes looked for and that were not there: how often, and when first.
 *
 * Memory holds what the database has not been told yet; it adds that to the rows it has.  So a process may
 * look for as many names as it likes.
 *
 * One thread.  Memory: an eighth of what missing_names_create() is given; some 48 bytes each.
 */

#include <stddef.h>
#include <stdint.h>

struct missing_names;
struct store;

/* kept: bytes of memory, of which an eighth is used; one is kept in any case.  0 or -ENOMEM. */
int missing_names_create(struct store *store, int64_t start_ns, size_t kept, struct missing_names **ret_names);
void missing_names_destroy(struct missing_names *names); /* NULL is fine */

/* process 0: not known.  0 or -errno. */
int missing_names_add(struct missing_names *names, int64_t process, int64_t path, int64_t time_ns);

/* Tells the database, and forgets.  0 or -errno. */
int missing_names_flush(struct missing_names *names);

#endif
