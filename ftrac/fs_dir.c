/* SPDX-License-Identifier: MIT */

/* Open directories. */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ftrac/fs.h"
#include "ftrac/shares.h"

/* Several threads may read a directory through one descriptor. */
struct open_dir {
	pthread_mutex_t lock;
	DIR *stream;
	off_t at;	      /* current offset of the stream */
	struct dirent *ahead; /* an entry that was read but did not fit */
};

static struct open_file *make_dir(int fd)
{
	struct open_file *file = calloc(1, sizeof(*file));
	struct open_dir *dir = calloc(1, sizeof(*dir));

	if (file && dir)
		dir->stream = fdopendir(fd);
	if (!file || !dir || !dir->stream) {
		free(file);
		free(dir);
		return NULL;
	}
	pthread_mutex_init(&dir->lock, NULL);
	file->fd = fd;
	file->dir = dir;
	return file;
}

/* Opens a directory; the descriptor counts for the requester's share. 0 or -errno. */
static int open_dir(const struct call *c, struct inode *inode, struct open_file **ret_file)
{
	int fd = fs_reopen(c, inode, O_RDONLY | O_DIRECTORY), r = -ENOMEM;

	if (fd < 0)
		return fd;
	if (!shares_take(c->fs->shares, SHARE_FILES, c->ctx->uid)) {
		r = -EMFILE;
	} else if ((*ret_file = make_dir(fd))) {
		(*ret_file)->inode = inode;
		(*ret_file)->user = c->ctx->uid;
		return 0;
	} else {
		shares_give(c->fs->shares, SHARE_FILES, c->ctx->uid);
	}
	close(fd);
	return r;
}

static void close_dir(struct fs *fs, struct open_file *file)
{
	shares_give(fs->shares, SHARE_FILES, file->user);
	fs_unwatch(fs, file);
	closedir(file->dir->stream);
	free(file->dir);
	free(file);
}

void fs_opendir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct call c;
	struct inode *inode;
	struct open_file *file;
	int r;

	call_begin(&c, req, OP_OPENDIR, TRACE_CHECK);
	inode = call_inode(&c, ino);
	c.ev.u.op.flags = fi->flags;
	r = open_dir(&c, inode, &file);
	if (r < 0) {
		call_reply(&c, r);
		return;
	}
	file->id = atomic_fetch_add(&c.fs->last_handle, 1) + 1;
	fi->fh = (uintptr_t)file;
	c.ev.u.op.handle = file->id;
	call_watch(&c, file);
	c.ev.fidelity = c.fs->fidelity == FIDELITY_CALL && !file->by_call ? FIDELITY_OPEN : c.fs->fidelity;
	trace_end(c.fs->trace, &c.ev, 0);
	if (fuse_reply_open(req, fi) < 0)
		close_dir(c.fs, file);
}

static struct dirent *next_entry(struct open_dir *dir)
{
	struct dirent *d = dir->ahead;

	dir->ahead = NULL;
	return d ? d : readdir(dir->stream);
}

/* Fills in as many entries as fit. Returns their number, or -errno if there is none. */
static int fill(struct call *c, struct open_file *file, char *buf, size_t size, size_t *ret_used)
{
	struct open_dir *dir = file->dir;
	size_t used = 0;
	int n = 0;

	for (;;) {
		struct stat st = { 0 };
		struct dirent *d;
		size_t len;

		errno = 0;
		d = next_entry(dir);
		if (!d) {
			*ret_used = used;
			return errno && n == 0 ? -errno : n;
		}
		st.st_ino = inode_number(c->fs->inodes, file->inode->device, d->d_ino);
		st.st_mode = DTTOIF(d->d_type);
		len = fuse_add_direntry(c->req, buf + used, size - used, d->d_name, &st, d->d_off);
		if (len > size - used) {
			dir->ahead = d;
			*ret_used = used;
			return n;
		}
		used += len;
		dir->at = d->d_off;
		n++;
	}
}

void fs_readdir(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off, struct fuse_file_info *fi)
{
	struct call c;
	struct open_file *file;
	struct open_dir *dir;
	char *buf = malloc(size);
	size_t used = 0;
	int r = -ENOMEM;

	call_begin(&c, req, OP_READDIR, TRACE_DISCOVER);
	call_inode(&c, ino);
	file = call_file(&c, fi);
	dir = file->dir;
	if (buf) {
		pthread_mutex_lock(&dir->lock);
		if (off != dir->at) {
			seekdir(dir->stream, off);
			dir->at = off;
			dir->ahead = NULL;
		}
		r = AS_REQUESTER(&c, ON(file->fd), fill(&c, file, buf, size, &used));
		pthread_mutex_unlock(&dir->lock);
	}
	trace_end(c.fs->trace, &c.ev, r);
	if (r < 0)
		fuse_reply_err(req, -r);
	else
		fuse_reply_buf(req, buf, used);
	free(buf);
}

void fs_releasedir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct call c;

	call_begin(&c, req, OP_RELEASEDIR, TRACE_BLIND);
	call_inode(&c, ino);
	close_dir(c.fs, call_file(&c, fi));
	call_reply(&c, 0);
}
