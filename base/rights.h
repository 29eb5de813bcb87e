/* SPDX-License-Identifier: MIT */
#ifndef BASE_RIGHTS_H
#define BASE_RIGHTS_H

/*
 * Which rights we keep, and whom we trust.  Capabilities belong to threads: they are given up before the others
 * are made, which then have what is left, as has what is executed.
 */

#include <linux/capability.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define RIGHT(capability) (UINT64_C(1) << (capability))
#define RIGHTS_ALL UINT64_MAX

/*
 * Of the capabilities that we have, in effect or not, only these stay; none is inherited.  alone: nothing that
 * we execute ever gets more than we have (no_new_privs, and the bounding set if that may be changed): not for
 * who needs a setuid helper.  0 or -errno.
 */
int rights_keep(uint64_t keep, bool alone);

/* All capabilities that are permitted to this thread are in effect: for a thread that another one has made while it
 * acted with fewer. */
void rights_use_all(void);

/* Whether that is us.  Root by sudo is who called it, too: what sudo says of that counts for root alone. */
bool rights_is_us(uid_t user);
/* Us and root. */
bool rights_trusts(uid_t user);

#endif
