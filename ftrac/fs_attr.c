/* SPDX-License-Identifier: MIT */

/* Attributes: of files, extended ones, of file systems. */

#include <errno.h>
#include <fcntl.h>
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
#include "ftrac/inode.h"

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
	r = inode_stat(inode, file ? file->fd : -1, &attr);
	trace_end(c.fs->trace, &c.ev, r);
	if (r < 0)
		fuse_reply_err(req, -r);
	else
		fuse_reply_attr(req, &attr, c.fs->attr_timeout);
}

#if FUSE_VERSION >= FUSE_MAKE_VERSION(3, 18)
/* Asked for only when somebody wants what stat(2) does not have: the time of birth. */
void fs_statx(fuse_req_t req, fuse_ino_t ino, int flags, int mask, struct fuse_file_info *fi)
{
	struct call c;
	struct inode *inode;
	struct open_file *file;
	struct statx sx;
	int r;

	call_begin(&c, req, OP_GETATTR, TRACE_MEET);
	inode = call_inode(&c, ino);
	file = call_file(&c, fi);
	flags &= AT_STATX_SYNC_TYPE;
	r = statx(file ? file->fd : inode->fd, "", flags | AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW,
		mask | STATX_BASIC_STATS, &sx) < 0 ? -errno : 0;
	sx.stx_ino = inode_number(inode->device, sx.stx_ino);
	trace_end(c.fs->trace, &c.ev, r);
	if (r < 0)
		fuse_reply_err(req, -r);
	else
		fuse_reply_statx(req, 0, &sx, c.fs->attr_timeout);
}
#endif

/* One request may change several things; it is called by the one that changes most. */
static enum op setattr_op(int to_set)
{
	if (to_set & FUSE_SET_ATTR_SIZE)
		return OP_TRUNCATE;
	if (to_set & (FUSE_SET_ATTR_UID | FUSE_SET_ATTR_GID))
		return OP_CHOWN;
	return to_set & FUSE_SET_ATTR_MODE ? OP_CHMOD : OP_UTIMENS;
}

static int set_mode(const struct inode *inode, mode_t mode)
{
	int r;

	creds_raise_fsetid(mode);
	r = chmod(fd_path(inode->fd).text, mode) < 0 ? -errno : 0;
	creds_drop_fsetid(mode);
	return r;
}

static int set_owner(const struct inode *inode, const struct stat *attr, int to_set)
{
	uid_t uid = to_set & FUSE_SET_ATTR_UID ? attr->st_uid : (uid_t)-1;
	gid_t gid = to_set & FUSE_SET_ATTR_GID ? attr->st_gid : (gid_t)-1;

	return fchownat(inode->fd, "", uid, gid, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW) < 0 ? -errno
											   : 0;
}

/* Through the open file if there is one: it may be written where its mode would not let us. */
static int set_size(const struct inode *inode, const struct open_file *file, off_t size)
{
	if (file)
		return ftruncate(file->fd, size) < 0 ? -errno : 0;
	return truncate(fd_path(inode->fd).text, size) < 0 ? -errno : 0;
}

static struct timespec time_to_set(int to_set, int set, int now, struct timespec time)
{
	if (to_set & now)
		time.tv_nsec = UTIME_NOW;
	else if (!(to_set & set))
		time.tv_nsec = UTIME_OMIT;
	return time;
}

static int set_times(const struct inode *inode, const struct stat *attr, int to_set)
{
	const struct timespec times[2] = {
		time_to_set(to_set, FUSE_SET_ATTR_ATIME, FUSE_SET_ATTR_ATIME_NOW, attr->st_atim),
		time_to_set(to_set, FUSE_SET_ATTR_MTIME, FUSE_SET_ATTR_MTIME_NOW, attr->st_mtim),
	};

	return utimensat(AT_FDCWD, fd_path(inode->fd).text, times, 0) < 0 ? -errno : 0;
}

static int set_all(const struct inode *inode, const struct open_file *file,
	const struct stat *attr, int to_set)
{
	int r = 0;

	if (to_set & FUSE_SET_ATTR_MODE)
		r = set_mode(inode, attr->st_mode);
	if (r == 0 && (to_set & (FUSE_SET_ATTR_UID | FUSE_SET_ATTR_GID)))
		r = set_owner(inode, attr, to_set);
	if (r == 0 && (to_set & FUSE_SET_ATTR_SIZE))
		r = set_size(inode, file, attr->st_size);
	if (r == 0 && (to_set & (FUSE_SET_ATTR_ATIME | FUSE_SET_ATTR_MTIME)))
		r = set_times(inode, attr, to_set);
	return r;
}

void fs_setattr(fuse_req_t req, fuse_ino_t ino, struct stat *attr, int to_set,
	struct fuse_file_info *fi)
{
	struct call c;
	struct inode *inode;
	struct open_file *file;
	struct stat now;
	mode_t keeps = 0;
	int r;

	call_begin(&c, req, setattr_op(to_set), TRACE_MEET);
	inode = call_inode(&c, ino);
	file = call_file(&c, fi);
	if (to_set & FUSE_SET_ATTR_SIZE)
		c.ev.u.op.length = attr->st_size;
	if (to_set & (FUSE_SET_ATTR_SIZE | FUSE_SET_ATTR_UID | FUSE_SET_ATTR_GID))
		keeps = call_keeps(&c, inode);
	creds_raise_fsetid(keeps);
	if (fs_is_own(c.fs, inode))
		r = -EBUSY;
	else
		r = set_all(inode, file, attr, to_set);
	creds_drop_fsetid(keeps);
	if (r == 0)
		r = inode_stat(inode, file ? file->fd : -1, &now);
	trace_end(c.fs->trace, &c.ev, r);
	if (r < 0)
		fuse_reply_err(req, -r);
	else
		fuse_reply_attr(req, &now, c.fs->attr_timeout);
}

void fs_statfs(fuse_req_t req, fuse_ino_t ino)
{
	struct call c;
	struct statvfs st;
	int r;

	call_begin(&c, req, OP_STATFS, TRACE_MEET);
	r = fstatvfs(call_inode(&c, ino)->fd, &st) < 0 ? -errno : 0;
	trace_end(c.fs->trace, &c.ev, r);
	if (r < 0)
		fuse_reply_err(req, -r);
	else
		fuse_reply_statfs(req, &st);
}

static bool is_in_group(const struct call *c, gid_t gid)
{
	gid_t groups[256];
	int n;

	if (c->ctx->gid == gid)
		return true;
	n = fuse_req_getgroups(c->req, sizeof(groups) / sizeof(groups[0]), groups);
	for (int i = 0; i < n && i < (int)(sizeof(groups) / sizeof(groups[0])); i++)
		if (groups[i] == gid)
			return true;
	return false;
}

/* An ACL takes the sgid bit of a file away unless who sets it is root or of the file's group. */
static mode_t acl_keeps(const struct call *c, struct inode *inode, const char *name)
{
	struct stat attr;

	if (strcmp(name, "system.posix_acl_access") != 0 || !creds_privileged() ||
		inode_stat(inode, -1, &attr) < 0 || !(attr.st_mode & S_ISGID))
		return 0;
	return c->ctx->uid == 0 || is_in_group(c, attr.st_gid) ? S_ISGID : 0;
}

void fs_setxattr(fuse_req_t req, fuse_ino_t ino, const char *name, const char *value, size_t size,
	int flags)
{
	struct call c;
	struct inode *inode;
	mode_t keeps;
	int r;

	call_begin(&c, req, OP_SETXATTR, TRACE_MEET);
	inode = call_inode(&c, ino);
	keeps = acl_keeps(&c, inode, name);
	creds_raise_fsetid(keeps);
	r = setxattr(fd_path(inode->fd).text, name, value, size, flags) < 0 ? -errno : 0;
	creds_drop_fsetid(keeps);
	trace_end_name(c.fs->trace, &c.ev, r, name);
	fuse_reply_err(req, -r);
}

/* The names, or with name the value of one; size 0 asks only how long that is. */
static void reply_xattr(struct call *c, struct inode *inode, const char *name, size_t size)
{
	cleanup_free char *data = size ? malloc(size) : NULL;
	struct fd_path path = fd_path(inode->fd);
	ssize_t n = -1;

	errno = ENOMEM;
	if (data || !size)
		n = name ? getxattr(path.text, name, data, size) : listxattr(path.text, data, size);
	n = n < 0 ? -errno : n;
	/* To the kernel a file system that knows no ACLs would refuse the access that it asks for. */
	if (n == -EOPNOTSUPP && name && strncmp(name, "system.posix_acl_", 17) == 0)
		n = -ENODATA;
	trace_end_name(c->fs->trace, &c->ev, n, name ? name : "");
	if (n < 0)
		fuse_reply_err(c->req, -n);
	else if (size)
		fuse_reply_buf(c->req, data, n);
	else
		fuse_reply_xattr(c->req, n);
}

void fs_getxattr(fuse_req_t req, fuse_ino_t ino, const char *name, size_t size)
{
	struct call c;

	call_begin(&c, req, OP_GETXATTR, TRACE_MEET);
	reply_xattr(&c, call_inode(&c, ino), name, size);
}

void fs_listxattr(fuse_req_t req, fuse_ino_t ino, size_t size)
{
	struct call c;

	call_begin(&c, req, OP_LISTXATTR, TRACE_MEET);
	reply_xattr(&c, call_inode(&c, ino), NULL, size);
}

void fs_removexattr(fuse_req_t req, fuse_ino_t ino, const char *name)
{
	struct call c;
	int r;

	call_begin(&c, req, OP_REMOVEXATTR, TRACE_MEET);
	r = removexattr(fd_path(call_inode(&c, ino)->fd).text, name) < 0 ? -errno : 0;
	trace_end_name(c.fs->trace, &c.ev, r, name);
	fuse_reply_err(req, -r);
}
