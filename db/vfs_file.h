/* SPDX-License-Identifier: MIT */
#ifndef DB_VFS_FILE_H
#define DB_VFS_FILE_H

/*
 * A database file that SQLite reads and writes through an open descriptor, without locks, syncs, a log or a journal: for a VFS of
 * one process that has the file for itself (into.h), or reads a file that has no writer any more (relay.h).
 */

#include <sqlite3.h>

struct vfs_file {
	sqlite3_file file; /* first: SQLite casts */
	int fd;		   /* xClose does not close it */
};

/* All methods.  A VFS may put its own in the place of some. */
extern const sqlite3_io_methods vfs_file_methods;

/* Methods of the file, of the same name in SQLite. */
int vfs_file_read(sqlite3_file *file, void *buf, int size, sqlite3_int64 offset);
/* Of the VFS: there is no log and no journal. */
int vfs_file_access(sqlite3_vfs *vfs, const char *path, int how, int *ret_is);

#endif
