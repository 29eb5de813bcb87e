/* SPDX-License-Identifier: MIT */
#ifndef FTRAC_INODE_TABLE_H
#define FTRAC_INODE_TABLE_H

/*
 * Internals of the inode table, for inode.c, inode_attr.c, inode_opens.c, pins.c, pins_back.c and sweeper.c only.
 *
 * Locks: the lock of a shard guards the inodes that hash there: their place in the hash, lookup
 * counts, names and open files. The lock of the pins guards its lists. The lock of the mounts
 * guards mounts.h and the tops. Only this last one is ever taken while another one is held.
 */

#include <pthread.h>
#include <sys/sysmacros.h>
#include <uthash.h>

#include "ftrac/inode.h"

#define SHARDS 64 /* more than the threads that run at once */

#define STATX_WANTED (STATX_BASIC_STATS | STATX_BTIME | MOUNTS_STATX)

/* An inode as the table keeps it. */
struct entry {
	struct inode inode; /* first */
	UT_hash_handle hh;
	uint64_t nlookup;
	int64_t birth_ns; /* 0: the file system has none */
	uint64_t digest;	  /* stat_digest() when its descriptor was closed; see pins.c */

	/* References to the memory: one for all lookups, one for each hold, child and open file. */
	_Atomic uint32_t refs;
	/* Holds of the descriptor; PINS_CLAIMED while it is being closed. */
	_Atomic int32_t users;
	_Atomic int fd;	       /* -1: closed */
	_Atomic uint32_t used; /* tick of the last hold */
	_Atomic bool referenced; /* held since the clock's hand passed */
	bool is_hashed, is_apart; /* in which table of the shard */
	bool is_listed;
	bool is_lost; /* a name was removed; counted in lost */
	bool had_names; /* more than one, so that another may be left */

	struct entry *parent; /* directory in which it was last seen; NULL: none */
	char *name;
	struct opened *opened;
	struct file_handle *handle; /* made once, while it is claimed */
	struct entry *prev, *next;  /* of the pins */
};

struct shard {
	pthread_mutex_t lock;
	struct entry *entries; /* by device, inode number and mount */
	struct entry *apart;   /* by id: the kernel uses them, and no lookup finds them any more */
} __attribute__((aligned(64)));

/* See pins.h. */
struct pins {
	pthread_mutex_t lock;
	struct entry *home, *away; /* entries of the root's mount; of other mounts */
	_Atomic unsigned count;
	unsigned max;
	int last; /* higher descriptors are a reserve */
	_Atomic bool any_gone; /* a descriptor was closed at some time */
	_Atomic uint32_t now;  /* ticks, counted by the sweeper */
	int root_dir;	       /* of the source, open for reading; -1: none */
	bool has_sweeper;
	pthread_t sweeper;
	int stop; /* eventfd that ends it */
};

struct inode_table {
	struct inode_options options;
	struct mounts mounts;
	struct pins pins;
	struct entry root;
	dev_t own_dev;
	bool own_nosuid, own_nodev; /* flags of our own mount */
	_Atomic uint64_t last_id;
	/* number of inodes passed to the kernel; orders memory accesses between threads */
	_Atomic unsigned handed_over;
	_Atomic unsigned lost;
	_Atomic int64_t freed_ns; /* when the last name was removed */
	struct shard shards[SHARDS];
};

static inline struct entry *entry_of(struct inode *inode)
{
	return (struct entry *)inode;
}

struct shard *table_shard(struct inode_table *table, const struct inode *inode);

static inline void entry_ref(struct entry *entry)
{
	atomic_fetch_add(&entry->refs, 1);
}

/* Called without any lock. */
void entry_unref(struct inode_table *table, struct entry *entry);

/* A digest of attributes that tells files apart on file systems whose inode numbers do not last. */
uint64_t stat_digest(const struct statx *sx);

int64_t birth_of(const struct statx *sx);

static inline dev_t stat_device(const struct statx *sx)
{
	return makedev(sx->stx_dev_major, sx->stx_dev_minor);
}

/* Whether the device file of fd must not be used. */
bool inode_hides_device(const struct inode_table *table, int fd, mode_t mode);
/* Converts what statx() says of fd to the attributes that the mirror shows.  0 or -EACCES: a device that is hidden now. */
int inode_fill_attr(struct inode_table *table, const struct inode *inode, int fd,
	const struct statx *sx, struct stat *ret_attr);
/* Whether no name leads to the file of fd, as far as the kernel knows without a request to the source. */
bool inode_has_no_links(int fd);
/* Notes whether a file has suid bits now. */
void inode_see_mode(struct inode *inode, mode_t mode);

/* Frees what is kept of the open files.  Called with the lock of the shard, or by the only user of the entry. */
void entry_free_opened(struct entry *entry);

/*
 * Reads the attributes of *fd without a request to our own mount. If *fd is in our mount, or in a
 * mirror that leads back to us, replaces it by the directory that our mount covers. 0 or -errno;
 * the caller closes *fd in any case.
 */
int table_stat(struct inode_table *table, const struct inode *near, int *fd, struct statx *ret_sx,
	struct mount **ret_mount);

#endif
