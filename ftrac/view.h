/* SPDX-License-Identifier: MIT */
#ifndef FTRAC_VIEW_H
#define FTRAC_VIEW_H

/*
 * A view of the file system for one command: a mount namespace of its own, in which the traced tree
 * stands at its own path, through our mount.  Nobody else sees it, and it is gone with its last
 * process.  No chroot(2): in it the kernel lets nobody make user namespaces, which sandboxes need.
 *
 *   route          who                       the mount
 *   VIEW_ROOT      root                      made in the namespace
 *   VIEW_HELPER    a user, with a setuid     made by it in a directory of our own, and bound into the
 *                  fusermount3               namespace, which has a user namespace around it
 *   VIEW_INSIDE    a user, without one       made in both; other owners than he cannot be shown
 *                                            (inode_squash)
 *
 * In the child that will be the command view_first() builds the view, in step with us:
 *
 *   child                                 parent
 *   namespaces; mounts ─── device ──────► view_device(); serves it
 *   or waits           ◄── byte ───────── view_build(), when the mount answers
 *   puts the tree in its place ── byte ─► view_build() returns
 */

#include <stdbool.h>
#include <sys/types.h>

enum view_route { VIEW_ROOT, VIEW_HELPER, VIEW_INSIDE };

struct view {
	enum view_route route;
	const char *const *paths; /* to be traced, absolute, ended by NULL; "/": everything */
	const char *cwd;
	const char *user; /* who is to run the command, for root; NULL: who we are */
	bool dies_with_us; /* the command is killed if we are; else somebody else sees to it */
	char dir[64];	  /* where the mount is made */
	int ours, childs; /* ends of a socket */
};

/* Fills route, dir and the ends of the socket.  Prints; 0 or the exit status. */
int view_prepare(struct view *view);

/* Whether there is a setuid fusermount3 that would work for us. */
bool view_has_helper(void);

/* In a user namespace just made: who he was before is who he is.  0 or -errno. */
int view_map_ids(uid_t uid, gid_t gid);

/* Why namespaces cannot be made, and what to do: one line. */
const char *view_explain_namespace(int error);

/* For monitor_spawn(); arg: the view. */
int view_first(void *arg);

/* The device that the child has mounted, to be closed; -1: it failed, and has said so. */
int view_device(struct view *view);

/* The mount answers: false if the child failed, and has said so. */
bool view_build(struct view *view);

/* Takes the mount away: the helper's has to be, the others are gone with their last process. */
void view_unmount(const struct view *view);

/* The child, if it still waits for us, ends. */
void view_hang_up(struct view *view);

/* After the mount is gone. */
void view_finish(struct view *view);

#endif
