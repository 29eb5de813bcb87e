/* SPDX-License-Identifier: MIT */
#include "ftrac/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/rights.h"
#include "kernel/kernel.h"

struct inode *call_inode(struct call *c, fuse_ino_t nodeid)
{
	struct inode *inode = inode_of(c->fs->inodes, nodeid);

	c->ev.u.op.node = inode->id;
	return inode;
}

struct open_file *call_file(struct call *c, const struct fuse_file_info *fi)
{
	struct open_file *file = file_of(fi);

	if (file)
		c->ev.u.op.handle = file->id;
	return file;
}

void call_watch(struct call *c, struct open_file *file)
{
	struct kernel *kernel = c->fs->kernel;

	file->by_call = kernel && !c->ev.aside &&
		kernel_add_file(kernel, (uintptr_t)file, file->id, file->inode->id) == 0;
}

void fs_unwatch(const struct fs *fs, const struct open_file *file)
{
	if (file->by_call)
		kernel_remove_file(fs->kernel, (uintptr_t)file);
}

void call_end_part(struct call *c, const struct open_file *file, int64_t result)
{
	if (!file->by_call)
		trace_end(c->fs->trace, &c->ev, result);
}

void call_reply(struct call *c, int result)
{
	trace_end(c->fs->trace, &c->ev, result);
	fuse_reply_err(c->req, result < 0 ? -result : 0);
}

/* The kernel opens these without a request, and checks access by its cached attributes. */
static bool is_opened_by_kernel(const struct inode *inode)
{
	return inode->type != S_IFREG && inode->type != S_IFDIR && inode->type != S_IFLNK;
}

void call_fill_entry(const struct call *c, struct inode *inode, const struct stat *attr,
	struct fuse_entry_param *ret_entry)
{
	inode_set_replied(inode, attr->st_mode, attr->st_uid, attr->st_gid);
	*ret_entry = (struct fuse_entry_param){
		.ino = inode_nodeid(c->fs->inodes, inode),
		.attr = *attr,
		.attr_timeout = call_attr_timeout(c, inode),
		.entry_timeout = is_opened_by_kernel(inode) ? 0 : c->fs->entry_timeout,
	};
}

double call_attr_timeout(const struct call *c, const struct inode *inode)
{
	bool backed = atomic_load_explicit(&inode->is_backed, memory_order_relaxed);

	return backed || is_opened_by_kernel(inode) ? 0 : c->fs->attr_timeout;
}

void call_reply_attr(const struct call *c, struct inode *inode, const struct stat *attr)
{
	inode_set_replied(inode, attr->st_mode, attr->st_uid, attr->st_gid);
	fuse_reply_attr(c->req, attr, call_attr_timeout(c, inode));
}

struct requester call_requester(const struct call *c)
{
	return (struct requester){ .tid = c->ctx->pid, .uid = c->ctx->uid, .gid = c->ctx->gid };
}

int call_become(const struct call *c, const struct creds_object *object)
{
	struct requester requester = call_requester(c);

	return creds_become(&requester, object);
}

bool call_again(const struct call *c, const struct creds_object *object)
{
	struct requester requester = call_requester(c);

	return creds_again(&requester, object);
}

/* A handler may invalidate attributes only (-1): that waits for no page. */
void call_forget_attributes(const struct call *c, const struct inode *inode)
{
	fuse_lowlevel_notify_inval_inode(c->fs->session, inode_nodeid(c->fs->inodes, inode), -1, 0);
}

void call_changed(const struct call *c, struct inode *inode)
{
	uint16_t special = atomic_load_explicit(&inode->special, memory_order_relaxed);
	struct stat now;

	if (special && inode_stat(c->fs->inodes, inode, -1, &now) == 0 &&
		atomic_load_explicit(&inode->special, memory_order_relaxed) != special)
		call_forget_attributes(c, inode);
}

/* Whether one of the numbers in a path like /proc/12/task/34/maps is a thread of ours. */
static bool is_about_us(const char *path)
{
	char name[64];

	for (const char *at = path; (at = strchr(at, '/')); at++) {
		size_t len = strspn(at + 1, "0123456789");

		if (len == 0 || len > 10 || at[1 + len] != '/')
			continue;
		snprintf(name, sizeof(name), "/proc/self/task/%.*s", (int)len, at + 1);
		if (access(name, F_OK) == 0)
			return true;
	}
	return false;
}

bool call_is_hidden(const struct call *c, struct inode *inode)
{
	static const char *const names[] = { "maps", "smaps", "smaps_rollup", "numa_maps" };
	struct requester requester = call_requester(c);
	bool hidden = inode->type == S_IFLNK;
	char path[PATH_MAX];
	const char *name;
	ssize_t n;

	if (!inode->mount->proc || !creds_privileged() || creds_equals(&requester))
		return false;
	cleanup_held struct held held = call_hold(c, inode);
	n = held.fd < 0 ? -1 : readlink(fd_path(held.fd).text, path, sizeof(path) - 1);
	if (n < 0)
		return false;
	path[n] = '\0';
	name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		hidden |= strcmp(name, names[i]) == 0;
	return hidden && is_about_us(path);
}

bool fs_is_own(const struct fs *fs, const struct inode *inode)
{
	for (int i = 0; i < FS_OWN_FILES; i++)
		if (fs->own.files[i].ino && inode->ino == fs->own.files[i].ino &&
			inode->dev == fs->own.files[i].dev)
			return true;
	return false;
}

bool fs_is_own_name(const struct fs *fs, const struct inode *dir, const char *name)
{
	if (!fs->own.dir_ino || dir->ino != fs->own.dir_ino || dir->dev != fs->own.dir_dev)
		return false;
	for (int i = 0; i < FS_OWN_FILES; i++)
		if (strcmp(name, fs->own.names[i]) == 0)
			return true;
	return false;
}

bool fs_is_append_only(int fd)
{
	struct statx sx;

	return statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE, &sx) == 0 &&
	       (sx.stx_attributes & STATX_ATTR_APPEND);
}

/*
 * Keeps the time of access if the requester opened with O_NOATIME, which only the owner may, or if
 * the mount does.
 */
static void leave_atime(const struct call *c, int fd)
{
	uint64_t before;

	if (!c->fs->keep_atime)
		return;
	before = creds_raise(RIGHT(CAP_FOWNER));
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NOATIME);
	creds_drop(before);
}

int fs_reopen(const struct call *c, struct inode *inode, int flags)
{
	cleanup_held struct held held = call_hold(c, inode);
	struct fd_path path = fd_path(held.fd);
	int fd;

	if (held.fd < 0)
		return held.fd;
	flags = (flags & ~O_NOFOLLOW) | O_CLOEXEC;
	fd = AS_REQUESTER(c, flags & O_TRUNC ? ON_CONTENT(held.fd) : ON(held.fd),
		WITH_ROOM(c->fs->inodes, open(path.text, flags)));
	if (fd >= 0)
		leave_atime(c, fd);
	return fd;
}

/*
 * The features of the kernel are known only here. If it cannot map files that use direct I/O,
 * programs that map files would fail on the mount. So `exact` falls back to `cached`.
 */
static int choose_fidelity(struct fs *fs, struct fuse_conn_info *conn)
{
	bool can_map = conn->capable_ext & FUSE_CAP_DIRECT_IO_ALLOW_MMAP;

	fs->can_pass = (conn->capable_ext & FUSE_CAP_PASSTHROUGH) && creds_privileged();
	if (fs_passes_data(fs))
		return fs->can_pass ? 0 : -EOPNOTSUPP;
	if (fs->fidelity != FIDELITY_EXACT || can_map)
		return 0;
	if (fs->fidelity_fixed)
		return -EOPNOTSUPP;
	fs->fidelity = FIDELITY_CACHED;
	return 0;
}

/* Passthrough from a stacked file system such as overlayfs; then no file system can be stacked on
 * ours. */
static void want_passthrough(const struct fs *fs, struct fuse_conn_info *conn)
{
	if (!fs->can_pass || (!fs_passes_data(fs) && !fs->choice))
		return;
	fuse_set_feature_flag(conn, FUSE_CAP_PASSTHROUGH);
	if (inode_of(fs->inodes, NODE_ROOT)->mount->stacked)
		conn->max_backing_stack_depth = 1;
}

static void fs_init(void *userdata, struct fuse_conn_info *conn)
{
	static const uint64_t wanted[] = {
		FUSE_CAP_POSIX_ACL,          /* otherwise modes would decide where ACLs should */
		FUSE_CAP_DONT_MASK,          /* default ACLs replace the umask */
		FUSE_CAP_HANDLE_KILLPRIV_V2, /* see creds.h */
		FUSE_CAP_PARALLEL_DIROPS, FUSE_CAP_DIRECT_IO_ALLOW_MMAP,
		FUSE_CAP_NO_EXPORT_SUPPORT, /* a node id is not a file handle for NFS */
	};
	/* Data passes through user space to be counted; pipes would be a detour. */
	static const uint64_t unwanted[] = {
		FUSE_CAP_SPLICE_READ, FUSE_CAP_SPLICE_WRITE, FUSE_CAP_SPLICE_MOVE,
		FUSE_CAP_PASSTHROUGH,     /* until want_passthrough() */
		FUSE_CAP_WRITEBACK_CACHE, /* it loses appends if there are several writers */
	};
	struct fs *fs = userdata;
	int r = choose_fidelity(fs, conn);

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		if (conn->capable_ext & wanted[i])
			fuse_set_feature_flag(conn, wanted[i]);
	for (size_t i = 0; i < sizeof(unwanted) / sizeof(unwanted[0]); i++)
		fuse_unset_feature_flag(conn, unwanted[i]);
	want_passthrough(fs, conn);
	if (!fs->locks) {
		fuse_unset_feature_flag(conn, FUSE_CAP_POSIX_LOCKS);
		fuse_unset_feature_flag(conn, FUSE_CAP_FLOCK_LOCKS);
	}
	/* libfuse cannot find requests of a ring to interrupt; all are short */
	conn->no_interrupt = fs->uring;
	conn->max_background = 64; /* for the read-ahead of many jobs at once */
	fs->ready(fs->arg, r);
}

#define MEMBER(name) .name = fs_##name,
const struct fuse_lowlevel_ops fs_ops = {
	FS_OPS(MEMBER)
	.init = fs_init,
	.fsyncdir = fs_fsync,
};
