/* SPDX-License-Identifier: MIT */
#ifndef FTRAC_LOCKS_H
#define FTRAC_LOCKS_H

/*
 * --locks native: passes file locks on to the source, where they exclude programs outside of the
 * mount, too. (By default the kernel keeps them for the mount alone.)
 *
 * A POSIX lock belongs to a process; for the source that process would always be the daemon. So for
 * each lock owner that the kernel names, and each inode, this module opens the file once and sets
 * open file description locks on that description. It closes the description when the owner closes
 * any descriptor of the file, as POSIX requires. flock(2) locks belong to the open file anyway.
 *
 * Each lock request that waits has a thread of its own, so that waiting requests do not block the
 * mount. Differences from native locks: no EDEADLK, and waiters may overtake each other.
 *
 * Threads: any. Errors are -errno.
 */

#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct inode;
struct lock_table;
struct waking;

/* A lock request: owner, file and range. */
struct lock_request {
	const struct inode *inode;
	const void *file; /* the open file of the request, for locks_release() */
	int fd;		  /* descriptor of that file */
	uint64_t owner;
	pid_t pid;
	struct flock range; /* as in fcntl(2); unused for flock(2) */
	int flock;	    /* LOCK_SH, LOCK_EX or LOCK_UN for flock(2); 0: a POSIX lock */
};

int locks_create(struct lock_table **ret_table);
void locks_destroy(struct lock_table *table);

/* Finds a lock that conflicts with request->range; l_type is F_UNLCK if there is none. */
int locks_get(struct lock_table *table, struct lock_request *request);

/* Sets or removes a lock without waiting: -EAGAIN if a lock conflicts. */
int locks_try(struct lock_table *table, const struct lock_request *request);

/*
 * Waits in a separate thread, which calls done(arg, result) at its end; waking_stop() ends the wait
 * with -EINTR. -errno: there is no thread, and done() is not called.
 */
int locks_wait(struct lock_table *table, const struct lock_request *request,
	struct waking *waking, void (*done)(void *arg, int result), void *arg);

/* The owner closed a descriptor of the inode: removes its POSIX locks. */
void locks_close(struct lock_table *table, const struct inode *inode, uint64_t owner);

/* The open file was released: removes the locks of the owners that used this file last. */
void locks_release(struct lock_table *table, const void *file);

#endif
