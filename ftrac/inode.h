/* SPDX-License-Identifier: MIT */
#ifndef FTRAC_INODE_H
#define FTRAC_INODE_H

/*
 * What the kernel remembers of the mirrored tree, and what it stands for in the source.
 *
 * An inode is keyed by device, inode number and mount, and pinned by an O_PATH descriptor: as
 * long as that is open the number cannot be given to another file.  It lives while the kernel
 * holds lookups of it; the count goes up with every entry that is replied and down with FORGET.
 * The same file under two mounts is two inodes, because ".." and renames see the mount.
 *
 * The mount of ours may lie inside the tree it mirrors.  Whoever follows that name ends in our
 * own mount, and a request to ourselves may wait for the thread that makes it.  The device of
 * such a descriptor tells, and can be asked for without a request (AT_STATX_DONT_SYNC): the
 * inode is then the directory that the mount covers.
 *
 * Threads: all functions from any thread.  Knows no FUSE; node ids are plain numbers.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

struct inode_table;
struct ring;

/* A mount of the source. */
struct mount {
	uint64_t id;
	bool remote; /* attributes have to be asked for */
	bool pseudo; /* sizes say nothing (proc, sysfs) */
	struct mount *next;
};

struct inode {
	uint64_t id;   /* of its events; never reused */
	int fd;	       /* O_PATH */
	uint32_t type; /* S_IFMT of its mode */
	dev_t dev;
	ino_t ino;
	unsigned device; /* 0: that of the root; for inode_number() */
	const struct mount *mount;
	_Atomic bool special; /* it has its suid or sgid bit, as far as was seen */
};

struct inode_options {
	int root;	     /* O_PATH descriptor of the source; taken over */
	int covered;	     /* O_PATH descriptor of the directory under the mount, or -1; taken over */
	struct ring *ring;   /* hears of new and forgotten inodes; NULL: nobody does */
};

/* 0 or -errno. */
int inode_table_create(const struct inode_options *options, struct inode_table **ret_table);
void inode_table_destroy(struct inode_table *table);

/* From now on st_dev is our own mount. */
void inode_own_device(struct inode_table *table, dev_t dev);

/* Node id of FUSE <-> inode. */
struct inode *inode_of(const struct inode_table *table, uint64_t nodeid);
uint64_t inode_nodeid(const struct inode_table *table, const struct inode *inode);

/*
 * Looks name up in parent: the inode with one lookup more, and its attributes.  -errno, and
 * nothing to undo, otherwise.
 */
int inode_lookup(struct inode_table *table, const struct inode *parent, const char *name,
	struct inode **ret_inode, struct stat *ret_attr);

/* As lookup, for what fd is open on. */
int inode_from_fd(struct inode_table *table, const struct inode *parent, int fd,
	struct inode **ret_inode, struct stat *ret_attr);

/* One more lookup of what is known already. */
void inode_again(struct inode_table *table, struct inode *inode);

/* Takes n lookups back; the inode may be gone then. */
void inode_forget(struct inode_table *table, struct inode *inode, uint64_t n);

/* Attributes as they are now; through fd if that is >= 0.  The inode number is that of
 * inode_number(). */
int inode_stat(struct inode *inode, int fd, struct stat *ret_attr);

/*
 * The number shown for an inode of the source.  A mount has one device and so must not show a
 * number twice: those of other devices than the root's get the index of their device on top.
 */
ino_t inode_number(unsigned device, ino_t ino);

#endif
