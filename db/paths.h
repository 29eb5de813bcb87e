/* SPDX-License-Identifier: MIT */
#ifndef DB_PATHS_H
#define DB_PATHS_H

/*
 * Every path of the trace, once: a path is a row of the table and a number everywhere else.
 * Decides also what is recorded: --include and --exclude are asked here.
 *
 * A client may name as many paths as it likes.  So memory holds those that are held - the names of files
 * that the kernel remembers - and of all others those that were asked for last.  The number of one that had to be
 * let go is found again in a file (store_find_path).
 *
 * One thread.  Memory: a path and some 130 bytes for each that is held; for the others together, what
 * paths_create() is given.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct known_path;
struct paths;
struct store;

struct path {
	int64_t id;
	bool recorded;
	struct known_path *known; /* for paths_hold(), until the next call */
};

struct paths_options {
	/* As ftrac sees its mirror: a path below mountpoint is a path below source. */
	const char *mountpoint; /* absolute, no trailing slash; NULL if there is none */
	const char *source;	/* absolute; "/" or no trailing slash */
	/* Shell patterns (fnmatch without FNM_PATHNAME), ended by NULL; each may be NULL */
	const char *const *include;
	const char *const *exclude;
};

/* options and store are kept, and must outlive the paths.  kept: bytes of memory for paths that are not held; one is
 * kept in any case.  0 or -ENOMEM. */
int paths_create(struct store *store, const struct paths_options *options, size_t kept,
	struct paths **ret_paths);
void paths_destroy(struct paths *paths);

/* The path's number; it is written when it is new.  0 or -errno. */
int paths_intern(struct paths *paths, const char *path, size_t len, struct path *ret_path);

/* As intern, for a path of the mirror: "/x" is source/x. */
int paths_intern_mirrored(struct paths *paths, const char *path, size_t len,
	struct path *ret_path);

/* As intern, for a path as a process sees it: taken out of the mount. */
int paths_intern_native(struct paths *paths, const char *path, size_t len, struct path *ret_path);

/* Keeps a path in memory; NULL is fine. */
void paths_hold(struct paths *paths, struct known_path *known);
void paths_release(struct paths *paths, struct known_path *known);

/* Whether include and exclude have a path, as it is in the source, recorded.  Any thread. */
bool paths_are_recorded(const struct paths_options *options, const char *path);

#endif
