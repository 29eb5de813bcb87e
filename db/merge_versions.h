/* SPDX-License-Identifier: MIT */
#ifndef DB_MERGE_VERSIONS_H
#define DB_MERGE_VERSIONS_H

/*
 * Versions of files that several traces have.  Each trace counts from 1, the content it found.  This module renumbers
 * them over all traces, by the rule of files.h, in the order of time.
 *
 * While traces are added, a version of a file that an earlier trace also has carries the tag of its trace in the upper 32
 * bits; the first trace has no tag.  The content that a trace found is the version that existed at that moment.  If
 * another trace begins the next version while this trace uses the file, the next version counts from then on.
 *
 * Functions return SQLite's codes.  Memory: a few bytes for each trace that has the same file.
 */

#include <sqlite3.h>

/* Makes the tables 'shared', of files that several traces have, and 'changed', of tagged versions that no trace wrote and
 * that differ from what the last trace left. */
int merge_versions_begin(sqlite3 *sqlite);

/* Renumbers the versions, after all traces were added. */
int merge_versions(sqlite3 *sqlite);

#endif
