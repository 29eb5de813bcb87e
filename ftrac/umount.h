/* SPDX-License-Identifier: MIT */
#ifndef FTRAC_UMOUNT_H
#define FTRAC_UMOUNT_H

/*
 * Unmounts a mount of ftrac; lazily if its daemon is gone, since no process can use its files any
 * more. Retries for a second while the mount is in use. If the daemon was killed but cannot end,
 * aborts its connection: its clients get an error and go on. Returns within some seconds, whatever
 * the daemon does. Prints errors; returns the exit status.
 */
int umount_mount(const char *mountpoint);

#endif
