/* SPDX-License-Identifier: MIT */
#include "db/into.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/trace_file.h"

#define INTO_VFS "ftrac-into"
#define STRING(x) STRING_OF(x)
#define STRING_OF(x) #x

/* ---- the file ---- */

struct into_file {
	sqlite3_file file;
	int fd;
};

static int fd_of(sqlite3_file *file)
{
	return ((struct into_file *)file)->fd;
}

/* The descriptor belongs to the caller. */
static int file_close(sqlite3_file *file)
{
	(void)file;
	return SQLITE_OK;
}

static int file_read(sqlite3_file *file, void *buf, int size, sqlite3_int64 offset)
{
	size_t done = 0, all = size;

	while (done < all) {
		ssize_t n = pread(fd_of(file), (char *)buf + done, all - done, offset + done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return SQLITE_IOERR_READ;
		if (n == 0)
			break;
		done += n;
	}
	memset((char *)buf + done, 0, all - done);
	return done < all ? SQLITE_IOERR_SHORT_READ : SQLITE_OK;
}

static int file_write(sqlite3_file *file, const void *buf, int size, sqlite3_int64 offset)
{
	size_t done = 0, all = size;

	while (done < all) {
		ssize_t n = pwrite(fd_of(file), (const char *)buf + done, all - done, offset + done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == ENOSPC || errno == EDQUOT ? SQLITE_FULL : SQLITE_IOERR_WRITE;
		done += n;
	}
	return SQLITE_OK;
}

static int file_truncate(sqlite3_file *file, sqlite3_int64 size)
{
	return ftruncate(fd_of(file), size) < 0 ? SQLITE_IOERR_TRUNCATE : SQLITE_OK;
}

static int file_size(sqlite3_file *file, sqlite3_int64 *ret_size)
{
	struct stat st;

	if (fstat(fd_of(file), &st) < 0)
		return SQLITE_IOERR_FSTAT;
	*ret_size = st.st_size;
	return SQLITE_OK;
}

/* Of syncs and locks. */
static int file_nothing(sqlite3_file *file, int how)
{
	(void)file, (void)how;
	return SQLITE_OK;
}

static int file_is_reserved(sqlite3_file *file, int *ret_is)
{
	(void)file;
	*ret_is = 0;
	return SQLITE_OK;
}

static int file_control(sqlite3_file *file, int what, void *arg)
{
	(void)file, (void)what, (void)arg;
	return SQLITE_NOTFOUND;
}

static int file_sector_size(sqlite3_file *file)
{
	(void)file;
	return 4096;
}

static int file_characteristics(sqlite3_file *file)
{
	(void)file;
	return 0;
}

static const sqlite3_io_methods methods = { .iVersion = 1, .xClose = file_close, .xRead = file_read, .xWrite = file_write,
	.xTruncate = file_truncate, .xSync = file_nothing, .xFileSize = file_size, .xLock = file_nothing, .xUnlock = file_nothing,
	.xCheckReservedLock = file_is_reserved, .xFileControl = file_control, .xSectorSize = file_sector_size,
	.xDeviceCharacteristics = file_characteristics };

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
	*(struct into_file *)file = (struct into_file){ { &methods }, atoi(name) };
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

/* A log or a journal: there is none. */
static int vfs_access(sqlite3_vfs *vfs, const char *path, int how, int *ret_is)
{
	(void)vfs, (void)path, (void)how;
	*ret_is = 0;
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
	vfs.xAccess = vfs_access;
	if ((size_t)vfs.szOsFile < sizeof(struct into_file))
		vfs.szOsFile = sizeof(struct into_file);
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
