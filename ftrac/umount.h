/* SPDX-License-Identifier: MIT */
#ifndef FTRAC_UMOUNT_H
#define FTRAC_UMOUNT_H

/*
 * Takes a mount of ftrac away; lazily if its daemon is gone, whose files nobody can use any more.  What is in use is
 * tried again for a second.  Of a daemon that was killed and cannot end, the connection is aborted: its clients go
 * on with an error.  Ends within some seconds, whatever the daemon does.  Prints; the exit status.
 */
int umount_mount(const char *mountpoint);

#endif
