/* SPDX-License-Identifier: MIT */
#ifndef FTRAC_DAEMON_H
#define FTRAC_DAEMON_H

/*
 * What serves a mount and records it, from its options to its end: open, mount, loop, finish, in this
 * order; finish also after one of them has failed.  What goes wrong is printed; each returns 0 or the
 * exit status.
 *
 *   open    limits, session, trace, rights, source; nobody sees anything of it yet, but the file
 *   mount   the kernel may ask
 *   loop    answers until the mount is gone; the first answer starts the recording, and ready() says
 *           that everything is there, or that it cannot be (error, -errno: was printed)
 *   finish  the end of the trace; the status of it all
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
	char *cwd, *command; /* of the trace; command NULL: none */
	const char *notes; /* what the build says of itself (db/declared.h); NULL: nothing */
	const struct inode_squash *squash;
	void (*ready)(struct daemon *d, int error); /* in a thread of the loop */
	int ready_fd; /* the parent waits at its other end; -1: nobody does */
	int status;   /* of the process */
	bool has_trace; /* finish: it is complete */
	bool handles_signals;
	_Atomic bool is_live; /* the kernel has been answered */
	bool is_aside; /* what is done before daemon_record() is not of what is traced */

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

/* device: an open /dev/fuse that somebody has mounted already; -1: on the mount point. */
int daemon_mount(struct daemon *d, int device);

/* From now on. */
void daemon_record(struct daemon *d);

int daemon_loop(struct daemon *d);
int daemon_finish(struct daemon *d);

#endif
