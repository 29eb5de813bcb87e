/* SPDX-License-Identifier: MIT */
#ifndef FTRAC_INODE_H
#define FTRAC_INODE_H

/*
 * What the kernel remembers of the mirrored tree, and what it stands for in the source.
 *
 * An inode is keyed by device, inode number and mount.  It lives while the kernel holds lookups of
 * it; the count goes up with every entry that is replied and down with FORGET.  The same file
 * under two mounts is two inodes, because ".." and renames see the mount.
 *
 * An O_PATH descriptor stands for it, and while that is open the number cannot be given to another
 * file.  Descriptors are few, inodes may be millions: one that is not in use may be let go, and
 * comes back when it is needed (pins.h).  So a handler holds an inode while it uses its
 * descriptor, and holding may fail: -ESTALE if the file cannot be found again, on which the
 * kernel looks the name up anew.
 *
 * The mount of ours may lie inside the tree it mirrors.  Whoever follows that name ends in our
 * own mount, and a request to ourselves may wait for the thread that makes it.  The device of
 * such a descriptor tells, and can be asked for without a request (AT_STATX_DONT_SYNC): the
 * inode is then the directory that the mount covers.  Two mirrors may also see each other: a
 * directory of another one that leads back to us, as its attribute MIRROR_XATTR says, is the
 * covered directory too; with hide_mirrors each is.
 *
 * Threads: all functions from any thread.  Knows no FUSE; node ids are plain numbers.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "ftrac/mounts.h"

struct inode_table;
struct ring;

struct inode {
	uint64_t id; /* of its events; never reused */
	dev_t dev;   /* these three are the key */
	ino_t ino;
	uint64_t mount_id;
	struct mount *mount;
	uint32_t type;	 /* S_IFMT of its mode */
	unsigned device; /* 0: that of the root */
	/* S_ISUID, S_ISGID and S_IXGRP as last seen, if it is a regular file with one of the first
	 * two; else 0. */
	_Atomic uint16_t special;
	/* A device whose number is not shown, since its mount is nodev. */
	bool is_hidden_device;
	/* What the kernel was told last, if it is a regular file: mode; uid and gid.  Unsure: it may have
	 * missed that. */
	_Atomic uint16_t replied_mode;
	_Atomic uint64_t replied_owner;
	_Atomic bool told_unsure, told_nothing;
	/* Its content has changed, or may, without our being asked: the kernel passes data through, and it was
	 * open for writing. */
	_Atomic bool is_backed;
};

/* An open file's place in the list of its inode's; in memory of who opened it. */
struct open_link {
	int fd;
	bool writes;
	bool stores; /* through a mapping, if at all: it is open for reading and writing */
	struct open_link *next, **at;
};

/* What the open files of an inode have in common. */
struct opened {
	struct open_link *links;
	int backing_id;	 /* of kernel passthrough, 0: none; kept for all of them, by fs_file.c */
	bool is_decided; /* backing_id holds until the last one is closed */
	unsigned executions; /* opens for execve(2) */
	pid_t asked_again; /* by fs_file.c */
	struct pages *pages; /* NULL: the page cache holds nothing that the daemon would have to know */
};

/* Who serves one user from within a user namespace of his can show no other owners than him: what he
 * may write would not be his to write.  So that is shown as his. */
struct inode_squash {
	uid_t uid;
	gid_t gid;
	int n_groups;
	gid_t groups[64]; /* that he is in */
};

struct inode_options {
	int root;	   /* O_PATH descriptor of the source; taken over */
	int covered;	   /* O_PATH descriptor of the directory under the mount, or -1; taken over */
	struct ring *ring; /* hears of new and forgotten inodes; NULL: nobody does */
	unsigned pins;	   /* descriptors to keep; 0: half of the limit of this process */
	/* Called at the end for each open file that the kernel has not released: the mount went before. */
	void (*left_open)(struct open_link *link);
	void *arg;
	const struct inode_squash *squash; /* NULL: owners are shown as they are */
	/* Directories of other mirrors are what ours covers, whether they lead back to us or not: to ask
	 * one would be to wait for it. */
	bool hide_mirrors;
	bool names;	   /* inode_path() will be asked: follow every change of a name */
};

/* 0 or -errno. */
int inode_table_create(const struct inode_options *options, struct inode_table **ret_table);
void inode_table_destroy(struct inode_table *table);

/* Starts the sweeper: a thread that lets other mounts go which nobody has used for a quarter of a
 * second, so that the host can unmount them, and files that others have removed.  It blocks all signals, and
 * waits for nothing that a client can hold: a thread that did would keep the mount of a daemon that is killed
 * from ending.  0 or -errno. */
int inode_table_sweep(struct inode_table *table);
/* And ends it.  NULL is fine. */
void inode_table_rest(struct inode_table *table);

/* From now on st_dev is our own mount, on which suid bits and devices have no effect anyway (nosuid, nodev). */
void inode_own_mount(struct inode_table *table, dev_t dev, bool nosuid, bool nodev);

/* Node id of FUSE <-> inode. */
struct inode *inode_of(const struct inode_table *table, uint64_t nodeid);
uint64_t inode_nodeid(struct inode_table *table, const struct inode *inode);

/*
 * Its O_PATH descriptor, until inode_release(); or -errno, and nothing to release.  The inode
 * itself, too, is there until then, whatever is forgotten meanwhile.
 */
int inode_hold(struct inode_table *table, struct inode *inode);
void inode_release(struct inode_table *table, struct inode *inode);

/*
 * Looks name up in parent: the inode with one lookup more, and its attributes.  -errno, and
 * nothing to undo, otherwise.
 */
int inode_lookup(struct inode_table *table, struct inode *parent, const char *name,
	struct inode **ret_inode, struct stat *ret_attr);

/* As lookup, for what fd is open on; name may be NULL if it has none. */
int inode_from_fd(struct inode_table *table, struct inode *parent, const char *name, int fd,
	struct inode **ret_inode, struct stat *ret_attr);

/* One more lookup of what is known already. */
void inode_again(struct inode_table *table, struct inode *inode);

/* Takes n lookups back; the inode may be gone then. */
void inode_forget(struct inode_table *table, struct inode *inode, uint64_t n);

/* Attributes as they are now; through fd if that is >= 0.  The inode number is that of
 * inode_number(). */
int inode_stat(struct inode_table *table, struct inode *inode, int fd, struct stat *ret_attr);

/* Attributes of that inode, of which fd is a descriptor, as they are to be shown: number, owner, and neither
 * suid and sgid bits nor devices where the mount forbids them now.  -EACCES: a device that was shown must not be
 * used any more. */
int inode_show(struct inode_table *table, const struct inode *inode, int fd, struct statx *sx);

/* Whether suid and sgid bits and capabilities of files have no effect on the inode's mount, which fd is on; as it
 * is now, since the host may change that (mount -o remount, umount -l). */
bool inode_is_nosuid(const struct inode *inode, int fd);

/*
 * What the kernel was told last of mode and owner.  It takes these for its own when it executes a program, without
 * asking.  inode_attributes_match(): whether the kernel has that right; if not, the caller has the kernel forget its
 * attributes, for good: it counts as told nothing then.
 */
void inode_set_replied(struct inode *inode, mode_t mode, uid_t uid, gid_t gid);
bool inode_attributes_match(struct inode_table *table, struct inode *inode);

/* The next lookup of the file gives an inode of its own, beside this one. */
void inode_part(struct inode_table *table, struct inode *inode);

/* See mounts_number(). */
ino_t inode_number(struct inode_table *table, unsigned device, ino_t ino);

/*
 * Around the removal or replacement of a name: what it leads to, held if the kernel knows it, else
 * NULL.  Afterwards, inode_lost() if the name is gone, and inode_moved() if it is another one now;
 * both release.  inode_child() is for what will have another name: NULL also where names do not matter.
 */
struct inode *inode_doomed(struct inode_table *table, struct inode *parent, const char *name);
struct inode *inode_child(struct inode_table *table, struct inode *parent, const char *name);
void inode_lost(struct inode_table *table, struct inode *child, struct inode *parent,
	const char *name);
void inode_moved(struct inode_table *table, struct inode *child, struct inode *parent,
	const char *name);

/* The path below the source as the names were last seen, beginning with '/' ("/" for the root).
 * Its length, or -errno. */
int inode_path(struct inode_table *table, struct inode *inode, char *out, size_t size);

/*
 * The open files of an inode.  Between lock and unlock nothing may be done that may wait.  NULL,
 * and nothing locked: out of memory.  link->fd must stay open until inode_closed().
 */
struct opened *inode_opens_lock(struct inode_table *table, struct inode *inode);
void inode_opens_unlock(struct inode_table *table, struct inode *inode);
/* Whether one of them is for writing. */
bool inode_has_writer(struct inode_table *table, struct inode *inode);
/* A descriptor of the source, for reading and writing, if a program may store to the file through a mapping; the
 * caller closes it.  -ENOENT: none may; -errno. */
int inode_open_stores(struct inode_table *table, struct inode *inode);
/* The kernel drops and zeroes that range in its page cache. */
void inode_zeroed(struct inode_table *table, struct inode *inode, off_t begin, off_t end);
/* With the lock, again. */
struct opened *inode_opens(struct inode *inode);
/* With the lock; the inode is there until inode_closed(). */
void inode_opened(struct inode *inode, struct open_link *link);
/* Without the lock.  The backing id that is no longer used, or 0. */
int inode_closed(struct inode_table *table, struct inode *inode, struct open_link *link);

/* A name was removed, whoever it led to: its space may come back soon. */
void inode_freed(struct inode_table *table);

/* After there was no space, for the turn-th time: true if it is worth trying again, since something
 * was removed that the kernel has not let go of yet.  Waits a moment then. */
bool inode_awaits_space(struct inode_table *table, unsigned turn);

/* After a descriptor could not be made for want of room (EMFILE, ENFILE): lets one of an inode go.
 * False if there is none to spare. */
bool inode_make_room(struct inode_table *table);

/* Of a descriptor that will be kept: the same, or another in its place, or -EMFILE (and it is closed)
 * if it is one of the last, without which nobody could do anything. */
int inode_keep(struct inode_table *table, int fd);

/* ret: what call gave, which makes a descriptor; tried again while there is room to be made. */
#define WITH_ROOM(table, call)                                                            \
	({                                                                                \
		int made;                                                                 \
		do                                                                        \
			made = (call);                                                    \
		while (made < 0 && (errno == EMFILE || errno == ENFILE) &&                \
			inode_make_room(table));                                          \
		made < 0 ? -errno : made;                                                 \
	})

/* The devices of the mounts that a directory of a mirror leads through, its own first: dev_t each.
 * An extended attribute that only mirrors ask for. */
#define MIRROR_XATTR "user.ftrac.mirrors"
#define MIRROR_DEPTH 16
/* -errno, or how many. */
int inode_mirrors(struct inode_table *table, struct inode *inode, dev_t ret_devices[MIRROR_DEPTH]);

#endif
