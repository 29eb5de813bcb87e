/* SPDX-License-Identifier: MIT */
#ifndef FTRAC_LOCKS_H
#define FTRAC_LOCKS_H

/*
 * --locks native: locks of files are passed on to the source, where they meet those of programs
 * outside of the mount.  (By default the kernel keeps them for the mount alone.)
 *
 * A POSIX lock belongs to a process, which to the source is always us.  So each owner that the
 * kernel names gets an open file description of his own for an inode, and holds open file
 * description locks by that; it is closed when he closes any descriptor of the file, as POSIX has
 * it.  flock(2) locks belong to the open file in any case.
 *
 * Who waits for a lock waits in a thread of his own, so that no number of them stops the mount.
 * Differences that remain: no EDEADLK; the order of waiters is not kept.
 *
 * Threads: any.  Errors are -errno.
 */

#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct inode;
struct lock_table;
struct waking;

/* Who asks for a lock of what. */
struct lock_request {
	const struct inode *inode;
	const void *file; /* the open file that it is asked by, for locks_release() */
	int fd;		  /* of that */
	uint64_t owner;
	pid_t pid;
	struct flock range; /* as fcntl(2) has it; not for flock(2) */
	int flock;	    /* LOCK_SH, LOCK_EX or LOCK_UN of flock(2); 0: it is a POSIX lock */
};

int locks_create(struct lock_table **ret_table);
void locks_destroy(struct lock_table *table);

/* Who is in the way of request->range; l_type F_UNLCK if nobody. */
int locks_get(struct lock_table *table, struct lock_request *request);

/* Sets or takes away without waiting: -EAGAIN if somebody is in the way. */
int locks_try(struct lock_table *table, const struct lock_request *request);

/* Waits in a thread of its own, which calls done(arg, result) at its end; waking_stop() ends it with -EINTR.
 * -errno, and nothing will be called, if there is no thread. */
int locks_wait(struct lock_table *table, const struct lock_request *request,
	struct waking *waking, void (*done)(void *arg, int result), void *arg);

/* The owner closed a descriptor of the inode: his POSIX locks go. */
void locks_close(struct lock_table *table, const struct inode *inode, uint64_t owner);

/* The open file is gone, and so are the locks of owners that were that file. */
void locks_release(struct lock_table *table, const void *file);

#endif
