/* SPDX-License-Identifier: MIT */
#ifndef DB_INTO_H
#define DB_INTO_H

/*
 * A database in a file that is open already, and that may have no name yet: SQLite reaches it through its descriptor.  There are no
 * locks, and no log: no other program may use the file.
 */

#include <sqlite3.h>

/* The file is empty.  SQLite's codes; *ret is set also on errors, unless there is no memory. */
int into_open(int fd, sqlite3 **ret);
/* The file is a trace from now on: before, it was no file that other programs recognise. */
int into_finish(sqlite3 *sqlite);

#endif
