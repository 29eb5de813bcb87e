/* SPDX-License-Identifier: MIT */
#ifndef FTRAC_MOUNTS_H
#define FTRAC_MOUNTS_H

/*
 * The mounts and devices that the source spans, as far as they were seen, and the inode numbers
 * that a mirror of all of them shows.
 *
 * A mount is known by the id that the kernel never gives a second time (Linux 6.8), before that by
 * the one of mountinfo, which a later mount may have again.
 *
 * Nothing is ever taken out: handlers keep pointers without counting.  Threads: any.
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
	bool remote; /* attributes have to be asked for */
	bool pseudo; /* sizes say nothing (proc, sysfs) */
	bool named;  /* an inode number lasts only while the inode is in use */
	bool mirror; /* another ftrac */
	bool proc;
	bool stacked; /* on another file system, as overlayfs */
	_Atomic bool no_handles; /* files cannot be reopened by handle here */
	_Atomic bool no_backing; /* the kernel cannot pass through to here */
	struct inode *top;	 /* a directory of it that the table knows; for pins.c */
	struct mount *next;
};

struct mounts {
	pthread_mutex_t lock;
	struct ring *ring; /* hears of new mounts; may be NULL */
	struct mount *mounts;
	dev_t *devices;
	unsigned n_devices;
	struct big_number *big;
	uint64_t n_big;
};

void mounts_init(struct mounts *mounts, struct ring *ring);
void mounts_finish(struct mounts *mounts);

/* The mount with that id (stx_mnt_id as asked for by MOUNTS_STATX), which fd is on.  NULL: out of
 * memory. */
#define MOUNTS_STATX (STATX_MNT_ID | 0x4000U /* STATX_MNT_ID_UNIQUE, in headers of 2024 */)
struct mount *mounts_get(struct mounts *mounts, uint64_t id, int fd);

/* What the mount that fd is on makes of files.  Asks nothing of the file system. */
struct mount_effects {
	bool keeps_atime; /* reading leaves times of access alone (ro, noatime) */
	bool nosuid, nodev;
};
struct mount_effects mounts_effects(int fd);

/* Whether that mount, which fd is on, is still in the tree of mounts: it is not after umount -l. */
bool mounts_is_attached(const struct mount *mount, int fd);

/*
 * Of the mounts that can be seen: whether any is a mirror, and whether what that directory (absolute) is on,
 * or one below it, may answer late (*ret_late): network, other FUSE file systems.
 */
void mounts_of_others(const char *dir, bool *ret_mirror, bool *ret_late);

/* Index of a device; 0 is that of the first one asked for. */
unsigned mounts_device(struct mounts *mounts, dev_t dev);

/*
 * The number shown for an inode of the source.  A mount has one device and so must not show a
 * number twice: those of other devices than the root's get the index of their device into the
 * upper 16 bits.  Numbers that need these bits themselves are counted through.
 */
ino_t mounts_number(struct mounts *mounts, unsigned device, ino_t ino);

#endif
