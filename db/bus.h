/* SPDX-License-Identifier: MIT */
#ifndef DB_BUS_H
#define DB_BUS_H

/*
 * SQLite maps the index of its log, and a file system that copies what is written (btrfs) may have no room,
 * or no quota, for a page that was there already: then the kernel sends SIGBUS, and whoever is killed by it
 * takes the mount along.  Here such a page is replaced by one of our own instead, and SQLite goes on; what it
 * writes to files next fails with an error that it can tell.  The page is not shared any more with those who
 * read at the same time, so nothing should be written after the last words of the trace.
 *
 * A SIGBUS of another kind ends the program, as ever.
 */

#include <stdbool.h>

/* For the process; once is enough. */
void bus_catch(void);

/* Whether a page was replaced. */
bool bus_has_failed(void);

#endif
