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
#include <stdint.h>

#include "db/paths.h"
#include "db/recording.h"
#include "db/walk.h"
#include "ftrac/fs.h"
#include "ftrac/options.h"
#include "ftrac/trace.h"

struct facts;
struct origin;
struct monitor;
struct preload;
struct serve;

struct daemon {
	struct options options;
	char *cwd, *command; /* for the trace; command NULL: none */
	const char *notes; /* directory of the notes of make (db/declared.h); NULL: none */
	const char *ours[4]; /* places that are not recorded; NULL: no more */
	const struct origin *origin; /* of a command; NULL: it is not known */
	struct preload *preload; /* NULL: no layer is recorded */
	const struct inode_squash *squash;
	void (*ready)(struct daemon *d, int error); /* called in a thread of the loop */
	void *ready_arg; /* for its use */
	int ready_fd; /* the parent waits at the other end; -1: no parent waits */
	int status;   /* of the process */
	bool has_trace; /* finish: the trace is complete */
	uint64_t lost;	/* finish: operations and process events that are not in the trace */
	bool handles_signals;
	_Atomic bool is_live; /* the first request was answered */
	dev_t device; /* st_dev of the mount's files; 0: not known */
	bool is_aside; /* operations before daemon_record() do not belong to the traced command */

	struct fs fs;
	struct paths_options choice;
	struct trace trace;
	struct recording recording;
	struct serve *serve; /* --metrics-listen; NULL: no server */
	walk_probe *probe; /* see struct record_options */
	struct monitor *monitor;
	struct fuse_session *session;
};

int daemon_open(struct daemon *d);

/* device: an open /dev/fuse that is mounted already; -1: mount it on the mount point. */
int daemon_mount(struct daemon *d, int device);

/* Starts the recording of operations, if is_aside was set. */
void daemon_record(struct daemon *d);

int daemon_loop(struct daemon *d);
int daemon_finish(struct daemon *d);

/*
 * The record alone, as options, cwd, command, notes and probe say; also for a command that needs no mount.
 *
 *   open_trace    0 or the exit status
 *   start_monitor  the monitor of processes, if the kernel does not record them.  0 or -errno
 *   start_writer  when d->monitor has started; facts: source of operations and mount, to which it adds the rest.  0 or
 *                 -errno
 *   stop_writer   ends the monitor, too; sets has_trace and lost.  0 or -errno
 *   close_trace
 *
 * They print errors.
 */
int daemon_open_trace(struct daemon *d);
int daemon_start_monitor(struct daemon *d);
int daemon_start_writer(struct daemon *d, struct facts *facts);
int daemon_stop_writer(struct daemon *d);
void daemon_close_trace(struct daemon *d);

#endif
