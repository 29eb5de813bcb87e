/* SPDX-License-Identifier: MIT */
#ifndef DB_PATHS_H
#define DB_PATHS_H

/*
 * Every path of the trace, once: a path is a row of the table and a number everywhere else.
 * Decides also what is recorded: --include and --exclude are asked once for a path, here.
 * One thread.  Memory: a path and some 80 bytes each, until the end.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct paths;
struct store;

struct path {
	int64_t id;
	bool recorded;
};

struct paths_options {
	/* As ftrac sees its mirror: a path below mountpoint is a path below source. */
	const char *mountpoint; /* absolute, no trailing slash; NULL if there is none */
	const char *source;	/* absolute; "/" or no trailing slash */
	/* Shell patterns (fnmatch without FNM_PATHNAME), ended by NULL; each may be NULL */
	const char *const *include;
	const char *const *exclude;
};

/* options and store are kept, and must outlive the paths.  0 or -ENOMEM. */
int paths_create(struct store *store, const struct paths_options *options,
	struct paths **ret_paths);
void paths_destroy(struct paths *paths);

/* The path's number; it is written when it is new.  0 or -errno. */
int paths_intern(struct paths *paths, const char *path, size_t len, struct path *ret_path);

/* As intern, for a path of the mirror: "/x" is source/x. */
int paths_intern_mirrored(struct paths *paths, const char *path, size_t len,
	struct path *ret_path);

/* As intern, for a path as a process sees it: taken out of the mount. */
int paths_intern_native(struct paths *paths, const char *path, size_t len, struct path *ret_path);

/* Whether include and exclude have a path, as it is in the source, recorded.  Any thread. */
bool paths_are_recorded(const struct paths_options *options, const char *path);

#endif
