/* SPDX-License-Identifier: MIT */
#ifndef FTRAC_SHARES_H
#define FTRAC_SHARES_H

/*
 * How much of what the daemon has few of one user may take.
 *
 * A user may have three times as much as is then still left for others: one user gets three quarters of all, of two
 * greedy ones each gets three sevenths, and there is always some for the next.  (Dynamic thresholds of shared buffers: Choudhury and
 * Hahne, IEEE/ACM Transactions on Networking 6(2), 1998.)  Root, and the user of a mount that serves that user
 * alone, may take all.  What is given back can be taken again at once.
 *
 * Threads: any.
 */

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct shares;

enum share {
	SHARE_FILES, /* descriptors of open files and directories */
	SHARE_LEASES, /* threads that wait for the holder of a lease */
	SHARE_LOCKS, /* threads that wait for a lock */
	SHARE_MAX
};

/* room: how many there are of each; all_for: a user who may take all, as root may; -1: there is none.  0 or -ENOMEM. */
int shares_create(const size_t room[SHARE_MAX], uid_t all_for, struct shares **ret_shares);
void shares_destroy(struct shares *shares);

/* Takes one; false: it would be more than the user's share, or none is left. */
bool shares_take(struct shares *shares, enum share kind, uid_t user);
void shares_give(struct shares *shares, enum share kind, uid_t user);

#endif
