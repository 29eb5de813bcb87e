/* SPDX-License-Identifier: MIT */
#ifndef DB_WALK_H
#define DB_WALK_H

/*
 * Resolves a path as a program gave it to a system call: from a directory or the root, over "..", "." and symbolic links,
 * in the tree of names (files.h).  The result is a directory, a name in it, and the node to which the name leads.
 *
 * The tree has only names that events have shown.  What is at an unknown name a probe may tell, which looks at the file
 * system as it is now.  If it cannot, the answer depends on the call:
 *   - the call has succeeded: each name on the way was there, so an unknown one becomes a directory (at the end: a file) of
 *     which the inode is not known;
 *   - the call has failed: 'name' is the rest of the path, which may have several components.  If the probe says that the
 *     name is missing, the rest is as the program gave it; else ".." removes the name before it.
 *
 * The links of /proc lead each process elsewhere.  They are not followed, and below /proc there is no probe.
 *
 * One thread.  A walker has one result at a time, valid until its next walk and as long as the path.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event_node;
struct files;
struct node;
struct walker;

/*
 * What there is at an absolute path now, as by lstat(2) and readlink(2): fills the node (but its id) and, of a symbolic
 * link, the target with its NUL.  *ret_changed_ns: when its inode last changed, by the clock of events.  0, or -errno: -ENOENT
 * if there is nothing.
 */
typedef int walk_probe(void *arg, const char *path, struct event_node *ret_node, char *ret_target,
	size_t size, int64_t *ret_changed_ns);

enum walk_end {
	WALK_PARENT, /* the call makes, removes or moves the name: it is not looked up */
	WALK_LINK,   /* a symbolic link at the end is meant itself */
	WALK_FOLLOW
};

struct walk_path {
	struct node *base; /* where a relative path begins; NULL: not known */
	const char *path;
	size_t len;
	enum walk_end end;
	bool exists;   /* the call succeeded */
	bool is_known; /* the event has the node to which the path leads: it need not be found */
	int64_t time_ns;
};

struct place {
	struct node *dir;  /* NULL: the path begins at an unknown directory, or is empty */
	const char *name;  /* not ended by NUL */
	size_t len;        /* 0: the path is that of dir, which has no name: the root */
	struct node *node; /* NULL: not known, or missing */
	bool partial;      /* name may have several components */
	bool guessed;      /* ".." was taken to lead back from an unknown name */
};

/* probe NULL: there is none.  0 or -ENOMEM. */
int walker_create(struct files *files, walk_probe *probe, void *arg, struct walker **ret_walker);
void walker_destroy(struct walker *walker); /* NULL is fine */

/* 0, or -errno of the database. */
int walk(struct walker *walker, const struct walk_path *path, struct place *ret_place);

/* Of a call that succeeded, after a walk with WALK_PARENT: a name that leads to nothing known gets a file of which the
 * inode is not known.  type: S_IFDIR ..., 0: not known.  0 or -errno of the database. */
int walk_fill(struct walker *walker, struct place *place, uint32_t type, int64_t time_ns);

/* Of a rename that succeeded: as walk_fill(), and a file of unknown type gets that of what is at its new name, unless that has
 * changed since the call, which began at start_ns and ended at end_ns.  0 or -errno of the database. */
int walk_fill_moved(struct walker *walker, struct place *place, const struct place *to, int64_t start_ns, int64_t end_ns);

#endif
