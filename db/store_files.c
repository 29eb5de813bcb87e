/* SPDX-License-Identifier: MIT */

/* The files of the database: how they are created, and how SQLite opens them. */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd_path.h"
#include "base/place.h"
#include "db/store_internal.h"

#define RESERVE_SUFFIX "-reserve"
#define FORMER_SUFFIX ".former" /* before that of the file: SQLite reads them as a trace of their own */
#define RESERVE_BYTES (256 << 10)

/* ---- how SQLite gets at the files ---- */

static sqlite3_vfs *the_unix;

/*
 * SQLite would make the path absolute, resolve its symbolic links, and open its log by that later.  The store's path leads
 * through a descriptor in /proc/self/fd and must not change: after a mount over the directory, ftrac would otherwise become
 * its own client.
 */
static int full_pathname(sqlite3_vfs *vfs, const char *name, int out_len, char *out)
{
	(void)vfs;
	snprintf(out, out_len, "%s", name);
	return SQLITE_OK;
}

/* Whether only this user can have made the file.  SQLite would read a log that another user put beside the database as a
 * part of it. */
static bool is_own(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() && st.st_nlink == 1;
}

/* A name beside the database for SQLite's temporary file, which is unlinked at once.  In other directories ftrac's own
 * mount might be in the way. */
static const char *temporary_name(struct store *store)
{
	uint64_t number;

	sqlite3_randomness(sizeof(number), &number);
	snprintf(store->temporary, sizeof(store->temporary), "%s-%016llx", store->path, (unsigned long long)number);
	return store->temporary;
}

static int open_file(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *ret_flags)
{
	if (!name)
		name = temporary_name((struct store *)vfs);
	if (flags & SQLITE_OPEN_WAL) {
		cleanup_fd int fd = place_create(AT_FDCWD, name, 0600);

		if (fd < 0 && (fd != -EEXIST || !is_own(name)))
			return SQLITE_CANTOPEN;
	}
	return the_unix->xOpen(vfs, name, file, flags, ret_flags);
}

/* ftrac has no rollback journal, so SQLite must not apply one that it finds. */
static int access_file(sqlite3_vfs *vfs, const char *name, int flags, int *ret_is)
{
	const char *end = trace_file_suffix[TRACE_FILE_JOURNAL];
	size_t len = strlen(name), n = strlen(end);

	*ret_is = 0;
	if (len >= n && strcmp(name + len - n, end) == 0)
		return SQLITE_OK;
	return the_unix->xAccess(vfs, name, flags, ret_is);
}

/* Each store has its own VFS, from which open_file() finds the store. */
int store_make_vfs(struct store *store)
{
	the_unix = sqlite3_vfs_find("unix");
	if (!the_unix) /* SQLite had no memory to start */
		return SQLITE_NOMEM;
	snprintf(store->vfs_name, sizeof(store->vfs_name), "ftrac-%p", (void *)store);
	store->vfs = *the_unix;
	store->vfs.zName = store->vfs_name;
	store->vfs.pNext = NULL;
	store->vfs.xFullPathname = full_pathname;
	store->vfs.xOpen = open_file;
	store->vfs.xAccess = access_file;
	return sqlite3_vfs_register(&store->vfs, 0);
}

/* ---- where it lies ---- */

/* File systems on which processes of several machines cannot share the memory of the WAL. */
static int check_file_system(int dir)
{
	static const uint32_t remote[] = { NFS_SUPER_MAGIC, SMB_SUPER_MAGIC, 0xfe534d42 /* SMB2 */,
		0xff534d42 /* CIFS */, V9FS_MAGIC, CEPH_SUPER_MAGIC, AFS_SUPER_MAGIC, CODA_SUPER_MAGIC,
		0x0bd00bd0 /* Lustre */, 0x47504653 /* GPFS */, 0x19830326 /* BeeGFS */,
		FUSE_SUPER_MAGIC };
	struct statfs st;

	if (fstatfs(dir, &st) < 0)
		return -errno;
	for (size_t i = 0; i < sizeof(remote) / sizeof(remote[0]); i++)
		if ((uint32_t)st.f_type == remote[i])
			return -EREMOTE;
	return 0;
}

struct store_file_name store_file_name(const struct store *store, enum trace_file file)
{
	struct store_file_name name;

	snprintf(name.text, sizeof(name.text), "%s%s", store->name, trace_file_suffix[file]);
	return name;
}

void store_unlink_files(struct store *store)
{
	for (int i = 0; i < TRACE_FILE_USED; i++)
		unlinkat(store->dir, store_file_name(store, i).text, 0);
}

/* ---- the trace that is replaced ---- */

static struct store_file_name former_name(const struct store *store, enum trace_file file)
{
	struct store_file_name name;

	snprintf(name.text, sizeof(name.text), "%s" FORMER_SUFFIX "%s", store->name, trace_file_suffix[file]);
	return name;
}

static int set_aside(struct store *store)
{
	int r = 0;

	for (int i = 0; i < TRACE_FILE_USED && r == 0; i++)
		r = place_clear(store->dir, former_name(store, i).text);
	for (int i = 0; i < TRACE_FILE_USED && r == 0; i++)
		if (renameat(store->dir, store_file_name(store, i).text, store->dir, former_name(store, i).text) < 0 &&
			errno != ENOENT)
			r = -errno;
	store->has_former = true;
	return r;
}

void store_restore_former(struct store *store)
{
	for (int i = 0; i < TRACE_FILE_USED && store->has_former; i++)
		renameat(store->dir, former_name(store, i).text, store->dir, store_file_name(store, i).text);
	store->has_former = false;
}

void store_keep(struct store *store)
{
	for (int i = 0; i < TRACE_FILE_USED && store->has_former; i++)
		unlinkat(store->dir, former_name(store, i).text, 0);
	store->has_former = false;
}

/* ---- the place of the new one ---- */

static int clear_trace(struct store *store, bool force)
{
	cleanup_fd int fd = openat(store->dir, store->name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	struct stat st;

	if (fd < 0)
		return errno == ENOENT ? 0 : errno == ELOOP ? -EINVAL : -errno;
	if (fstat(fd, &st) < 0 || place_is_foreign(store->dir, &st))
		return -EPERM;
	if (!S_ISREG(st.st_mode) || !trace_file_is(fd))
		return -EINVAL;
	if (!force)
		return -EEXIST;
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		return -EBUSY;
	return set_aside(store);
}

/* Removes old files that SQLite would take for parts of the new database. */
static int clear_beside(struct store *store)
{
	char reserve[sizeof(store->name) + 16];
	int r = 0;

	for (int i = TRACE_FILE_LOG; i < TRACE_FILE_MAX && r == 0; i++)
		r = place_clear(store->dir, store_file_name(store, i).text);
	snprintf(reserve, sizeof(reserve), "%s" RESERVE_SUFFIX, store->name);
	return r < 0 ? r : place_clear(store->dir, reserve);
}

/* Creates the files exclusively, so a file that another user puts there in between is neither followed nor written.  The
 * log is created in the same way when SQLite opens it. */
static int make_files(struct store *store)
{
	int index, r;

	store->lock = place_create(store->dir, store->name, 0600);
	if (store->lock < 0)
		return store->lock == -EEXIST ? -EINVAL : store->lock;
	r = flock(store->lock, LOCK_EX | LOCK_NB) < 0 ? -errno : 0;
	index = r == 0 ? place_create(store->dir, store_file_name(store, TRACE_FILE_INDEX).text, 0600) : r;
	if (index < 0) {
		unlinkat(store->dir, store->name, 0);
		return index == -EEXIST ? -EPERM : index;
	}
	close(index);
	return 0;
}

int store_open_place(struct store *store, const char *path, bool force)
{
	cleanup_free char *name = NULL;
	int r;

	store->dir = place_open(path, false, &name);
	if (store->dir < 0)
		return store->dir;
	if (strlen(name) + sizeof(FORMER_SUFFIX RESERVE_SUFFIX) > NAME_MAX)
		return -ENAMETOOLONG;
	snprintf(store->name, sizeof(store->name), "%s", name);
	snprintf(store->path, sizeof(store->path), "%s/%s", fd_path(store->dir).text, store->name);
	r = check_file_system(store->dir);
	if (r == 0)
		r = clear_trace(store, force);
	if (r == 0)
		r = clear_beside(store);
	if (r == 0)
		r = make_files(store);
	if (r < 0)
		store_restore_former(store);
	return r;
}

void store_take_reserve(struct store *store)
{
	char name[sizeof(store->name) + 16];

	snprintf(name, sizeof(name), "%s" RESERVE_SUFFIX, store->name);
	store->reserve = place_create(store->dir, name, 0600);
	if (store->reserve < 0)
		return;
	unlinkat(store->dir, name, 0);
	if (posix_fallocate(store->reserve, 0, RESERVE_BYTES) != 0)
		store_release_reserve(store);
}

void store_release_reserve(struct store *store)
{
	if (store->reserve >= 0)
		close(store->reserve);
	store->reserve = -1;
}
