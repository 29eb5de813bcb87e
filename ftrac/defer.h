/* SPDX-License-Identifier: MIT */
#ifndef FTRAC_DEFER_H
#define FTRAC_DEFER_H

/*
 * Requests that have to wait for the holder of a lease (fcntl(2), F_SETLEASE): up to fs.lease-break-time, 45 s by
 * default.  Handlers open without waiting; what gets -EAGAIN is deferred.  A thread of its own then opens the file
 * in the name of the requester, waits, and keeps the file open, so that no new lease can come, while the request
 * is tried once more.
 *
 * Where requests come by io_uring, only the thread of the ring may reply (transport.h).  So the waiting thread hands
 * the request back to that thread, and has the kernel send it another request, which wakes it: one for the extended
 * attribute DEFER_XATTR of the mount, from the processor that the ring serves.
 *
 * A user has a share of the threads (shares.h); of the requests of a ring a half may wait.  Who wants more gets
 * -EAGAIN.
 *
 * Threads: any.
 */

#include <stdbool.h>

#include "ftrac/fs.h"

#define DEFER_XATTR "security.ftrac.awake"

struct defer;

/* mountpoint: of the mount that is served, absolute; NULL: its requesters have it as their root.  0 or -ENOMEM. */
int defer_create(struct fs *fs, const char *mountpoint, struct defer **ret_defer);

/* Gives up what still waits.  After the last request; before the session is destroyed. */
void defer_stop(struct defer *defer);
void defer_destroy(struct defer *defer);

/*
 * Waits until inode can be opened with these flags, then calls again(arg), which replies.  arg is memory of
 * malloc(3), which again() frees, or defer_stop(), if it comes first.  0, or -EAGAIN, and nothing will be called.
 */
int defer_open(struct defer *defer, const struct call *c, struct inode *inode, int flags,
	void (*again)(void *arg), void *arg);

/* By a thread of a ring: tries again what has waited for it. */
void defer_go_on(struct defer *defer);

#endif
