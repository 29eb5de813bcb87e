/* SPDX-License-Identifier: MIT */
#ifndef FTRAC_INODE_TABLE_H
#define FTRAC_INODE_TABLE_H

/*
 * The inside of the inode table, for inode.c, pins.c, its parts and nobody else.
 *
 * Locks: that of a shard guards the inodes that hash there: their place in the hash, lookups,
 * name and open files.  That of the pins guards its lists, that of the mounts what is in mounts.h
 * and their tops.  Only the last is ever taken while another is held.
 */

#include <pthread.h>
#include <uthash.h>

#include "ftrac/inode.h"

#define SHARDS 64 /* fewer threads than that ever run at once */

#define STATX_WANTED (STATX_BASIC_STATS | STATX_BTIME | MOUNTS_STATX)

/* An inode as the table keeps it. */
struct entry {
	struct inode inode; /* first */
	UT_hash_handle hh;
	uint64_t nlookup;
	int64_t birth_ns; /* 0: the file system does not say */
	uint64_t digest;	  /* what it was like when it was let go; see pins.c */

	/* Of the memory: one for all lookups, one for each hold, child and open file. */
	_Atomic uint32_t refs;
	/* Holds of the descriptor; PINS_CLAIMED while it is being let go. */
	_Atomic int32_t users;
	_Atomic int fd;	       /* -1: let go */
	_Atomic uint32_t used; /* the tick of the last hold */
	_Atomic bool referenced; /* held since the clock's hand came by */
	bool is_hashed, is_listed;
	bool is_lost; /* a name of it was removed; counted in lost */

	struct entry *parent; /* where it was last seen; NULL: nowhere */
	char *name;
	struct opened *opened;
	struct file_handle *handle; /* made once, while claimed */
	struct entry *prev, *next;  /* of the pins */
};

struct shard {
	pthread_mutex_t lock;
	struct entry *entries;
} __attribute__((aligned(64)));

/* See pins.h. */
struct pins {
	pthread_mutex_t lock;
	struct entry *home, *away; /* of the root's mount; of others */
	_Atomic unsigned count;
	unsigned max;
	int last; /* descriptors from this one on are a reserve */
	_Atomic bool any_gone; /* one has been let go, ever */
	_Atomic uint32_t now;  /* ticks, counted by the sweeper */
	int root_dir;	       /* of the source, for reading; -1: there is none */
	bool has_sweeper;
	pthread_t sweeper;
	int stop; /* what it waits for */
};

struct inode_table {
	struct inode_options options;
	struct mounts mounts;
	struct pins pins;
	struct entry root;
	dev_t own_dev;
	bool own_nosuid, own_nodev; /* flags of our own mount */
	_Atomic uint64_t last_id;
	_Atomic unsigned handed_over; /* inodes, to the kernel: orders what was written before with what is read after */
	_Atomic unsigned lost;
	_Atomic int64_t freed_ns; /* when a name was removed last */
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

/* Without any lock. */
void entry_unref(struct inode_table *table, struct entry *entry);

/* What others would change of it: tells files apart where numbers do not last. */
uint64_t stat_digest(const struct statx *sx);

int64_t birth_of(const struct statx *sx);

/*
 * Attributes of *fd without asking ourselves; a descriptor in our own mount, or in one that leads
 * back to us, becomes what ours covers.  0 or -errno; *fd is closed by the caller, always.
 */
int table_stat(struct inode_table *table, const struct inode *near, int *fd, struct statx *ret_sx,
	struct mount **ret_mount);

#endif
