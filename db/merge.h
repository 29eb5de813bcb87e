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

#include "db/same.h"

struct merge;

/* The database is empty.  start_ns: when the first run began, since the epoch; same stays the caller's. */
int merge_begin(sqlite3 *sqlite, int64_t start_ns, const struct same *same, struct merge **ret_merge);
/*
 * Opens the next trace; then merge_add() adds it.  It stays open until the next one or merge_detach().  merge_switch(): whether
 * the finished trace could be opened in the place of the last one (relay.h), which is much faster.  is_alike: the caller knows that
 * both have the same schema.
 */
bool merge_switch(struct merge *merge, const char *path, bool is_alike);
int merge_attach(struct merge *merge, const char *uri);
int merge_detach(struct merge *merge);
int merge_add(struct merge *merge, bool with_ops, int64_t shift_ns); /* shift_ns: added to its times */
int merge_end(struct merge *merge);
void merge_destroy(struct merge *merge); /* before the connection is closed */

#endif
