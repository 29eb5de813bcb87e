/* SPDX-License-Identifier: MIT */
#ifndef FTRAC_CREDS_H
#define FTRAC_CREDS_H

/*
 * The credentials that a thread acts with.
 *
 * The kernel judges a request by attributes that it has cached, and judges requests on open descriptors by
 * attributes that may be as old as the descriptor.  So a privileged daemon lets the source judge once more: a
 * handler takes on the requester's fsuid, fsgid, supplementary groups and effective capabilities before it
 * touches the source, and keeps them until another requester comes.  Whatever the handler then does wrong, it
 * cannot do more than the requester could natively.
 *
 *   - CAP_SYS_RESOURCE is never in effect: quotas and reserved space hold for all.
 *   - Capabilities of a requester in another user namespace count where they count natively: on objects whose
 *     owner and group belong to that namespace.  The caller names the objects (struct creds_object).
 *   - A requester without a thread id (of a pid namespace that the daemon cannot see) has no known groups.  Its
 *     capabilities are those of its uid: all for root, none for others.
 *   - The few things that need a capability of the daemon's own (to open a file by its handle, to read /proc,
 *     to pass data through) name it: creds_raise().
 *
 * What a requester has is read from /proc and believed for 100 ms, since groups change only by a privileged
 * program.  Capabilities in effect are compared for each request, and after EACCES or EPERM everything is read
 * anew (creds_again()).  An unprivileged daemon serves its own user alone and changes nothing but the umask.
 *
 * All state is per thread, made when the thread first asks.  Source: credentials(7), capabilities(7).
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* For the process, before it makes threads.  It keeps these capabilities of those it has; alone: it executes
 * nothing that needs more (base/rights.h); a privileged one never does.  0 or -errno. */
int creds_init(uint64_t keep, bool alone);

/* Whether the daemon may act for others. */
bool creds_privileged(void);

/* The sender of a request. */
struct requester {
	pid_t tid; /* 0: of another pid namespace */
	uid_t uid;
	gid_t gid;
};

/* What the requester is about to act on: matters for capabilities of another user namespace alone. */
struct creds_object {
	int fd;	    /* O_PATH will do */
	int other;  /* a second one, or -1 */
	bool names; /* entries of these directories go: CAP_FOWNER does not count, for it would be about the file */
	bool content; /* it is written: CAP_FSETID does not count, since the kernel asks for that of the first namespace */
};

/*
 * The thread acts as the requester on that object.  Costs no system call if it does so already (one, capget(2),
 * if the requester has capabilities).  0 or -errno; on error the thread has no capability and no known ids.
 */
int creds_become(const struct requester *requester, const struct creds_object *object);

/* After EACCES or EPERM: reads the credentials of the requester anew if they were remembered.  True if the
 * thread has other credentials now, so that the caller tries again. */
bool creds_again(const struct requester *requester, const struct creds_object *object);

/* The thread acts as the daemon itself, with all that it keeps: for what the kernel asks for in no process' name. */
void creds_become_daemon(void);

/* Exactly these of the daemon's capabilities are in effect, whatever the thread acts as; the ids stay.  Gives
 * what creds_drop() takes to undo it. */
uint64_t creds_raise(uint64_t capabilities);
void creds_drop(uint64_t before);

/* The umask of this thread alone. */
void creds_umask(mode_t mask);

/* Whether the requester has, on all files, each capability that the daemon keeps. */
bool creds_equals(const struct requester *requester);

#endif
