/* SPDX-License-Identifier: MIT */

/* Attributes: of files, extended ones, of file systems. */

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "ftrac/creds.h"
#include "ftrac/fs.h"

void fs_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct call c;
	struct inode *inode;
	struct open_file *file;
	struct stat attr;
	int r;

	call_begin(&c, req, OP_GETATTR, TRACE_MEET);
	inode = call_inode(&c, ino);
	file = call_file(&c, fi);
	r = inode_stat(c.fs->inodes, inode, file ? file->fd : -1, &attr);
	trace_end(c.fs->trace, &c.ev, r);
	if (r < 0)
		fuse_reply_err(req, -r);
	else
		fuse_reply_attr(req, &attr, call_attr_timeout(&c, inode));
}

#if FUSE_VERSION >= FUSE_MAKE_VERSION(3, 18)
static int stat_more(const struct call *c, struct inode *inode, const struct open_file *file,
	int flags, int mask, struct statx *ret_sx)
{
	flags = (flags & AT_STATX_SYNC_TYPE) | AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW;
	mask |= STATX_BASIC_STATS;
	if (file)
		return RESULT(statx(file->fd, "", flags, mask, ret_sx));
	cleanup_held struct held held = call_hold(c, inode);
	return WITH(held, statx(held.fd, "", flags, mask, ret_sx));
}

/* Asked for only when somebody wants what stat(2) does not have: the time of birth. */
void fs_statx(fuse_req_t req, fuse_ino_t ino, int flags, int mask, struct fuse_file_info *fi)
{
	struct call c;
	struct inode *inode;
	struct statx sx = { 0 };
	int r;

	call_begin(&c, req, OP_GETATTR, TRACE_MEET);
	inode = call_inode(&c, ino);
	r = stat_more(&c, inode, call_file(&c, fi), flags, mask, &sx);
	sx.stx_ino = inode_number(c.fs->inodes, inode->device, sx.stx_ino);
	inode_show_owner(c.fs->inodes, sx.stx_mode, &sx.stx_uid, &sx.stx_gid);
	trace_end(c.fs->trace, &c.ev, r);
	if (r < 0)
		fuse_reply_err(req, -r);
	else
		fuse_reply_statx(req, 0, &sx, call_attr_timeout(&c, inode));
}
#endif

#define OWNER (FUSE_SET_ATTR_UID | FUSE_SET_ATTR_GID)
#define CONTENT FUSE_SET_ATTR_SIZE
#define TIMES (FUSE_SET_ATTR_ATIME | FUSE_SET_ATTR_MTIME)
#define EVERYTHING (FUSE_SET_ATTR_MODE | OWNER | CONTENT | TIMES)

/* One request may change several things; it is called by the one that changes most. */
static enum op setattr_op(int to_set)
{
	if (to_set & CONTENT)
		return OP_TRUNCATE;
	if ((to_set & FUSE_SET_ATTR_MODE) && !(to_set & OWNER))
		return OP_CHMOD;
	return (to_set & TIMES) && !(to_set & OWNER) ? OP_UTIMENS : OP_CHOWN;
}

static int set_mode(int fd, mode_t mode)
{
	int r;

	creds_raise_fsetid(mode);
	r = RESULT(chmod(fd_path(fd).text, mode));
	creds_drop_fsetid(mode);
	return r;
}

static int set_owner(int fd, const struct stat *attr, int to_set)
{
	uid_t uid = to_set & FUSE_SET_ATTR_UID ? attr->st_uid : (uid_t)-1;
	gid_t gid = to_set & FUSE_SET_ATTR_GID ? attr->st_gid : (gid_t)-1;

	return RESULT(fchownat(fd, "", uid, gid, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW));
}

/* Through the open file if there is one: it may be written where its mode would not let us. */
static int set_size(int fd, const struct open_file *file, off_t size)
{
	if (file)
		return RESULT(ftruncate(file->fd, size));
	return RESULT(truncate(fd_path(fd).text, size));
}

static struct timespec time_to_set(int to_set, int set, int now, struct timespec time)
{
	if (to_set & now)
		time.tv_nsec = UTIME_NOW;
	else if (!(to_set & set))
		time.tv_nsec = UTIME_OMIT;
	return time;
}

static int set_times(int fd, const struct stat *attr, int to_set)
{
	const struct timespec times[2] = {
		time_to_set(to_set, FUSE_SET_ATTR_ATIME, FUSE_SET_ATTR_ATIME_NOW, attr->st_atim),
		time_to_set(to_set, FUSE_SET_ATTR_MTIME, FUSE_SET_ATTR_MTIME_NOW, attr->st_mtim),
	};

	return RESULT(utimensat(AT_FDCWD, fd_path(fd).text, times, 0));
}

static int set_all(const struct held *held, const struct open_file *file, const struct stat *attr,
	int to_set)
{
	int r = held->fd < 0 ? held->fd : 0;

	if (r == 0 && (to_set & FUSE_SET_ATTR_MODE))
		r = set_mode(held->fd, attr->st_mode);
	if (r == 0 && ((to_set & OWNER) || !(to_set & EVERYTHING)))
		r = set_owner(held->fd, attr, to_set);
	if (r == 0 && (to_set & FUSE_SET_ATTR_SIZE))
		r = set_size(held->fd, file, attr->st_size);
	if (r == 0 && (to_set & TIMES))
		r = set_times(held->fd, attr, to_set);
	return r;
}

/*
 * A request that changes nothing is a chown(2) to nobody, or comes before a write that is to take
 * suid, sgid or capabilities away, which the write itself will do.  The former changes the ctime and
 * takes suid and sgid away as any chown(2), which is for the owner to do; that is left to us to judge.
 */
static bool is_not_his(const struct call *c, struct inode *inode)
{
	uint16_t special = atomic_load(&inode->special);
	struct stat attr;

	if (!special || !creds_privileged() || c->ctx->uid == 0 ||
		inode_stat(c->fs->inodes, inode, -1, &attr) < 0 || attr.st_uid == c->ctx->uid)
		return false;
	return (special & (S_ISUID | S_IXGRP)) || !call_in_group(c, attr.st_gid);
}

void fs_setattr(fuse_req_t req, fuse_ino_t ino, struct stat *attr, int to_set,
	struct fuse_file_info *fi)
{
	struct call c;
	struct change change = { 0 };
	struct open_file *file;
	struct stat now;
	int r;

	call_begin(&c, req, setattr_op(to_set), TRACE_MEET);
	cleanup_held struct held inode = call_hold(&c, call_inode(&c, ino));
	file = call_file(&c, fi);
	if (to_set & FUSE_SET_ATTR_SIZE)
		c.ev.u.op.length = attr->st_size;
	if (!(to_set & (FUSE_SET_ATTR_MODE | TIMES)) || (to_set & (OWNER | CONTENT)))
		change = call_enter_chown(&c, inode.inode,
			to_set & FUSE_SET_ATTR_GID ? attr->st_gid : (gid_t)-1);
	if (fs_is_own(c.fs, inode.inode))
		r = -EBUSY;
	else if (!(to_set & EVERYTHING) && inode_has_writer(c.fs->inodes, inode.inode))
		r = 0;
	else if (!(to_set & EVERYTHING) && is_not_his(&c, inode.inode))
		r = -EPERM;
	else
		r = set_all(&inode, file, attr, to_set);
	call_leave_change(&c, &change);
	if (r == 0)
		r = inode_stat(c.fs->inodes, inode.inode, file ? file->fd : -1, &now);
	trace_end(c.fs->trace, &c.ev, r);
	if (r < 0)
		fuse_reply_err(req, -r);
	else
		fuse_reply_attr(req, &now, call_attr_timeout(&c, inode.inode));
}

void fs_statfs(fuse_req_t req, fuse_ino_t ino)
{
	struct call c;
	struct statvfs st;
	int r;

	call_begin(&c, req, OP_STATFS, TRACE_MEET);
	cleanup_held struct held inode = call_hold(&c, call_inode(&c, ino));
	r = WITH(inode, fstatvfs(inode.fd, &st));
	trace_end(c.fs->trace, &c.ev, r);
	if (r < 0)
		fuse_reply_err(req, -r);
	else
		fuse_reply_statfs(req, &st);
}

/* An ACL takes the sgid bit of a file away unless who sets it has CAP_FSETID or is of the file's group. */
static mode_t acl_keeps(const struct call *c, struct inode *inode, const char *name)
{
	struct stat attr;

	if (strcmp(name, "system.posix_acl_access") != 0 || !creds_privileged() ||
		inode_stat(c->fs->inodes, inode, -1, &attr) < 0 || !(attr.st_mode & S_ISGID))
		return 0;
	return call_has(c, CAP_FSETID) || call_in_group(c, attr.st_gid) ? S_ISGID : 0;
}

void fs_setxattr(fuse_req_t req, fuse_ino_t ino, const char *name, const char *value, size_t size,
	int flags)
{
	struct call c;
	mode_t keeps;
	int r;

	call_begin(&c, req, OP_SETXATTR, TRACE_MEET);
	cleanup_held struct held inode = call_hold(&c, call_inode(&c, ino));
	keeps = acl_keeps(&c, inode.inode, name);
	creds_raise_fsetid(keeps);
	r = WITH_SPACE(&c, WITH(inode, setxattr(fd_path(inode.fd).text, name, value, size, flags)));
	creds_drop_fsetid(keeps);
	trace_end_name(c.fs->trace, &c.ev, r, name);
	fuse_reply_err(req, -r);
}

/* The names, or with name the value of one; size 0 asks only how long that is. */
static ssize_t get_xattr(const struct held *inode, const char *name, char *data, size_t size)
{
	struct fd_path path = fd_path(inode->fd);
	ssize_t n;

	if (size && !data)
		return -ENOMEM;
	if (!name)
		return WITH(*inode, listxattr(path.text, data, size));
	n = WITH(*inode, getxattr(path.text, name, data, size));
	/* To the kernel a file system that knows no ACLs would refuse the access that it asks for. */
	return n == -EOPNOTSUPP && strncmp(name, "system.posix_acl_", 17) == 0 ? -ENODATA : n;
}

static void reply_data(struct call *c, ssize_t n, const char *data, size_t size)
{
	if (n < 0)
		fuse_reply_err(c->req, -n);
	else if (size)
		fuse_reply_buf(c->req, data, n);
	else
		fuse_reply_xattr(c->req, n);
}

static void reply_xattr(struct call *c, fuse_ino_t ino, const char *name, size_t size)
{
	cleanup_free char *data = size ? malloc(size) : NULL;
	cleanup_held struct held inode = call_hold(c, call_inode(c, ino));
	/* Most file systems show the names of trusted.* to the privileged only. */
	struct requester who = call_requester(c), root = { .tid = who.tid };
	bool without_rights = !name && creds_privileged() && !creds_has(&who, CAP_SYS_ADMIN);
	ssize_t n;

	if (without_rights)
		creds_become(&root, -1);
	n = get_xattr(&inode, name, data, size);
	if (without_rights)
		creds_return();
	trace_end_name(c->fs->trace, &c->ev, n, name ? name : "");
	reply_data(c, n, data, size);
}

/* Another mirror asks: see inode.h. */
static void reply_mirrors(struct call *c, fuse_ino_t ino, size_t size)
{
	dev_t devices[MIRROR_DEPTH];
	struct inode *inode = inode_of(c->fs->inodes, ino);
	int n = inode_mirrors(c->fs->inodes, inode, devices);

	if (n > 0)
		n *= sizeof(devices[0]);
	reply_data(c, size && n > (ssize_t)size ? -ERANGE : n, (char *)devices, size);
}

void fs_getxattr(fuse_req_t req, fuse_ino_t ino, const char *name, size_t size)
{
	struct call c;

	call_begin(&c, req, OP_GETXATTR, TRACE_MEET);
	if (strcmp(name, MIRROR_XATTR) == 0)
		reply_mirrors(&c, ino, size);
	else
		reply_xattr(&c, ino, name, size);
}

void fs_listxattr(fuse_req_t req, fuse_ino_t ino, size_t size)
{
	struct call c;

	call_begin(&c, req, OP_LISTXATTR, TRACE_MEET);
	reply_xattr(&c, ino, NULL, size);
}

void fs_removexattr(fuse_req_t req, fuse_ino_t ino, const char *name)
{
	struct call c;
	mode_t keeps;
	int r;

	call_begin(&c, req, OP_REMOVEXATTR, TRACE_MEET);
	cleanup_held struct held inode = call_hold(&c, call_inode(&c, ino));
	keeps = acl_keeps(&c, inode.inode, name);
	creds_raise_fsetid(keeps);
	r = WITH(inode, removexattr(fd_path(inode.fd).text, name));
	creds_drop_fsetid(keeps);
	trace_end_name(c.fs->trace, &c.ev, r, name);
	fuse_reply_err(req, -r);
}
