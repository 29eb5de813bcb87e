/* SPDX-License-Identifier: MIT */
#ifndef DB_MERGE_H
#define DB_MERGE_H

/*
 * Several traces in one database, as if one had been written: ids are counted on, times are since the
 * begin of the first, facts are added up, the earliest, the latest or, if all agree, the same.
 * Results are SQLite's codes, its message is in the connection.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sqlite3.h>

struct merge;

/* Into an empty database; start_ns: when the first run began. */
int merge_begin(sqlite3 *sqlite, int64_t start_ns, struct merge **ret_merge);
int merge_add(struct merge *merge, const char *uri, bool with_ops);
int merge_end(struct merge *merge);
void merge_destroy(struct merge *merge);

#endif
