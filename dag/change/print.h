/* SPDX-License-Identifier: MIT */
#ifndef DAG_CHANGE_PRINT_H
#define DAG_CHANGE_PRINT_H

/*
 * The list of what changed, as a table.  For other programs it has all rows and columns.  As text, paths are relative to
 * the directory of the run, and a directory that is new or gone is one row for all that is in it (all: is not).
 */

#include <stdbool.h>

struct changes;
struct table;

struct changes_listing {
	const char *cwd; /* NULL: not known */
	bool text, all, temporary;
};

/* Fills an empty table; table_failed() tells if memory ran out. */
void changes_list(const struct changes *changes, const struct changes_listing *listing, struct table *table);

/* A path as it is written in the directory of the run; what is elsewhere in whole. */
const char *changes_name(const char *cwd, const char *path);

#endif
