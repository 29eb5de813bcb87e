/* SPDX-License-Identifier: MIT */
#ifndef FTRAC_UMOUNT_H
#define FTRAC_UMOUNT_H

/* Takes a mount of ftrac away; lazily if its daemon is gone, whose files nobody can use any more.  Prints;
 * the exit status. */
int umount_mount(const char *mountpoint);

#endif
