/* SPDX-License-Identifier: MIT */
#ifndef DAG_CHECK_EDGES_H
#define DAG_CHECK_EDGES_H

/*
 * Declared prerequisites out of a file, for builds that neither make nor ninja drives.  Paths are relative to a directory.
 *
 *   CSV (RFC 4180): the first line has the names of the columns: target, prerequisite and, if need be, kind: "normal" (or
 *   nothing), "order-only".  A target without prerequisites has a line with an empty one.
 *
 *   JSON: the action graph of Bazel (aquery.h); it begins with '{'.
 */

struct build;
struct failure;

/* 0 or -errno, with the failure set. */
int edges_load(const char *file, const char *directory, struct build *build,
	struct failure *failure);

#endif
