/* SPDX-License-Identifier: MIT */
#ifndef BASE_PLACE_H
#define BASE_PLACE_H

/*
 * Safe use of directories that other users may write to, like /tmp, or that belong to other users.  These functions
 * neither follow nor use what an untrusted user has put there, whatever fs.protected_symlinks is set to.  They follow
 * a symbolic link if its owner is trusted (rights.h), or if the owner of its directory is trusted and neither the group
 * nor others may write to that directory.
 *
 * Errors are -errno; -ELOOP: a link of another user is on the way.
 */

#include <stdbool.h>
#include <sys/stat.h>

/*
 * Opens, with O_PATH, the directory of the path; the caller closes it, and frees *ret_name, the name in it.  follow:
 * also follow a link at the end of the path.  If the name is a link after that, it is a link of /proc, whose text means
 * nothing.
 */
int place_open(const char *path, bool follow, char **ret_name);

/* Whether an untrusted user could have put this file into the directory. */
bool place_is_foreign(int dir, const struct stat *st);

/* Creates a file; the caller closes it.  -EEXIST: the name is taken, by anything. */
int place_create(int dir, const char *name, mode_t mode);

/* Removes a file that this user left there, so that place_create() succeeds.  0, also if there is none; -EPERM: it is no
 * regular file, or place_is_foreign(). */
int place_clear(int dir, const char *name);

/* The text of an error of these functions or of output.h; strerror(3) for others. */
const char *place_explain(int error);

#endif
