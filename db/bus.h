/* SPDX-License-Identifier: MIT */
#ifndef DB_BUS_H
#define DB_BUS_H

/*
 * Survives SIGBUS in SQLite's index of the log.  SQLite maps that file.  On a copy-on-write file system (btrfs) the kernel
 * may have no space or quota left for a page that existed already; it then sends SIGBUS, which would end the daemon and
 * with it the mount.  The handler maps a private page instead, and SQLite continues; its next write to a file fails with
 * an ordinary error.  Readers do not see the private page, so nothing should be written after the last rows of the
 * trace.
 *
 * Any other SIGBUS ends the program as usual.
 */

#include <stdbool.h>

/* Installs the handler for the whole process. */
void bus_catch(void);

/* Whether the handler has replaced a page. */
bool bus_has_failed(void);

#endif
