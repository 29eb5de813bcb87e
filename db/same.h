/* SPDX-License-Identifier: MIT */
#ifndef DB_SAME_H
#define DB_SAME_H

/*
 * What a user knows of directories of several machines: "PREFIX=OTHER" says that what some machines call OTHER is what others call
 * PREFIX.  HOST: in front of one of them says that it has this name on that machine only.
 *
 * Texts are the caller's and stay there.  Any thread.
 */

#include <stdbool.h>
#include <stddef.h>
#include <sqlite3.h>

struct same {
	const char *const *texts; /* each is right */
	int n;
};

/* NULL: the text is right; else what is wrong with it. */
const char *same_wrong(const char *text);

/*
 * Adds the SQL function same_path(HOST, PATH): the path as it begins with PREFIX, if it begins with PREFIX or OTHER on that host; else NULL.
 * Of several prefixes the longest one counts.  A BLOB stays one.  same is used as long as the connection.  Returns SQLite's codes.
 */
int same_register(sqlite3 *sqlite, const struct same *same);

#endif
