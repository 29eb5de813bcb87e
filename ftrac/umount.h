/* SPDX-License-Identifier: MIT */
#ifndef FTRAC_UMOUNT_H
#define FTRAC_UMOUNT_H

/*
 * ftrac umount: unmounts a mount of ftrac; lazily if its daemon is gone, since no process can use its files any more.  Retries
 * for a second while the mount is in use.  If the daemon was killed but cannot end, aborts its connection: its clients get an
 * error and go on.  All this takes some seconds at most, whatever the daemon does; then waits until the trace is complete, or
 * its writer is gone, without --no-wait.  argv[0] is "umount".  Prints errors; returns the exit status.
 */
int umount_main(int argc, char **argv);

#endif
