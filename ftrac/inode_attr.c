/* SPDX-License-Identifier: MIT */

/* Attributes of inodes: what a file of the source shows in the mirror, and how the source is asked without a request to
 * our own mount. */

#include <errno.h>
#include <fcntl.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/fd_path.h"
#include "ftrac/inode_table.h"

/* ---- attributes ---- */

static struct timespec time_of(const struct statx_timestamp *t)
{
	return (struct timespec){ .tv_sec = t->tv_sec, .tv_nsec = t->tv_nsec };
}

int64_t birth_of(const struct statx *sx)
{
	if (!(sx->stx_mask & STATX_BTIME))
		return 0;
	return sx->stx_btime.tv_sec * 1000000000 + sx->stx_btime.tv_nsec;
}

static bool is_in_group(const struct inode_squash *squash, gid_t gid)
{
	for (int i = 0; i < squash->n_groups; i++)
		if (squash->groups[i] == gid)
			return true;
	return gid == squash->gid;
}

/* Replaces the owner by the one that is shown (inode_squash). */
static void show_owner(const struct inode_table *table, mode_t mode, uid_t *uid, gid_t *gid)
{
	const struct inode_squash *squash = table->options.squash;

	if (!squash)
		return;
	if (*uid != squash->uid && ((mode & S_IWOTH) ||
			((mode & S_IWGRP) && is_in_group(squash, *gid))))
		*uid = squash->uid;
	if (*uid == squash->uid)
		*gid = squash->gid;
}

static bool may_gain_rights(mode_t mode)
{
	return S_ISREG(mode) && (mode & (S_ISUID | S_ISGID)) && (mode & 0111);
}

static bool is_device(mode_t mode)
{
	return S_ISCHR(mode) || S_ISBLK(mode);
}

/* The flags ST_NOSUID, ST_NODEV ... of the mount of fd; all of them if they cannot be read. */
static unsigned long flags_of(int fd)
{
	struct statvfs st;

	return fstatvfs(fd, &st) < 0 ? ST_NOSUID | ST_NODEV : st.f_flag;
}

/* On a detached mount, which descriptors keep alive, the kernel honours no suid bits. */
bool inode_is_nosuid(const struct inode *inode, int fd)
{
	return (flags_of(fd) & ST_NOSUID) || !mounts_is_attached(inode->mount, fd);
}

bool inode_hides_device(const struct inode_table *table, int fd, mode_t mode)
{
	return is_device(mode) && !table->own_nodev && (flags_of(fd) & ST_NODEV);
}

/* Bits without effect in the source must have none here; the kernel knows only the flags of our
 * mount. */
static bool hides_bits(const struct inode_table *table, const struct inode *inode, int fd, mode_t mode)
{
	return may_gain_rights(mode) && !table->own_nosuid && inode_is_nosuid(inode, fd);
}

int inode_show(struct inode_table *table, const struct inode *inode, int fd, struct statx *sx)
{
	sx->stx_ino = inode_number(table, inode->device, sx->stx_ino);
	show_owner(table, sx->stx_mode, &sx->stx_uid, &sx->stx_gid);
	if (hides_bits(table, inode, fd, sx->stx_mode))
		sx->stx_mode &= ~(S_ISUID | S_ISGID);
	if (is_device(sx->stx_mode) && !inode->is_hidden_device &&
		inode_hides_device(table, fd, sx->stx_mode))
		return -EACCES;
	if (inode->is_hidden_device)
		sx->stx_rdev_major = sx->stx_rdev_minor = 0;
	return 0;
}

static void fill_stat(const struct statx *sx, struct stat *ret_attr)
{
	*ret_attr = (struct stat){
		.st_dev = stat_device(sx),
		.st_ino = sx->stx_ino,
		.st_mode = sx->stx_mode,
		.st_nlink = sx->stx_nlink,
		.st_uid = sx->stx_uid,
		.st_gid = sx->stx_gid,
		.st_rdev = makedev(sx->stx_rdev_major, sx->stx_rdev_minor),
		.st_size = sx->stx_size,
		.st_blksize = sx->stx_blksize,
		.st_blocks = sx->stx_blocks,
		.st_atim = time_of(&sx->stx_atime),
		.st_mtim = time_of(&sx->stx_mtime),
		.st_ctim = time_of(&sx->stx_ctime),
	};
}

int inode_fill_attr(struct inode_table *table, const struct inode *inode, int fd,
	const struct statx *sx, struct stat *ret_attr)
{
	struct statx shown = *sx;
	int r = inode_show(table, inode, fd, &shown);

	fill_stat(&shown, ret_attr);
	return r;
}

/* ---- the last reply to the kernel ---- */

void inode_set_replied(struct inode *inode, mode_t mode, uid_t uid, gid_t gid)
{
	uint64_t owner = (uint64_t)uid << 32 | gid;
	bool nothing;

	if (inode->type != S_IFREG)
		return;
	mode &= 07777;
	nothing = atomic_load_explicit(&inode->never_replied, memory_order_relaxed) &&
		atomic_exchange(&inode->never_replied, false);
	if (atomic_load_explicit(&inode->replied_mode, memory_order_relaxed) == mode &&
		atomic_load_explicit(&inode->replied_owner, memory_order_relaxed) == owner)
		return;
	if (!nothing && ((mode | atomic_load(&inode->replied_mode)) & (S_ISUID | S_ISGID)))
		atomic_store(&inode->reply_unsure, true);
	atomic_store(&inode->replied_mode, mode);
	atomic_store(&inode->replied_owner, owner);
}

bool inode_attributes_match(struct inode_table *table, struct inode *inode)
{
	struct stat now;
	mode_t replied = atomic_load(&inode->replied_mode);
	bool unsure = atomic_load(&inode->reply_unsure), same;

	if (inode_stat(table, inode, -1, &now) < 0)
		return false;
	if (!unsure && !((replied | now.st_mode) & (S_ISUID | S_ISGID)))
		return true;
	same = !unsure && replied == (now.st_mode & 07777) &&
	       atomic_load(&inode->replied_owner) == ((uint64_t)now.st_uid << 32 | now.st_gid);
	if (!same) {
		atomic_store(&inode->reply_unsure, false);
		atomic_store(&inode->never_replied, true);
	}
	return same;
}

void inode_see_mode(struct inode *inode, mode_t mode)
{
	uint16_t special = 0;

	if (S_ISREG(mode) && (mode & (S_ISUID | S_ISGID)))
		special = mode & (S_ISUID | S_ISGID | S_IXGRP);
	if (atomic_load_explicit(&inode->special, memory_order_relaxed) != special)
		atomic_store_explicit(&inode->special, special, memory_order_relaxed);
}

static int stat_with(struct inode_table *table, struct inode *inode, int fd, int sync, struct stat *ret_attr)
{
	const int flags = AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW | sync;
	int held = fd < 0 ? inode_hold(table, inode) : fd;
	struct statx sx;
	int r = held;

	if (r >= 0)
		r = statx(held, "", flags, STATX_BASIC_STATS, &sx) < 0 ? -errno : 0;
	if (r == 0) {
		inode_see_mode(inode, sx.stx_mode);
		r = inode_fill_attr(table, inode, held, &sx, ret_attr);
	}
	if (fd < 0 && held >= 0)
		inode_release(table, inode);
	return r;
}

int inode_stat(struct inode_table *table, struct inode *inode, int fd, struct stat *ret_attr)
{
	return stat_with(table, inode, fd, AT_STATX_SYNC_AS_STAT, ret_attr);
}

int inode_stat_anew(struct inode_table *table, struct inode *inode, struct stat *ret_attr)
{
	return stat_with(table, inode, -1, AT_STATX_FORCE_SYNC, ret_attr);
}

bool inode_has_no_links(int fd)
{
	struct statx sx;

	return statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_NLINK, &sx) == 0 && sx.stx_nlink == 0;
}

ino_t inode_number(struct inode_table *table, unsigned device, ino_t ino)
{
	return mounts_number(&table->mounts, device, ino);
}

/* ---- stat without requests to our own mount ---- */

/* Whether a directory of another mirror leads through our own mount. */
static bool leads_back(const struct inode_table *table, int fd)
{
	dev_t devices[MIRROR_DEPTH];
	ssize_t n = getxattr(fd_path(fd).text, MIRROR_XATTR, devices, sizeof(devices));

	for (ssize_t i = 0; i < n / (ssize_t)sizeof(devices[0]); i++)
		if (devices[i] == table->own_dev)
			return true;
	return false;
}

static int stat_covered(struct inode_table *table, int *fd, struct statx *sx)
{
	close(*fd);
	*fd = fcntl(table->options.covered, F_DUPFD_CLOEXEC, 3);
	if (*fd < 0)
		return -errno;
	return statx(*fd, "", AT_EMPTY_PATH, STATX_WANTED, sx) < 0 ? -errno : 0;
}

static int stat_near(struct inode_table *table, const struct inode *near, int *fd, struct statx *sx,
	struct mount **ret_mount)
{
	const int flags = AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW;
	struct mount *mount;

	if (statx(*fd, "", flags | AT_STATX_DONT_SYNC, STATX_WANTED, sx) < 0)
		return -errno;
	if (table->own_dev && stat_device(sx) == table->own_dev)
		return stat_covered(table, fd, sx);
	mount = near && near->mount_id == sx->stx_mnt_id ? near->mount
		: mounts_get(&table->mounts, sx->stx_mnt_id, *fd);
	if (!mount)
		return -ENOMEM;
	if (mount->mirror && S_ISDIR(sx->stx_mode) && table->own_dev &&
		(table->options.hide_mirrors || leads_back(table, *fd)))
		return stat_covered(table, fd, sx);
	*ret_mount = mount;
	if (mount->remote && statx(*fd, "", flags, STATX_WANTED, sx) < 0)
		return -errno;
	return 0;
}

int table_stat(struct inode_table *table, const struct inode *near, int *fd, struct statx *ret_sx,
	struct mount **ret_mount)
{
	int r;

	*ret_mount = NULL;
	r = stat_near(table, near, fd, ret_sx, ret_mount);
	if (r == 0 && !*ret_mount)
		*ret_mount = mounts_get(&table->mounts, ret_sx->stx_mnt_id, *fd);
	return r == 0 && !*ret_mount ? -ENOMEM : r;
}

int inode_mirrors(struct inode_table *table, struct inode *inode, dev_t ret_devices[MIRROR_DEPTH])
{
	ssize_t n;
	int fd;

	ret_devices[0] = table->own_dev;
	if (!inode->mount->mirror)
		return 1;
	fd = inode_hold(table, inode);
	if (fd < 0)
		return fd;
	n = getxattr(fd_path(fd).text, MIRROR_XATTR, ret_devices + 1,
		(MIRROR_DEPTH - 1) * sizeof(ret_devices[0]));
	inode_release(table, inode);
	return n < 0 ? 1 : 1 + n / sizeof(ret_devices[0]);
}
