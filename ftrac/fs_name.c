/* SPDX-License-Identifier: MIT */

/* Names: lookups, and operations that change names. */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ftrac/fs.h"

static void reply_entry(struct call *c, struct inode *inode, const struct stat *attr)
{
	struct fuse_entry_param entry;

	call_fill_entry(c, inode, attr, &entry);
	if (fuse_reply_entry(c->req, &entry) < 0) /* the requester was interrupted */
		inode_forget(c->fs->inodes, inode, 1);
}

void fs_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct call c;
	struct inode *inode;
	struct stat attr;
	int r;

	call_begin(&c, req, OP_LOOKUP, TRACE_DISCOVER);
	cleanup_held struct held dir = call_hold(&c, call_inode(&c, parent));
	r = dir.fd < 0 ? dir.fd : AS_REQUESTER(&c, ON(dir.fd),
		inode_lookup(c.fs->inodes, dir.inode, name, &inode, &attr));
	c.ev.u.op.other = r < 0 ? 0 : inode->id;
	trace_end_name(c.fs->trace, &c.ev, r, name);
	if (r < 0)
		fuse_reply_err(req, -r);
	else
		reply_entry(&c, inode, &attr);
}

/*
 * FORGET requests always come by the device; with rings one thread reads the device. It sleeps, so
 * that it handles many at once instead of waking for each.
 */
static void batch_forgets(const struct fs *fs)
{
	if (fs->uring)
		usleep(2000);
}

void fs_forget(fuse_req_t req, fuse_ino_t ino, uint64_t nlookup)
{
	struct fs *fs = fuse_req_userdata(req);

	inode_forget(fs->inodes, inode_of(fs->inodes, ino), nlookup);
	fuse_reply_none(req);
	batch_forgets(fs);
}

void fs_forget_multi(fuse_req_t req, size_t count, struct fuse_forget_data *forgets)
{
	struct fs *fs = fuse_req_userdata(req);

	for (size_t i = 0; i < count; i++)
		inode_forget(fs->inodes, inode_of(fs->inodes, forgets[i].ino),
			forgets[i].nlookup);
	fuse_reply_none(req);
	batch_forgets(fs);
}

/* After an object of that type was made: looks it up and replies. If the lookup fails, removes it. */
static void finish_make(struct call *c, const struct held *dir, const char *name, const char *target,
	mode_t type, int result)
{
	struct inode *inode = NULL;
	struct stat attr;

	if (result == 0) {
		result = inode_lookup(c->fs->inodes, dir->inode, name, &inode, &attr);
		if (result < 0)
			unlinkat(dir->fd, name, type == S_IFDIR ? AT_REMOVEDIR : 0);
	}
	if (inode && inode->type != type) { /* another program has replaced it meanwhile */
		inode_forget(c->fs->inodes, inode, 1);
		inode = NULL;
		result = -EEXIST;
	}
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

/*
 * The result of call, which makes a name in dir. The new object belongs to the requester; its mode
 * follows the requester's umask or the default ACL of the directory.
 */
#define make(c, dir, call)                                                                    \
	({                                                                                    \
		creds_umask((c)->ctx->umask);                                                 \
		WITH_SPACE((c), AS_REQUESTER((c), ON((dir)->fd), WITH(*(dir), (call))));      \
	})

void fs_mknod(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode, dev_t rdev)
{
	struct call c;
	int r;

	call_begin(&c, req, OP_MKNOD, TRACE_DISCOVER);
	cleanup_held struct held dir = call_hold(&c, call_inode(&c, parent));
	c.ev.u.op.mode = mode;
	r = make(&c, &dir, mknodat(dir.fd, name, mode, rdev));
	finish_make(&c, &dir, name, NULL, mode & S_IFMT ? mode & S_IFMT : S_IFREG, r);
}

void fs_mkdir(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode)
{
	struct call c;
	int r;

	call_begin(&c, req, OP_MKDIR, TRACE_DISCOVER);
	cleanup_held struct held dir = call_hold(&c, call_inode(&c, parent));
	c.ev.u.op.mode = mode;
	r = make(&c, &dir, mkdirat(dir.fd, name, mode));
	finish_make(&c, &dir, name, NULL, S_IFDIR, r);
}

void fs_symlink(fuse_req_t req, const char *target, fuse_ino_t parent, const char *name)
{
	struct call c;
	int r;

	call_begin(&c, req, OP_SYMLINK, TRACE_DISCOVER);
	cleanup_held struct held dir = call_hold(&c, call_inode(&c, parent));
	r = make(&c, &dir, symlinkat(target, dir.fd, name));
	finish_make(&c, &dir, name, target, S_IFLNK, r);
}

static int link_to(const struct held *inode, const struct held *dir, const char *name)
{
	if (inode->fd < 0)
		return inode->fd;
	return WITH(*dir, linkat(AT_FDCWD, fd_path(inode->fd).text, dir->fd, name,
				  AT_SYMLINK_FOLLOW));
}

void fs_link(fuse_req_t req, fuse_ino_t ino, fuse_ino_t newparent, const char *newname)
{
	struct call c;
	struct stat attr;
	int r;

	call_begin(&c, req, OP_LINK, TRACE_DISCOVER);
	cleanup_held struct held inode = call_hold(&c, call_inode(&c, ino));
	cleanup_held struct held dir = call_hold(&c, inode_of(c.fs->inodes, newparent));
	c.ev.u.op.other = dir.inode->id;
	r = fs_is_own(c.fs, inode.inode) ? -EBUSY
		: AS_REQUESTER(&c, ON_BOTH(inode.fd, dir.fd), link_to(&inode, &dir, newname));
	if (r == 0)
		r = inode_stat_anew(c.fs->inodes, inode.inode, &attr); /* one more link than before */
	trace_end_name(c.fs->trace, &c.ev, r, newname);
	if (r < 0) {
		fuse_reply_err(req, -r);
		return;
	}
	inode_add_lookup(c.fs->inodes, inode.inode);
	reply_entry(&c, inode.inode, &attr);
}

/* Handles the inode that a removed or replaced name led to, and replies. */
static void name_is_gone(struct call *c, int result, struct inode *child, struct inode *dir,
	const char *name)
{
	if (result == 0)
		inode_freed(c->fs->inodes);
	if (!child)
		return;
	if (result < 0)
		inode_release(c->fs->inodes, child);
	else
		inode_name_removed(c->fs->inodes, child, dir, name);
}

static void name_is_now(struct call *c, int result, struct inode *child, struct inode *dir,
	const char *name)
{
	if (!child)
		return;
	if (result < 0)
		inode_release(c->fs->inodes, child);
	else
		inode_name_changed(c->fs->inodes, child, dir, name);
}

static void remove_name(fuse_req_t req, enum op op, fuse_ino_t parent, const char *name, int flags)
{
	struct call c;
	struct inode *child = NULL;
	int r = -EBUSY;

	call_begin(&c, req, op, TRACE_DISCOVER);
	cleanup_held struct held dir = call_hold(&c, call_inode(&c, parent));
	if (!fs_is_own_name(c.fs, dir.inode, name)) {
		call_become(&c, &ON_NAMES(dir.fd, -1));
		child = inode_hold_removed(c.fs->inodes, dir.inode, name);
		/* Removes what the name leads to now; that may be another file than the kernel has
		 * checked. */
		r = AS_REQUESTER(&c, ON_NAMES(dir.fd, -1), WITH(dir, unlinkat(dir.fd, name, flags)));
		name_is_gone(&c, r, child, dir.inode, name);
	}
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

static int move(struct call *c, const struct held *dir, const char *name, const struct held *newdir,
	const char *newname, unsigned flags)
{
	struct inode *child, *over;
	int r;

	if (fs_is_own_name(c->fs, dir->inode, name) ||
		fs_is_own_name(c->fs, newdir->inode, newname))
		return -EBUSY;
	if (dir->fd < 0)
		return dir->fd;
	call_become(c, &ON_NAMES(dir->fd, newdir->fd));
	child = inode_hold_child(c->fs->inodes, dir->inode, name);
	over = inode_hold_removed(c->fs->inodes, newdir->inode, newname);
	creds_umask(c->ctx->umask); /* RENAME_WHITEOUT creates */
	r = AS_REQUESTER(c, ON_NAMES(dir->fd, newdir->fd),
		WITH(*newdir, renameat2(dir->fd, name, newdir->fd, newname, flags)));
	if (flags & RENAME_EXCHANGE)
		name_is_now(c, r, over, dir->inode, name);
	else
		name_is_gone(c, r, over, newdir->inode, newname);
	name_is_now(c, r, child, newdir->inode, newname);
	return r;
}

void fs_rename(fuse_req_t req, fuse_ino_t parent, const char *name, fuse_ino_t newparent,
	const char *newname, unsigned int flags)
{
	struct call c;
	int r;

	call_begin(&c, req, OP_RENAME, TRACE_DISCOVER);
	cleanup_held struct held dir = call_hold(&c, call_inode(&c, parent));
	cleanup_held struct held newdir = call_hold(&c, inode_of(c.fs->inodes, newparent));
	c.ev.u.op.other = newdir.inode->id;
	c.ev.u.op.flags = flags;
	r = move(&c, &dir, name, &newdir, newname, flags);
	trace_end_names(c.fs->trace, &c.ev, r, name, newname);
	fuse_reply_err(req, -r);
}

/*
 * In /proc, "self" and "thread-self" lead to the daemon; this replaces them by the requester.
 * target is changed in place. Returns its new length, or -errno.
 */
static ssize_t point_to_requester(const struct call *c, char *target, size_t size, ssize_t n)
{
	pid_t tgid;
	char own[16];
	int len = snprintf(own, sizeof(own), "%d", getpid());

	if (strncmp(target, own, len) != 0)
		return n;
	if (target[len] != '\0' && strncmp(target + len, "/task/", 6) != 0)
		return n;
	tgid = monitor_process_of(c->ctx->pid);
	if (tgid <= 0)
		return -ENOENT; /* as for a process of another pid namespace */
	return target[len] ? snprintf(target, size, "%d/task/%d", tgid, c->ctx->pid)
			   : snprintf(target, size, "%d", tgid);
}

void fs_readlink(fuse_req_t req, fuse_ino_t ino)
{
	struct call c;
	char target[PATH_MAX + 1];
	ssize_t n;

	call_begin(&c, req, OP_READLINK, TRACE_DISCOVER);
	cleanup_held struct held inode = call_hold(&c, call_inode(&c, ino));
	n = call_is_hidden(&c, inode.inode) ? -EACCES
		: AS_REQUESTER(&c, ON(inode.fd),
			WITH(inode, readlinkat(inode.fd, "", target, sizeof(target) - 1)));
	if (n >= 0)
		target[n] = '\0';
	if (n >= 0 && inode.inode->mount->proc)
		n = point_to_requester(&c, target, sizeof(target), n);
	trace_end(c.fs->trace, &c.ev, n);
	if (n < 0)
		fuse_reply_err(req, -n);
	else
		fuse_reply_readlink(req, target);
}
