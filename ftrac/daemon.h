/* SPDX-License-Identifier: MIT */
#ifndef FTRAC_DAEMON_H
#define FTRAC_DAEMON_H

/*
 * The daemon that serves a mount and records it, from its options to its end: open, mount, loop,
 * finish, in this order; finish also after one of the others has failed. Each prints its errors and
 * returns 0 or the exit status.
 *
 *   open    limits, session, trace, rights, source; only the trace file is visible
 *   mount   the kernel may send requests
 *   loop    answers requests until the mount is gone.  The first request starts the recording.  Then
 *           ready() is called: with 0, or with the -errno of an error that was printed
 *   finish  ends the trace; returns the final exit status
 */

#include <stdbool.h>

#include "db/paths.h"
#include "ftrac/fs.h"
#include "ftrac/options.h"
#include "ftrac/trace.h"

struct monitor;
struct ring;
struct store;
struct writer;

struct daemon {
	struct options options;
	char *cwd, *command; /* for the trace; command NULL: none */
	const char *notes; /* directory of the notes of make (db/declared.h); NULL: none */
	const struct inode_squash *squash;
	void (*ready)(struct daemon *d, int error); /* called in a thread of the loop */
	int ready_fd; /* the parent waits at the other end; -1: no parent waits */
	int status;   /* of the process */
	bool has_trace; /* finish: the trace is complete */
	bool handles_signals;
	_Atomic bool is_live; /* the first request was answered */
	bool is_aside; /* operations before daemon_record() do not belong to the traced command */

	struct fs fs;
	struct paths_options choice;
	struct trace trace;
	struct store *store;
	struct ring *ring;
	struct writer *writer;
	struct monitor *monitor;
	struct fuse_session *session;
};

int daemon_open(struct daemon *d);

/* device: an open /dev/fuse that is mounted already; -1: mount it on the mount point. */
int daemon_mount(struct daemon *d, int device);

/* Starts the recording of operations. */
void daemon_record(struct daemon *d);

int daemon_loop(struct daemon *d);
int daemon_finish(struct daemon *d);

#endif
