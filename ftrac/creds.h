/* SPDX-License-Identifier: MIT */
#ifndef FTRAC_CREDS_H
#define FTRAC_CREDS_H

/*
 * The credentials that a thread acts with.
 *
 * The kernel checks a request against attributes that it has cached, and a request on an open
 * descriptor against attributes that may be as old as the descriptor. So a privileged daemon has
 * the source check each request once more: before a handler touches the source, its thread takes on
 * the requester's fsuid, fsgid, supplementary groups and effective capabilities. The thread keeps
 * them until it serves another requester. So even a faulty handler cannot do more than the
 * requester could do natively.
 *
 * - CAP_SYS_RESOURCE is never in effect: quotas and reserved space apply to all requesters.
 * - Capabilities of a requester in another user namespace apply where they apply natively: to
 *   objects whose owner and group belong to that namespace. The caller names the objects (struct
 *   creds_object).
 * - A requester without a thread id (of a pid namespace that the daemon cannot see) has no known
 *   groups. Its capabilities follow from its uid: all for root, none for others.
 * - A few operations need a capability of the daemon's own: to open a file by its handle, to read
 *   /proc, to pass data through. They name it in creds_raise().
 *
 * The requester's credentials are read from /proc and cached for 100 ms, because only privileged
 * programs change groups. The effective capabilities are compared for each request, and after
 * EACCES or EPERM everything is read again (creds_again()). An unprivileged daemon serves its own
 * user only and changes nothing but the umask.
 *
 * All state is per thread and is made on first use. Source: credentials(7), capabilities(7).
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Called once, before the process makes threads. Keeps these capabilities, as far as the process
 * has them. alone: the process executes nothing that needs more (base/rights.h); a privileged
 * daemon never does. 0 or -errno.
 */
int creds_init(uint64_t keep, bool alone);

/* Whether the daemon may act for others. */
bool creds_privileged(void);

/* The sender of a request. */
struct requester {
	pid_t tid; /* 0: of another pid namespace */
	uid_t uid;
	gid_t gid;
};

/* The objects that a request acts on. They matter only for capabilities of another user
 * namespace. */
struct creds_object {
	int fd;	    /* O_PATH will do */
	int other;  /* a second object, or -1 */
	/*
	 * the request removes entries of these directories: CAP_FOWNER does not apply, since it
	 * would be about the file
	 */
	bool names;
	/* the request writes to it: CAP_FSETID does not apply, since the kernel requires it in the
	 * initial namespace */
	bool content;
};

/*
 * Makes the thread act as the requester on that object. Costs no system call if it does so already
 * (one, capget(2), if the requester has capabilities). 0 or -errno; after an error the thread has
 * no capability and its ids are unknown.
 */
int creds_become(const struct requester *requester, const struct creds_object *object);

/*
 * After EACCES or EPERM: reads the requester's credentials again if they came from the cache.
 * Returns true if the thread has other credentials now; the caller then retries.
 */
bool creds_again(const struct requester *requester, const struct creds_object *object);

/*
 * Makes the thread act as the daemon, with all capabilities that it keeps: for kernel requests that
 * belong to no process.
 */
void creds_become_daemon(void);

/*
 * Puts exactly these capabilities of the daemon into effect; the ids stay. Returns the value that
 * creds_drop() takes to undo it.
 */
uint64_t creds_raise(uint64_t capabilities);
void creds_drop(uint64_t before);

/*
 * Whether these capabilities are in effect in the thread; after creds_become(), whether the
 * requester has them.
 */
bool creds_has(uint64_t capabilities);

/* Sets the umask of this thread only. */
void creds_umask(mode_t mask);

/* Whether the requester has, on all files, each capability that the daemon keeps. */
bool creds_equals(const struct requester *requester);

#endif
