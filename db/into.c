/* SPDX-License-Identifier: MIT */
#include "db/into.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/trace_file.h"
#include "db/vfs_file.h"

#define INTO_VFS "ftrac-into"
#define STRING(x) STRING_OF(x)
#define STRING_OF(x) #x

/* ---- the VFS: that of the system, except for this file ---- */

static sqlite3_vfs *the_system;

/* Whether it is the file: its name is the number of the descriptor, and a journal is never made. */
static bool is_into(const char *name, int flags)
{
	return name && flags & SQLITE_OPEN_MAIN_DB && strspn(name, "0123456789") == strlen(name);
}

static int vfs_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *ret_flags)
{
	(void)vfs;
	if (!is_into(name, flags))
		return the_system->xOpen(the_system, name, file, flags, ret_flags);
	*(struct vfs_file *)file = (struct vfs_file){ { &vfs_file_methods }, atoi(name) };
	if (ret_flags)
		*ret_flags = flags;
	return SQLITE_OK;
}

static int vfs_full_pathname(sqlite3_vfs *vfs, const char *name, int out_len, char *out)
{
	(void)vfs;
	if (!is_into(name, SQLITE_OPEN_MAIN_DB))
		return the_system->xFullPathname(the_system, name, out_len, out);
	snprintf(out, out_len, "%s", name);
	return SQLITE_OK;
}

static int make_vfs(void)
{
	static sqlite3_vfs vfs;

	if (vfs.zName)
		return SQLITE_OK;
	the_system = sqlite3_vfs_find(NULL);
	if (!the_system) /* SQLite had no memory to start */
		return SQLITE_NOMEM;
	vfs = *the_system;
	vfs.zName = INTO_VFS;
	vfs.pNext = NULL;
	vfs.xOpen = vfs_open;
	vfs.xFullPathname = vfs_full_pathname;
	vfs.xAccess = vfs_file_access;
	if ((size_t)vfs.szOsFile < sizeof(struct vfs_file))
		vfs.szOsFile = sizeof(struct vfs_file);
	return sqlite3_vfs_register(&vfs, 0);
}

int into_open(int fd, sqlite3 **ret)
{
	char name[16];
	int r;

	*ret = NULL;
	snprintf(name, sizeof(name), "%d", fd);
	r = make_vfs();
	if (r == SQLITE_OK)
		r = sqlite3_open_v2(name, ret, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI, INTO_VFS);
	return r == SQLITE_OK ? sqlite3_exec(*ret, "PRAGMA page_size = 2048", NULL, NULL, NULL) : r;
}

int into_finish(sqlite3 *sqlite)
{
	return sqlite3_exec(sqlite, "PRAGMA application_id = " STRING(TRACE_FILE_ID), NULL, NULL, NULL);
}
