/* SPDX-License-Identifier: MIT */
#ifndef FTRAC_DEFER_H
#define FTRAC_DEFER_H

/*
 * Requests that wait for the holder of a lease (fcntl(2), F_SETLEASE): up to fs.lease-break-time,
 * 45 s by default. Handlers open files without waiting. If the open returns -EAGAIN, the request is
 * deferred: a separate thread opens the file with the requester's credentials, waits, and keeps the
 * file open, so that no new lease is possible, while the request is retried.
 *
 * If requests come by io_uring, only the thread of the ring may reply (transport.h). So the waiting
 * thread hands the request back to that thread and wakes it: from the processor of the ring it
 * makes the kernel send another request, for the extended attribute DEFER_XATTR of the mount.
 *
 * Each user has a share of the threads (shares.h), and half of the requests of a ring may wait.
 * Beyond that requests get -EAGAIN.
 *
 * Threads: any.
 */

#include <stdbool.h>

#include "ftrac/fs.h"

#define DEFER_XATTR "security.ftrac.awake"

struct defer;

/* mountpoint: of our mount, absolute; NULL: it is the root directory of its requesters. 0 or
 * -ENOMEM. */
int defer_create(struct fs *fs, const char *mountpoint, struct defer **ret_defer);

/* Ends the requests that still wait. Called after the last request and before the session is
 * destroyed. */
void defer_stop(struct defer *defer);
void defer_destroy(struct defer *defer);

/*
 * Waits until inode can be opened with these flags, then calls again(arg), which replies. arg is
 * memory of malloc(3); again() frees it, or defer_stop() does if it comes first. 0; or -EAGAIN, and
 * again() is not called.
 */
int defer_open(struct defer *defer, const struct call *c, struct inode *inode, int flags,
	void (*again)(void *arg), void *arg);

/* Called by the thread of a ring: retries the requests that waited for it. */
void defer_retry(struct defer *defer);

#endif
