/* SPDX-License-Identifier: MIT */

/*
 * SEEK_DATA and SEEK_HOLE.
 *
 * A store through a mapping turns a hole into data. The source does not know of it before the
 * kernel writes the page back. The daemon cannot have the kernel write it back: the kernel would
 * then wait for requests to this daemon, forever if the daemon is killed meanwhile. Instead,
 * everything that the page cache may hold of a file that a program may store to counts as data.
 * POSIX allows a file system to report any hole as data.
 */

#include <errno.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "ftrac/fs.h"
#include "ftrac/pages.h"

static bool may_be_stored_to(const struct call *c, const struct open_file *file)
{
	cleanup_fd int fd = file->pages ? inode_open_stores(c->fs->inodes, file->inode) : -ENOENT;

	return fd != -ENOENT;
}

/* The result of the source, found or -errno, or an earlier offset that the kernel may hold. */
static off_t seek_data(const struct open_file *file, off_t off, off_t found)
{
	off_t size = lseek(file->fd, 0, SEEK_END), held = pages_next_held(file->pages, off);

	if (held < 0 || held >= size || (found < 0 && found != -ENXIO))
		return found;
	return found < 0 || held < found ? held : found;
}

static off_t seek_hole(const struct open_file *file, off_t found)
{
	off_t size = lseek(file->fd, 0, SEEK_END), next;

	while (found >= 0 && found < size && (next = pages_next_free(file->pages, found)) > found)
		found = next < size ? RESULT(lseek(file->fd, next, SEEK_HOLE)) : size;
	return found;
}

static off_t seek(const struct call *c, const struct open_file *file, off_t off, int whence)
{
	off_t found = RESULT(lseek(file->fd, off, whence));

	if (off < 0 || !may_be_stored_to(c, file))
		return found;
	return whence == SEEK_DATA ? seek_data(file, off, found) : seek_hole(file, found);
}

void fs_lseek(fuse_req_t req, fuse_ino_t ino, off_t off, int whence, struct fuse_file_info *fi)
{
	struct call c;
	struct open_file *file;
	off_t found;

	call_begin(&c, req, OP_LSEEK, TRACE_DISCOVER);
	call_inode(&c, ino);
	file = call_file(&c, fi);
	found = seek(&c, file, off, whence);
	call_end_part(&c, file, found);
	if (found < 0)
		fuse_reply_err(req, -found);
	else
		fuse_reply_lseek(req, found);
}
