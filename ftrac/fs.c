/* SPDX-License-Identifier: MIT */
#include "ftrac/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ftrac/creds.h"
#include "ftrac/inode.h"

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

void call_reply(struct call *c, int result)
{
	trace_end(c->fs->trace, &c->ev, result);
	fuse_reply_err(c->req, result < 0 ? -result : 0);
}

void call_fill_entry(const struct call *c, const struct inode *inode, const struct stat *attr,
	struct fuse_entry_param *ret_entry)
{
	*ret_entry = (struct fuse_entry_param){
		.ino = inode_nodeid(c->fs->inodes, inode),
		.attr = *attr,
		.attr_timeout = c->fs->attr_timeout,
		.entry_timeout = c->fs->entry_timeout,
	};
}

mode_t call_keeps(const struct call *c, const struct inode *inode)
{
	bool special = atomic_load_explicit(&inode->special, memory_order_relaxed);

	return special && c->ctx->uid == 0 ? S_ISUID : 0;
}

static bool is_for_other(const struct call *c, const struct inode *inode)
{
	return inode->mount->pseudo && c->ctx->uid != 0 && creds_privileged();
}

void call_enter_pseudo(const struct call *c, const struct inode *inode)
{
	if (is_for_other(c, inode))
		creds_become(c->ctx->uid, c->ctx->gid);
}

void call_leave_pseudo(const struct call *c, const struct inode *inode)
{
	if (is_for_other(c, inode))
		creds_return();
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

struct fd_path fd_path(int fd)
{
	struct fd_path path;

	snprintf(path.text, sizeof(path.text), "/proc/self/fd/%d", fd);
	return path;
}

int fs_reopen(const struct inode *inode, int flags)
{
	int fd = open(fd_path(inode->fd).text, (flags & ~O_NOFOLLOW) | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/*
 * What the kernel can do is known only now.  Without shared mappings of files with direct I/O
 * programs would fail on the mount that run without it, so `exact` falls back to `cached`.
 */
static int settle_fidelity(struct fs *fs, struct fuse_conn_info *conn)
{
	bool can_map = conn->capable_ext & FUSE_CAP_DIRECT_IO_ALLOW_MMAP;

	if (fs->fidelity != FIDELITY_EXACT || can_map)
		return 0;
	if (fs->fidelity_fixed)
		return -EOPNOTSUPP;
	fs->fidelity = FIDELITY_CACHED;
	return 0;
}

static void fs_init(void *userdata, struct fuse_conn_info *conn)
{
	static const uint64_t wanted[] = {
		FUSE_CAP_POSIX_ACL,		/* else modes alone would judge where ACLs are */
		FUSE_CAP_DONT_MASK,		/* default ACLs replace the umask */
		FUSE_CAP_HANDLE_KILLPRIV_V2,	/* see creds.h */
		FUSE_CAP_PARALLEL_DIROPS,
		FUSE_CAP_DIRECT_IO_ALLOW_MMAP,
		FUSE_CAP_NO_EXPORT_SUPPORT,	/* a node id is no file handle for NFS */
	};
	/* Data passes through user space to be counted; pipes would only be a way round. */
	static const uint64_t unwanted[] = {
		FUSE_CAP_SPLICE_READ, FUSE_CAP_SPLICE_WRITE, FUSE_CAP_SPLICE_MOVE,
		FUSE_CAP_WRITEBACK_CACHE, /* it loses appends of several writers */
	};
	struct fs *fs = userdata;
	int r = settle_fidelity(fs, conn);

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		if (conn->capable_ext & wanted[i])
			fuse_set_feature_flag(conn, wanted[i]);
	for (size_t i = 0; i < sizeof(unwanted) / sizeof(unwanted[0]); i++)
		fuse_unset_feature_flag(conn, unwanted[i]);
	conn->max_background = 64; /* read-ahead of many jobs at once */
	fs->ready(fs->arg, r);
}

const struct fuse_lowlevel_ops fs_ops = {
	.init = fs_init,
	.lookup = fs_lookup,
	.forget = fs_forget,
	.forget_multi = fs_forget_multi,
	.getattr = fs_getattr,
	.setattr = fs_setattr,
	.readlink = fs_readlink,
	.mknod = fs_mknod,
	.mkdir = fs_mkdir,
	.unlink = fs_unlink,
	.rmdir = fs_rmdir,
	.symlink = fs_symlink,
	.rename = fs_rename,
	.link = fs_link,
	.open = fs_open,
	.read = fs_read,
	.write = fs_write,
	.flush = fs_flush,
	.release = fs_release,
	.fsync = fs_fsync,
	.opendir = fs_opendir,
	.readdir = fs_readdir,
	.releasedir = fs_releasedir,
	.fsyncdir = fs_fsync,
	.statfs = fs_statfs,
	.setxattr = fs_setxattr,
	.getxattr = fs_getxattr,
	.listxattr = fs_listxattr,
	.removexattr = fs_removexattr,
	.create = fs_create,
	.ioctl = fs_ioctl,
	.fallocate = fs_fallocate,
	.copy_file_range = fs_copy_file_range,
	.lseek = fs_lseek,
	.tmpfile = fs_tmpfile,
#if FUSE_VERSION >= FUSE_MAKE_VERSION(3, 18)
	.statx = fs_statx,
#endif
};
