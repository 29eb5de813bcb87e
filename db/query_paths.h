/* SPDX-License-Identifier: MIT */
#ifndef DB_QUERY_PATHS_H
#define DB_QUERY_PATHS_H

/*
 * Which traces are meant: a directory stands for all traces in it and in the directories below, in the order of their names.  A
 * trace is recognised by what is in the file (base/trace_file.h).  Symbolic links to directories are not followed.  What a
 * directory has is a trace once, also if it is named beside the directory.
 */

#include "db/query_internal.h"

struct query_paths {
	const char **path;
	int n;
	char **found; /* those of directories, which are freed */
	int n_found;
};

/* except: a file that is none of them; NULL: there is no such file.  0; -ENOENT: a directory has no trace; or other -errno. */
int query_paths_find(struct query_db *db, const char *const *given, int n, const struct stat *except, struct query_paths *ret_paths);
/* Also after an error. */
void query_paths_finish(struct query_paths *paths);

#endif
