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
#include "base/rights.h"
#include "ftrac/defer.h"
#include "ftrac/fs.h"

void fs_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct call c;
	struct open_file *file;
	struct stat attr;
	int r;

	call_begin(&c, req, OP_GETATTR, TRACE_DISCOVER);
	cleanup_held struct held inode = call_hold(&c, call_inode(&c, ino));
	file = call_file(&c, fi);
	r = inode.fd < 0 && !file ? inode.fd : AS_REQUESTER(&c, ON_NOTHING,
		inode_stat(c.fs->inodes, inode.inode, file ? file->fd : inode.fd, &attr));
	trace_end(c.fs->trace, &c.ev, r);
	if (r < 0)
		fuse_reply_err(req, -r);
	else
		call_reply_attr(&c, inode.inode, &attr);
}

#if FUSE_VERSION >= FUSE_MAKE_VERSION(3, 18)
static int stat_more(const struct call *c, const struct held *inode, const struct open_file *file,
	int flags, int mask, struct statx *ret_sx)
{
	int fd = file ? file->fd : inode->fd, r;

	if (fd < 0)
		return fd;
	flags = (flags & AT_STATX_SYNC_TYPE) | AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW;
	r = RESULT(statx(fd, "", flags, mask | STATX_BASIC_STATS, ret_sx));
	return r < 0 ? r : inode_show(c->fs->inodes, inode->inode, fd, ret_sx);
}

/* The kernel sends this only for fields that stat(2) lacks: the time of birth. */
void fs_statx(fuse_req_t req, fuse_ino_t ino, int flags, int mask, struct fuse_file_info *fi)
{
	struct call c;
	struct statx sx = { 0 };
	int r;

	call_begin(&c, req, OP_GETATTR, TRACE_DISCOVER);
	cleanup_held struct held inode = call_hold(&c, call_inode(&c, ino));
	r = AS_REQUESTER(&c, ON_NOTHING, stat_more(&c, &inode, call_file(&c, fi), flags, mask, &sx));
	trace_end(c.fs->trace, &c.ev, r);
	if (r < 0) {
		fuse_reply_err(req, -r);
		return;
	}
	inode_set_replied(inode.inode, sx.stx_mode, sx.stx_uid, sx.stx_gid);
	fuse_reply_statx(req, 0, &sx, call_attr_timeout(&c, inode.inode));
}
#endif

#define OWNER (FUSE_SET_ATTR_UID | FUSE_SET_ATTR_GID)
#define CONTENT FUSE_SET_ATTR_SIZE
#define TIMES (FUSE_SET_ATTR_ATIME | FUSE_SET_ATTR_MTIME)
#define EVERYTHING (FUSE_SET_ATTR_MODE | OWNER | CONTENT | TIMES)

/* A request may change several attributes; it is recorded as the most important change. */
static enum op setattr_op(int to_set)
{
	if (to_set & CONTENT)
		return OP_TRUNCATE;
	if ((to_set & FUSE_SET_ATTR_MODE) && !(to_set & OWNER))
		return OP_CHMOD;
	return (to_set & TIMES) && !(to_set & OWNER) ? OP_UTIMENS : OP_CHOWN;
}

static int set_owner(int fd, const struct stat *attr, int to_set)
{
	uid_t uid = to_set & FUSE_SET_ATTR_UID ? attr->st_uid : (uid_t)-1;
	gid_t gid = to_set & FUSE_SET_ATTR_GID ? attr->st_gid : (gid_t)-1;

	return RESULT(fchownat(fd, "", uid, gid, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW));
}

/*
 * Through the open file if there is one. Otherwise opens the file for writing. -EAGAIN: a lease is
 * in the way, for which truncate(2) would wait; while the file is open for writing no new lease is
 * possible.
 */
static int set_size(const struct call *c, int fd, const struct open_file *file, off_t size)
{
	cleanup_fd int opened = -1;

	if (file)
		return RESULT(ftruncate(file->fd, size));
	opened = WITH_ROOM(c->fs->inodes, open(fd_path(fd).text, O_WRONLY | O_NONBLOCK | O_CLOEXEC));
	/* Not by that descriptor: ftruncate(2) changes times in cases where truncate(2)
	 * does not. */
	return opened < 0 ? opened : RESULT(truncate(fd_path(fd).text, size));
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

static int set_all(const struct call *c, const struct held *held, const struct open_file *file,
	const struct stat *attr, int to_set)
{
	int r = held->fd < 0 ? held->fd : 0;

	if (r == 0 && (to_set & FUSE_SET_ATTR_MODE))
		r = RESULT(chmod(fd_path(held->fd).text, attr->st_mode));
	if (r == 0 && ((to_set & OWNER) || !(to_set & EVERYTHING)))
		r = set_owner(held->fd, attr, to_set);
	if (r == 0 && (to_set & FUSE_SET_ATTR_SIZE))
		r = set_size(c, held->fd, file, attr->st_size);
	if (r == 0 && (to_set & TIMES))
		r = set_times(held->fd, attr, to_set);
	return r;
}

/* Like a write: see remove_xattr(). */
static int remove_capabilities(const struct held *inode)
{
	uint64_t before = creds_raise(RIGHT(CAP_SETFCAP));

	removexattr(fd_path(inode->fd).text, "security.capability");
	creds_drop(before);
	return 0;
}

/*
 * A request that changes nothing is either a chown(2) with both ids -1, which the source checks, or
 * comes before a write that removes suid, sgid and capabilities. The write itself removes them. But
 * a chown(2) may also come while a writer has the file open; both remove capabilities.
 */
static int change(const struct call *c, const struct held *inode, const struct open_file *file,
	const struct stat *attr, int to_set)
{
	if (fs_is_own(c->fs, inode->inode))
		return -EBUSY;
	if (!(to_set & EVERYTHING) && inode_has_writer(c->fs->inodes, inode->inode))
		return AS_REQUESTER(c, ON_CONTENT(inode->fd), WITH(*inode, remove_capabilities(inode)));
	return AS_REQUESTER(c, to_set & (CONTENT | OWNER) || !(to_set & EVERYTHING)
			? ON_CONTENT(inode->fd) : ON(inode->fd),
		set_all(c, inode, file, attr, to_set));
}

static void reply_changed(struct call *c, struct inode *inode, const struct open_file *file, int r)
{
	struct stat now;

	call_changed(c, inode);
	if (r == 0 && c->ev.op == OP_TRUNCATE)
		inode_zeroed(c->fs->inodes, inode, c->ev.u.op.length, INT64_MAX);
	if (r == 0)
		r = inode_stat(c->fs->inodes, inode, file ? file->fd : -1, &now);
	trace_end(c->fs->trace, &c->ev, r);
	if (r < 0)
		fuse_reply_err(c->req, -r);
	else
		call_reply_attr(c, inode, &now);
}

/* A truncation that waits for the holder of a lease. */
struct changing {
	struct call call;
	struct inode *inode;
	struct stat attr;
	int to_set;
};

static void change_again(void *arg)
{
	struct changing *w = arg;
	cleanup_held struct held inode = call_hold(&w->call, w->inode);

	reply_changed(&w->call, w->inode, NULL, change(&w->call, &inode, NULL, &w->attr, w->to_set));
	free(w);
}

static int wait_to_change(const struct call *c, struct inode *inode, const struct stat *attr,
	int to_set)
{
	struct changing *w = malloc(sizeof(*w));
	int r;

	if (!w)
		return -ENOMEM;
	*w = (struct changing){ .call = *c, .inode = inode, .attr = *attr, .to_set = to_set };
	r = defer_open(c->fs->defer, c, inode, O_WRONLY, change_again, w);
	if (r < 0)
		free(w);
	return r;
}

void fs_setattr(fuse_req_t req, fuse_ino_t ino, struct stat *attr, int to_set,
	struct fuse_file_info *fi)
{
	struct call c;
	struct open_file *file;
	int r;

	call_begin(&c, req, setattr_op(to_set), TRACE_DISCOVER);
	cleanup_held struct held inode = call_hold(&c, call_inode(&c, ino));
	file = call_file(&c, fi);
	if (to_set & FUSE_SET_ATTR_SIZE)
		c.ev.u.op.length = attr->st_size;
	r = change(&c, &inode, file, attr, to_set);
	if (r != -EAGAIN || file || wait_to_change(&c, inode.inode, attr, to_set) < 0)
		reply_changed(&c, inode.inode, file, r);
}

void fs_statfs(fuse_req_t req, fuse_ino_t ino)
{
	struct call c;
	struct statvfs st;
	int r;

	call_begin(&c, req, OP_STATFS, TRACE_DISCOVER);
	cleanup_held struct held inode = call_hold(&c, call_inode(&c, ino));
	r = WITH(inode, fstatvfs(inode.fd, &st));
	trace_end(c.fs->trace, &c.ev, r);
	if (r < 0)
		fuse_reply_err(req, -r);
	else
		fuse_reply_statfs(req, &st);
}

void fs_setxattr(fuse_req_t req, fuse_ino_t ino, const char *name, const char *value, size_t size,
	int flags)
{
	struct call c;
	int r;

	call_begin(&c, req, OP_SETXATTR, TRACE_DISCOVER);
	cleanup_held struct held inode = call_hold(&c, call_inode(&c, ino));
	r = WITH_SPACE(&c, AS_REQUESTER(&c, ON(inode.fd),
		WITH(inode, setxattr(fd_path(inode.fd).text, name, value, size, flags))));
	trace_end_name(c.fs->trace, &c.ev, r, name);
	fuse_reply_err(req, -r);
}

/* The list of names, or with name its value; size 0: the length only. */
static ssize_t get_xattr(const struct held *inode, const char *name, char *data, size_t size)
{
	struct fd_path path = fd_path(inode->fd);
	ssize_t n;

	if (size && !data)
		return -ENOMEM;
	if (!name)
		return WITH(*inode, listxattr(path.text, data, size));
	n = WITH(*inode, getxattr(path.text, name, data, size));
	/* If a file system without ACLs returned EOPNOTSUPP, the kernel would refuse the access. */
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
	ssize_t n = AS_REQUESTER(c, ON(inode.fd), get_xattr(&inode, name, data, size));

	if (n >= 0 && name && strcmp(name, "security.capability") == 0 && inode_is_nosuid(inode.inode, inode.fd))
		/* execve(2) would honour it, because it checks the flags of our mount only */
		n = -ENODATA;
	trace_end_name(c->fs->trace, &c->ev, n, name ? name : "");
	reply_data(c, n, data, size);
}

/* A request of another mirror: see inode.h. */
static void reply_mirrors(struct call *c, fuse_ino_t ino, size_t size)
{
	dev_t devices[MIRROR_DEPTH];
	struct inode *inode = inode_of(c->fs->inodes, ino);
	int n = inode_mirrors(c->fs->inodes, inode, devices);

	if (n > 0)
		n *= sizeof(devices[0]);
	reply_data(c, size && n > (ssize_t)size ? -ERANGE : n, (char *)devices, size);
}

/* No operation of a traced program, so it is not recorded. */
static void reply_trace(fuse_req_t req, size_t size)
{
	const struct fs *fs = fuse_req_userdata(req);
	uid_t user = fuse_req_ctx(req)->uid;
	size_t n = fs->trace_path ? strlen(fs->trace_path) : 0;

	if (!n || (user && user != fs->owner))
		fuse_reply_err(req, ENODATA);
	else if (size && n > size)
		fuse_reply_err(req, ERANGE);
	else if (size)
		fuse_reply_buf(req, fs->trace_path, n);
	else
		fuse_reply_xattr(req, n);
}

void fs_getxattr(fuse_req_t req, fuse_ino_t ino, const char *name, size_t size)
{
	struct call c;

	if (strcmp(name, DEFER_XATTR) == 0) { /* a request of the daemon itself, to wake this thread */
		fuse_reply_err(req, ENODATA);
		defer_retry(((struct fs *)fuse_req_userdata(req))->defer);
		return;
	}
	if (ino == FUSE_ROOT_ID && strcmp(name, FS_TRACE_XATTR) == 0)
		return reply_trace(req, size);
	call_begin(&c, req, OP_GETXATTR, TRACE_DISCOVER);
	if (strcmp(name, MIRROR_XATTR) == 0)
		reply_mirrors(&c, ino, size);
	else
		reply_xattr(&c, ino, name, size);
}

void fs_listxattr(fuse_req_t req, fuse_ino_t ino, size_t size)
{
	struct call c;

	call_begin(&c, req, OP_LISTXATTR, TRACE_DISCOVER);
	reply_xattr(&c, ino, NULL, size);
}

/*
 * Before a write, chown(2) or the like, the kernel removes the capabilities of a file, in the name
 * of a requester that need not have CAP_SETFCAP. The request that follows removes them in the
 * source, if the source permits it. For removexattr(2) itself the kernel has checked that
 * capability.
 */
static int remove_xattr(const struct call *c, const struct held *inode, const char *name)
{
	int r = AS_REQUESTER(c, ON(inode->fd),
		WITH(*inode, removexattr(fd_path(inode->fd).text, name)));

	if (r == -EPERM && strcmp(name, "security.capability") == 0 && !creds_has(RIGHT(CAP_SETFCAP)))
		return 0;
	return r;
}

void fs_removexattr(fuse_req_t req, fuse_ino_t ino, const char *name)
{
	struct call c;
	int r;

	call_begin(&c, req, OP_REMOVEXATTR, TRACE_DISCOVER);
	cleanup_held struct held inode = call_hold(&c, call_inode(&c, ino));
	r = remove_xattr(&c, &inode, name);
	trace_end_name(c.fs->trace, &c.ev, r, name);
	fuse_reply_err(req, -r);
}
