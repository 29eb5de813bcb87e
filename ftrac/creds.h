/* SPDX-License-Identifier: MIT */
#ifndef FTRAC_CREDS_H
#define FTRAC_CREDS_H

/*
 * In whose name a handler acts.
 *
 * The kernel has judged every request already (default_permissions), so a privileged daemon acts
 * with its own rights; but what it creates must belong to the requester, be cut by his umask (or
 * the directory's default ACL), and what it writes must lose its suid and sgid bits as it would
 * have lost them by him:
 *
 *   - creating: the thread's fsuid and fsgid are the requester's, its umask his; the
 *     capabilities stay (securebit NO_SETUID_FIXUP), so that no supplementary groups are needed;
 *   - CAP_FSETID is not effective, so that a write or truncation clears suid and sgid; it is
 *     raised while a mode with such bits is set on request;
 *   - CAP_SYS_RESOURCE is not effective either: others' quotas are to hold;
 *   - space that is reserved for root goes by the fsuid: it is his who asks while he makes files larger;
 *   - what a name in a sticky directory leads to may be another file than the one that the kernel has judged:
 *     it goes away in his name, without CAP_FOWNER.
 *
 * An unprivileged daemon serves its own user only and changes nothing but the umask.
 * All state is per thread, and made when a thread first asks.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct creds {
	uid_t uid;
	gid_t gid;
	mode_t umask;
	mode_t mode; /* of what is created: with suid or sgid, CAP_FSETID is raised */
};

/* For the process, before it makes threads.  It keeps these capabilities of those it has; alone: it executes
 * nothing that needs more (base/rights.h); a privileged one never does.  0 or -errno. */
int creds_init(uint64_t keep, bool alone);

/* Whether the daemon may act for others. */
bool creds_privileged(void);

void creds_enter(const struct creds *creds);
void creds_leave(const struct creds *creds);

/* Somebody who asks. */
struct requester {
	pid_t tid; /* 0: of another pid namespace */
	uid_t uid;
	gid_t gid;
};

/* Whether he has that capability (CAP_*), and it counts in our user namespace.  Of somebody unknown:
 * if he is root. */
bool creds_has(const struct requester *who, int capability);

/* Whether he has all the capabilities that we use. */
bool creds_equals(const struct requester *who);

/*
 * Acts as he would, with his ids and those of his capabilities that we have, too, until
 * creds_return(); group: one more group that he is in, or -1.  For the privileged.
 */
void creds_become(const struct requester *who, gid_t group);
void creds_return(void);

/* Around what makes a file larger, so that what a file system keeps for root is not for him. */
void creds_enter_user(uid_t uid);
void creds_leave_user(uid_t uid);

/* Within creds_enter(): only what is his, or in a directory of his, goes out of a sticky one. */
void creds_drop_fowner(void);
void creds_raise_fowner(void);

/* Acts as a member of these groups and of no other; for the privileged, who have no supplementary
 * groups (creds_init()).  own: one that the requester has. */
void creds_enter_groups(gid_t own, const gid_t *groups, int n);
void creds_leave_groups(void);

/* Around chmod(2) to mode; with S_ISUID, around writing by one who may keep such bits. */
void creds_raise_fsetid(mode_t mode);
void creds_drop_fsetid(mode_t mode);

#endif
