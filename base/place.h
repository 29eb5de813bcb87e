/* SPDX-License-Identifier: MIT */
#ifndef BASE_PLACE_H
#define BASE_PLACE_H

/*
 * Where a file is made or found, in a directory that others may write to, like /tmp, or that is theirs.  What
 * somebody else has put there is not followed and not used, whatever fs.protected_symlinks and its like say: a
 * symbolic link counts if it is of somebody whom we trust (rights.h), or lies in such a one's directory, to
 * which neither its group nor all others may write.
 *
 * Errors are -errno; -ELOOP: a link of somebody else is on the way.
 */

#include <stdbool.h>
#include <sys/stat.h>

/*
 * The directory that path lies in, by O_PATH, to be closed; *ret_name, to be freed, is the name there.  A
 * link at the end is followed if asked for: what is still a link then is one of /proc, which is no text.
 */
int place_open(const char *path, bool follow, char **ret_name);

/* Whether what is at this name of a directory could have been put there by somebody whom we need not trust. */
bool place_is_foreign(int dir, const struct stat *st);

/* A new file; -EEXIST, whatever there is.  To be closed. */
int place_create(int dir, const char *name, mode_t mode);

/* Takes away what we have left there ourselves, which lets place_create() succeed: 0, also if there is
 * nothing; -EPERM: it is no file, or foreign. */
int place_clear(int dir, const char *name);

/* strerror(3) of a negative errno, in words that fit what these functions mean by it. */
const char *place_explain(int error);

#endif
