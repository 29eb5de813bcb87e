/* SPDX-License-Identifier: MIT */
#ifndef FTRAC_UMOUNT_CHILD_H
#define FTRAC_UMOUNT_CHILD_H

/*
 * A child process that asks the daemon of a mount for a sign of life and for its trace, and later waits for that trace.  The
 * daemon may not answer, and what it answers is not trusted, so the child has the rights of the user that made the mount.
 */

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum daemon_state { DAEMON_ALIVE, DAEMON_GONE, DAEMON_DYING, DAEMON_SILENT };

struct umount_child {
	pid_t pid; /* -1: there is none */
	int fd;
	bool answered, was_sent_on;
	char trace[PATH_MAX]; /* after ask: what to wait for; "": nothing */
	bool is_complete;     /* after await */
};

/* An error is the same as a daemon that does not answer. */
void umount_child_start(const char *mountpoint, int64_t user, int64_t group, struct umount_child *ret_child);

/* Takes some seconds at most.  Never returns DAEMON_DYING. */
enum daemon_state umount_child_ask(struct umount_child *child);

/* After the unmount: whether the writer of the trace has ended within this time; -1: without limit. */
bool umount_child_await(struct umount_child *child, int timeout_ms);

void umount_child_stop(struct umount_child *child);

#endif
