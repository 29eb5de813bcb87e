/* SPDX-License-Identifier: MIT */
#include "db/vfs_file.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int fd_of(sqlite3_file *file)
{
	return ((struct vfs_file *)file)->fd;
}

/* The descriptor belongs to the caller. */
static int file_close(sqlite3_file *file)
{
	(void)file;
	return SQLITE_OK;
}

int vfs_file_read(sqlite3_file *file, void *buf, int size, sqlite3_int64 offset)
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

const sqlite3_io_methods vfs_file_methods = { .iVersion = 1, .xClose = file_close, .xRead = vfs_file_read, .xWrite = file_write,
	.xTruncate = file_truncate, .xSync = file_nothing, .xFileSize = file_size, .xLock = file_nothing, .xUnlock = file_nothing,
	.xCheckReservedLock = file_is_reserved, .xFileControl = file_control, .xSectorSize = file_sector_size,
	.xDeviceCharacteristics = file_characteristics };

int vfs_file_access(sqlite3_vfs *vfs, const char *path, int how, int *ret_is)
{
	(void)vfs, (void)path, (void)how;
	*ret_is = 0;
	return SQLITE_OK;
}
