/* SPDX-License-Identifier: MIT */

/* Names: what leads to inodes, and what changes that. */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ftrac/creds.h"
#include "ftrac/fs.h"
#include "ftrac/inode.h"

static struct creds creds_of(const struct call *c, mode_t mode)
{
	return (struct creds){ .uid = c->ctx->uid, .gid = c->ctx->gid, .umask = c->ctx->umask,
		.mode = mode };
}

static void reply_entry(struct call *c, struct inode *inode, const struct stat *attr)
{
	struct fuse_entry_param entry;

	call_fill_entry(c, inode, attr, &entry);
	if (fuse_reply_entry(c->req, &entry) < 0) /* nobody waits any more */
		inode_forget(c->fs->inodes, inode, 1);
}

void fs_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct call c;
	struct inode *dir, *inode;
	struct stat attr;
	int r;

	call_begin(&c, req, OP_LOOKUP, TRACE_MEET);
	dir = call_inode(&c, parent);
	call_enter_pseudo(&c, dir);
	r = inode_lookup(c.fs->inodes, dir, name, &inode, &attr);
	call_leave_pseudo(&c, dir);
	c.ev.u.op.other = r < 0 ? 0 : inode->id;
	trace_end_name(c.fs->trace, &c.ev, r, name);
	if (r < 0)
		fuse_reply_err(req, -r);
	else
		reply_entry(&c, inode, &attr);
}

void fs_forget(fuse_req_t req, fuse_ino_t ino, uint64_t nlookup)
{
	struct fs *fs = fuse_req_userdata(req);

	inode_forget(fs->inodes, inode_of(fs->inodes, ino), nlookup);
	fuse_reply_none(req);
}

void fs_forget_multi(fuse_req_t req, size_t count, struct fuse_forget_data *forgets)
{
	struct fs *fs = fuse_req_userdata(req);

	for (size_t i = 0; i < count; i++)
		inode_forget(fs->inodes, inode_of(fs->inodes, forgets[i].ino),
			forgets[i].nlookup);
	fuse_reply_none(req);
}

/* After something was made: what it is. */
static void finish_make(struct call *c, struct inode *dir, const char *name, const char *target,
	int result)
{
	struct inode *inode = NULL;
	struct stat attr;

	if (result == 0)
		result = inode_lookup(c->fs->inodes, dir, name, &inode, &attr);
	if (inode)
		c->ev.u.op.other = inode->id;
	if (target)
		trace_end_names(c->fs->trace, &c->ev, result, name, target);
	else
		trace_end_name(c->fs->trace, &c->ev, result, name);
	if (result < 0)
		fuse_reply_err(c->req, -result);
	else
		reply_entry(c, inode, &attr);
}

void fs_mknod(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode, dev_t rdev)
{
	struct call c;
	struct creds creds;
	struct inode *dir;
	int r;

	call_begin(&c, req, OP_MKNOD, TRACE_MEET);
	dir = call_inode(&c, parent);
	c.ev.u.op.mode = mode;
	creds = creds_of(&c, mode);
	creds_enter(&creds);
	r = mknodat(dir->fd, name, mode, rdev) < 0 ? -errno : 0;
	creds_leave(&creds);
	finish_make(&c, dir, name, NULL, r);
}

void fs_mkdir(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode)
{
	struct call c;
	struct creds creds;
	struct inode *dir;
	int r;

	call_begin(&c, req, OP_MKDIR, TRACE_MEET);
	dir = call_inode(&c, parent);
	c.ev.u.op.mode = mode;
	creds = creds_of(&c, mode);
	creds_enter(&creds);
	r = mkdirat(dir->fd, name, mode) < 0 ? -errno : 0;
	creds_leave(&creds);
	finish_make(&c, dir, name, NULL, r);
}

void fs_symlink(fuse_req_t req, const char *target, fuse_ino_t parent, const char *name)
{
	struct call c;
	struct creds creds;
	struct inode *dir;
	int r;

	call_begin(&c, req, OP_SYMLINK, TRACE_MEET);
	dir = call_inode(&c, parent);
	creds = creds_of(&c, 0);
	creds_enter(&creds);
	r = symlinkat(target, dir->fd, name) < 0 ? -errno : 0;
	creds_leave(&creds);
	finish_make(&c, dir, name, target, r);
}

void fs_link(fuse_req_t req, fuse_ino_t ino, fuse_ino_t newparent, const char *newname)
{
	struct call c;
	struct inode *inode, *dir;
	struct stat attr;
	int r;

	call_begin(&c, req, OP_LINK, TRACE_MEET);
	inode = call_inode(&c, ino);
	dir = inode_of(c.fs->inodes, newparent);
	c.ev.u.op.other = dir->id;
	if (fs_is_own(c.fs, inode))
		r = -EBUSY;
	else
		r = linkat(AT_FDCWD, fd_path(inode->fd).text, dir->fd, newname,
			AT_SYMLINK_FOLLOW) < 0 ? -errno : 0;
	if (r == 0)
		r = inode_stat(inode, -1, &attr);
	trace_end_name(c.fs->trace, &c.ev, r, newname);
	if (r < 0) {
		fuse_reply_err(req, -r);
		return;
	}
	inode_again(c.fs->inodes, inode);
	reply_entry(&c, inode, &attr);
}

static void remove_name(fuse_req_t req, enum op op, fuse_ino_t parent, const char *name, int flags)
{
	struct call c;
	struct inode *dir;
	int r;

	call_begin(&c, req, op, TRACE_MEET);
	dir = call_inode(&c, parent);
	if (fs_is_own_name(c.fs, dir, name))
		r = -EBUSY;
	else
		r = unlinkat(dir->fd, name, flags) < 0 ? -errno : 0;
	trace_end_name(c.fs->trace, &c.ev, r, name);
	fuse_reply_err(req, -r);
}

void fs_unlink(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	remove_name(req, OP_UNLINK, parent, name, 0);
}

void fs_rmdir(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	remove_name(req, OP_RMDIR, parent, name, AT_REMOVEDIR);
}

void fs_rename(fuse_req_t req, fuse_ino_t parent, const char *name, fuse_ino_t newparent,
	const char *newname, unsigned int flags)
{
	struct call c;
	struct creds creds;
	struct inode *dir, *newdir;
	int r;

	call_begin(&c, req, OP_RENAME, TRACE_MEET);
	dir = call_inode(&c, parent);
	newdir = inode_of(c.fs->inodes, newparent);
	c.ev.u.op.other = newdir->id;
	c.ev.u.op.flags = flags;
	creds = creds_of(&c, 0); /* RENAME_WHITEOUT creates */
	creds_enter(&creds);
	if (fs_is_own_name(c.fs, dir, name) || fs_is_own_name(c.fs, newdir, newname))
		r = -EBUSY;
	else
		r = renameat2(dir->fd, name, newdir->fd, newname, flags) < 0 ? -errno : 0;
	creds_leave(&creds);
	trace_end_names(c.fs->trace, &c.ev, r, name, newname);
	fuse_reply_err(req, -r);
}

void fs_readlink(fuse_req_t req, fuse_ino_t ino)
{
	struct call c;
	struct inode *inode;
	char target[PATH_MAX + 1];
	ssize_t n;

	call_begin(&c, req, OP_READLINK, TRACE_MEET);
	inode = call_inode(&c, ino);
	call_enter_pseudo(&c, inode);
	n = readlinkat(inode->fd, "", target, sizeof(target) - 1);
	n = n < 0 ? -errno : n;
	call_leave_pseudo(&c, inode);
	if (n >= 0)
		target[n] = '\0';
	trace_end(c.fs->trace, &c.ev, n);
	if (n < 0)
		fuse_reply_err(req, -n);
	else
		fuse_reply_readlink(req, target);
}
