/* SPDX-License-Identifier: MIT */
#ifndef DB_MERGE_CLOCKS_H
#define DB_MERGE_CLOCKS_H

/*
 * The clocks of several machines whose traces are merged.  A cause is before its effect: a file was made before another machine finds
 * it, it was written before another one reads it as long as it became, and found before another one has removed it; a run begins after the
 * one of which the command has started it (merge_starts.h).  So the difference
 * of two clocks is bounded, and clocks become right as far as needed (differences.h).  The first one, which is right, is
 * that of a machine whose kernel says that it is synchronized; of these, of that with most traces.
 *
 * Traces of one boot of a machine have one clock, whatever steps its wall clock made between them.
 *
 * Functions return SQLite's codes, unless they say otherwise.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sqlite3.h>

#include "db/same.h"

struct merge_clocks;

/* NULL: no memory.  same stays the caller's. */
struct merge_clocks *merge_clocks_create(const struct same *same);
void merge_clocks_destroy(struct merge_clocks *clocks);

/* First all traces, each with a number: which clock it has.  Then merge_clocks_sort(). */
int merge_clocks_add(struct merge_clocks *clocks, int n, sqlite3 *trace);
int merge_clocks_sort(struct merge_clocks *clocks);
/* Whether there is anything to compare.  If so, all of them once more: what they did to files, and what
 * has started them.  Then merge_clocks_solve(). */
bool merge_clocks_are_several(const struct merge_clocks *clocks);
int merge_clocks_add_files(struct merge_clocks *clocks, int n, sqlite3 *trace);
int merge_clocks_solve(struct merge_clocks *clocks);

/* What is to be added to the times of a trace. */
int64_t merge_clocks_shift(const struct merge_clocks *clocks, int n);
/* Fills the table hosts of the merged trace, and says in facts what contradicts. */
int merge_clocks_store(const struct merge_clocks *clocks, sqlite3 *merged);

#endif
