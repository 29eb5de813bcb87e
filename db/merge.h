/* SPDX-License-Identifier: MIT */
#ifndef DB_MERGE_H
#define DB_MERGE_H

/*
 * Puts several traces into one database, as if they were one trace: ids are renumbered, times count from the start of the
 * first run.  A fact becomes the sum, the earliest or the latest of all, or, if all traces agree, that value.
 * Functions return SQLite's codes; the connection has the message.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sqlite3.h>

struct merge;

/* The database is empty.  start_ns: when the first run began, since the epoch. */
int merge_begin(sqlite3 *sqlite, int64_t start_ns, struct merge **ret_merge);
int merge_add(struct merge *merge, const char *uri, bool with_ops);
int merge_end(struct merge *merge);
void merge_destroy(struct merge *merge);

#endif
