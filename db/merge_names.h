/* SPDX-License-Identifier: MIT */
#ifndef DB_MERGE_NAMES_H
#define DB_MERGE_NAMES_H

/*
 * Names below a directory that one trace saw renamed.  That trace renames what it knows below the directory; other traces
 * know more files there, or know these by the former name.  Such a name ends at that time, too, and goes on below the new
 * name of the directory, to its own end.  And that trace may rename names that another trace has seen end before: these
 * names end when that trace has seen it, and do not go on.
 */

#include <sqlite3.h>

/* After all traces were added.  Returns SQLite's codes. */
int merge_names(sqlite3 *sqlite);

#endif
