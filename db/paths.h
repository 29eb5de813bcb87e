/* SPDX-License-Identifier: MIT */
#ifndef DB_PATHS_H
#define DB_PATHS_H

/*
 * The paths of a trace.  Each path has one row; other rows refer to it by its id.  Also decides whether a path is recorded
 * (--include, --exclude).
 *
 * The number of paths is not limited.  Memory has the paths that are held (names of files that the kernel remembers) and,
 * of all others, those used last.  The id of a path that was dropped from memory is found again in a temporary file
 * (store_find_path).
 *
 * One thread.  Memory: the path and some 130 bytes for each held one; for all others together, the bytes given to
 * paths_create(), and a quarter of them for directories (directories.h).
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
	/* A path below mountpoint is a path below source. */
	const char *mountpoint; /* absolute, no trailing slash; NULL if there is none */
	const char *source;	/* absolute; "/" or no trailing slash */
	/* Arrays of shell patterns (fnmatch without FNM_PATHNAME), ended by NULL; each array may be NULL */
	const char *const *include;
	const char *const *exclude;
	/* Absolute paths, ended by NULL: only these and what lies below them is recorded.  NULL, or "/" among them: everything is */
	const char *const *scope;
	/* The absolute path of the trace, whose files are not recorded.  NULL: they are */
	const char *own;
	/* Absolute paths, ended by NULL, that are not recorded, with all below them.  NULL: there are none */
	const char *const *ours;
};

/* options and store must outlive the paths.  kept: bytes of memory for paths that are not held; there is always room for
 * one.  0 or -ENOMEM. */
int paths_create(struct store *store, const struct paths_options *options, size_t kept,
	struct paths **ret_paths);
void paths_destroy(struct paths *paths);

/* The id of a path; writes the row of a new one.  0 or -errno. */
int paths_intern(struct paths *paths, const char *path, size_t len, struct path *ret_path);

/* The same for a path in the mount: "/x" is source/x. */
int paths_intern_mirrored(struct paths *paths, const char *path, size_t len,
	struct path *ret_path);

/* The same for a path as a process sees it: a path below mountpoint becomes one below source. */
int paths_intern_native(struct paths *paths, const char *path, size_t len, struct path *ret_path);

/* Hold a path in memory, and release it; NULL is fine. */
void paths_hold(struct paths *paths, struct known_path *known);
void paths_release(struct paths *paths, struct known_path *known);

/* Whether a path in the source is recorded, by include and exclude.  Any thread. */
bool paths_are_recorded(const struct paths_options *options, const char *path);

#endif
