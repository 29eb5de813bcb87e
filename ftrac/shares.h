/* SPDX-License-Identifier: MIT */
#ifndef FTRAC_SHARES_H
#define FTRAC_SHARES_H

/*
 * Limits per user of scarce resources of the daemon.
 *
 * A user may have three times as much as is then still free. So one user gets three quarters of
 * all; two users that take all they can get three sevenths each; and there is always some left for
 * another user. (Dynamic thresholds of shared buffers: Choudhury and Hahne, IEEE/ACM Transactions
 * on Networking 6(2), 1998.) Root, and the user of a mount that serves only that user, may take
 * all. What is given back is available at once.
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

/* room: the amount of each resource. all_for: a user that, like root, may take all; -1: none. 0 or
 * -ENOMEM. */
int shares_create(const size_t room[SHARE_MAX], uid_t all_for, struct shares **ret_shares);
void shares_destroy(struct shares *shares);

/* Takes one; false if the user's share is used up or none is left. */
bool shares_take(struct shares *shares, enum share kind, uid_t user);
void shares_give(struct shares *shares, enum share kind, uid_t user);

#endif
