/* SPDX-License-Identifier: MIT */
#ifndef FTRAC_VIEW_H
#define FTRAC_VIEW_H

/*
 * A view of the file system for one command: a mount namespace in which the traced tree, at its
 * usual path, goes through our mount. Other processes do not see the mount, and it disappears with
 * the last process in the namespace. The view uses no chroot(2), because in a chroot the kernel
 * forbids user namespaces, which sandboxes need.
 *
 *   route          used by                   the mount
 *   VIEW_ROOT      root                      made in the namespace
 *   VIEW_HELPER    a user, if there is a     made by fusermount3 in a directory of ours, and bound into
 *                  setuid fusermount3        the namespace, which is inside a user namespace
 *   VIEW_INSIDE    a user, otherwise         made in both namespaces; other owners than the user cannot
 *                                            be shown (inode_squash)
 *
 * In the child that will execute the command, view_first() builds the view, in step with the
 * parent:
 *
 *   child                                 parent
 *   waits              ◄── byte ───────── view_device(), when all else is there; not with VIEW_HELPER
 *   namespaces; mounts ─── device ──────► which returns it; serves it
 *   waits              ◄── byte ───────── view_build(), when the mount replies
 *   puts the tree in its place ── byte ─► view_build() returns
 */

#include <stdbool.h>
#include <sys/types.h>

enum view_route { VIEW_ROOT, VIEW_HELPER, VIEW_INSIDE };

struct view {
	enum view_route route;
	const char *const *paths; /* the paths to trace, absolute, NULL-terminated; "/": everything */
	const char *real; /* a directory that stays as it is; NULL: none */
	const char *cwd;
	const char *user; /* for root: the user that runs the command; NULL: unchanged */
	/* the kernel kills the command if we are killed; else the tracer arranges that */
	bool dies_with_us;
	char dir[64];	  /* directory of the mount */
	dev_t device;	  /* view_device(): st_dev of its files; 0: not known */
	int ours, childs; /* the ends of a socket pair */
};

/* Sets route, dir and the socket. Prints errors; 0 or the exit status. */
int view_prepare(struct view *view);

/* Whether there is a setuid fusermount3 that works for this user. */
bool view_has_helper(void);

/* In a new user namespace: maps the user's ids to themselves. 0 or -errno. */
int view_map_ids(uid_t uid, gid_t gid);

/* One line: why namespaces cannot be made, and what to do. */
const char *view_explain_namespace(int error);

/* In a child of root: becomes a user, with its groups and its home.  NULL: stays.  Prints errors; 0 or the exit status. */
int view_become(const char *name);

/* For monitor_spawn(); arg: the view. */
int view_first(void *arg);

/* Has the child mount, and returns the device; the caller closes it. -1: the child failed and has printed
 * why. */
int view_device(struct view *view);

/* Called when the mount works. False: the child failed and has printed why. */
bool view_build(struct view *view);

/* Unmounts the mount of fusermount3; the others disappear with their last process. */
void view_unmount(const struct view *view);

/* Ends the child if it still waits. */
void view_release_child(struct view *view);

/* Called after the mount is gone. */
void view_finish(struct view *view);

#endif
