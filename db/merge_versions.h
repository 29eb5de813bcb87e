/* SPDX-License-Identifier: MIT */
#ifndef DB_MERGE_VERSIONS_H
#define DB_MERGE_VERSIONS_H

/*
 * Versions of files that several traces know.  Each trace counts from 1, which is what it found; here they are
 * numbered over all traces, by the rule of files.h, in the order in which things happened.
 *
 * While traces are added, versions of a trace carry its tag in their upper 32 bits, where another trace knew the
 * file before; the first one has none.  A version that a trace found is the one that was there at that moment; while
 * the trace uses it, another trace may begin the next one, which counts from then on.
 *
 * Results are SQLite's codes.  Memory: a few bytes for each trace that knows the same file.
 */

#include <sqlite3.h>

/* Makes the tables 'shared', of files that several traces know, and 'changed', of tagged versions that nobody of
 * them has written, and that are not what the last one left. */
int merge_versions_begin(sqlite3 *sqlite);

/* When all traces are there. */
int merge_versions(sqlite3 *sqlite);

#endif
