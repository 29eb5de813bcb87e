/* SPDX-License-Identifier: MIT */

/* Where a file has data, and where holes. */

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ftrac/fs.h"

/* Whether the kernel passes the file's data through now: stores through mappings are in the source then. */
static bool is_passed_through(const struct call *c, struct inode *inode)
{
	const struct opened *opened = inode_opens_lock(c->fs->inodes, inode);
	bool passed = opened && opened->backing_id;

	if (opened)
		inode_opens_unlock(c->fs->inodes, inode);
	return passed;
}

/*
 * Whether the source has all data.  What was stored through a mapping is no hole, and may not have been written
 * back yet.  To have the kernel write it back would be to wait for pages that wait for us.
 */
static bool has_all_stores(const struct call *c, struct inode *inode)
{
	return is_passed_through(c, inode) || !inode_has_writer(c->fs->inodes, inode);
}

/* A file system may always say that a file has no holes. */
static off_t seek_in_data(int fd, off_t off, int whence)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (off < 0 || off >= st.st_size)
		return -ENXIO;
	return whence == SEEK_HOLE ? st.st_size : off;
}

static off_t seek(const struct call *c, struct inode *inode, struct open_file *file, off_t off,
	int whence)
{
	if (whence != SEEK_HOLE)
		atomic_store(&file->all_data, false);
	if (atomic_load(&file->all_data) || !has_all_stores(c, inode)) {
		atomic_store(&file->all_data, true);
		return seek_in_data(file->fd, off, whence);
	}
	return RESULT(lseek(file->fd, off, whence));
}

void fs_lseek(fuse_req_t req, fuse_ino_t ino, off_t off, int whence, struct fuse_file_info *fi)
{
	struct call c;
	off_t found;

	call_begin(&c, req, OP_LSEEK, TRACE_MEET);
	found = seek(&c, call_inode(&c, ino), call_file(&c, fi), off, whence);
	trace_end(c.fs->trace, &c.ev, found);
	if (found < 0)
		fuse_reply_err(req, -found);
	else
		fuse_reply_lseek(req, found);
}
