/* SPDX-License-Identifier: MIT */
#ifndef BASE_RIGHTS_H
#define BASE_RIGHTS_H

/*
 * Capabilities that the program keeps, and users that it trusts.  Capabilities belong to threads: call rights_keep()
 * before other threads are created.  Those, and executed programs, inherit what is left.
 */

#include <linux/capability.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define RIGHT(capability) (UINT64_C(1) << (capability))
#define RIGHTS_ALL UINT64_MAX

/*
 * Drops all permitted and effective capabilities but these, and all inheritable ones.  alone: executed programs never
 * get more than this process has (no_new_privs, and the bounding set if the process may change it), so setuid helpers
 * do not work.  0 or -errno.
 */
int rights_keep(uint64_t keep, bool alone);

/* Makes all permitted capabilities of this thread effective: for a thread whose creator had dropped some for a moment. */
void rights_use_all(void);

/* Whether the user is that of this process.  Under sudo, the invoking user counts, too; SUDO_UID is believed only if the
 * process is root. */
bool rights_is_us(uid_t user);
/* Whether the user is root or rights_is_us(). */
bool rights_trusts(uid_t user);

#endif
