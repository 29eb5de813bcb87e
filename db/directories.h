/* SPDX-License-Identifier: MIT */
#ifndef DB_DIRECTORIES_H
#define DB_DIRECTORIES_H

/*
 * The directories in the paths of a trace.  Many paths are in one directory, so its text is one row of its own table, and a path is a
 * row with the directory's id and a name (schema.sql).
 *
 * The number of directories is not limited.  When memory is full, all are dropped from memory; a directory that comes again gets a
 * second row with the same text.
 *
 * One thread.  Memory: a quarter of the bytes given to directories_create(); the text and some 110 bytes for each directory.
 */

#include <stddef.h>
#include <stdint.h>

#include "db/store.h"

struct directories;

/* kept: bytes of memory, of which a quarter is used; there is always room for one directory.  0 or -ENOMEM. */
int directories_create(struct store *store, size_t kept, struct directories **ret_directories);
void directories_destroy(struct directories *directories); /* NULL is fine */

/* Writes the row of a path.  text: TEXT or BLOB.  0 or -errno. */
int directories_put_path(struct directories *directories, int64_t id, const struct value *text);

#endif
