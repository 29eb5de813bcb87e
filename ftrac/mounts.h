/* SPDX-License-Identifier: MIT */
#ifndef FTRAC_MOUNTS_H
#define FTRAC_MOUNTS_H

/*
 * The mounts and devices of the source that were seen so far, and the inode numbers that a mirror
 * of all of them shows.
 *
 * A mount is identified by the unique id that the kernel never reuses (Linux 6.8), before that by
 * the id in mountinfo, which the kernel may reuse.
 *
 * Nothing is ever removed, so handlers keep pointers without counting references. Threads: any.
 */

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct inode;
struct ring;

/* A mount of the source. */
struct mount {
	uint64_t id;
	bool remote; /* attributes must be requested from a server */
	bool fuse;
	bool pseudo; /* sizes are meaningless (proc, sysfs) */
	bool named;  /* inode numbers last only while the inode is in use */
	bool mirror; /* another ftrac */
	bool proc;
	bool stacked; /* on top of another file system, like overlayfs */
	_Atomic bool no_handles; /* files cannot be opened by handle */
	_Atomic bool no_backing; /* the kernel cannot pass data through */
	struct inode *top;	 /* a directory of it in the inode table; for pins.c */
	struct mount *next;
};

struct mounts {
	pthread_mutex_t lock;
	struct ring *ring; /* gets events of new mounts; may be NULL */
	struct mount *mounts;
	dev_t *devices;
	unsigned n_devices;
	struct big_number *big;
	uint64_t n_big;
};

void mounts_init(struct mounts *mounts, struct ring *ring);
void mounts_finish(struct mounts *mounts);

/* The mount with that id (stx_mnt_id requested with MOUNTS_STATX), which fd is on. NULL: out of
 * memory. */
#define MOUNTS_STATX (STATX_MNT_ID | 0x4000U /* STATX_MNT_ID_UNIQUE, in headers of 2024 */)
struct mount *mounts_get(struct mounts *mounts, uint64_t id, int fd);

/* The effects of the flags of fd's mount on files. Sends no request to the file system. */
struct mount_effects {
	bool keeps_atime; /* reads do not change the time of access (ro, noatime) */
	bool nosuid, nodev;
};
struct mount_effects mounts_effects(int fd);

/* Whether that mount, which fd is on, is still attached: it is not after umount -l. */
bool mounts_is_attached(const struct mount *mount, int fd);

/*
 * Inspects all visible mounts. *ret_mirror: one of them is a mirror. *ret_late: the mount of that
 * directory (absolute), or a mount below it, may reply late: network, other FUSE file systems.
 */
void mounts_of_others(const char *dir, bool *ret_mirror, bool *ret_late);

/* Index of a device; the first device gets 0. */
unsigned mounts_device(struct mounts *mounts, dev_t dev);

/*
 * The number shown for an inode of the source. The mount is one device, so numbers must be unique
 * in it: inodes of other devices than the root's get the index of their device in the upper 16
 * bits. Inode numbers that use these bits themselves are replaced by consecutive numbers.
 */
ino_t mounts_number(struct mounts *mounts, unsigned device, ino_t ino);

#endif
