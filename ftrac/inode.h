/* SPDX-License-Identifier: MIT */
#ifndef FTRAC_INODE_H
#define FTRAC_INODE_H

/*
 * The inodes that the kernel knows, and the files of the source that they stand for.
 *
 * An inode is keyed by device, inode number and mount. It lives while the kernel holds lookups of
 * it: the count rises with every entry in a reply and falls with FORGET. A file that is visible in
 * two mounts has two inodes, because ".." and renames depend on the mount.
 *
 * An O_PATH descriptor stands for the inode. While it is open, the file system cannot give the
 * inode number to another file. There are few descriptors but there may be millions of inodes. So
 * the descriptor of an unused inode may be closed, and is opened again when it is needed (pins.h).
 * A handler therefore holds an inode while it uses its descriptor. Holding may fail: -ESTALE if the
 * file cannot be found again; then the kernel looks the name up again.
 *
 * Our mount may lie inside the tree that it mirrors. Following that name would lead into our own
 * mount, and a request to ourselves could wait for the thread that makes it. The device of such a
 * descriptor shows this, and can be read without a request (AT_STATX_DONT_SYNC). The inode is then
 * the directory that the mount covers. Two mirrors may also see each other: a directory of another
 * mirror that leads back to us, as its attribute MIRROR_XATTR says, is also replaced by the
 * directory that it covers. With hide_mirrors every directory of another mirror is replaced.
 *
 * Threads: all functions from any thread. This module knows no FUSE; node ids are plain numbers.
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
	uint64_t id; /* identifies it in events; never reused */
	dev_t dev;   /* these three form the key */
	ino_t ino;
	uint64_t mount_id;
	struct mount *mount;
	uint32_t type;	 /* S_IFMT of its mode */
	unsigned device; /* index of the device; 0: that of the root */
	/* The last seen S_ISUID, S_ISGID and S_IXGRP of a regular file that has one of the first
	 * two; else 0. */
	_Atomic uint16_t special;
	/* A device file whose number is not shown, because its mount is nodev. */
	bool is_hidden_device;
	/*
	 * Of a regular file: mode, and uid and gid, in the last reply to the kernel. reply_unsure:
	 * the kernel may not have received it.
	 */
	_Atomic uint16_t replied_mode;
	_Atomic uint64_t replied_owner;
	_Atomic bool reply_unsure, never_replied;
	/* Its content may change without requests: the kernel passes data through, and the file was
	 * open for writing. */
	_Atomic bool is_backed;
};

/* Link of an open file in the list of its inode; part of the caller's memory. */
struct open_link {
	int fd;
	bool writes;
	bool stores; /* open for reading and writing, so a program may store through a mapping */
	struct open_link *next, **at;
};

/* State shared by all open files of an inode. */
struct opened {
	struct open_link *links;
	int backing_id;	 /* of kernel passthrough; 0: none; fs_file.c keeps it for all of them */
	bool is_decided; /* backing_id does not change until the last one is closed */
	unsigned executions; /* number of opens for execve(2) */
	pid_t asked_again; /* used by fs_open.c */
	struct pages *pages; /* NULL: the daemon need not know what the page cache holds */
};

/*
 * A daemon in the user namespace of one user can show no other owner than that user. Files that the
 * user may write would appear as not writable. So these are shown as owned by the user.
 */
struct inode_squash {
	uid_t uid;
	gid_t gid;
	int n_groups;
	gid_t groups[64]; /* groups of the user */
};

struct inode_options {
	int root;	   /* O_PATH descriptor of the source; the table closes it */
	/* O_PATH descriptor of the directory that the mount covers, or -1; the table closes it */
	int covered;
	struct ring *ring; /* gets events of new and forgotten inodes; may be NULL */
	unsigned pins;	   /* number of descriptors to keep; 0: half of the limit of this process */
	/* Called at the end for each open file without a RELEASE: the mount ended first. */
	void (*left_open)(struct open_link *link);
	void *arg;
	const struct inode_squash *squash; /* NULL: the real owners are shown */
	/*
	 * Replace all directories of other mirrors by what they cover, whether they lead back to us
	 * or not: a request to another mirror could deadlock.
	 */
	bool hide_mirrors;
	bool names;	   /* inode_path() will be used: follow every change of a name */
};

/* 0 or -errno. */
int inode_table_create(const struct inode_options *options, struct inode_table **ret_table);
void inode_table_destroy(struct inode_table *table);

/*
 * Starts the sweeper. This thread closes the descriptors on other mounts that were unused for a
 * quarter of a second, so that the host can unmount them, and those of files that other programs
 * have removed. It blocks all signals, and waits for nothing that a client can hold: otherwise the
 * mount of a killed daemon could not end. 0 or -errno.
 */
int inode_table_start_sweeper(struct inode_table *table);
/* Ends the sweeper. NULL is fine. */
void inode_table_stop_sweeper(struct inode_table *table);

/* Sets the device of our own mount. nosuid, nodev: suid bits and devices have no effect on it
 * anyway. */
void inode_own_mount(struct inode_table *table, dev_t dev, bool nosuid, bool nodev);

/* Converts between node ids of FUSE and inodes. */
struct inode *inode_of(const struct inode_table *table, uint64_t nodeid);
uint64_t inode_nodeid(struct inode_table *table, const struct inode *inode);

/*
 * Holds the inode until inode_release(): returns its O_PATH descriptor; or -errno, and nothing to
 * release. The inode itself also exists until then, even after FORGET.
 */
int inode_hold(struct inode_table *table, struct inode *inode);
void inode_release(struct inode_table *table, struct inode *inode);

/*
 * Looks name up in parent. Returns the inode, with its lookup count raised by one, and its
 * attributes. After -errno there is nothing to undo.
 */
int inode_lookup(struct inode_table *table, struct inode *parent, const char *name,
	struct inode **ret_inode, struct stat *ret_attr);

/* Like inode_lookup(), for the file of fd; name may be NULL if it has none. */
int inode_from_fd(struct inode_table *table, struct inode *parent, const char *name, int fd,
	struct inode **ret_inode, struct stat *ret_attr);

/* Raises the lookup count by one, for another name of the file. */
void inode_add_lookup(struct inode_table *table, struct inode *inode);

/* Lowers the lookup count by n; this may free the inode. */
void inode_forget(struct inode_table *table, struct inode *inode, uint64_t n);

/* Reads the current attributes, through fd if it is >= 0. The inode number is that of
 * inode_number(). */
int inode_stat(struct inode_table *table, struct inode *inode, int fd, struct stat *ret_attr);

/* Like inode_stat(), with attributes that the kernel requests of the source even if it remembers some. */
int inode_stat_anew(struct inode_table *table, struct inode *inode, struct stat *ret_attr);

/*
 * Changes the attributes of the inode, of which fd is a descriptor, to those that are shown: number
 * and owner; neither suid and sgid bits nor devices if its mount forbids them now. -EACCES: a
 * device that was shown before must not be used any more.
 */
int inode_show(struct inode_table *table, const struct inode *inode, int fd, struct statx *sx);

/*
 * Whether suid and sgid bits and file capabilities have no effect on the mount that fd is on. Reads
 * the current flags, since the host may change them (mount -o remount, umount -l).
 */
bool inode_is_nosuid(const struct inode *inode, int fd);

/*
 * The mode and owner in the last reply to the kernel. When the kernel executes a program it uses
 * these without a request. inode_attributes_match(): whether they are still right. If not, the
 * caller invalidates the kernel's attributes; the inode then counts as never replied.
 */
void inode_set_replied(struct inode *inode, mode_t mode, uid_t uid, gid_t gid);
bool inode_attributes_match(struct inode_table *table, struct inode *inode);

/* The next lookup of the file makes a new inode, besides this one. */
void inode_separate(struct inode_table *table, struct inode *inode);

/* See mounts_number(). */
ino_t inode_number(struct inode_table *table, unsigned device, ino_t ino);

/*
 * Used around the removal or replacement of a name. inode_hold_removed() returns the inode that the name
 * leads to, held, if the kernel knows it; else NULL. Afterwards the caller calls inode_name_removed() if
 * the name is gone, or inode_name_changed() if it leads to another file; both release the inode.
 * inode_hold_child() is for a file that gets another name; it also returns NULL if names do not matter.
 */
struct inode *inode_hold_removed(struct inode_table *table, struct inode *parent, const char *name);
struct inode *inode_hold_child(struct inode_table *table, struct inode *parent, const char *name);
void inode_name_removed(struct inode_table *table, struct inode *child, struct inode *parent,
	const char *name);
void inode_name_changed(struct inode_table *table, struct inode *child, struct inode *parent,
	const char *name);

/*
 * The path below the source according to the last seen names, beginning with '/' ("/" for the
 * root). Returns its length, or -errno.
 */
int inode_path(struct inode_table *table, struct inode *inode, char *out, size_t size);

/*
 * The open files of an inode. Between lock and unlock the caller must not block. NULL, and nothing
 * locked: out of memory. link->fd must stay open until inode_closed().
 */
struct opened *inode_opens_lock(struct inode_table *table, struct inode *inode);
void inode_opens_unlock(struct inode_table *table, struct inode *inode);
/* Whether one of them is open for writing. */
bool inode_has_writer(struct inode_table *table, struct inode *inode);
/*
 * If a program may store to the file through a mapping: a descriptor of the source for reading and
 * writing, which the caller closes. -ENOENT: no program may. Other -errno.
 */
int inode_open_stores(struct inode_table *table, struct inode *inode);
/* The kernel has dropped or zeroed that range in its page cache. */
void inode_zeroed(struct inode_table *table, struct inode *inode, off_t begin, off_t end);
/* As inode_opens_lock(), with the lock held. */
struct opened *inode_opens(struct inode *inode);
/* Called with the lock; the inode exists until inode_closed(). */
void inode_opened(struct inode *inode, struct open_link *link);
/* Called without the lock. Returns the backing id that is no longer used, or 0. */
int inode_closed(struct inode_table *table, struct inode *inode, struct open_link *link);

/* A name was removed: the space of its file may become free soon. */
void inode_freed(struct inode_table *table);

/*
 * After ENOSPC, for the turn-th time: waits a moment and returns true if a retry makes sense,
 * because the kernel still holds a removed file.
 */
bool inode_wait_for_space(struct inode_table *table, unsigned turn);

/* After EMFILE or ENFILE: closes the descriptor of an inode. False if none can be closed. */
bool inode_make_room(struct inode_table *table);

/*
 * For a descriptor that will be kept: returns it, or another one for the same file; or closes it
 * and returns -EMFILE if it is one of the reserve without which no request can be served.
 */
int inode_keep(struct inode_table *table, int fd);

/* The result of call, which makes a descriptor. Retries while inode_make_room() succeeds. */
#define WITH_ROOM(table, call)                                                            \
	({                                                                                \
		int made;                                                                 \
		do                                                                        \
			made = (call);                                                    \
		while (made < 0 && (errno == EMFILE || errno == ENFILE) &&                \
			inode_make_room(table));                                          \
		made < 0 ? -errno : made;                                                 \
	})

/*
 * The devices (dev_t each) of the mounts that a directory of a mirror leads through, its own first.
 * An extended attribute that only mirrors read.
 */
#define MIRROR_XATTR "user.ftrac.mirrors"
#define MIRROR_DEPTH 16
/* Returns their number or -errno. */
int inode_mirrors(struct inode_table *table, struct inode *inode, dev_t ret_devices[MIRROR_DEPTH]);

#endif
